"""NumPyro: the eight schools by NUTS with chains side by side, a guide fitted by SVI, and predictions."""
# needs: numpyro
# tolerance: 0.05

import jax
import jax.numpy as jnp
import jax.random as jr
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoLowRankMultivariateNormal, AutoNormal
from numpyro.infer.reparam import LocScaleReparam

effects = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12])
errors = jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def schools(errors, effects=None):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", 8), numpyro.handlers.reparam(config={"theta": LocScaleReparam(0)}):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("seen", dist.Normal(theta, errors), obs=effects)


for method in ("vectorized", "parallel") if len(jax.devices()) % 2 == 0 else ("vectorized",):
    chains = MCMC(NUTS(schools), num_warmup=150, num_samples=150, num_chains=2, chain_method=method, progress_bar=False)
    chains.run(jr.key(0), errors, effects=effects)
    found = chains.get_samples()
    # Chains part after some steps, by roundings: what they agree on is coarse.
    print(method, "mu", round(float(found["mu"].mean()) / 4), found["theta"].shape)
for guide in (AutoNormal(schools), AutoLowRankMultivariateNormal(schools)):
    svi = SVI(schools, guide, numpyro.optim.ClippedAdam(0.02), Trace_ELBO(4))
    done = svi.run(jr.key(1), 60, errors, effects=effects, progress_bar=False)
    print("ELBO", *(float(v) for v in done.losses[::12]))
    drawn = Predictive(schools, guide=guide, params=done.params, num_samples=50)(jr.key(2), errors)
    print("drawn", float(drawn["seen"].mean()))

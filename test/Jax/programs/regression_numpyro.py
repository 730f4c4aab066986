"""Bayesian regression by NUTS: a sampler's loop of data-dependent length. Means of samples: chains part after rounding."""
# needs: numpyro
# tolerance: 0.05

import jax
import jax.numpy as jnp
import numpyro
from numpyro import distributions
from numpyro.infer import MCMC, NUTS


def model(x, y):
    weights = numpyro.sample("weights", distributions.Normal(0, 1).expand([3]))
    spread = numpyro.sample("spread", distributions.HalfNormal(1.0))
    numpyro.sample("y", distributions.Normal(x @ weights, spread), obs=y)


x = jax.random.normal(jax.random.key(0), (200, 3))
y = x @ jnp.array([1.0, -2.0, 0.5]) + 0.1 * jax.random.normal(jax.random.key(1), (200,))
sampler = MCMC(NUTS(model), num_warmup=100, num_samples=100, progress_bar=False)
sampler.run(jax.random.key(2), x, y)
print("weights", *map(float, sampler.get_samples()["weights"].mean(0)))

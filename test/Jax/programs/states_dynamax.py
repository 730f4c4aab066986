"""State space models of dynamax: a hidden Markov model fitted by EM and by gradients, a Kalman smoother, sequences cut over the devices."""
# needs: dynamax

import jax
import jax.numpy as jnp
import jax.random as jr
from dynamax.hidden_markov_model import GaussianHMM
from dynamax.linear_gaussian_ssm import LinearGaussianSSM
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
rows = NamedSharding(mesh, P("x"))

true = GaussianHMM(3, 2)
means = jnp.array([[-2.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
params, _ = true.initialize(jr.key(0), emission_means=means, emission_covariances=jnp.tile(0.3 * jnp.eye(2), (3, 1, 1)))
states, seen = jax.vmap(lambda k: true.sample(params, k, 50))(jr.split(jr.key(1), 12))
seen = jax.device_put(seen, rows)

hmm = GaussianHMM(3, 2)
fitted, props = hmm.initialize(jr.key(2), emission_means=means + 0.5)
fitted, likelihoods = hmm.fit_em(fitted, props, seen, num_iters=5, verbose=False)
print("EM", *(float(v) for v in likelihoods))
print("means", *(float(v) for v in fitted.emissions.means.ravel()))
by_gradient, props = hmm.initialize(jr.key(3), emission_means=means - 0.4)
by_gradient, losses = hmm.fit_sgd(by_gradient, props, seen, num_epochs=5, batch_size=12)
print("SGD", *(float(v) for v in losses))
print("path", *(int(v) for v in jax.vmap(lambda e: hmm.most_likely_states(fitted, e))(seen).sum(1)))

lgssm = LinearGaussianSSM(2, 3)
params, _ = lgssm.initialize(jr.key(4))
_, seen = jax.vmap(lambda k: lgssm.sample(params, k, 30))(jr.split(jr.key(5), 6))
smoothed = jax.jit(jax.vmap(lambda e: lgssm.smoother(params, e)))(jax.device_put(seen, NamedSharding(mesh, P(None, "x") if 30 % mesh.size == 0 else P())))
print("smoother", *(float(v) for v in smoothed.marginal_loglik), float(jnp.abs(smoothed.smoothed_means).mean()))

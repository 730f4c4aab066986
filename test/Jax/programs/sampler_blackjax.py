"""Hamiltonian chains of blackjax for a logistic regression, its rows cut over devices; many chains, so that means do not depend on one rounding."""
# needs: blackjax
# tolerance: 0.01

import blackjax
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((len(jax.devices()),), ("rows",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, PartitionSpec("rows"))
x = jax.device_put(jax.random.normal(jax.random.key(0), (480, 4)), rows)
truth = jnp.array([1.0, -2.0, 0.5, 0.0])
y = jax.device_put(jax.random.bernoulli(jax.random.key(1), jax.nn.sigmoid(x @ truth)), rows)


def log_density(w):
    logits = x @ w
    return jnp.where(y, -jax.nn.softplus(-logits), -jax.nn.softplus(logits)).sum() - 0.5 * w @ w


sampler = blackjax.hmc(log_density, step_size=0.05, inverse_mass_matrix=jnp.ones(4), num_integration_steps=8)


@jax.jit
def run(key, start):
    def step(state, key):
        state, info = sampler.step(key, state)
        return state, (state.position, info.acceptance_rate)

    return jax.lax.scan(step, sampler.init(start), jax.random.split(key, 60))[1]


positions, accepted = jax.vmap(run)(jax.random.split(jax.random.key(2), 8), jnp.zeros((8, 4)))
print("means", *map(float, positions[:, 20:].mean((0, 1))), "accepted", float(accepted.mean()))
fit, _ = blackjax.vi.pathfinder.approximate(jax.random.key(3), log_density, jnp.zeros(4), num_samples=50, maxiter=15)
print("pathfinder", *(round(float(v), 2) for v in fit.position))

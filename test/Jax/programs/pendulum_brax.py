"""Pendulums of Brax on a cart, one batch of them cut over the devices, and a controller that is trained through the physics."""
# needs: brax mujoco-mjx

import warnings

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

warnings.simplefilter("ignore")

from brax import envs

env = envs.get_environment("inverted_pendulum", backend="spring")
mesh = jax.make_mesh((len(jax.devices()),), ("batch",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("batch"))
keys = jax.device_put(jax.random.split(jax.random.PRNGKey(0), 8), rows)


def loss(weights, states):
    def step(states, _):
        states = jax.vmap(env.step)(states, jnp.tanh(states.obs @ weights))
        return states, jnp.mean(states.obs[:, 1] ** 2)

    return jnp.mean(jax.lax.scan(step, states, length=5)[1])


states = jax.jit(jax.vmap(env.reset))(keys)
train = jax.jit(jax.value_and_grad(loss))
weights = jnp.zeros((4, 1))
for _ in range(4):
    value, gradient = train(weights, states)
    weights = weights - 5000 * gradient
    print("loss", float(value))
print("weights", *map(float, weights[:, 0]))
print("positions", *map(float, states.obs[:, 0]))

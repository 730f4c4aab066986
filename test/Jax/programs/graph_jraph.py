"""A graph network of Jraph, trained by gradient descent: gathers and segment sums."""
# needs: jraph optax

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

rng = np.random.default_rng(0)


def draw(*shape):
    return jnp.asarray(rng.normal(size=shape), jnp.float32)


graph = jraph.GraphsTuple(
    nodes=draw(12, 4), edges=draw(30, 3), senders=jnp.asarray(rng.integers(0, 12, 30)),
    receivers=jnp.asarray(rng.integers(0, 12, 30)), n_node=jnp.array([12]), n_edge=jnp.array([30]), globals=jnp.ones((1, 2)))
weights = {"edge": 0.3 * draw(13, 8), "node": 0.3 * draw(22, 1)}
target = draw(12, 1)


def network(weights, graph):
    return jraph.GraphNetwork(
        lambda *parts: jax.nn.relu(jnp.concatenate(parts, -1) @ weights["edge"]),
        lambda *parts: jnp.concatenate(parts, -1) @ weights["node"])(graph).nodes


optimiser = optax.sgd(0.01)
state = optimiser.init(weights)


@jax.jit
def step(weights, state):
    value, gradients = jax.value_and_grad(lambda w: jnp.mean((network(w, graph) - target) ** 2))(weights)
    updates, state = optimiser.update(gradients, state)
    return optax.apply_updates(weights, updates), state, value


for number in range(5):
    weights, state, value = step(weights, state)
    print(f"loss {number}", float(value))

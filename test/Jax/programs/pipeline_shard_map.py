"""A pipeline in the manner of GPipe: stages on devices, microbatches passed on with ppermute, trained through shard_map.

As JAX's notebook on shard_map has it: the schedule is a loop, activations go round, gradients come back the same way.
"""
# needs: optax

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

stages = len(jax.devices())
layers, width, microbatches, size = 12, 16, 6, 4  # 12 layers are shared by 1, 2, 3, 4, 6 or 12 stages
mesh = jax.make_mesh((stages,), ("stages",), axis_types=(jax.sharding.AxisType.Auto,))


def stage(weights, x):
    """The layers of one stage, one after the other, computed again for the gradient."""
    layer = jax.checkpoint(lambda x, w: (x + jnp.tanh(x @ w["w"] + w["b"]), None))
    return jax.lax.scan(layer, x, weights)[0]


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("stages"), P(None)), out_specs=P(None), check_vma=False)
def pipeline(weights, inputs):
    index = jax.lax.axis_index("stages")
    onwards = [(i, (i + 1) % stages) for i in range(stages)]

    def step(carried, number):
        state, outputs = carried
        state = jnp.where(index == 0, inputs[number % microbatches], state)
        state = stage(weights, state)
        place = (number - stages + 1) % microbatches
        outputs = outputs.at[place].set(jnp.where(index == stages - 1, state, outputs[place]))
        return (jax.lax.ppermute(state, "stages", onwards), outputs), None

    begin = jnp.zeros_like(inputs[0]), jnp.zeros_like(inputs)
    (_, outputs), _ = jax.lax.scan(step, begin, jnp.arange(microbatches + stages - 1))
    return jax.lax.psum(jnp.where(index == stages - 1, outputs, 0), "stages")


def loss(weights, inputs, targets):
    return jnp.mean((pipeline(weights, inputs) - targets) ** 2)


random = np.random.default_rng(0)
weights = {"w": random.normal(size=(layers, width, width)) * 0.1, "b": np.zeros((layers, width))}
weights = jax.device_put(jax.tree.map(jnp.float32, weights), NamedSharding(mesh, P("stages")))
inputs = jnp.asarray(random.normal(size=(microbatches, size, width)), jnp.float32)
targets = jnp.sin(inputs)
plain = functools.reduce(lambda x, i: x + jnp.tanh(x @ weights["w"][i] + weights["b"][i]), range(layers), inputs)
print("as in turn", f"{float(jnp.abs(pipeline(weights, inputs) - plain).max()) < 1e-5}")
optimiser = optax.sgd(0.1, momentum=0.9)
state = optimiser.init(weights)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train(weights, state):
    value, gradients = jax.value_and_grad(loss)(weights, inputs, targets)
    updates, state = optimiser.update(gradients, state)
    return optax.apply_updates(weights, updates), state, value


for number in range(5):
    weights, state, value = train(weights, state)
    print(f"loss {number}", float(value))

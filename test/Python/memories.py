"""Values in memories of other kinds: on devices that compute in the host's memory each is a name for it."""

import jax
import jax.numpy as jnp
import numpy
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import Mesh, NamedSharding, PartitionSpec

device = jax.devices()[0]
print([memory.kind for memory in device.addressable_memories()], "default", device.default_memory().kind)
mesh = Mesh(numpy.array(jax.devices()), ("x",))
near = NamedSharding(mesh, PartitionSpec("x"))
far = near.with_memory_kind("pinned_host")
values = numpy.arange(8, dtype=numpy.float32)


def show(what, array, expected):
    numpy.testing.assert_allclose(numpy.asarray(array), expected, rtol=1e-6)
    print(what, array.sharding.memory_kind, len(array.addressable_shards), array.addressable_shards[1].data.shape)


# There, back, and to another kind.
there = jax.device_put(values, far)
show("put", there, values)
show("back", jax.device_put(there, near), values)
show("unpinned", jax.device_put(there, near.with_memory_kind("unpinned_host")), values)

# Out of a program and into one.
leaves = jax.jit(lambda x: x * 2, out_shardings=far)(jax.device_put(values, near))
show("result", leaves, values * 2)
show(
    "argument",
    jax.jit(lambda x: jax.device_put(x, near) + 1, in_shardings=far, out_shardings=near)(leaves),
    values * 2 + 1,
)

# An optimizer's state that waits in the host's memory, given up in each step.
step = jax.jit(
    lambda state, x: jax.device_put(jax.device_put(state, near) + x, far),
    in_shardings=(far, near),
    out_shardings=far,
    donate_argnums=0,
)
state = jax.device_put(numpy.zeros(8, numpy.float32), far)
for _ in range(3):
    given, state = state, step(state, jax.device_put(values, near))
show("state", state, 3 * values)
print("given up", given.is_deleted())

# What is kept for the backward pass is put there and fetched back.
policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=[], names_which_can_be_offloaded=["kept"], offload_src="device", offload_dst="pinned_host"
)
loss = jax.checkpoint(lambda x: jnp.sin(checkpoint_name(jnp.sin(x), "kept")).sum(), policy=policy)
show(
    "gradient", jax.jit(jax.grad(loss))(jax.device_put(values, near)), numpy.cos(numpy.sin(values)) * numpy.cos(values)
)

try:
    jax.device_put(values, near.with_memory_kind("tape"))
except ValueError as error:
    print("refused:", error)

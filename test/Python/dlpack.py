"""Arrays on shardc's devices, out and in by DLPack."""

import gc

import jax
import jax.dlpack
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

first, second = jax.devices()[:2]

# Out: the same memory, which outlives the array that was donated.
array = jnp.arange(1000.0).reshape(10, 100)
view = numpy.from_dlpack(array)
assert view.__array_interface__["data"][0] == array.unsafe_buffer_pointer()
assert array.__dlpack_device__() == (1, 0)
jax.jit(lambda x: x + 1, donate_argnums=0)(array).block_until_ready()
del array
gc.collect()
assert (view.ravel() == numpy.arange(1000)).all()

# In: to the default device, to another one, back to the one that it came from.
assert jnp.from_dlpack(view).devices() == {first}
assert jnp.from_dlpack(view, device=second).devices() == {second}
with jax.default_device(second):
    assert jnp.from_dlpack(view).devices() == {second}
for dtype in (jnp.bfloat16, jnp.float32, jnp.int8, jnp.bool_, jnp.complex64):
    there = jax.device_put(jnp.arange(4).astype(dtype), second)
    again = jax.dlpack.from_dlpack(there)
    assert again.devices() == {second} and again.dtype == dtype and (again == there).all()
    assert jax.dlpack.from_dlpack(jnp.zeros((0, 3), dtype)).shape == (0, 3)
copy = numpy.from_dlpack(there, copy=True)
assert copy.__array_interface__["data"][0] != there.unsafe_buffer_pointer() and (copy == numpy.asarray(there)).all()

cut = jax.device_put(jnp.arange(8.0), NamedSharding(Mesh(numpy.array(jax.devices()), ("x",)), PartitionSpec("x")))
for refused, why, call in (
    (BufferError, "singular device", lambda: numpy.from_dlpack(cut)),
    (BufferError, "exported to the host", lambda: there.__dlpack__(dl_device=(2, 0))),
    (ValueError, "requires a copy", lambda: jnp.from_dlpack(view, copy=False)),
):
    try:
        call()
    except refused as error:
        assert why in str(error), error
    else:
        raise AssertionError(f"not refused: {why}")
print("passed")

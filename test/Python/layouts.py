"""Arrays that lie in memory in the order of dims that the user asks for: what is reported, what is computed, what is refused."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="4")

import ctypes
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

device = jax.devices()[0]
one = SingleDeviceSharding(device)
mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
columns = Layout((1, 0))
values = np.arange(48.0, dtype="f4").reshape(8, 6)


def in_memory(shard: Any) -> Any:
    """The elements as they stand there."""
    return np.ctypeslib.as_array((ctypes.c_float * shard.size).from_address(shard.unsafe_buffer_pointer())).copy()


def order(array: Any) -> tuple[int, ...]:
    return array.format.layout.major_to_minor


# What nobody asks for is row by row.
x: Any = jnp.asarray(values)
assert order(x) == (0, 1), x.format

# Put otherwise: the values are the same, and lie as they were asked to.
turned = jax.device_put(x, Format(columns, one))
assert order(turned) == (1, 0)
np.testing.assert_array_equal(turned, values)
np.testing.assert_array_equal(in_memory(turned), values.T.ravel())
print("put", order(turned), turned.shape)

# Sharded: the cuts are of the array's own dims.
for spec in (P("x"), P(None, "x"), P()):
    array = values if spec != P(None, "x") else np.arange(32.0, dtype="f4").reshape(4, 8)
    rows = NamedSharding(mesh, spec)
    cut: Any = jax.device_put(jax.device_put(array, rows), Format(columns, rows))
    assert cut.sharding == rows and order(cut) == (1, 0), cut.format
    for shard in cut.addressable_shards:
        np.testing.assert_array_equal(shard.data, array[shard.index])
        np.testing.assert_array_equal(in_memory(shard.data), array[shard.index].T.ravel())
    np.testing.assert_array_equal(jax.jit(lambda a: a * 2 + jnp.arange(a.shape[1]))(cut), array * 2 + np.arange(array.shape[1]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(cut)), array)
print("sharded", cut.shape)

# Results of three dims, arguments of a compiled program, a copy to another device.
deep = np.arange(24.0, dtype="f4").reshape(2, 3, 4)
for dims in ((2, 0, 1), (1, 2, 0), (0, 2, 1), (2, 1, 0)):
    layout = Layout(dims)
    result = jax.jit(lambda a: a + 1, out_shardings=Format(layout, one))(deep)
    assert order(result) == dims
    np.testing.assert_array_equal(result, deep + 1)
    np.testing.assert_array_equal(in_memory(result), (deep + 1).transpose(dims).ravel())
    compiled = jax.jit(lambda a: a.sum(1), in_shardings=Format(layout, one)).lower(jax.ShapeDtypeStruct((2, 3, 4), "f4")).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == dims
    np.testing.assert_array_equal(compiled(result), (deep + 1).sum(1))
    np.testing.assert_array_equal(np.from_dlpack(result), deep + 1)
    there = jax.device_put(result, jax.devices()[1])
    np.testing.assert_array_equal(there, deep + 1)
print("three dims", compiled.input_formats[0][0].layout.major_to_minor)

# Left to the compiler: a result comes in the order in which it is made, so that nothing is moved in memory.
auto = Format(Layout.AUTO)
for dims in ((2, 0, 1), (1, 2, 0), (0, 2, 1), (2, 1, 0)):
    back = tuple(np.argsort(dims))
    turn = jax.jit(lambda a, dims=dims: jnp.sin(a.transpose(dims) * 2) + 1, in_shardings=auto, out_shardings=auto)
    compiled = turn.lower(jax.ShapeDtypeStruct((2, 3, 4), "f4")).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (0, 1, 2)
    assert compiled.output_formats.layout.major_to_minor == back, compiled.output_formats
    result = compiled(deep)
    np.testing.assert_allclose(result, np.sin(deep.transpose(dims) * 2) + 1, rtol=1e-6)
    np.testing.assert_allclose(in_memory(result), (np.sin(deep * 2) + 1).ravel(), rtol=1e-6)
    moved = jax.jit(lambda a, dims=dims: a.transpose(dims), out_shardings=auto).lower(deep).compile()
    assert " transpose(" not in moved.as_text(), moved.as_text()
    np.testing.assert_array_equal(moved(deep), deep.transpose(dims))
# From arguments that lie otherwise; where operands disagree, row by row.
straight = jax.jit(lambda a: (a.T, a + a, a @ a.T, a[:, :6] + a[:, :6].T), in_shardings=Format(columns, one), out_shardings=auto)
square = np.arange(36.0, dtype="f4").reshape(6, 6)
found = straight(jax.device_put(square, Format(columns, one)))
for given, wanted in zip(found, (square.T, square * 2, square @ square.T, square + square.T), strict=True):
    np.testing.assert_array_equal(given, wanted)
print("chosen", *map(order, found))

# Given up: into the same layout its memory is used again, into another it is not.
step = jax.jit(lambda a: a * 2, in_shardings=Format(columns, one), out_shardings=Format(columns, one), donate_argnums=0)
given = jax.device_put(x, Format(columns, one))
place = given.unsafe_buffer_pointer()
result = step(given)
assert given.is_deleted() and result.unsafe_buffer_pointer() == place
np.testing.assert_array_equal(result, values * 2)
other = jax.jit(lambda a: a * 2, in_shardings=Format(columns, one), out_shardings=Format(Layout((0, 1)), one), donate_argnums=0)
np.testing.assert_array_equal(other(result), values * 4)
print("given up", order(step(jax.device_put(x, Format(columns, one)))))

# What cannot be.
try:
    compiled = jax.jit(lambda a: a, in_shardings=Format(columns, one)).lower(x).compile()
    compiled(jax.device_put(values, one))
except ValueError as error:
    print("refused:", str(error).splitlines()[0])
try:
    jax.device_put(x, Format(Layout((0, 1), ((8, 128),)), one)).block_until_ready()
except jax.errors.JaxRuntimeError as error:
    print("refused:", str(error).splitlines()[0])

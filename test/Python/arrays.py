"""shardc.Array: cut evenly and unevenly, moved, looked at, shared with NumPy, given up. Without JAX."""

import copy
import gc
import os
import pickle
import sys
import threading

sys.modules["jax"] = None  # any import of it fails

import numpy
import shardc

assert "ctypes" in sys.modules and not shardc._engine._engines, "importing starts no engine"
x = numpy.arange(40, dtype=numpy.float32).reshape(10, 4)
MESH = {"x": 4}


def raises(kind: type[BaseException], part: str, call: object) -> None:
    try:
        call()
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"expected {kind.__name__}")


def aligned(count: int) -> numpy.ndarray:
    """Of float32, at an address that 64 divides."""
    room = numpy.zeros(count + 16, numpy.float32)
    skip = -room.ctypes.data // 4 % 16
    return room[skip : skip + count]


# What each rank holds is said by hand.
uneven = shardc.array(x, shardc.split(0, "x", sizes=[5, 0, 3, 2]), mesh=MESH)
for shard, (begin, end) in zip(uneven.shards, [(0, 5), (5, 5), (5, 8), (8, 10)]):
    assert shard.index == (slice(begin, end), slice(0, 4)), shard
    numpy.testing.assert_array_equal(shard.data, x[begin:end])
assert uneven.shape == (10, 4) and uneven.dtype == x.dtype and uneven.nbytes == 160
assert "f32[10,4] [x 5|0|3|2, :] on x=4, 4 ranks" in repr(uneven), uneven
balanced = shardc.array(x, shardc.split(0, "x"), mesh=MESH)
assert [dim.sizes for dim in balanced.sharding.dims] == [(3, 3, 2, 2), (4,)]
grid = shardc.array(x, [shardc.split(0, "x"), shardc.split(1, "y", sizes=[1, 3])], mesh={"x": 2, "y": 2})
assert [shard.data.tolist() for shard in grid.shards] == [x[:5, :1].tolist(), x[:5, 1:].tolist(), x[5:, :1].tolist(),
                                                          x[5:, 1:].tolist()]
both = shardc.array(x, [shardc.split(0, "x"), shardc.split(0, "y")], mesh={"x": 2, "y": 2})
assert [shard.index[0].stop for shard in both.shards] == [3, 6, 8, 10]

# From every layout to every other.
layouts = [uneven.sharding, balanced.sharding, grid.sharding, both.sharding,
           shardc.array(x).sharding, shardc.array(x, mesh={"y": 3}).sharding]
for one in layouts:
    start = shardc.array(x, one)
    numpy.testing.assert_array_equal(start, x)
    for other in layouts:
        moved = start.reshard(other)
        assert moved.sharding == other
        numpy.testing.assert_array_equal(numpy.asarray(moved), x)
        for shard in moved.shards:
            numpy.testing.assert_array_equal(shard.data, x[shard.index])
# Where ranks hold the same, nothing is copied.
assert uneven.reshard(uneven.sharding) is uneven
address = uneven.shards[0].data.ctypes.data
again = uneven.reshard([shardc.split(0, "x", sizes=[5, 1, 2, 2])], mesh=MESH)
assert again.shards[0].data.ctypes.data == address and again.shards[3].data.ctypes.data == uneven.shards[3].data.ctypes.data

# Element types, empty arrays, numbers, strides, other byte orders.
for kind in ("bool", "int8", "uint16", "int64", "float16", "float64", "complex64", "complex128"):
    values = (numpy.arange(21).reshape(7, 3) % 2).astype(kind)
    for view in (values, values[::-1, ::2], values.T):
        held = shardc.array(view, shardc.split(0, "x"), mesh=MESH)
        assert held.dtype == view.dtype
        numpy.testing.assert_array_equal(held, view)
big = x.astype(">f4")
numpy.testing.assert_array_equal(shardc.array(big, shardc.split(1, "x"), mesh=MESH), x)
assert shardc.array(numpy.zeros((0, 3)), shardc.split(0, "x"), mesh=MESH)[:].shape == (0, 3)
number = shardc.array(3)
assert int(number) == 3 and number.item() == 3 and float(number) == 3.0 and f"{shardc.array(0.25):.1f}" == "0.2"
assert len(uneven) == 10 and uneven[3, 1] == 13 and [row[0] for row in uneven][:2] == [0, 4]
assert shardc.array([[1, 2]], dtype="float32").dtype == numpy.float32
raises(shardc.UsageError, "object", lambda: shardc.array(numpy.array([{}])))
raises(shardc.UsageError, "add up to 9", lambda: shardc.array(x, shardc.split(0, "x", [3, 3, 2, 1]), mesh=MESH))
raises(shardc.UsageError, "'z'", lambda: shardc.array(x, shardc.split(0, "z"), mesh=MESH))
raises(shardc.UsageError, "2 dims", lambda: shardc.array(x, shardc.split(2, "x"), mesh=MESH))
raises(shardc.UsageError, "no sharding", lambda: shardc.array(x, 3, mesh=MESH))
raises(shardc.UsageError, "[10, 4]", lambda: shardc.array(x[:3], uneven.sharding))

# Views: of one memory, not to be written to, and alive after the array.
one = shardc.array(x)
view, second = numpy.asarray(one), numpy.asarray(one)
assert view.ctypes.data == second.ctypes.data and not view.flags.writeable
raises(ValueError, "copy", lambda: numpy.asarray(uneven, copy=False))
assert numpy.array(one).ctypes.data != view.ctypes.data
capsule = numpy.from_dlpack(one)
assert capsule.ctypes.data == view.ctypes.data
del one
gc.collect()
fill = [shardc.array(numpy.full((10, 4), 9, numpy.float32)) for _ in range(10)]
numpy.testing.assert_array_equal(view, x)
numpy.testing.assert_array_equal(capsule, x)

# A copy of what may change; the memory itself where the caller says that it will not.
mine = aligned(1024)
kept_before = len(shardc._engine._kept)
kept, lent = shardc.array(mine), shardc.array(mine, copy=False)
rows = shardc.array(mine.reshape(4, 256), shardc.split(0, "x"), mesh=MESH, copy=False)
mine[700] = 7
assert kept[700] == 0 and lent[700] == 7 and rows[2, 700 - 512] == 7
assert len(shardc._engine._kept) == kept_before + 5
del lent, rows
gc.collect()
assert len(shardc._engine._kept) == kept_before, "what was borrowed is given back with the last shard"

# Given up.
gone = shardc.array(x, shardc.split(0, "x"), mesh=MESH)
held = gone.shards[0].data
gone.delete()
assert gone.is_deleted() and "deleted" in repr(gone)
numpy.testing.assert_array_equal(held, x[:3])
raises(shardc.UsageError, "deleted", lambda: numpy.asarray(gone))
raises(shardc.UsageError, "deleted", lambda: gone.shards)
raises(shardc.UsageError, "deleted", lambda: gone.reshard(uneven.sharding))

# Copies of the object are the object; pickles are arrays of their own.
assert copy.copy(uneven) is uneven and copy.deepcopy([uneven])[0] is uneven
thawed = pickle.loads(pickle.dumps(uneven))
assert thawed.sharding == uneven.sharding
numpy.testing.assert_array_equal(thawed, x)
raises(TypeError, "made by", shardc.Array)


# Threads make, move and drop arrays at once.
def work(seed: int) -> None:
    data = numpy.random.default_rng(seed).random((9, 5), numpy.float32)
    for _ in range(50):
        held = shardc.array(data, shardc.split(0, "x"), mesh=MESH).reshard(shardc.split(1, "x"), mesh=MESH)
        if not (numpy.asarray(held) == data).all():
            failures.append(seed)


failures: list[int] = []
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures

# A forked child gets an error, can drop what it has, and leaves its parent alone.
child = os.fork()
if child == 0:
    status = 1
    try:
        numpy.asarray(uneven)
    except shardc.UsageError as error:
        status = 0 if "forked" in str(error) else 2
    del uneven
    gc.collect()
    os._exit(status)
assert os.waitpid(child, 0)[1] == 0
numpy.testing.assert_array_equal(uneven, x)
print("all good")

"""shardc.Program on the engine: what calls give, keep, give up, refuse and survive. Without JAX."""

import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

sys.modules["jax"] = None  # any import of it fails

import numpy
import shardc
from shardc._tools import find_tool

STEP = """
func.func @main(%w: tensor<4x3xf32>, %x: tensor<10x4xf32>) -> (tensor<4x3xf32>, tensor<10x3xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<10x4xf32>, tensor<4x3xf32>) -> tensor<10x3xf32>
  %1 = stablehlo.add %w, %w : tensor<4x3xf32>
  return %1, %0 : tensor<4x3xf32>, tensor<10x3xf32>
}
"""
SPLITS = [None, shardc.split(0, "d", sizes=[7, 0, 3])]
rng = numpy.random.default_rng(0)
w, x = rng.random((4, 3), numpy.float32), rng.random((10, 4), numpy.float32)


def raises(kind: type[BaseException], part: str, call: object) -> BaseException:
    try:
        call()
    except kind as error:
        assert part in str(error), error
        return error
    raise AssertionError(f"expected {kind.__name__}")


# What started this process may have had children; this one has none.
children = resource.getrusage(resource.RUSAGE_CHILDREN)
program = shardc.compile(STEP, mesh={"d": 3}, in_shardings=SPLITS)
doubled, y = program(w, x)
assert type(doubled) is numpy.ndarray and doubled.flags.writeable
numpy.testing.assert_allclose(y, x @ w, rtol=1e-5)
assert program.mesh == {"d": 3}
assert [dim.sizes for dim in program.in_shardings[1].dims] == [(7, 0, 3), (4,)]
assert "f32[10,4] [d 7|0|3, :]" in repr(program) and "d=3" in repr(program), program
assert shardc.__version__ == (Path(__file__).resolve().parents[2] / "VERSION").read_text().strip()
assert isinstance(program.remarks, list) and program.costs()["code_bytes"] > 0

# Neither compiling nor calling has started a process or written a file.
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt == children.ru_minflt
assert not os.listdir(tempfile.gettempdir()), os.listdir(tempfile.gettempdir())

# What stays, stays: results of arrays are arrays, and go in again as they are.
held_w, held_x = program.put(w, x)
assert [shard.data.shape for shard in held_x.shards] == [(7, 4), (0, 4), (3, 4)]
with warnings.catch_warnings():
    warnings.simplefilter("error")
    state = held_w
    for _ in range(5):
        state, y = program(state, held_x)
assert isinstance(state, shardc.Array) and isinstance(y, shardc.Array) and y.shape == (10, 3)
numpy.testing.assert_array_equal(state, w * 32)
numpy.testing.assert_allclose(y, 16 * (x @ w), rtol=1e-5)
assert program.out_shardings[1] == y.sharding
assert isinstance(program(w, held_x)[1], shardc.Array)
numpy.testing.assert_allclose(program(held_w, x)[1], x @ w, rtol=1e-5)
staying = shardc.compile(STEP, mesh={"d": 3}, in_shardings=SPLITS, gather=False)
assert isinstance(staying(w, x)[1], shardc.Array)
gathered = shardc.compile(STEP, mesh={"d": 3}, in_shardings=SPLITS, gather=True)
assert type(gathered(held_w, held_x)[1]) is numpy.ndarray
# Host memory that results came from may be changed at once.
mine = x.copy()
_, later = staying(w, mine)
mine[:] = 0
numpy.testing.assert_allclose(later, x @ w, rtol=1e-5)

# An array that lies otherwise is moved, with a warning, once.
other = shardc.array(x, shardc.split(1, "d"), mesh={"d": 3})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        numpy.testing.assert_allclose(program(held_w, other)[1], x @ w, rtol=1e-5)
assert len(caught) == 1 and caught[0].category is shardc.ShardcWarning and caught[0].filename == __file__, caught
assert "argument 1" in str(caught[0].message) and "[:, d 2|1|1]" in str(caught[0].message), caught[0]
numpy.testing.assert_allclose(program(held_w, shardc.array(x))[1], x @ w, rtol=1e-5)
numpy.testing.assert_allclose(
    program(held_w, shardc.array(x, shardc.split(0, "e"), mesh={"e": 5}))[1], x @ w, rtol=1e-5)

# What does not fit is named, and nothing is lost.
raises(shardc.UsageError, "argument 1 is f32[4,3], but the program takes f32[10,4]", lambda: program(w, w))
raises(shardc.UsageError, "argument 0 is f64[4,3], but the program takes f32[4,3]", lambda: program(w.astype(float), x))
raises(shardc.UsageError, "3 arrays are given", lambda: program(w, x, x))
raises(shardc.UsageError, "'scale'", lambda: program(w, x, scale=2))
raises(shardc.UsageError, "argument 1 is f32[4,3]", lambda: program(held_w, held_w))
raises(ValueError, "argument 2, but @main has 2", lambda: shardc.compile(STEP, mesh={"d": 3}, in_shardings={2: SPLITS[1]}))
raises(shardc.UsageError, "'z'", lambda: shardc.compile(STEP, mesh={"d": 3}, in_shardings={0: shardc.split(0, "z")}))
gone = shardc.array(w)
gone.delete()
raises(shardc.UsageError, "deleted", lambda: program(gone, held_x))
gone = program.put(w, x)[0]
gone.delete()
raises(shardc.UsageError, "argument 0 was deleted", lambda: program(gone, held_x))
numpy.testing.assert_allclose(program(held_w, held_x)[1], x @ w, rtol=1e-5)

# Results as they are asked for.
cut = shardc.compile(STEP, mesh={"d": 3}, in_shardings=SPLITS, out_shardings=[shardc.split(0, "d"), shardc.split(1, "d")])
assert [[dim.sizes for dim in sharding.dims] for sharding in cut.out_shardings] == [[(2, 1, 1), (3,)], [(10,), (1, 1, 1)]]
numpy.testing.assert_allclose(cut(w, x)[1], x @ w, rtol=1e-5)

# Donated arrays are given up, and their memory is written over; NumPy's are not changed.
GIVEN = STEP.replace("%w: tensor<4x3xf32>", "%w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32}")
giving = shardc.compile(GIVEN, mesh={"d": 3}, in_shardings=SPLITS)
before = w.copy()
numpy.testing.assert_array_equal(giving(w, x)[0], 2 * w)
numpy.testing.assert_array_equal(w, before)
state, held = giving.put(w, x)
was = state
state, y = giving(state, held)
assert was.is_deleted() and not held.is_deleted() and not state.is_deleted()
numpy.testing.assert_array_equal(state, 2 * w)
raises(shardc.UsageError, "argument 0 was deleted", lambda: giving(was, held))
view = numpy.asarray(state)
state, y = giving(state, held)
numpy.testing.assert_array_equal(view, 2 * w)
numpy.testing.assert_array_equal(state, 4 * w)

# Saved and loaded.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "program.so"
    program.save(path)
    loaded = shardc.load(path)
    numpy.testing.assert_allclose(loaded(w, x)[1], x @ w, rtol=1e-5)
    assert isinstance(loaded(*loaded.put(w, x))[1], shardc.Array)
    raises(shardc.UsageError, "loaded from an artifact", lambda: loaded.text)
    # Its code is not linked, which would take a process; tools link it.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt == children.ru_minflt
    assert path.read_bytes()[16] == 1
    for extra in ("--repeat=1", "--processes=3"):
        subprocess.run([find_tool("shard-run"), str(path), "--seed=1", extra], check=True, capture_output=True)
    path.write_bytes(path.read_bytes()[:-70])
    raises(shardc.RefusedError, "", lambda: shardc.load(path))
    raises(shardc.RunError, "No such file", lambda: shardc.load(Path(folder) / "none"))

# Threads call the same program and others at once.
failures: list[object] = []


def work(seed: int) -> None:
    try:
        mine = numpy.random.default_rng(seed).random((10, 4), numpy.float32)
        own = shardc.compile(STEP, mesh={"d": 3}, in_shardings=SPLITS) if seed % 2 else program
        held = program.put(w, mine)[1] if seed % 3 else mine
        for _ in range(40):
            numpy.testing.assert_allclose(own(w, held)[1], mine @ w, rtol=1e-5)
    except BaseException as error:
        failures.append(error)


threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures

# Long work: the call returns before it is done, Ctrl-C ends the wait, and what was computed is there in the end.
LONG = """
func.func @main(%n: tensor<i32>, %x: tensor<300x300xf32>) -> tensor<300x300xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<300x300xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %v, %x, contracting_dims = [1] x [0] : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<300x300xf32>
  }
  return %0#1 : tensor<300x300xf32>
}
"""
# What starts tests may have switched it off.
signal.signal(signal.SIGINT, signal.default_int_handler)
long = shardc.compile(LONG, mesh={"d": 2}, in_shardings=[None, shardc.split(0, "d")])
turned = numpy.roll(numpy.eye(300, dtype=numpy.float32), 1, axis=0)
count, held = long.put(numpy.int32(1000), turned)
long(count, held).block_until_ready()
result = long(count, held)
assert not result.is_ready() and "being computed" in repr(result)
raises(KeyboardInterrupt, "", lambda: (threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start(),
                                       [long(count, held).block_until_ready() for _ in range(100)]))
numpy.testing.assert_array_equal(result, numpy.linalg.matrix_power(turned.astype(int), 1001))
raises(KeyboardInterrupt, "", lambda: (threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start(),
                                       [long(numpy.int32(1000), turned) for _ in range(100)]))
numpy.testing.assert_allclose(program(w, x)[1], x @ w, rtol=1e-5)

# So it ends a compilation, which leaves nothing behind that works on.
steps = [f"""%v{n + 1} = "stablehlo.sort"(%v{n}) <{{dimension = {n % 2} : i64}}> ({{
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %s = stablehlo.sine %a : tensor<f32>
  %r = stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %r : tensor<i1>
}}) : (tensor<8x8xf32>) -> tensor<8x8xf32>""" for n in range(400)]
endless = "\n".join(["func.func @main(%v0: tensor<8x8xf32>) -> tensor<8x8xf32> {", *steps, "return %v400 : tensor<8x8xf32>\n}"])
began = spent = time.process_time()
raises(KeyboardInterrupt, "", lambda: (threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start(),
                                       shardc.compile(endless)))
numpy.testing.assert_allclose(program(w, x)[1], x @ w, rtol=1e-5)
while time.process_time() > spent + 0.01:  # until nothing is done any more
    spent, _ = time.process_time(), time.sleep(1)
assert spent - began < 3, f"{spent - began:.1f} s of five"

# A forked child gets an error.
child = os.fork()
if child == 0:
    status = 1
    try:
        program(w, x)
    except shardc.UsageError as error:
        status = 0 if "forked" in str(error) else 2
    del program, loaded
    gc.collect()
    os._exit(status)
assert os.waitpid(child, 0)[1] == 0
numpy.testing.assert_allclose(program(w, x)[1], x @ w, rtol=1e-5)
print("all good")

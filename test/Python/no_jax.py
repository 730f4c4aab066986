"""The package without JAX: text and artifacts in, arrays out, errors as exceptions."""

import json
import sys
import tempfile
from pathlib import Path

sys.modules["jax"] = None  # any import of it fails

import numpy
import shardc

TEXT = """
func.func @main(%x: tensor<10x4xf32>, %w: tensor<4x3xf32>) -> (tensor<10x3xf32>, tensor<10x3xi1>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<10x4xf32>, tensor<4x3xf32>) -> tensor<10x3xf32>
  %c = stablehlo.constant dense<0.5> : tensor<10x3xf32>
  %1 = stablehlo.compare GT, %0, %c : (tensor<10x3xf32>, tensor<10x3xf32>) -> tensor<10x3xi1>
  return %0, %1 : tensor<10x3xf32>, tensor<10x3xi1>
}
"""

rng = numpy.random.default_rng(0)
x, w = rng.random((10, 4), numpy.float32), rng.random((4, 3), numpy.float32)
program = shardc.compile(TEXT, mesh={"d": 3}, in_shardings=[shardc.split(0, "d", sizes=[7, 0, 3]), None])
y, above = program(x, w)
numpy.testing.assert_allclose(y, x @ w, rtol=1e-5)
numpy.testing.assert_array_equal(above, y > 0.5)
assert program.check(x, w)["mesh"] == {"d": 3}
report = program.report([x, w], repeat=2)
assert report["ranks"] == 3 and report["arguments"][0]["dims"][0]["sizes"] == [7, 0, 3]
with tempfile.TemporaryDirectory() as folder:
    trace, page = Path(folder) / "trace.json", Path(folder) / "report.html"
    report = program.report([x, w], repeat=2, trace=trace, page=page)
    events = json.loads(trace.read_text())["traceEvents"]
    assert report["steps"] == 2 and any(event.get("cat") == "kernel" for event in events)
    assert page.read_text().startswith("<!doctype html>")
shared = shardc.compile(TEXT, mesh={"d": 3}, in_shardings=[shardc.split(0, "d", sizes=[7, 0, 3]), None], threads=2)
assert shared.report([x, w])["threads"] == 2
numpy.testing.assert_array_equal(shared(x, w)[0], y)

# The type of a complex argument has brackets of its own.
CONJUGATE = """
func.func @main(%z: tensor<5x2xcomplex<f32>>) -> tensor<5x2xf32> {
  %0 = stablehlo.imag %z : (tensor<5x2xcomplex<f32>>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
"""
z = (rng.random((5, 2)) + 1j * rng.random((5, 2))).astype(numpy.complex64)
numpy.testing.assert_array_equal(shardc.compile(CONJUGATE, mesh={"d": 3}, in_shardings=[shardc.split(0, "d")])(z), z.imag)

with tempfile.TemporaryDirectory() as directory:
    path = Path(directory) / "program.so"
    program.save(path)
    loaded = shardc.load(path)
numpy.testing.assert_array_equal(loaded(x, w)[0], y)


def refused(kind: type[shardc.ShardcError], code: int, part: str, call: object) -> None:
    try:
        call()
    except kind as error:
        assert error.code == code and part in str(error), (error.code, str(error))
    else:
        raise AssertionError(f"expected {kind.__name__}")


refused(shardc.UsageError, 2, "artifact", lambda: loaded.check(x, w))
refused(shardc.RefusedError, 1, "undeclared SSA value", lambda: shardc.compile(TEXT.replace("%x, %w, con", "%x, %z, con")))
refused(shardc.UnsupportedError, 77, "no custom call of target @unheard_of", lambda: shardc.compile(
    TEXT.replace("stablehlo.constant dense<0.5>", "stablehlo.custom_call @unheard_of() ").replace(
        " : tensor<10x3xf32>\n  %1", " : () -> tensor<10x3xf32>\n  %1")))
refused(shardc.UsageError, 2, "argument 1 is f32[10,4], but the program takes f32[4,3]", lambda: program(x, x))
for bad in (lambda: shardc.split(-1, "d"), lambda: shardc.compile(TEXT, mesh={"d": 2}, in_shardings={2: shardc.split(0, "d")}),
            lambda: shardc.compile(TEXT, in_shardings={0: shardc.split(0, "d")}),
            lambda: shardc.compile(TEXT, mesh={"d": 2}, in_shardings={0: shardc.split(5, "d")})):
    try:
        bad()
    except ValueError:
        pass
    else:
        raise AssertionError("expected ValueError")
print("all good")

"""compile(tuned=True): who asks has the tiles that were measured, with the same bits; who does not has the estimates'.

tuned.py FOLDER
"""

import argparse
import subprocess
from pathlib import Path

import numpy
import shardc
from shardc._tools import find_tool

PRODUCT = """
func.func @main(%a: tensor<1x128xf32>, %b: tensor<128x96xf32>) -> tensor<1x96xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x128xf32>, tensor<128x96xf32>) -> tensor<1x96xf32>
  return %0 : tensor<1x96xf32>
}
"""
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path)
folder: Path = parser.parse_args().folder
model, times = folder / "model.mlir", folder / "times"
model.write_text(PRODUCT)
# The estimates take no panel of an operand as small as this one.
times.write_text("panel=1 5\nrow= 10\n")
rng = numpy.random.default_rng(0)
a, b = rng.random((1, 128), numpy.float32), rng.random((128, 96), numpy.float32)


def compiled(tuned: bool) -> tuple[bytes, numpy.ndarray]:
    """The artifact and the result of the product."""
    program = shardc.compile(PRODUCT, tuned=tuned, threads=1)
    file = folder / "saved.so"
    program.save(file)
    result = numpy.asarray(program(a, b))
    assert (numpy.asarray(shardc.load(file)(a, b)) == result).all()
    return file.read_bytes(), result


plain, expected = compiled(tuned=False)
assert numpy.allclose(expected, a.astype(numpy.float64) @ b, rtol=1e-5), "the product itself"
assert compiled(tuned=True)[0] == plain, "nothing was measured"
said = subprocess.run([find_tool("shard-run"), model, "--tune", f"--tune-times={times}"], capture_output=True, text=True, check=True).stderr
assert "panel=1 for panel=0" in said, said
artifact, result = compiled(tuned=True)
assert artifact != plain, "the tile that was found"
assert (result == expected).all()
assert compiled(tuned=False)[0] == plain
print("all good")

"""The package beside others that have an LLVM of their own: imported before them and after, in processes of their own."""

import importlib.util
import subprocess
import sys

PROGRAM = '''
import {first}
import {second}
import numpy
import shardc

TEXT = """
func.func @main(%x: tensor<10x4xf32>) -> tensor<10x4xf32> {{
  %0 = stablehlo.sine %x : tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}}
"""
x = numpy.arange(40, dtype=numpy.float32).reshape(10, 4)


def mine():
    program = shardc.compile(TEXT, mesh={{"d": 3}}, in_shardings=[shardc.split(0, "d", [7, 0, 3])])
    numpy.testing.assert_allclose(program(x), numpy.sin(x), rtol=1e-5)
    return program.put(x)


def theirs(held):
    if "{other}" == "jax":
        import jax

        numpy.testing.assert_allclose(jax.jit(lambda x: jax.numpy.sin(x))(x), numpy.sin(x), rtol=1e-5)
    elif "{other}" == "triton":
        # Its compiler, an LLVM of another version, is this library; kernels need a GPU.
        from triton._C import libtriton

        context = libtriton.ir.context()
        libtriton.ir.load_dialects(context)
    else:
        import torch

        numpy.testing.assert_allclose(torch.sin(torch.from_numpy(x)), numpy.sin(x), rtol=1e-5)
        taken = torch.from_dlpack(held.reshard(None))
        assert (taken.numpy() == x).all()
        assert (numpy.asarray(shardc.array(taken)) == x).all()


if "{first}" == "shardc":
    theirs(mine())
    mine()
else:
    held = mine()
    theirs(held)
    mine()
print("{first} before {second}: good")
'''

for other in ("jax", "torch", "triton"):
    if importlib.util.find_spec(other) is None:
        print(f"{other}: not here")
        continue
    for first, second in ((other, "shardc"), ("shardc", other)):
        subprocess.run([sys.executable, "-c", PROGRAM.format(first=first, second=second, other=other)], check=True)

"""What Inputs/counter.mlir computes, step by step, in NumPy: inputs, batches and the results of N steps.

    steps.py DIRECTORY STEPS
"""

import sys
from pathlib import Path

import numpy

directory, steps = Path(sys.argv[1]), int(sys.argv[2])
directory.mkdir(parents=True, exist_ok=True)
random = numpy.random.default_rng(1)


def draw(shape: tuple[int, ...]) -> numpy.ndarray:
    return random.integers(-1000, 1000, shape, dtype=numpy.int32)


state, turned, key = draw((10, 3)), draw((6, 5)), numpy.array([12345, 678], numpy.uint32)
batches = draw((4, 10, 3))
numpy.savez(directory / "in.npz", in0=state, in1=turned, in2=key)
numpy.save(directory / "batches.npy", batches)
numpy.savez(directory / "batches.npz", in3=batches)
with numpy.errstate(over="ignore"):
    for step in range(steps):
        state = state * numpy.int32(3) + batches[step % 4] + numpy.int32(step)
        turned = turned * numpy.int32(7)
        key = key * numpy.uint32(5)
        total = state.sum(dtype=numpy.int32)
numpy.savez(directory / "out.npz", out0=state, out1=turned, out2=key, out3=total)

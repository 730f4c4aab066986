"""Compile portable artifacts and compare with what JAX computed: ``portable.py ARTIFACTS DATA``."""

import sys
from pathlib import Path

import numpy
import shardc

artifacts, stored = map(Path, sys.argv[1:])
for path in sorted(artifacts.glob("*.mlirbc")):
    data = numpy.load(stored / f"{path.stem}.npz")
    inputs = [data[f"in{i}"] for i in range(sum(name.startswith("in") for name in data.files))]
    program = shardc.compile(path.read_bytes(), *inputs)
    numpy.testing.assert_allclose(program(*inputs), data["out0"], rtol=1e-4, atol=1e-5)
    print(path.stem, "equal", flush=True)

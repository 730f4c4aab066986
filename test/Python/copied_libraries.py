"""Copies libraries from one folder to another, the runtime without an entry point, and compiles a program that calls it."""

import sys
from pathlib import Path

import numpy as np
import shardc

PROGRAM = """
func.func @main(%a: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<9x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}
"""
source, target = Path(sys.argv[1]), Path(sys.argv[2])
(target / "libshardc.so").write_bytes((source / "libshardc.so").read_bytes())
runtime = (source / "libshardrt.so").read_bytes()
assert runtime.count(b"\0shardrt_arena\0") >= 1
(target / "libshardrt.so").write_bytes(runtime.replace(b"\0shardrt_arena\0", b"\0shardrt_arenb\0"))
try:
    shardc.compile(PROGRAM)(np.ones((9, 4), np.float32))
except shardc.RefusedError as error:
    assert "the program's code cannot be linked: Symbols not found: [ shardrt_arena ]" in str(error), error
else:
    raise AssertionError("the runtime of another folder was used")

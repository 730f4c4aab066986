"""Write a network of 60 layers that are alike, each with weights of its own, with inputs and what NumPy makes of them in f64."""

import sys
from pathlib import Path

import numpy as np

LAYERS, BATCH, SIZE = 60, 12, 24
X, W, B = f"tensor<{BATCH}x{SIZE}xf32>", f"tensor<{LAYERS}x{SIZE}x{SIZE}xf32>", f"tensor<{LAYERS}x{SIZE}xf32>"


def program() -> str:
    lines, value = [], "%x"
    for i in range(LAYERS):
        lines += [
            f"%p{i} = stablehlo.slice %w [{i}:{i + 1}, 0:{SIZE}, 0:{SIZE}] : ({W}) -> tensor<1x{SIZE}x{SIZE}xf32>",
            f"%w{i} = stablehlo.reshape %p{i} : (tensor<1x{SIZE}x{SIZE}xf32>) -> tensor<{SIZE}x{SIZE}xf32>",
            f"%q{i} = stablehlo.slice %b [{i}:{i + 1}, 0:{SIZE}] : ({B}) -> tensor<1x{SIZE}xf32>",
            f"%b{i} = stablehlo.broadcast_in_dim %q{i}, dims = [0, 1] : (tensor<1x{SIZE}xf32>) -> {X}",
            f"%d{i} = stablehlo.dot_general {value}, %w{i}, contracting_dims = [1] x [0] : ({X}, tensor<{SIZE}x{SIZE}xf32>) -> {X}",
            f"%a{i} = stablehlo.add %d{i}, %b{i} : {X}",
            f"%t{i} = stablehlo.tanh %a{i} : {X}",
            f"%v{i} = stablehlo.add %t{i}, {value} : {X}",
        ]
        value = f"%v{i}"
    cut = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    head = f'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%x: {X} {cut}, %w: {W}, %b: {B}) -> {X} {{'
    return "\n  ".join([head, *lines, f"return {value} : {X}"]) + "\n}\n"


def main() -> None:
    folder, rng = Path(sys.argv[1]), np.random.default_rng(1)
    x, w, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((BATCH, SIZE), (LAYERS, SIZE, SIZE), (LAYERS, SIZE)))
    w *= np.float32(0.02)
    (folder / "layers.mlir").write_text(program())
    np.savez(folder / "in.npz", in0=x, in1=w, in2=b)
    y = x.astype(np.float64)
    for weights, bias in zip(w, b, strict=True):
        y = np.tanh(y @ weights.astype(np.float64) + bias) + y
    np.savez(folder / "out.npz", out0=y.astype(np.float32))


if __name__ == "__main__":
    main()

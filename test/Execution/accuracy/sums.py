"""Whether long sums keep the digits of their terms, beside NumPy in f64.

``sums.py SHARD-RUN DIR [OPTION]...``; options are shard-run's.

Terms that are equal are the worst case: each addition to a total rounds the same way. A sum of n terms that is made of partial sums of b terms
is off by at most (b + n / b) roundings of 2^-24 of it, with b the square root of n to within a factor of two, or LEAST where that is more.
Of terms that differ, roundings differ as well: sums of rows are off by no more than a unit in the last place.
Running logarithms of sums of exponentials accumulate in f64: each result is rounded once. Exit status 1: a bound is exceeded.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Terms of a partial sum at least; n where nothing is split.
LEAST = 512
ROUNDING = 2.0**-24

# What is summed, of how many terms each. Rests of blocks, of vectors and of tiles are among them.
SUM = """%{n} = stablehlo.reduce(%{arg} init: %zero) applies stablehlo.add across dimensions = [{dims}]
    : ({type}, tensor<f32>) -> {result}"""
PRODUCT = """%{n} = stablehlo.dot_general %{arg}, %{other}, contracting_dims = [{dims}] x [0]
    : ({type}, {type2}) -> {result}"""
RUNNING = """%{n} = "stablehlo.reduce_window"(%{arg}, %lowest) <{{padding = dense<{padding}> : tensor<{rank}x2xi64>,
    window_dimensions = array<i64: {window}>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %larger = stablehlo.maximum %a, %b : tensor<f32>
    %difference = stablehlo.subtract %a, %b : tensor<f32>
    %is_none = stablehlo.compare NE, %difference, %difference, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %both = stablehlo.add %a, %b : tensor<f32>
    %size = stablehlo.abs %difference : tensor<f32>
    %minus = stablehlo.negate %size : tensor<f32>
    %exp = stablehlo.exponential %minus : tensor<f32>
    %log = stablehlo.log_plus_one %exp : tensor<f32>
    %sum = stablehlo.add %larger, %log : tensor<f32>
    %either = stablehlo.select %is_none, %both, %sum : tensor<i1>, tensor<f32>
    stablehlo.return %either : tensor<f32>
  }}) : ({type}, tensor<f32>) -> {type}"""


def bound(terms: int) -> float:
    """The largest error of a sum of ``terms`` equal ones, of the sum."""
    root = math.isqrt(terms)
    partial = min(max(LEAST, 2 * root), terms)
    return (partial + terms / partial + 16) * ROUNDING


def running(x: Array, axis: int, backwards: bool) -> Array:
    """log(cumsum(exp(x))), without leaving the range of f64."""
    order = np.flip(x.astype(np.float64), axis) if backwards else x.astype(np.float64)
    result = np.logaddexp.accumulate(order, axis=axis)
    return np.flip(result, axis) if backwards else result


def tensor(shape: tuple[int, ...]) -> str:
    """The type of f32 of this shape."""
    return f"tensor<{'x'.join([*map(str, shape), 'f32'])}>"


def main() -> int:
    """Run the program once and print a line a result."""
    tool, folder, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    arguments: list[Array] = []
    lines: list[str] = []
    results: list[str] = []
    checks: list[tuple[str, Array, Array | float]] = []  # name, expected, the largest difference

    def constant(*shape: int) -> Array:
        return np.full(shape, 0.1, np.float32)

    def add(name: str, text: str, operands: list[Array], expected: Array, most: Array | float, **fields: Any) -> None:
        first = len(arguments)
        arguments.extend(operands)
        fields.setdefault("result", tensor(expected.shape))
        number = len(results)
        lines.append(
            text.format(
                n=number,
                arg=f"arg{first}",
                other=f"arg{first + 1}",
                type=tensor(operands[0].shape),
                type2=tensor(operands[-1].shape),
                **fields,
            )
        )
        results.append(fields["result"])
        checks.append((name, expected, most))

    for shape, dims in (
        ((300007, 10), (0,)),
        ((3, 1000003), (1,)),
        ((2**17, 33), (0,)),
        ((700, 3, 901), (0, 2)),
        ((5, 400009), (0, 1)),
    ):
        x = constant(*shape)
        exact = x.astype(np.float64).sum(dims)
        terms = math.prod(shape[dim] for dim in dims)
        add(f"sum of {shape} over {dims}", SUM, [x], exact, exact * bound(terms), dims=", ".join(map(str, dims)))
    for left, right in (((40, 100003), (100003, 24)), ((1, 60000), (60000, 64)), ((2, 50001), (50001, 3))):
        x, y = constant(*left), np.ones(right, np.float32)
        exact = x.astype(np.float64) @ y
        add(f"product of {left} and {right}", PRODUCT, [x, y], exact, exact * bound(left[1]), dims="1")
    draw = np.random.default_rng(7)
    for shape in ((300007, 10), (200003, 48)):
        x = draw.random(shape, np.float32)
        exact = x.astype(np.float64).sum(0)
        add(f"sum of random {shape}", SUM, [x], exact, np.spacing(exact.astype(np.float32)), dims="0")
    wide = (300 * draw.standard_normal(2000)).astype(np.float32)
    wide[[0, 40, 41]] = [-np.inf, -np.inf, 200]
    for name, x, axis, backwards in (
        ("normal", draw.standard_normal(200000).astype(np.float32), 0, False),
        ("slowly rising", (1e-5 * np.arange(200000)).astype(np.float32), 0, False),
        ("wide", wide, 0, True),
        ("columns", draw.standard_normal((20000, 5)).astype(np.float32), 0, False),
    ):
        exact = running(x, axis, backwards)
        n = x.shape[axis]
        pads = [[0, 0] for _ in x.shape]
        pads[axis] = [0, n - 1] if backwards else [n - 1, 0]
        window = [1] * x.ndim
        window[axis] = n
        # Half a unit of the result; log(s) and x, of which it is the sum, are right to many more digits.
        most = np.maximum(np.abs(np.where(np.isfinite(exact), exact, 0)) * 1.01 * ROUNDING, 1e-9)
        fields = {"padding": pads, "rank": x.ndim, "window": ", ".join(map(str, window))}
        add(f"running logsumexp, {name}", RUNNING, [x], exact, most, **fields)

    types = ", ".join(f"%arg{i}: {tensor(x.shape)}" for i, x in enumerate(arguments))
    body = "\n  ".join(
        [
            "%zero = stablehlo.constant dense<0.0> : tensor<f32>",
            "%lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>",
            *lines,
        ]
    )
    names = ", ".join(f"%{i}" for i in range(len(results)))
    model = folder / "sums.mlir"
    model.write_text(
        f"func.func @main({types}) -> ({', '.join(results)}) {{\n  {body}\n  return {names} : {', '.join(results)}\n}}\n"
    )
    np.savez(folder / "in.npz", **{f"in{i}": x for i, x in enumerate(arguments)})
    command = [tool, str(model), f"--inputs=@{folder / 'in.npz'}", f"--outputs=@{folder / 'out.npz'}", *options]
    subprocess.run(command, check=True)
    found = np.load(folder / "out.npz")
    failures = 0
    for i, (name, expected, most) in enumerate(checks):
        result = found[f"out{i}"].astype(np.float64)
        with np.errstate(invalid="ignore"):
            error = np.where(result == expected, 0, np.abs(result - expected))
        share = float(np.max(np.nan_to_num(error / most, nan=math.inf)))
        failures += share > 1
        print(f"{name}: {share:.2f} of what is allowed{'' if share <= 1 else ' FAILED'}")
    print(f"{len(checks) - failures} of {len(checks)} within their bounds")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

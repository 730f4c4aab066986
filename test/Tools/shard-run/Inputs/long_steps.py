"""Write programs whose steps are long: a line of sums among ranks, the same as a loop's body, and beside work for several threads."""

import sys
from pathlib import Path

ARRAY = "tensor<16x8xf32>"


def line(name: str, value: str, count: int) -> tuple[list[str], str]:
    """Each takes its mean away from what the one before gave, and adds %x: no two are alike."""
    ops = []
    for i in range(count):
        ops += [
            f"%{name}s{i} = stablehlo.reduce({value} init: %zero) applies stablehlo.add across dimensions = [0, 1] : ({ARRAY}, tensor<f32>) -> tensor<f32>",
            f"%{name}m{i} = stablehlo.multiply %{name}s{i}, %part : tensor<f32>",
            f"%{name}b{i} = stablehlo.broadcast_in_dim %{name}m{i}, dims = [] : (tensor<f32>) -> {ARRAY}",
            f"%{name}d{i} = stablehlo.subtract {value}, %{name}b{i} : {ARRAY}",
            f"%{name}v{i} = stablehlo.add %{name}d{i}, %x : {ARRAY}",
        ]
        value = f"%{name}v{i}"
    return ops, value


CONSTANTS = [
    "%zero = stablehlo.constant dense<0.0> : tensor<f32>",
    "%part = stablehlo.constant dense<7.8125e-03> : tensor<f32>",
]


CUT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def module(arguments: str, body: list[str], values: str, types: str) -> str:
    head = f'sdy.mesh @mesh = <["x"=3]>\nfunc.func @main({arguments}) -> ({types}) {{'
    return "\n  ".join([head, *CONSTANTS, *body, f"return {values} : {types}"]) + "\n}\n"


def program(body: list[str], value: str) -> str:
    return module(f"%x: {ARRAY} {CUT}", body, value, ARRAY)


folder = Path(sys.argv[1])
(folder / "sums.mlir").write_text(program(*line("", "%x", 450)))
inner, last = line("", "%state", 450)
loop = [
    "%first = stablehlo.constant dense<0> : tensor<i32>",
    f"%out:2 = stablehlo.while(%i = %first, %state = %x) : tensor<i32>, {ARRAY}",
    "cond {",
    "  %end = stablehlo.constant dense<3> : tensor<i32>",
    "  %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>",
    "  stablehlo.return %more : tensor<i1>",
    "} do {",
    *inner,
    "  %one = stablehlo.constant dense<1> : tensor<i32>",
    "  %next = stablehlo.add %i, %one : tensor<i32>",
    f"  stablehlo.return %next, {last} : tensor<i32>, {ARRAY}",
    "}",
]
(folder / "loop.mlir").write_text(program(loop, "%out#1"))

sums, last = line("", "%x", 450)
big = "tensor<1024x1024xf32>"
arguments = f"%x: {ARRAY} {CUT}, %y: {big} {CUT}"
(folder / "wide.mlir").write_text(
    module(arguments, [*sums, f"%wide = stablehlo.tanh %y : {big}"], f"{last}, %wide", f"{ARRAY}, {big}")
)

"""What prepare.py lets a GPU machine time beside others: our kernels at the sizes at which these are known.

Each timing is a program without data: the runner fills its arguments with random numbers. Sizes for the emulated
device are tiny: there the script is tested, and nothing is measured.
"""

import dataclasses
import math
import string
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE.parent / "Execution" / "corpus" / "Inputs"


@dataclasses.dataclass(frozen=True)
class Timing:
    """A program, and what its time is held against.

    ``work`` is done in a step, in ``unit`` a second (TFLOP/s, GB/s), or is how many times a step does the thing whose
    microseconds count (us). ``library``: the name of the one that may do the same program. ``floor``: what is taken
    off, or divided by, as gpu-peers calls it. ``goal`` is a percentage of the peer, or microseconds. ``shape`` is what
    peers.py makes the same of.
    """

    name: str
    text: str
    unit: str
    work: float
    goal: float
    library: str = ""
    floor: str = ""
    shape: dict = dataclasses.field(default_factory=dict)
    flags: tuple[str, ...] = ()


def fill(template: str, **values: object) -> str:
    return string.Template((HERE / "Inputs" / template).read_text()).substitute({k: str(v) for k, v in values.items()})


def product(kind: str, n: int) -> str:
    factor, result = f"tensor<{n}x{n}x{kind}>", f"tensor<{n}x{n}x{kind}>"
    return (f"func.func @main(%a: {factor}, %b: {factor}) -> {result} {{\n"
            f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({factor}, {factor}) -> {result}\n"
            f"  return %0 : {result}\n}}\n")


def fusion(n: int) -> str:
    """Reads three tensors and writes one: 16 bytes an element."""
    t = f"tensor<{n}xf32>"
    return (f"func.func @main(%a: {t}, %b: {t}, %c: {t}) -> {t} {{\n"
            f"  %0 = stablehlo.multiply %a, %b : {t}\n  %1 = stablehlo.add %0, %c : {t}\n"
            f"  %2 = stablehlo.constant dense<0.0> : {t}\n  %3 = stablehlo.maximum %1, %2 : {t}\n  return %3 : {t}\n}}\n")


def convolution(batch: int, size: int, channels: int) -> str:
    image, window = f"tensor<{batch}x{size}x{size}x{channels}xbf16>", f"tensor<3x3x{channels}x{channels}xbf16>"
    return (f"func.func @main(%x: {image}, %w: {window}) -> {image} {{\n"
            "  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
            "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
            f"({image}, {window}) -> {image}\n  return %0 : {image}\n}}\n")


def transform(batch: int, n: int) -> str:
    t = f"tensor<{batch}x{n}xcomplex<f32>>"
    return (f"func.func @main(%a: {t}) -> {t} {{\n  %0 = stablehlo.fft %a, type = FFT, length = [{n}] : ({t}) -> {t}\n"
            f"  return %0 : {t}\n}}\n")


def sort(rows: int, n: int) -> str:
    t = f"tensor<{rows}x{n}xf32>"
    return (f'func.func @main(%a: {t}) -> {t} {{\n  %0 = "stablehlo.sort"(%a) <{{dimension = 1 : i64, is_stable = true}}> '
            "({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    %1 = stablehlo.compare LT, %x, %y, TOTALORDER : "
            "(tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %1 : tensor<i1>\n  }) : "
            f"({t}) -> {t}\n  return %0 : {t}\n}}\n")


def scan(rows: int, n: int) -> str:
    t = f"tensor<{rows}x{n}xf32>"
    return (f"func.func @main(%a: {t}) -> {t} {{\n  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
            f'  %0 = "stablehlo.reduce_window"(%a, %c) <{{padding = dense<[[0, 0], [{n - 1}, 0]]> : tensor<2x2xi64>, '
            f"window_dimensions = array<i64: 1, {n}>}}> ({{\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
            "    %1 = stablehlo.add %x, %y : tensor<f32>\n    stablehlo.return %1 : tensor<f32>\n  }) : "
            f"({t}, tensor<f32>) -> {t}\n  return %0 : {t}\n}}\n")


def halo(rows: int, columns: int) -> str:
    """Two ranks, which give each other a row."""
    t = f"tensor<{rows}x{columns}xf32>"
    cut = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    return (f'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%a: {t} {cut}) -> ({t} {cut}) {{\n'
            f"  %0 = stablehlo.slice %a [{rows - 1}:{rows}, 0:{columns}] : ({t}) -> tensor<1x{columns}xf32>\n"
            f"  %1 = stablehlo.slice %a [0:{rows - 1}, 0:{columns}] : ({t}) -> tensor<{rows - 1}x{columns}xf32>\n"
            f"  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x{columns}xf32>, tensor<{rows - 1}x{columns}xf32>) -> {t}\n"
            f"  %3 = stablehlo.add %a, %2 : {t}\n  return %3 : {t}\n}}\n")


def timings(tiny: bool) -> list[Timing]:
    """All of them, at the sizes that count or at tiny ones."""
    n, single = (128, 96) if tiny else (8192, 4096)
    tokens, heads, dim = (64, 2, 32) if tiny else (16384, 16, 128)
    batch, size, channels = (1, 8, 16) if tiny else (8, 128, 128)
    elements = 1 << (12 if tiny else 27)
    rows, length = (2, 64) if tiny else (16, 1 << 20)
    lines, line = (4, 60) if tiny else (4096, 4096)
    columns = 256 if tiny else 32768
    attention = {"tokens": tokens, "heads": heads, "dim": dim}
    forward = 4.0 * tokens * tokens * heads * dim
    fields = dict(attention, scale=f"{1 / math.sqrt(dim):.9g}")
    return [
        Timing("bf16 matrix product", product("bf16", n), "TFLOP/s", 2.0 * n**3, 80, "cuBLASLt",
               shape={"kind": "product", "type": "bfloat16", "n": n}),
        Timing("f32 matrix product", product("f32", single), "TFLOP/s", 2.0 * single**3, 80, "cuBLASLt",
               shape={"kind": "product", "type": "float32", "n": single}),
        Timing("memory-bound fusion", fusion(elements), "GB/s", 16.0 * elements, 85, floor="copy in device memory"),
        Timing("attention forward", fill("attention.mlir.in", **fields), "TFLOP/s", forward, 85, "cuDNN",
               shape=dict(attention, kind="attention")),
        Timing("attention backward", fill("attention_backward.mlir.in", **fields), "TFLOP/s", 3.5 * forward, 85,
               shape=dict(attention, kind="attention_backward")),
        Timing("bf16 convolution 3x3", convolution(batch, size, channels), "TFLOP/s",
               2.0 * 9 * batch * size**2 * channels**2, 80, "cuDNN",
               shape={"kind": "convolution", "batch": batch, "size": size, "channels": channels}),
        Timing("sort of rows", sort(rows, length), "GB/s", 8.0 * rows * length, 100,
               shape={"kind": "sort", "rows": rows, "n": length}),
        Timing("scan of rows", scan(rows, length), "GB/s", 8.0 * rows * length, 85, floor="copy in device memory",
               shape={"kind": "scan", "rows": rows, "n": length}),
        Timing("fourier transform", transform(lines, line), "GB/s", 16.0 * lines * line, 80, "cuFFT",
               shape={"kind": "transform", "lines": lines, "n": line}),
        Timing("halo of a row, two ranks", halo(16, columns), "us", 1, 3, floor="launch and wait"),
        Timing("ring step on the host, four ranks", (CORPUS / "sm_ring_attention.mlir").read_text(), "us", 4, 25),
    ]

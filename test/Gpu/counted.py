"""Programs whose kernels scripts/gauge.py counts, and what the counts may be at most.

Each is a few ops as people write them. ``elements`` is what slots are counted by (results, or scores of attention), ``work`` operations
of products, ``traffic`` bytes that have to come from memory or go there. Bounds are those of today's kernels: a change that makes one
worse fails test/Gpu/gauge.test; one that makes one better lowers it here, in the same commit.
"""

import dataclasses

from timings import convolution, fill, product


@dataclasses.dataclass(frozen=True)
class Counted:
    """``size`` is for the page, ``small`` for CI; each is given to ``text``, ``elements``, ``work``, ``traffic``."""

    name: str
    machine: str
    text: object
    size: tuple[int, ...]
    small: tuple[int, ...]
    elements: object
    work: object = None
    traffic: object = None
    slots: float = 0  # most slots an element, at ``small``; 0: not bounded yet
    launches: int = 0  # most of them
    share: float = 0  # least share of what the GPU can, at ``small``; 0: not bounded
    flags: tuple[str, ...] = ()
    speed: float = 1  # of tensor cores on its work, beside 16 bits


def tensor(shape: tuple[int, ...], kind: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def fusion(kind: str, n: int) -> str:
    """Reads three tensors and writes one."""
    t = f"tensor<{n}x{kind}>"
    return (f"func.func @main(%a: {t}, %b: {t}, %c: {t}) -> {t} {{\n"
            f"  %0 = stablehlo.multiply %a, %b : {t}\n  %1 = stablehlo.add %0, %c : {t}\n"
            f"  %2 = stablehlo.constant dense<0.0> : {t}\n  %3 = stablehlo.maximum %1, %2 : {t}\n  return %3 : {t}\n}}\n")


def unary(op: str, kind: str, n: int) -> str:
    t = f"tensor<{n}x{kind}>"
    return f"func.func @main(%a: {t}) -> {t} {{\n  %0 = stablehlo.{op} %a : {t}\n  return %0 : {t}\n}}\n"


def reduce(name: str, value: str, initial: str, op: str, rows: int, columns: int, kind: str, kept: bool) -> str:
    """A reduction of rows and its broadcast; kept: by way of [rows x 1], as jax.numpy's keepdims."""
    full, line, one = tensor((rows, columns), kind), tensor((rows,), kind), tensor((rows, 1), kind)
    text = f"  %{name}.r = stablehlo.reduce({value} init: {initial}) applies stablehlo.{op} across dimensions = [1] : ({full}, tensor<{kind}>) -> {line}\n"
    if kept:
        text += f"  %{name} = stablehlo.broadcast_in_dim %{name}.r, dims = [0] : ({line}) -> {one}\n"
    return text


def softmax(rows: int, columns: int) -> str:
    full, one = tensor((rows, columns), "f32"), tensor((rows, 1), "f32")
    return (f"func.func @main(%x: {full}) -> {full} {{\n  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
            + reduce("m", "%x", "%low", "maximum", rows, columns, "f32", True)
            + f"  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : ({one}) -> {full}\n  %d = stablehlo.subtract %x, %mb : {full}\n  %e = stablehlo.exponential %d : {full}\n"
            + reduce("s", "%e", "%zero", "add", rows, columns, "f32", True)
            + f"  %sb = stablehlo.broadcast_in_dim %s, dims = [0, 1] : ({one}) -> {full}\n  %y = stablehlo.divide %e, %sb : {full}\n  return %y : {full}\n}}\n")


def layer_norm(rows: int, columns: int) -> str:
    """(x - mean) / sqrt(variance + eps) * gain + shift, with keepdims."""
    full, one, line = tensor((rows, columns), "f32"), tensor((rows, 1), "f32"), tensor((columns,), "f32")
    return (f"func.func @main(%x: {full}, %g: {line}, %h: {line}) -> {full} {{\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
            f"  %n = stablehlo.constant dense<{columns}.0> : {one}\n  %eps = stablehlo.constant dense<1.0e-5> : {one}\n"
            + reduce("s", "%x", "%zero", "add", rows, columns, "f32", True)
            + f"  %mean = stablehlo.divide %s, %n : {one}\n  %meanb = stablehlo.broadcast_in_dim %mean, dims = [0, 1] : ({one}) -> {full}\n"
            f"  %c = stablehlo.subtract %x, %meanb : {full}\n  %cc = stablehlo.multiply %c, %c : {full}\n"
            + reduce("v", "%cc", "%zero", "add", rows, columns, "f32", True)
            + f"  %var = stablehlo.divide %v, %n : {one}\n  %more = stablehlo.add %var, %eps : {one}\n  %r = stablehlo.rsqrt %more : {one}\n"
            f"  %rb = stablehlo.broadcast_in_dim %r, dims = [0, 1] : ({one}) -> {full}\n  %y = stablehlo.multiply %c, %rb : {full}\n"
            f"  %gb = stablehlo.broadcast_in_dim %g, dims = [1] : ({line}) -> {full}\n  %hb = stablehlo.broadcast_in_dim %h, dims = [1] : ({line}) -> {full}\n"
            f"  %yg = stablehlo.multiply %y, %gb : {full}\n  %z = stablehlo.add %yg, %hb : {full}\n  return %z : {full}\n}}\n")


def updates(count: int, size: int) -> str:
    """m = 0.9 m + g, p = p - 0.1 m, for each of ``count`` parameters, of ``size`` and a few elements."""
    types = [f"tensor<{size + 4 * i}xf32>" for i in range(count)]
    arguments = ", ".join(f"%{name}{i}: {t}" for i, t in enumerate(types) for name in "pmg")
    body = "".join(
        f"  %k{i} = stablehlo.constant dense<0.9> : {t}\n  %r{i} = stablehlo.constant dense<0.1> : {t}\n  %s{i} = stablehlo.multiply %m{i}, %k{i} : {t}\n"
        f"  %n{i} = stablehlo.add %s{i}, %g{i} : {t}\n  %d{i} = stablehlo.multiply %n{i}, %r{i} : {t}\n  %q{i} = stablehlo.subtract %p{i}, %d{i} : {t}\n"
        for i, t in enumerate(types)
    )
    results = ", ".join(f"%{name}{i}" for i in range(count) for name in "nq")
    return f"func.func @main({arguments}) -> ({', '.join(t for t in types for _ in 'nq')}) {{\n{body}  return {results} : {', '.join(t for t in types for _ in 'nq')}\n}}\n"


def transpose(kind: str, n: int) -> str:
    t = f"tensor<{n}x{n}x{kind}>"
    return f"func.func @main(%a: {t}) -> {t} {{\n  %0 = stablehlo.transpose %a, dims = [1, 0] : ({t}) -> {t}\n  return %0 : {t}\n}}\n"


def skinny(rows: int, n: int) -> str:
    left, right, result = f"tensor<{rows}x{n}xbf16>", f"tensor<{n}x{n}xbf16>", f"tensor<{rows}x{n}xbf16>"
    return (f"func.func @main(%a: {left}, %b: {right}) -> {result} {{\n"
            f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({left}, {right}) -> {result}\n  return %0 : {result}\n}}\n")


def narrow(n: int) -> str:
    """Of 8-bit floats, with a scale of each operand, as JAX writes it."""
    factor, sums, result = tensor((n, n), "f8E4M3FN"), tensor((n, n), "f32"), tensor((n, n), "bf16")
    return (f"func.func @main(%a: {factor}, %b: {factor}, %s: tensor<f32>, %t: tensor<f32>) -> {result} {{\n"
            f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : ({factor}, {factor}) -> {sums}\n"
            f"  %1 = stablehlo.multiply %s, %t : tensor<f32>\n  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> {sums}\n"
            f"  %3 = stablehlo.multiply %0, %2 : {sums}\n  %4 = stablehlo.convert %3 : ({sums}) -> {result}\n  return %4 : {result}\n}}\n")


def attention(tokens: int, heads: int, dim: int) -> str:
    return fill("attention.mlir.in", tokens=tokens, heads=heads, dim=dim, scale=f"{dim ** -0.5:.9g}")


def attention_backward(tokens: int, heads: int, dim: int) -> str:
    return fill("attention_backward.mlir.in", tokens=tokens, heads=heads, dim=dim, scale=f"{dim ** -0.5:.9g}")


def decoding(keys: int, heads: int, dim: int) -> str:
    """One query of each of four times as many heads, as JAX 0.10.2 exports jax.nn.dot_product_attention."""
    return fill("attention_decode.mlir.in", keys=keys, heads=heads, queries=4 * heads, dim=dim, scale=f"{dim ** -0.5:.9g}")


def convolution_gradients(batch: int, size: int, channels: int) -> str:
    """Of timings.convolution: by the filter and by the image."""
    image, window = f"tensor<{batch}x{size}x{size}x{channels}xbf16>", f"tensor<3x3x{channels}x{channels}xbf16>"
    rest = "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    return (f"func.func @main(%x: {image}, %w: {window}, %g: {image}) -> ({window}, {image}) {{\n"
            f"  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], {rest} : ({image}, {image}) -> {window}\n"
            f"  %r = stablehlo.reverse %w, dims = [0, 1] : {window}\n"
            f"  %1 = stablehlo.convolution(%g, %r) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], {rest} : ({image}, {window}) -> {image}\n"
            f"  return %0, %1 : {window}, {image}\n}}\n")


def programs() -> list[Counted]:
    def square(n: int) -> float:
        return float(n * n)

    def plane(rows: int, columns: int) -> float:
        return float(rows * columns)

    def scores(tokens: int, heads: int, dim: int) -> float:
        return float(tokens * tokens * heads)

    def forward(tokens: int, heads: int, dim: int) -> float:
        return 4.0 * tokens * tokens * heads * dim

    def backward(tokens: int, heads: int, dim: int) -> float:
        return 2.5 * forward(tokens, heads, dim)

    def cube(n: int) -> float:
        return 2.0 * n**3

    def pixels(batch: int, size: int, channels: int) -> float:
        return float(batch * size**2 * channels)

    def windows(batch: int, size: int, channels: int) -> float:
        return 2.0 * 9 * batch * size**2 * channels**2

    highest = ("--precision=highest",)

    made = [
        Counted("bf16 product", "h100", lambda n: product("bf16", n), (8192,), (1024,), square, cube, slots=23),
        Counted("bf16 product", "a100", lambda n: product("bf16", n), (8192,), (1024,), square, cube, slots=44, launches=1, share=0.78),
        # Tiles of 128 x 64: five of them a multiprocessor take less than three of 128 x 128.
        Counted("bf16 product of slices", "a100", lambda n: product("bf16", n), (2048,), (2048,), square, cube, slots=99, launches=1, share=0.94),
        Counted("bf16 product", "b200", lambda n: product("bf16", n), (8192,), (1024,), square, cube, slots=9),
        Counted("f8 product", "h100", narrow, (8192,), (1024,), square, cube, speed=2, slots=16, launches=1),
        # Tiles enough for pairs of blocks.
        # ... and of clusters: two blocks load their right operand once.
        Counted("bf16 product of clusters", "h100", lambda n: product("bf16", n), (8192,), (4096,), square, cube, slots=47, launches=1, share=0.96),
        Counted("bf16 product of pairs", "b200", lambda n: product("bf16", n), (8192,), (4096,), square, cube, slots=9.1),
        Counted("f32 product", "h100", lambda n: product("f32", n), (4096,), (512,), square, cube, slots=56),
        Counted("f32 product, highest", "h100", lambda n: product("f32", n), (4096,), (512,), square, slots=742, flags=highest),
        Counted("f64 product", "a100", lambda n: product("f64", n), (4096,), (512,), square, cube, speed=1 / 16, slots=186, launches=1),
        Counted("attention forward", "h100", attention, (16384, 16, 128), (512, 2, 128), scores, forward, slots=14.6, launches=2),
        Counted("attention forward, highest", "h100", attention, (16384, 16, 128), (512, 2, 128), scores, forward, slots=28, launches=2, flags=highest),
        Counted("attention forward", "a100", attention, (16384, 16, 128), (512, 2, 128), scores, forward, slots=20.6, launches=2),
        Counted("attention forward", "b200", attention, (16384, 16, 128), (512, 2, 128), scores, forward, slots=8.3, launches=2),
        Counted("attention backward", "b200", attention_backward, (16384, 16, 128), (512, 1, 128), scores, backward, slots=52, launches=6),
        *(Counted("attention of one query", machine, decoding, (8192, 8, 128), (2048, 8, 128), lambda keys, heads, dim: 4.0 * keys * heads,
                  traffic=lambda keys, heads, dim: 4.0 * keys * heads * dim, slots=slots, launches=4)
          for machine, slots in (("a100", 136), ("h100", 138), ("b200", 136))),
        *(Counted(f"attention {way}, wide", "b200", text, (4096, 4, dim), (512, 1, dim), scores, work, slots=slots, launches=launches)
          for dim, way, text, work, slots, launches in (
              (192, "forward", attention, forward, 11, 2), (256, "forward", attention, forward, 13.4, 2),
              (192, "backward", attention_backward, backward, 72, 6), (256, "backward", attention_backward, backward, 76, 6))),
        Counted("attention backward, wide", "a100", attention_backward, (4096, 4, 256), (512, 1, 256), scores, backward, slots=241, launches=9),
        Counted("attention backward", "a100", attention_backward, (16384, 16, 128), (512, 1, 128), scores, backward, slots=69, launches=5),
        # Rows that fill no tile: one kernel of all gradients, as where they do.
        Counted("attention backward, ragged", "a100", attention_backward, (4000, 4, 128), (500, 1, 128), scores, backward, slots=104, launches=5),
        Counted("attention backward", "h100", attention_backward, (16384, 16, 128), (512, 1, 128), scores, backward, slots=55, launches=5),
        Counted("bf16 convolution 3x3", "h100", convolution, (8, 128, 128), (1, 32, 128), pixels, windows, slots=47, launches=2),
        Counted("bf16 convolution 3x3", "b200", convolution, (8, 128, 128), (1, 32, 128), pixels, windows, slots=24, launches=2),
        Counted("bf16 convolution 3x3, gradients", "h100", convolution_gradients, (8, 128, 128), (1, 32, 128), pixels, lambda *shape: 2 * windows(*shape), slots=129, launches=5),
        Counted("bf16 convolution 3x3, gradients", "b200", convolution_gradients, (8, 128, 128), (1, 32, 128), pixels, lambda *shape: 2 * windows(*shape), slots=83, launches=5),
        Counted("three read, one written, f32", "h100", lambda n: fusion("f32", n), (1 << 26,), (1 << 18,), float, traffic=lambda n: 16.0 * n, launches=1),
        Counted("three read, one written, bf16", "h100", lambda n: fusion("bf16", n), (1 << 26,), (1 << 18,), float, traffic=lambda n: 8.0 * n, slots=7, launches=1),
        Counted("exponential, f32", "h100", lambda n: unary("exponential", "f32", n), (1 << 26,), (1 << 18,), float, traffic=lambda n: 8.0 * n, slots=13, launches=1),
        Counted("hyperbolic tangent, f32", "h100", lambda n: unary("tanh", "f32", n), (1 << 26,), (1 << 18,), float, traffic=lambda n: 8.0 * n, slots=24, launches=1),
        Counted("logarithm, f32", "h100", lambda n: unary("log", "f32", n), (1 << 26,), (1 << 18,), float, traffic=lambda n: 8.0 * n, slots=33, launches=1),
        Counted("updates of 24 parameters", "h100", updates, (24, 1 << 20), (24, 1 << 12), plane, traffic=lambda count, size: 20.0 * count * size, slots=49, launches=1),
        Counted("softmax of rows, f32", "h100", softmax, (16384, 4096), (512, 4096), plane, traffic=lambda rows, columns: 8.0 * rows * columns, slots=37),
        Counted("layer norm, keepdims, f32", "h100", layer_norm, (16384, 4096), (512, 4096), plane, traffic=lambda rows, columns: 8.0 * rows * columns, slots=26, launches=1),
        Counted("transpose, f32", "h100", lambda n: transpose("f32", n), (8192,), (512,), square, traffic=lambda n: 8.0 * n * n, launches=1),
        Counted("transpose, bf16", "h100", lambda n: transpose("bf16", n), (8192,), (512,), square, traffic=lambda n: 4.0 * n * n, launches=1),
        Counted("1 row by a bf16 matrix", "h100", lambda n: skinny(1, n), (8192,), (1024,), square, traffic=lambda n: 2.0 * n * n),
        Counted("64 rows by a bf16 matrix", "h100", lambda n: skinny(64, n), (8192,), (1024,), square, lambda n: 128.0 * n * n, traffic=lambda n: 2.0 * n * n),
    ]
    return made

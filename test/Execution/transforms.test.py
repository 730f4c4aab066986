"""Write a program that computes transforms twice, by stablehlo.fft and by products with cosines and sines, and compares."""

# Shape, the lengths of its last dims, which are transformed, and the type.
CASES = [
    ((40, 24), 1, "f32"),
    ((3, 16), 1, "f64"),
    ((21, 15), 1, "f32"),
    ((17, 2), 1, "f32"),
    ((1, 7), 1, "f64"),
    ((3, 6, 20), 2, "f32"),
    ((2, 12, 99), 2, "f32"),
    ((2, 5, 4, 6), 3, "f64"),
    ((3, 127), 1, "f32"),
    ((5, 131, 6), 2, "f32"),
    ((2, 254), 1, "f64"),
    ((1, 1009), 1, "f32"),
]


class Program:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def add(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %{self.count} = stablehlo.{text}")
        return f"%{self.count}"

    def elementwise(self, name: str, type: str, *operands: str) -> str:
        return self.add(f"{name} {', '.join(operands)} : {type}")

    def constant(self, value: float, type: str) -> str:
        return self.add(f"constant dense<{value:.17e}> : {type}")


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def wave(p: Program, shape: tuple[int, ...], element: str, seed: float) -> str:
    """Return numbers between -1 and 1 without a pattern that a transform would know: sin(seed (1 + i) i), i the place."""
    type, size = tensor(shape, element), 1
    for extent in shape:
        size *= extent
    flat = tensor((size,), element)
    place = p.add(f"iota dim = 0 : {flat}")
    next = p.elementwise("add", flat, place, p.constant(1, flat))
    angle = p.elementwise("multiply", flat, p.elementwise("multiply", flat, place, next), p.constant(seed, flat))
    line = p.elementwise("optimization_barrier", flat, p.elementwise("sine", flat, angle))
    return p.add(f"reshape {line} : ({flat}) -> {type}")


def turns(p: Program, n: int, count: int, element: str, sign: int) -> tuple[str, str]:
    """Return cos and sign sin of 2 pi j k / n, for j < n and k < count."""
    whole, type = tensor((n, count), "i32"), tensor((n, count), element)
    product = p.elementwise("multiply", whole, p.add(f"iota dim = 0 : {whole}"), p.add(f"iota dim = 1 : {whole}"))
    reduced = p.elementwise("remainder", whole, product, p.add(f"constant dense<{n}> : {whole}"))
    number = p.add(f"convert {reduced} : ({whole}) -> {type}")
    angle = p.elementwise("multiply", type, number, p.constant(2 * 3.14159265358979323846 / n, type))
    return p.elementwise("cosine", type, angle), p.elementwise(
        "multiply", type, p.elementwise("sine", type, angle), p.constant(sign, type))


def along(p: Program, x: str, matrix: str, shape: list[int], dim: int, count: int, element: str) -> str:
    """Contract `dim` of x with the rows of a matrix; its columns take the place of `dim`."""
    out = shape[:dim] + shape[dim + 1:] + [count]
    product = p.add(f"dot_general {x}, {matrix}, contracting_dims = [{dim}] x [0], precision = [HIGHEST, HIGHEST] : "
                    f"({tensor(tuple(shape), element)}, {tensor((shape[dim], count), element)}) -> {tensor(tuple(out), element)}")
    order = [*list(range(dim)), len(shape) - 1, *list(range(dim, len(shape) - 1))]
    back = [*shape[:dim], count, *shape[dim + 1:]]
    return p.add(f"transpose {product}, dims = {order} : ({tensor(tuple(out), element)}) -> {tensor(tuple(back), element)}")


def by_products(p: Program, re: str, im: str, shape: list[int], first: int, element: str, sign: int) -> tuple[str, str]:
    """Return the parts of the unscaled transform along all dims from `first` on."""
    type = tensor(tuple(shape), element)
    for dim in range(first, len(shape)):
        cos, sin = turns(p, shape[dim], shape[dim], element, sign)
        a, b = (along(p, re, m, shape, dim, shape[dim], element) for m in (cos, sin))
        c, d = (along(p, im, m, shape, dim, shape[dim], element) for m in (cos, sin))
        re, im = p.elementwise("subtract", type, a, d), p.elementwise("add", type, b, c)
    return re, im


def compare(p: Program, got: str, expected: str, type: str, element: str) -> None:
    scale = 1e-4 if element == "f32" else 1e-12
    difference = p.elementwise("abs", type, p.elementwise("subtract", type, got, expected))
    bound = p.constant(scale, type)
    wrong = p.add(f"compare GT, {difference}, {bound} : ({type}, {type}) -> {type.replace(element, 'i1')}")
    p.lines.append(f"  check.expect_eq_const {wrong}, dense<false> : {type.replace(element, 'i1')}")


def case(p: Program, shape: tuple[int, ...], dims: int, element: str, seed: float) -> None:
    first, lengths = len(shape) - dims, list(shape[-dims:])
    type, complex = tensor(shape, element), tensor(shape, f"complex<{element}>")
    size = 1
    for length in lengths:
        size *= length

    def part(which: str, x: str, of: str) -> str:
        return p.add(f"{which} {x} : ({of.replace(element, f'complex<{element}>')}) -> {of}")

    re, im = wave(p, shape, element, seed), wave(p, shape, element, seed + 0.123)
    x = p.add(f"complex {re}, {im} : {complex}")
    for kind, sign, factor in (("FFT", -1, 1), ("IFFT", 1, 1 / size)):
        y = p.add(f"fft {x}, type = {kind}, length = {lengths} : ({complex}) -> {complex}")
        for which, expected in zip(("real", "imag"), by_products(p, re, im, list(shape), first, element, sign)):
            scaled = p.elementwise("multiply", type, expected, p.constant(factor, type))
            compare(p, part(which, y, type), scaled, type, element)
    # Of real elements, half of the last dim; and back, with parts that do not count.
    half = (*shape[:-1], shape[-1] // 2 + 1)
    kept, keptComplex = tensor(half, element), tensor(half, f"complex<{element}>")
    y = p.add(f"fft {re}, type = RFFT, length = {lengths} : ({type}) -> {keptComplex}")
    zero = p.constant(0, type)
    bounds = ", ".join(f"0:{extent}" for extent in half)
    for which, expected in zip(("real", "imag"), by_products(p, re, zero, list(shape), first, element, -1)):
        taken = p.add(f"slice {expected} [{bounds}] : ({type}) -> {kept}")
        compare(p, part(which, y, kept), taken, kept, element)
    if dims == 1:
        place = tensor(half, "i32")
        at = p.add(f"iota dim = {len(shape) - 1} : {place}")
        end = p.add(f"constant dense<{shape[-1] // 2 if shape[-1] % 2 == 0 else 0}> : {place}")
        none = p.add(f"constant dense<0> : {place}")
        bits = tensor(half, "i1")
        ends = p.elementwise("or", bits, *(p.add(f"compare EQ, {at}, {e} : ({place}, {place}) -> {bits}") for e in (none, end)))
        noise = p.add(f"select {ends}, {p.constant(3.5, kept)}, {p.constant(0, kept)} : {bits}, {kept}")
        yRe, yIm = part("real", y, kept), p.elementwise("add", kept, part("imag", y, kept), noise)
        y = p.add(f"complex {yRe}, {yIm} : {keptComplex}")
    back = p.add(f"fft {y}, type = IRFFT, length = {lengths} : ({keptComplex}) -> {type}")
    compare(p, back, re, type, element)


def main() -> None:
    p = Program()
    for number, (shape, dims, element) in enumerate(CASES):
        case(p, shape, dims, element, 0.7310585 + 0.01 * number)
    print("func.func @main() {", *p.lines, "  return", "}", sep="\n")


if __name__ == "__main__":
    main()

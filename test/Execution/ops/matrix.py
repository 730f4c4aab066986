"""Every StableHLO op on every element type that it takes, against NumPy.

Writes one file of check modules for each element type (``matrix.py DIR``); ``shard-run`` runs them. Expected
values come from integer arithmetic in Python and from NumPy in a wider type, rounded once by ml_dtypes; where
StableHLO leaves a result to the implementation, the rule that is kept is written out.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Element:
    """An element type: its name in MLIR, how NumPy holds it, its class and width in bits."""

    name: str
    dtype: np.dtype[Any]
    kind: str  # bool, int, uint, float, storage, complex
    bits: int


def _element(name: str, dtype: Any, kind: str, bits: int) -> Element:
    return Element(name, np.dtype(dtype), kind, bits)


ELEMENTS = [
    _element("i1", np.bool_, "bool", 1),
    _element("i4", ml_dtypes.int4, "int", 4),
    _element("ui4", ml_dtypes.uint4, "uint", 4),
    *[_element(f"i{n}", f"i{n // 8}", "int", n) for n in (8, 16, 32, 64)],
    *[_element(f"ui{n}", f"u{n // 8}", "uint", n) for n in (8, 16, 32, 64)],
    _element("f16", np.float16, "float", 16),
    _element("bf16", ml_dtypes.bfloat16, "float", 16),
    _element("f32", np.float32, "float", 32),
    _element("f64", np.float64, "float", 64),
    _element("f8E4M3FN", ml_dtypes.float8_e4m3fn, "storage", 8),
    _element("f8E5M2", ml_dtypes.float8_e5m2, "storage", 8),
    _element("f8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, "storage", 8),
    _element("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, "storage", 8),
    _element("f8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz, "storage", 8),
    _element("f8E4M3", ml_dtypes.float8_e4m3, "storage", 8),
    _element("f8E3M4", ml_dtypes.float8_e3m4, "storage", 8),
    _element("f8E8M0FNU", ml_dtypes.float8_e8m0fnu, "storage", 8),
    _element("complex<f32>", np.complex64, "complex", 64),
    _element("complex<f64>", np.complex128, "complex", 128),
]
BY_NAME = {element.name: element for element in ELEMENTS}
Array = np.ndarray[Any, Any]


# ---------------------------------------------------------------------------------------------------------------------
# Text
# ---------------------------------------------------------------------------------------------------------------------


def tensor_type(shape: tuple[int, ...], element: str) -> str:
    """The type of a tensor as MLIR writes it."""
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def _float_text(value: Any) -> str:
    array = np.asarray(value)
    width = array.dtype.itemsize
    bits = int(array.view(f"u{width}"))
    return f"0x{bits:0{2 * width}X}"


def element_text(value: Any, element: Element) -> str:
    """One element of a literal; floats by their bits."""
    if element.kind == "bool":
        return "true" if value else "false"
    if element.kind in ("int", "uint"):
        return str(int(value))
    if element.kind == "complex":
        part = np.float32 if element.bits == 64 else np.float64
        return f"({_float_text(part(value.real))}, {_float_text(part(value.imag))})"
    return _float_text(value)


def literal(array: Array, element: Element) -> str:
    """``dense<...> : type``, rows in nested brackets."""

    def nest(part: Array) -> str:
        if part.ndim == 0:
            return element_text(part[()], element)
        return "[" + ", ".join(nest(row) for row in part) + "]"

    text = nest(array) if array.size else ""
    return f"dense<{text}> : {tensor_type(array.shape, element.name)}"


class Module:
    """One module: @main makes values of constants and checks them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def constant(self, array: Array, element: Element) -> str:
        name = self.name()
        self.lines.append(f"{name} = stablehlo.constant {literal(array, element)}")
        return name

    def op(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def expect(self, got: str, expected: Array, element: Element, ulp: int | None = None,
               tolerance: float | None = None) -> None:
        """Equal bits (NaN as NaN), or so many representable numbers apart, or within a tolerance."""
        want = self.constant(expected, element)
        kind = tensor_type(expected.shape, element.name)
        if element.kind == "storage":
            # Compared as what all of them are exactly.
            wide = tensor_type(expected.shape, "f32")
            got = self.op(f"stablehlo.convert {got} : ({kind}) -> {wide}")
            want = self.op(f"stablehlo.convert {want} : ({kind}) -> {wide}")
            kind, ulp = wide, 0
        if element.kind in ("bool", "int", "uint"):
            self.lines.append(f"check.expect_eq {got}, {want} : {kind}")
        elif tolerance is not None:
            self.lines.append(f"check.expect_almost_eq {got}, {want} {{tolerance = {tolerance:e} : f64}} : {kind}")
        else:
            self.lines.append(f"check.expect_close {got}, {want}, max_ulp_difference = {ulp or 0}, "
                              f"min_ulp_difference = 0 : {kind}, {kind}")

    def text(self) -> str:
        return "func.func @main() {\n  " + "\n  ".join(self.lines) + "\n  return\n}\n"


# ---------------------------------------------------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------------------------------------------------


def samples(element: Element) -> Array:
    """Values at and beside all corners of a type."""
    if element.kind == "bool":
        return np.array([False, True])
    if element.kind in ("int", "uint"):
        signed = element.kind == "int"
        low = -(1 << (element.bits - 1)) if signed else 0
        high = (1 << (element.bits - (1 if signed else 0))) - 1
        values = {0, 1, 2, 3, 5, 7, high, high - 1, low, low + 1, high // 2, element.bits - 1}
        values |= {element.bits, element.bits + 1} | ({-1, -2, -3, -7} if signed else set())
        return np.array([v for v in sorted(values) if low <= v <= high], dtype=object).astype(element.dtype)
    if element.kind == "complex":
        return np.array([0, 1, -1, 1j, -1j, 0.5 - 2j, -3 + 0.25j, 2 + 2j, -1.5 - 0.75j], element.dtype)
    info = ml_dtypes.finfo(element.dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1.5, -0.75, 12.0, float(info.max), -float(info.max),
              float(info.smallest_normal), np.inf, -np.inf, np.nan]
    return np.array(values).astype(element.dtype)


def pairs(values: Array) -> tuple[Array, Array]:
    """Each value with each."""
    left, right = zip(*itertools.product(range(len(values)), repeat=2), strict=True)
    return values[list(left)], values[list(right)]


def wide(array: Array) -> Array:
    """Floats in the widest type that NumPy computes in."""
    return array.astype(np.float64).astype(np.longdouble) if array.dtype != np.longdouble else array


def rounded(array: Array, element: Element) -> Array:
    """To an element type, once; ml_dtypes' types by way of f64, to which the result was rounded to odd."""
    if element.name == "f64":
        return array.astype(np.float64)
    odd = _to_odd(array)
    if element.name == "f8E8M0FNU":
        # The type has no zero: what is 0 as f32 is NaN, as XLA has it. Of an f64 ml_dtypes 0.7 makes the least number.
        odd = np.where(odd.astype(np.float32) == 0, 0.0, odd)
    return odd.astype(element.dtype)


def _to_odd(array: Array) -> Array:
    """f64 beside a longdouble with an odd last bit where it is inexact: rounding again is then rounding once."""
    near = array.astype(np.float64)
    inexact = np.isfinite(near) & (near.astype(np.longdouble) != array)
    bits = near.view(np.int64).copy()
    too_large = inexact & (np.abs(near.astype(np.longdouble)) > np.abs(array))
    bits -= too_large.astype(np.int64)
    bits |= inexact.astype(np.int64)
    return bits.view(np.float64)


def wrap(value: int, element: Element) -> int:
    """An integer modulo the width of its type."""
    value &= (1 << element.bits) - 1
    if element.kind == "int" and value >> (element.bits - 1):
        value -= 1 << element.bits
    return value


def on_integers(fn: Callable[..., int], element: Element, *arrays: Array) -> Array:
    """``fn`` of Python integers, element by element, wrapped."""
    result = [wrap(fn(*(int(x) for x in args)), element) for args in zip(*arrays, strict=True)]
    return np.array(result, dtype=object).astype(element.dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Elementwise
# ---------------------------------------------------------------------------------------------------------------------


def _quotient(x: int, y: int) -> int:
    if y == 0:
        return -1
    magnitude = abs(x) // abs(y)
    return magnitude if (x < 0) == (y < 0) else -magnitude


def _remainder(x: int, y: int) -> int:
    return x if y == 0 else x - y * _quotient(x, y)


def _shift(element: Element, how: str) -> Callable[[int, int], int]:
    bits, mask = element.bits, (1 << element.bits) - 1

    def apply(x: int, amount: int) -> int:
        amount &= mask  # a negative amount is a large one
        if how == "left":
            return 0 if amount >= bits else x << amount
        if how == "logical":
            return 0 if amount >= bits else (x & mask) >> amount
        signed = (x & mask) - (1 << bits) if (x & mask) >> (bits - 1) else x & mask
        return signed >> min(amount, bits - 1)

    return apply


def _power(x: int, y: int) -> int:
    if y >= 0:
        return pow(x, y, 1 << 64)
    return 1 if x == 1 else (-1) ** (-y) if x == -1 else 0


INTEGER_BINARY: dict[str, Callable[[Element], Callable[[int, int], int]]] = {
    "add": lambda e: lambda x, y: x + y,
    "subtract": lambda e: lambda x, y: x - y,
    "multiply": lambda e: lambda x, y: x * y,
    "divide": lambda e: _quotient,
    "remainder": lambda e: _remainder,
    "maximum": lambda e: max,
    "minimum": lambda e: min,
    "and": lambda e: lambda x, y: x & y,
    "or": lambda e: lambda x, y: x | y,
    "xor": lambda e: lambda x, y: x ^ y,
    "power": lambda e: _power,
    "shift_left": lambda e: _shift(e, "left"),
    "shift_right_logical": lambda e: _shift(e, "logical"),
    "shift_right_arithmetic": lambda e: _shift(e, "arithmetic"),
}
INTEGER_UNARY: dict[str, Callable[[Element], Callable[[int], int]]] = {
    "negate": lambda e: lambda x: -x,
    "abs": lambda e: abs,
    "sign": lambda e: lambda x: (x > 0) - (x < 0),
    "not": lambda e: lambda x: ~x,
    "popcnt": lambda e: lambda x: (x & ((1 << e.bits) - 1)).bit_count(),
    "count_leading_zeros": lambda e: lambda x: e.bits - (x & ((1 << e.bits) - 1)).bit_length(),
}
COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
}


def _float_remainder(x: Array, y: Array) -> Array:
    return np.fmod(x, y)


def _maximum(x: Array, y: Array) -> Array:
    """NaN if one is; +0 above -0."""
    result = np.maximum(x, y)
    zeros = (x == 0) & (y == 0)
    return np.where(zeros, np.where(np.signbit(x) & np.signbit(y), -0.0, 0.0), result)


def _minimum(x: Array, y: Array) -> Array:
    return -_maximum(-x, -y)


def _sign(x: Array) -> Array:
    return np.where(np.isnan(x) | (x == 0), x, np.copysign(np.longdouble(1), x))


def _away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + np.longdouble(0.5)), x)


# How many representable numbers a result may be off: 0 for what IEEE 754 rounds.
FLOAT_BINARY: dict[str, tuple[Callable[[Array, Array], Array], int]] = {
    "add": (np.add, 0), "subtract": (np.subtract, 0), "multiply": (np.multiply, 0), "divide": (np.divide, 0),
    "maximum": (_maximum, 0), "minimum": (_minimum, 0), "remainder": (_float_remainder, 0),
    "power": (np.power, 2), "atan2": (np.arctan2, 2),
}
FLOAT_UNARY: dict[str, tuple[Callable[[Array], Array], int]] = {
    "negate": (np.negative, 0), "abs": (np.abs, 0), "sign": (_sign, 0), "ceil": (np.ceil, 0), "floor": (np.floor, 0),
    "round_nearest_even": (np.rint, 0), "round_nearest_afz": (_away, 0), "sqrt": (np.sqrt, 1),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2), "cbrt": (np.cbrt, 2), "exponential": (np.exp, 2),
    "exponential_minus_one": (np.expm1, 3), "log": (np.log, 3), "log_plus_one": (np.log1p, 3), "tanh": (np.tanh, 6),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), 4), "sine": (np.sin, 3), "cosine": (np.cos, 3), "tan": (np.tan, 6),
}
# Huge arguments of these are another test's (math.py).
PERIODIC = ("sine", "cosine", "tan")


def elementwise(element: Element) -> Iterator[Module]:
    """All elementwise ops of a type."""
    values = samples(element)
    x, y = pairs(values)
    shape = x.shape
    kind, flag = tensor_type(shape, element.name), BY_NAME["i1"]
    flags = tensor_type(shape, "i1")
    module = Module()
    a, b = module.constant(x, element), module.constant(y, element)

    if element.kind != "storage":
        word = {"uint": "UNSIGNED", "bool": "UNSIGNED", "int": "SIGNED"}.get(element.kind, "FLOAT")
        for direction, fn in COMPARE.items():
            if element.kind == "complex" and direction not in ("EQ", "NE"):
                continue
            got = module.op(f"stablehlo.compare {direction}, {a}, {b}, {word} : ({kind}, {kind}) -> {flags}")
            left, right = (x, y) if element.kind in ("bool", "complex") else (x.astype(object), y.astype(object)) \
                if element.kind != "float" else (wide(x), wide(y))
            module.expect(got, np.asarray(fn(left, right)).astype(np.bool_), flag)
    choice = np.arange(x.size) % 3 == 0
    chosen = module.constant(choice, flag)
    got = module.op(f"stablehlo.select {chosen}, {a}, {b} : {flags}, {kind}")
    module.expect(got, np.where(choice, x, y).astype(element.dtype), element)

    if element.kind in ("int", "uint", "bool"):
        if element.kind == "bool":
            for name, fn in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor),
                             ("add", np.logical_or), ("multiply", np.logical_and), ("maximum", np.logical_or),
                             ("minimum", np.logical_and)):
                module.expect(module.op(f"stablehlo.{name} {a}, {b} : {kind}"), fn(x, y), element)
            module.expect(module.op(f"stablehlo.not {a} : {kind}"), ~x, element)
        else:
            for name, make in INTEGER_BINARY.items():
                got = module.op(f"stablehlo.{name} {a}, {b} : {kind}")
                module.expect(got, on_integers(make(element), element, x, y), element)
            for name, unary in INTEGER_UNARY.items():
                if element.kind == "uint" and name in ("abs", "sign"):
                    continue
                got = module.op(f"stablehlo.{name} {a} : {kind}")
                module.expect(got, on_integers(unary(element), element, x), element)
            z = np.roll(x, 5)
            c = module.constant(z, element)
            got = module.op(f"stablehlo.clamp {a}, {b}, {c} : {kind}")
            module.expect(got, on_integers(lambda p, q, r: min(max(p, q), r), element, x, y, z), element)
    if element.kind == "float":
        with np.errstate(all="ignore"):
            for name, (fn, ulp) in FLOAT_BINARY.items():
                got = module.op(f"stablehlo.{name} {a}, {b} : {kind}")
                module.expect(got, rounded(fn(wide(x), wide(y)), element), element, ulp)
            for name, (unary, ulp) in FLOAT_UNARY.items():
                v = values[np.abs(wide(values)) < 1e4] if name in PERIODIC else values
                one, small = module.constant(v, element), tensor_type(v.shape, element.name)
                got = module.op(f"stablehlo.{name} {one} : {small}")
                module.expect(got, rounded(unary(wide(v)), element), element, ulp)
        got = module.op(f"stablehlo.is_finite {a} : ({kind}) -> {flags}")
        module.expect(got, np.isfinite(wide(x)), flag)
        z = np.roll(x, 5)
        c = module.constant(z, element)
        got = module.op(f"stablehlo.clamp {a}, {b}, {c} : {kind}")
        with np.errstate(all="ignore"):
            module.expect(got, rounded(_minimum(_maximum(wide(x), wide(y)), wide(z)), element), element)
    if element.kind == "complex":
        yield from _complex(element, module, values)
    yield module


def _complex(element: Element, module: Module, values: Array) -> Iterator[Module]:
    x, y = pairs(values)
    y = np.where(y == 0, 1, y).astype(element.dtype)
    kind = tensor_type(x.shape, element.name)
    a, b = module.constant(x, element), module.constant(y, element)
    unit = 1e-5 if element.bits == 64 else 1e-13
    left, right = x.astype(np.clongdouble), y.astype(np.clongdouble)
    for name, fn in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide)):
        got = module.op(f"stablehlo.{name} {a}, {b} : {kind}")
        module.expect(got, fn(left, right).astype(element.dtype), element, tolerance=unit)
    # Away from where the root and the logarithm are cut.
    squares = left * left + right * right
    points = (right + 1j * left) / np.sqrt(np.where(squares == 0, 1, squares))
    uncut = ((squares.real > 0) | (np.abs(squares.imag) > 1e-3)) & ((points.real > 0) | (np.abs(points.imag) > 1e-3))
    above, beside = module.constant(x[uncut], element), module.constant(y[uncut], element)
    got = module.op(f"stablehlo.atan2 {above}, {beside} : {tensor_type(x[uncut].shape, element.name)}")
    module.expect(got, (-1j * np.log(points[uncut])).astype(element.dtype), element, tolerance=unit)
    single, small = values[values != 0], None
    one, small = module.constant(single, element), tensor_type(single.shape, element.name)
    long = single.astype(np.clongdouble)
    for name, fn1 in (("negate", np.negative), ("exponential", np.exp), ("log", np.log), ("sqrt", np.sqrt),
                      ("tanh", np.tanh), ("sine", np.sin), ("cosine", np.cos), ("exponential_minus_one", np.expm1),
                      ("log_plus_one", lambda v: np.log(1 + v)), ("rsqrt", lambda v: 1 / np.sqrt(v)),
                      ("sign", lambda v: v / np.abs(v)), ("cbrt", lambda v: v ** (np.longdouble(1) / 3)), ("logistic", lambda v: 1 / (1 + np.exp(-v)))):
        pick = long != -1 if name == "log_plus_one" else np.ones(long.shape, bool)
        got = module.op(f"stablehlo.{name} {one} : {small}")
        if not pick.all():
            keep = module.constant(pick, BY_NAME["i1"])
            got = module.op(f"stablehlo.select {keep}, {got}, {one} : "
                            f"{tensor_type(single.shape, 'i1')}, {small}")
        with np.errstate(all="ignore"):
            want = np.where(pick, fn1(long), long).astype(element.dtype)
        module.expect(got, want, element, tolerance=unit)
    part = BY_NAME["f32" if element.bits == 64 else "f64"]
    parts = tensor_type(single.shape, part.name)
    for name, fn2 in (("real", np.real), ("imag", np.imag), ("abs", np.abs)):
        got = module.op(f"stablehlo.{name} {one} : ({small}) -> {parts}")
        module.expect(got, fn2(long).astype(part.dtype), part, ulp=2)
    re, im = module.constant(single.real.astype(part.dtype), part), module.constant(single.imag.astype(part.dtype), part)
    module.expect(module.op(f"stablehlo.complex {re}, {im} : {small}"), single, element)
    return
    yield


# ---------------------------------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------------------------------


def converted(values: Array, source: Element, target: Element) -> Array:
    """StableHLO's convert: wraps integers, rounds to nearest even, saturates floats that do not fit, NaN to 0."""
    if target.kind == "bool":
        return values.astype(np.complex128) != 0 if source.kind == "complex" else wide(values) != 0
    if source.kind == "complex":
        if target.kind == "complex":
            return values.astype(target.dtype)
        values, source = values.real, BY_NAME["f32" if source.bits == 64 else "f64"]
    if target.kind == "complex":
        return converted(values, source, BY_NAME["f32" if target.bits == 64 else "f64"]).astype(target.dtype)
    if target.kind in ("int", "uint"):
        if source.kind in ("int", "uint", "bool"):
            return on_integers(lambda v: v, target, values)
        low = -(1 << (target.bits - 1)) if target.kind == "int" else 0
        high = (1 << (target.bits - (1 if target.kind == "int" else 0))) - 1
        whole = [0 if np.isnan(v) else low if v <= low else high if v >= high else int(v)
                 for v in wide(values)]
        return np.array(whole, dtype=object).astype(target.dtype)
    if source.kind in ("int", "uint", "bool"):
        exact = np.array([np.longdouble(int(v)) for v in values])
        with np.errstate(all="ignore"):
            return rounded(exact, target)
    with np.errstate(all="ignore"):
        return rounded(wide(values), target)


def conversions(element: Element) -> Iterator[Module]:
    """To every other type."""
    module = Module()
    values = samples(element)
    a, kind = module.constant(values, element), tensor_type(values.shape, element.name)
    for target in ELEMENTS:
        if target.name == element.name or (element.kind == "complex" and target.kind not in ("complex", "float")):
            continue
        got = module.op(f"stablehlo.convert {a} : ({kind}) -> {tensor_type(values.shape, target.name)}")
        module.expect(got, converted(values, element, target), target)
    yield module


# ---------------------------------------------------------------------------------------------------------------------
# Shapes, and what moves elements
# ---------------------------------------------------------------------------------------------------------------------


def _table(element: Element, shape: tuple[int, ...]) -> Array:
    values = samples(element)
    if element.kind in ("float", "storage"):
        values = values[np.isfinite(wide(values))]
    count = int(np.prod(shape))
    return np.resize(values, count).reshape(shape)


def movement(element: Element) -> Iterator[Module]:
    """Ops that compute nothing; all types, 4-bit and 8-bit ones too."""
    module = Module()
    x = _table(element, (3, 4))
    a, t = module.constant(x, element), lambda *shape: tensor_type(shape, element.name)
    zero = samples(element)[1:2].reshape(())
    z = module.constant(zero, element)

    def same(text: str, expected: Array) -> None:
        module.expect(module.op(text), np.ascontiguousarray(expected), element)

    same(f"stablehlo.broadcast_in_dim {a}, dims = [2, 0] : ({t(3, 4)}) -> {t(4, 2, 3)}",
         np.broadcast_to(x.T[:, None, :], (4, 2, 3)))
    same(f"stablehlo.reshape {a} : ({t(3, 4)}) -> {t(2, 6)}", x.reshape(2, 6))
    same(f"stablehlo.transpose {a}, dims = [1, 0] : ({t(3, 4)}) -> {t(4, 3)}", x.T)
    same(f"stablehlo.reverse {a}, dims = [0, 1] : {t(3, 4)}", x[::-1, ::-1])
    same(f"stablehlo.slice {a} [1:3, 0:4:2] : ({t(3, 4)}) -> {t(2, 2)}", x[1:3, 0:4:2])
    same(f"stablehlo.concatenate {a}, {a}, dim = 1 : ({t(3, 4)}, {t(3, 4)}) -> {t(3, 8)}", np.concatenate([x, x], 1))
    padded = np.full((5, 5), zero, element.dtype)
    padded[0::2, 0:5:2] = x[:, 1:4]  # low 0 and -1, interior 1 and 1
    same(f"stablehlo.pad {a}, {z}, low = [0, -2], high = [0, 0], interior = [1, 1] : ({t(3, 4)}, {t()}) -> {t(5, 5)}",
         padded)
    index = BY_NAME["i32"]
    far, near = module.constant(np.int32(7).reshape(()), index), module.constant(np.int32(-3).reshape(()), index)
    same(f"stablehlo.dynamic_slice {a}, {near}, {far}, sizes = [2, 2] : ({t(3, 4)}, tensor<i32>, tensor<i32>) -> "
         f"{t(2, 2)}", x[0:2, 2:4])
    update = _table(element, (2, 2))[::-1]
    u = module.constant(np.ascontiguousarray(update), element)
    updated = x.copy()
    updated[1:3, 0:2] = update
    same(f"stablehlo.dynamic_update_slice {a}, {u}, {far}, {near} : ({t(3, 4)}, {t(2, 2)}, tensor<i32>, tensor<i32>) "
         f"-> {t(3, 4)}", updated)
    rows = np.array([[2], [-5], [9], [0]], np.int32)
    r = module.constant(rows, index)
    same(f'"stablehlo.gather"({a}, {r}) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
         "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, "
         f"indices_are_sorted = false}}> : ({t(3, 4)}, tensor<4x1xi32>) -> {t(4, 4)}", x[[2, 0, 2, 0]])
    updates = np.ascontiguousarray(_table(element, (4, 4))[:, ::-1])
    us = module.constant(updates, element)
    scattered = x.copy()
    scattered[2], scattered[0] = updates[0], updates[3]  # rows -5 and 9 are outside
    same(f'"stablehlo.scatter"({a}, {r}, {us}) <{{scatter_dimension_numbers = #stablehlo.scatter<'
         "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
         "index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({"
         f"^bb0(%old: {t()}, %new: {t()}): stablehlo.return %new : {t()} }}) "
         f": ({t(3, 4)}, tensor<4x1xi32>, {t(4, 4)}) -> {t(3, 4)}", scattered)
    same(f"stablehlo.optimization_barrier {a} : {t(3, 4)}", x)
    if element.kind not in ("storage", "bool"):
        got = module.op(f"stablehlo.iota dim = 1 : {t(2, 5)}")
        module.expect(got, np.broadcast_to(np.arange(5), (2, 5)).astype(element.dtype), element)
    if element.kind != "bool" and element.kind != "complex" and element.bits >= 8:
        twin = BY_NAME[f"ui{element.bits}"]
        if twin.name != element.name:
            bits = module.op(f"stablehlo.bitcast_convert {a} : ({t(3, 4)}) -> {tensor_type((3, 4), twin.name)}")
            module.expect(bits, x.view(twin.dtype), twin)
            same(f"stablehlo.bitcast_convert {bits} : ({tensor_type((3, 4), twin.name)}) -> {t(3, 4)}", x)
    empty = x[:, :0]
    e = module.constant(np.zeros((3, 0), element.dtype), element)
    same(f"stablehlo.concatenate {e}, {a}, dim = 1 : ({t(3, 0)}, {t(3, 4)}) -> {t(3, 4)}", np.concatenate([empty, x], 1))
    yield module


# ---------------------------------------------------------------------------------------------------------------------
# Sums and orders
# ---------------------------------------------------------------------------------------------------------------------


def _small(element: Element, shape: tuple[int, ...], seed: int) -> Array:
    """Values whose sums and products are exact in every type of at least eight bits."""
    count = int(np.prod(shape))
    numbers = (np.arange(count) * 7 + seed) % (2 if element.bits <= 4 else 4)
    if element.kind == "complex":
        return (numbers + 1j * ((numbers + seed) % 3 - 1)).reshape(shape).astype(element.dtype)
    if element.kind in ("int", "float"):
        numbers = numbers - 1
    return numbers.reshape(shape).astype(element.dtype)


def _sum(array: Array, element: Element, axis: int) -> Array:
    if element.kind == "complex":
        return array.astype(np.complex128).sum(axis).astype(element.dtype)
    return array.astype(np.float64).sum(axis).astype(element.dtype)


def combination(element: Element) -> Iterator[Module]:
    """Reductions, windows, products, orders."""
    module = Module()

    def t(*shape: int) -> str:
        return tensor_type(shape, element.name)

    x = _small(element, (3, 4), 1)
    a = module.constant(x, element)
    zero = module.constant(np.zeros((), element.dtype), element)
    got = module.op(f"stablehlo.reduce({a} init: {zero}) applies stablehlo.add across dimensions = [1] : "
                    f"({t(3, 4)}, {t()}) -> {t(3)}")
    module.expect(got, _sum(x, element, 1), element)
    # Each window of two, by two.
    got = module.op(f'"stablehlo.reduce_window"({a}, {zero}) <{{window_dimensions = array<i64: 1, 2>, '
                    f'window_strides = array<i64: 1, 2>}}> ({{^bb0(%p: {t()}, %q: {t()}): '
                    f"%s = stablehlo.add %p, %q : {t()} stablehlo.return %s : {t()} }}) : ({t(3, 4)}, {t()}) -> {t(3, 2)}")
    module.expect(got, _sum(x.reshape(3, 2, 2), element, 2), element)
    w = _small(element, (4, 2), 2)
    b = module.constant(w, element)
    product = (x.astype(np.complex128) @ w.astype(np.complex128))
    real = product if element.kind == "complex" else product.real
    got = module.op(f"stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [0] : ({t(3, 4)}, {t(4, 2)}) -> {t(3, 2)}")
    if element.kind in ("int", "uint"):
        module.expect(got, on_integers(lambda v: v, element, real.ravel().astype(int)).reshape(3, 2), element)
    else:
        module.expect(got, real.astype(element.dtype), element)
    image = _small(element, (1, 5, 2), 3)
    kernel = _small(element, (3, 2, 2), 1)
    i, k = module.constant(image, element), module.constant(kernel, element)
    out = np.zeros((1, 5, 2), np.complex128)
    around = np.pad(image.astype(np.complex128), ((0, 0), (1, 1), (0, 0)))
    for tap in range(3):
        out += np.einsum("bwi,io->bwo", around[:, tap:tap + 5], kernel[tap].astype(np.complex128))
    got = module.op(f"stablehlo.convolution({i}, {k}) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
                    "window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                    f"({t(1, 5, 2)}, {t(3, 2, 2)}) -> {t(1, 5, 2)}")
    want = out if element.kind == "complex" else out.real
    if element.kind in ("int", "uint"):
        module.expect(got, on_integers(lambda v: v, element, want.ravel().astype(int)).reshape(1, 5, 2), element)
    else:
        module.expect(got, want.astype(element.dtype), element)
    if element.kind != "complex":
        values = samples(element)
        if element.kind == "float":
            values = values[~np.isnan(wide(values))]
        s, kind = module.constant(values[::-1].copy(), element), tensor_type(values.shape, element.name)
        word = {"uint": "UNSIGNED", "int": "SIGNED"}.get(element.kind, "TOTALORDER")
        got = module.op(f'"stablehlo.sort"({s}) <{{dimension = 0 : i64, is_stable = true}}> ({{^bb0(%p: {t()}, %q: {t()}): '
                        f"%c = stablehlo.compare LT, %p, %q, {word} : ({t()}, {t()}) -> tensor<i1> "
                        f"stablehlo.return %c : tensor<i1> }}) : ({kind}) -> {kind}")
        order = sorted(range(len(values)), key=lambda n: (int(values[n]) if element.kind in ("int", "uint") else (
            float(values[n]), 0 if np.signbit(wide(values[n:n + 1]))[0] else 1)))
        module.expect(got, values[order], element)
    yield module


PARTS: dict[str, Callable[[Element], Iterator[Module]]] = {
    "elementwise": elementwise, "conversions": conversions, "movement": movement, "combination": combination,
}


def write(directory: Path, element: Element) -> Path:
    """One file for one element type; modules parted as shard-run parts them."""
    modules: list[str] = []
    for name, part in PARTS.items():
        if name == "combination" and element.kind in ("bool", "storage"):
            continue
        modules += [f"// {element.name}: {name}\n" + module.text() for module in part(element)]
    path = directory / (element.name.replace("<", "_").replace(">", "") + ".mlir")
    path.write_text("// -----\n".join(modules))
    return path


def main() -> None:
    """``matrix.py DIR [TYPE...]``."""
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for element in ELEMENTS:
        if len(sys.argv) < 3 or element.name in sys.argv[2:]:
            print(write(directory, element))


if __name__ == "__main__":
    main()

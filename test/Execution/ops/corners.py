"""Corners of StableHLO's semantics, against its definitions written out as loops.

``corners.py FILE`` writes check modules for ``shard-run``: windows of every attribute, scatters with clashes and any
body, orders of NaN and signed zeros, loops of several values, empty tensors, powers of zero, normalisation, random bits.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matrix import BY_NAME, Array, Module, tensor_type

F32, I32, I1, UI32, UI64 = (BY_NAME[name] for name in ("f32", "i32", "i1", "ui32", "ui64"))
RNG = np.random.default_rng(4)


def t(*shape: int, element: str = "f32") -> str:
    """The type of a tensor."""
    return tensor_type(shape, element)


def whole(*shape: int) -> Array:
    """Small whole numbers: every order of summation gives the same bits."""
    return RNG.integers(-4, 5, shape).astype(np.float32)


def numbers(values: Any) -> str:
    """``array<i64: ...>``."""
    return "array<i64: " + ", ".join(str(int(v)) for v in values) + ">"


def paddings(padding: list[tuple[int, int]]) -> str:
    """``dense<...> : tensor<Nx2xi64>``."""
    return f"dense<{[list(p) for p in padding]}> : tensor<{len(padding)}x2xi64>"


def body(op: str, element: str = "f32") -> str:
    """A region that combines two scalars."""
    s = tensor_type((), element)
    return (f"({{^bb0(%p: {s}, %q: {s}): %c = stablehlo.{op} %p, %q : {s} "
            f"stablehlo.return %c : {s} }})")


def dilated(x: Array, base: list[int], padding: list[tuple[int, int]], fill: float) -> Array:
    """What a window moves over: interior elements, then edges, which may be negative."""
    shape = [max(0, (n - 1) * d + 1) if n else 0 for n, d in zip(x.shape, base, strict=True)]
    spread = np.full(shape, fill, x.dtype)
    spread[tuple(slice(None, None, d) for d in base)] = x
    for axis, (low, high) in enumerate(padding):
        edges = [(0, 0)] * x.ndim
        edges[axis] = (max(low, 0), max(high, 0))
        spread = np.pad(spread, edges, constant_values=fill)
        keep = slice(max(-low, 0), spread.shape[axis] - max(-high, 0))
        spread = spread[(slice(None),) * axis + (keep,)]
    return spread


def positions(size: int, window: int, stride: int, dilation: int) -> int:
    """How often a window fits."""
    reach = (window - 1) * dilation + 1
    return max(0, (size - reach) // stride + 1) if size >= reach else 0


# ---------------------------------------------------------------------------------------------------------------------
# Windows
# ---------------------------------------------------------------------------------------------------------------------


def convolutions() -> Iterator[Module]:
    """Strides, both dilations, negative padding, reversal, groups of features and of the batch."""
    module = Module()
    cases: list[dict[str, Any]] = [
        {"stride": [2, 1], "pad": [(1, 2), (0, 1)]},
        {"lhs": [2, 3], "pad": [(-1, 2), (3, -2)]},
        {"rhs": [2, 1], "pad": [(0, 0), (-1, -1)], "reverse": [True, False]},
        {"lhs": [1, 2], "rhs": [1, 2], "stride": [2, 2], "pad": [(2, 0), (1, 1)]},
        {"features": 2}, {"batches": 2}, {"batches": 2, "stride": [1, 2], "reverse": [True, True]},
    ]
    for case in cases:
        features, batches = case.get("features", 1), case.get("batches", 1)
        stride, lhs, rhs = case.get("stride", [1, 1]), case.get("lhs", [1, 1]), case.get("rhs", [1, 1])
        pad, reverse = case.get("pad", [(0, 0), (0, 0)]), case.get("reverse", [False, False])
        x, w = whole(2 * batches, 5, 6, 4), whole(3, 2, 4 // features, 4)
        over = dilated(x, [1, *lhs, 1], [(0, 0), *pad, (0, 0)], 0)
        size = [positions(over.shape[1 + d], w.shape[d], stride[d], rhs[d]) for d in range(2)]
        turned = w[tuple(slice(None, None, -1) if flip else slice(None) for flip in reverse)]
        out = np.zeros((2, size[0], size[1], 4), np.float32)
        for i, j, u, v in itertools.product(range(size[0]), range(size[1]), range(3), range(2)):
            at = over[:, i * stride[0] + u * rhs[0], j * stride[1] + v * rhs[1]]
            for o in range(4):
                group = o * features // 4  # of input features
                part = at[:, group * (4 // features):(group + 1) * (4 // features)] @ turned[u, v, :, o]
                batch = o * batches // 4  # of the batch
                out[:, i, j, o] += part[batch * 2:batch * 2 + 2]
        a, b = module.constant(x, F32), module.constant(w, F32)
        words = (f"stride = {stride}, pad = {[list(p) for p in pad]}, lhs_dilate = {lhs}, rhs_dilate = {rhs}, "
                 f"reverse = [{', '.join(str(r).lower() for r in reverse)}]")
        got = module.op(
            f"stablehlo.convolution({a}, {b}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
            f"{{{words}}} {{batch_group_count = {batches} : i64, feature_group_count = {features} : i64}} : "
            f"({t(*x.shape)}, {t(*w.shape)}) -> {t(*out.shape)}")
        module.expect(got, out, F32)
    yield module


def windows() -> Iterator[Module]:
    """reduce_window with all its attributes; select_and_scatter where windows overlap."""
    module = Module()
    cases: list[tuple[list[int], list[int], list[int], list[int], list[tuple[int, int]]]] = [
        ([2, 3], [1, 2], [1, 1], [1, 1], [(0, 1), (1, 1)]),
        ([2, 2], [2, 1], [2, 1], [1, 2], [(1, 0), (-1, 2)]),
        ([1, 7], [1, 1], [1, 1], [1, 1], [(0, 0), (6, 0)]),
        ([3, 1], [1, 1], [1, 2], [3, 1], [(0, 0), (0, 0)]),
    ]
    x = whole(5, 7)
    a = module.constant(x, F32)
    for (window, stride, base, dilation, pad), (op, fn, init) in itertools.product(
            cases, (("add", np.sum, 0.0), ("maximum", np.max, -np.inf), ("minimum", np.min, 2.0))):
        over = dilated(x, base, pad, init)
        size = [positions(over.shape[d], window[d], stride[d], dilation[d]) for d in range(2)]
        out = np.full(size, init, np.float32)
        for i, j in itertools.product(*map(range, size)):
            box = over[i * stride[0]:i * stride[0] + (window[0] - 1) * dilation[0] + 1:dilation[0],
                       j * stride[1]:j * stride[1] + (window[1] - 1) * dilation[1] + 1:dilation[1]]
            out[i, j] = fn(np.append(box, np.float32(init)))
        z = module.constant(np.float32(init).reshape(()), F32)
        got = module.op(f'"stablehlo.reduce_window"({a}, {z}) <{{window_dimensions = {numbers(window)}, window_strides = '
                        f"{numbers(stride)}, base_dilations = {numbers(base)}, window_dilations = {numbers(dilation)}, "
                        f"padding = {paddings(pad)}}}> {body(op)} : ({t(5, 7)}, {t()}) -> {t(*size)}")
        module.expect(got, out, F32)
    # Overlapping windows, ties: the first that none behind it replaces (GE keeps it).
    for pad in ([(0, 0), (0, 0)], [(1, 0), (0, 1)]):
        size = [5 + sum(pad[0]) - 2 + 1, (7 + sum(pad[1]) - 3) // 2 + 1]
        source = whole(*size)
        out = np.full(x.shape, 1, np.float32)
        for i, j in itertools.product(*map(range, size)):
            best: tuple[int, int] | None = None
            for u, v in itertools.product(range(2), range(3)):
                at = (i + u - pad[0][0], j * 2 + v - pad[1][0])
                if 0 <= at[0] < 5 and 0 <= at[1] < 7 and (best is None or not x[best] >= x[at]):
                    best = at
            if best is not None:
                out[best] += source[i, j]
        s, one = module.constant(source, F32), module.constant(np.float32(1).reshape(()), F32)
        select = (f"({{^bb0(%p: {t()}, %q: {t()}): %c = stablehlo.compare GE, %p, %q, FLOAT : ({t()}, {t()}) -> "
                  f"tensor<i1> stablehlo.return %c : tensor<i1> }}, {body('add')[1:-1]})")
        got = module.op(f'"stablehlo.select_and_scatter"({a}, {s}, {one}) <{{window_dimensions = {numbers([2, 3])}, '
                        f"window_strides = {numbers([1, 2])}, padding = {paddings(pad)}}}> {select} : "
                        f"({t(5, 7)}, {t(*size)}, {t()}) -> {t(5, 7)}")
        module.expect(got, out, F32)
    yield module


# ---------------------------------------------------------------------------------------------------------------------
# Positions that are values
# ---------------------------------------------------------------------------------------------------------------------


def scatters() -> Iterator[Module]:
    """Clashing indices, windows that reach out, any body, two tensors at once."""
    module = Module()
    x, index = whole(6, 5), np.array([[1, 2], [4, 0], [1, 2], [5, 4], [-1, 0], [0, 2], [4, 0]], np.int32)
    updates = whole(7, 2, 3)
    bodies: list[tuple[str, Callable[[float, float], float]]] = [
        ("add", lambda p, q: p + q), ("multiply", lambda p, q: p * q), ("maximum", max), ("minimum", min)]
    a, i, u = module.constant(x, F32), module.constant(index, I32), module.constant(updates, F32)
    for op, fn in bodies:
        out = x.copy()
        for row, (p, q) in enumerate(index):
            if not (0 <= p <= 6 - 2 and 0 <= q <= 5 - 3):
                continue  # a window that is partly outside is dropped whole
            for d, e in itertools.product(range(2), range(3)):
                out[p + d, q + e] = fn(out[p + d, q + e], updates[row, d, e])
        got = module.op(f'"stablehlo.scatter"({a}, {i}, {u}) <{{scatter_dimension_numbers = #stablehlo.scatter<'
                        "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, "
                        f"indices_are_sorted = false, unique_indices = false}}> {body(op)} : "
                        f"({t(6, 5)}, {t(7, 2, element='i32')}, {t(7, 2, 3)}) -> {t(6, 5)}")
        module.expect(got, out, F32)
    # A body that is no known sum: 2 old + new, each place once.
    once = np.array([[3], [0], [9]], np.int32)
    rows = whole(3, 5)
    out = x.copy()
    out[3], out[0] = 2 * x[3] + rows[0], 2 * x[0] + rows[1]
    o, r = module.constant(once, I32), module.constant(rows, F32)
    got = module.op(f'"stablehlo.scatter"({a}, {o}, {r}) <{{scatter_dimension_numbers = #stablehlo.scatter<'
                    "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                    f"index_vector_dim = 1>, unique_indices = true}}> ({{^bb0(%p: {t()}, %q: {t()}): "
                    f"%d = stablehlo.add %p, %p : {t()} %c = stablehlo.add %d, %q : {t()} "
                    f"stablehlo.return %c : {t()} }}) : ({t(6, 5)}, {t(3, 1, element='i32')}, {t(3, 5)}) -> {t(6, 5)}")
    module.expect(got, out, F32)
    # Gather with a batch, start indices clamped.
    start = np.array([[7, -2], [1, 3]], np.int32)
    g = module.constant(start, I32)
    got = module.op(f'"stablehlo.gather"({a}, {g}) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], '
                    "start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : "
                    f"({t(6, 5)}, {t(2, 2, element='i32')}) -> {t(2, 2, 2)}")
    module.expect(got, np.stack([x[4:6, 0:2], x[1:3, 3:5]]), F32)
    yield module


# ---------------------------------------------------------------------------------------------------------------------
# Orders, several values, control flow, nothing at all
# ---------------------------------------------------------------------------------------------------------------------


def orders() -> Iterator[Module]:
    """NaN and signed zeros in sorts, selections and pairs of values that are reduced together."""
    module = Module()
    x = np.array([2, np.nan, -0.0, 0.0, -np.inf, 2, np.inf, -1, np.nan, -0.0], np.float32)
    a = module.constant(x, F32)
    # top_k: descending in total order, so NaN first; ties by lower index.
    values, places = module.name(), None
    module.lines.append(f"{values}:2 = chlo.top_k({a}, k = 6) : {t(10)} -> ({t(6)}, {t(6, element='i32')})")
    module.expect(f"{values}#0", np.array([np.nan, np.nan, np.inf, 2, 2, 0], np.float32), F32)
    module.expect(f"{values}#1", np.array([1, 8, 6, 0, 5, 3], np.int32), I32)
    # JAX's argmax: NaN wins, then the greater, then the lower index.
    index, none = module.op(f"stablehlo.iota dim = 0 : {t(10, element='i32')}"), None
    low, zero = module.constant(np.float32(-np.inf).reshape(()), F32), module.constant(np.int32(0).reshape(()), I32)
    del places, none
    pair = module.name()
    f, i = t(), t(element="i32")
    compare = "stablehlo.compare"
    module.lines.append(
        f"{pair}:2 = stablehlo.reduce({a} init: {low}), ({index} init: {zero}) across dimensions = [0] : "
        f"({t(10)}, {t(10, element='i32')}, {f}, {i}) -> ({f}, {i}) reducer(%p: {f}, %q: {f}) (%m: {i}, %n: {i}) {{ "
        f"%gt = {compare} GT, %p, %q, FLOAT : ({f}, {f}) -> tensor<i1> "
        f"%nan = {compare} NE, %p, %p, FLOAT : ({f}, {f}) -> tensor<i1> %w = stablehlo.or %gt, %nan : tensor<i1> "
        f"%eq = {compare} EQ, %p, %q, FLOAT : ({f}, {f}) -> tensor<i1> "
        f"%lt = {compare} LT, %m, %n, SIGNED : ({i}, {i}) -> tensor<i1> %e = stablehlo.and %eq, %lt : tensor<i1> "
        f"%k = stablehlo.or %w, %e : tensor<i1> %v = stablehlo.select %w, %p, %q : tensor<i1>, {f} "
        f"%r = stablehlo.select %k, %m, %n : tensor<i1>, {i} stablehlo.return %v, %r : {f}, {i} }}")
    module.expect(f"{pair}#0", np.float32(np.nan).reshape(()), F32)
    # A stable sort of two tensors by the first: zeros are equal, NaN is not less than anything.
    keys = np.array([1, 0.0, -0.0, 3, -2, 0.0], np.float32)
    k, n = module.constant(keys, F32), module.op(f"stablehlo.iota dim = 0 : {t(6, element='i32')}")
    both = module.name()
    module.lines.append(
        f'{both}:2 = "stablehlo.sort"({k}, {n}) <{{dimension = 0 : i64, is_stable = true}}> ({{^bb0(%p: {f}, %q: {f}, '
        f"%m: {i}, %o: {i}): %c = {compare} LT, %p, %q, FLOAT : ({f}, {f}) -> tensor<i1> "
        f"stablehlo.return %c : tensor<i1> }}) : ({t(6)}, {t(6, element='i32')}) -> ({t(6)}, {t(6, element='i32')})")
    module.expect(f"{both}#1", np.argsort(keys, kind="stable").astype(np.int32), I32)
    module.expect(f"{both}#0", keys[np.argsort(keys, kind="stable")], F32)
    got = module.op(f"stablehlo.reduce({a} init: {low}) applies stablehlo.maximum across dimensions = [0] : "
                    f"({t(10)}, {f}) -> {f}")
    module.expect(got, np.float32(np.nan).reshape(()), F32)
    yield module


def control() -> Iterator[Module]:
    """Loops of several values, of none at all, branches out of range, captured values."""
    module = Module()
    i = t(element="i32")
    zero, one, ten = (module.constant(np.int32(v).reshape(()), I32) for v in (0, 1, 10))
    loop = module.name()
    module.lines.append(
        f"{loop}:4 = stablehlo.while(%n = {zero}, %a = {zero}, %b = {one}, %c = {ten}) : {i}, {i}, {i}, {i} cond {{ "
        f"%go = stablehlo.compare LT, %n, %c, SIGNED : ({i}, {i}) -> tensor<i1> stablehlo.return %go : tensor<i1> }} do {{ "
        f"%m = stablehlo.add %n, {one} : {i} %s = stablehlo.add %a, %b : {i} "
        f"stablehlo.return %m, %b, %s, %c : {i}, {i}, {i}, {i} }}")
    for place, value in enumerate((10, 55, 89, 10)):
        module.expect(f"{loop}#{place}", np.int32(value).reshape(()), I32)
    # Swapped in each iteration, until their product is large: no counter.
    swap = module.name()
    module.lines.append(
        f"{swap}:2 = stablehlo.while(%a = {one}, %b = {ten}) : {i}, {i} cond {{ %p = stablehlo.multiply %a, %b : {i} "
        f"%k = stablehlo.constant dense<1000> : {i} %go = stablehlo.compare LT, %p, %k, SIGNED : ({i}, {i}) -> tensor<i1> "
        f"stablehlo.return %go : tensor<i1> }} do {{ %s = stablehlo.add %a, %b : {i} "
        f"stablehlo.return %b, %s : {i}, {i} }}")
    module.expect(f"{swap}#0", np.int32(32).reshape(()), I32)
    module.expect(f"{swap}#1", np.int32(53).reshape(()), I32)
    for index, expected in ((-1, 30), (0, 10), (2, 30), (7, 30)):
        which = module.constant(np.int32(index).reshape(()), I32)
        branches = ", ".join(f"{{ %r = stablehlo.constant dense<{v}> : {i} stablehlo.return %r : {i} }}"
                             for v in (10, 20, 30))
        got = module.op(f'"stablehlo.case"({which}) ({branches}) : ({i}) -> {i}')
        module.expect(got, np.int32(expected).reshape(()), I32)
    yield module


def empties() -> Iterator[Module]:
    """Sums of nothing, products over nothing, windows that do not fit, loops that do not run."""
    module = Module()
    nothing = module.constant(np.zeros((0, 3), np.float32), F32)
    seven = module.constant(np.float32(7).reshape(()), F32)
    got = module.op(f"stablehlo.reduce({nothing} init: {seven}) applies stablehlo.add across dimensions = [0] : "
                    f"({t(0, 3)}, {t()}) -> {t(3)}")
    module.expect(got, np.full(3, 7, np.float32), F32)
    across = module.constant(np.zeros((2, 0), np.float32), F32)
    got = module.op(f"stablehlo.dot_general {across}, {nothing}, contracting_dims = [1] x [0] : "
                    f"({t(2, 0)}, {t(0, 3)}) -> {t(2, 3)}")
    module.expect(got, np.zeros((2, 3), np.float32), F32)
    got = module.op(f"stablehlo.pad {nothing}, {seven}, low = [2, -1], high = [0, 0], interior = [3, 1] : "
                    f"({t(0, 3)}, {t()}) -> {t(2, 4)}")
    module.expect(got, np.full((2, 4), 7, np.float32), F32)
    got = module.op(f'"stablehlo.reduce_window"({nothing}, {seven}) <{{window_dimensions = {numbers([2, 1])}, '
                    f"padding = {paddings([(1, 2), (0, 0)])}}}> {body('add')} : ({t(0, 3)}, {t()}) -> {t(2, 3)}")
    module.expect(got, np.full((2, 3), 21, np.float32), F32)
    sort = module.op(f'"stablehlo.sort"({nothing}) <{{dimension = 0 : i64}}> ({{^bb0(%p: {t()}, %q: {t()}): '
                     f"%c = stablehlo.compare LT, %p, %q, FLOAT : ({t()}, {t()}) -> tensor<i1> "
                     f"stablehlo.return %c : tensor<i1> }}) : ({t(0, 3)}) -> {t(0, 3)}")
    module.expect(sort, np.zeros((0, 3), np.float32), F32)
    yield module


def powers_of_zero() -> Iterator[Module]:
    """Complex zero to any power, as NumPy has it: 0, 1, or no number."""
    module = Module()
    for narrow, number in (("f32", np.complex64), ("f64", np.complex128)):
        real, element = BY_NAME[narrow], BY_NAME[f"complex<{narrow}>"]
        exponents = [1, 2.5 + 1j, 1e10 + 1j, 0, -1, -1 - 2.5j, 1j, complex(np.nan, 0), complex(np.nan, 1), complex(-np.inf, 1)]
        y = np.array(exponents, number)
        kind, part = t(len(y), element=element.name), t(len(y), element=narrow)
        with np.errstate(all="ignore"):
            want = np.zeros(len(y), number) ** y
        x = module.constant(np.zeros(len(y), number), element)
        got = module.op(f"stablehlo.power {x}, {module.constant(y, element)} : {kind}")
        for name, value in (("real", want.real), ("imag", want.imag)):
            module.expect(module.op(f"stablehlo.{name} {got} : ({kind}) -> {part}"), value, real)
    yield module


def powers_of_limits() -> Iterator[Module]:
    """Complex 1 to any power, and infinity to real ones, as real numbers have it; what overflows, as NumPy has it."""
    module = Module()
    for narrow, number in (("f32", np.complex64), ("f64", np.complex128)):
        real, element = BY_NAME[narrow], BY_NAME[f"complex<{narrow}>"]
        largest, least = np.finfo(number).max, np.finfo(number).tiny
        limits = [np.inf, -np.inf, np.nan, 2.5, -2, 0.5, 0]
        cases: list[tuple[Any, Any, Any]] = [(base, power, complex(np.power(base, power))) for base in (1.0, np.inf) for power in limits]
        cases += [(1, complex(power, 2), 1 + 0j) for power in limits]
        cases += [(base, power, complex(np.nan, np.nan)) for base in (complex(2, np.inf), complex(-np.inf, 1), complex(np.nan, 1))
                  for power in (1 + 1j, -1 + 1j, 2.5)]
        with np.errstate(all="ignore"):
            cases += [(base, power, number(base) ** number(power)) for base, power in
                      ((2 + 2j, largest), (2 + 2j, complex(largest, 1)), (least, complex(largest, 1)), (least + least * 1j, largest))]
        x, y, want = (np.array(column, number) for column in zip(*cases, strict=True))
        want.imag[np.isnan(want.real)] = np.nan
        kind, part = t(len(y), element=element.name), t(len(y), element=narrow)
        got = module.op(f"stablehlo.power {module.constant(x, element)}, {module.constant(y, element)} : {kind}")
        # Of a NaN either part may be one.
        nan, zero = np.isnan(want), np.zeros(len(y), want.real.dtype)
        for name, value in (("real", want.real), ("imag", want.imag)):
            side = module.op(f"stablehlo.{name} {got} : ({kind}) -> {part}")
            module.expect(module.op(f"stablehlo.select {module.constant(nan, I1)}, {module.constant(zero, real)}, {side} : "
                                    f"({t(len(y), element='i1')}, {part}, {part}) -> {part}"), np.where(nan, 0, value).astype(want.real.dtype), real)
        test = module.op(f"stablehlo.compare NE, {got}, {got} : ({kind}, {kind}) -> {t(len(y), element='i1')}")
        module.expect(test, nan, I1)
    yield module


# ---------------------------------------------------------------------------------------------------------------------
# Ops that are said in others
# ---------------------------------------------------------------------------------------------------------------------


def normalisation() -> Iterator[Module]:
    """batch_norm_inference, batch_norm_training, batch_norm_grad by their definitions in f64."""
    module = Module()
    x, grad = RNG.standard_normal((4, 3, 5)).astype(np.float32), RNG.standard_normal((4, 3, 5)).astype(np.float32)
    scale, offset, mean, variance = (RNG.uniform(0.5, 2, 3).astype(np.float32) for _ in range(4))
    a, g = module.constant(x, F32), module.constant(grad, F32)
    s, o, m, v = (module.constant(y, F32) for y in (scale, offset, mean, variance))
    epsilon, n = 1e-3, 20.0
    wide, spread = x.astype(np.float64), lambda y: np.asarray(y, np.float64)[None, :, None]
    names = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
    got = module.op(f'"stablehlo.batch_norm_inference"({a}, {s}, {o}, {m}, {v}) <{{{names}}}> : '
                    f"({t(4, 3, 5)}, {t(3)}, {t(3)}, {t(3)}, {t(3)}) -> {t(4, 3, 5)}")
    want = spread(scale) * (wide - spread(mean)) / np.sqrt(spread(variance) + epsilon) + spread(offset)
    module.expect(got, want.astype(np.float32), F32, tolerance=1e-5)
    train = module.name()
    module.lines.append(f'{train}:3 = "stablehlo.batch_norm_training"({a}, {s}, {o}) <{{{names}}}> : '
                        f"({t(4, 3, 5)}, {t(3)}, {t(3)}) -> ({t(4, 3, 5)}, {t(3)}, {t(3)})")
    own, spreads = wide.mean((0, 2)), wide.var((0, 2))
    want = spread(scale) * (wide - spread(own)) / np.sqrt(spread(spreads) + epsilon) + spread(offset)
    for place, value in enumerate((want, own, spreads)):
        module.expect(f"{train}#{place}", value.astype(np.float32), F32, tolerance=1e-5)
    back = module.name()
    module.lines.append(f'{back}:3 = "stablehlo.batch_norm_grad"({a}, {s}, {m}, {v}, {g}) <{{{names}}}> : '
                        f"({t(4, 3, 5)}, {t(3)}, {t(3)}, {t(3)}, {t(4, 3, 5)}) -> ({t(4, 3, 5)}, {t(3)}, {t(3)})")
    centered, deviation, dy = wide - spread(mean), np.sqrt(spread(variance) + epsilon), grad.astype(np.float64)
    inner = (n * dy - spread(dy.sum((0, 2)))
             - centered * spread((dy * centered).sum((0, 2))) / (spread(variance) + epsilon))
    for place, value in enumerate((spread(scale) / deviation / n * inner, (dy * centered / deviation).sum((0, 2)),
                                   dy.sum((0, 2)))):
        module.expect(f"{back}#{place}", value.astype(np.float32), F32, tolerance=1e-5)
    yield module


MASK = 0xFFFFFFFF


def three_fry(key: tuple[int, int], x: tuple[int, int]) -> tuple[int, int]:
    """ThreeFry-2x32, 20 rounds."""
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    a, b = (x[0] + keys[0]) & MASK, (x[1] + keys[1]) & MASK
    for turn in range(5):
        for by in ((13, 15, 26, 6), (17, 29, 16, 24))[turn % 2]:
            a = (a + b) & MASK
            b = ((b << by | b >> (32 - by)) & MASK) ^ a
        a, b = (a + keys[(turn + 1) % 3]) & MASK, (b + keys[(turn + 2) % 3] + turn + 1) & MASK
    return a, b


def philox(key: tuple[int, int], counter: int) -> list[int]:
    """Philox-4x32, 10 rounds."""
    x, k = [counter >> shift & MASK for shift in (0, 32, 64, 96)], list(key)
    for _ in range(10):
        p, q = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [q >> 32 ^ x[1] ^ k[0], q & MASK, p >> 32 ^ x[3] ^ k[1], p & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return x


def random_bits() -> Iterator[Module]:
    """rng_bit_generator with the numbers that XLA gives; rng within its bounds; map; tokens."""
    module = Module()
    state = np.array([0x0123456789ABCDEF, 0xFFFFFFFFFFFFFFFE], np.uint64)
    s = module.constant(state, UI64)
    key, start = (int(state[0]) & MASK, int(state[0]) >> 32), int(state[1])

    def generate(algorithm: str, shape: tuple[int, ...], element: Any) -> tuple[str, str]:
        name = module.name()
        module.lines.append(f"{name}:2 = stablehlo.rng_bit_generator {s}, algorithm = {algorithm} : "
                            f"({t(2, element='ui64')}) -> ({t(2, element='ui64')}, {tensor_type(shape, element.name)})")
        return f"{name}#0", f"{name}#1"

    # Neighbours along the first even dim share a block.
    words = np.zeros((3, 4), np.uint32)
    for i, j in itertools.product(range(3), range(4)):
        counter = (start + i * 2 + j // 2) & (2**64 - 1)
        words[i, j] = three_fry(key, (counter & MASK, counter >> 32))[j % 2]
    after, bits = generate("THREE_FRY", (3, 4), UI32)
    module.expect(bits, words, UI32)
    module.expect(after, np.array([state[0], (start + 6) % 2**64], np.uint64), UI64)
    # The state's first word is the upper half of Philox' counter.
    wide = start | int(state[0]) << 64
    words = np.array([philox(key, (wide + e // 4) % 2**128)[e % 4] for e in range(10)], np.uint32).reshape(2, 5)
    after, bits = generate("PHILOX", (2, 5), UI32)
    module.expect(bits, words, UI32)
    module.expect(after, np.array([state[0], (start + 3) % 2**64], np.uint64), UI64)
    _, bits = generate("DEFAULT", (3,), UI64)
    blocks = [philox(key, (wide + e // 2) % 2**128) for e in range(3)]
    module.expect(bits, np.array([b[e % 2 * 2] | b[e % 2 * 2 + 1] << 32 for e, b in enumerate(blocks)], np.uint64), UI64)

    low, high = module.constant(np.float32(-2).reshape(()), F32), module.constant(np.float32(3).reshape(()), F32)
    shape = module.op("stablehlo.constant dense<[40, 5]> : tensor<2xi64>")
    drawn = module.op(f"stablehlo.rng {low}, {high}, {shape}, distribution = UNIFORM : "
                      f"({t()}, {t()}, tensor<2xi64>) -> {t(40, 5)}")
    clamped = module.op(f"stablehlo.clamp {low}, {drawn}, {high} : ({t()}, {t(40, 5)}, {t()}) -> {t(40, 5)}")
    module.lines.append(f"check.expect_eq {drawn}, {clamped} : {t(40, 5)}")
    x = whole(3, 4)
    a = module.constant(x, F32)
    got = module.op(f'"stablehlo.map"({a}, {a}) <{{dimensions = array<i64: 0, 1>}}> ({{^bb0(%p: {t()}, %q: {t()}): '
                    f"%c = stablehlo.constant dense<2.0> : {t()} %m = stablehlo.multiply %p, %c : {t()} "
                    f"%r = stablehlo.add %m, %q : {t()} stablehlo.return %r : {t()} }}) : "
                    f"({t(3, 4)}, {t(3, 4)}) -> {t(3, 4)}")
    module.expect(got, 3 * x, F32)
    module.lines.append("%token = stablehlo.create_token : !stablehlo.token")
    module.lines.append("%later = stablehlo.after_all %token, %token : !stablehlo.token")
    size = module.op(f"stablehlo.get_dimension_size {a}, dim = 1 : ({t(3, 4)}) -> tensor<i32>")
    module.expect(size, np.int32(4).reshape(()), I32)
    got = module.op(f"stablehlo.set_dimension_size {a}, {size}, dim = 1 : ({t(3, 4)}, tensor<i32>) -> {t(3, 4)}")
    module.expect(got, x, F32)
    got = module.op(f"stablehlo.reduce_precision {a}, format = e5m2 : {t(3, 4)}")
    module.expect(got, x, F32)
    yield module


PARTS = (convolutions, windows, scatters, orders, control, empties, powers_of_zero, powers_of_limits, normalisation,
         random_bits)


def main() -> None:
    """``corners.py FILE [PART...]``."""
    chosen = [part for part in PARTS if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]]
    modules = [f"// {part.__name__}\n{module.text()}" for part in chosen for module in part()]
    Path(sys.argv[1]).write_text("// -----\n".join(modules))


if __name__ == "__main__":
    main()

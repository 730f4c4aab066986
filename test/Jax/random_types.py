"""Kinds of ops for random_programs.py of other types than f64, of several keys, of ragged and masked values."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from random_kinds import JUMP, REAL, Draw, Function, kind

WHOLE = 4
"""Of small floats only a few whole numbers are taken, which each type has: sums and products of them round nowhere."""


def whole(x: jax.Array, most: int = WHOLE) -> jax.Array:
    return jnp.clip(jnp.floor(WHOLE * x - JUMP), -most, most - 1)


@kind()
def small_floats(draw: Draw, shape: Sequence[int]) -> Function:
    dtype = draw.choice([jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e5m2fnuz, jnp.float8_e4m3fnuz, jnp.float8_e3m4, jnp.bfloat16, jnp.float16])
    dim = draw.dim(shape)
    apply: Function = draw.choice([
        lambda x: jnp.sort(x, dim), lambda x: jnp.max(x, dim), lambda x: x * (x > 0), lambda x: jnp.where(x < 1, -x, x), lambda x: x[::-1],
        lambda x: jnp.concatenate([x, x], dim), lambda x: jnp.argmax(x, dim), lambda x: jnp.sign(x), lambda x: jnp.abs(x), lambda x: x.T,
        lambda x: lax.bitcast_convert_type(x, jnp.uint8 if x.dtype.itemsize == 1 else jnp.uint16), lambda x: jnp.take(x, np.array([0, -1]), dim),
        lambda x: jnp.pad(x, 1), lambda x: x.at[0].set(1), lambda x: lax.cummax(x, dim), lambda x: jnp.isnan(x), lambda x: x == x[:1],
    ])  # fmt: skip
    return lambda x: apply(whole(x).astype(dtype)).astype(REAL) / 100


@kind()
def small_integers(draw: Draw, shape: Sequence[int]) -> Function:
    dtype = draw.choice([jnp.int4, jnp.uint4, jnp.int8, jnp.uint8, jnp.int16, jnp.uint16, jnp.bool_, jnp.uint64])
    dim = draw.dim(shape)
    apply: Function = draw.choice([
        lambda x: x + x, lambda x: jnp.sort(x, dim), lambda x: jnp.max(x, dim), lambda x: jnp.sum(x, dim), lambda x: x[::-1], lambda x: x * x,
        lambda x: jnp.concatenate([x, x], dim), lambda x: x.at[0].set(x[-1]), lambda x: jnp.where(x > 0, x, 1), lambda x: ~x, lambda x: x.T,
        lambda x: lax.cummax(x.astype(jnp.int8), dim), lambda x: jnp.take(x, np.array([0, -1]), dim), lambda x: jnp.pad(x, 1), lambda x: x & x[:1],
        lambda x: lax.reduce_and(x, (dim,)), lambda x: lax.reduce_xor(x, (dim,)), lambda x: jnp.argmin(x, dim), lambda x: x.at[:1].add(x[-1:]),
        lambda x: jnp.roll(x, 1, dim), lambda x: lax.scan(lambda s, row: (s ^ row, s), x[0], x)[1],
    ])  # fmt: skip
    return lambda x: apply((whole(x) + (WHOLE if dtype in (jnp.uint4, jnp.uint8, jnp.uint16, jnp.uint64) else 0)).astype(dtype)).astype(REAL) / 100


@kind()
def bits(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    thirds = lambda x: jnp.round(3 * x - JUMP).astype(jnp.float32)
    return draw.choice([
        lambda x: lax.bitcast_convert_type(thirds(x), jnp.int32).astype(REAL) / 2.0**31, lambda x: lax.bitcast_convert_type(thirds(x), jnp.uint8).astype(REAL) / 256,
        lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(thirds(x), jnp.int16), jnp.float32).astype(REAL) / 3,
        lambda x: lax.reduce_precision(x, 8, 3), lambda x: jnp.unpackbits(jnp.abs(thirds(x)).astype(jnp.uint8), dim), lambda x: jnp.packbits(x > JUMP, dim) / 256,
        lambda x: jnp.left_shift(thirds(x).astype(jnp.int8), 3) / 100, lambda x: jnp.right_shift(thirds(x).astype(jnp.int32), 1) / 10,
        lambda x: lax.shift_right_logical(thirds(x).astype(jnp.int16), jnp.int16(3)) / 2.0**16,
        lambda x: lax.clz(thirds(x).astype(jnp.int32)) / 32,
        lambda x: jnp.signbit(x - JUMP), lambda x: jnp.frexp(thirds(x))[1] / 10, lambda x: jnp.ldexp(x, thirds(x).astype(int)),
    ])  # fmt: skip


@kind(values=2, least=2)
def small_products(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function:
    """Products of whole numbers in short types, added up in a longer one."""
    depth = min(one[-1], other[0])
    dtype, into = draw.choice([
        (jnp.int8, jnp.int32), (jnp.uint8, jnp.int32), (jnp.int8, jnp.int64), (jnp.bfloat16, jnp.float32), (jnp.float16, jnp.float32),
        (jnp.float8_e4m3fn, jnp.float32), (jnp.float8_e5m2, jnp.float32), (jnp.float32, jnp.float32), (jnp.int32, jnp.int32), (jnp.bfloat16, jnp.bfloat16), (jnp.bool_, jnp.bool_),
    ])  # fmt: skip
    batched = draw.chance(0.4)

    def multiply(x: jax.Array, y: jax.Array) -> jax.Array:
        left, right = whole(x[..., :depth]), whole(y[:depth].reshape(depth, -1))
        if dtype == jnp.uint8:
            left, right = left + WHOLE, right + WHOLE
        left, right = left.astype(dtype), right.astype(dtype)
        if batched:
            rows = left.reshape(-1, depth)
            return jnp.einsum("id,dj->ji", rows[:7], right[:, :9], preferred_element_type=into).astype(REAL) / 50
        return jnp.matmul(left, right, preferred_element_type=into).astype(REAL) / 50

    return multiply


@kind(least=2)
def of_several_keys(draw: Draw, shape: Sequence[int]) -> Function:
    dim, keys, stable = draw.dim(shape), draw.randint(1, 2), draw.chance(0.7)
    coarse, at = lambda x: jnp.floor(2 * x - JUMP), draw.randrange(3)
    place = lambda x: lax.broadcasted_iota(jnp.int32, x.shape, dim)
    descends = draw.chance(0.5)
    ordered = lambda x: lax.sort((coarse(x), x, place(x)), dimension=dim, is_stable=stable, num_keys=2 if not stable else keys)
    return draw.choice([
        lambda x: ordered(x)[at].astype(REAL) / 9, lambda x: jnp.lexsort((x[0].ravel(), coarse(x[0].ravel()))) / 9,
        lambda x: jnp.argsort(coarse(x), dim, descending=descends) / 9, lambda x: jnp.sort(coarse(x).astype(jnp.int8), dim, descending=descends) / 9,
        lambda x: lax.sort((coarse(x).astype(jnp.uint8), x.astype(jnp.bfloat16) * 0, x), dimension=dim, num_keys=1)[2],
        lambda x: jnp.partition(x, shape[dim] // 2, dim).sum(dim), lambda x: lax.top_k(coarse(x), shape[-1])[1] / 9,
        lambda x: jnp.unique(coarse(x), return_inverse=True, size=5, fill_value=0.0)[1] / 5, lambda x: jax.scipy.stats.rankdata(coarse(x), axis=dim) / 9,
        lambda x: jnp.argpartition(x, 0, dim)[:1] / 9, lambda x: lax.approx_max_k(x, 1)[0],
    ])  # fmt: skip


@kind(least=2)
def segments_of_any(draw: Draw, shape: Sequence[int]) -> Function:
    count, is_sorted = draw.randint(1, 7), draw.chance(0.4)
    at = draw.some(shape[0], -1, count)
    at = np.array(sorted(at) if is_sorted else at, draw.choice([np.int32, np.int64, np.uint8, np.int16]) if min(at) >= 0 else np.int32)
    reduce = draw.choice([jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_max, jax.ops.segment_min])
    finite = lambda x: jnp.nan_to_num(x, posinf=2.0, neginf=-2.0)
    softmax = lambda x: jnp.exp(x - finite(jax.ops.segment_max(x, at, count))[at]) / (1 + jax.ops.segment_sum(jnp.exp(x), at, count)[at])
    return draw.choice([
        lambda x: finite(reduce(x, at, count, indices_are_sorted=is_sorted)), lambda x: finite(jax.vmap(lambda row: reduce(row, at, count), 1, 1)(x)), softmax,
        lambda x: finite(reduce(x, at + (x.sum() > JUMP), count)), lambda x: x[jnp.argsort(at)] - jax.ops.segment_sum(x, at, count)[at],
    ])  # fmt: skip


@kind(values=2, least=2)
def ragged_products(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function:
    depth, groups, rows = min(one[-1], other[0]), draw.randint(1, 4), int(np.prod(one[:-1]))
    ends = sorted(draw.some(groups - 1, 0, rows))
    sizes = np.diff([0, *ends, rows if draw.chance(0.7) else max([*ends, rows // 2])]).astype(np.int32)

    def multiply(x: jax.Array, y: jax.Array) -> jax.Array:
        right = y[:depth].reshape(depth, -1)[:, :6]
        weights = jnp.stack([jnp.roll(right, at, 0) for at in range(groups)])
        return lax.ragged_dot(x[..., :depth].reshape(rows, depth), weights, jnp.asarray(sizes))

    return multiply


@kind(least=2)
def masked(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    lengths = np.array(draw.some(shape[0], 0, shape[1]))
    mask = (np.arange(shape[1])[None] < lengths[:, None]).reshape(*shape[:2], *[1] * (len(shape) - 2))
    full = lambda x: jnp.broadcast_to(mask, x.shape)
    return draw.choice([
        lambda x: jnp.sum(x, dim, where=full(x)), lambda x: jnp.max(x, dim, where=full(x), initial=-0.5), lambda x: jnp.nan_to_num(jnp.mean(x, dim, where=full(x))),
        lambda x: jax.nn.softmax(x, dim, where=full(x)), lambda x: jnp.where(full(x), x, -jnp.inf).max(dim, initial=-1), lambda x: jnp.nan_to_num(jax.nn.logsumexp(x, dim, where=full(x)), neginf=0),
        lambda x: jnp.nan_to_num(jnp.nanmean(jnp.where(full(x), x, jnp.nan), dim)), lambda x: x.at[jnp.nonzero(full(x), size=5, fill_value=0)].multiply(1.0),
        lambda x: jnp.cumsum(x * full(x), dim), lambda x: jnp.flip(jnp.where(full(x), x, 0), 0), lambda x: jnp.nan_to_num(jnp.nanmedian(jnp.where(full(x), x, jnp.nan), dim)),
        lambda x: jnp.place(x, np.broadcast_to(mask, x.shape), np.array([0.1, 0.2]), inplace=False), lambda x: jnp.var(x, dim, where=full(x) | (x > 9), mean=0.1),
    ])  # fmt: skip


@kind(least=2)
def windows_of_any(draw: Draw, shape: Sequence[int]) -> Function | None:
    window, strides = [draw.randint(1, min(3, extent)) for extent in shape], draw.some(len(shape), 1, 2)
    gaps, steps = draw.some(len(shape), 1, 2), draw.some(len(shape), 1, 2)
    around = [(draw.randint(0, 2), draw.randint(0, 2)) for _ in shape]
    if any((size - 1) * step + 1 > (extent - 1) * gap + 1 for size, step, extent, gap in zip(window, steps, shape, gaps)):
        return None
    start, reduce = draw.choice([(-jnp.inf, lax.max), (jnp.inf, lax.min), (0.0, lax.add), (1.0, lax.mul)])
    return draw.choice([
        lambda x: jnp.clip(lax.reduce_window(x, jnp.array(start), reduce, window, strides, around, gaps, steps), -2, 2),
        lambda x: lax.reduce_window((x, x), (jnp.array(0.0), jnp.array(-jnp.inf)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), window, strides, "SAME")[1],
    ])  # fmt: skip


@kind(least=2)
def images(draw: Draw, shape: Sequence[int]) -> Function:
    to, method, anti = [draw.randint(1, 14) for _ in shape[-2:]], draw.choice(["nearest", "linear", "cubic", "lanczos3", "lanczos5"]), draw.chance(0.6)
    image = lambda x: x.reshape(-1, *x.shape[-2:])[0]
    return draw.choice([
        lambda x: jax.image.resize(x, (*x.shape[:-2], *to), method, antialias=anti), lambda x: jax.image.scale_and_translate(image(x), to, (0, 1), jnp.array([1.3, 0.8]), jnp.array([0.2, -0.4]), "linear"),
        lambda x: jax.scipy.ndimage.map_coordinates(image(x), [jnp.linspace(-1.03, 3.02, 7), jnp.linspace(0.01, 1.53, 7)], 1, mode="nearest"),
        lambda x: jax.image.resize(x, (x.shape[0], *[2] * (x.ndim - 1)), "bilinear"),
    ])  # fmt: skip

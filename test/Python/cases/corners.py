"""Where numbers end: what is not a number, infinite, equal, too large, too narrow or not there; all along cut dims."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, given, integers, program

SPECIAL = np.where(np.arange(63).reshape(9, 7) % 5 == 3, np.nan, np.where(np.arange(63).reshape(9, 7) % 7 == 2, np.inf, np.arange(63).reshape(9, 7) % 11 - 5.0))


@program([given(P("x", "y"), SPECIAL), given(P("x", "y"), np.where(np.isnan(SPECIAL), -np.inf, SPECIAL))])
def extremes_of_what_is_no_number(a, b):
    """Largest, smallest and their places, along cut dims, with NaN and both infinities."""
    both = []
    for x in (a, b):
        for axis in (0, 1, None):
            both += [x.max(axis), x.min(axis), jnp.argmax(x, axis), jnp.argmin(x, axis), jnp.nanmax(x, axis), jnp.nanargmin(x, axis)]
    return both


@program([given(P("x", "y"), SPECIAL), given(P("y"), [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1.0])])
def sorts_of_what_is_no_number(a, signs):
    """Sorts, ranks and searches with NaN, infinities, zeros of both signs and subnormals."""
    return (jnp.sort(a, 0), jnp.argsort(a, 1), lax.top_k(jnp.nan_to_num(a, nan=-jnp.inf), 3), jnp.sort(signs), jnp.argsort(signs),
            jnp.signbit(jnp.sort(signs)), lax.sort((a, jnp.cos(a)), dimension=0), jnp.searchsorted(jnp.sort(signs), a[:, 0]))


@program([given(P("x", "y"), SPECIAL)])
def sums_of_what_is_no_number(a):
    """Sums, products, running ones, windows, soft maxima, variances and clips with NaN and infinities."""
    window = lax.reduce_window(a, -jnp.inf, lax.max, (3, 1), (2, 1), ((1, 1), (0, 0)))
    return (a.sum(0), a.prod(1), jnp.cumsum(a, 0), lax.cummax(a, 0), lax.cummin(a, 1), jax.nn.softmax(a, 0), jax.nn.logsumexp(a, 1),
            jnp.nansum(a, 0), jnp.nanmean(a, 1), jnp.nanvar(a, 0), jnp.clip(a, -2, 3), window, jnp.maximum(a, a[::-1]), jnp.isinf(a).sum())


@program([integers(P("x", "y"), 0, 3, 11, 9), integers(P("x"), 0, 2, 11)])
def places_of_equals(a, flags):
    """Of equal entries the first counts: places of extremes, sorts that keep order, the largest, unique ones, booleans."""
    return (jnp.argmax(a, 0), jnp.argmin(a, 1), jnp.argmax(a), jnp.argsort(a, 0), lax.top_k(a, 4), jnp.argmax(flags > 0), jnp.any(a > 1, 0),
            jnp.all(a > 0, 1), jnp.argsort(flags, descending=True), jnp.unique(a, size=3), jnp.sort(flags > 0), jnp.cumsum(flags > 0))


@program([integers(P("x", "y"), -(2**31), 2**31 - 1, 9, 8, dtype=np.int32), integers(P("x"), -128, 127, 9, 8, dtype=np.int8),
          integers(P("y"), 0, 2**32 - 1, 8, dtype=np.uint32)])
def integers_that_wrap(a, b, c):
    """Sums, products, negations, powers and shifts beyond the width; division by zero and of the least by minus one."""
    least = jnp.int32(-(2**31))
    quotients = lax.div(a, jnp.where(a % 3 == 0, 0, a % 3)), lax.rem(a, jnp.where(a % 2 == 0, 0, 7)), lax.div(jnp.full_like(a, least), jnp.int32(-1))
    return (a.sum(0), a * a, a @ a.T, -a, jnp.abs(jnp.full_like(a, least)), b + b, b * b, b.sum(0, dtype=jnp.int8), c * c, c.sum(), jnp.cumsum(c),
            quotients, lax.shift_left(a, jnp.int32(33)), lax.shift_right_arithmetic(a, jnp.int32(40)), jnp.left_shift(c, c % 40), c - c[::-1])


@program([floats(P("x", "y"), 9, 8, scale=300), integers(P("x"), -20, 20, 9, 8), given(P("y"), [np.nan, np.inf, -np.inf, 3e9, -3e9, 0.5, -0.5, 448.0])])
def casts(a, b, extreme):
    """To integers of four, eight and more bits, to floats of eight bits, and back; out of range and not a number."""
    eights = [a.astype(kind).astype(jnp.float32) for kind in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e4m3)]
    fours = jnp.clip(b, -8, 7).astype(jnp.int4).astype(jnp.int32), (b % 16).astype(jnp.uint4).astype(jnp.int32)
    ends = extreme.astype(jnp.int32), extreme.astype(jnp.uint8), extreme.astype(jnp.int8), extreme.astype(bool)
    return eights, fours, ends, a.astype(jnp.float16), a.astype(jnp.bfloat16), extreme.astype(jnp.float8_e5m2).astype(jnp.float32), a.astype(jnp.uint8)


@program([floats(P("x"), 7, 0), floats(P(None, "x"), 0, 5), floats(P("x"), 7, 5)], gradient=("a", "b"))
def of_no_elements(a, b, c):
    """Products over nothing, sums and concatenations of nothing, gathers of no rows, sorts of no entries."""
    none = jnp.zeros(0, jnp.int32)
    return (a @ b + c, a.sum(1), b.prod(0), jnp.concatenate([a, c], 1), c[none], c.at[none].add(b), jnp.sort(a, 1), jnp.cumsum(b, 0),
            jnp.pad(a, ((0, 0), (1, 2))), c[:, 5:], jnp.stack([a, a]), a.reshape(0, 7), jax.nn.softmax(c[:, :0]))


@program([given(P("x", "y"), SPECIAL), given(P("x"), np.arange(9.0) - 4)], gradient=("b",))
def gradients_beside_what_is_no_number(a, b):
    """Gradients of masked roots, logarithms and quotients where the other branch is not a number; ties share."""
    is_fine = jnp.isfinite(a)
    safe = jnp.where(is_fine, a, 1.0) * b[:, None]
    root = jnp.where(safe > 0, jnp.sqrt(jnp.where(safe > 0, safe, 1.0)), 0.0)
    return root, jnp.where(safe > 0, jnp.log(jnp.where(safe > 0, safe, 1)), 0), jnp.maximum(b, 0.0), b.max(), jnp.abs(b), jnp.maximum(b, b[::-1]), (b**2).min()


@program([given(P("x", "y"), np.logspace(-37, 38, 72).reshape(9, 8)), given(P("y"), [1e-30, 1e30, 2e-38, 3e38, -2e-38, 0.0, -0.0, 1.0])])
def very_small_and_large(a, b):
    """Products and quotients at the ends of the range, powers, hyperbolic functions and roots. XLA knows no subnormals on CPUs."""
    return a * b, b / a[:, ::-1], jnp.sqrt(a), jnp.log(a), jnp.expm1(b), jnp.tanh(b), jnp.hypot(a, a[::-1]), jnp.exp2(jnp.log2(a)), jnp.cbrt(a), b**3, jnp.nextafter(a, b)


@program([integers(P("x", "y"), 0, 2, 10, 6), integers(P("x"), -4, 14, 10), floats(P("x", "y"), 10, 6)])
def booleans_and_clamped_places(flags, places, a):
    """Logical sums along cut dims, exclusive ors, and rows at places outside in each mode."""
    bits = flags > 0
    parity = lax.reduce(bits, False, lax.bitwise_xor, (0,))
    rows = a.at[places].get(mode="clip"), a.at[places].get(mode="fill", fill_value=jnp.nan), a[places], a.take(places, 0, mode="wrap")
    blocks = [lax.dynamic_slice(a, (start, start), (4, 3)) for start in (-3, 2, 8)]
    return parity, bits.any(1), bits.all(0), bits.sum(0), jnp.packbits(bits, axis=1), rows, blocks, lax.dynamic_update_slice(a, a[:4, :3] * 2, (8, 5))

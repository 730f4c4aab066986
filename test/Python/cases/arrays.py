"""What ``jnp`` does with arrays: indices, sorts, padding, windows, random bits, small and complex numbers; all cut."""

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, given, integers, program


@program([floats(P("x"), 29, 3), integers(P("x"), 0, 9, 29), floats(P("y"), 9)], gradient=("values",))
def segments(values, segment, weights):
    """Sums, extremes, products, means and a softmax of segments."""
    total = jax.ops.segment_sum(values, segment, 9)
    most = jax.ops.segment_max(values, segment, 9)
    least = jax.ops.segment_min(values, segment, 9)
    product = jax.ops.segment_prod(lax.stop_gradient(values), segment, 9)
    count = jax.ops.segment_sum(jnp.ones_like(values[:, 0]), segment, 9)
    grown = jnp.exp(values - most[segment])
    chance = grown / jax.ops.segment_sum(grown, segment, 9)[segment]
    most, least = (jnp.where(jnp.isfinite(extreme), extreme, 0) for extreme in (most, least))
    return total * weights[:, None], most, least, product, total / jnp.maximum(count, 1)[:, None], chance


@program([floats(P("x"), 29, 3), integers(P("x"), 0, 9, 29)])
def segments_in_order(values, segment):
    """Segments that are sorted, that are too many, and that lie outside."""
    order = jnp.argsort(segment)
    in_order = jax.ops.segment_sum(values[order], segment[order], 9, indices_are_sorted=True)
    return in_order, jax.ops.segment_sum(values, segment, 5), jax.ops.segment_sum(values, segment - 3, 9)


@program([floats(P("x", "y"), 13, 16), floats(P("y", "z"), 16, 10)], rtol=1e-2, atol=2e-2)
def quantised_product(x, w):
    """A product of eight-bit integers with scales by row and column; the sum over a cut dim is exact."""
    scale_x = jnp.abs(x).max(1, keepdims=True) / 127
    scale_w = jnp.abs(w).max(0, keepdims=True) / 127
    small_x = jnp.clip(jnp.round(x / scale_x), -128, 127).astype(jnp.int8)
    small_w = jnp.round(w / scale_w).astype(jnp.int8)
    product = lax.dot_general(small_x, small_w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return product.astype(jnp.float32) * scale_x * scale_w, product.sum(0), small_x


@program([integers(P("x", "y"), -128, 128, 9, 9, dtype=np.int8), integers(P("x"), 0, 255, 9, dtype=np.uint8),
          integers(P(None, "y"), -30000, 30000, 9, 4, dtype=np.int16)])
def small_integers(a, b, c):
    """Integers of 8 and 16 bits: products and sums that wrap, shifts, counts of bits, division and remainder."""
    wrapped = a @ a, a.sum(0), b[:, None] + b, a.astype(jnp.int32).cumsum(0)
    bits = (a.astype(jnp.int32) << 3) ^ 5, lax.population_count(b), lax.clz(c), jnp.bitwise_count(c.astype(jnp.uint16))
    return wrapped, bits, c // 7, c % -5, lax.shift_right_logical(a, jnp.int8(2)), jnp.right_shift(a, 2)


@program([floats(P("x", "y"), 16, 5)], gradient=("x",))
def sorting_network(x):
    """A bitonic network of gathers with static indices."""
    place = jnp.arange(16)
    for block in (2, 4, 8, 16):
        step = block // 2
        while step:
            partner = place ^ step
            is_least = ((place & block) == 0) == (place < partner)
            x = jnp.where(is_least[:, None], jnp.minimum(x, x[partner]), jnp.maximum(x, x[partner]))
            step //= 2
    return x


@program([integers(P("x"), 0, 12, 31), floats(P("x"), 31), floats(P("y"), 9)])
def sets_and_histograms(a, b, c):
    """Unique values, histograms, searches, quantiles, sets, interpolation and convolution in one dim."""
    edges = jnp.sort(c)
    unique = jnp.unique(a, return_index=True, return_inverse=True, return_counts=True, size=10, fill_value=-1)
    counts = jnp.histogram(b, 7)[0], jnp.histogram(b, edges)[0], jnp.bincount(a, b, length=9)
    found = jnp.searchsorted(edges, b), jnp.digitize(b, edges), jnp.nonzero(a > 5, size=20)[0]
    parts = jnp.percentile(b, jnp.array([10.0, 50, 83])), jnp.median(b), jnp.quantile(b, 0.3, method="nearest")
    sets = jnp.isin(a, jnp.array([1, 3, 5])), jnp.setdiff1d(a, jnp.arange(4), size=8)
    return unique, counts, found, parts, sets, jnp.interp(b, edges, c), jnp.convolve(b, c), jnp.correlate(b, c, "same")


@program([floats(P("x", "y"), 13, 7), floats(P("x"), 13, 7)])
def sorts(a, b):
    """Sorts along cut dims, by two keys, by columns, the largest, and without what is not a number."""
    by_two = lax.sort((a, b), dimension=1, num_keys=2)
    by_columns = jnp.lexsort((a[:, 0], jnp.round(b[:, 1])))
    without = jnp.nanargmax(jnp.where(a > 1, jnp.nan, a), 0), jnp.nanmedian(jnp.where(b > 1, jnp.nan, b), 0)
    largest = lax.top_k(a.T, 4), lax.approx_max_k(b[0], 2), jnp.partition(a, 3, 0)[3]
    return jnp.sort(a, 0), jnp.argsort(a, 0), by_two, by_columns, largest, jnp.sort(a, 1, descending=True), jnp.flip(a), without


@program([floats(P("x", "y"), 6, 9, dtype=np.complex64), floats(P("y", "z"), 9, 8, scale=0.3, dtype=np.complex64),
          floats(P("z"), 8, dtype=np.complex64), floats(P("z"), 8, 4, scale=0.3, dtype=np.complex64)], rtol=3e-3, atol=2e-3)
def complex_layers(x, w, b, v):
    """A network of complex numbers whose activation keeps the angle; sums over two cut dims."""
    hidden = x @ w + b
    hidden = jnp.maximum(jnp.abs(hidden) - 0.2, 0) * hidden / (jnp.abs(hidden) + 1e-3)
    out = jnp.tanh(hidden) @ v
    return out, jnp.conj(out).T @ out, jnp.angle(out), jnp.linalg.norm(out), jnp.exp(1j * out.real), jnp.cumprod(hidden, 0)[-1]


@program([floats(P("x", "y"), 6, 9, dtype=np.complex64), floats(P("y", "z"), 9, 8, scale=0.3, dtype=np.complex64),
          floats(P("z"), 8, 4, scale=0.3, dtype=np.complex64)], rtol=3e-3, atol=2e-3)
def complex_gradients(x, w, v):
    """Gradients by complex weights of a real loss."""

    def loss(w, v):
        out = jnp.sin(x @ w) @ v
        return jnp.sum(jnp.abs(out) ** 2) + jnp.sum(jnp.fft.fft(out, axis=0).real)

    return jax.value_and_grad(loss, (0, 1))(w, v)


@program([floats(P("x", "y"), 12, 10), given(P(), [1, 7], np.uint32)])
def draws(x, key):
    """Dropout, normals, permutations, categories, choices, and distributions that reject."""
    a, b, c = jax.random.split(key, 3)
    kept = jnp.where(jax.random.bernoulli(a, 0.7, x.shape), x / 0.7, 0)
    normal = jax.random.normal(b, x.shape), jax.random.gumbel(b, (5,)), jax.random.truncated_normal(c, -1, 1, (7,))
    picked = jax.random.permutation(c, x), jax.random.categorical(a, x), jax.random.choice(a, 20, (6,), replace=False)
    rejecting = jax.random.gamma(c, 2.0, (4,)), jax.random.poisson(a, 3.0, (6,)), jax.random.dirichlet(b, jnp.ones(3))
    return kept, normal, picked, jax.random.randint(b, (9,), 0, 100), rejecting


@program([floats(P("x", "y"), 8, 6), given(P(), [1, 7, 3, 4], np.uint32), given(P(), [1, 7], np.uint64)], x64=True)
def generators(x, philox, threefry):
    """Bits of two generators in three widths, and a key of the faster one."""
    key = jax.random.wrap_key_data(philox, impl="rbg")
    wide = lax.rng_bit_generator(philox, (7, 3), dtype=jnp.uint32)
    wider = lax.rng_bit_generator(threefry, (5,), dtype=jnp.uint64, algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)
    return wide, wider, jax.random.uniform(key, x.shape) + x, lax.rng_bit_generator(philox, (6,), dtype=jnp.uint8)[1]


@program([floats(P("x", "y"), 11, 13), floats(P("z"), 5, 11)], gradient=("a", "b"), rtol=3e-3, atol=2e-3)
def padded(a, b):
    """Padding in every mode, negative and between elements; rolls, differences, and a Kronecker product."""
    modes = [jnp.pad(a, ((2, 3), (1, 2)), mode=mode) for mode in ("reflect", "edge", "wrap", "symmetric")]
    dilated = lax.pad(b, jnp.float32(0), ((1, -2, 1), (-1, 2, 2)))
    return modes, dilated, jnp.roll(a, (3, -4), (0, 1)), jnp.diff(a, 2, axis=0), jnp.gradient(b, axis=1), jnp.kron(a[:3, :2], b[:2])


@program([floats(P("x", "y", "z"), 6, 7, 8, 4)], gradient=("x",), rtol=3e-3, atol=2e-3)
def normalised(x):
    """Group, batch and instance norms, soft maxima and a norm of vectors; three dims are cut."""
    groups = x.reshape(6, 7, 8, 2, 2)
    by_group = jax.nn.standardize(groups, (1, 2, 4), epsilon=1e-5)
    by_batch = jax.nn.standardize(x, (0, 1, 2), epsilon=1e-5)
    length = jnp.linalg.norm(x, axis=2, keepdims=True)
    soft = jax.nn.log_softmax(x, 1), jax.nn.logsumexp(x, (0, 3))
    return by_group.reshape(x.shape) + by_batch, jax.nn.standardize(x, (1, 2)), soft, x / length


@program([floats(P("x", "y"), 7, 9), integers(P("z"), 0, 7, 5), integers(P("x"), -3, 12, 6, 2), floats(P("x"), 6, 9)],
         gradient=("a", "updates"), rtol=3e-3, atol=2e-3)
def updated_by_index(a, index, pairs, updates):
    """Sums, maxima, minima and replacements by index: outside, repeated, along either dim, by pairs."""
    added = a.at[index].add(updates[:5]), a.at[:, index].add(1.0)
    extreme = a.at[pairs[:, 0]].max(updates, mode="drop"), a.at[pairs[:, 0], pairs[:, 1] % 9].min(updates[:, 1], mode="clip")
    block = a.at[2:5].set(jnp.sin(updates[:3]))
    rows = a[pairs[:, 0] % 7, :], a.take(index, 0, mode="wrap"), jnp.take_along_axis(a, jnp.argsort(updates, 0) % 7, 0)
    return added, extreme, block, rows


@program([floats(P("x", "y", "z"), 4, 10, 9, 6), floats(P(), 3, 3, 3, 8, scale=0.3), floats(P(), 1, 5, 1, 8, scale=0.3)],
         gradient=("x", "w", "d"), rtol=3e-3, atol=3e-3)
def windows(x, w, d):
    """Convolutions in groups, strided and dilated, transposed and by channel; sums of windows, resizing, patches."""
    dims = ("NHWC", "HWIO", "NHWC")
    strided = lax.conv_general_dilated(x, w, (2, 1), [(1, 0), (2, 2)], rhs_dilation=(1, 2), dimension_numbers=dims, feature_group_count=2)
    spread = lax.conv_general_dilated(strided, d, (1, 2), [(1, 1), (2, 2)], lhs_dilation=(2, 1), dimension_numbers=dims, feature_group_count=8)
    sums = lax.reduce_window(strided, 0.0, lax.add, (1, 3, 2, 1), (1, 1, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0)))
    patches = lax.conv_general_dilated_patches(x, (3, 2), (1, 1), "VALID", dimension_numbers=dims)
    return jax.nn.silu(spread), sums, jax.image.resize(x, (4, 7, 15, 6), "bicubic"), patches


@program([floats(P(None, "x", "y", "z"), 1, 6, 8, 10, 2), floats(P(), 3, 3, 3, 2, 4, scale=0.2), floats(P(), 3, 3, 3, 1, 4, scale=0.2),
          floats(P(), 2, 2, 2, 4, 4, scale=0.3), floats(P(), 3, 3, 3, 8, 2, scale=0.2)],
         gradient=("volume", "fine", "deep", "grow", "last"), rtol=3e-3, atol=3e-3)
def volume_in_three_cuts(volume, fine, deep, grow, last):
    """A small U-Net on a volume of which all three dims are cut."""
    dims = ("NDHWC", "DHWIO", "NDHWC")
    ones = (1, 1, 1)
    first = jax.nn.gelu(lax.conv_general_dilated(volume, fine, ones, "SAME", rhs_dilation=(2, 1, 2), dimension_numbers=dims))
    low = lax.reduce_window(first, -jnp.inf, lax.max, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1), "VALID")
    low = lax.conv_general_dilated(low, deep, ones, "SAME", dimension_numbers=dims, feature_group_count=4)
    low = jax.nn.relu(jax.nn.standardize(low, (1, 2, 3), epsilon=1e-5))
    up = lax.conv_transpose(low, grow, (2, 2, 2), "SAME", dimension_numbers=dims)
    return lax.conv_general_dilated(jnp.concatenate([first, up], -1), last, ones, "SAME", dimension_numbers=dims)


@program([floats(P("x", "y"), 9, 6), floats(P("x"), 9, 6)], gradient=("a",), types=("float16", "bfloat16"), rtol=8e-2, atol=8e-2)
def narrow_floats(a, b):
    """Attention, sums and maxima in 16 bits, and numbers of 8 bits there and back."""
    chance = jax.nn.softmax(a @ b.T / 4, -1)
    eight = a.astype(jnp.float32).astype(jnp.float8_e4m3fn).astype(jnp.float32)
    return chance @ b, a.sum(0), jnp.cumsum(b, 0), a.max(1), jnp.exp(-jnp.abs(a)), (a * b).mean(), eight


@program([floats(P("x", "y"), 7, 5), floats(P("x"), 7)], gradient=("a",), rtol=3e-3, atol=2e-3)
def special_functions(a, b):
    """Gamma, beta, Bessel and error functions, and functions of two arguments that are cut apart."""
    positive = jnp.abs(a) + 0.3
    chance = jax.nn.sigmoid(a)
    special = jax.scipy.special
    of_gamma = special.gammaln(positive), special.digamma(positive), special.gammainc(positive, positive)
    of_normal = special.erfinv(jnp.tanh(a) * 0.9), special.ndtri(chance), special.log_ndtr(a)
    others = special.i0e(a), special.i1e(a), special.betainc(2.0, 1.5, chance), jnp.sinc(a), special.xlogy(positive, positive)
    column = b[:, None]
    return of_gamma, of_normal, others, jnp.arctan2(a, column), jnp.hypot(a, column), jnp.logaddexp(a, column)

"""Loops, tables, grids and trees whose cut dims are merged, split, turned, strided, rolled or written in place."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, given, integers, program

BOTH = ("float32", "float64")


@program([floats(P("x", "y", "z"), 6, 5, 4), floats(P(("y", "x")), 30, 4)], gradient=("a", "b"))
def merged_and_split(a, b):
    """Cut dims that are merged, split in other ways, turned, stacked between one another, and read as other types."""
    flat = a.reshape(30, 4) + b
    other = flat.reshape(3, 10, 4).transpose(1, 0, 2).reshape(5, 6, 4)
    between = jnp.stack([other, jnp.sin(other)], 2).reshape(5, 12, 4)
    return between[::2, ::-3], jnp.cumsum(other.ravel()), (flat.reshape(2, 60) @ flat.reshape(60, 2)), a.transpose(2, 0, 1).reshape(8, 15)


@program([floats(P("x", "y"), 6, 8), integers(P("x", "y"), 0, 256, 6, 8, dtype=np.uint8)])
def read_as_other_types(a, b):
    """Bits of wide numbers as narrow ones and back, along cut dims; bits packed and unpacked."""
    parts = lax.bitcast_convert_type(a, jnp.uint16)
    return (parts, lax.bitcast_convert_type(parts[..., ::-1], jnp.float32).view(jnp.int32) >> 3, b.reshape(6, 2, 4).view(jnp.uint32),
            jnp.unpackbits(b, axis=1)[:, ::3], jnp.packbits(b > 99, axis=0), a.view(jnp.int32) ^ b)


@program([floats(P("x", "y"), 3, 16, 4), floats(P("x", "y"), 3, 16, 4), floats(P("x"), 3, 4), floats(P(), 4, 12, scale=0.4), integers(P(), 3, 9)],
         rtol=2e-3, atol=1e-3)
def cached_decoding(keys, values, token, mix, start):
    """Steps of a decoder that write into caches whose sequence is cut, at a place known when run, and attend to what is there."""

    def step(state):
        place, keys, values, token, out = state
        query, key, value = jnp.split(token @ mix, 3, -1)
        keys = lax.dynamic_update_slice(keys, key[:, None], (0, place, 0))
        values = lax.dynamic_update_slice(values, value[:, None], (0, place, 0))
        score = jnp.where(jnp.arange(16) <= place, jnp.einsum("bd,bsd->bs", query, keys) / 2, -jnp.inf)
        token = jnp.einsum("bs,bsd->bd", jax.nn.softmax(score), values)
        return place + 1, keys, values, token, out.at[:, place].set(token)

    return lax.while_loop(lambda state: state[0] < 14, step, (start, keys, values, token, jnp.zeros_like(keys)))


@program([floats(P("x", "y"), 7, 7, scale=0.4), floats(P("y"), 7, 5)], gradient=("a", "b"), types=BOTH)
def turned_in_each_step(a, b):
    """A carry that is turned in each step, so that its cuts change places, unrolled by three."""

    def step(state, row):
        state = jnp.tanh(state @ a).T
        return state, state[0] @ state[:, 1] + row.sum()

    return lax.scan(step, a, b.T, unroll=3)


@program([floats(P(None, "x", "y"), 2, 11, 9, 3)], gradient=("x",))
def pools_that_overlap(x):
    """Largest and mean of overlapping, dilated and padded windows over two cut dims; ties and edges in the gradient."""
    largest = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 1, 1), ((0, 0), (1, 2), (0, 1), (0, 0)))
    dilated = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 2, 1), ((0, 0), (2, 2), (1, 3), (0, 0)), window_dilation=(1, 2, 2, 1))
    spread = lax.reduce_window(x, 0.0, lax.add, (1, 2, 3, 1), (1, 3, 1, 1), ((0, 0), (0, 1), (1, 1), (0, 0)), base_dilation=(1, 2, 1, 1))
    least = lax.reduce_window(x, jnp.inf, lax.min, (1, 4, 1, 1), (1, 3, 1, 1), "SAME")
    return largest, dilated, spread, least


@program([floats(P("x", "y"), 9, 9, least=0.1)], types=BOTH)
def shortest_ways(lengths):
    """Floyd and Warshall: each turn reads a row and a column by number; and elimination with pivots in a loop."""

    def shorter(k, d):
        return jnp.minimum(d, d[:, k][:, None] + d[k, :])

    def eliminated(k, m):
        pivot = jnp.argmax(jnp.where(jnp.arange(9) >= k, jnp.abs(m[:, k]), -1))
        m = m.at[jnp.array([k, pivot])].set(m[jnp.array([pivot, k])])
        factor = jnp.where(jnp.arange(9) > k, m[:, k] / m[k, k], 0)
        return m - factor[:, None] * m[k]

    return lax.fori_loop(0, 9, shorter, lengths), jnp.abs(jnp.diag(lax.fori_loop(0, 9, eliminated, lengths + jnp.eye(9, dtype=lengths.dtype))))


@program([floats(P("x", "y"), 5, 12, 7), floats(P(), 7, 7), integers(P("x"), 0, 7, 5, 4)], gradient=("scores", "moves"), rtol=2e-3, atol=1e-3)
def labelled_chains(scores, moves, labels):
    """A conditional random field: the sum over all ways by a scan, the score of one, and the best one read backwards."""

    def step(state, row):
        return jax.nn.logsumexp(state[:, :, None] + moves, 1) + row, state

    last, before = lax.scan(step, scores[:, 0], scores[:, 1:].swapaxes(0, 1))
    mine = jnp.take_along_axis(scores[:, :4], labels[..., None], 2)[..., 0].sum(1) + moves[labels[:, :-1], labels[:, 1:]].sum(1)

    def back(now, state):
        now = jnp.argmax(state + moves[:, now].T, 1)
        return now, now

    return jax.nn.logsumexp(last, 1) - mine, lax.scan(back, jnp.argmax(last, 1), before, reverse=True)[1]


@program([floats(P("x", "y"), 4, 10, 5), integers(P("x"), 1, 5, 4, 3)], gradient=("logits",), rtol=2e-3, atol=1e-3)
def unaligned_labels(logits, labels):
    """Connectionist temporal classification: blanks between labels, and a scan over a cut time."""
    chance = jax.nn.log_softmax(logits)
    states = jnp.zeros((4, 7), jnp.int32).at[:, 1::2].set(labels)
    may_skip = jnp.pad(states[:, 2:] != states[:, :-2], ((0, 0), (2, 0))) & (states != 0)

    def step(state, row):
        one = jnp.pad(state[:, :-1], ((0, 0), (1, 0)), constant_values=-1e9)
        two = jnp.where(may_skip, jnp.pad(state[:, :-2], ((0, 0), (2, 0)), constant_values=-1e9), -1e9)
        state = jax.nn.logsumexp(jnp.stack([state, one, two]), 0) + jnp.take_along_axis(row, states, 1)
        return state, None

    first = jnp.where(jnp.arange(7) < 2, jnp.take_along_axis(chance[:, 0], states, 1), -1e9)
    last = lax.scan(step, first, chance[:, 1:].swapaxes(0, 1))[0]
    return -jnp.logaddexp(last[:, -1], last[:, -2])


@program([floats(P("x", "y"), 8, 11), integers(P(), -9, 9), integers(P(), 0, 6)], gradient=("a",))
def moved_by_what_is_known_late(a, shift, start):
    """Rolls, slices, flips and triangles by numbers that are known when the program runs, along cut dims."""
    rolled = jnp.roll(jnp.roll(a, shift, 1), start, 0)
    part = lax.dynamic_slice(rolled, (start, shift), (3, 7))
    near = jnp.where(jnp.abs(jnp.arange(8)[:, None] - jnp.arange(11)) <= start, a, 0)
    return rolled, part, near, jnp.tril(a[::-1], 2), lax.dynamic_update_slice(a.T, part.T * 2, (shift, start)), a[start]


@program([floats(P("x", "y"), 13, 10)], gradient=("image",))
def lifted_wavelets(image):
    """Three levels of a wavelet by lifting on odd extents: even and odd rows, their differences, and the way back."""

    def split(x):
        even, odd = x[::2], x[1::2]
        detail = odd - (even[: odd.shape[0]] + jnp.roll(even, -1, 0)[: odd.shape[0]]) / 2
        smooth = even.at[: odd.shape[0]].add(detail / 4)
        return smooth, detail

    def joined(smooth, detail):
        even = smooth.at[: detail.shape[0]].add(-detail / 4)
        odd = detail + (even[: detail.shape[0]] + jnp.roll(even, -1, 0)[: detail.shape[0]]) / 2
        whole = jnp.zeros((even.shape[0] + odd.shape[0], *even.shape[1:]), even.dtype)
        return whole.at[::2].set(even).at[1::2].set(odd)

    details, smooth = [], image
    for level in range(3):
        smooth, detail = split(smooth.T if level % 2 else smooth)
        details.append(detail)
    back = smooth
    for level in (2, 1, 0):
        back = joined(back, details[level] * (jnp.abs(details[level]) > 0.3))
        back = back.T if level % 2 else back
    return smooth, details, back


@program([floats(P("x", "y"), 12, 14)])
def connected_parts(image):
    """Labels spread over neighbours until none changes, in a while loop; sizes of parts; distances by sweeps."""
    is_set = image > -0.3
    names = jnp.where(is_set, jnp.arange(1, 169).reshape(12, 14), 0)

    def spread(state):
        old, _, turns = state
        padded = jnp.pad(old, 1)
        most = jnp.maximum(jnp.maximum(padded[:-2, 1:-1], padded[2:, 1:-1]), jnp.maximum(padded[1:-1, :-2], padded[1:-1, 2:]))
        new = jnp.where(is_set, jnp.maximum(old, most), 0)
        return new, jnp.any(new != old), turns + 1

    names, _, turns = lax.while_loop(lambda state: state[1], spread, (names, jnp.bool_(True), 0))
    sizes = jnp.zeros(169, jnp.int32).at[names.ravel()].add(1)
    return names, turns, sizes[names], jnp.bincount(sizes, length=20)


@program([floats(P("x", "y"), 4, 13, 6), floats(P(None, None, "z"), 2, 6, 8, scale=0.4), floats(P(None, "z"), 2, 4, 6, scale=0.4)],
         gradient=("sound", "filters", "out"), rtol=2e-3, atol=1e-3)
def causal_dilated_convolutions(sound, filters, out):
    """Gated causal convolutions in time with growing dilation; time and channels are cut."""
    for level in range(3):
        dilation = 2**level
        padded = jnp.pad(sound, ((0, 0), (dilation, 0), (0, 0)))
        both = lax.conv_general_dilated(padded, filters, (1,), "VALID", rhs_dilation=(dilation,), dimension_numbers=("NWC", "WIO", "NWC"))
        sound = sound + jnp.tanh(both[..., :4]) * jax.nn.sigmoid(both[..., 4:]) @ out[level % 2]
    return sound


@program([floats(P("x", "y", "z"), 5, 7, 6, 3), floats(P("z"), 4, 4, 3, 6, scale=0.2)], gradient=("x", "w"), rtol=2e-3, atol=1e-3)
def transposed_by_three(x, w):
    """Transposed convolutions of stride three and two with kernels of even size, cropped; a kernel turned around."""
    dims = ("NHWC", "HWIO", "NHWC")
    grown = lax.conv_transpose(x, w, (3, 2), "SAME", dimension_numbers=dims)
    valid = lax.conv_transpose(x, w[:3, :2], (2, 3), "VALID", dimension_numbers=dims)
    return grown[:, 1:-1, ::2], valid, lax.conv_general_dilated(grown[..., :3], w[::-1], (3, 2), [(-1, 2), (3, -1)], dimension_numbers=dims)


@program([floats(P("x"), 4, 3, 5), integers(P("x"), 0, 9, 4, 6), floats(P("y", "z"), 9, 5), integers(P(None, "y"), 0, 3, 4, 6)],
         gradient=("rows", "table"))
def batched_tables(rows, index, table, kind):
    """Tables by two indices of a batch, sums into a batch's own rows, functions at indices, and bags of rows."""
    picked = table[index] * jnp.take_along_axis(rows, kind[..., None], 1)
    summed = jax.vmap(lambda one, k, new: one.at[k].add(new))(rows, kind, picked)
    applied = lax.stop_gradient(table).at[index[0]].apply(jnp.sin)
    bags = jax.vmap(lambda k, new: jax.ops.segment_sum(new, k, 3))(kind, picked)
    return summed, applied, bags, jax.vmap(lambda one, k: one.at[k, k].multiply(2.0, unique_indices=True))(rows[:, :, :3], kind[:, :1])


@program([floats(P("x", "y"), 8, 7), floats(P("y", "z"), 7, 6), floats(P("z", "x"), 6, 8)], gradient=("a", "b", "c"), rtol=2e-3, atol=1e-3)
def cyclic_products(a, b, c):
    """Products whose operands are cut along axes in a cycle; traces, diagonals, and sums with repeated letters."""
    ring = jnp.einsum("ij,jk,ki->", a, b, c)
    square = a @ b @ c
    outer = jnp.einsum("ij,jk->ikj", a, b)
    return ring, jnp.trace(square, 1), jnp.diagonal(square, -2) * 2, jnp.einsum("ii->i", square), outer.sum(2) * outer.max(2), jnp.linalg.matrix_power(square / 9, 3)


@program([floats(P("x", None, "y"), 7, 4, 4), floats(P("x"), 7, 6, 3)], gradient=("a", "b"), types=BOTH, rtol=5e-3, atol=5e-3)
def factors_of_a_batch(a, b):
    """Eigenvalues, singular values, QR and inverses of a batch that is cut, without signs."""
    square = a @ a.swapaxes(1, 2) + jnp.arange(1.0, 5, dtype=a.dtype) * jnp.eye(4, dtype=a.dtype)
    value, vector = jnp.linalg.eigh(square)
    q, r = jnp.linalg.qr(b)
    return value, (vector**2 * value[:, None]).sum(2), jnp.linalg.svd(b, compute_uv=False), jnp.abs(r), q @ q.swapaxes(1, 2), jnp.linalg.inv(square), jnp.linalg.det(square)


@program([floats(P("x", "y"), 10, 6), given(P(), [3, 4], np.uint32)])
def noise_in_a_scan(x, key):
    """Langevin steps with keys folded from the step, whose noise is cut as the state; a key for each row."""

    def step(state, number):
        noise = jax.random.normal(jax.random.fold_in(key, number), state.shape)
        return state - 0.1 * jnp.sin(state) + 0.1 * noise, jax.random.uniform(jax.random.split(key, 3)[number % 3])

    rows = jax.vmap(lambda k, row: jax.random.permutation(k, row))(jax.random.split(key, 10), x)
    return lax.scan(step, x, jnp.arange(4)), rows, jax.random.categorical(key, x, axis=0), jax.random.choice(key, x, (4,), axis=0)


@program([floats(P("x", "y"), 9, 12, 3), floats(P("x", "y"), 9, 12, least=0.0), floats(P("x", "y"), 9, 12, least=0.1)], gradient=("colour", "density"))
def rendered_volumes(colour, density, length):
    """Light along rays by products from the front, samples by the inverse of a distribution, splats sorted by depth."""
    alpha = 1 - jnp.exp(-density * length)
    light = jnp.cumprod(jnp.concatenate([jnp.ones_like(alpha[:, :1]), 1 - alpha[:, :-1]], 1), 1)
    weight = alpha * light
    chance = jnp.cumsum(weight, 1) / weight.sum(1, keepdims=True)
    found = jax.vmap(lambda row: jnp.searchsorted(row, jnp.linspace(0.05, 0.95, 5)))(lax.stop_gradient(chance))
    order = jnp.argsort(length, 1)
    sorted_alpha = jnp.take_along_axis(alpha, order, 1)
    over = sorted_alpha * jnp.exp(jnp.cumsum(jnp.log1p(-sorted_alpha * 0.9), 1))
    return (weight[..., None] * colour).sum(1), found, (over[..., None] * jnp.take_along_axis(colour, order[..., None], 1)).sum(1)


@program([floats(P("x", "y"), 9, 10)], gradient=("a",))
def summed_areas(a):
    """Means over boxes by sums of areas, windows that slide as patches, and neighbours by strides."""
    area = jnp.pad(jnp.cumsum(jnp.cumsum(a, 0), 1), ((1, 0), (1, 0)))
    boxes = area[3:, 4:] - area[:-3, 4:] - area[3:, :-4] + area[:-3, :-4]
    patches = jnp.stack([a[i:i + 7, j:j + 8] for i in range(3) for j in range(3)], -1)
    return boxes, jnp.median(patches, -1), patches.max(-1) - patches.min(-1), jnp.repeat(a[::3, 1::2], 2, 0), jnp.tile(a, (2, 1))[4:11]


@program([floats(P("x"), 8, 5), floats(P(None, "y"), 5, 6, scale=0.5), floats(P("y"), 6)], gradient=("x", "w1", "w2"), types=BOTH, rtol=2e-3, atol=1e-3)
def gradient_penalty(x, w1, w2):
    """The gradient of a gradient's norm, a linear map turned around, and a Jacobian through a scan."""

    def score(row):
        return jax.nn.softplus(row @ w1) @ w2

    penalty = (jnp.linalg.norm(jax.vmap(jax.grad(score))(x), axis=1) - 1) ** 2
    turned = jax.linear_transpose(lambda v: jnp.cumsum(v @ w1, 0), x)(jnp.cos(x @ w1))[0]
    jacobian = jax.jacfwd(lambda v: lax.scan(lambda s, r: (jnp.tanh(s + r @ w1), None), v, x)[0])(w2)
    return penalty, turned, jacobian


@program([floats(P("x", "y"), 7, 9), integers(P("x"), 1, 4, 7)], gradient=("x",))
def repeated_unevenly(x, counts):
    """Rows that are repeated by counts known when run, ragged means, and nested loops whose lengths differ by row."""
    grown = jnp.repeat(x, counts, axis=0, total_repeat_length=16)

    def halved(row, count):
        return lax.fori_loop(0, 4, lambda i, r: jnp.where(i < count, jnp.sin(r) + r[::-1] / 2, r), row)

    owner = jnp.repeat(jnp.arange(7), counts, total_repeat_length=16)
    return grown, jax.vmap(halved)(x, counts), jax.ops.segment_sum(jnp.cos(grown), owner, 7) / counts[:, None]


@program([floats(P("x", "y"), 6, 9, 7), floats(P("y", "z"), 9, 5)], gradient=("x", "w"), rtol=2e-3, atol=1e-3)
def blocks_of_a_map(x, w):
    """A function mapped over a cut dim in blocks that do not divide it, conditions inside, and a sum in a carry."""
    mapped = lax.map(lambda row: jnp.tanh(row.T @ w).sum(0), x, batch_size=4)
    kept = lax.scan(lambda s, row: (lax.cond(row.sum() > 0, lambda: s + row @ row.T, lambda: s * 0.5), s.sum()), jnp.zeros((9, 9), x.dtype), x)
    return mapped, kept


@program([floats(P("x", "y", "z"), 5, 7, 9), floats(P("x"), 8)], rtol=2e-3, atol=1e-3)
def transforms_of_odd_lengths(x, line):
    """Transforms padded, cropped, of odd lengths, over all cut dims, with shifts, and by Bluestein's sums."""
    whole = jnp.fft.fftshift(jnp.fft.fftn(x, (6, 5, 9)), (0, 2))
    phase = jnp.exp(-1j * jnp.pi * jnp.arange(8) ** 2 / 8).astype(jnp.complex64)
    summed = phase * (jnp.fft.ifft(jnp.fft.fft(line * phase, 16) * jnp.fft.fft(jnp.concatenate([1 / phase, jnp.zeros(1), (1 / phase)[:0:-1]]), 16))[:8])
    return whole, jnp.fft.irfftn(jnp.fft.rfftn(x, axes=(0, 1)), (5, 8), axes=(0, 1)), jnp.fft.ihfft(x, axis=1), summed

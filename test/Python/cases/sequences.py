"""Attention, experts, recurrences and training steps, differentiated, cut along several mesh axes."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, integers, program

BOTH = ("float32", "float64")


@program([floats(P("x"), 23, 3), floats(P("y"), 11, 3), floats(P("x"), 23, 5)], gradient=("points", "queries", "features"),
         rtol=3e-3, atol=2e-3)
def weighted_neighbours(points, queries, features):
    """Features of the four nearest points by inverse distance; points and queries are cut along different axes."""
    square = jnp.sum((queries[:, None] - points) ** 2, -1)
    nearest, index = lax.top_k(-square, 4)
    weight = 1 / (1e-2 - nearest)
    weight = weight / weight.sum(-1, keepdims=True)
    return jnp.sum(features[index] * weight[..., None], 1), (points[index] - queries[:, None]).max(1)


@program([floats(P("x"), 23, 3), floats(P("y"), 11, 3), floats(P("x", "z"), 23, 5)], gradient=("features",), rtol=3e-3, atol=2e-3)
def points_in_a_ball(points, queries, features):
    """The first five points within a radius, the first of them again where there are fewer, and the largest features."""
    square = jnp.sum((queries[:, None] - points) ** 2, -1)
    index = jnp.sort(jnp.where(square < 2, jnp.arange(23), 23), -1)[:, :5]
    index = jnp.where(index == 23, index[:, :1], index)
    return features.at[index].get(mode="fill", fill_value=0.0).max(1), index


@program([floats(P("x"), 17, 3), floats(P("y"), 13, 3)], gradient=("a", "b"), rtol=3e-3, atol=2e-3)
def matched_clouds(a, b):
    """Two point clouds' Chamfer distance, and a transport plan by Sinkhorn's iterations; each cloud is cut along an axis."""
    cost = jnp.sum((a[:, None] - b) ** 2, -1)

    def step(_, state):
        _, g = state
        f = -0.5 * jax.nn.logsumexp((g - cost) / 0.5, 1)
        g = -0.5 * jax.nn.logsumexp((f[:, None] - cost) / 0.5, 0)
        return f, g

    f, g = lax.fori_loop(0, 5, step, (jnp.zeros(17, a.dtype), jnp.zeros(13, a.dtype)))
    return cost.min(0).sum() + cost.min(1).mean(), jnp.exp((f[:, None] + g - cost) / 0.5)


@program([floats(P(None, "x", "y"), 2, 8, 12, 8), floats(P(), 8, 24, scale=0.3), floats(P(), 8, 8, scale=0.3), floats(P("z"), 2, 16, 16)],
         gradient=("image", "mix", "bias"), rtol=3e-3, atol=2e-3)
def shifted_windows(image, mix, out, bias):
    """Attention in shifted windows with masks at the seams; both dims of the image are cut."""
    batch, rows, columns, width = image.shape
    side, shift, heads = 4, 2, 2
    image = jnp.roll(image, (-shift, -shift), (1, 2))
    zones = np.zeros((rows, columns))
    for number, (a, b) in enumerate(np.ndindex(3, 3)):
        parts = (slice(0, -side), slice(-side, -shift), slice(-shift, None))
        zones[parts[a], parts[b]] = number
    zones = zones.reshape(rows // side, side, columns // side, side).transpose(0, 2, 1, 3).reshape(-1, side * side)
    mask = jnp.asarray(np.where(zones[:, None] != zones[:, :, None], -100.0, 0.0), image.dtype)
    windows = image.reshape(batch, rows // side, side, columns // side, side, width).transpose(0, 1, 3, 2, 4, 5)
    windows = (windows.reshape(batch, -1, side * side, width) @ mix).reshape(batch, -1, side * side, heads, 3 * width // heads)
    query, key, value = jnp.split(windows, 3, -1)
    score = jnp.einsum("bnqhd,bnkhd->bnhqk", query, key) / 2 + bias + mask[None, :, None]
    mixed = jnp.einsum("bnhqk,bnkhd->bnqhd", jax.nn.softmax(score, -1), value).reshape(batch, -1, side * side, width) @ out
    mixed = mixed.reshape(batch, rows // side, columns // side, side, side, width).transpose(0, 1, 3, 2, 4, 5)
    return jnp.roll(mixed.reshape(image.shape), (shift, shift), (1, 2))


@program([floats(P(None, "x", "y"), 2, 9, 7, 4), floats(P(None, "z"), 2, 5, 4), floats(P(), 4, 12, scale=0.4), floats(P(), 4, 6)],
         gradient=("image", "queries", "offsets"), rtol=3e-3, atol=2e-3)
def attention_at_offsets(image, queries, offsets, weights):
    """Attention to points that each query chooses in an image, interpolated, zero outside; all are cut."""
    batch, rows, columns, _ = image.shape
    offset = (queries @ offsets).reshape(batch, -1, 6, 2)
    attention = jax.nn.softmax(queries @ weights, -1)
    point = jax.nn.sigmoid(queries[..., :2])[:, :, None] * jnp.array([rows - 1.0, columns - 1.0], image.dtype) + offset
    part = point - jnp.floor(point)
    corner = jnp.floor(point).astype(jnp.int32)

    def at(below, right):
        row, column = corner[..., 0] + below, corner[..., 1] + right
        is_inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        value = jax.vmap(lambda one, r, c: one[jnp.clip(r, 0, rows - 1), jnp.clip(c, 0, columns - 1)])(image, row, column)
        return jnp.where(is_inside[..., None], value, 0)

    down, right = part[..., :1], part[..., 1:]
    above = at(0, 0) * (1 - right) + at(0, 1) * right
    below = at(1, 0) * (1 - right) + at(1, 1) * right
    return jnp.sum((above * (1 - down) + below * down) * attention[..., None], 2)


@program([floats(P("x"), 22, 6), floats(P(), 6, 4), floats(P("y"), 4, 6, 8, scale=0.4), floats(P("y"), 4, 8, 6, scale=0.4)],
         gradient=("x", "router", "w1", "w2"), rtol=3e-3, atol=2e-3)
def experts_of_a_capacity(x, router, w1, w2):
    """Two experts a token, five tokens an expert, the rest dropped; tokens and experts are cut along different axes."""
    count, capacity = 4, 5
    chance = jax.nn.softmax(x @ router)
    gate, expert = lax.top_k(chance, 2)
    hot = jax.nn.one_hot(expert, count, dtype=jnp.int32)
    flat = hot.transpose(1, 0, 2).reshape(-1, count)
    place = ((jnp.cumsum(flat, 0) * flat).sum(-1) - 1).reshape(2, -1).T
    slot = jax.nn.one_hot(jnp.where(place < capacity, place, capacity), capacity, dtype=x.dtype)
    sent = hot.astype(x.dtype)[..., None] * slot[:, :, None]
    back = (sent * gate[..., None, None]).sum(1)
    hidden = jax.nn.relu(jnp.einsum("tec,td,edf->ecf", sent.sum(1), x, w1))
    balance = jnp.mean(hot.astype(x.dtype).sum(1).mean(0) * chance.mean(0)) * count
    return jnp.einsum("tec,ecf,efd->td", back, hidden, w2), balance


@program([floats(P("x", "y", "z"), 3, 21, 8), floats(P("z"), 8, 4, least=0.1), floats(P("z"), 8, 12, scale=0.3), floats(P(None, "z"), 21, 8)],
         gradient=("x", "decay", "mix"), types=BOTH, rtol=3e-3, atol=2e-3)
def selected_states(x, decay, mix, skip):
    """A selective state space by an associative scan; batch, sequence and width are cut."""
    mixed = x @ mix
    into, out = mixed[..., :4], mixed[..., 4:8]
    step = jax.nn.softplus(mixed[..., 8:].sum(-1, keepdims=True) + x)
    kept = jnp.exp(-step[..., None] * decay)
    added = step[..., None] * into[:, :, None] * x[..., None]
    state = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (kept, added), axis=1)[1]
    return jnp.einsum("blds,bls->bld", state, out) + x * skip


@program([floats(P("x", "y", "z"), 2, 19, 6), floats(P("z"), 6), floats(P(), 6), floats(P(), 6, 18, scale=0.4)],
         gradient=("x", "decay", "mix"), rtol=3e-3, atol=2e-3)
def receptance(x, decay, bonus, mix):
    """A linear attention with decay, as a scan whose sums keep their largest exponent apart."""
    before = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    gate, key, value = jnp.split((x + 0.5 * before) @ mix, 3, -1)
    rate = -jnp.exp(decay)

    def step(state, row):
        above, below, largest = state
        key, value = row
        now = jnp.maximum(largest, bonus + key)
        old, new = jnp.exp(largest - now), jnp.exp(bonus + key - now)
        result = (old * above + new * value) / (old * below + new)
        now = jnp.maximum(largest + rate, key)
        old, new = jnp.exp(largest + rate - now), jnp.exp(key - now)
        return (old * above + new * value, old * below + new, now), result

    zero = jnp.zeros_like(key[:, 0])
    rows = (key.swapaxes(0, 1), value.swapaxes(0, 1))
    return jax.nn.sigmoid(gate) * lax.scan(step, (zero, zero, zero - 1e30), rows)[1].swapaxes(0, 1)


@program([floats(P(None, "x", "y"), 2, 17, 4), floats(P("x"), 17, 4, scale=0.3), floats(P("z"), 17, 2, 2, 3)], gradient=("x", "kernel"),
         rtol=3e-3, atol=2e-3)
def long_convolution(x, kernel, q):
    """A convolution as long as the sequence, by transforms; and sums, maxima and log-sums up to each row."""
    modes = jnp.fft.rfft(x, 34, axis=1) * jnp.fft.rfft(kernel, 34, axis=0)
    mixed = jnp.fft.irfft(modes, 34, axis=1)[:, :17]
    return mixed * jax.nn.silu(x), lax.cumsum(q, 0), lax.cummax(q, 0, reverse=True), lax.cumlogsumexp(q, 0)


@program([floats(P("x", "y"), 14, 6), floats(P("x"), 14, 6)], gradient=("a", "b"), rtol=3e-3, atol=2e-3)
def associative_scans(a, b):
    """Linear recurrences from both ends and along both dims, which are cut."""
    a = jax.nn.sigmoid(a)

    def scanned(axis, reverse=False):
        return lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b), axis=axis, reverse=reverse)[1]

    return scanned(0), scanned(0, reverse=True), scanned(1), lax.associative_scan(jnp.maximum, b, axis=1)


@program([floats(P("x"), 12, 8), integers(P("x"), 0, 5, 12), floats(P(None, "y"), 8, 16, scale=0.4), floats(P("y"), 16, 5, scale=0.4)],
         rtol=8e-2, atol=8e-2)
def scaled_losses(x, labels, w1, w2):
    """Training in bfloat16 with a scale of the loss that doubles, or halves where a gradient is not finite."""

    def step(state, _):
        weights, speed, scale = state

        def loss(weights):
            hidden = jax.nn.gelu(x.astype(jnp.bfloat16) @ weights[0].astype(jnp.bfloat16))
            logits = (hidden @ weights[1].astype(jnp.bfloat16)).astype(jnp.float32)
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean() * scale

        value, slope = jax.value_and_grad(loss)(weights)
        slope = jax.tree.map(lambda g: g / scale, slope)
        is_finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in slope]))
        speed = jax.tree.map(lambda m, g: 0.9 * m + g, speed, slope)
        weights = jax.tree.map(lambda w, m: jnp.where(is_finite, w - 0.1 * m, w), weights, speed)
        return (weights, speed, jnp.where(is_finite, scale * 2, scale / 2)), value / scale

    zeros = (jnp.zeros_like(w1), jnp.zeros_like(w2))
    return lax.scan(step, ((w1, w2), zeros, jnp.float32(1024)), None, length=4)


@program([floats(P("x"), 11, 8), floats(P(None, "y"), 8, 6), floats(P("y"), 6, 8)], gradient=("x", "encode", "decode"), rtol=3e-3, atol=2e-3)
def sparse_autoencoder(x, encode, decode):
    """The three largest of the hidden values are kept, set into zeros by index."""
    hidden = x @ encode
    value, index = lax.top_k(hidden, 3)
    kept = jnp.zeros_like(hidden).at[jnp.arange(11)[:, None], index].set(jax.nn.relu(value))
    return kept @ decode, index


@program([floats(P("x", "y", "z"), 6, 5, 7), floats(P(), 7, 7, scale=0.3), floats(P("x"), 6)], gradient=("rows", "w"), types=BOTH,
         rtol=3e-3, atol=2e-3)
def scan_in_a_scan(rows, w, scales):
    """A scan backwards over one cut dim in a scan over another."""

    def outer(state, given):
        row, scale = given

        def inner(state, entry):
            state = jnp.tanh(state @ w + entry * scale)
            return state, state.sum()

        return lax.scan(inner, state, row, reverse=True)

    return lax.scan(outer, jnp.zeros(7, rows.dtype), (rows, scales))


@program([floats(P("x", None, "y"), 5, 6, 4), floats(P(), 4, 4, scale=0.4)], gradient=("x", "w"), rtol=3e-3, atol=2e-3)
def loops_that_end_apart(x, w):
    """A while loop for each of a batch that is cut, and a branch by how often it turned."""

    def one(x):
        def goes_on(state):
            return (state[1] < 5) & (jnp.abs(state[0]).max() < 3)

        grown, turns = lax.while_loop(goes_on, lambda state: (state[0] * 1.4, state[1] + 1), (lax.stop_gradient(x), 0))
        return lax.cond(turns > 2, lambda x: jnp.sin(x @ w), lambda x: x @ w * 2, x) + grown, turns

    return jax.vmap(one)(x)


@program([floats(P("x"), 9, 4), integers(P("x"), 0, 3, 9), floats(P("y"), 3, 4, 4)], gradient=("x", "w"), rtol=3e-3, atol=2e-3)
def branch_by_row(x, kind, w):
    """One of three branches for each row."""
    branches = [lambda row: jnp.sin(row @ w[0]), lambda row: row @ w[1], lambda row: jnp.exp(-((row @ w[2]) ** 2))]
    return jax.vmap(lambda row, kind: lax.switch(kind, branches, row))(x, kind)


@program([floats(P("x", "y"), 8, 3, 5), floats(P("x"), 8, 5, 2)], gradient=("a", "b"), rtol=3e-3, atol=2e-3)
def computed_again(a, b):
    """A scan whose step is computed again for its gradient."""

    @jax.checkpoint
    def hidden(a, b):
        return jnp.tanh(jnp.einsum("bij,bjk->bik", jnp.sin(a), b))

    def step(state, _):
        return hidden(a, b) @ jnp.ones((2, 2), a.dtype) * state, None

    return lax.scan(step, jnp.ones((8, 3, 2), a.dtype), None, length=3)[0]


@program([floats(P("x", "y"), 16, 6), floats(P("x"), 16, 6), floats(P("z"), 16, 6), integers(P(), 1, 16, 3)],
         gradient=("query", "key", "value"), rtol=3e-3, atol=2e-3)
def packed_sequences(query, key, value, ends):
    """Causal attention within sequences of different lengths that are packed in one."""
    place = jnp.arange(16)
    sequence = jnp.searchsorted(jnp.sort(ends), place, side="right")
    is_seen = (sequence[:, None] == sequence) & (place[:, None] >= place)
    score = jnp.where(is_seen, query @ key.T / 2.4, -1e30)
    return jax.nn.softmax(score) @ value, sequence


@program([floats(P("x", "y"), 2, 12, 4, 8), floats(P("x", "y"), 2, 12, 2, 8), floats(P("x"), 2, 12, 2, 8), integers(P("x"), 4, 12, 2)],
         gradient=("query", "key", "value"), rtol=3e-3, atol=2e-3)
def rotated_local_attention(query, key, value, lengths):
    """Grouped heads, rotary angles, a window and lengths, by JAX's own attention; batch and sequence are cut."""
    angle = jnp.arange(12)[:, None] * jnp.arange(4) * 0.1
    cos, sin = (f(angle)[None, :, None].astype(query.dtype) for f in (jnp.cos, jnp.sin))

    def rotated(x):
        return jnp.concatenate([x[..., :4] * cos - x[..., 4:] * sin, x[..., :4] * sin + x[..., 4:] * cos], -1)

    return jax.nn.dot_product_attention(rotated(query), rotated(key), value, is_causal=True, key_value_seq_lengths=lengths,
                                        query_seq_lengths=lengths, local_window_size=(4, 0))


@program([floats(P("x"), 12, 6), floats(P(None, "y"), 6, 12, scale=0.3), floats(P("y"), 12, 3, scale=0.3), integers(P("x"), 0, 3, 12),
          floats(P("x"), 12)], rtol=5e-3, atol=2e-3)
def weighted_training(x, w1, w2, labels, weights):
    """Three steps of Adam with clipped gradients in a scan; samples and hidden units are cut along different axes."""

    def step(state, _):
        params, mean, square = state

        def loss(params):
            chance = jax.nn.log_softmax(jax.nn.gelu(x @ params[0]) @ params[1])
            return -(jax.nn.one_hot(labels, 3) * chance).sum(-1) @ weights / 12

        value, slope = jax.value_and_grad(loss)(params)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in slope))
        slope = [g * jnp.minimum(1, 0.5 / (size + 1e-6)) for g in slope]
        mean = [0.9 * m + 0.1 * g for m, g in zip(mean, slope)]
        square = [0.99 * v + 0.01 * g * g for v, g in zip(square, slope)]
        params = [p - 0.01 * m / (jnp.sqrt(v) + 1e-3) for p, m, v in zip(params, mean, square)]
        return (params, mean, square), (value, size)

    zeros = [jnp.zeros_like(w1), jnp.zeros_like(w2)]
    return lax.scan(step, ([w1, w2], zeros, zeros), None, length=3)

"""Programs with symbolic extents: elements, rows, sorts, graphs, training."""

import jax
import jax.numpy as jnp
from declared import F32, I32, program
from jax import lax


@program(["n, m"], [0], least=3, constraints=["n >= 3", "m >= 3"])
def approximately_best(x):
    """Where a result has an open extent, JAX gives the call its shape as well."""
    best = lambda x: [*lax.approx_max_k(x, 3), *lax.approx_min_k(x, 2, reduction_dimension=0)]
    return *best(x), jax.grad(lambda x: best(x)[0].sum() + (best(x)[2] ** 2).sum())(x)


@program(["n, 4", "n, 4"], [0, 0])
def centred(x, y):
    return (x + y - (x * y).mean(0)).reshape(-1)


@program(["n, 6", "6, 5", "5"], [0, None, None])
def layer(x, w, b):
    return jnp.tanh(x @ w + b)


@program(["n, 8"], [0])
def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


@program(["n, 8"], [0])
def batch_norm(x):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)


@program(["n, 8"], [0])
def spectrum(x):
    return jnp.fft.irfft(jnp.fft.rfft(x, axis=1) * jnp.arange(5), axis=1)


@program(["n, 3", "2"], [0, None], types=[F32, I32], least=4, constraints=["n >= 4"])
def all_rows_but_three(x, i):
    """A slice that begins where a value says, of nearly all: a window that moves by three."""
    n = x.shape[0]
    taken, pull = jax.vjp(lambda x: jnp.sin(lax.dynamic_slice(x, (i[0] % 5, 0), (n - 3, 3))), x)
    return taken, lax.dynamic_slice(taken, (i[1] % 2, 0), (n - 4, 3)).sum(1), *pull(jnp.cos(taken))


@program(["n, 3", "m"], [0, 0], types=[F32, I32])
def rows(x, i):
    return x[i % x.shape[0]]


@program(["n, 3", "n"], [0, 0], types=[F32, I32])
def segments(x, i):
    return jax.ops.segment_sum(x, i % 7, 7)


@program(["n, 3", "m", "m"], [0, 0, 0], types=[F32, I32, I32])
def messages(x, senders, receivers):
    n = x.shape[0]
    sent = jnp.sin(x[senders % n])
    return x + jax.ops.segment_sum(sent, receivers % n, n)


@program(["n"], [0])
def ordered(x):
    return jnp.sort(x)


@program(["4, n"], [1])
def ranked(x):
    return jnp.argsort(x, axis=1)


@program(["n, 3"], [0])
def accumulated(x):
    return jnp.cumsum(x, 0)


@program(["n, 3", "m, 3"], [0, 0])
def joined(x, y):
    return jnp.concatenate([x, y * 2], 0)


@program(["b, n, 4"], [1])
def merged(x):
    b, n, _ = x.shape
    return jnp.exp(x).reshape(b * n, 4).sum(1)


@program(["b, n, 4"], [0])
def flattened(x):
    b, n, _ = x.shape
    return (x * 2).reshape(b, n * 4)


@program(["n, 4"], [0], least=3, constraints=["n >= 3"])
def shifted(x):
    return jnp.roll(x, 1, 0) + jnp.roll(x, -2, 0) - 2 * x


@program(["n, m"], [0])
def rolled(x):
    """Rolls by 1, which of one row is by 0, and by more than there may be."""
    far, pull = jax.vjp(lambda x: jnp.sin(jnp.roll(x, (-2, 5), (0, 1))), x)
    return jnp.roll(x, 1, 0) - jnp.roll(x, -1, 0), jnp.roll(x, 3, 0), *pull(far)


@program(["n, m"], [0])
def stencil(x):
    p = jnp.pad(x, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * x


@program(["n, b, 4"], [1])
def scanned(x):
    """Slices of one row each, whose other extents are symbols."""
    return lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(x.shape[1:]), x)


@program(["n, b, 4", "4, 4"], [1, None])
def recurrent_training(x, w):
    def loss(w):
        last, rows = lax.scan(lambda c, row: (jnp.tanh(c @ w / 8 + row),) * 2, jnp.zeros(x.shape[1:]), x)
        return (rows**2).mean() + last.mean()

    return jax.value_and_grad(loss)(w)


@program(["n, m", "i"], [0, None], types=[F32, I32], least=2)
def one_row(x, i):
    return lax.dynamic_slice(x, (i[0], 0), (1, x.shape[1])), lax.dynamic_slice(x, (0, i[1]), (x.shape[0], 1))


@program(["n, 3"], [0])
def random_bits(x):
    return x + jax.random.uniform(jax.random.key(3, impl="rbg"), x.shape)


@program(["n, 3"], [0])
def random_normal(x):
    return x + jax.random.normal(jax.random.key(3), x.shape)


@program(["n, 2", "m, 2"], [0, 0])
def nearest(x, y):
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1).min(1)


@program(["n, 4", "4, 6", "6", "6, 2", "n, 2"], [0, None, None, None, 0])
def training(x, w, b, o, y):
    def loss(w, b, o):
        return ((jax.nn.gelu(x @ w + b) @ o - y) ** 2).mean()

    value, grads = jax.value_and_grad(loss, (0, 1, 2))(w, b, o)
    return (value, *(p - 0.1 * g for p, g in zip((w, b, o), grads, strict=True)))


@program(["n, 4", "4, 4", "4, 4", "m", "m", "n, 4"], [0, None, None, 0, 0, 0], types=[F32, F32, F32, I32, I32, F32])
def graph_training(x, w, o, senders, receivers, y):
    n = x.shape[0]

    def loss(w, o):
        h = jnp.tanh(x @ w)
        h = h + jax.ops.segment_sum(h[senders % n], receivers % n, n)
        return ((h @ o - y) ** 2).mean()

    value, grads = jax.value_and_grad(loss, (0, 1))(w, o)
    return (value, *grads)


@program(["n, 4", "n"], [0, 0], types=[F32, I32])
def cross_entropy(x, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), (labels % 4)[:, None], 1).mean()


@program(["n, 4"], [0], least=6, constraints=["n >= 6"])
def middle(x):
    return x[2:-2] * 3


@program(["n, 4"], [0], least=2, constraints=["n >= 2"])
def stepped(x):
    def body(_, h):
        return h + 0.1 * jnp.roll(h, 1, 0)

    return lax.fori_loop(0, 5, body, x)


@program(["n, 4"], [0])
def numbered(x):
    return x * jnp.arange(x.shape[0], dtype=F32)[:, None] / x.shape[0]


@program(["n, 4", "n, 4"], [0, 0])
def kernel_matrix(x, y):
    return jnp.exp(-((x[:, None] - y[None]) ** 2).sum(-1)) @ y


@program(["n, 4"], [0], least=2, constraints=["n >= 2"])
def split_in_two(x):
    half = x.shape[0] // 2
    return x[:half].sum(0), jnp.abs(x[half:]).sum(0)


@program(["n, 4", "m, 4"], [0, 0])
def outer_product(x, y):
    n, m = x.shape[0], y.shape[0]
    z = (x[:, None] * y[None]).reshape(n * m, 4)
    return z.sum(1), jnp.tanh(z).reshape(n, m, 4).mean(1)


@program(["n, 4", "m, 4", "n"], [0, 0, 0])
def concat_two(x, y, s):
    z = jnp.concatenate([x * s[:, None], y, x], 0)
    n = x.shape[0]
    return z[n:].sum(0), jnp.cumsum(z, 0)[-1], z * jnp.arange(z.shape[0])[:, None]


@program(["n, 4", "m"], [0, 0], types=[F32, I32])
def scatter_rows(x, i):
    n, m = x.shape[0], i.shape[0]
    return x.at[i % n].add(1.0), jnp.zeros((n + m, 4)).at[i % (n + m)].max(2.0)


@program(["n, 4", "m, 2"], [0, 0], types=[F32, I32])
def gather_pairs(x, e):
    n = x.shape[0]
    a, b = x[e[:, 0] % n], x[e[:, 1] % n]
    w = jnp.exp(-((a - b) ** 2).sum(-1, keepdims=True))
    return jax.ops.segment_sum(w * a, e[:, 1] % n, n), jax.ops.segment_max(a, e[:, 0] % n, n)


@program(["n, 4", "m, 2", "4, 4", "8, 4"], [0, 0, None, None], types=[F32, I32, F32, F32], tolerance=1e-3)
def gnn_two_layers(x, e, w, v):
    n = x.shape[0]
    s, r = e[:, 0] % n, e[:, 1] % n

    def loss(w, v):
        h = jnp.tanh(x @ w)
        for _ in range(2):
            msg = jax.nn.relu(jnp.concatenate([h[s], h[r]], -1) @ v)
            deg = jax.ops.segment_sum(jnp.ones(e.shape[0]), r, n)
            h = h + jax.ops.segment_sum(msg, r, n) / jnp.maximum(deg, 1)[:, None]
        att = jnp.exp((h[s] * h[r]).sum(-1) / 4)
        z = jax.ops.segment_sum(att, r, n)
        return ((att / jnp.maximum(z[r], 1e-6))[:, None] * h[s]).sum() / n

    return jax.value_and_grad(loss, (0, 1))(w, v)


@program(["n, m"], [0], least=3, constraints=["n >= 3", "m >= 3"])
def laplace_steps(x):
    def step(_, u):
        return u.at[1:-1, 1:-1].add(0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]))

    return lax.fori_loop(0, 4, step, x)


@program(["n, m, 2"], [0])
def merge_minor(x):
    n, m, _ = x.shape
    return x.reshape(n, m * 2), x.reshape(n * m, 2), x.reshape(n * m * 2), x.transpose(1, 0, 2).reshape(m * n, 2)


@program(["2*n, 3"], [0])
def even_odd(x):
    return x[::2] - x[1::2], x[::2] * 2, jnp.concatenate([x[::2], x[1::2]], 0)


@program(["n, 3", "d, h, w, 2", "3, 3, 3, 2, 2"], [0, 0, None], tolerance=2e-4)
def voxels(p, grid, k):
    """Points counted in a grid of three symbols, of which one index is many elements: h * w is no size."""
    d, h, w, _ = grid.shape
    i = jnp.clip(((jnp.tanh(p) + 1) / 2 * jnp.array([d, h, w])).astype(I32), 0, jnp.array([d, h, w]) - 1)
    place = (i[:, 0] * h + i[:, 1]) * w + i[:, 2]
    count = jax.ops.segment_sum(jnp.ones(p.shape[0]), place, d * h * w).reshape(d, h, w, 1)
    g = lax.conv_general_dilated((grid + count)[None], k, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))[0]
    return g, g.reshape(d * h * w, 2)[place]


@program(["d, h, w, 2"], [0], tolerance=1e-3)
def voxels_in_a_row(x):
    """Three symbols as one dim, cut at whole slices, then added up along it."""
    d, h, w, _ = x.shape
    y = jnp.cumsum(x.reshape(d * h * w, 2), 0)
    return y, y.reshape(d, h, w, 2).sum((1, 2)), jnp.sin(x).reshape(d * h, w * 2).max(1)


@program(["n, 4", "m, 4", "k, 4"], [0, 0, 0], constraints=["n >= m", "m >= k + 1", "k <= 1000"])
def ordered_extents(x, y, z):
    """Extents of which the first is the largest, and the last no more than a placeholder is."""
    n, m, k = x.shape[0], y.shape[0], z.shape[0]
    return x[:m] + y, y[k:] * 2, x[n - m :] - y, jnp.pad(z, ((0, m - k), (0, 0))) + y


@program(["n, 4"], [0])
def clipped(x):
    """Fewer rows than are asked for, where there are fewer."""
    gradient = jax.grad(lambda x: (jnp.sin(x[:12]) * 2).sum())(x)
    return x[:12].sum(0), jnp.tanh(x[:12]), x[-12:] * 2, gradient


@program(["n, 4", "m, 4"], [0, 0])
def shorter_of_two(x, y):
    rows = jax.core.min_dim(x.shape[0], y.shape[0])
    return x[:rows] * y[:rows], y[-rows:].sum(0)


@program(["n, 4"], [0])
def padded_to_twelve(x):
    rows = jax.core.max_dim(x.shape[0], 12)
    return jnp.pad(x, ((0, rows - x.shape[0]), (0, 0)), constant_values=1.5)


@program(["n, m"], [0], least=1)
def of_known_length(x):
    """As many elements as a transform takes, cut off or padded: along a dim that is cut, and along one that is not."""
    spectrum = lambda axis: jnp.abs(jnp.fft.ifft(x + 1j * jnp.flip(x, axis), n=13, axis=axis))
    return spectrum(0), spectrum(1), jax.grad(lambda x: (jnp.fft.rfft(x, n=20, axis=1).real ** 2).sum())(x)


@program(["n, 4", "m, 4", "k, 4"], [0, 0, 0])
def four_pieces(x, y, z):
    """The third begins behind n + m rows, which nothing else has."""
    rows = jnp.concatenate([x, y, z, x[::-1]], 0)
    return rows - rows.mean(0), jnp.roll(rows, 3, 0)


@program(["h, w, 2"], [0], least=1)
def whole_patches(x):
    """Patches of four by four, and four blocks of rows: none of either where there are fewer rows or columns."""
    rows, columns = x.shape[0] // 4, x.shape[1] // 4
    patches = lambda x: x[: 4 * rows, : 4 * columns].reshape(rows, 4, columns, 4, 2).sum((1, 3))
    return patches(x), x[: 4 * rows].reshape(4, rows, 2 * x.shape[1]).sum(0), jax.grad(lambda x: jnp.sin(patches(x)).sum())(x)


@program(["n, 4"], [0])
def rounded_up(x):
    """Rows in blocks of eight, and in four blocks, behind padding up to a multiple."""
    n = x.shape[0]
    blocks, rows = (n + 7) // 8, (n + 3) // 4
    eights = jnp.pad(x, ((0, -n % 8), (0, 0))).reshape(blocks, 8, 4)
    fourths = jnp.pad(x, ((0, 4 * rows - n), (0, 0))).reshape(4, rows, 4)
    return eights.sum(1), fourths.sum(1), fourths.max(2)

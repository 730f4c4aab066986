"""Compile programs with symbolic extents once, and run each of them on many extents.

    symbolic.py [NAME...] [--list] [--ranks 1,2,4] [--symbolic-mesh] [--reproducible] [--without-gathers] [--draws N] [--seed N] [--keep DIR]

Each program is exported by jax.export with symbolic shapes, cut over a mesh of 1, 2 and 4 ranks, and compiled once with
``--dynamic=all``. Programs with a manual region (``shard_map``) have a mesh of their own, of all ranks along "x" or of two along "y". The artifact runs on N drawn extents, in balanced shards and in uneven ones, empty among them, and
is compared with what JAX computes for the same arrays. Nothing is compiled between two runs. With ``--symbolic-mesh``
the number of ranks is left open too: there is one artifact, which runs on all of ``--ranks``. With ``--reproducible``
results are also compared by their bytes, on all numbers of ranks, balanced and uneven. With ``--without-gathers`` a
program fails that gathers a cut dim, or asks for rows of it; with ``--draws 0`` nothing else is asked.

Prints a line for each program and number of ranks; at the end how many passed, failed and were refused (code 77). Exits
1 if one failed, or one that was named was refused.
"""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

UNSUPPORTED = 77
F32, I32 = jnp.float32, jnp.int32


class Program:
    """A function, the symbolic shapes of its arguments, and along which dim each is cut; those that are asked to be in zigzag order there.

    With ``specs``, how arguments are cut over ``axes`` of a mesh, the function takes that mesh first; in shapes, x and y are how many ranks it has along these.
    """

    def __init__(
        self, function, shapes, cuts, types=None, least=1, constraints=(), tolerance=2e-5, zigzag=(), specs=None, axes="x",
        most=300
    ):
        self.function = function
        self.shapes = shapes
        self.cuts = cuts
        self.types = types or [F32] * len(shapes)
        self.least = least
        self.most = most
        self.constraints = constraints
        self.tolerance = tolerance
        self.zigzag = zigzag
        self.specs = specs
        self.axes = axes

    def mesh(self, ranks):
        sizes = (ranks,) if self.axes == "x" else (ranks // 2, 2)
        return Mesh(np.array(jax.devices()[:ranks]).reshape(sizes), tuple(self.axes))

    def bound(self, ranks):
        """The function of its arguments alone, and numbers of ranks by axis."""
        if self.specs is None:
            return self.function, {}
        mesh = self.mesh(ranks)
        return jax.jit(lambda *arguments: self.function(mesh, *arguments)), dict(mesh.shape)


PROGRAMS = {}


def program(shapes, cuts, **options):
    """Adds a function. ``cuts``: for each argument the dim that "x" cuts, or None."""

    def add(function):
        PROGRAMS[function.__name__] = Program(function, shapes, cuts, **options)
        return function

    return add


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


@program(["n, 8", "m, 8", "m, 4"], [0, 0, 0])
def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / np.sqrt(8), axis=-1) @ v


@program(["n, 8", "n, 8", "n, 4"], [0, 0, 0])
def causal(q, k, v):
    n = q.shape[0]
    seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
    return jax.nn.softmax(jnp.where(seen, q @ k.T, -1e30), axis=-1) @ v


@program(["n, 8", "n, 8", "n, 4"], [0, 0, 0], zigzag=[0, 1, 2])
def zigzag_causal(q, k, v):
    """The output, and the gradient of all: in zigzag order from arguments to results."""
    n = q.shape[0]

    def attend(q, k, v):
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        return jax.nn.softmax(jnp.where(seen, q @ k.T / 3, -jnp.inf), axis=-1) @ v

    out, pull = jax.vjp(attend, q, k, v)
    return out, *pull(jnp.sin(out))


@program(["n, 8", "m, 8", "m, 4", "n"], [0, 0, 0, 0], zigzag=[0, 2])
def zigzag_of_two(q, k, v, x):
    """Queries and keys in orders of their own; what knows positions, and what reads neighbours."""
    seen = jnp.arange(q.shape[0])[:, None] >= jnp.arange(k.shape[0])[None, :] - 1
    out = jax.nn.softmax(jnp.where(seen, q @ k.T / 3, -jnp.inf), axis=-1) @ v
    return out * jnp.cos(x + jnp.arange(q.shape[0]))[:, None], jnp.pad(out, ((1, 0), (0, 0)))[:-1], jnp.cumsum(v, 0)


@program(["4, n", "6, n", "6, n"], [None, 0, 0])
def deep(q, k, v):
    return jax.nn.softmax(q @ k.T / 8, axis=-1) @ v


@program(["b, n, 8", "8, 8", "8, 8"], [1, None, None])
def block(x, w, o):
    h = x @ w
    scores = jnp.einsum("bqd,bkd->bqk", h, x) / np.sqrt(8)
    return x + jnp.tanh(jax.nn.softmax(scores, -1) @ x) @ o


@program(["b, n, 3", "5, 3, 4"], [1, None])
def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, 2*n, 3", "4, 3, 4"], [1, None])
def strided(x, w):
    return lax.conv_general_dilated(x, w, (2,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, 2*n, 3"], [1])
def pooled(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 1), (1, 2, 1), "VALID")


@program(["n, 3, 5"], [0], least=4)
def overhanging(x):
    # How many windows there are is rounded: of an even n the last one reaches into padding, of an odd n none does.
    high = [(0, 1), (0, 0), (0, 0)]
    y = lax.reduce_window(-1 - jnp.abs(x), -jnp.inf, lax.max, (3, 1, 1), (2, 1, 1), high)
    return y * (1.0 + jnp.arange(y.shape[0]))[:, None, None]


@program(["n, m, 3", "2, 2, 3, 2"], [0, None], least=6)
def overhanging_convolution(x, w):
    y = lax.conv_general_dilated(x[None], w, (3, 3), [(0, 1), (0, 1)], dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + jnp.ones(y.shape)


def images(x, w, strides=(1, 1), padding="SAME"):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(["b, 2*h, 2*w, 3", "3, 3, 3, 4"], [1, None])
def halved(x, w):
    """Both of two extents are even: each is told from the other."""
    return images(x, w, (2, 2), [(1, 1), (1, 1)])


@program(["b, 2*h, 2*w, 2", "3, 3, 2, 4", "3, 3, 4, 2", "b, 2*h, 2*w, 2"], [1, None, None, 1], tolerance=1e-4)
def u_net(x, a, c, y):
    def loss(a, c):
        fine = jax.nn.relu(images(x, a))
        coarse = lax.reduce_window(fine, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return ((images(jnp.repeat(jnp.repeat(coarse, 2, 1), 2, 2) + fine, c) - y) ** 2).mean()

    return jax.value_and_grad(loss, argnums=(0, 1))(a, c)


@program(["b, h, w, 3"], [1])
def windowless_gradient(x):
    """Of one row or column no window is left."""
    pooled = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.grad(lambda x: (pooled(x) ** 2).sum())(x)


@program(["b, h, w, 3", "3, 3, 3, 4"], [1, None])
def strided_same(x, w):
    """Padding below of one element where an extent is odd, and none where it is even."""
    return images(x, w, (2, 2))


@program(["b, h, w, 3"], [1])
def pooled_same(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@program(["b, h, w, 3"], [1])
def averaged_gradient(x):
    """Padding above of two elements where an extent is odd, and one where it is even."""
    pooled = lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.grad(lambda x: (pooled(x) ** 2).sum())(x)


def gradient_of_pooling(init, combine, window, stride, padding="SAME"):
    """The gradient of pooling, of windows that begin a stride apart."""

    def gradient(x):
        dims = (1, *[window] * (x.ndim - 2), 1)
        strides = (1, *[stride] * (x.ndim - 2), 1)
        pooled = lambda x: lax.reduce_window(x, init, combine, dims, strides, padding)
        weights = lambda y: jnp.sin(y) / (1 + jnp.arange(y.shape[1])).reshape(1, -1, *[1] * (y.ndim - 2))
        return jax.grad(lambda x: weights(pooled(x)).sum())(x)

    return gradient


@program(["b, h, w, 2"], [1])
def max_same_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 3, 2)(x)


@program(["b, h, w, 2"], [1])
def average_same_gradient(x):
    return gradient_of_pooling(0.0, lax.add, 3, 2)(x)


@program(["b, n, 2"], [1])
def max_same_gradient_of_pairs(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 2, 2)(x)


@program(["b, n, 2"], [1])
def average_same_gradient_of_pairs(x):
    return gradient_of_pooling(0.0, lax.add, 2, 2)(x)


@program(["b, n, 2"], [1])
def max_same_gradient_by_three(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 5, 3)(x)


@program(["b, n, 2"], [1])
def average_same_gradient_by_three(x):
    return gradient_of_pooling(0.0, lax.add, 5, 3)(x)


@program(["b, n, 2"], [1])
def max_padded_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 3, 2, [(0, 0), (1, 1), (0, 0)])(x)


@program(["b, n, 2"], [1])
def average_padded_gradient(x):
    return gradient_of_pooling(0.0, lax.add, 3, 2, [(0, 0), (1, 1), (0, 0)])(x)


@program(["b, n, 2"], [1])
def max_overhanging_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 2, 2, [(0, 0), (0, 1), (0, 0)])(x)


@program(["b, n, 2"], [1], least=3)
def max_valid_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 3, 2, "VALID")(x)


@program(["b, n, 2"], [1], least=3)
def average_valid_gradient(x):
    return gradient_of_pooling(0.0, lax.add, 3, 2, "VALID")(x)


@program(["b, 2*n, 3"], [1])
def pooled_gradient(x):
    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 1), (1, 2, 1), [(0, 0), (1, 1), (0, 0)])

    return jax.grad(lambda x: jnp.sin(pooled(x)).sum())(x)


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


@program(["b, 4*h, 4*w, 2", "3, 3, 2, 4", "3, 3, 4, 4", "3, 3, 4, 2"], [1, None, None, None], tolerance=2e-4)
def u_net_deep(x, a, b, c):
    def up(x):
        return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)

    def loss(a, b, c):
        d0 = jax.nn.relu(images(x, a))
        d1 = jax.nn.relu(images(d0, b, (2, 2), [(1, 1), (1, 1)]))
        d2 = lax.reduce_window(d1, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        u1 = up(d2) + d1
        u0 = up(u1) + d0
        return ((images(u0, c) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, c)


@program(["b, h, w, 2", "3, 3, 2, 4", "3, 3, 4, 2"], [1, None, None], least=2, tolerance=2e-4)
def u_net_odd(x, a, c):
    """Extents of any parity: half up, cropped."""
    h, w = x.shape[1], x.shape[2]
    d = jax.nn.relu(images(x, a, (2, 2), [(1, 1), (1, 1)]))
    u = jnp.repeat(jnp.repeat(d, 2, 1), 2, 2)[:, :h, :w]
    return images(u, c) + x


@program(["b, n, 2"], [1], least=4)
def avg_same_gradient3(x):
    def f(x):
        return (lax.reduce_window(x, 0.0, lax.add, (1, 4, 1), (1, 3, 1), "SAME") ** 2).sum()

    return jax.grad(f)(x)


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


@program(["n, 8", "8, 8", "8, 8", "8, 8", "8, 8", "n, 8"], [0, None, None, None, None, 0], tolerance=2e-4)
def transformer_train(x, q, k, v, o, y):
    n = x.shape[0]

    def loss(q, k, v, o):
        h = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        pos = jnp.sin(jnp.arange(n)[:, None] / 10.0 ** jnp.arange(8))
        h = h + pos
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        a = jax.nn.softmax(jnp.where(seen, (h @ q) @ (h @ k).T / np.sqrt(8), -1e30), -1)
        h = h + a @ (h @ v) @ o
        return ((h - y) ** 2).mean()

    val, g = jax.value_and_grad(loss, (0, 1, 2, 3))(q, k, v, o)
    return (val, *g)


@program(["b, n, 8", "b, m, 8", "8, 8"], [1, 1, None], tolerance=1e-4)
def cross_attention(x, y, w):
    def f(w):
        s = jnp.einsum("bqd,bkd->bqk", x @ w, y) / 3
        return (jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s, -1), y) ** 2).mean()

    return jax.value_and_grad(f)(w)


@program(["n, 8", "n, 8", "n, 8"], [0, 0, 0], tolerance=1e-4)
def windowed_attention(q, k, v):
    n = q.shape[0]
    d = jnp.arange(n)[:, None] - jnp.arange(n)[None, :]
    s = jnp.where((d >= 0) & (d < 5), q @ k.T / 3, -jnp.inf)
    return jax.nn.softmax(s, -1) @ v


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


@program(["b, n, 4"], [1], least=4)
def max_pool_stride3_grad(x):
    return jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 1), (1, 3, 1), "VALID") ** 2).sum())(x)


@program(["b, n, 4"], [1], least=4)
def dilated_window(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 1), (1, 2, 1), [(0, 0), (2, 1), (0, 0)], base_dilation=(1, 1, 1), window_dilation=(1, 2, 1))


@program(["b, n, 3", "4, 3, 2"], [1, None])
def transposed_conv(x, w):
    return lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, n, 3", "3, 3, 2"], [1, None])
def transposed_conv_valid(x, w):
    return lax.conv_transpose(x, w, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, h, n, 8", "b, h, n, 8", "b, h, n, 8"], [2, 2, 2], tolerance=1e-4, zigzag=[0, 1, 2])
def zigzag_heads(q, k, v):
    n = q.shape[2]
    s = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 3
    seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(seen, s, -jnp.inf), -1), v)


@program(["n, 8", "8, 8", "8, 8", "8, 8", "8, 8", "n, 8"], [0, None, None, None, None, 0], tolerance=2e-4, zigzag=[0, 5])
def zigzag_training(x, q, k, v, o, y):
    n = x.shape[0]
    q, k, v, o = (0.3 * w for w in (q, k, v, o))

    def loss(q, k, v, o):
        h = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        pos = jnp.sin(jnp.arange(n)[:, None] / 10.0 ** jnp.arange(8))
        h = h + pos
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        for _ in range(2):
            a = jax.nn.softmax(jnp.where(seen, (h @ q) @ (h @ k).T / np.sqrt(8), -1e30), -1)
            h = h + a @ (h @ v) @ o
        return ((h - y) ** 2).mean()

    val, g = jax.value_and_grad(loss, (0, 1, 2, 3))(q, k, v, o)
    return (val, *g)


@program(["n", "n, 8", "30, 8"], [0, 0, None], types=[I32, F32, F32], tolerance=2e-4, zigzag=[1])
def zigzag_tokens(t, y, e):
    n = t.shape[0]

    def loss(e):
        h = e[t % 30]
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        a = jax.nn.softmax(jnp.where(seen, h @ h.T / 3, -1e30), -1)
        return ((a @ h - y) ** 2).mean()

    return jax.value_and_grad(loss)(e)


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


@program(["b, h, w, 3"], [1], least=2)
def pyramid(x):
    """Half of an extent of any parity and twice that, cropped: 2 * ceil(h / 2) is h + 1 where h is odd alone."""
    h, w = x.shape[1], x.shape[2]
    half = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") / 4
    return half, x - jnp.repeat(jnp.repeat(half, 2, 1), 2, 2)[:, :h, :w]


@program(["b, n, 2"], [1])
def half_up_gradient(x):
    """The gradient of pooling has n + 1 elements in front of windows one apart, and 2 * ceil(n / 2) is another extent."""

    def loss(x):
        half = lax.reduce_window(x, 0.0, lax.add, (1, 2, 1), (1, 2, 1), "SAME") / 2
        return ((x - jnp.repeat(jnp.sin(half), 2, 1)[:, : x.shape[1]]) ** 2).sum()

    return jax.grad(loss)(x)


@program(["b, h, w, 2", "3, 3, 2, 4", "3, 3, 4, 4", "3, 3, 4, 2"], [1, None, None, None], tolerance=1e-3)
def halves_rounded_up(x, a, b, c):
    """A U-Net of h, ceil(h / 2) and ceil(h / 4) rows: pooled SAME, repeated and cropped."""

    def up(x, like):
        return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)[:, : like.shape[1], : like.shape[2]]

    def pool(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") / 4

    def loss(a, b, c):
        first = jnp.tanh(images(x, a))
        second = jnp.tanh(images(pool(first), b))
        joined = up(pool(second), second) + second
        return ((images(up(joined, first) + first, c) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, c)


@program(["b, 8*n, 2", "4, 2, 4", "4, 4, 8", "4, 8, 4", "4, 4, 2"], [1, None, None, None, None], tolerance=1e-3)
def autoencoder(x, a, b, c, d):
    """Of three ranks what is moved by rounding alone differs from one placeholder to another."""

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (2,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"))

    def transposed(x, w):
        return lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    def loss(a, b, c, d):
        z = jnp.tanh(conv(jnp.tanh(conv(x, a)), b))
        return ((transposed(jnp.tanh(transposed(z, c)), d) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2, 3))(a, b, c, d)


@program(["b, n, 2", "3, 2, 4", "3, 4, 4", "3, 8, 2"], [1, None, None, None], least=4, constraints=["n >= 4"], tolerance=1e-3)
def halves_rounded_down(x, a, b, c):
    """A U-Net of n, n // 2 and n // 4 rows, which has 2 (n // 2) and 2 (n // 4) rows as well."""

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    def pool(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 2, 1), (1, 2, 1), "VALID") / 2

    def up(x, size):
        x = jnp.repeat(x, 2, 1)
        return jnp.pad(x, ((0, 0), (0, size - x.shape[1]), (0, 0)))

    def loss(a, b, c):
        first = jnp.tanh(conv(x, a))
        second = jnp.tanh(conv(pool(first), b))
        joined = up(pool(second), second.shape[1]) + second
        return ((conv(jnp.concatenate([up(joined, x.shape[1]), first], -1), c) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, c)


def valid_windows(x, w, stride):
    """A convolution without padding."""
    return lax.conv_general_dilated(x, w, (stride,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))


def valid_maxima(x, window, stride):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, window, 1), (1, stride, 1), "VALID")


@program(["b, n, 3", "3, 3, 4", "5, 3, 2", "4, 3, 2"], [1, None, None, None], least=5, constraints=["n >= 5"])
def windows_of_any(x, a, b, c):
    """Of windows of 2, 3, 4 and 5, 2 apart, some are as many where n is odd, and others where it is even."""
    maxima, threes = valid_maxima(x, 2, 2), valid_windows(x, a, 2)
    joined = maxima[:, : threes.shape[1]] + threes[:, :, :3]
    by_three = valid_windows(x, a, 3), valid_windows(x, b, 3), valid_maxima(x, 4, 3)
    return joined, valid_windows(x, b, 2), valid_windows(x, c, 2), *by_three, x[:, ::2], x[:, 1::2], x[:, 2::2]


@program(["b, n, 3", "3, 3, 3", "4, 3, 3"], [1, None, None], least=16, constraints=["n >= 16"], tolerance=1e-3)
def windows_of_any_gradient(x, a, b):
    """Convolutions one behind the other and beside one another, pooled; JAX exports gradients of rows that all are in windows."""

    def windows(x, w):
        reach = w.shape[0]
        return valid_windows(x[:, : (x.shape[1] - reach) // 2 * 2 + reach], w, 2)

    def loss(x, a, b):
        deep = windows(jnp.tanh(windows(x, a)), b)
        means = lax.reduce_window(x, 0.0, lax.add, (1, 4, 1), (1, 2, 1), "VALID") / 4
        return (deep**2).mean() + sum(jnp.sin(y).sum() for y in (windows(x, b), valid_maxima(x, 2, 2), valid_maxima(x, 3, 2), means))

    return jax.grad(loss, (0, 1, 2))(x, a, b)


def sums(x, window, stride):
    return lax.reduce_window(x, 0.0, lax.add, (window, 1), (stride, 1), "VALID")


@program(["n, 2"], [0], least=4)
def half_beside_windows(x):
    n = x.shape[0]
    return x[::2][: n // 2] * 2, sums(x, 3, 2)


@program(["n, 2"], [0], least=4)
def halves_beside_windows(x):
    """Of any n (n + 1) / 2 is one more than (n - 1) / 2, and n / 2 is one of the two: each is cut to the next."""
    n, threes = x.shape[0], sums(x, 3, 2)
    return x[::2][: n // 2] + x[1::2], x[1::2][: threes.shape[0]] + threes, sums(x, 4, 2)


@program(["n, 2"], [0], least=4)
def halves_beside_windows_gradient(x):
    """Windows of 2 are padded to n + 1 elements, which beside an odd n is twice a half rounded up."""
    n = x.shape[0]

    def loss(x):
        parts = x[::2][: n // 2] - x[1::2], sums(x, 2, 2), sums(x, 3, 2)
        return sum((part * jnp.cos(part)).sum() for part in parts)

    return jax.grad(loss)(x)


@program(["n, 2"], [0], least=6)
def thirds_beside_windows(x):
    n = x.shape[0]
    parts = lambda x: (x[::3][: n // 3] * 3, x[1::3][: n // 3], x[2::3], sums(x, 4, 3), sums(x, 5, 3))
    return parts(x), jax.grad(lambda x: sum((part * jnp.cos(part)).sum() for part in parts(x)))(x)


@program(["n, 4", "m, 4", "k, 4"], [0, 0, 0], constraints=["n >= m", "m >= k + 1", "k <= 1000"])
def ordered_extents(x, y, z):
    """Extents of which the first is the largest, and the last no more than a placeholder is."""
    n, m, k = x.shape[0], y.shape[0], z.shape[0]
    return x[:m] + y, y[k:] * 2, x[n - m :] - y, jnp.pad(z, ((0, m - k), (0, 0))) + y


@program(["n, 8", "m, 8"], [0, 0], constraints=["n >= 128", "m >= 64", "m <= 100"], tolerance=1e-4)
def bounded(x, y):
    """Extents of which neither is as small as most that are tried, and one is in a narrow range."""
    n, m = x.shape[0], y.shape[0]
    return x[:128].sum(0), x[n - 100 :] * 2, jax.nn.softmax(x @ y.T, -1) @ y, jnp.pad(y, ((0, 100 - m), (0, 0)))


@program(["b, h, w, 3", "3, 4", "3, 4"], [0, None, None], most=24)
def pixels(x, q, k):
    """Scores between all pixels of images: a tensor of five open extents."""
    b, h, w, c = x.shape
    y = x.reshape(b, h * w, c)
    scores = jnp.einsum("bpd,bqd->bpq", y @ q, y @ k) / 2
    return (jax.nn.softmax(scores, -1) @ y).reshape(b, h, w, c)


@program(["b, h, w, 3", "3, 8", "3, 8"], [1, None, None], most=16)
def pixels_of_heads(x, q, k):
    """The same of two heads, with gradients; rows of pixels are cut."""
    b, h, w, c = x.shape

    def loss(x, q, k):
        y = x.reshape(b, h * w, c)
        heads = [(y @ m).reshape(b, h * w, 2, 4) for m in (q, k)]
        scores = jnp.einsum("bphd,bqhd->bhpq", *heads) / 2
        return jnp.mean(jnp.einsum("bhpq,bqc->bphc", jax.nn.softmax(scores, -1), y) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(x, q, k)


def region(mesh, in_specs, out_specs, **options):
    return lambda function: jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


def with_gradient(function, *arguments):
    """What a function gives, and the gradients of its arguments from it."""
    out, pull = jax.vjp(function, *arguments)
    return out, *pull(jax.tree.map(jnp.sin, out))


@program(["x*n, 4", "4, 3", "x*n, 3"], [0, None, 0], specs=[P("x"), P(), P("x")], tolerance=1e-4)
def region_data_parallel(mesh, x, w, y):
    @region(mesh, (P("x"), P(), P("x")), P())
    def loss(x, w, y):
        return lax.pmean(((jnp.tanh(x @ w) - y) ** 2).mean(), "x")

    return jax.value_and_grad(loss, argnums=(0, 1))(x, w, y)


@program(["x*n, 4"], [0], specs=[P("x")], tolerance=1e-4)
def region_halo(mesh, x):
    """Rows of neighbours, and updates of windows whose places come into the region as values."""
    ranks = mesh.shape["x"]

    @region(mesh, P("x"), P("x"))
    def body(x):
        up = lax.ppermute(x[-1:], "x", [(i, (i + 1) % ranks) for i in range(ranks)])
        down = lax.ppermute(x[:1], "x", [(i, (i - 1) % ranks) for i in range(ranks)])
        p = jnp.concatenate([up, x, down], 0)
        return p[2:] + p[:-2] - 2 * p[1:-1]

    return with_gradient(body, x)


@program(["x*n, 8", "8, 12", "12, 8"], [0, None, None], specs=[P("x"), P(None, "x"), P("x")], tolerance=2e-4)
def region_sequence_parallel(mesh, x, a, b):
    """all_gather and reduce_scatter of open rows, and each as the other's gradient."""

    @region(mesh, (P("x"), P(None, "x"), P("x")), P("x"))
    def body(x, a, b):
        return lax.psum_scatter(jnp.tanh(lax.all_gather(x, "x", tiled=True) @ a / 3) @ b, "x", tiled=True)

    return with_gradient(body, x, a, b)


@program(["x*n, 12, 4"], [0], specs=[P("x")], tolerance=1e-4)
def region_heads(mesh, q):
    """all_to_all from rows to heads and back: open rows joined, and split."""

    @region(mesh, P("x"), P("x"))
    def body(q):
        h = lax.all_to_all(q, "x", 1, 0, tiled=True)
        s = jax.nn.softmax(jnp.einsum("qhd,khd->hqk", h, h) / 4, -1)
        return lax.all_to_all(jnp.einsum("hqk,khd->qhd", s, h), "x", 0, 1, tiled=True)

    return with_gradient(body, q)


@program(["b, x*n, 3"], [1], specs=[P(None, "x")], tolerance=1e-4)
def region_behind(mesh, x):
    """The same of dims behind others: joined, split, and both at once; groups in another order than the axis."""
    ranks = mesh.shape["x"]
    backwards = [list(reversed(range(ranks)))]

    @region(mesh, P(None, "x"), (P(None, "x"), P(None, "x"), P(None, "x")), check_vma=False)
    def body(x):
        whole = lax.all_gather(x, "x", axis=1, tiled=True)
        turned = lax.all_gather(x, "x", axis=1, tiled=True, axis_index_groups=backwards)
        mixed = lax.all_to_all(whole, "x", 1, 1, tiled=True)
        part = lax.psum_scatter(turned, "x", scatter_dimension=1, tiled=True)
        return mixed, part, turned - whole

    return with_gradient(body, x)


@program(["x*n, 8", "x*n, 8", "x*n, 4"], [0, 0, 0], specs=[P("x")] * 3, tolerance=1e-4)
def region_ring(mesh, q, k, v):
    """Causal: where a block begins follows from its open length and the rank."""
    ranks = mesh.shape["x"]
    around = [(i, (i + 1) % ranks) for i in range(ranks)]

    @region(mesh, (P("x"),) * 3, P("x"))
    def body(q, k, v):
        n, me = q.shape[0], lax.axis_index("x")

        def step(i, carried):
            k, v, most, total, out = carried
            seen = (me * n + jnp.arange(n))[:, None] >= ((me - i) % ranks * n + jnp.arange(n))[None]
            scores = jnp.where(seen, q @ k.T / 3, -1e30)
            higher = jnp.maximum(most, scores.max(-1))
            weights, scale = jnp.exp(scores - higher[:, None]), jnp.exp(most - higher)
            total, out = total * scale + weights.sum(-1), out * scale[:, None] + weights @ v
            return lax.ppermute(k, "x", around), lax.ppermute(v, "x", around), higher, total, out

        first = [lax.pcast(jnp.full((n,), number), "x", to="varying") for number in (-1e30, 0.0)]
        _, _, _, total, out = lax.fori_loop(0, ranks, step, (k, v, *first, jnp.zeros_like(v)))
        return out / total[:, None]

    return with_gradient(body, q, k, v)


@program(["x*n, y*m", "y*m"], [None, None], specs=[P("x", "y"), P("y")], axes="xy", tolerance=1e-4)
def region_two_axes(mesh, x, w):
    @region(mesh, (P("x", "y"), P("y")), P("x"))
    def body(x, w):
        return lax.psum(jnp.tanh(x) @ w, "y")

    return with_gradient(body, x, w)


@program(["x*n, y*m"], [None], specs=[P("x", "y")], axes="xy", tolerance=1e-4)
def region_of_one_axis(mesh, x):
    """Columns are cut along an axis that the region leaves free; its sizes go through constraints."""

    @region(mesh, P("x"), P("x"), axis_names={"x"})
    def body(x):
        return x - lax.pmean(x.mean(0), "x")

    return with_gradient(lambda x: jnp.sin(body(x * 2)).sum(1), x)


@program(["n, b, 3"], [0], specs=[P("x")], constraints=["mod(n, x) == 0"])
def region_divided(mesh, x):
    """Of one symbol, of which a constraint says that blocks divide it; rows move before and behind the region."""
    rolled = jnp.roll(x, 1, 0) * 2

    @region(mesh, P("x"), P("x"))
    def body(y):
        return jnp.sort(y, 0) + lax.axis_index("x") * y.shape[0]

    z = body(rolled)
    return z.mean(1), z[1:] - z[:-1]


@program(["x*n, 4", "4, 4"], [0, None], specs=[P("x"), P()], tolerance=1e-4)
def region_training(mesh, x, w):
    """Steps of gradient descent: a region in a loop, with a loop over rows in it, checkpointed."""

    def loss(w):
        @region(mesh, (P("x"), P()), P())
        def total(x, w):
            h = jax.checkpoint(lambda x, w: jax.nn.gelu(x @ w) * x.shape[0])(x, w) / x.shape[0]
            last, _ = lax.scan(lambda c, row: (jnp.tanh(c + row), None), lax.pcast(jnp.zeros(4), "x", to="varying"), h)
            return lax.psum((h**2).mean() + last.sum(), "x")

        return total(x, w)

    def step(w, _):
        value, gradient = jax.value_and_grad(loss)(w)
        return w - 0.1 * gradient, value

    return lax.scan(step, w, None, length=3)


def numbered_axes(shape, counts):
    """A shape with numbers in the place of the names of axes."""
    return re.sub(r"\b[xy]\b", lambda name: str(counts[name.group()]), shape) if counts else shape


def exported_region(chosen, ranks):
    """The text of a program with a mesh of its own."""
    function, counts = chosen.bound(ranks)
    scope = export.SymbolicScope([numbered_axes(text, counts) for text in chosen.constraints])
    specs = [
        jax.ShapeDtypeStruct(
            export.symbolic_shape(numbered_axes(shape, counts), scope=scope), kind, sharding=NamedSharding(chosen.mesh(ranks), spec)
        )
        for shape, kind, spec in zip(chosen.shapes, chosen.types, chosen.specs, strict=True)
    ]
    return export.export(function)(*specs).mlir_module()


def exported(chosen, ranks, annotates_one=False):
    """The text of a program with symbolic shapes, cut over ``ranks`` ranks; of one only if told so."""
    if chosen.specs is not None:
        return exported_region(chosen, ranks)
    scope = export.SymbolicScope(chosen.constraints)
    specs = [
        jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), kind)
        for shape, kind in zip(chosen.shapes, chosen.types, strict=True)
    ]
    text = export.export(jax.jit(chosen.function))(*specs).mlir_module()
    head = text.index("func.func public @main(")
    begin = head + len("func.func public @main(")
    end = text.index(") ->", begin)
    arguments = text[begin:end].split(", %arg")
    out = []
    for number, argument in enumerate(arguments):
        argument = argument if number == 0 else "%arg" + argument
        kind = re.search(r"tensor<[^>]*>", argument)
        cut = chosen.cuts[number]
        dims = ["{}"] * (kind.group().count("x"))
        if cut is not None and (ranks > 1 or annotates_one):
            dims[cut] = '{"x"}'
        order = f', spmd.order = "{cut}=zigzag"' if number in chosen.zigzag and cut is not None else ""
        attribute = f" {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>{order}}}"
        out.append(argument[: kind.end()] + attribute + argument[kind.end() :])
    mesh = f'  sdy.mesh @mesh = <["x"={ranks}]>\n'
    line = text.rindex("\n", 0, head) + 1
    return text[:line] + mesh + text[line:begin] + ", ".join(out) + text[end:]


def drawn_extents(chosen, source, counts):
    """An extent for each symbol, a multiple of what constraints say."""
    axes = chosen.axes if chosen.specs is not None else ""
    symbols = sorted({name for shape in chosen.shapes for name in re.findall(r"[a-z]+", shape) if name not in axes})
    extents = {
        name: min(chosen.most, max(chosen.least, source.choice([1, 2, 3, source.randint(1, 9), source.randint(1, 70), source.randint(30, 300)])))
        for name in symbols
    }
    for text in chosen.constraints:
        if found := re.fullmatch(r"([a-z]+) ([<>])= (\d+)", text):
            extents[found[1]] = (max if found[2] == ">" else min)(extents[found[1]], int(found[3]))
        if found := re.fullmatch(r"mod\((\w+), (\d+)\) == 0", numbered_axes(text, counts)):
            extents[found[1]] *= int(found[2])
    # The last first: what is at least another one comes before it.
    for text in reversed(chosen.constraints):
        if found := re.fullmatch(r"([a-z]+) >= ([a-z]+)( \+ \d+)?", text):
            extents[found[1]] = max(extents[found[1]], extents[found[2]] + int((found[3] or "+ 0").split()[1]))
    return extents


def arrays_for(chosen, extents, seed):
    random_numbers = np.random.default_rng(seed)
    arrays = []
    for shape, kind in zip(chosen.shapes, chosen.types, strict=True):
        sizes = [eval(part, {}, dict(extents)) for part in shape.split(",")]
        if kind == I32:
            arrays.append(random_numbers.integers(0, 1000, sizes).astype(np.int32))
        else:
            arrays.append(random_numbers.standard_normal(sizes).astype(np.float32))
    return arrays


def uneven(size, ranks, source):
    cuts = sorted(source.randint(0, size) for _ in range(ranks - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def says(result):
    lines = result.stderr.splitlines()
    return next((line for line in lines if "error:" in line or "differs" in line), (lines or ["nothing"])[0])


def uneven_sizes(chosen, arrays, ranks, source):
    """Options that cut each argument somewhere."""
    sizes = []
    for number, cut in enumerate(chosen.cuts):
        if cut is not None and ranks > 1:
            parts = uneven(arrays[number].shape[cut], ranks, source)
            sizes.append(f"--sizes={number}:{cut}={','.join(map(str, parts))}")
    return sizes


def write_arrays(chosen, ranks, source, draw, data):
    """Draws extents, and writes arguments of these and the results that JAX has for them; returns extents and arguments."""
    function, counts = chosen.bound(ranks)
    extents = drawn_extents(chosen, source, counts)
    arrays = arrays_for(chosen, extents | counts, draw)
    expected = jax.tree.leaves(jax.jit(function)(*map(jnp.asarray, arrays)))
    members = {f"in{i}": array for i, array in enumerate(arrays)}
    members |= {f"out{i}": np.asarray(array) for i, array in enumerate(expected)}
    np.savez(data, **members)
    return extents, arrays


def check_bytes(options, name, counts):
    """Compiles a program for each number of ranks, or once, with --reproducible, and compares bytes of results."""
    chosen = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        data, results = folder / f"{name}.npz", folder / "results.npz"
        artifacts = {}
        for ranks in [2] if options.symbolic_mesh else counts:
            model, artifact = folder / f"{name}-{ranks}.mlir", folder / f"{name}-{ranks}.so"
            model.write_text(exported(chosen, ranks, annotates_one=True))
            left_open = ["--dynamic=all", *(["--symbolic-mesh=x"] if options.symbolic_mesh else [])]
            compiled = run([options.shard_translate, str(model), *left_open, "--reproducible", "-o", str(artifact)])
            if compiled.returncode:
                return ("refused" if compiled.returncode == UNSUPPORTED else "FAILED"), says(compiled)
            artifacts |= dict.fromkeys(counts, artifact) if options.symbolic_mesh else {ranks: artifact}
        source = random.Random(f"{options.seed} {name} {','.join(map(str, counts))}")
        for draw in range(options.draws):
            extents, arrays = write_arrays(chosen, counts[0], source, draw, data)
            first = None
            for ranks, is_cut in itertools.product(counts, (False, True)):
                sizes = uneven_sizes(chosen, arrays, ranks, source) if is_cut else []
                sizes += [f"--ranks={ranks}"] if options.symbolic_mesh else []
                tolerance = [f"--rtol={chosen.tolerance}", f"--atol={chosen.tolerance}"]
                result = run([options.shard_run, str(artifacts[ranks]), f"--inputs=@{data}", f"--expect=@{data}",
                              f"--outputs=@{results}", *tolerance, *sizes])
                where = f"{extents} on {ranks} ranks {' '.join(sizes)}"
                if result.returncode:
                    return "FAILED", f"{where}: code {result.returncode}: {says(result)}"
                with np.load(results) as arrays_of:
                    bytes_of = {key: arrays_of[key].tobytes() for key in arrays_of.files}
                first = first or bytes_of
                if bytes_of != first:
                    return "FAILED", f"{where}: other bytes in {[key for key in first if first[key] != bytes_of[key]]}"
    return "passed", f"{options.draws} extents, the same bytes"


def gathers_in(options, model):
    """Ops of the program for one rank that take more of a cut dim than what is beside a block; or what is wrong with it."""
    passes = ["--spmd-import=dynamic=all", "--spmd-raise", "--spmd-propagate", "--spmd-partition"]
    local = run([options.shard_opt, str(model), *passes])
    if local.returncode:
        return says(local)
    return ", ".join(sorted(set(re.findall(r"local\.(?:all_gather|all_to_all|row_plan)\b", local.stdout))))


def check(options, name, counts):
    """Compiles a program once and runs it on each number of ranks; where the mesh is closed there is one number."""
    chosen = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        model, artifact, data = (folder / f"{name}{ending}" for ending in (".mlir", ".so", ".npz"))
        model.write_text(exported(chosen, 2 if options.symbolic_mesh else counts[0]))
        if options.without_gathers and (found := gathers_in(options, model)):
            return "FAILED", found
        if options.draws == 0:
            return "passed", "no extents"
        left_open = ["--dynamic=all", *(["--symbolic-mesh=x"] if options.symbolic_mesh else [])]
        quick = ["--quick"] if options.quick else []
        compiled = run([options.shard_translate, str(model), *left_open, *quick, "-o", str(artifact)])
        if compiled.returncode:
            return ("refused" if compiled.returncode == UNSUPPORTED else "FAILED"), says(compiled)
        source = random.Random(f"{options.seed} {name} {','.join(map(str, counts))}")
        for ranks, draw in itertools.product(counts, range(options.draws)):
            extents, arrays = write_arrays(chosen, ranks, source, draw, data)
            sizes = uneven_sizes(chosen, arrays, ranks, source) if draw % 2 else []
            tolerance = [f"--rtol={chosen.tolerance}", f"--atol={chosen.tolerance}"]
            sizes += [f"--ranks={ranks}"] if options.symbolic_mesh else []
            command = [options.shard_run, str(artifact), f"--inputs=@{data}", f"--expect=@{data}", *tolerance, *sizes]
            result = run(command)
            if result.returncode:
                return "FAILED", f"{extents} {' '.join(sizes)}: code {result.returncode}: {says(result)}"
    return "passed", f"{options.draws} extents"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--symbolic-mesh", action="store_true", help="one artifact for all numbers of ranks")
    parser.add_argument("--reproducible", action="store_true", help="compare bytes between numbers of ranks and cuts")
    parser.add_argument("--without-gathers", action="store_true", help="a program that gathers a cut dim, or asks for rows, fails")
    parser.add_argument("--quick", action="store_true", help="compile without LLVM's optimisations")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="keeps the last model, artifact and arrays here")
    parser.add_argument("--shard-translate", default="shard-translate")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--shard-opt", default="shard-opt")
    options = parser.parse_args()
    if options.list:
        print("\n".join(PROGRAMS))
        return 0
    counts = {"passed": 0, "FAILED": 0, "refused": 0}
    numbers = [int(ranks) for ranks in options.ranks.split(",")]
    alone = options.symbolic_mesh or options.reproducible
    for name in options.names or [name for name, chosen in PROGRAMS.items() if not (alone and chosen.specs is not None)]:
        for ranks in [numbers] if alone else [[number] for number in numbers]:
            if len(PROGRAMS[name].axes) == 2 and ranks[0] % 4:
                continue
            status, line = (check_bytes if options.reproducible else check)(options, name, ranks)
            counts[status] += 1
            print(f"{name}, {','.join(map(str, ranks))} ranks: {status}: {line}", flush=True)
    print(f"{counts['passed']} passed, {counts['FAILED']} failed, {counts['refused']} refused")
    return int(counts["FAILED"] > 0 or bool(options.names and counts["refused"]))


if __name__ == "__main__":
    sys.exit(main())

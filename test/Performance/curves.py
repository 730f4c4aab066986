"""Operators at growing sizes on one thread, beside JAX: points pass by chance, curves do not.

    curves.py [--shard-run PATH] [--below RATIO] [NAME...]

Each line is an operator; each cell has how many times as long JAX takes, then the milliseconds of both, the least of many runs. A line that has a
cell below RATIO (0.85), or one that fails or takes more than 100 s, ends with `<--`. `NAME...` takes those that hold one of the words. Found so: a
transform of a large prime length took time and memory by the square of it, eigenvalues by more than the cube.

Run it on one core (`taskset -c 1`); all of it takes more than an hour. Both run in turns. Of a busy machine the least of many runs says enough to
find what is several times too slow.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(0)
SECONDS, MOST_SECONDS, ROUNDS = 0.1, 100, 2


def normal(*shape):
    return jnp.asarray(RNG.standard_normal(shape).astype(np.float32))


def uniform(*shape):
    return jnp.asarray(RNG.uniform(0.1, 1, shape).astype(np.float32))


def doubles(*shape):
    with jax.enable_x64():
        return jnp.asarray(RNG.uniform(0.1, 1, shape))


def whole(most, *shape):
    return jnp.asarray(RNG.integers(0, most, shape).astype(np.int32))


def complexes(*shape):
    return (normal(*shape) + 1j * normal(*shape)).astype(jnp.complex64)


def positive(n):
    a = normal(n, n)
    return a @ a.T / n + jnp.eye(n)


def conv(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME")


def windows(x, size, start, combine):
    return lax.reduce_window(x, start, combine, (1, 1, size, size), (1, 1, 1, 1), "SAME")


ROWS = [(65536, 3), (65536, 8), (65536, 16), (16384, 64), (2048, 512), (64, 16384)]
COUNTS = [(10**k,) for k in (3, 5, 6)]


def each(make, sizes):
    """What makes the arguments of an operator, once they are wanted, one a size."""
    return [partial(make, *size) for size in sizes]


def squares(*sizes):
    return [(n,) for n in sizes]


CASES = {
    "fft of primes": (jnp.fft.fft, each(complexes, squares(101, 1009, 10007, 100003))),
    "fft of twice primes": (jnp.fft.fft, each(complexes, squares(202, 2018, 20014, 200006))),
    "fft of powers of two": (jnp.fft.fft, each(complexes, squares(2**10, 2**14, 2**18, 2**20))),
    "fft of odd lengths": (jnp.fft.fft, each(complexes, squares(3**6, 3**9, 5**6 * 7, 3**10 * 17))),
    "rfft of rows": (jnp.fft.rfft, each(normal, [(256, 60), (256, 600), (256, 6000)])),
    "sort": (jnp.sort, each(normal, COUNTS)),
    "sort of pairs": (lambda x, y: lax.sort((x, y), num_keys=1), each(lambda n: (normal(n), normal(n)), COUNTS)),
    "argsort": (jnp.argsort, each(normal, COUNTS)),
    "top 100": (lambda x: lax.top_k(x, 100), each(normal, COUNTS)),
    "top quarter": (lambda x: lax.top_k(x, x.shape[0] // 4), each(normal, COUNTS)),
    "median": (jnp.median, each(normal, COUNTS)),
    "unique": (lambda x: jnp.unique(x, size=1000), each(lambda n: whole(1000, n), COUNTS)),
    "cumsum": (jnp.cumsum, each(normal, COUNTS)),
    "cummax": (lax.cummax, each(normal, COUNTS)),
    "associative scan": (lambda x: lax.associative_scan(jnp.maximum, x), each(normal, COUNTS)),
    "searchsorted": (jnp.searchsorted, each(lambda n: (jnp.sort(uniform(n)), uniform(10000)), COUNTS)),
    "interp": (jnp.interp, each(lambda n: (uniform(100000), jnp.sort(uniform(n)), uniform(n)), squares(10, 1000))),
    "bincount": (lambda x: jnp.bincount(x, length=10000), each(lambda n: whole(10000, n), COUNTS)),
    "elements by two indices": (lambda x, i, j: x[i, j], each(lambda n: (normal(1000, 1000), whole(1000, n), whole(1000, n)), COUNTS)),
    "compress": (lambda x: jnp.compress(x > 0, x, size=x.shape[0] // 4), each(normal, COUNTS)),
    "sum of rows": (lambda x: x.sum(1), each(normal, ROWS)),
    "maximum of rows": (lambda x: x.max(1), each(normal, ROWS)),
    "argmax of rows": (lambda x: x.argmax(1), each(normal, ROWS)),
    "softplus of sums of rows": (lambda x: jax.nn.softplus(x.sum(1)), each(normal, ROWS)),
    "logsumexp of rows": (lambda x: jax.nn.logsumexp(x, 1), each(normal, ROWS)),
    "softmax of rows": (lambda x: jax.nn.softmax(x, 1), each(normal, ROWS)),
    "norm of rows": (lambda x: x / jnp.linalg.norm(x, axis=1, keepdims=True), each(normal, ROWS)),
    "variance of columns": (lambda x: x.var(0), each(normal, ROWS)),
    "sorted rows": (lambda x: jnp.sort(x, 1), each(normal, ROWS)),
    "complex product": (lambda x, y: x * y, each(lambda n: (complexes(n), complexes(n)), COUNTS)),
    "cholesky": (jnp.linalg.cholesky, each(positive, squares(64, 256, 1024))),
    "lu": (lambda a: jax.scipy.linalg.lu_factor(a)[0], each(lambda n: normal(n, n), squares(64, 256, 1024))),
    "qr": (jnp.linalg.qr, each(lambda n: normal(n, n), squares(64, 256, 512))),
    "qr of 32 columns": (jnp.linalg.qr, each(lambda n: normal(n, 32), squares(256, 2048, 16384))),
    "solve": (jnp.linalg.solve, each(lambda n: (positive(n), normal(n, n)), squares(64, 256, 1024))),
    "inverse": (jnp.linalg.inv, each(positive, squares(64, 256, 1024))),
    "determinant": (jnp.linalg.slogdet, each(positive, squares(64, 256, 1024))),
    "eigh": (lambda a: jnp.linalg.eigh(a + a.T), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "eigvalsh": (lambda a: jnp.linalg.eigvalsh(a + a.T), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "singular values": (lambda a: jnp.linalg.svd(a, compute_uv=False), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "least squares": (lambda a, b: jnp.linalg.lstsq(a, b)[0], each(lambda n: (normal(2 * n, n), normal(2 * n)), squares(16, 64))),
    "200 svds": (lambda a: jnp.linalg.svd(a, full_matrices=False), each(lambda n: normal(200, n, n), squares(3, 4, 8, 16))),
    "200 choleskys": (jnp.linalg.cholesky, each(lambda n: jnp.stack([positive(n)] * 200), squares(4, 16, 32))),
    "expm": (jax.scipy.linalg.expm, each(lambda n: normal(n, n) * 0.1, squares(16, 64, 256))),
    "large kernels": (conv, each(lambda n: (normal(1, 1, 128, 128), normal(1, 1, n, n)), squares(3, 9, 21, 41))),
    "many channels": (conv, each(lambda c: (normal(1, c, 32, 32), normal(c, c, 3, 3)), squares(3, 16, 64, 256))),
    "sums of large windows": (lambda x: windows(x, 31, 0.0, lax.add), each(lambda n: normal(1, 1, n, n), squares(128, 256))),
    "maxima of large windows": (lambda x: windows(x, 15, -jnp.inf, lax.max), each(lambda n: normal(1, 1, n, n), squares(128, 512))),
    "loop that sets elements": (lambda x: lax.fori_loop(0, x.shape[0], lambda i, a: a.at[i].set(a[i - 1] * 0.5 + x[i]), x), each(normal, squares(100, 1000, 10000))),
    "scan of a cell": (lambda x, w: lax.scan(lambda c, y: (jnp.tanh(w @ c + y), c.sum()), jnp.zeros(32), x)[1], each(lambda n: (normal(n, 32), normal(32, 32)), squares(10, 100, 1000))),
    "distances of pairs": (lambda a: lax.top_k(-((a[:, None] - a[None]) ** 2).sum(-1), 8), each(lambda n: normal(n, 3), squares(100, 500, 2000))),
    "products of f32": (jnp.matmul, each(lambda n: (normal(n, n), normal(n, n)), squares(16, 64, 256, 1024))),
    "products of bf16": (jnp.matmul, each(lambda n: (jnp.ones((n, n), jnp.bfloat16),) * 2, squares(64, 256, 1024))),
    "products of f16": (jnp.matmul, each(lambda n: (jnp.ones((n, n), jnp.float16),) * 2, squares(64, 256, 1024))),
    "products of i8": (lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), each(lambda n: (jnp.ones((n, n), jnp.int8),) * 2, squares(64, 256, 1024))),
    "products with three columns": (jnp.matmul, each(lambda n: (normal(n, n), normal(n, 3)), squares(64, 256, 1024))),
    "products with four columns": (jnp.matmul, each(lambda n: (normal(n, n), normal(n, 4)), squares(64, 256, 1024))),
    "long sums of products": (lambda a, b: a.T @ b, each(lambda n: (normal(n, 64), normal(n, 64)), squares(1024, 16384, 131072))),
    "256 small products": (jnp.matmul, each(lambda n: (normal(256, n, n), normal(256, n, n)), squares(3, 4, 8, 32))),
    "one query": (jax.nn.dot_product_attention, each(lambda n: (normal(1, 1, 8, 64), normal(1, n, 8, 64), normal(1, n, 8, 64)), squares(128, 1024, 8192))),
    # Functions of elements.
    **{name: (function, each(uniform, COUNTS)) for name, function in {
        "tanh": jnp.tanh,
        "erf_inv": lax.erf_inv,
        "erfc": lax.erfc,
        "lgamma": lax.lgamma,
        "digamma": lax.digamma,
        "i0e": lax.bessel_i0e,
        "i1e": lax.bessel_i1e,
        "log of normal cdf": jax.scipy.special.log_ndtr,
        "zeta": lambda x: jax.scipy.special.zeta(1 + x, x),
        "polygamma": lambda x: jax.scipy.special.polygamma(2, x),
        "exponential integral": jax.scipy.special.exp1,
        "gelu": jax.nn.gelu,
        "log1p": jnp.log1p,
        "expm1": jnp.expm1,
        "tan": jnp.tan,
        "atan2": lambda x: jnp.arctan2(x, x - 0.5),
        "asin": jnp.arcsin,
        "sinh": jnp.sinh,
        "atanh": lambda x: jnp.arctanh(x / 2),
        "asinh": jnp.arcsinh,
        "acosh": lambda x: jnp.arccosh(1 + x),
        "cbrt": jnp.cbrt,
        "power": lambda x: x ** x,
        "cube": lambda x: x ** 3,
        "7th power": lambda x: x ** 7,
        "igamma": lambda x: jax.scipy.special.gammainc(x, x + 0.5),
        "igammac": lambda x: jax.scipy.special.gammaincc(x, x + 0.5),
        "betainc": lambda x: jax.scipy.special.betainc(x, x, 1 - x),
        "float modulo": lambda x: x % 0.3,
        "floor division": lambda x: x // 0.3,
        "rounded": jnp.round,
        "nextafter": lambda x: jnp.nextafter(x, 2 * x),
        "frexp": jnp.frexp,
        "sinc": jnp.sinc,
        "logaddexp": lambda x: jnp.logaddexp(x, 1 - x),
        "chain of where": lambda x: jnp.where(x < 0.3, x, jnp.where(x < 0.5, x * x, jnp.where(x < 0.7, jnp.sqrt(x), 1 - x))),
        "piecewise": lambda x: jnp.select([x < 0.2, x < 0.4, x < 0.6], [x, jnp.sin(x), jnp.exp(x)], 0.0),
        "polynomial": lambda x: jnp.polyval(jnp.arange(12.0), x),
        "trapezoid": jnp.trapezoid,
        "gradient": jnp.gradient,
        "differences": jnp.diff,
        "cumprod": jnp.cumprod,
        "cumlogsumexp": lax.cumlogsumexp,
        "reversed cumsum": lambda x: lax.cumsum(x, reverse=True),
        "flip": jnp.flip,
        "roll": lambda x: jnp.roll(x, 17),
        "repeat": lambda x: jnp.repeat(x, 3),
        "tile": lambda x: jnp.tile(x, 3),
        "isnan": lambda x: jnp.isnan(x).any(),
        "nanmean": jnp.nanmean,
        "standard deviation": jnp.std,
        "product of all": jnp.prod,
        "maximum of all": jnp.max,
        "argmax of all": jnp.argmax,
        "count": lambda x: jnp.count_nonzero(x > 0.5),
        "histogram": lambda x: jnp.histogram(x, 50)[0],
        "quantiles": lambda x: jnp.quantile(x, jnp.asarray([0.1, 0.5, 0.9])),
        "digitize": lambda x: jnp.digitize(x, jnp.linspace(0, 1, 20)),
        "autocorrelation": lambda x: jnp.correlate(x, x[:9], "same"),
        "convolution of a line": lambda x: jnp.convolve(x, x[:31], "same"),
        "linear recurrence": lambda x: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x))[1],
        "sums of windows of a line": lambda x: lax.reduce_window(x, 0.0, lax.add, (8,), (1,), "VALID"),
        "first of windows": lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (4,), (4,), "VALID"),
        "dft of a line": lambda x: jnp.abs(jnp.fft.rfft(x)),
        "stack of three": lambda x: jnp.stack([x, x + 1, x * 2], -1),
        "stack of two rows": lambda x: jnp.stack([x, 2 * x]),
        "split and joined": lambda x: jnp.concatenate([x[x.shape[0] // 2 :], x[: x.shape[0] // 2]]),
        "every third": lambda x: x[::3] * 2,
        "even and odd": lambda x: x[::2] + x[1::2],
        "interleaved": lambda x: jnp.stack([x, -x], 1).reshape(-1),
        "clip": lambda x: jnp.clip(x, 0.2, 0.7),
        "loss of huber": lambda x: jnp.where(jnp.abs(x - 0.5) < 0.2, 0.5 * (x - 0.5) ** 2, 0.2 * (jnp.abs(x - 0.5) - 0.1)).mean(),
        "scan of a recurrence": lambda x: lax.scan(lambda c, y: (0.9 * c + y,) * 2, 0.0, x)[1],
        "sum by a loop": lambda x: lax.fori_loop(0, x.shape[0], lambda i, s: s + x[i] * x[-1 - i], 0.0),
        "map of a function": lambda x: lax.map(lambda y: jnp.sin(y) * y, x),
        "to bf16 and back": lambda x: x.astype(jnp.bfloat16).astype(jnp.float32),
        "to f16": lambda x: x.astype(jnp.float16),
        "to i8": lambda x: (x * 100).astype(jnp.int8),
        "bits": lambda x: lax.bitcast_convert_type(x, jnp.int32) >> 23,
        "unwrap": jnp.unwrap,
        "ptp": jnp.ptp,
        "average with weights": lambda x: jnp.average(x, weights=x),
        "dot": lambda x: x @ x,
        "covariance of two": lambda x: jnp.corrcoef(x, x * x),
        "nonzero": lambda x: jnp.nonzero(x > 0.5, size=x.shape[0] // 2)[0],
        "partition": lambda x: jnp.partition(x, x.shape[0] // 10),
        "rank of each": lambda x: jnp.argsort(jnp.argsort(x)),
        "packbits": lambda x: jnp.packbits(x > 0.5),
        "median filter": lambda x: jnp.median(jnp.stack([x[:-2], x[1:-1], x[2:]]), 0),
        "newton by a loop": lambda x: lax.fori_loop(0, 8, lambda i, y: 0.5 * (y + x / y), x),
        "while of all": lambda x: lax.while_loop(lambda y: y.sum() > 1, lambda y: y * 0.5, x),
        "cond of a scalar": lambda x: lax.cond(x[0] > 0.5, jnp.sin, jnp.cos, x),
        "gradient of logsumexp": jax.grad(jax.nn.logsumexp),
        "gradient of a norm": jax.grad(jnp.linalg.norm),
        "gradient of cumsum": jax.grad(lambda x: (jnp.cumsum(x) ** 2).sum()),
        "gradient of a sort": jax.grad(lambda x: (jnp.sort(x) * jnp.arange(x.shape[0])).sum()),
    }.items()},
    **{"f64 " + name: (function, each(doubles, COUNTS)) for name, function in {
        "exp": jnp.exp,
        "log": jnp.log,
        "sin": jnp.sin,
        "tanh": jnp.tanh,
        "erf": lax.erf,
        "erf_inv": lax.erf_inv,
        "lgamma": lax.lgamma,
        "digamma": lax.digamma,
        "power": lambda x: x ** x,
        "log1p": jnp.log1p,
        "expm1": jnp.expm1,
        "atan2": lambda x: jnp.arctan2(x, x - 0.5),
        "i0e": lax.bessel_i0e,
        "i1e": lax.bessel_i1e,
        "zeta": lambda x: jax.scipy.special.zeta(1 + x, x),
        "polygamma": lambda x: jax.scipy.special.polygamma(2, x),
        "igamma": lambda x: jax.scipy.special.gammainc(x, x + 0.5),
        "betainc": lambda x: jax.scipy.special.betainc(x, x, 1 - x),
        "logistic": jax.nn.sigmoid,
        "cbrt": jnp.cbrt,
        "tan": jnp.tan,
        "asin": jnp.arcsin,
        "cumsum": jnp.cumsum,
        "sort": jnp.sort,
        "sum": jnp.sum,
        "j0": lambda x: jax.scipy.special.bessel_jn(8 * x, v=1)[0],
    }.items()},
    # Rows and columns.
    **{name + " of rows": (function, each(normal, ROWS)) for name, function in {
        "cumsum": lambda x: jnp.cumsum(x, 1),
        "cumsum down columns": lambda x: jnp.cumsum(x, 0),
        "log-softmax": lambda x: jax.nn.log_softmax(x, 1),
        "softmax down columns": lambda x: jax.nn.softmax(x, 0),
        "argsort": lambda x: jnp.argsort(x, 1),
        "variance": lambda x: x.var(1),
        "median": lambda x: jnp.median(x, 1),
        "roll": lambda x: jnp.roll(x, 1, 1),
        "roll down columns": lambda x: jnp.roll(x, 1, 0),
        "flip": lambda x: jnp.flip(x, 1),
        "transpose": lambda x: x.T,
        "sum down columns": lambda x: x.sum(0),
        "maximum down columns": lambda x: x.max(0),
        "argmax down columns": lambda x: x.argmax(0),
        "differences": lambda x: jnp.diff(x, axis=1),
        "pad": lambda x: jnp.pad(x, 1),
        "pad by edges": lambda x: jnp.pad(x, 1, "edge"),
        "lower triangle": jnp.tril,
        "outer sum": lambda x: x[:, :, None] + x[:, None, :16],
        "layer norm": lambda x: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5),
        "rms norm": lambda x: x * lax.rsqrt((x * x).mean(1, keepdims=True)),
        "normalised columns": lambda x: (x - x.mean(0)) / x.std(0),
        "concatenation": lambda x: jnp.concatenate([x, 2 * x], 1),
        "repeat": lambda x: jnp.repeat(x, 2, 1),
        "repeat down columns": lambda x: jnp.repeat(x, 2, 0),
        "tile": lambda x: jnp.tile(x, (1, 2)),
        "any": lambda x: (x > 2).any(1),
        "logsumexp down columns": lambda x: jax.nn.logsumexp(x, 0),
        "one column": lambda x: x[:, 1] * 2,
        "column taken": lambda x: x.at[:, 1].set(0),
        "two halves": lambda x: x[:, : x.shape[1] // 2] * x[:, x.shape[1] - x.shape[1] // 2 :],
        "cross entropy": lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x, 1), jnp.zeros((x.shape[0], 1), jnp.int32) + 1, 1).mean(),
        "gradient of softmax": jax.grad(lambda x: (jax.nn.softmax(x, 1) ** 2).sum()),
        "gradient of maximum": jax.grad(lambda x: x.max(1).sum()),
        "top 2": lambda x: lax.top_k(x, 2),
        "cumprod": lambda x: jnp.cumprod(x, 1),
        "scan over": lambda x: lax.scan(lambda c, y: (c * 0.5 + y,) * 2, x[0], x)[1],
        "product with a vector": lambda x: x @ x[0],
        "vector with": lambda x: x[:, 0] @ x,
        "sorted by the first": lambda x: x[jnp.argsort(x[:, 0])],
        "distance to the first": lambda x: jnp.sqrt(((x - x[0]) ** 2).sum(1)),
        "norm of squares": lambda x: (x * x).sum(),
        "reversed": lambda x: x[::-1],
        "sum of both": lambda x: (x.sum(0), x.sum(1)),
        "complex": lambda x: lax.complex(x, x),
        "bf16 sum": lambda x: x.astype(jnp.bfloat16).sum(1),
    }.items()},
    # Indices.
    "rows taken": (lambda x, i: x[i], each(lambda n, m: (normal(n, m), whole(n, n)), ROWS)),
    "taken along rows": (lambda x, i: jnp.take_along_axis(x, i, 1), each(lambda n, m: (normal(n, m), whole(m, n, m)), ROWS)),
    "taken along columns": (lambda x, i: jnp.take_along_axis(x, i, 0), each(lambda n, m: (normal(n, m), whole(n, n, m)), ROWS)),
    "put along rows": (lambda x, i: jnp.put_along_axis(x, i, 0.0, 1, inplace=False), each(lambda n, m: (normal(n, m), whole(m, n, 1)), ROWS)),
    "one chosen of each row": (lambda x, i: x[jnp.arange(x.shape[0]), i], each(lambda n, m: (normal(n, m), whole(m, n)), ROWS)),
    "rows added": (lambda x, i: jnp.zeros_like(x).at[i].add(x), each(lambda n, m: (normal(n, m), whole(n, n)), ROWS)),
    "rows set": (lambda x, i: x.at[i].set(1.0), each(lambda n, m: (normal(n, m), whole(n, n)), ROWS)),
    "maximum of segments of rows": (lambda x, i: jax.ops.segment_max(x, i, x.shape[0] // 8), each(lambda n, m: (normal(n, m), whole(n // 8, n)), ROWS)),
    "one hot": (lambda i: jax.nn.one_hot(i, 64), each(lambda n: whole(64, n), COUNTS)),
    "segment sum": (lambda x, i: jax.ops.segment_sum(x, i, 1000), each(lambda n: (normal(n), whole(1000, n)), COUNTS)),
    "segment max": (lambda x, i: jax.ops.segment_max(x, i, 1000), each(lambda n: (normal(n), whole(1000, n)), COUNTS)),
    "elements taken": (lambda x, i: x[i], each(lambda n: (normal(n), whole(n, n)), COUNTS)),
    "elements added": (lambda x, i: x.at[i].add(1.0), each(lambda n: (normal(n), whole(n, n)), COUNTS)),
    "elements set": (lambda x, i: x.at[i].set(1.0), each(lambda n: (normal(n), whole(n, n)), COUNTS)),
    "elements multiplied": (lambda x, i: x.at[i].multiply(2.0), each(lambda n: (normal(n), whole(n, n)), COUNTS)),
    "is in": (lambda x, y: jnp.isin(x, y), each(lambda n: (whole(5000, n), whole(5000, 100)), COUNTS)),
    "lexsort": (lambda x, y: jnp.lexsort((x, y)), each(lambda n: (whole(100, n), whole(100, n)), COUNTS)),
    "sort of integers": (jnp.sort, each(lambda n: whole(10**6, n), COUNTS)),
    "argsort of integers": (jnp.argsort, each(lambda n: whole(10**6, n), COUNTS)),
    "sort of f64": (jnp.sort, each(doubles, COUNTS)),
    "pixels at coordinates": (lambda x, c: jax.scipy.ndimage.map_coordinates(x, [c[0], c[1]], order=1), each(lambda n: (normal(512, 512), uniform(2, n) * 500), COUNTS)),
    # Integers.
    **{"integers: " + name: (function, each(lambda n: (whole(10**6, n), whole(1000, n) + 1), COUNTS)) for name, function in {
        "quotient": lambda x, y: x // y,
        "remainder": lambda x, y: x % y,
        "lax.rem": lax.rem,
        "quotient by 10": lambda x, y: x // 10,
        "remainder by 7": lambda x, y: x % 7,
        "xor and shifts": lambda x, y: (x ^ (y << 3)) & (x >> 2),
        "population count": lambda x, y: lax.population_count(x),
        "leading zeros": lambda x, y: lax.clz(x),
        "power": lambda x, y: y ** 5,
        "power of both": lambda x, y: y ** (y & 7),
        "gcd": jnp.gcd,
        "sum": lambda x, y: x.sum(),
        "cumsum": lambda x, y: jnp.cumsum(x),
        "maximum": lambda x, y: x.max(),
        "product": lambda x, y: x * y,
        "mean": lambda x, y: x.mean(),
        "to f32": lambda x, y: x.astype(jnp.float32) / y,
        "u8 sum": lambda x, y: x.astype(jnp.uint8).sum(dtype=jnp.uint32),
        "i8 product": lambda x, y: x.astype(jnp.int8) * y.astype(jnp.int8),
        "i16 maximum": lambda x, y: x.astype(jnp.int16).max(),
        "are equal": lambda x, y: (x == y).sum(),
        "bits": lambda x, y: jnp.unpackbits(x.astype(jnp.uint8)),
    }.items()},
    # Random numbers.
    **{"random " + name: (function, each(lambda n: (whole(100, 2).astype(jnp.uint32), jnp.zeros(n)), COUNTS)) for name, function in {
        "bits": lambda k, x: jax.random.bits(k, x.shape),
        "uniform": lambda k, x: jax.random.uniform(k, x.shape),
        "normal": lambda k, x: jax.random.normal(k, x.shape),
        "integers": lambda k, x: jax.random.randint(k, x.shape, 0, 1000),
        "bernoulli": lambda k, x: jax.random.bernoulli(k, 0.3, x.shape),
        "exponential": lambda k, x: jax.random.exponential(k, x.shape),
        "gumbel": lambda k, x: jax.random.gumbel(k, x.shape),
        "categorical": lambda k, x: jax.random.categorical(k, x.reshape(-1, 10)),
        "permutation": lambda k, x: jax.random.permutation(k, x.shape[0]),
        "choice": lambda k, x: jax.random.choice(k, 1000, x.shape),
        "truncated normal": lambda k, x: jax.random.truncated_normal(k, -1, 1, x.shape),
        "laplace": lambda k, x: jax.random.laplace(k, x.shape),
        "dropout": lambda k, x: jnp.where(jax.random.bernoulli(k, 0.9, x.shape), x / 0.9, 0),
        "splits": lambda k, x: jax.random.split(k, x.shape[0]),
        "choice without replacement": lambda k, x: jax.random.choice(k, x.shape[0], (100,), replace=False),
        "sphere": lambda k, x: jax.random.ball(k, 3, shape=(x.shape[0] // 10,)),
        "gamma": lambda k, x: jax.random.gamma(k, 2.0, (x.shape[0] // 10,)),
        "poisson": lambda k, x: jax.random.poisson(k, 3.0, (x.shape[0] // 10,)),
        "beta": lambda k, x: jax.random.beta(k, 2.0, 3.0, (x.shape[0] // 10,)),
    }.items()},
    # Complex numbers.
    **{"complex " + name: (function, each(complexes, COUNTS)) for name, function in {
        "abs": jnp.abs,
        "angle": jnp.angle,
        "exp": jnp.exp,
        "log": jnp.log,
        "sqrt": jnp.sqrt,
        "quotient": lambda x: x / x[::-1],
        "sum": jnp.sum,
        "tanh": jnp.tanh,
        "square": lambda x: x * x,
        "real part": jnp.real,
        "conjugate product": lambda x: (x * x.conj()).real,
        "sin": jnp.sin,
        "power": lambda x: x ** 3,
        "product of all": jnp.prod,
        "cumsum": jnp.cumsum,
        "sort": jnp.sort,
        "inverse of transform": lambda x: jnp.fft.ifft(jnp.fft.fft(x) * 2),
        "dot": lambda x: jnp.vdot(x, x),
    }.items()},
    # Small matrices, many.
    **{f"{name} of small matrices": (function, each(lambda n: jnp.stack([positive(n)] * 4096), squares(2, 3, 6))) for name, function in {
        "solve": lambda a: jnp.linalg.solve(a, a[:, :, 0, None]),
        "inverse": jnp.linalg.inv,
        "determinant": jnp.linalg.det,
        "cholesky": jnp.linalg.cholesky,
        "product": lambda a: a @ a,
        "product with a vector": lambda a: jnp.einsum("bij,bj->bi", a, a[:, 0]),
        "trace": lambda a: jnp.trace(a, axis1=1, axis2=2),
        "eigh": lambda a: jnp.linalg.eigh(a)[0],
        "power": lambda a: jnp.linalg.matrix_power(a, 3),
        "transpose": lambda a: a.mT * 2,
        "qr": lambda a: jnp.linalg.qr(a)[1],
        "triangular solve": lambda a: jax.scipy.linalg.solve_triangular(a, a, lower=True),
        "diagonal": lambda a: jnp.diagonal(a, axis1=1, axis2=2),
    }.items()},
    "cross product": (jnp.cross, each(lambda n: (normal(n, 3), normal(n, 3)), squares(100, 10000, 100000))),
    "kronecker product": (jnp.kron, each(lambda n: (normal(n, n), normal(8, 8)), squares(8, 32, 128))),
    "outer product": (jnp.outer, each(lambda n: (normal(n), normal(n)), squares(32, 256, 2048))),
    "grid of a function": (lambda x: jnp.sin(x)[:, None] * jnp.cos(x) + jnp.hypot(*jnp.meshgrid(x, x)), each(normal, squares(32, 256, 1024))),
    "matrix of differences": (lambda x: jnp.exp(-((x[:, None] - x) ** 2)).sum(1), each(normal, squares(32, 256, 2048))),
    "diagonal matrix": (jnp.diag, each(normal, squares(32, 256, 2048))),
    "trace": (jnp.trace, each(lambda n: normal(n, n), squares(32, 256, 2048))),
    "vander": (lambda x: jnp.vander(x, 8), each(normal, COUNTS)),
    "permuted dims": (lambda x: x.transpose(0, 2, 1, 3), each(lambda n: normal(8, n, 8, 64), squares(16, 128, 1024))),
    "channels last": (lambda x: x.transpose(0, 2, 3, 1), each(lambda n: normal(4, 64, n, n), squares(8, 32, 128))),
    "average pool": (lambda x: windows(x, 3, 0.0, lax.add) / 9, each(lambda n: normal(4, 16, n, n), squares(16, 64, 128))),
    "max pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), each(lambda n: normal(4, 16, n, n), squares(16, 64, 128))),
    "gradient of max pool": (jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID").sum()), each(lambda n: normal(4, 16, n, n), squares(16, 64, 128))),
    "pool channels last": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), each(lambda n: normal(4, n, n, 16), squares(16, 64, 128))),
    "resize": (lambda x: jax.image.resize(x, (4, 2 * x.shape[1], 2 * x.shape[2], 3), "bilinear"), each(lambda n: normal(4, n, n, 3), squares(16, 64, 128))),
    "resize by nearest": (lambda x: jax.image.resize(x, (4, 2 * x.shape[1], 2 * x.shape[2], 3), "nearest"), each(lambda n: normal(4, n, n, 3), squares(16, 64, 128))),
    "dynamic updates in a loop": (lambda x: lax.fori_loop(0, x.shape[0], lambda i, a: lax.dynamic_update_slice(a, (a[i] * 2)[None], (i, 0)), x), each(lambda n: normal(n, 64), squares(16, 256, 4096))),
    "dynamic slice": (lambda x, i: lax.dynamic_slice(x, (i[0], 0), (x.shape[0] // 2, 64)) * 2, each(lambda n: (normal(n, 64), whole(10, 1)), squares(16, 256, 4096))),
    "scan of small products": (lambda w: lax.scan(lambda c, m: (m @ c,) * 2, w[0], w)[1], each(lambda n: normal(n, 4, 4), squares(10, 100, 10000))),
    "gru": (lambda x, w: lax.scan(lambda h, y: ((1 - jax.nn.sigmoid(w @ h)) * h + jnp.tanh(w @ (h + y)), 0.0), jnp.zeros(64), x)[0], each(lambda n: (normal(n, 64), normal(64, 64) * 0.1), squares(10, 100, 1000))),
    "runge-kutta": (lambda y: lax.fori_loop(0, 100, lambda i, y: y + 0.01 * jnp.sin(y + 0.005 * jnp.sin(y)), y), each(normal, squares(4, 1000, 100000))),
    "lorenz": (lambda y: lax.fori_loop(0, 10000, lambda i, y: y + 0.001 * jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 2.67 * y[2]]), y), each(normal, [(3,), (3, 100)])),
    "conjugate gradients": (lambda a, b: jax.scipy.sparse.linalg.cg(a, b, maxiter=20)[0], each(lambda n: (positive(n), normal(n)), squares(16, 128, 1024))),
    "polynomial fit": (lambda x, y: jnp.polyfit(x, y, 3), each(lambda n: (normal(n), normal(n)), squares(10, 1000, 10000))),
    "roots": (lambda p: jnp.roots(p, strip_zeros=False), each(normal, squares(4, 8, 16))),
    "einsum of three": (lambda a, b, c: jnp.einsum("bi,ij,bj->b", a, b, c), each(lambda n: (normal(1024, n), normal(n, n), normal(1024, n)), squares(4, 32, 256))),
    "bilinear form": (lambda a, b: jnp.einsum("bhi,bhj->bhij", a, b), each(lambda n: (normal(64, 8, n), normal(64, 8, n)), squares(4, 32, 128))),
    "depthwise": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=x.shape[1]), each(lambda c: (normal(1, c, 64, 64), normal(c, 1, 3, 3)), squares(8, 32, 128))),
    "convolution of lines": (lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME"), each(lambda n: (normal(4, 16, n), normal(32, 16, 9)), squares(64, 1024, 16384))),
    "welch": (lambda x: jax.scipy.signal.welch(x, nperseg=256)[1], each(normal, squares(1000, 10000, 100000))),
    "convolution by fft": (lambda x, y: jax.scipy.signal.fftconvolve(x, y, "same"), each(lambda n: (normal(n), normal(n // 4)), squares(100, 10000, 100000))),
    "filter of an image": (lambda x: jax.scipy.signal.convolve2d(x, jnp.ones((5, 5)), "same"), each(lambda n: normal(n, n), squares(32, 256, 1024))),
    "laplacian": (lambda x: jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1) - 4 * x, each(lambda n: normal(n, n), squares(32, 256, 1024))),
    "mixture of experts": (lambda x, w, i: jnp.einsum("nd,nde->ne", x, w[i]), each(lambda n: (normal(n, 32), normal(8, 32, 32), whole(8, n)), squares(16, 256, 4096))),
    "embedding": (lambda t, i: t[i].sum(1), each(lambda n: (normal(10000, 64), whole(10000, n, 8)), squares(16, 256, 4096))),
    "gradient of embedding": (lambda t, i: jax.grad(lambda t: (t[i] ** 2).sum())(t), each(lambda n: (normal(10000, 64), whole(10000, n, 8)), squares(16, 256, 4096))),
    "adam": (lambda p, g, m, v: (p - 1e-3 * (0.9 * m + 0.1 * g) / (jnp.sqrt(0.999 * v + 0.001 * g * g) + 1e-8), 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g), each(lambda n: (normal(n), normal(n), normal(n), uniform(n)), COUNTS)),
    "mlp": (lambda x, w: jax.nn.relu(jax.nn.relu(x @ w) @ w), each(lambda n: (normal(n, 128), normal(128, 128)), squares(1, 32, 1024))),
    "gradient of mlp": (jax.grad(lambda w, x: (jax.nn.relu(jax.nn.relu(x @ w) @ w) ** 2).sum()), each(lambda n: (normal(128, 128), normal(n, 128)), squares(1, 32, 1024))),
}


def least_of_jax(function, arguments):
    jax.block_until_ready(function(*arguments))
    times, begin = [], time.perf_counter()
    while len(times) < 3 or (len(times) < 200 and time.perf_counter() - begin < SECONDS):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def on_host(array):
    return np.asarray(array).view(np.uint16) if array.dtype == jnp.bfloat16 else np.asarray(array)


def cell(tool, function, make, folder):
    """What a cell says, and its ratio (0 if it failed)."""
    made = make()
    arguments = made if isinstance(made, tuple) else (made,)
    with jax.enable_x64() if any(array.dtype == np.float64 for array in arguments) else contextlib.nullcontext():
        return measured(tool, function, arguments, folder)


def measured(tool, function, arguments, folder):
    """The same of arguments."""
    compiled = jax.jit(function, keep_unused=True)
    model, inputs = folder / "model.mlir", folder / "inputs.npz"
    model.write_text(compiled.lower(*arguments).as_text())
    np.savez(inputs, **{f"in{i}": on_host(array) for i, array in enumerate(arguments)})
    theirs = least_of_jax(compiled, arguments)
    steps = int(np.clip(1e3 * SECONDS / max(theirs, 0.01), 3, 200))
    command = [tool, model, "--threads=1", f"--repeat={steps}", "--report=json"]
    # Files of arrays have no bf16; what is read of it is random.
    if all(array.dtype != jnp.bfloat16 for array in arguments):
        command.append(f"--inputs=@{inputs}")
    ours = np.inf
    for _ in range(ROUNDS):
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return f"more than {MOST_SECONDS} s ({theirs:.3g} ms)", 0
        if run.returncode:
            return f"code {run.returncode}: {run.stderr.strip()[-80:]}", 0
        ours = min(ours, max(json.loads(run.stdout[run.stdout.index("{"):])["ms_min"], 1e-6))
        theirs = min(theirs, least_of_jax(compiled, arguments))
    return f"{theirs / ours:6.2f} ({theirs:.3g} / {ours:.3g})", theirs / ours


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default="build/bin/shard-run")
    parser.add_argument("--below", type=float, default=0.85)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        # A second round finds what the first has compiled, and no other run does.
        os.environ["SHARDC_CACHE_DIR"] = f"{folder}/cache"
        for name, (function, sizes) in CASES.items():
            if options.names and not any(word in name for word in options.names):
                continue
            cells = [cell(options.shard_run, function, make, Path(folder)) for make in sizes]
            is_slow = any(ratio < options.below for _, ratio in cells)
            slow += is_slow
            print(f"{name:28}", " | ".join(text for text, _ in cells), "<--" if is_slow else "", flush=True)
    print(f"{slow} with a size below {options.below}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

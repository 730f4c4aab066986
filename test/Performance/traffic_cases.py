"""The operators of traffic.py: a function of arrays, and the shapes of its arguments."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(0)


def whole(most, *shape):
    return RNG.integers(0, most, shape).astype(np.int32)


def positive(*shape):
    a = RNG.standard_normal(shape).astype(np.float32)
    return a @ np.swapaxes(a, -1, -2) / shape[-1] + np.eye(shape[-1], dtype=np.float32)


def complexes(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(np.complex64)


def arrays(arguments):
    """A tuple is the shape of random floats; an array is itself."""
    return [RNG.uniform(0.1, 0.9, a).astype(np.float32) if isinstance(a, tuple) else a for a in arguments]


def on_host(array):
    array = np.asarray(array)
    return array.view(np.uint16) if array.dtype == jnp.bfloat16 else array


M = (256, 192)
SQUARE = (192, 192)
LINE = (4096,)
IMAGE = (8, 16, 32, 32)
LAST = (8, 32, 32, 16)
CUBE = (32, 48, 64)


def conv(x, k, strides=(1, 1), padding="SAME", **options):
    return lax.conv_general_dilated(x, k, strides, padding, **options)


def conv_last(x, k, **options):
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def window(x, start, combine, size=2, stride=2, padding="VALID"):
    return lax.reduce_window(x, start, combine, (1, 1, size, size), (1, 1, stride, stride), padding)


def layer_norm(x, scale):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale


def batch_norm(x):
    mean = x.mean((0, 2, 3), keepdims=True)
    return (x - mean) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)


def group_norm(x):
    g = x.reshape(8, 4, 4, 32, 32)
    mean = g.mean((2, 3, 4), keepdims=True)
    return ((g - mean) * lax.rsqrt(g.var((2, 3, 4), keepdims=True) + 1e-5)).reshape(x.shape)


def cross_entropy(x, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(x, -1), labels[:, None], -1).mean()


def attention(q, k, v, **options):
    return jax.nn.dot_product_attention(q, k, v, **options)


def heat(x):
    return lax.fori_loop(0, 4, lambda _, u: u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u), x)


def adam(p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return p - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v


def mlp(x, w1, w2):
    return jax.nn.gelu(x @ w1) @ w2


def resize(shape, method):
    return lambda x: jax.image.resize(x, shape, method)


def on_axis(function, axis, **options):
    return lambda x: function(x, axis=axis, **options)


def scan_cell(x, w):
    return lax.scan(lambda c, y: ((c := jnp.tanh(c @ w + y)), c), jnp.zeros(x.shape[1:]), x)[1]


CASES = {
    # Points
    "gelu": (jax.nn.gelu, [M]),
    "silu * gate": (lambda x, y: jax.nn.silu(x) * y, [M, M]),
    "where": (lambda x, y: jnp.where(x > y, x, 2 * y), [M, M]),
    "clip": (lambda x: jnp.clip(x, 0.2, 0.5), [M]),
    "add row": (lambda x, b: x + b, [M, (192,)]),
    "add column": (lambda x, b: x + b[:, None], [M, (256,)]),
    "outer": (jnp.outer, [(256,), (192,)]),
    "outer of one": (lambda x: jnp.outer(x, x), [(256,)]),
    "pairwise distances": (lambda x: jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1), [(256, 4)]),
    "pairwise distances of two": (lambda x, y: jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1) + 1), [(256, 4), (192, 4)]),
    "distances by products": (lambda x: (x * x).sum(1)[:, None] + (x * x).sum(1)[None] - 2 * x @ x.T, [(256, 32)]),
    "x + x.T": (lambda x: x + x.T, [SQUARE]),
    "symmetrize minus": (lambda x: (x - x.T) / 2, [SQUARE]),
    "cast bf16": (lambda x: x.astype(jnp.bfloat16), [M]),
    # Products
    "matmul": (jnp.matmul, [M, (192, 64)]),
    "matmul large right": (jnp.matmul, [(64, 192), (192, 256)]),
    "matmul both": (jnp.matmul, [SQUARE, SQUARE]),
    "x.T @ x": (lambda x: x.T @ x, [M]),
    "x.T @ x tall": (lambda x: x.T @ x, [(4096, 32)]),
    "x @ x.T": (lambda x: x @ x.T, [M]),
    "x @ x.T tall": (lambda x: x @ x.T, [(512, 16)]),
    "x @ x": (lambda x: x @ x, [SQUARE]),
    "x.T @ y": (lambda x, y: x.T @ y, [M, M]),
    "x.T @ y tall": (lambda x, y: x.T @ y, [(4096, 32), (4096, 32)]),
    "x @ y.T": (lambda x, y: x @ y.T, [M, M]),
    "matvec": (jnp.matmul, [M, (192,)]),
    "vecmat": (lambda v, x: v @ x, [(256,), M]),
    "dot": (jnp.dot, [LINE, LINE]),
    "batched matmul": (jnp.matmul, [(16, 64, 48), (16, 48, 32)]),
    "einsum bij,bjk->bki": (lambda x, y: jnp.einsum("bij,bjk->bki", x, y), [(16, 64, 48), (16, 48, 32)]),
    "einsum bilinear": (lambda x, w, y: jnp.einsum("bi,kij,bj->bk", x, w, y), [(64, 32), (16, 32, 32), (64, 32)]),
    "einsum trace": (lambda x, y: jnp.einsum("ij,ji->", x, y), [SQUARE, SQUARE]),
    "tensordot": (lambda x, y: jnp.tensordot(x, y, 2), [CUBE, (48, 64, 16)]),
    "kron": (jnp.kron, [(16, 16), (8, 8)]),
    "three products": (lambda x, y, z: x @ y @ z, [M, (192, 64), (64, 32)]),
    "A x A.T": (lambda a, x: a @ x @ a.T, [SQUARE, (192, 192)]),
    "vander": (lambda x: jnp.vander(x, 8), [(256,)]),
    "mlp": (mlp, [(256, 64), (64, 128), (128, 64)]),
    "mlp weights": (mlp, [(16, 64), (64, 256), (256, 64)]),
    "covariance": (jnp.cov, [(64, 256)]),
    "corrcoef": (jnp.corrcoef, [(64, 256)]),
    "gram of features": (lambda x: jnp.einsum("bchw,bdhw->bcd", x, x), [IMAGE]),
    # Reductions
    "sum": (jnp.sum, [M]),
    "sum 0": (on_axis(jnp.sum, 0), [M]),
    "sum 1": (on_axis(jnp.sum, 1), [M]),
    "max 0": (on_axis(jnp.max, 0), [M]),
    "prod 1": (on_axis(jnp.prod, 1), [M]),
    "mean and var": (lambda x: (x.mean(0), x.var(0)), [M]),
    "std whole": (jnp.std, [M]),
    "logsumexp 1": (on_axis(jax.nn.logsumexp, 1), [M]),
    "argmax 0": (on_axis(jnp.argmax, 0), [M]),
    "argmin 1": (on_axis(jnp.argmin, 1), [M]),
    "argmax whole": (jnp.argmax, [M]),
    "norm": (jnp.linalg.norm, [M]),
    "norm 1": (on_axis(jnp.linalg.norm, 1), [M]),
    "any all": (lambda x: (jnp.any(x > 0.8, 0), jnp.all(x > 0.8, 1)), [M]),
    "count_nonzero": (lambda x: jnp.count_nonzero(x > 0.5, 0), [M]),
    "ptp": (on_axis(jnp.ptp, 0), [M]),
    "trace": (jnp.trace, [SQUARE]),
    "diag": (jnp.diag, [SQUARE]),
    "diag of line": (jnp.diag, [(192,)]),
    "diagonal offset": (lambda x: jnp.diagonal(x, 3), [SQUARE]),
    "median 0": (on_axis(jnp.median, 0), [M]),
    "quantile 1": (lambda x: jnp.quantile(x, 0.3, axis=1), [M]),
    "percentile whole": (lambda x: jnp.percentile(x, 25.0), [M]),
    "median whole": (jnp.median, [LINE]),
    "average": (lambda x, w: jnp.average(x, 0, w), [M, (256,)]),
    "softmax 0": (on_axis(jax.nn.softmax, 0), [M]),
    "softmax 1": (on_axis(jax.nn.softmax, 1), [M]),
    "log_softmax 1": (on_axis(jax.nn.log_softmax, 1), [M]),
    "standardize": (lambda x: jax.nn.standardize(x, 0), [M]),
    "cross entropy": (cross_entropy, [M, whole(192, 256)]),
    "one_hot": (lambda i: jax.nn.one_hot(i, 64), [whole(64, 256)]),
    "layer norm": (layer_norm, [M, (192,)]),
    "batch norm": (batch_norm, [IMAGE]),
    "group norm": (group_norm, [IMAGE]),
    # Scans
    "cumsum 0": (on_axis(jnp.cumsum, 0), [M]),
    "cumsum 1": (on_axis(jnp.cumsum, 1), [M]),
    "cumprod 0": (on_axis(jnp.cumprod, 0), [M]),
    "cummax 0": (on_axis(lax.cummax, 0), [M]),
    "cumsum of line": (jnp.cumsum, [LINE]),
    "cumlogsumexp": (on_axis(lax.cumlogsumexp, 0), [M]),
    "associative scan": (lambda x: lax.associative_scan(jnp.add, x), [M]),
    "scan of a cell": (scan_cell, [(16, 64, 32), (32, 32)]),
    "diff": (on_axis(jnp.diff, 0), [M]),
    "gradient": (lambda x: jnp.gradient(x), [M]),
    "trapezoid": (lambda x: jax.scipy.integrate.trapezoid(x, axis=0), [M]),
    "ediff1d": (jnp.ediff1d, [LINE]),
    "unwrap": (jnp.unwrap, [LINE]),
    # Sorts
    "sort 0": (on_axis(jnp.sort, 0), [M]),
    "sort 1": (on_axis(jnp.sort, 1), [M]),
    "sort of line": (jnp.sort, [LINE]),
    "argsort 0": (on_axis(jnp.argsort, 0), [M]),
    "argsort of line": (jnp.argsort, [LINE]),
    "lexsort": (lambda x, y: jnp.lexsort((x, y)), [LINE, LINE]),
    "top_k 8": (lambda x: lax.top_k(x, 8), [M]),
    "top_k 8 of line": (lambda x: lax.top_k(x, 8), [LINE]),
    "top_k half": (lambda x: lax.top_k(x, 96), [M]),
    "approx_max_k": (lambda x: lax.approx_max_k(x, 8), [M]),
    "partition": (lambda x: jnp.partition(x, 16, axis=0), [M]),
    "searchsorted": (jnp.searchsorted, [np.sort(RNG.uniform(0, 1, 4096).astype(np.float32)), (256,)]),
    "searchsorted queries": (jnp.searchsorted, [np.sort(RNG.uniform(0, 1, 256).astype(np.float32)), (4096,)]),
    "digitize": (lambda x, b: jnp.digitize(x, b), [LINE, np.linspace(0, 1, 16).astype(np.float32)]),
    "histogram": (lambda x: jnp.histogram(x, 32, (0.0, 1.0))[0], [LINE]),
    "bincount": (lambda x: jnp.bincount(x, length=64), [whole(64, 4096)]),
    "unique": (lambda x: jnp.unique(x, size=64), [whole(64, 1024)]),
    "nonzero": (lambda x: jnp.nonzero(x > 0.5, size=512), [(1024,)]),
    "isin": (lambda x, y: jnp.isin(x, y), [whole(64, 1024), whole(64, 16)]),
    "interp": (jnp.interp, [LINE, np.linspace(0, 1, 64).astype(np.float32), (64,)]),
    # Shapes
    "transpose": (lambda x: x.T * 2, [M]),
    "transpose 3": (lambda x: jnp.transpose(x, (2, 0, 1)) + 1, [CUBE]),
    "reshape merge": (lambda x: x.reshape(-1) + 1, [M]),
    "reshape split": (lambda x: x.reshape(64, 64) + 1, [LINE]),
    "reshape other": (lambda x: x.reshape(192, 256) + 1, [M]),
    "reshape heads": (lambda x: x.reshape(256, 8, 24).transpose(1, 0, 2) + 1, [M]),
    "patches": (lambda x: x.reshape(8, 16, 8, 4, 8, 4).transpose(0, 2, 4, 1, 3, 5).reshape(8, 64, 256) + 1, [IMAGE]),
    "pixel shuffle": (lambda x: x.reshape(8, 4, 2, 2, 32, 32).transpose(0, 1, 4, 2, 5, 3).reshape(8, 4, 64, 64) + 1, [IMAGE]),
    "flip 0": (on_axis(jnp.flip, 0), [M]),
    "flip both": (jnp.flip, [M]),
    "rot90": (jnp.rot90, [SQUARE]),
    "roll 1": (lambda x: jnp.roll(x, 1, 0), [M]),
    "roll half": (lambda x: jnp.roll(x, 128, 0), [M]),
    "roll both": (lambda x: jnp.roll(x, (3, 5), (0, 1)), [M]),
    "fftshift": (jnp.fft.fftshift, [M]),
    "pad": (lambda x: jnp.pad(x, 3), [M]),
    "pad edge": (lambda x: jnp.pad(x, 3, "edge"), [M]),
    "pad reflect": (lambda x: jnp.pad(x, 3, "reflect"), [M]),
    "pad wrap": (lambda x: jnp.pad(x, 3, "wrap"), [M]),
    "pad symmetric": (lambda x: jnp.pad(x, 3, "symmetric"), [M]),
    "concatenate 0": (lambda x, y: jnp.concatenate([x, y]), [M, M]),
    "concatenate 1": (lambda x, y: jnp.concatenate([x, y], 1), [M, M]),
    "stack 0": (lambda x, y: jnp.stack([x, y]), [M, M]),
    "stack last": (lambda x, y: jnp.stack([x, y], -1), [M, M]),
    "split": (lambda x: jnp.split(x, 4), [M]),
    "split 1": (lambda x: jnp.split(x, 3, 1), [M]),
    "slice": (lambda x: x[10:200, 5:150], [M]),
    "slice first": (lambda x: x[:32], [M]),
    "slice row": (lambda x: x[17], [M]),
    "slice strided": (lambda x: x[::2, 1::3], [M]),
    "slice reversed": (lambda x: x[::-1], [M]),
    "even and odd": (lambda x: x[::2] + x[1::2], [M]),
    "interleave": (lambda x, y: jnp.stack([x, y], 1).reshape(512, 192), [M, M]),
    "neighbours": (lambda x: x[2:] + x[:-2] - 2 * x[1:-1], [M]),
    "halves added": (lambda x: x[:128] + x[128:], [M]),
    "rotate halves": (lambda x: jnp.concatenate([-x[:, 96:], x[:, :96]], 1), [M]),
    "repeat": (lambda x: jnp.repeat(x, 3, 0), [M]),
    "tile": (lambda x: jnp.tile(x, (2, 3)), [M]),
    "tril": (jnp.tril, [SQUARE]),
    "broadcast_to": (lambda x: jnp.broadcast_to(x, (8, *M)) * 2, [M]),
    "meshgrid": (lambda x, y: jnp.meshgrid(x, y), [(256,), (192,)]),
    "block": (lambda x, y: jnp.block([[x, y], [y, x]]), [SQUARE, SQUARE]),
    "delete": (lambda x: jnp.delete(x, 7, 0), [M]),
    "insert": (lambda x: jnp.insert(x, 7, 1.0, 0), [M]),
    "append row": (lambda x, r: jnp.concatenate([x, r[None]]), [M, (192,)]),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, 0), (32, 192)), [M, np.int32(17)]),
    "dynamic_update_slice": (lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)), [M, (32, 192), np.int32(17)]),
    "toeplitz": (jax.scipy.linalg.toeplitz, [(256,)]),
    # Rows
    "take rows": (lambda x, i: x[i], [M, whole(256, 64)]),
    "take many rows": (lambda x, i: x[i], [M, whole(256, 4096)]),
    "take columns": (lambda x, i: x[:, i], [M, whole(192, 64)]),
    "take fixed rows": (lambda x: x[jnp.array([3, 77, 200, 11])], [M]),
    "permute fixed": (lambda x: x[jnp.asarray(np.random.default_rng(1).permutation(256))], [M]),
    "take_along_axis 0": (lambda x, i: jnp.take_along_axis(x, i, 0), [M, whole(256, 16, 192)]),
    "take_along_axis 1": (lambda x, i: jnp.take_along_axis(x, i, 1), [M, whole(192, 256, 4)]),
    "two indices": (lambda x, i, j: x[i, j], [M, whole(192, 512), whole(192, 512)]),
    "set row": (lambda x: x.at[17].set(0.0), [M]),
    "set rows": (lambda x, i, u: x.at[i].set(u), [M, whole(256, 16), (16, 192)]),
    "add rows": (lambda x, i, u: x.at[i].add(u), [M, whole(256, 1024), (1024, 192)]),
    "max rows": (lambda x, i, u: x.at[i].max(u), [M, whole(256, 1024), (1024, 192)]),
    "set block": (lambda x: x.at[3:100, 5:9].set(1.0), [M]),
    "add strided": (lambda x: x.at[::2].add(1.0), [M]),
    "segment_sum": (lambda x, i: jax.ops.segment_sum(x, i, 64), [M, whole(64, 256)]),
    "segment_max": (lambda x, i: jax.ops.segment_max(x, i, 64), [M, whole(64, 256)]),
    "segment_sum sorted": (lambda x, i: jax.ops.segment_sum(x, i, 64, indices_are_sorted=True), [M, np.sort(whole(64, 256))]),
    "embedding": (lambda t, i: t[i], [(1024, 32), whole(1024, 16, 64)]),
    "messages": (lambda x, s, r: jax.ops.segment_sum(x[s], r, 256), [M, whole(256, 1024), whole(256, 1024)]),
    "compress": (lambda x: jnp.compress(x > 0.5, x, size=1024), [LINE]),
    "choose": (lambda x: jnp.select([x > 0.5, x > 0.2], [x, 2 * x], 0.0), [M]),
    "map_coordinates": (lambda x, c: jax.scipy.ndimage.map_coordinates(x, [c[0] * 255, c[1] * 191], 1), [M, (2, 4096)]),
    # Windows
    "conv": (conv, [IMAGE, (32, 16, 3, 3)]),
    "conv 5x5": (conv, [IMAGE, (16, 16, 5, 5)]),
    "conv valid": (lambda x, k: conv(x, k, padding="VALID"), [IMAGE, (16, 16, 3, 3)]),
    "conv strided": (lambda x, k: conv(x, k, (2, 2)), [IMAGE, (16, 16, 3, 3)]),
    "conv dilated": (lambda x, k: conv(x, k, rhs_dilation=(2, 2)), [IMAGE, (16, 16, 3, 3)]),
    "conv patches": (lambda x, k: conv(x, k, (4, 4), "VALID"), [IMAGE, (64, 16, 4, 4)]),
    "conv grouped": (lambda x, k: conv(x, k, feature_group_count=4), [IMAGE, (16, 4, 3, 3)]),
    "conv depthwise": (lambda x, k: conv(x, k, feature_group_count=16), [IMAGE, (16, 1, 3, 3)]),
    "conv transposed": (lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), [LAST, (3, 3, 16, 16)]),
    "conv 1x1": (conv, [IMAGE, (32, 16, 1, 1)]),
    "conv last": (conv_last, [LAST, (3, 3, 16, 32)]),
    "conv 1d": (lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME"), [(4, 16, 256), (16, 16, 5)]),
    "conv weights": (conv, [(2, 32, 8, 8), (64, 32, 3, 3)]),
    "convolve": (lambda x, k: jnp.convolve(x, k, "same"), [LINE, (9,)]),
    "correlate": (lambda x, k: jnp.correlate(x, k, "valid"), [LINE, (9,)]),
    "convolve2d": (lambda x, k: jax.scipy.signal.convolve2d(x, k, "same"), [M, (5, 5)]),
    "fftconvolve": (lambda x, k: jax.scipy.signal.fftconvolve(x, k, "same"), [(1024,), (64,)]),
    "max pool": (lambda x: window(x, -jnp.inf, lax.max), [IMAGE]),
    "avg pool": (lambda x: window(x, 0.0, lax.add), [IMAGE]),
    "max pool 3 overlapping": (lambda x: window(x, -jnp.inf, lax.max, 3, 2, "SAME"), [IMAGE]),
    "avg pool 3": (lambda x: window(x, 0.0, lax.add, 3, 1, "SAME"), [IMAGE]),
    "global pool": (lambda x: x.mean((2, 3)), [IMAGE]),
    "upsample nearest": (lambda x: jnp.repeat(jnp.repeat(x, 2, 2), 2, 3), [IMAGE]),
    "resize nearest": (resize((8, 16, 64, 64), "nearest"), [IMAGE]),
    "resize bilinear up": (resize((512, 384), "bilinear"), [M]),
    "resize bilinear down": (resize((128, 96), "bilinear"), [M]),
    "resize bilinear odd": (resize((300, 200), "bilinear"), [M]),
    "resize bilinear image": (resize((8, 16, 64, 64), "bilinear"), [IMAGE]),
    "resize cubic": (resize((512, 384), "cubic"), [M]),
    "resize lanczos": (resize((512, 384), "lanczos3"), [M]),
    "heat": (heat, [M]),
    "laplacian 3d": (lambda x: sum(jnp.roll(x, s, a) for s in (1, -1) for a in range(3)) - 6 * x, [CUBE]),
    "im2col": (lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME"), [IMAGE]),
    # Transforms
    "fft of line": (jnp.fft.fft, [complexes(4096)]),
    "fft 0": (lambda x: jnp.fft.fft(x, axis=0), [complexes(*M)]),
    "fft2": (jnp.fft.fft2, [complexes(*M)]),
    "rfft 0": (lambda x: jnp.fft.rfft(x, axis=0), [M]),
    "rfft2": (jnp.fft.rfft2, [M]),
    "irfft2 of rfft2": (lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x) * 0.5), [M]),
    "fftn": (jnp.fft.fftn, [complexes(32, 32, 32)]),
    "dct": (lambda x: jax.scipy.fft.dct(x, axis=0), [M]),
    "spectral modes": (lambda x, w: jnp.fft.irfft2(jnp.pad(jnp.einsum("bixy,ioxy->boxy", jnp.fft.rfft2(x)[:, :, :8, :8], w), ((0, 0), (0, 0), (0, 24), (0, 9))), s=(32, 32)), [IMAGE, complexes(16, 16, 8, 8)]),
    "stft": (lambda x: jax.scipy.signal.stft(x, nperseg=256)[2], [LINE]),
    # Attention
    "attention": (attention, [(4, 64, 8, 32)] * 3),
    "attention causal": (lambda q, k, v: attention(q, k, v, is_causal=True), [(4, 64, 8, 32)] * 3),
    "attention grouped": (lambda q, k, v: attention(q, k, v), [(4, 64, 8, 32), (4, 64, 4, 32), (4, 64, 4, 32)]),
    "attention one query": (lambda q, k, v: attention(q, k, v), [(4, 1, 8, 32), (4, 256, 8, 32), (4, 256, 8, 32)]),
    "self attention": (lambda x, w: attention(*jnp.split((x @ w).reshape(4, 64, 24, 16), 3, 2)), [(4, 64, 128), (128, 384)]),
    "linear attention": (lambda q, k, v: q @ (jnp.swapaxes(k, 1, 2) @ v), [(8, 256, 32)] * 3),
    "rotary": (lambda x: jnp.concatenate([x[..., :16] * 0.5 - x[..., 16:] * 0.3, x[..., 16:] * 0.5 + x[..., :16] * 0.3], -1), [(4, 64, 8, 32)]),
    # Decompositions
    "cholesky": (jnp.linalg.cholesky, [positive(64, 64)]),
    "batched cholesky": (jnp.linalg.cholesky, [positive(16, 32, 32)]),
    "solve": (jnp.linalg.solve, [positive(64, 64), (64, 32)]),
    "inverse": (jnp.linalg.inv, [positive(64, 64)]),
    "slogdet": (jnp.linalg.slogdet, [positive(64, 64)]),
    "qr": (lambda x: jnp.linalg.qr(x), [(256, 16)]),
    "eigh": (lambda a: jnp.linalg.eigh(a), [positive(64, 64)]),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), [(64, 32)]),
    "batched inverse": (jnp.linalg.inv, [positive(16, 16, 16)]),
    "triangular solve": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), [positive(64, 64), (64, 256)]),
    "lstsq": (lambda a, b: jnp.linalg.lstsq(a, b)[0], [(256, 16), (256,)]),
    "expm": (jax.scipy.linalg.expm, [positive(32, 32)]),
    "matrix_power": (lambda a: jnp.linalg.matrix_power(a, 5), [SQUARE]),
    "cross": (jnp.cross, [(1024, 3), (1024, 3)]),
    "conjugate gradients": (lambda a, b: jax.scipy.sparse.linalg.cg(a, b, maxiter=5)[0], [positive(64, 64), (64,)]),
    "power iteration": (lambda a, v: lax.fori_loop(0, 5, lambda _, v: (w := a @ v) / jnp.linalg.norm(w), v), [SQUARE, (192,)]),
    # Random numbers, programs
    "dropout": (lambda x, k: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.5, x.shape), x, 0.0), [M, np.array([0, 1], np.uint32)]),
    "normal": (lambda x, k: x + jax.random.normal(jax.random.wrap_key_data(k), x.shape), [M, np.array([0, 1], np.uint32)]),
    "shuffle": (lambda x, k: jax.random.permutation(jax.random.wrap_key_data(k), x), [(256, 16), np.array([0, 1], np.uint32)]),
    "categorical": (lambda x, k: jax.random.categorical(jax.random.wrap_key_data(k), x), [M, np.array([0, 1], np.uint32)]),
    "choice": (lambda x, k: jax.random.choice(jax.random.wrap_key_data(k), x, (64,)), [LINE, np.array([0, 1], np.uint32)]),
    "adam": (adam, [M] * 4),
    "k means step": (lambda x, c: jax.ops.segment_sum(x, jnp.argmin(((x[:, None] - c[None]) ** 2).sum(-1), 1), 16), [(1024, 8), (16, 8)]),
    "k nearest": (lambda x: lax.top_k(-((x[:, None] - x[None]) ** 2).sum(-1), 8)[0], [(256, 4)]),
    "polyval": (lambda p, x: jnp.polyval(p, x), [(6,), LINE]),
    "logistic step": (lambda x, w, y: w - 0.1 * jax.grad(lambda w: jnp.mean((jax.nn.sigmoid(x @ w) - y) ** 2))(w), [M, (192,), (256,)]),
    "ridge": (lambda x, y: jnp.linalg.solve(x.T @ x + jnp.eye(16), x.T @ y), [(1024, 16), (1024,)]),
    "nearest code": (lambda x, c: c[jnp.argmin((x * x).sum(1)[:, None] - 2 * x @ c.T + (c * c).sum(1)[None], 1)], [(1024, 32), (64, 32)]),
    "rnn": (scan_cell, [(32, 16, 64), (64, 64)]),
    "contrastive": (lambda x, y: -jnp.diag(jax.nn.log_softmax(x @ y.T, 1)).mean(), [(256, 64), (256, 64)]),
    "moving average": (lambda x: lax.reduce_window(x, 0.0, lax.add, (9, 1), (1, 1), "SAME") / 9, [M]),
    "exclusive sum": (lambda x: jnp.cumsum(x, 0) - x, [M]),
    "normalize columns": (lambda x: x / jnp.linalg.norm(x, axis=0, keepdims=True), [M]),
    "double softmax": (lambda x: jax.nn.softmax(x, 0) * jax.nn.softmax(x, 1), [M]),
    "sinkhorn": (lambda x: lax.fori_loop(0, 3, lambda _, k: (k := k / k.sum(0, keepdims=True)) / k.sum(1, keepdims=True), x), [M]),
    "bf16 product": (jnp.matmul, [np.ones(M, jnp.bfloat16), np.ones((192, 64), jnp.bfloat16)]),
}

# What has no gradient, or one that JAX's own differentiation makes of loops of unknown length.
FORWARD_ONLY = {"nonzero", "unique", "shuffle", "choice", "categorical", "conjugate gradients", "histogram", "k means step"}

"""Write the programs of this folder, as JAX prints them, with inputs and results: ``python generate.py``.

A case is a function on whole arrays. It is stored with its gradients: the program takes the function's arguments and a
cotangent for each result, and returns the results and the gradient of every float argument (cases with ``backward=False``
only the results). ``Inputs/NAME.mlir`` has no shardings: run.py puts them on arguments. ``Inputs/NAME.npz`` holds in0, … and
out0, … as JAX computes them on one device, so that nothing of shardc has touched them; ``Inputs/manifest.json`` says which
dims are cut. Needs JAX 0.10.2.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

HERE = Path(__file__).parent / "Inputs"
CASES: list[dict[str, Any]] = []


def case(family: str, name: str, shapes: list[Any], x: dict[int, int], y: dict[int, int], **options: Any) -> Callable[[Callable], Callable]:
    """Store the decorated function. ``x`` and ``y``: which dim of which argument each mesh axis cuts.

    Options: ``backward``, ``rtol``, ``atol``, ``meshes`` (of run.py's, where not all make sense).
    """

    def store(function: Callable) -> Callable:
        CASES.append({"family": family, "name": name, "function": function, "shapes": shapes, "x": x, "y": y, **options})
        return function

    return store


def conv(x, w, stride=1, padding="SAME", dilation=1, lhs_dilation=1, groups=1):
    """Channels last; as many spatial dims as ``x`` has."""
    n = x.ndim - 2
    letters = "HWD"[:n]
    numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    return lax.conv_general_dilated(
        x, w, (stride,) * n, padding, lhs_dilation=(lhs_dilation,) * n, rhs_dilation=(dilation,) * n, dimension_numbers=numbers, feature_group_count=groups
    )


# Convolutions.
SPACE = {"x": {0: 1}, "y": {0: 2}}
for kernel, stride, pad in [(3, 1, 1), (3, 2, 1), (3, 3, 0), (2, 2, 0), (2, 1, 1), (5, 2, 2)]:
    case("conv", f"conv2d_k{kernel}s{stride}p{pad}", [(2, 12, 12, 2), (kernel, kernel, 2, 3)], **SPACE)(
        lambda x, w, s=stride, p=pad: conv(x, w, s, [(p, p)] * 2)
    )
case("conv", "conv1d", [(2, 24, 3), (3, 3, 4), (4,)], {0: 1}, {0: 0})(lambda x, w, b: conv(x, w) + b)
case("conv", "conv3d", [(1, 12, 8, 4, 2), (3, 3, 3, 2, 2), (2,)], **SPACE)(lambda x, w, b: conv(x, w) + b)
case("conv", "conv2d_depthwise", [(1, 12, 12, 4), (3, 3, 1, 4)], **SPACE)(lambda x, w: conv(x, w, groups=4))
case("conv", "conv2d_grouped", [(1, 12, 12, 4), (3, 3, 2, 6)], **SPACE)(lambda x, w: conv(x, w, groups=2))
case("conv", "conv2d_dilated", [(1, 12, 12, 2), (3, 3, 2, 2)], **SPACE)(lambda x, w: conv(x, w, dilation=2))
case("conv", "conv2d_one_sided", [(1, 12, 12, 2), (3, 3, 2, 2)], **SPACE)(lambda x, w: conv(x, w, 2, [(0, 1), (2, 0)]))
case("conv", "conv2d_channels_cut", [(2, 8, 8, 8), (3, 3, 8, 8)], {0: 3, 1: 2}, {1: 3})(conv)
case("conv", "conv2d_wider_than_a_shard", [(1, 12, 12, 1), (9, 9, 1, 2)], **SPACE)(conv)
case("conv", "conv2d_few_rows", [(1, 3, 5, 2), (3, 3, 2, 2)], **SPACE)(lambda x, w: conv(x, w, 2, [(1, 1), (1, 1)]))
for mode in ["reflect", "edge", "wrap"]:
    case("conv padding modes", f"conv2d_{mode}", [(1, 12, 12, 2), (3, 3, 2, 2)], **SPACE)(
        lambda x, w, m=mode: conv(jnp.pad(x, [(0, 0), (2, 2), (2, 2), (0, 0)], mode=m), w, padding="VALID")
    )
for kernel, stride in [(2, 2), (3, 2), (4, 2), (3, 3), (3, 1)]:
    case("transposed conv", f"conv_transpose_k{kernel}s{stride}", [(1, 8, 8, 2), (kernel, kernel, 2, 3)], **SPACE)(
        lambda x, w, s=stride: lax.conv_transpose(x, w, (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    )


# Pooling and resizing.
def pool(x, kind, size, stride, pad):
    window, strides = (1, *[size] * (x.ndim - 2), 1), (1, *[stride] * (x.ndim - 2), 1)
    padding = [(0, 0), *[pad] * (x.ndim - 2), (0, 0)]
    if kind == "max":
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)
    count = lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, window, strides, padding)
    return lax.reduce_window(x, 0.0, lax.add, window, strides, padding) / count


for kind in ["avg", "max"]:
    for shape, size, stride, pad in [
        ((1, 24, 2), 2, 2, (0, 0)),
        ((1, 12, 12, 2), 4, 4, (0, 0)),
        ((1, 12, 12, 2), 3, 2, (1, 1)),
        ((1, 12, 12, 2), 3, 1, (1, 1)),
        ((1, 11, 13, 2), 2, 2, (0, 1)),  # the last window is cut off, as by ceil_mode
        ((1, 8, 8, 4, 2), 2, 2, (0, 0)),
    ]:
        n = len(shape) - 2
        case("pooling", f"{kind}_pool{n}d_k{size}s{stride}p{pad[0]}{pad[1]}_{shape[1]}", [shape], {0: 1}, {0: 2 if n > 1 else 0})(
            lambda x, k=kind, a=size, s=stride, p=pad: pool(x, k, a, s, p)
        )
case("pooling", "adaptive_avg_pool", [(1, 12, 12, 2)], **SPACE)(lambda x: x.reshape(1, 4, 3, 3, 4, 2).mean((2, 4)))
for method, size in [("nearest", 24), ("nearest", 36), ("linear", 24), ("linear", 6), ("linear", 17), ("cubic", 24)]:
    case("interpolate", f"resize_{method}_{size}", [(1, 12, 12, 2)], **SPACE)(
        lambda x, m=method, s=size: jax.image.resize(x, (1, s, s, 2), m, antialias=False)
    )


@case("interpolate", "align_corners", [(1, 12, 12, 2)], **SPACE)
def align_corners(x):
    at = jnp.arange(23) * (11 / 22)
    low = jnp.floor(at).astype(jnp.int32)
    high, weight = jnp.minimum(low + 1, 11), (at - low)[None, :, None, None]
    x = jnp.take(x, low, axis=1) * (1 - weight) + jnp.take(x, high, axis=1) * weight
    weight = weight.reshape(1, 1, 23, 1)
    return jnp.take(x, low, axis=2) * (1 - weight) + jnp.take(x, high, axis=2) * weight


for mode, widths in [("constant", (2, 2)), ("reflect", (2, 2)), ("edge", (3, 1)), ("wrap", (1, 4)), ("constant", (0, 5))]:
    options = {"constant_values": 1.234} if mode == "constant" else {}
    case("pad", f"pad_{mode}_{widths[0]}{widths[1]}", [(2, 12, 12)], **SPACE)(
        lambda x, m=mode, w=widths, o=options: jnp.pad(x, [(0, 0), w, (1, 2)], mode=m, **o)
    )
case("pad", "pad_negative", [(2, 12, 12)], **SPACE)(lambda x: lax.pad(x, 0.0, [(0, 0, 0), (-2, 1, 0), (1, -3, 0)]))


# Normalisation.
def normalise(x, dims):
    mean = x.mean(dims, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(dims, keepdims=True) + 1e-5)


for groups in [1, 4]:
    for cut, where in [("space", {"x": {0: 1}, "y": {0: 2}}), ("batch", {"x": {0: 0}, "y": {0: 1}}), ("channels", {"x": {0: 3, 1: 0, 2: 0}, "y": {0: 1}})]:
        case("group norm", f"group_norm_{groups}_{cut}", [(4, 7, 5, 8), (8,), (8,)], **where)(
            lambda x, s, b, g=groups: normalise(x.reshape(4, 7, 5, g, 8 // g), (1, 2, 4)).reshape(x.shape) * s + b
        )
case("layer norm, rms norm", "layer_norm", [(2, 16, 12), (12,), (12,)], {0: 1}, {0: 0})(lambda x, s, b: normalise(x, (2,)) * s + b)
case("layer norm, rms norm", "layer_norm_cut_dim", [(2, 16, 12), (12,), (12,)], {0: 2}, {0: 1})(lambda x, s, b: normalise(x, (2,)) * s + b)
case("layer norm, rms norm", "rms_norm_cut_dim", [(2, 16, 12), (12,)], {0: 2, 1: 0}, {0: 1})(
    lambda x, s: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s
)
case("batch norm, instance norm", "batch_norm", [(4, 12, 8, 3), (3,), (3,)], {0: 1}, {0: 0})(lambda x, s, b: normalise(x, (0, 1, 2)) * s + b)
case("batch norm, instance norm", "instance_norm", [(4, 12, 8, 3)], {0: 1}, {0: 2})(lambda x: normalise(x, (1, 2)))

# Products.
case("linear", "linear", [(1, 24, 8), (8, 6), (6,)], {0: 1}, {1: 1})(lambda x, w, b: x @ w + b)
case("linear", "linear_features_cut", [(2, 6, 12), (12, 8), (8,)], {0: 2, 1: 0}, {0: 1})(lambda x, w, b: x @ w + b)
case("linear", "linear_two_leading_dims", [(1, 12, 4, 8), (8, 6)], {0: 1}, {0: 2})(lambda x, w: x @ w)
case("matmul, bmm, einsum", "matmul", [(12, 16), (16, 8)], {0: 0}, {1: 1})(jnp.matmul)
case("matmul, bmm, einsum", "matmul_contracting_cut", [(12, 16), (16, 8)], {0: 1}, {1: 0})(jnp.matmul)
case("matmul, bmm, einsum", "bmm", [(8, 6, 4), (8, 4, 5)], {0: 0, 1: 0}, {0: 1})(jnp.matmul)
case("matmul, bmm, einsum", "einsum", [(4, 12, 3), (12, 5, 3)], {0: 1}, {1: 1})(lambda a, b: jnp.einsum("bik,ijk->bjk", a, b))


# Attention.
def attend(q, k, v, mask=None):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(jnp.float32(q.shape[-1]))
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)


HEADS = [(1, 2, 16, 4)] * 3
case("attention", "attention_all_cut", HEADS, {0: 2, 1: 2, 2: 2}, {0: 1, 1: 1, 2: 1})(attend)
case("attention", "attention_causal", HEADS, {0: 2, 1: 2, 2: 2}, {0: 1})(lambda q, k, v: attend(q, k, v, jnp.tril(jnp.ones((16, 16), bool))))
case("attention", "attention_mask", [*HEADS, ((16, 16), "bool")], {0: 2, 1: 2, 2: 2, 3: 0}, {3: 1})(lambda q, k, v, m: attend(q, k, v, m | jnp.eye(16, dtype=bool)))
case("attention", "attention_bias", [*HEADS, (2, 16, 16)], {0: 2, 1: 2, 2: 2, 3: 1}, {0: 1})(
    lambda q, k, v, b: jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) + b), v)
)
case("attention", "attention_grouped_queries", [(1, 4, 16, 4), (1, 2, 16, 4), (1, 2, 16, 4)], {0: 2, 1: 2, 2: 2}, {1: 1, 2: 1})(
    lambda q, k, v: attend(q, jnp.repeat(k, 2, 1), jnp.repeat(v, 2, 1))
)
case("attention", "attention_queries_cut", [(1, 2, 16, 4), (1, 2, 12, 4), (1, 2, 12, 4)], {0: 2}, {0: 1})(attend)
case("attention", "attention_keys_cut", [(1, 2, 8, 4), (1, 2, 16, 4), (1, 2, 16, 4)], {1: 2, 2: 2}, {0: 2})(attend)
case("attention", "attention_zero_in_values", HEADS, {0: 2, 1: 2, 2: 2}, {0: 1})(lambda q, k, v: attend(q, k, v.at[..., 1].set(0.0)))


@case("neighbourhood attention", "na1d", [(1, 12, 2, 4)] * 3, {0: 1, 1: 1, 2: 1}, {0: 2, 1: 2, 2: 2})
def na1d(q, k, v):
    at = jnp.clip(jnp.arange(12) - 1, 0, 9)[:, None] + jnp.arange(3)
    k, v = jnp.take(k, at, axis=1), jnp.take(v, at, axis=1)
    return jnp.einsum("bqhn,bqnhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bqnhd->bqhn", q, k)), v)


@case("neighbourhood attention", "na2d", [(1, 8, 8, 1, 4)] * 3, {0: 1, 1: 1, 2: 1}, {0: 2, 1: 2, 2: 2})
def na2d(q, k, v):
    def near(t):
        t = jnp.pad(t, [(0, 0), (1, 1), (1, 1), (0, 0), (0, 0)])
        return jnp.stack([t[:, i : i + 8, j : j + 8] for i in range(3) for j in range(3)], 3)

    return jnp.einsum("bxyhn,bxynhd->bxyhd", jax.nn.softmax(jnp.einsum("bxyhd,bxynhd->bxyhn", q, near(k))), near(v))


# Points.
def distances(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(-1)


@case("kNN", "knn", [(16, 3), (12, 3)], {0: 0, 1: 0}, {0: 0}, backward=False)
def knn(points, queries):
    values, indices = lax.top_k(-distances(queries, points), 4)
    return -values, indices


case("kNN", "knn_interpolate", [(16, 3), (12, 3), (16, 2)], {0: 0, 2: 0}, {1: 0})(
    lambda p, q, f: jnp.einsum("qk,qkc->qc", jax.nn.softmax(lax.top_k(-distances(q, p), 3)[0]), f[lax.top_k(-distances(q, p), 3)[1]])
)


@case("radius, ball query", "ball_query", [(16, 3), (12, 3), (16, 2)], {0: 0, 2: 0}, {1: 0})
def ball_query(points, queries, features):
    inside = distances(queries, points) < 0.75
    count = jnp.maximum(inside.sum(1, keepdims=True), 1)
    return jnp.where(inside[..., None], features[None], 0.0).sum(1) / count


@case("signed distance field", "sdf_of_spheres", [(12, 3), (8, 3)], {0: 0}, {1: 0})
def sdf(queries, centres):
    return jnp.sqrt(distances(queries, centres) + 1e-3).min(1) - 0.25


@case("mesh objects", "normals", [(12, 3), ((16, 3), "index12")], {0: 0, 1: 0}, {1: 0})
def normals(vertices, faces):
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normal = jnp.cross(b - a, c - a)
    return jnp.zeros_like(vertices).at[faces].add(normal[:, None])


# Rows by index, views, slices.
case("index_select", "index_select", [(12, 8), ((9,), "index12")], {0: 0, 1: 0}, {0: 1})(lambda x, i: jnp.take(x, i, axis=0))
case("select, unbind", "select", [(12, 8, 6)], {0: 0}, {0: 1})(lambda x: (x[5], x[:, 3], x[..., -1]))
case("select, unbind", "unbind", [(4, 8)], {0: 0}, {0: 1})(lambda x: tuple(x[i] * (i + 1.0) for i in range(4)))
ROWS = {"x": {0: 0}, "y": {0: 1}}
for axis, tag in [(0, "cut"), (2, "free")]:
    for name, function in {
        "slice": lambda x, a: lax.slice_in_dim(x, 1, 11, 3, axis=a),
        "split": lambda x, a: tuple(p * (i + 1.0) for i, p in enumerate(jnp.split(x, [5, 6], axis=a))),
        "cat": lambda x, a: jnp.concatenate([x, x * 2, lax.slice_in_dim(x, 0, 5, axis=a)], axis=a),
        "stack": lambda x, a: jnp.stack([x, x * x], axis=a),
        "gather": lambda x, a: jnp.take_along_axis(x, jnp.argsort(lax.stop_gradient(x), axis=a), axis=a),
        "roll": lambda x, a: jnp.roll(x, 5, axis=a) + jnp.roll(x, -1, axis=a),
        "flip": lambda x, a: jnp.flip(x, axis=a),
        "diff": lambda x, a: jnp.diff(x, axis=a),
        "cumsum": lambda x, a: jnp.cumsum(x, axis=a),
        "sort": lambda x, a: jnp.sort(x, axis=a),
        "topk": lambda x, a: jnp.moveaxis(lax.top_k(jnp.moveaxis(x, a, -1), 3)[0], -1, a),
        "fft": lambda x, a: jnp.abs(jnp.fft.fft(x, axis=a)),
        "softmax": lambda x, a: jax.nn.softmax(x, axis=a),
        "where": lambda x, a: jnp.where(jnp.flip(x, a) > 0, x, -2 * x),
    }.items():
        case(f"over a {tag} dim", f"{name}_{tag}", [(12, 4, 12)], **ROWS)(lambda x, f=function, a=axis: f(x, a))
case("over a cut dim", "scatter_add_cut", [(12, 4), ((9,), "index12"), (9, 4)], {0: 0, 1: 0, 2: 0}, {0: 1, 2: 1})(lambda x, i, u: x.at[i].add(u))
case("over a cut dim", "segment_sum_cut", [(12, 4), ((12,), "index5")], {0: 0, 1: 0}, {0: 1})(lambda x, i: jax.ops.segment_sum(x, i, 5))
case("view, reshape", "view", [(2, 12, 4, 4)], {0: 1}, {0: 2})(
    lambda x: (x.reshape(24, 4, 4), x.reshape(2, 12, 16), x.reshape(2, 3, 4, 4, 4), x.reshape(-1), x.reshape(2, 6, 2, 2, 2, 4) * 2)
)
case("view, reshape", "view_dtype", [((12, 8), "int32")], **ROWS, backward=False)(lambda x: lax.bitcast_convert_type(x, jnp.uint32).reshape(96))
case("unsqueeze, squeeze", "unsqueeze", [(12, 8)], **ROWS)(lambda x: (x[None], x[:, None], x[..., None], (x[:, None] * 2).squeeze(1)))
case("elementwise, broadcasting", "elementwise", [(12, 8), (8,), (12, 1)], {0: 0, 2: 0}, {0: 1})(lambda x, b, c: jnp.tanh(x * b + c) + jnp.exp(-x * x))
case("elementwise, broadcasting", "misaligned_operands", [(12, 8), (12, 8)], {0: 0}, {1: 0})(lambda a, b: a * b + a)
case("elementwise, broadcasting", "masked_fill_and_cast", [(12, 8)], **ROWS)(lambda x: jnp.where(x > 0.5, 0.0, x).astype(jnp.bfloat16).astype(jnp.float32))
case("elementwise, broadcasting", "dropout", [(12, 8)], **ROWS)(lambda x: jnp.where(jax.random.bernoulli(jax.random.key(3), 0.6, x.shape), x / 0.6, 0.0))

# Sums and losses.
case("sum, mean", "sum", [(2, 12, 8)], {0: 1}, {0: 2})(lambda x: (x.sum(), x.sum(1), x.sum((0, 2)), x.sum(0, keepdims=True)))
case("sum, mean", "mean_keepdim", [(2, 12, 8)], {0: 1}, {0: 2})(lambda x: (x.mean(), x.mean(1, keepdims=True), x.mean(0, keepdims=True), x.mean((1, 2))))
case("max, min, prod, norm, var, argmax", "max_min_prod", [(12, 8)], **ROWS)(lambda x: (x.max(0), x.min(), x.prod(1), jnp.sqrt((x * x).sum(0))))
case("max, min, prod, norm, var, argmax", "argmax", [(12, 8)], **ROWS, backward=False)(lambda x: (jnp.argmax(x), jnp.argmax(x, 0), jnp.argmin(x, 1)))
case("max, min, prod, norm, var, argmax", "var_of_large_values", [(12, 8)], **ROWS, atol=1e-3)(lambda x: (jnp.var(x + 1000.0), jnp.std(x, 0)))
case("losses", "mse", [(12, 8), (12, 8)], {0: 0}, {0: 1})(lambda x, y: ((x - y) ** 2).mean())
case("losses", "cross_entropy", [(12, 8), ((12,), "index8")], {0: 0, 1: 0}, {0: 1})(
    lambda x, i: -jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], 1).mean()
)
case("losses", "masked_mean", [(12, 8)], **ROWS)(lambda x: jnp.where(x > 0, x, 0).sum() / jnp.maximum((x > 0).sum(), 1))
case("im2col", "im2col", [(1, 12, 12, 2)], **SPACE)(
    lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
)
BOTH = {"x": {0: 1}, "y": {0: 1}}
case("both axes on one dim", "conv_both", [(1, 12, 6, 2), (3, 3, 2, 2)], **BOTH)(conv)
case("both axes on one dim", "reshape_and_sum_both", [(2, 12, 6)], **BOTH)(lambda x: (x.reshape(2, 4, 18), x.mean(1), jnp.flip(x, 1)))
case("both axes on one dim", "softmax_both", [(2, 12, 6)], **BOTH)(lambda x: jax.nn.softmax(x, axis=1))


def make_array(rng: np.random.Generator, shape: Any) -> np.ndarray:
    """An input: floats in [-1, 1], or of the kind that ``shape`` says beside itself."""
    if shape and isinstance(shape[0], tuple):
        dims, kind = shape
        if kind == "bool":
            return rng.random(dims) < 0.6
        if kind.startswith("index"):
            return rng.integers(0, int(kind[5:]), dims, dtype=np.int32)
        return rng.integers(-9, 9, dims, dtype=np.int32)
    return (rng.integers(-64, 65, shape) / 64).astype(np.float32)


def write_case(entry: dict[str, Any]) -> dict[str, Any]:
    """Print the program of one case, run it, and say how it is cut."""
    rng = np.random.default_rng(sum(map(ord, entry["name"])))
    arguments = [make_array(rng, shape) for shape in entry["shapes"]]
    function, backward = entry["function"], entry.get("backward", True)
    floats = [i for i, a in enumerate(arguments) if a.dtype == np.float32]

    def program(*inputs):
        results = inputs[: len(arguments)]

        def of_floats(*some):
            whole = list(results)
            for i, value in zip(floats, some, strict=True):
                whole[i] = value
            found = function(*whole)
            return found if isinstance(found, tuple) else (found,)

        if not backward:
            return of_floats(*(results[i] for i in floats))
        found, pull = jax.vjp(of_floats, *(results[i] for i in floats))
        return (*found, *pull(tuple(inputs[len(arguments) :])))

    if backward:
        found = jax.eval_shape(function, *arguments)
        arguments_all = arguments + [make_array(rng, r.shape) for r in (found if isinstance(found, tuple) else (found,))]
    else:
        arguments_all = arguments
    lowered = jax.jit(program, keep_unused=True).lower(*arguments_all)
    outputs = [np.asarray(o) for o in jax.jit(program)(*arguments_all)]
    (HERE / f"{entry['name']}.mlir").write_text(str(lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=False)))
    with zipfile.ZipFile(HERE / f"{entry['name']}.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for prefix, arrays in (("in", arguments_all), ("out", outputs)):
            for i, array in enumerate(arrays):
                info = zipfile.ZipInfo(f"{prefix}{i}.npy")
                info.compress_type = zipfile.ZIP_DEFLATED
                with archive.open(info, "w") as member:
                    np.lib.format.write_array(member, np.ascontiguousarray(array).reshape(array.shape))
    kept = {key: entry[key] for key in ("family", "name", "x", "y")}
    return {**kept, "backward": backward, "rtol": entry.get("rtol", 1e-4), "atol": entry.get("atol", 1e-4)}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    entries = []
    for entry in CASES:
        print(entry["name"])
        entries.append(write_case(entry))
    lines = ",\n ".join(json.dumps(entry) for entry in entries)
    (HERE / "manifest.json").write_text(f'{{"jax": "{jax.__version__}", "cases": [\n {lines}\n]}}\n')


if __name__ == "__main__":
    main()

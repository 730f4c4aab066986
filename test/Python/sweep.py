"""The public functions of jax.numpy, lax, scipy, nn, image and random, on three ranks in uneven shards, beside JAX.

    sweep.py [--every=N] [--first=I] [--list] [NAME...]

Every callable of a module is tried on arrays of several kinds, until JAX takes them; what takes more is in ``MORE``.
Each function runs forward and, where its results are real, backward. Functions run in batches; a batch that fails is
taken apart. ``--every=N`` runs each N-th function.
"""

import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.optimize
import jax.scipy.spatial.transform
import numpy as np
import shardc
from jax import lax

RNG = np.random.default_rng(3)


def _floats(*shape: int) -> np.ndarray:
    return RNG.uniform(0.1, 0.9, shape).astype(np.float32)


_base = RNG.standard_normal((6, 6)).astype(np.float32)
ARGUMENTS: dict[str, np.ndarray] = {
    "A": _floats(7, 5),
    "B": _floats(7, 5),
    "C": _floats(7, 5),
    "v": _floats(7),
    "w": _floats(7),
    "t": _floats(5, 7),
    "M": (_base @ _base.T + 6 * np.eye(6)).astype(np.float32),
    "N": _floats(6, 6) + 2 * np.eye(6, dtype=np.float32),
    "L": np.tril(_floats(6, 6) + np.eye(6)).astype(np.float32),
    "I": RNG.integers(0, 9, (7, 5)).astype(np.int32),
    "J": RNG.integers(1, 5, (7, 5)).astype(np.int32),
    "i": RNG.integers(0, 7, 7).astype(np.int32),
    "j": RNG.integers(0, 5, 7).astype(np.int32),
    "P": RNG.random((7, 5)) < 0.5,
    "Q": RNG.random((7, 5)) < 0.5,
    "Z": (_floats(7, 5) + 1j * _floats(7, 5)).astype(np.complex64),
    "T": _floats(2, 8, 8, 3),
    "K": _floats(3, 3, 3, 4),
    "S": np.sort(_floats(7)),
    "key": np.array([1, 2], np.uint32),
    "s": np.float32(0.3),
    "n": np.int32(2),
}
CUTS = {
    name: shardc.split(1 if name == "T" else 0, "x", sizes)
    for name, sizes in {
        "A": [4, 0, 3],
        "B": [3, 2, 2],
        "v": [1, 4, 2],
        "w": [3, 2, 2],
        "t": [2, 2, 1],
        "M": [3, 1, 2],
        "N": [2, 2, 2],
        "I": [3, 2, 2],
        "J": [1, 5, 1],
        "i": [2, 3, 2],
        "P": [4, 0, 3],
        "Z": [2, 5, 0],
        "T": [3, 4, 1],
        "S": [3, 3, 1],
    }.items()
}
KINDS = ["A", "v", "M", "AB", "vw", "I", "IJ", "i", "P", "PQ", "ABC", "MN", "Z", "AI", "vi", "Av", "At", "AP"]
MODULES = [
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.lax",
    "jax.lax.linalg",
    "jax.nn",
    "jax.scipy.special",
    "jax.scipy.linalg",
    "jax.scipy.fft",
    "jax.scipy.signal",
    "jax.scipy.stats",
    "jax.scipy.integrate",
] + [
    f"jax.scipy.stats.{name}"
    for name in (
        "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace "
        "logistic multinomial nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy"
    ).split()
]
# Functions that make no arrays, take functions, or hold what is not an array function.
LEFT_OUT = set(
    """
    save savez load frombuffer fromfile fromfunction fromiter fromstring from_dlpack array_repr array_str
    array_equiv get_printoptions set_printoptions printoptions can_cast promote_types result_type iscomplexobj
    isdtype isrealobj isscalar issubdtype iterable ndim shape size dtype finfo iinfo broadcast_shapes einsum_path
    vectorize apply_along_axis apply_over_axes piecewise frompyfunc ufunc mask_indices histogram_bin_edges
    make_array c_ r_ s_ mgrid ogrid jaxpr while_p with_sharding_constraint infeed outfeed create_token after_all
    rng_uniform rng_bit_generator dce_sink composite padtype_to_pads conv_shape_tuple conv_general_shape_tuple
    conv_transpose_shape_tuple conv_dimension_numbers conv_general_permutations broadcasting_shapes
    optimization_barrier stop_gradient platform_dependent axis_index axis_size psum pmean pmax pmin ppermute
    pshuffle pswapaxes all_gather all_to_all psum_scatter pbroadcast pcast pvary ragged_all_to_all psend precv
    unreduced_psum empty empty_like cond switch scan while_loop fori_loop map associative_scan custom_root
    custom_linear_solve custom_solve reduce scaled_dot from_edges shape_as_value eig unique_counts unique_inverse
    unique_all unique_values approx_top_k schur eigh svd
""".split()
)


# Gradients of values so large that a sine of them says nothing.
NO_GRADIENT = {"lax.conv_unshared", "scipy.linalg.expm", "scipy.linalg.expm_frechet"}


def _eigh(m: Any) -> Any:
    """Vectors are known up to their sign."""
    w, v = jax.scipy.linalg.eigh(m)
    return w, jnp.abs(v), v @ jnp.diag(w) @ v.T


def _svd(a: Any) -> Any:
    u, s, v = jnp.linalg.svd(a, full_matrices=False)
    return jnp.abs(u), s, u @ jnp.diag(s) @ v


def _schur(m: Any) -> Any:
    t, u = jax.scipy.linalg.schur(m)
    return u @ t @ u.T, jnp.abs(u)


def _ormqr(m: Any) -> Any:
    """Products with Q and its adjoint, from both sides."""
    packed, taus = jnp.linalg.qr(m[:, :4], mode="raw")
    sides = [(True, m[:, 1:4]), (False, m[1:4])]
    return [
        lax.linalg.ormqr(packed.T, taus, c, left=left, transpose=transpose)
        for left, c in sides
        for transpose in (True, False)
    ]


# What takes more than arrays: call, arguments (names of one letter, or with blanks between).
MORE: dict[str, tuple[Callable[..., Any], str]] = {
    "argpartition": (lambda a: jnp.sort(jnp.partition(a, 3)[:3], axis=0), "A"),
    "bincount": (lambda i: jnp.bincount(i, length=9), "i"),
    "choose": (lambda i, a: jnp.choose(i, [a, a + 1, a * 2], mode="wrap"), "iv"),
    "compress": (lambda a: jnp.compress(jnp.array([True, False, True]), a, axis=0, size=2), "A"),
    "concatenate": (lambda a, b: jnp.concatenate([a, b], axis=0), "AB"),
    "stack": (lambda a, b: jnp.stack([a, b], axis=1), "AB"),
    "block": (lambda a, b: jnp.block([[a, b], [b, a]]), "AB"),
    "cross": (lambda a, b: jnp.cross(a[:, :3], b[:, :3]), "AB"),
    "digitize": (lambda a: jnp.digitize(a, jnp.linspace(0, 1, 4)), "A"),
    "searchsorted": (lambda s, a: jnp.searchsorted(s, a), "SA"),
    "interp": (lambda a, s, v: jnp.interp(a, s, v), "ASv"),
    "histogram": (lambda a: jnp.histogram(a, bins=4, range=(0, 1)), "A"),
    "histogram2d": (lambda v, w: jnp.histogram2d(v, w, bins=3, range=[[0, 1], [0, 1]])[0], "vw"),
    "insert": (lambda a: jnp.insert(a, 2, 9.0, axis=0), "A"),
    "delete": (lambda a: jnp.delete(a, 2, axis=0), "A"),
    "append": (lambda a, b: jnp.append(a, b, axis=0), "AB"),
    "moveaxis": (lambda a: jnp.moveaxis(a, 0, 1), "A"),
    "nonzero": (lambda p: jnp.nonzero(p, size=12, fill_value=0), "P"),
    "argwhere": (lambda p: jnp.argwhere(p, size=12, fill_value=0), "P"),
    "unique": (lambda i: jnp.unique(i, size=7, fill_value=-1, return_inverse=True, return_counts=True), "i"),
    "pad": (
        lambda a: [
            jnp.pad(a, 2, mode=m) for m in ("constant", "edge", "reflect", "wrap", "linear_ramp", "mean", "symmetric")
        ],
        "A",
    ),
    "percentile": (lambda a: jnp.percentile(a, jnp.array([10.0, 50.0]), axis=0), "A"),
    "quantile": (
        lambda a: [jnp.quantile(a, 0.3, axis=0, method=m) for m in ("linear", "lower", "midpoint", "nearest")],
        "A",
    ),
    "nanquantile": (lambda a: jnp.nanquantile(a, 0.3, axis=0), "A"),
    "polyfit": (lambda v, w: jnp.polyfit(v, w, 2), "vw"),
    "polyval": (lambda v, a: jnp.polyval(v, a), "vA"),
    "roots": (lambda v: jnp.sort(jnp.abs(jnp.roots(v[:4], strip_zeros=False))), "v"),
    "repeat": (lambda a: jnp.repeat(a, 3, axis=0), "A"),
    "repeat_counts": (lambda a, i: jnp.repeat(a, i, axis=0, total_repeat_length=12), "Ai"),
    "roll": (lambda a: jnp.roll(a, (2, -1), (0, 1)), "A"),
    "rollaxis": (lambda a: jnp.rollaxis(a, 1), "A"),
    "rot90": (lambda a: jnp.rot90(a), "A"),
    "select": (lambda p, q, a, b: jnp.select([p, q], [a, b], 0.5), "PQAB"),
    "split": (lambda a: jnp.split(a, [2, 3]), "A"),
    "array_split": (lambda a: jnp.array_split(a, 3), "A"),
    "hsplit": (lambda a: jnp.hsplit(a, 5), "A"),
    "take": (lambda a, i: jnp.take(a, i, axis=0), "Ai"),
    "take_along_axis": (lambda a, i: jnp.take_along_axis(a, i[:, None], axis=0), "Ai"),
    "put_along_axis": (lambda a, j: jnp.put_along_axis(a, j[:, None], 1.5, axis=1, inplace=False), "Aj"),
    "tensordot": (lambda a, b: jnp.tensordot(a, b, axes=([0], [0])), "AB"),
    "einsum": (lambda a, b: jnp.einsum("ij,ik->jk", a, b), "AB"),
    "tile": (lambda a: jnp.tile(a, (2, 3)), "A"),
    "trapezoid": (lambda a: jnp.trapezoid(a, axis=0), "A"),
    "tri": (lambda a: jnp.tril(a, 1) + jnp.triu(a, -1), "A"),
    "vander": (lambda v: jnp.vander(v, 4), "v"),
    "unwrap": (lambda a: jnp.unwrap(a * 9, axis=0), "A"),
    "gradient": (lambda a: jnp.gradient(a), "A"),
    "diff": (lambda a: jnp.diff(a, n=2, axis=0), "A"),
    "convolve": (lambda v, w: [jnp.convolve(v, w[:3], mode=m) for m in ("full", "same", "valid")], "vw"),
    "correlate": (lambda v, w: jnp.correlate(v, w[:3]), "vw"),
    "cov": (lambda a: (jnp.cov(a), jnp.corrcoef(a)), "A"),
    "lexsort": (lambda i, v: jnp.lexsort((v, i)), "iv"),
    "ix": (lambda a, i, j: a[jnp.ix_(i, j % 5)], "Aij"),
    "at": (
        lambda a, i, b: (
            a.at[i].add(b),
            a.at[i, 1].max(0.5),
            a.at[2:5].mul(2.0),
            a.at[::2].set(0.0),
            a.at[i].get(mode="fill"),
        ),
        "AiB",
    ),
    "boolean_set": (lambda a, p: jnp.where(p, a, 0.0).at[p[:, 0].argmax()].set(2.0), "AP"),
    "meshgrid": (lambda v, w: jnp.meshgrid(v, w), "vw"),
    "isin": (lambda i, j: jnp.isin(i, j), "ij"),
    "setops": (
        lambda i, j: (
            jnp.union1d(i, j, size=9, fill_value=-1),
            jnp.intersect1d(i, j, size=4, fill_value=-1),
            jnp.setdiff1d(i, j, size=4, fill_value=-1),
            jnp.setxor1d(i, j, size=9, fill_value=-1),
        ),
        "ij",
    ),
    "ldexp": (lambda a, j: jnp.ldexp(a[:, 0], j), "Aj"),
    "packbits": (lambda p: jnp.unpackbits(jnp.packbits(p, axis=0), axis=0), "P"),
    "views": (lambda a: a.view(jnp.int32), "A"),
    "pow_int": (lambda a: a**3, "A"),
    "fill_diagonal": (lambda m: jnp.fill_diagonal(m, 0.0, inplace=False), "M"),
    "matrix_power": (lambda m: jnp.linalg.matrix_power(m / 9, 3), "M"),
    "multi_dot": (lambda a, t, b: jnp.linalg.multi_dot([a, t, b]), "AtB"),
    "norms": (lambda a: [jnp.linalg.norm(a, ord=o) for o in (None, "fro", 1, 2, "nuc", jnp.inf)], "A"),
    "cond": (lambda m: jnp.linalg.cond(m), "M"),
    "lstsq": (lambda a, v: jnp.linalg.lstsq(a, v)[0], "Av"),
    "eig": (lambda m: jnp.sort(jnp.linalg.eigvals(m).real), "N"),
    "tensorsolve": (lambda m, n: jnp.linalg.tensorsolve(m, n[0]), "MN"),
    "fftn": (
        lambda z: (jnp.fft.fftn(z), jnp.fft.ifft2(z), jnp.fft.rfft2(z.real), jnp.fft.irfft(z), jnp.fft.hfft(z)),
        "Z",
    ),
    "lax.cumulative": (
        lambda a: (
            lax.cumsum(a, 0),
            lax.cumprod(a, 0),
            lax.cummax(a, 0),
            lax.cummin(a, 0, reverse=True),
            lax.cumlogsumexp(a, 0),
        ),
        "A",
    ),
    "lax.conv": (
        lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        "TK",
    ),
    "lax.conv_transpose": (lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), "TK"),
    "lax.conv_local": (
        lambda x: lax.conv_general_dilated_patches(
            x, (3, 3), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        "T",
    ),
    "lax.reduce_window": (
        lambda x: (
            lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
            lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID"),
        ),
        "T",
    ),
    "lax.dynamic": (
        lambda a, n, b: (
            lax.dynamic_slice(a, (n, n), (3, 2)),
            lax.dynamic_update_slice(a, b[:3], (n, 0)),
            lax.dynamic_index_in_dim(a, n),
            lax.dynamic_slice(b[0, 0], (), ()),
        ),
        "AnB",
    ),
    "lax.top_k": (lambda a: (lax.top_k(a, 3), lax.top_k(a.T, 2)), "A"),
    "lax.sort": (lambda i, a: lax.sort((i, a), dimension=0, num_keys=1), "IA"),
    "lax.argminmax": (lambda a: (lax.argmax(a, 0, jnp.int32), lax.argmin(a, 1, jnp.int32)), "A"),
    "lax.pad": (lambda a: lax.pad(a, 0.5, ((2, -1, 1), (-1, 3, 0))), "A"),
    "lax.rev": (lambda a: lax.rev(a, (0, 1)), "A"),
    "lax.bits": (
        lambda i, j: (lax.shift_left(i, j), lax.shift_right_logical(i, j), lax.clz(i), lax.population_count(i)),
        "IJ",
    ),
    "lax.bitcast": (lambda a: lax.bitcast_convert_type(a, jnp.uint8), "A"),
    "lax.reduce_precision": (lambda a: lax.reduce_precision(a, 5, 4), "A"),
    "lax.scan": (lambda a: lax.scan(lambda c, x: (c * 0.5 + x, c.sum()), a[0], a), "A"),
    "lax.map": (lambda a: lax.map(lambda r: jnp.sin(r) * r.sum(), a), "A"),
    "lax.associative_scan": (lambda a: lax.associative_scan(jnp.multiply, a), "A"),
    "lax.while": (lambda a: lax.while_loop(lambda c: c.sum() < 90, lambda c: c * 1.5, a), "A"),
    "lax.cond": (lambda a, b: lax.cond(a[0, 0] > 0.5, jnp.sin, jnp.cos, b), "AB"),
    "lax.reduce": (
        lambda a, i: lax.reduce(
            (a, i), (jnp.float32(0), jnp.int32(0)), lambda x, y: (x[0] + y[0], lax.max(x[1], y[1])), (0,)
        ),
        "AI",
    ),
    "lax.betainc": (lambda a, b, c: lax.betainc(a * 5, b * 5, c), "ABC"),
    "lax.igamma": (lambda a, b: (lax.igamma(a * 5, b * 5), lax.igammac(a, b), lax.random_gamma_grad(a * 3, b)), "AB"),
    "lax.custom_root": (
        lambda v: lax.custom_root(
            lambda x: x**3 - v,
            v,
            lambda g, x0: lax.fori_loop(0, 30, lambda _, x: x - g(x) / (3 * x * x + 1e-6), x0),
            lambda g, y: y / g(1.0 + 0 * y),
        ),
        "v",
    ),
    "nn.one_hot": (lambda j: jax.nn.one_hot(j, 5), "j"),
    "nn.dot_product_attention": (lambda x: jax.nn.dot_product_attention(x, x, x, is_causal=True), "T"),
    "nn.standardize": (
        lambda a: (
            jax.nn.standardize(a, axis=0),
            jax.nn.log_softmax(a, 0),
            jax.nn.logsumexp(a, 0),
            jax.nn.glu(a[:, :4]),
        ),
        "A",
    ),
    "nn.initializers": (
        lambda k: [
            make(jax.random.wrap_key_data(k), (4, 6))
            for make in (
                jax.nn.initializers.orthogonal(),
                jax.nn.initializers.he_normal(),
                jax.nn.initializers.glorot_uniform(),
                jax.nn.initializers.truncated_normal(),
                jax.nn.initializers.lecun_normal(),
            )
        ],
        "key ",
    ),
    "image.resize": (
        lambda x: [
            jax.image.resize(x, (2, 5, 11, 3), m) for m in ("nearest", "linear", "cubic", "lanczos3", "lanczos5")
        ],
        "T",
    ),
    "image.scale_and_translate": (
        lambda x: jax.image.scale_and_translate(
            x, (2, 9, 8, 3), (1, 2), jnp.array([1.2, 0.8]), jnp.array([0.5, -1.0]), "linear"
        ),
        "T",
    ),
    "ndimage": (lambda a, b: jax.scipy.ndimage.map_coordinates(a, [b * 6, b * 4], 1, mode="nearest"), "AB"),
    "interpolator": (
        lambda s, v, w: jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(7.0),), v)(w[:, None] * 5),
        "Svw",
    ),
    "cg": (
        lambda m, n: (
            jax.scipy.sparse.linalg.cg(lambda x: m @ x, n[0])[0],
            jax.scipy.sparse.linalg.gmres(lambda x: m @ x, n[0])[0],
            jax.scipy.sparse.linalg.bicgstab(lambda x: m @ x, n[0])[0],
        ),
        "MN",
    ),
    "minimize": (
        lambda v: jax.scipy.optimize.minimize(lambda x: jnp.sum((x - v) ** 2) + jnp.sum(x**4), v * 0, method="BFGS").x,
        "v",
    ),
    "logsumexp": (lambda a, b: jax.scipy.special.logsumexp(a, axis=0, b=b), "AB"),
    "lpmn": (lambda v: jax.scipy.special.bernoulli(6), "v"),
    "sph_harm": (
        lambda v: jax.scipy.special.sph_harm_y(jnp.array([2]), jnp.array([1]), v[:1] * 3, v[:1], n_max=3),
        "v",
    ),
    "solve": (
        lambda m, n: (
            jax.scipy.linalg.solve(m, n),
            jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(m), n),
            jax.scipy.linalg.solve_triangular(m, n),
            jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(n), m),
        ),
        "MN",
    ),
    "expm": (lambda n: (jax.scipy.linalg.expm(n / 4), jax.scipy.linalg.sqrtm(n @ n.T + jnp.eye(6)).real), "N"),
    "expm_frechet": (lambda m, n: jax.scipy.linalg.expm_frechet(m / 9, n / 4), "MN"),
    "eigh": (_eigh, "M"),
    "svd": (_svd, "A"),
    "schur": (_schur, "M"),
    "block_diag": (lambda a, t: (jax.scipy.linalg.block_diag(a, t), jax.scipy.linalg.toeplitz(a[:, 0])), "At"),
    "detrend": (lambda a: jax.scipy.signal.detrend(a, axis=0), "A"),
    "stft": (lambda a: jax.scipy.signal.stft(jnp.ravel(a), nperseg=16)[2], "A"),
    "welch": (
        lambda a: (
            jax.scipy.signal.welch(jnp.ravel(a), nperseg=16)[1],
            jax.scipy.signal.csd(jnp.ravel(a), jnp.ravel(a) ** 2, nperseg=16)[1],
        ),
        "A",
    ),
    "signal.convolve": (
        lambda a, b: (
            jax.scipy.signal.convolve2d(a, b[:3, :3], mode="same"),
            jax.scipy.signal.fftconvolve(a, b, mode="full"),
            jax.scipy.signal.correlate(a, b[:3]),
        ),
        "AB",
    ),
    "kde": (lambda v, w: jax.scipy.stats.gaussian_kde(v)(w), "vw"),
    "mode": (lambda i: jax.scipy.stats.mode(i), "I"),
    "rankdata": (lambda i: (jax.scipy.stats.rankdata(i, axis=0), jax.scipy.stats.sem(i.astype(jnp.float32))), "I"),
    "mvn": (lambda n, m: jax.scipy.stats.multivariate_normal.logpdf(n, jnp.zeros(6), m), "NM"),
    "vq": (lambda a, b: jax.scipy.cluster.vq.vq(a, b[:3]), "AB"),
    "rotation": (lambda a: jax.scipy.spatial.transform.Rotation.from_quat(a[:, :4]).as_matrix(), "A"),
    "segment": (
        lambda a, i: (
            jax.ops.segment_sum(a, i, 7),
            jax.ops.segment_max(a, i, 7),
            jax.ops.segment_min(a, i, 7),
            jax.ops.segment_prod(a, i, 7),
        ),
        "Ai",
    ),
    "checkpoint": (lambda a: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(a), "A"),
    "hessian": (lambda v: jax.hessian(lambda x: jnp.sum(jnp.sin(x) * x[::-1]))(v), "v"),
    "jacobian": (lambda v: (jax.jacfwd(jnp.cumsum)(v), jax.jacrev(jnp.sort)(v)), "v"),
    "windows": (lambda n: (jnp.bartlett(9), jnp.blackman(9), jnp.hamming(9), jnp.hanning(9), jnp.kaiser(9, 3.0)), "n"),
    "creation": (
        lambda a, n: (
            jnp.arange(7) + n,
            jnp.eye(4),
            jnp.linspace(n, 9.0, 7),
            jnp.logspace(0, 1, 5),
            jnp.geomspace(1, 9, 5),
            jnp.indices((3, 4)),
            jnp.tri(4, 5),
            jnp.full_like(a, 2.0),
            jnp.fft.fftfreq(7),
            jnp.fft.rfftfreq(8),
        ),
        "An",
    ),
    "shapes": (
        lambda a: (
            jnp.resize(a, (3, 4)),
            a.reshape(5, 7),
            a.reshape(35, 1),
            jnp.broadcast_to(a, (2, 7, 5)),
            jnp.expand_dims(a, (0, 2)),
            jnp.swapaxes(a, 0, 1),
            jnp.permute_dims(a, (1, 0)),
            a.ravel(),
            jnp.partition(a, 3, axis=0)[3],
        ),
        "A",
    ),
    "lax.approx": (lambda a: (lax.approx_max_k(a, 3), lax.approx_min_k(a.T, 2)), "A"),
    "lax.conv_unshared": (
        lambda x, k: lax.conv_general_dilated_local(
            x,
            jnp.ones((6, 6, 27, 4), jnp.float32) * k.sum(),
            (1, 1),
            "VALID",
            (3, 3),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        ),
        "TK",
    ),
    "lax.scatters": (
        lambda a, i, b: [
            getattr(lax, f"scatter_{op}")(a, i[:, None], b, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
            for op in ("add", "max", "min", "mul")
        ],
        "AiB",
    ),
    "lax.gather": (
        lambda a, i: [
            lax.gather(a, i[:, None], lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 5), mode=m, fill_value=-1)
            for m in ("clip", "fill", "promise_in_bounds")
        ],
        "Ai",
    ),
    "lax.integer_pow": (
        lambda a: (lax.integer_pow(a, -3), lax.tile(a, (2, 1)), lax.split(a, (2, 5)), lax.collapse(a, 0, 2)),
        "A",
    ),
    "lax.ragged_dot": (
        lambda a, n: lax.ragged_dot(a, jnp.stack([n[:5, :4], n[1:, :4]]), jnp.array([3, 4], jnp.int32)),
        "AN",
    ),
    "lax.reduces": (
        lambda i, p: (
            lax.reduce_and(p, (0,)),
            lax.reduce_or(p, (1,)),
            lax.reduce_xor(i, (0,)),
            lax.reduce_max(i, (0, 1)),
        ),
        "IP",
    ),
    "bessel_jn": (lambda v: jax.scipy.special.bessel_jn(v * 3, v=3, n_iter=20), "v"),
    "hyp2f1": (lambda v, w: jax.scipy.special.hyp2f1(v, w, v + w, w / 2), "vw"),
    "multigammaln": (lambda a: jax.scipy.special.multigammaln(a + 3, 2), "A"),
    "eigh_tridiagonal": (lambda v, w: jax.scipy.linalg.eigh_tridiagonal(v, w[:6], eigvals_only=True), "vw"),
    "funm": (lambda m: jax.scipy.linalg.funm(m, jnp.sin).real, "M"),
    "matrices": (
        lambda n: (
            jax.scipy.linalg.dft(5),
            jax.scipy.linalg.hadamard(4),
            jax.scipy.linalg.helmert(5),
            jax.scipy.linalg.hilbert(4),
            jax.scipy.linalg.pascal(4),
            jax.scipy.linalg.leslie(n[0], n[1, :5]),
            jax.scipy.linalg.convolution_matrix(n[0], 4),
        ),
        "N",
    ),
    "sylvester": (lambda m, n: jax.scipy.linalg.solve_sylvester(m, n, m), "MN"),
    "cho_lu": (
        lambda m, n: (jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(m), True), n), jnp.linalg.tensorinv(m + n, 1)),
        "MN",
    ),
    "stats": (
        lambda i: (
            jax.scipy.stats.betabinom.logpmf(i, 9, 2.0, 3.0),
            jax.scipy.stats.multinomial.logpmf(i[0, :2], 9, jnp.array([0.4, 0.6])),
        ),
        "I",
    ),
    "einsums": (
        lambda a, b, m: (
            jnp.einsum("ij,kj->ik", a, b),
            jnp.einsum("ij->j", a),
            jnp.einsum("ii->i", m),
            jnp.einsum("ij,ij->", a, b),
            jnp.einsum("ij,k->kji", a, b[0]),
        ),
        "ABM",
    ),
    "int8": (
        lambda i, j: [
            f(i.astype(t), j.astype(t))
            for t in (jnp.int8, jnp.uint8, jnp.uint16, jnp.int16, jnp.uint32)
            for f in (jnp.add, jnp.floor_divide, jnp.mod, jnp.maximum, jnp.left_shift, jnp.power)
        ],
        "IJ",
    ),
    "place": (
        lambda a, p, i: (
            jnp.place(a, p, jnp.arange(35.0), inplace=False),
            jnp.put(a, i, 2.0, inplace=False),
            jnp.extract(p, a, size=12, fill_value=0.0),
            jnp.flatnonzero(p, size=12, fill_value=0),
            jnp.ravel_multi_index((i, i % 5), (7, 5), mode="clip"),
        ),
        "APi",
    ),
    "lax.linalg.ormqr": (lambda n: [_ormqr(m) for m in (n, lax.complex(n, n.T))], "N"),
    "lax.linalg.rest": (
        lambda m, n: (
            lax.linalg.cholesky_update(jnp.linalg.cholesky(m).T, n[0]),
            lax.linalg.tridiagonal_solve(n[0], m[1] + 9, n[2], m),
        ),
        "MN",
    ),
    "bf16": (
        lambda a, b: (
            [
                f(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16))
                for f in (jnp.add, jnp.multiply, jnp.power, jnp.arctan2, jnp.logaddexp)
            ]
            + [
                jnp.cumsum(a.astype(jnp.float16), 0),
                jax.nn.softmax(a.astype(jnp.bfloat16), 0),
                jnp.sort(a.astype(jnp.float16), 0),
                jnp.var(a.astype(jnp.bfloat16), 0),
            ]
        ),
        "AB",
    ),
}


def _draw(call: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda key: call(jax.random.wrap_key_data(key))


RANDOM: dict[str, Callable[[Any], Any]] = {
    "ball": lambda k: jax.random.ball(k, 3, shape=(5,)),
    "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (7, 5)),
    "beta": lambda k: jax.random.beta(k, 2.0, 3.0, (7,)),
    "binomial": lambda k: jax.random.binomial(k, 9.0, 0.4, (7,)),
    "bits": lambda k: (
        jax.random.bits(k, (7, 5)),
        jax.random.bits(k, (3,), jnp.uint8),
        jax.random.bits(k, (3,), jnp.uint16),
    ),
    "categorical": lambda k: jax.random.categorical(k, jnp.log(jnp.array([0.2, 0.3, 0.5])), shape=(7,)),
    "cauchy": lambda k: jax.random.cauchy(k, (7, 5)),
    "chisquare": lambda k: jax.random.chisquare(k, 3.0, shape=(7,)),
    "choice": lambda k: (
        jax.random.choice(k, 9, (4,), replace=False),
        jax.random.choice(k, jnp.arange(5.0), (7,), p=jnp.array([0.1, 0.2, 0.3, 0.2, 0.2])),
    ),
    "dirichlet": lambda k: jax.random.dirichlet(k, jnp.array([1.0, 2.0, 3.0]), (4,)),
    "double_sided_maxwell": lambda k: jax.random.double_sided_maxwell(k, 1.0, 2.0, (7,)),
    "exponential": lambda k: jax.random.exponential(k, (7, 5)),
    "f": lambda k: jax.random.f(k, 3.0, 4.0, (7,)),
    "fold_in": lambda k: jax.random.key_data(jax.random.fold_in(k, 7)),
    "gamma": lambda k: jax.random.gamma(k, jnp.array([0.5, 2.0, 5.0]), (4, 3)),
    "generalized_normal": lambda k: jax.random.generalized_normal(k, 1.5, (7,)),
    "geometric": lambda k: jax.random.geometric(k, 0.4, (7,)),
    "gumbel": lambda k: jax.random.gumbel(k, (7, 5)),
    "laplace": lambda k: jax.random.laplace(k, (7, 5)),
    "loggamma": lambda k: jax.random.loggamma(k, 0.7, (7,)),
    "logistic": lambda k: jax.random.logistic(k, (7, 5)),
    "lognormal": lambda k: jax.random.lognormal(k, 0.5, (7,)),
    "maxwell": lambda k: jax.random.maxwell(k, (7,)),
    "multinomial": lambda k: jax.random.multinomial(k, 9.0, jnp.array([0.2, 0.3, 0.5])),
    "multivariate_normal": lambda k: jax.random.multivariate_normal(k, jnp.zeros(3), jnp.eye(3) * 2, (4,)),
    "normal": lambda k: (
        jax.random.normal(k, (7, 5)),
        jax.random.normal(k, (3,), jnp.bfloat16),
        jax.random.normal(k, (3,), jnp.complex64),
    ),
    "orthogonal": lambda k: jax.random.orthogonal(k, 4),
    "pareto": lambda k: jax.random.pareto(k, 2.0, (7,)),
    "permutation": lambda k: (
        jax.random.permutation(k, 11),
        jax.random.permutation(k, jnp.arange(12.0).reshape(4, 3), axis=1, independent=True),
    ),
    "poisson": lambda k: jax.random.poisson(k, jnp.array([0.5, 4.0, 30.0]), (3,)),
    "rademacher": lambda k: jax.random.rademacher(k, (7,)),
    "randint": lambda k: (jax.random.randint(k, (7, 5), -3, 9), jax.random.randint(k, (4,), 0, 200, jnp.uint8)),
    "rayleigh": lambda k: jax.random.rayleigh(k, 1.5, (7,)),
    "split": lambda k: jax.random.key_data(jax.random.split(k, 3)),
    "t": lambda k: jax.random.t(k, 3.0, (7,)),
    "triangular": lambda k: jax.random.triangular(k, 0.0, 0.3, 1.0, (7,)),
    "truncated_normal": lambda k: jax.random.truncated_normal(k, -1.0, 2.0, (7, 5)),
    "uniform": lambda k: jax.random.uniform(k, (7, 5), minval=-2.0, maxval=3.0),
    "wald": lambda k: jax.random.wald(k, 1.5, (7,)),
    "weibull_min": lambda k: jax.random.weibull_min(k, 1.5, 2.0, (7,)),
}


def _arrays(tree: Any) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]


Case = tuple[Callable[..., Any], list[str]]


def _takes(call: Callable[..., Any], names: Iterable[str]) -> bool:
    """Whether JAX can trace ``call`` on these arguments, and gets arrays."""
    try:
        return bool(_arrays(jax.eval_shape(call, *(ARGUMENTS[name] for name in names))))
    except Exception:  # whatever it says: these are no arguments for it
        return False


def _candidates() -> dict[str, tuple[Callable[..., Any], list[list[str]]]]:
    """Every function and what it may be called with, the best first."""
    found: dict[str, tuple[Callable[..., Any], list[list[str]]]] = {}
    for module_name in MODULES:
        for name, call in sorted(vars(importlib.import_module(module_name)).items()):
            if not name.startswith("_") and name not in LEFT_OUT and callable(call) and not inspect.isclass(call):
                found[f"{module_name.removeprefix('jax.')}.{name}"] = (call, [list(kind) for kind in KINDS])
    for name, (call, names) in MORE.items():
        found[name] = (call, [names.split() if " " in names else list(names)])
    found.update({f"random.{name}": (_draw(call), [["key"]]) for name, call in RANDOM.items()})
    return found


def cases(chosen: Callable[[int, str], bool]) -> dict[str, Case]:
    """The functions of these numbers and names that JAX takes; what stands in a table it must take."""
    found: dict[str, Case] = {}
    for number, (name, (call, kinds)) in enumerate(_candidates().items()):
        if not chosen(number, name):
            continue
        taken = next((kind for kind in kinds if _takes(call, kind)), None)
        assert taken or len(kinds) > 1, f"{name}: JAX does not take these arguments"
        if taken:
            found[name] = (call, taken)
    return found


def _gradient(case: Case) -> Case | None:
    """The gradient of the sum of a case's real results, if JAX has one."""
    call, names = case
    floats = tuple(i for i, name in enumerate(names) if ARGUMENTS[name].dtype == np.float32)

    def loss(*arguments: Any) -> Any:
        parts = [jnp.sum(jnp.sin(leaf)) for leaf in _arrays(call(*arguments)) if leaf.dtype in (jnp.float32, jnp.float64)]
        return sum(parts, jnp.float32(0))

    if not floats or not any(
        leaf.dtype == jnp.float32 for leaf in _arrays(jax.eval_shape(call, *(ARGUMENTS[n] for n in names)))
    ):
        return None
    gradient = jax.grad(loss, argnums=floats)
    return (gradient, names) if _takes(gradient, names) else None


def _in_f64(case: Case) -> list[np.ndarray]:
    """What JAX computes of a case in f64, of the same arguments."""
    call, used = case
    with jax.enable_x64(True):
        wide = [jnp.asarray(ARGUMENTS[name], jnp.float64 if ARGUMENTS[name].dtype == np.float32 else None) for name in used]
        return [np.asarray(leaf) for leaf in _arrays(jax.jit(call)(*wide))]


def run(batch: dict[str, Case]) -> dict[str, str]:
    """What is wrong with the functions of ``batch``, run as one program; by name."""
    names = sorted({name for _, used in batch.values() for name in used})

    def program(values: dict[str, Any]) -> Any:
        return {case: _arrays(call(*(values[name] for name in used))) for case, (call, used) in batch.items()}

    values = {name: ARGUMENTS[name] for name in names}
    expected = jax.jit(program)(values)
    cuts = {i: CUTS[name] for i, name in enumerate(names) if name in CUTS}
    try:
        got = shardc.compile(program, values, mesh={"x": 3}, in_shardings=cuts)(values)
    except shardc.ShardcError as error:
        if len(batch) == 1:
            return {next(iter(batch)): str(error).split("\n")[0][:300]}
        items = list(batch.items())
        half = len(items) // 2
        return {**run(dict(items[:half])), **run(dict(items[half:]))}
    wrong = {}
    for case in batch:
        for part, (mine, theirs) in enumerate(zip(got[case], expected[case], strict=True)):
            theirs, mine = np.asarray(theirs), np.asarray(mine)
            # XLA's f32 functions take subnormal numbers for zero on CPUs (log(1e-40) is -inf), and
            # gradients then are NaN where there is a number: in f64 there is one.
            if theirs.dtype == np.float32 and mine.shape == theirs.shape and (lost := np.isnan(theirs) & np.isfinite(mine)).any():
                theirs = np.where(lost, _in_f64(batch[case])[part], theirs).astype(np.float32)
            same = mine.shape == theirs.shape
            if theirs.dtype.kind in "iub":
                same = same and np.array_equal(mine, theirs)
            else:
                # Eight units in the last place of a narrow type; f32 and complex numbers by what sums of them lose.
                tolerance = max(5e-4, 8 * float(jnp.finfo(theirs.dtype).eps))
                wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
                mine, theirs = mine.astype(wide), theirs.astype(wide)
                scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=1.0))
                same = same and np.allclose(mine, theirs, rtol=tolerance, atol=tolerance * scale / 50, equal_nan=True)
            if not same:
                wrong[case] = f"differs: {np.ravel(mine)[:4]} for {np.ravel(theirs)[:4]}"
                break
    return wrong


def main() -> None:
    """Prints what differs, and how many functions there were."""
    warnings.simplefilter("ignore")
    options = dict(word.lstrip("-").split("=") for word in sys.argv[1:] if word.startswith("--") and "=" in word)
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    every, first, size = int(options.get("every", 1)), int(options.get("first", 0)), int(options.get("batch", 16))
    chosen = cases(lambda number, name: name in asked if asked else number % every == first % every)
    if "--list" in sys.argv:
        print("\n".join(f"{name} {''.join(case[1])}" for name, case in chosen.items()))
        return
    backward = {}
    for name, case in chosen.items():
        if name not in NO_GRADIENT and (gradient := _gradient(case)):
            backward[f"gradient of {name}"] = gradient
    everything = list({**chosen, **backward}.items())
    wrong: dict[str, str] = {}
    for at in range(0, len(everything), size):
        batch = run(dict(everything[at : at + size]))
        wrong.update(batch)
        for name, what in batch.items():
            print(f"{name}: {what}", flush=True)
    print(f"{len(chosen)} functions, {len(backward)} gradients, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

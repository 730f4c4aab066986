"""The kinds of ops of which random_programs.py makes programs.

A kind is a function of a `Draw` and of the shapes of values that there are. It gives a function of these values with one
result, or None where it has none for such shapes. What it does not draw by the `Draw` it must not draw at all: a program
is a function of its number. Values are real, of one type, and lie between -1 and 1 or near to it.
"""

import os
import random
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Function = Callable[..., Any]
REAL = jnp.dtype(os.environ.get("SHARDC_JAX_REAL", "float64"))
ONE_DEVICE = "one"
"""The axis of the mesh of JAX's CPU device."""
JUMP = 0.0137
"""Where functions that jump do: not at 0, on whose other side a rounding may put a sum."""
KINDS: dict[str, tuple[int, Callable[..., Function | None]]] = {}
"""By name, how many values a kind takes, and the kind."""


class Draw(random.Random):
    """What kinds draw from; ``axes`` are the mesh's, with their sizes."""

    axes: dict[str, int]

    def dim(self, shape: Sequence[int]) -> int:
        return self.randrange(len(shape))

    def chance(self, part: float) -> bool:
        return self.random() < part

    def some(self, count: int, least: int, most: int) -> list[int]:
        return [self.randint(least, most) for _ in range(count)]


def kind(values: int = 1, least: int = 1) -> Callable[[Callable[..., Function | None]], Callable[..., Function | None]]:
    """Enters a kind of ``values`` values of at least ``least`` dims each."""

    def enter(make: Callable[..., Function | None]) -> Callable[..., Function | None]:
        def guarded(draw: Draw, *shapes: Sequence[int]) -> Function | None:
            return make(draw, *shapes) if all(len(shape) >= least for shape in shapes) else None

        KINDS[make.__name__] = (values, guarded)
        return make

    return enter


def matrix(x: Any) -> Any:
    """A few rows and columns of a value, as a matrix."""
    return x.reshape(x.shape[0], -1)[:9, :9]


def definite(x: Any) -> Any:
    rows = matrix(x)
    return rows @ rows.T / rows.shape[1] + jnp.eye(rows.shape[0]) / 2


ONE: list[Function] = [
    jnp.sin, jnp.tanh, jnp.abs, jnp.cbrt, jnp.arctan, jnp.expm1, jnp.sinc, jax.nn.sigmoid, jax.nn.gelu,
    jax.nn.silu, jax.nn.softplus, jax.scipy.special.erf,
    lambda x: jnp.floor(x - JUMP), lambda x: jnp.sign(x - JUMP), lambda x: jnp.exp(-x * x), lambda x: jnp.sqrt(jnp.abs(x) + 0.1), lambda x: jnp.log1p(jnp.abs(x)), lambda x: x**3,
    lambda x: jnp.where(x > 0.1, x, -2 * x), lambda x: jnp.clip(x, -0.5, 0.7), lambda x: 1 / (1 + x * x),
    lambda x: lax.rsqrt(x * x + 1), lambda x: jnp.round(4 * x - JUMP) / 4, lambda x: jax.scipy.special.gammaln(jnp.abs(x) + 1),
    lambda x: jax.scipy.special.digamma(jnp.abs(x) + 1), lambda x: jnp.nextafter(x, 2 * x),
]  # fmt: skip
TWO: list[Function] = [
    jnp.add, jnp.multiply, jnp.maximum, jnp.minimum, jnp.arctan2, jnp.logaddexp, jnp.hypot, lambda x, y: jnp.copysign(x, y - JUMP), lambda x, y: jnp.heaviside(x - JUMP, y),
    lambda x, y: jnp.where(x > y, x, y / 2), lambda x, y: jnp.mod(x, jnp.abs(y) + 0.3), lambda x, y: x / (y * y + 0.5),
    lambda x, y: jnp.power(jnp.abs(x) + 0.2, y),
]  # fmt: skip


@kind(least=0)
def elementwise(draw: Draw, _: Sequence[int]) -> Function:
    one, other = draw.choice(ONE), draw.choice(ONE)
    return lambda x: one(x) + other(x) / 2


@kind(values=2, least=0)
def two_values(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function | None:
    try:
        np.broadcast_shapes(tuple(one), tuple(other))
    except ValueError:
        return None
    return draw.choice(TWO)


@kind(values=2)
def all_pairs_of_elements(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function:
    combine, i, j = draw.choice(TWO), draw.dim(one), draw.dim(other)
    line = lambda x, dim: jnp.moveaxis(x, dim, -1).reshape(-1, x.shape[dim])[0]
    return lambda x, y: combine(line(x, i)[:, None], line(y, j)[None])


@kind(least=2)
def reduction(draw: Draw, shape: Sequence[int]) -> Function:
    reduce: Function = draw.choice([
        jnp.sum, jnp.mean, jnp.max, jnp.min, jnp.var, jnp.median, jnp.ptp, jax.nn.logsumexp,
        lambda x, dim: jnp.prod(x * 0.9, dim), lambda x, dim: jnp.linalg.norm(x + 0.1, axis=dim),
        lambda x, dim: jnp.quantile(x, 0.3, dim), lambda x, dim: jnp.argmax(x, dim), lambda x, dim: jnp.argmin(x, dim),
        lambda x, dim: jnp.count_nonzero(x > JUMP, dim), lambda x, dim: jnp.any(x > 0.5, dim), lambda x, dim: jnp.all(x > -0.5, dim),
    ])  # fmt: skip
    dim, keeps = draw.dim(shape), draw.chance(0.3)
    return lambda x: jnp.expand_dims(reduce(x, dim), dim) if keeps else reduce(x, dim)


@kind(least=3)
def reduction_of_two_dims(draw: Draw, shape: Sequence[int]) -> Function:
    reduce, dims = draw.choice([jnp.sum, jnp.max, jnp.mean, jax.nn.logsumexp]), tuple(draw.sample(range(len(shape)), 2))
    return lambda x: reduce(x, dims)


@kind()
def scan_of_elements(draw: Draw, shape: Sequence[int]) -> Function:
    dim, reverse = draw.dim(shape), draw.chance(0.3)
    scan = draw.choice(
        [lax.cumsum, lax.cummax, lax.cummin, lax.cumlogsumexp, lambda x, *rest: lax.cumprod(x / 2 + 0.7, *rest)]
    )
    return draw.choice(
        [lambda x: scan(x, dim, reverse), lambda x: lax.associative_scan(jnp.maximum, x, axis=dim, reverse=reverse)]
    )


@kind()
def normalised(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    return draw.choice([
        lambda x: jax.nn.softmax(x, dim), lambda x: jax.nn.log_softmax(x, dim),
        lambda x: jax.nn.standardize(x, dim, epsilon=1e-2), lambda x: x / jnp.sqrt(jnp.mean(x * x, dim, keepdims=True) + 1e-2),
    ])  # fmt: skip


@kind()
def order(draw: Draw, shape: Sequence[int]) -> Function:
    dim, count, which = draw.dim(shape), draw.randint(1, shape[-1]), draw.randrange(2)
    return draw.choice([
        lambda x: jnp.sort(x, dim), lambda x: jnp.argsort(x, dim) / 10, lambda x: lax.sort((x, 2 * x), dimension=dim)[1],
        lambda x: lax.top_k(x, count)[which] / (1 + 9 * which), lambda x: jnp.take_along_axis(x, jnp.argsort(jnp.sin(5 * x), dim), dim),
    ])  # fmt: skip


@kind(least=0)
def reshaped(draw: Draw, shape: Sequence[int]) -> Function:
    rest, to = int(np.prod(shape)), []
    while rest > 1 and len(to) < 4:
        to.append(draw.choice([size for size in range(2, rest + 1) if rest % size == 0]))
        rest //= to[-1]
    draw.shuffle(to)
    return lambda x: x.reshape([*to, rest] if rest > 1 else to)


@kind(least=2)
def transposed(draw: Draw, shape: Sequence[int]) -> Function:
    dims = draw.sample(range(len(shape)), len(shape))
    return lambda x: x.transpose(dims)


@kind()
def concatenated(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    first = draw.randint(0, shape[dim])
    return lambda x: jnp.concatenate([lax.slice_in_dim(x, first, None, axis=dim), x, x / 2], dim)


@kind()
def padded(draw: Draw, shape: Sequence[int]) -> Function | None:
    mode = draw.choice(["constant", "wrap", "reflect", "edge", "symmetric", "negative"])
    if mode == "negative":
        around = [
            (draw.randint(-1, 2), draw.randint(-1, 2), draw.randint(0, 2)) if size > 3 else (0, 1, 0) for size in shape
        ]
        return lambda x: lax.pad(x, jnp.array(0.3), around)
    if min(shape) < 3:
        return None
    width = [(draw.randint(0, 2), draw.randint(0, 2)) for _ in shape]
    return lambda x: jnp.pad(x, width, mode=mode)


@kind()
def moved(draw: Draw, shape: Sequence[int]) -> Function:
    dim, by, times = draw.dim(shape), draw.randint(-7, 7), draw.randint(2, 3)
    return draw.choice([
        lambda x: jnp.roll(x, by, dim), lambda x: jnp.roll(x, by, dim) - 2 * x + jnp.roll(x, -by, dim), lambda x: jnp.flip(x, dim),
        lambda x: jnp.repeat(x, times, dim), lambda x: jnp.tile(x, [times if i == dim else 1 for i in range(x.ndim)]),
    ])  # fmt: skip


@kind()
def sliced(draw: Draw, shape: Sequence[int]) -> Function:
    begins = [draw.randrange(size) for size in shape]
    part = tuple(
        slice(begin, draw.randint(begin + 1, size), draw.choice([1, 1, 2, 3])) for begin, size in zip(begins, shape)
    )
    return lambda x: x[part]


@kind()
def sliced_at_a_value(draw: Draw, shape: Sequence[int]) -> Function:
    sizes, at = [draw.randint(1, size) for size in shape], [draw.randint(-2, size + 1) for size in shape]
    places = lambda x: [jnp.int32(place) + (x.ravel()[0] > JUMP).astype(jnp.int32) for place in at]
    update = lambda x: lax.dynamic_update_slice(x, 2 * x[tuple(map(slice, sizes))], places(x))
    return draw.choice([lambda x: lax.dynamic_slice(x, places(x), sizes), update])


@kind()
def gathered(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    indices, mode = (
        np.array(draw.some(draw.randint(1, 9), -shape[dim] - 2, shape[dim] + 2)),
        draw.choice(["clip", "wrap", "fill"]),
    )
    return lambda x: jnp.nan_to_num(jnp.take(x, indices + (jnp.sum(x) > JUMP).astype(int), dim, mode=mode))


@kind()
def scattered(draw: Draw, shape: Sequence[int]) -> Function:
    indices, how = (
        np.array(draw.some(draw.randint(1, 8), -shape[0] - 1, shape[0] + 1)),
        draw.choice(["set", "add", "max", "min"]),
    )
    some = indices[:1] if how == "set" else indices  # which of several sets is last nobody promises
    update = lambda x: jnp.linspace(-0.9, 1.1, some.size).reshape(-1, *[1] * (x.ndim - 1)) * (1 + x[:1])
    return lambda x: getattr(x.at[some], how)(update(x))


@kind(least=2)
def indexed_by_two(draw: Draw, shape: Sequence[int]) -> Function:
    count = draw.randint(1, 8)
    rows, columns = (np.array(draw.some(count, 0, size - 1)) for size in shape[:2])
    return draw.choice([
        lambda x: x[rows, columns], lambda x: x[:, columns], lambda x: x.at[rows, columns].add(0.5),
        lambda x: x.at[rows].add(x[rows[::-1]]),
    ])  # fmt: skip


@kind()
def segments(draw: Draw, _: Sequence[int]) -> Function:
    count, first = draw.randint(1, 6), draw.randrange(2)
    reduce = draw.choice([jax.ops.segment_sum, jax.ops.segment_max, jax.ops.segment_min])
    return lambda x: jnp.nan_to_num(
        reduce(x, jnp.arange(x.shape[0]) * 7 % (count + 1) - first, count), posinf=2.0, neginf=-2.0
    )


@kind(values=2, least=2)
def matrix_product(_: Draw, one: Sequence[int], other: Sequence[int]) -> Function:
    depth = min(one[-1], other[0])
    return lambda x, y: x[..., :depth] @ y[:depth].reshape(depth, -1)


@kind(values=2)
def einsum(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function | None:
    sizes: dict[str, int] = {}

    def letters(shape: Sequence[int]) -> str:
        text = ""
        for size in shape:
            same = [letter for letter, known in sizes.items() if known == size and letter not in text]
            text += draw.choice(same) if same and draw.chance(0.6) else "abcdefghij"[len(sizes)]
            sizes[text[-1]] = size
        return text

    left, right = letters(one), letters(other)
    kept = [letter for letter in sizes if draw.chance(0.6)]
    draw.shuffle(kept)
    if np.prod([*sizes.values()]) > 300_000:
        return None
    return lambda x, y: jnp.einsum(f"{left},{right}->{''.join(kept)}", x, y)


@kind(values=2, least=2)
def convolution(draw: Draw, shape: Sequence[int], _: Sequence[int]) -> Function | None:
    dims, channels = min(2, len(shape) - 1), shape[-1]
    groups = draw.choice([1, 1, channels])
    window, features = draw.some(dims, 1, 4), groups * draw.randint(1, 3)
    strides, dilations, gaps = (
        draw.some(dims, 1, 2),
        draw.some(dims, 1, 2),
        [draw.choice([1, 1, 2]) for _ in range(dims)],
    )
    around = [(draw.randint(0, 2), draw.randint(0, 2)) for _ in range(dims)]
    reach = [(size - 1) * step + 1 for size, step in zip(window, dilations)]
    extents = [(size - 1) * gap + 1 + sum(ends) for size, gap, ends in zip(shape[-1 - dims : -1], gaps, around)]
    if channels > 24 or any(far > extent for far, extent in zip(reach, extents)):
        return None
    kernel = (*window, channels // groups, features)
    names = ("NWC", "WIO", "NWC") if dims == 1 else ("NHWC", "HWIO", "NHWC")
    return lambda x, y: lax.conv_general_dilated(
        x.reshape(-1, *shape[-1 - dims :]), jnp.resize(y.ravel(), kernel), strides, around, lhs_dilation=gaps,
        rhs_dilation=dilations, dimension_numbers=names, feature_group_count=groups)  # fmt: skip


@kind()
def windows(draw: Draw, shape: Sequence[int]) -> Function:
    size, strides = [draw.randint(1, min(3, extent)) for extent in shape], draw.some(len(shape), 1, 2)
    start, reduce = draw.choice([(-jnp.inf, lax.max), (jnp.inf, lax.min), (0.0, lax.add)])
    padding = draw.choice(["SAME", "VALID"])
    return lambda x: lax.reduce_window(x, jnp.array(start), reduce, size, strides, padding)


@kind(least=2)
def linear_algebra(draw: Draw, _: Sequence[int]) -> Function:
    solve = lambda x: lax.linalg.triangular_solve(definite(x), matrix(x), left_side=True, lower=True)
    return draw.choice([
        lambda x: jnp.linalg.cholesky(definite(x)), lambda x: jnp.linalg.inv(definite(x)), lambda x: jnp.linalg.eigvalsh(definite(x)),
        lambda x: jnp.abs(jnp.linalg.qr(definite(x))[1]), lambda x: jnp.linalg.svd(matrix(x)[:7, :5], compute_uv=False),
        lambda x: jnp.linalg.slogdet(definite(x))[1], lambda x: jnp.linalg.solve(definite(x), matrix(x)), solve,
        lambda x: jax.scipy.linalg.expm(definite(x) / 3), lambda x: jnp.linalg.pinv(definite(x)), lambda x: jax.scipy.linalg.lu(definite(x))[2],
    ])  # fmt: skip


@kind()
def fourier(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    return draw.choice([
        lambda x: jnp.fft.fft(x, axis=dim).real, lambda x: jnp.fft.rfft(x, axis=dim).imag, lambda x: jnp.fft.ifft(x + 1j * x, axis=dim).imag,
        lambda x: jnp.fft.irfft(jnp.fft.rfft(x, axis=dim), n=x.shape[dim], axis=dim) + x, lambda x: jnp.fft.fftshift(x, dim),
        lambda x: jnp.fft.fftn(x, axes=range(min(x.ndim, 3))).real,
    ])  # fmt: skip


@kind()
def random_numbers(draw: Draw, _: Sequence[int]) -> Function:
    number = draw.randrange(1000)
    return draw.choice([
        lambda x: x * jax.random.bernoulli(jax.random.key(number), 0.7, x.shape),
        lambda x: x + jax.random.normal(jax.random.key(number), x.shape, x.dtype) / 3,
        lambda x: x - jax.random.uniform(jax.random.key(number), x.shape, x.dtype),
        lambda x: x * jax.random.randint(jax.random.key(number), x.shape, -3, 4),
        lambda x: jax.random.permutation(jax.random.key(number), x),
    ])  # fmt: skip


@kind(least=2)
def loop(draw: Draw, _: Sequence[int]) -> Function:
    reverse, turns = draw.chance(0.3), draw.randint(1, 4)
    small = lambda state: (jnp.abs(state[0]).max() > 0.4) & (state[1] < 6)
    return draw.choice([
        lambda x: lax.scan(lambda state, row: (state * 0.7 + jnp.sin(row), state - row), x[0], x, reverse=reverse)[1],
        lambda x: lax.scan(lambda state, row: (jnp.tanh(state + row.sum()), state.max() * row), x[0], x, reverse=reverse)[0],
        lambda x: lax.fori_loop(0, turns, lambda turn, state: state / 2 + jnp.roll(state, turn, -1), x),
        lambda x: lax.stop_gradient(lax.while_loop(small, lambda state: (state[0] * 0.7, state[1] + 1), (lax.stop_gradient(x), 0))[0]),
        lambda x: lax.map(lambda row: jnp.sort(row.ravel())[::-1].reshape(row.shape) + row, x),
    ])  # fmt: skip


@kind()
def branch(draw: Draw, _: Sequence[int]) -> Function:
    return draw.choice([
        lambda x: lax.cond(x.sum() > JUMP, jnp.sin, lambda x: 2 * jnp.flip(x, 0), x),
        lambda x: lax.switch(jnp.clip((4 * x.ravel()[0]).astype(int), 0, 2), [lambda x: x + 1, lambda x: jnp.cumsum(x, 0), lambda x: -x], x),
    ])  # fmt: skip


@kind()
def counts(draw: Draw, _: Sequence[int]) -> Function:
    return draw.choice([
        lambda x: jnp.histogram(x, 7, (-1, 1))[0] / 10, lambda x: jnp.bincount((5 * jnp.abs(x)).astype(int).ravel(), length=8) / 10,
        lambda x: jnp.searchsorted(jnp.sort(x.ravel()), jnp.linspace(-1, 1, 9)) / 10, lambda x: jnp.digitize(x, jnp.linspace(-1, 1, 5)) / 5,
        lambda x: jnp.nonzero(x.ravel() > 0.2, size=6, fill_value=-1)[0] / 10, lambda x: jnp.unique(jnp.round(3 * x - JUMP), size=6, fill_value=9.0),
        lambda x: jax.nn.one_hot((4 * jnp.abs(x)).astype(int), 5), lambda x: jnp.interp(x, jnp.linspace(-1, 1, 6), jnp.arange(6.0)),
    ])  # fmt: skip


@kind()
def integers(draw: Draw, _: Sequence[int]) -> Function:
    dtype = draw.choice([jnp.int32, jnp.uint32, jnp.int16, jnp.uint8, jnp.int64])
    apply: Function = draw.choice([
        lambda i: i * i + 3, lambda i: i // 3, lambda i: i % 5, lambda i: i << 2, lambda i: i >> 1, lambda i: i ^ (i << 1), lambda i: ~i,
        lax.population_count, lax.clz, lambda i: jnp.gcd(i, jnp.full_like(i, 12)), lambda i: jnp.cumsum(i, 0).astype(i.dtype),
        lambda i: jnp.minimum(i, jnp.full_like(i, 2)),
    ])  # fmt: skip
    return lambda x: apply((50 * jnp.abs(x)).astype(dtype)).astype(REAL) / 100


@kind()
def short_floats(draw: Draw, _: Sequence[int]) -> Function:
    dtype = draw.choice([jnp.float8_e4m3fn, jnp.float16, jnp.bfloat16])
    return lambda x: jnp.floor(4 * x - JUMP).astype(dtype).astype(REAL) / 4


@kind()
def complex_numbers(draw: Draw, _: Sequence[int]) -> Function:
    apply: Function = draw.choice([
        jnp.abs, lambda z: (z * z).real, lambda z: jnp.exp(1j * z).imag, lambda z: jnp.angle(z + 2), lambda z: jnp.sqrt(z + 3).real,
        lambda z: z.sum(0).imag, lambda z: (1 / (z + 3)).imag, lambda z: (matrix(z) @ jnp.conj(matrix(z).T)).real if z.ndim > 1 else z.real,
    ])  # fmt: skip
    return lambda x: apply(x + 1j * jnp.flip(x, 0))


@kind(least=2)
def of_matrices(draw: Draw, shape: Sequence[int]) -> Function:
    at, rows = draw.randint(-1, 1), shape[0]
    return draw.choice([
        lambda x: jnp.tril(x, at), lambda x: jnp.triu(x, at), jnp.diagonal, jnp.rot90, jnp.trace, lambda x: jnp.swapaxes(x, 0, -1),
        lambda x: jnp.diff(x, axis=0) if rows > 1 else x, lambda x: jnp.gradient(x, axis=0) if rows > 2 else x,
        lambda x: jnp.convolve(x[0].ravel(), x[-1].ravel()[:3], mode="same"), lambda x: jnp.kron(matrix(x)[:3, :4], matrix(x)[-2:, -2:]),
        lambda x: jax.image.resize(matrix(x), (2 * rows, 5), "bilinear"), lambda x: jnp.cov(matrix(x)),
    ])  # fmt: skip


@kind(values=2, least=2)
def distances(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function:
    depth = min(int(np.prod(one[1:])), int(np.prod(other[1:])), 5)
    rows = lambda x: x.reshape(x.shape[0], -1)[:, :depth]
    squares = lambda x, y: ((rows(x)[:, None] - rows(y)[None]) ** 2).sum(-1)
    return draw.choice(
        [squares, lambda x, y: jnp.exp(-squares(x, y)) @ rows(y), lambda x, y: lax.top_k(-squares(x, y), 1)[0]]
    )


@kind(least=2)
def attention(draw: Draw, _: Sequence[int]) -> Function:
    causal = draw.chance(0.5)

    def attend(x: Any) -> Any:
        rows = x.reshape(x.shape[0], -1)[:, :6]
        scores = rows @ rows.T
        if causal:
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape, bool)), scores, -jnp.inf)
        return jax.nn.softmax(scores) @ rows

    return attend


@kind(least=2)
def mapped(draw: Draw, shape: Sequence[int]) -> Function:
    dim = draw.dim(shape)
    apply: Function = draw.choice([
        lambda row: jnp.cumsum(row, 0), lambda row: jnp.sort(row, 0), lambda row: jnp.sin(row) + row.sum(),
        lambda row: lax.dynamic_slice_in_dim(row, (3 * row.sum()).astype(int), 1), lambda row: jax.checkpoint(jnp.sin)(row) * row.max(),
    ])  # fmt: skip
    return lambda x: jax.vmap(apply, dim)(x)

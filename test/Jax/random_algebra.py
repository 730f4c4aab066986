"""Kinds of ops for random_programs.py: factorisations with their gradients, complex numbers, convolutions, transforms of Fourier.

Factors are drawn so that they are unique but for signs: eigenvalues and singular values lie apart.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from random_kinds import REAL, Draw, Function, definite, kind, matrix


def apart(x: jax.Array) -> jax.Array:
    """A symmetric definite matrix whose eigenvalues lie apart."""
    rows = definite(x) / 8
    return rows + jnp.diag(jnp.arange(1.0, rows.shape[0] + 1))


def skewed(x: jax.Array) -> jax.Array:
    """A matrix that is not symmetric, of eigenvalues that are real and lie apart."""
    rows = apart(x)
    return rows + jnp.triu(rows, 1) / 3


def of_complex(x: jax.Array) -> jax.Array:
    """A definite complex matrix whose eigenvalues lie apart."""
    rows = apart(x)
    turned = jnp.tril(rows, -1) * 0.7
    return rows + 1j * (turned - turned.T)


def phases_out(columns: jax.Array) -> jax.Array:
    return jnp.abs(columns) ** 2


FACTORS: list[Function] = [
    lambda a: phases_out(jnp.linalg.eigh(a)[1]), lambda a: jnp.linalg.eigh(a)[0], lambda a: phases_out(jnp.linalg.svd(a)[0]),
    lambda a: phases_out(jnp.linalg.svd(a[:, :3], full_matrices=False)[2]), lambda a: phases_out(jnp.linalg.qr(a)[0]),
    lambda a: phases_out(jnp.linalg.qr(a[:, :3])[1]), lambda a: jnp.abs(jnp.linalg.cholesky(a)),
    lambda a: jax.scipy.linalg.lu(a)[1].real, lambda a: jnp.abs(lax.linalg.lu(a)[0]), lambda a: jnp.linalg.inv(a).real,
    lambda a: jnp.linalg.solve(a, a[:, :2] + 1).real, lambda a: jnp.linalg.lstsq(a, a[:, :1])[0].real,
    lambda a: jnp.linalg.slogdet(a)[1], lambda a: jnp.linalg.matrix_power(a / 9, 3).real, lambda a: jax.scipy.linalg.expm(a / 9).imag,
    lambda a: jnp.linalg.pinv(a[:, :2]).real, lambda a: jnp.linalg.svdvals(a[:2]), lambda a: jnp.linalg.cond(a) / 20,
    lambda a: lax.linalg.triangular_solve(a, a[:, :2], left_side=True, conjugate_a=True, transpose_a=True).real,
    lambda a: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a), True), a[:, :2]).real,
]  # fmt: skip


@kind(least=2)
def factors(draw: Draw, _: Sequence[int]) -> Function:
    factor, of = draw.choice(FACTORS), draw.choice([apart, of_complex])
    return lambda x: factor(of(x))


@kind(least=2)
def factors_of_any(draw: Draw, _: Sequence[int]) -> Function:
    return draw.choice([
        lambda x: jnp.sort(jnp.linalg.eigvals(skewed(x)).real), lambda x: jnp.sort(lax.stop_gradient(jnp.abs(jnp.linalg.eigvals(skewed(x) + 1j)))),
        lambda x: jnp.linalg.det(skewed(x) / 9), lambda x: jnp.linalg.solve(skewed(x).T, apart(x)), lambda x: jax.scipy.linalg.lu(skewed(x))[2],
        lambda x: jnp.abs(lax.stop_gradient(jax.scipy.linalg.hessenberg(skewed(x)))), lambda x: lax.stop_gradient(jax.scipy.linalg.sqrtm(apart(x)).real),
        lambda x: jax.scipy.linalg.polar(lax.stop_gradient(skewed(x)))[1], lambda x: jax.scipy.linalg.toeplitz(matrix(x)[0]),
        lambda x: jax.scipy.linalg.eigh_tridiagonal(jnp.diag(lax.stop_gradient(apart(x))), jnp.diag(lax.stop_gradient(apart(x)), 1), eigvals_only=True),
        lambda x: lax.linalg.tridiagonal_solve(jnp.ones(matrix(x).shape[0]).at[0].set(0), jnp.diag(apart(x)) + 3, jnp.ones(matrix(x).shape[0]).at[-1].set(0), matrix(x)),
    ])  # fmt: skip


@kind(least=3)
def factors_of_batches(draw: Draw, shape: Sequence[int]) -> Function:
    factor, of, dim = draw.choice(FACTORS), draw.choice([apart, of_complex]), draw.dim(shape)
    return lambda x: jax.vmap(lambda part: factor(of(part)), dim)(x)


@kind(values=2, least=2)
def complex_products(draw: Draw, one: Sequence[int], other: Sequence[int]) -> Function:
    depth, precision = min(one[-1], other[0]), draw.choice([None, "highest"])
    part = draw.choice([jnp.real, jnp.imag, jnp.abs])

    def multiply(x: jax.Array, y: jax.Array) -> jax.Array:
        left = x[..., :depth] + 1j * jnp.flip(x[..., :depth], 0)
        right = y[:depth].reshape(depth, -1)
        return part(jnp.matmul(left, right - 0.5j * jnp.flip(right, 1), precision=precision) + 0.1)

    return multiply


@kind()
def complex_lines(draw: Draw, shape: Sequence[int]) -> Function:
    dim, part = draw.dim(shape), draw.choice([jnp.real, jnp.imag])
    rows = np.array(draw.some(4, 0, shape[0] - 1))
    apply: Function = draw.choice([
        lambda z: jnp.cumsum(z, dim), lambda z: jnp.cumprod(z / 2 + 0.6, dim), lambda z: jnp.sort(z, dim), lambda z: z.at[rows].add(z[rows]),
        lambda z: jnp.prod(z / 2 + 1, dim), lambda z: lax.associative_scan(jnp.multiply, z / 2 + 0.6, axis=dim), lambda z: jnp.where(z.real > 0.1, z, 1j * z),
        lambda z: jnp.tanh(z / 2), lambda z: jnp.log(z + 3), lambda z: (z + 3) ** 1.5, lambda z: jnp.sinh(z), lambda z: jnp.mean(z, dim),
        lambda z: jnp.concatenate([z, z.conj()], dim), lambda z: jnp.fft.fft(z, axis=dim, norm="ortho"), lambda z: lax.reduce(z, jnp.array(2 + 0j), lambda a, b: a * b / 2, (dim,)),
    ])  # fmt: skip
    return lambda x: part(apply(x + 1j * jnp.flip(x, dim)))


def convolution_names(draw: Draw, dims: int) -> tuple[str, str, str]:
    space = "DHW"[3 - dims :]

    def shuffled(letters: str) -> str:
        return "".join(draw.sample(letters, len(letters)))

    return shuffled("NC" + space), shuffled("IO" + space), shuffled("NC" + space)


@kind(values=2)
def convolution_of_any_order(draw: Draw, _: Sequence[int], __: Sequence[int]) -> Function | None:
    """Each option of a convolution; operands are made of the values' elements."""
    dims = draw.randint(1, 3)
    names = convolution_names(draw, dims)
    groups, batches = draw.choice([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)])
    window, extents = draw.some(dims, 1, 3), draw.some(dims, 1, 7)
    strides, dilations, gaps = draw.some(dims, 1, 2), draw.some(dims, 1, 2), draw.some(dims, 1, 2)
    around = [(draw.randint(-1, 3), draw.randint(-1, 3)) for _ in range(dims)]
    reach = [(size - 1) * step + 1 for size, step in zip(window, dilations)]
    if any(far > (size - 1) * gap + 1 + sum(ends) for far, size, gap, ends in zip(reach, extents, gaps, around)):
        return None
    space = "DHW"[3 - dims :]
    left = dict(zip(space, extents)) | {"N": batches * draw.randint(1, 4), "C": groups * draw.randint(1, 3)}
    right = dict(zip(space, window)) | {"I": left["C"] // groups, "O": groups * batches * draw.randint(1, 3)}
    size = lambda sizes, letters: [sizes[letter] for letter in letters]
    turns = [draw.chance(0.2) for _ in range(dims)]
    flipped = [at for at, letter in enumerate(names[1]) if letter in space and turns[space.index(letter)]]

    def convolve(x: jax.Array, y: jax.Array) -> jax.Array:
        kernel = jnp.flip(jnp.resize(y.ravel(), size(right, names[1])), flipped)
        return lax.conv_general_dilated(jnp.resize(x.ravel(), size(left, names[0])), kernel, strides, around, lhs_dilation=gaps,
                                        rhs_dilation=dilations, dimension_numbers=names, feature_group_count=groups,
                                        batch_group_count=batches)  # fmt: skip

    return convolve


@kind(least=3)
def convolution_made(draw: Draw, shape: Sequence[int]) -> Function:
    step, window, padding = draw.randint(1, 3), draw.randint(1, 3), draw.choice(["SAME", "VALID"])
    image = lambda x: x.reshape(-1, *x.shape[-2:], 1)
    return draw.choice([
        lambda x: lax.conv_transpose(image(x), jnp.ones((window, 2, 1, 3)) / 3, (step, 1), padding),
        lambda x: lax.conv_general_dilated_patches(image(x), (window, 1), (step, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        lambda x: jax.scipy.signal.convolve(x[0], x[-1], mode="same"), lambda x: jax.scipy.signal.fftconvolve(x[0], x[-1]),
    ])  # fmt: skip


@kind()
def fourier_of_any(draw: Draw, shape: Sequence[int]) -> Function:
    dim, norm = draw.dim(shape), draw.choice(["backward", "ortho", "forward"])
    length, part = draw.randint(1, 2 * shape[dim]), draw.choice([jnp.real, jnp.imag])
    dims = draw.sample(range(len(shape)), min(len(shape), draw.randint(1, 3)))
    z = lambda x: x + 1j * jnp.flip(x, dim)
    return draw.choice([
        lambda x: part(jnp.fft.fft(z(x), n=length, axis=dim, norm=norm)), lambda x: part(jnp.fft.rfft(x, n=length, axis=dim, norm=norm)),
        lambda x: jnp.fft.irfft(z(x), n=length, axis=dim, norm=norm), lambda x: jnp.fft.hfft(z(x), n=length, axis=dim, norm=norm),
        lambda x: part(jnp.fft.ifftn(z(x), axes=dims, norm=norm)), lambda x: part(jnp.fft.rfftn(x, axes=dims, norm=norm)),
        lambda x: part(jnp.fft.ihfft(x, n=length, axis=dim, norm=norm)), lambda x: jax.scipy.fft.dct(x, axis=dim, norm="ortho"),
        lambda x: jnp.fft.irfftn(jnp.fft.rfftn(x, axes=dims), s=[x.shape[at] for at in dims], axes=dims).astype(REAL),
        lambda x: jax.scipy.signal.istft(jax.scipy.signal.stft(x, nperseg=min(4, x.shape[-1]))[2], nperseg=min(4, x.shape[-1]))[1],
    ])  # fmt: skip

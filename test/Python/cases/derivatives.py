"""Derivatives that JAX makes by rules of their own: implicit ones, second ones, of sorts, windows, tables and grids."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.optimize
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, given, integers, program

BOTH = ("float32", "float64")


@program([floats(P("x"), 11, 7, scale=0.3), floats(P("x"), 11, 7, least=2.0), floats(P("x"), 11, 7, scale=0.3), floats(P("x", None, "y"), 11, 7, 4)],
         gradient=("low", "middle", "high", "right"), types=BOTH)
def tridiagonal(low, middle, high, right):
    """Tridiagonal systems of a batch; batch and right sides are cut."""
    low, high = low.at[:, 0].set(0), high.at[:, -1].set(0)
    return lax.linalg.tridiagonal_solve(low, middle, high, right)


@program([floats(P("y"), 13, scale=0.3), floats(P("y"), 13, least=2.0), floats(P("y"), 13, scale=0.3), floats(P("y", "x"), 13, 6)],
         gradient=("low", "right"))
def tridiagonal_along_a_cut(low, middle, high, right):
    """Implicit diffusion: one system, whose unknowns are cut, for many columns."""
    low, high = low.at[0].set(0), high.at[-1].set(0)

    def step(u, _):
        return lax.linalg.tridiagonal_solve(low, middle, high, u), None

    return lax.scan(step, right, None, length=3)[0]


@program([floats(P("x"), 9, least=0.5), floats(P("x"), 9)], gradient=("a", "b"), types=BOTH)
def implicit_roots(a, b):
    """Roots by Newton's steps, differentiated through the equation that they solve."""

    def equation(x):
        return x**3 + a * x - b

    def solve(f, x):
        def step(_, x):
            value, slope = jax.jvp(f, (x,), (jnp.ones_like(x),))
            return x - value / slope

        return lax.fori_loop(0, 12, step, x)

    def of_tangent(g, y):
        return y / g(jnp.ones_like(y))

    return lax.custom_root(equation, jnp.zeros_like(b), solve, of_tangent)


@program([floats(P("x", "y"), 8, 8, scale=0.2), floats(P("x"), 8)], gradient=("a", "b"), types=BOTH)
def implicit_solution(a, b):
    """A linear system by Richardson's iteration, with the rule of its transpose."""
    matrix = a + 3 * jnp.eye(8, dtype=a.dtype)

    def solve(product, right):
        return lax.fori_loop(0, 30, lambda _, x: x + 0.3 * (right - product(x)), jnp.zeros_like(right))

    return lax.custom_linear_solve(lambda x: matrix @ x, b, solve, transpose_solve=solve)


@program([floats(P("x", "y"), 11, 5), floats(P("x"), 11, 3)], gradient=("a", "b"), types=BOTH, rtol=3e-3, atol=3e-3)
def least_squares(a, b):
    """Least squares by factors, by the pseudo-inverse, and by JAX's own; samples are cut."""
    q, r = jnp.linalg.qr(a)
    return jax.scipy.linalg.solve_triangular(r, q.T @ b), jnp.linalg.pinv(a) @ b, jnp.linalg.lstsq(a, b)[0]


@program([floats(P("x"), 10, 3), floats(P("x"), 10), floats(P(), 3)], rtol=2e-3, atol=2e-3, types=BOTH)
def fitted_by_bfgs(features, wanted, start):
    """A robust fit by JAX's quasi-Newton method with its line search; samples are cut."""

    def loss(w):
        miss = jnp.tanh(features @ w) - wanted
        return jnp.sum(jnp.sqrt(1 + miss**2)) + 0.1 * jnp.sum(w**2)

    return jax.scipy.optimize.minimize(loss, start, method="BFGS", options={"maxiter": 15}).x


@program([floats(P("x", "y"), 9, 8), floats(P("x"), 9, 8), integers(P(None, "y"), 0, 50, 9, 8)])
def reductions_of_several(a, b, c):
    """Reductions of several operands at once: where the largest is with its partner, and a Welford mean and variance."""

    def larger(left, right):
        is_left = (left[0] > right[0]) | ((left[0] == right[0]) & (left[2] < right[2]))
        return tuple(jnp.where(is_left, x, y) for x, y in zip(left, right))

    def merged(left, right):
        count = left[0] + right[0]
        apart = right[1] - left[1]
        part = jnp.where(count > 0, right[0] / jnp.where(count > 0, count, 1), 0)
        return count, left[1] + apart * part, left[2] + right[2] + apart**2 * part * left[0]

    largest = lax.reduce((a, b, c), (jnp.float32(-jnp.inf), jnp.float32(0), jnp.int32(99)), larger, (0,))
    zero = jnp.float32(0)
    moments = lax.reduce((jnp.ones_like(a), a, jnp.zeros_like(a)), (zero, zero, zero), merged, (0, 1))
    return largest, moments


@program([floats(P("x", "y"), 9, 6)], gradient=("a",), types=BOTH)
def rounded_on_the_way(a):
    """Fewer bits of exponent and mantissa, straight-through gradients of rounding, and steps of quantisation."""
    coarse = lax.reduce_precision(a, 5, 3)
    through = a + lax.stop_gradient(jnp.round(a * 4) / 4 - a)
    return coarse.sum(0), through**2, lax.reduce_precision(jnp.cumsum(a, 0), 8, 7), jnp.sign(a) * jnp.floor(jnp.abs(a) * 3)


@program([floats(P("x", None, "y"), 7, 9, 6), integers(P("x"), 0, 9, 7), integers(P("x"), 0, 6, 7), floats(P("x"), 7, 3, 2)],
         gradient=("base", "block"))
def blocks_at_own_places(base, row, column, block):
    """Each of a batch writes a block at a place of its own, and reads one: clamped at the ends."""
    written = jax.vmap(lambda one, r, c, new: lax.dynamic_update_slice(one, jnp.sin(new), (r, c)))(base, row, column, block)
    read = jax.vmap(lambda one, r, c: lax.dynamic_slice(one, (r, c), (4, 3)))(written, column, row)
    return written, read


@program([floats(P("x", "y"), 6, 9, 8, 4), floats(P(), 3, 3, 4, 6, scale=0.3)], gradient=("x", "w"), rtol=2e-3, atol=1e-3)
def batch_groups(x, w):
    """A convolution in groups of the batch, and a kernel's gradient written as one."""
    dims = ("NHWC", "HWIO", "NHWC")
    grouped = lax.conv_general_dilated(x, w, (1, 2), "SAME", dimension_numbers=dims, batch_group_count=3)
    taps = lax.conv_general_dilated(x[:, :, :, :2].transpose(3, 1, 2, 0), x[:, :7, :6].transpose(1, 2, 0, 3), (1, 1), "VALID", dimension_numbers=dims)
    return grouped, taps


@program([floats(P("x"), 9, 3), floats(P(), 3)], gradient=("x", "w"), types=BOTH)
def rules_within_rules(x, w):
    """A forward-mode rule that calls a function with a rule of its own, under vmap, jvp and grad."""

    @jax.custom_jvp
    def inner(v):
        return jnp.log1p(jnp.exp(v))

    inner.defjvp(lambda primals, tangents: (inner(primals[0]), jax.nn.sigmoid(primals[0]) * tangents[0]))

    @jax.custom_jvp
    def outer(v):
        return inner(v) * v

    @outer.defjvp
    def _(primals, tangents):
        value, slope = jax.jvp(lambda v: inner(v) * v, primals, tangents)
        return value, jnp.where(jnp.abs(value) > 1, slope / 2, slope)

    rows = jax.vmap(lambda row: outer(row * w).sum())(x)
    return rows, jax.jvp(lambda x: outer(x @ w), (x,), (jnp.ones_like(x),))[1]


@program([floats(P("x"), 11, 3), floats(P("x"), 11), floats(P(), 3)], gradient=("samples", "w"), types=BOTH, rtol=2e-3, atol=1e-3)
def second_derivatives(samples, wanted, w):
    """A loss's Hessian in both orders, its diagonal, and a Gauss-Newton step; samples are cut unevenly."""

    def miss(w):
        return jnp.tanh(samples @ w) - wanted

    def loss(w):
        return jnp.sum(jnp.log(jnp.cosh(miss(w))))

    hessian = jax.hessian(loss)(w)
    other = jax.jacrev(jax.jacrev(loss))(w)
    jacobian = jax.jacfwd(miss)(w)
    return hessian, jnp.diag(other), jnp.linalg.solve(jacobian.T @ jacobian + jnp.eye(3, dtype=w.dtype), jacobian.T @ miss(w))


@program([floats(P("x", "y"), 8, 11), integers(P("x", "y"), 0, 4, 8, 11), floats(P("y"), 11)], gradient=("a", "b"))
def sorts_with_gradients(a, tags, b):
    """The largest by rows that are cut, sorts by two keys that carry values, medians; all differentiated."""
    value, index = lax.top_k(a, 3)
    _, _, carried = lax.sort((tags, a, a * b), dimension=1, num_keys=2)
    middle = jnp.median(a, axis=0)
    return value, index, carried, middle, jnp.sort(a, axis=0)[::2], jnp.quantile(a, jnp.array([0.2, 0.9]), axis=1)


@program([floats(P("x", "y"), 7, 12)], gradient=("a",), types=BOTH)
def sums_from_the_end(a):
    """Sums, products, largest and log-sums from the end of cut dims, and windows that sum up."""
    away = 1 + 0.1 * a
    return (lax.cumsum(a, 1, reverse=True), lax.cumprod(away, 1, reverse=True), lax.cummax(a, 0, reverse=True), lax.cummin(a, 1, reverse=True),
            lax.cumlogsumexp(a, 1, reverse=True), jnp.flip(jnp.cumsum(jnp.flip(a, 0), 0), 0), jnp.cumsum(a.ravel()))


@program([floats(P(None, "x", "y"), 2, 11, 9, 3), floats(P("z"), 3, 3, 6, 5, scale=0.3), floats(P("z"), 3, 3, 6, 5, scale=0.3)],
         gradient=("u", "real", "imaginary"), rtol=2e-3, atol=1e-3)
def spectral_layer_on_odd_grid(u, real, imaginary):
    """A Fourier layer on a grid of odd extents, both cut, with low modes of both signs and mixed weights that are cut."""
    rows, columns = u.shape[1:3]
    modes = jnp.fft.rfft2(u, axes=(1, 2))
    weight = lax.complex(real, imaginary)
    mixed = jnp.zeros_like(modes)
    mixed = mixed.at[:, :3, :5].set(jnp.einsum("bxyi,ioxy->bxyo", modes[:, :3, :5], weight[:, :, :3]))
    mixed = mixed.at[:, -3:, :5].set(jnp.einsum("bxyi,ioxy->bxyo", modes[:, -3:, :5], weight[:, :, 3:]))
    return jax.nn.gelu(jnp.fft.irfft2(mixed, (rows, columns), axes=(1, 2)) + u)


@program([floats(P("x"), 15, 3, scale=0.3), floats(P(None, "y"), 3, 16, 2), floats(P(), 6, 4)], gradient=("points", "table", "w"),
         rtol=2e-3, atol=1e-3)
def hashed_grids(points, table, w):
    """Features from hashed grids of three resolutions, interpolated between eight corners; tables are cut."""
    levels = []
    for level in range(3):
        place = (points + 1) * 2 ** (level + 1)
        corner = jnp.floor(place).astype(jnp.uint32)
        part = place - jnp.floor(place)
        total = 0
        for offset in np.ndindex(2, 2, 2):
            at = corner + np.asarray(offset, np.uint32)
            code = at[:, 0] ^ (at[:, 1] * jnp.uint32(2654435761)) ^ (at[:, 2] * jnp.uint32(805459861))
            share = jnp.prod(jnp.where(np.asarray(offset) == 1, part, 1 - part), -1)
            total = total + table[level, code % 16] * share[:, None]
        levels.append(total)
    return jnp.tanh(jnp.concatenate(levels, -1) @ w)


@program([floats(P("x"), 13, 3), floats(P("y"), 64, 2)], gradient=("values",))
def octree(points, values):
    """Morton codes, sorted points, the first point of each cell by search, and values of cells by code."""
    cell = jnp.clip((points + 2).astype(jnp.int32), 0, 3)
    code = sum(((cell[:, dim] >> bit) & 1) << (3 * bit + dim) for dim in range(3) for bit in range(2))
    order = jnp.argsort(code, stable=True)
    first = jnp.searchsorted(code[order], jnp.arange(64))
    count = jnp.bincount(code, length=64)
    return values[code], code[order], first, count, jnp.zeros((64, 2)).at[code].add(values[code] * points[:, :1])


@program([floats(P("x"), 12, 4), floats(P("y"), 12, 3), integers(P("z"), 0, 12, 2, 20), integers(P("z"), 0, 12, 2, 9),
          floats(P(), 11, 4, scale=0.3), floats(P(), 8, 4, scale=0.3)], gradient=("nodes", "world", "w1", "w2"), rtol=2e-3, atol=1e-3)
def two_edge_sets(nodes, world, near, far, w1, w2):
    """A mesh graph network: edges of the mesh and edges of the world, summed apart, nodes updated by both."""
    for _ in range(2):
        sender, receiver = near
        apart = world[sender] - world[receiver]
        message = jnp.tanh(jnp.concatenate([nodes[sender], nodes[receiver], apart], -1) @ w1)
        across = jnp.tanh(jnp.concatenate([nodes[far[0]], nodes[far[1]]], -1) @ w2)
        nodes = nodes + jax.ops.segment_sum(message, receiver, 12) + jax.ops.segment_max(across, far[1], 12).clip(-1, 1)
    return nodes


@program([floats(P("x"), 14, 3, scale=1.5), given(P(), 1.3)], gradient=("position", "radius"), rtol=2e-3, atol=1e-3)
def padded_neighbours(position, radius):
    """Forces from lists of at most five neighbours, padded with a particle that does not exist."""
    square = jnp.sum((position[:, None] - position) ** 2, -1)
    is_near = (square < radius**2) & ~jnp.eye(14, dtype=bool)
    lists = jax.vmap(lambda row: jnp.nonzero(row, size=5, fill_value=14)[0])(is_near)
    other = position.at[lists].get(mode="fill", fill_value=1e3)
    length = jnp.sqrt(jnp.sum((position[:, None] - other) ** 2, -1) + 1e-6)
    energy = jnp.where(lists < 14, (1 - length / radius) ** 2, 0)
    return energy.sum(1), (lists < 14).sum(1)


@program([floats(P("x", "y"), 9, 9, dtype=np.complex128), floats(P("y"), 9, 4, dtype=np.complex128)], gradient=("a", "b"), rtol=1e-9,
         atol=1e-9, x64=True)
def complex_systems(a, b):
    """A Hermitian matrix of double precision: its factor, a solution, products and a determinant's logarithm."""
    matrix = a @ a.conj().T + 9 * jnp.eye(9)
    factor = jnp.linalg.cholesky(matrix)
    solved = jax.scipy.linalg.cho_solve((factor, True), b)
    return factor, solved, jnp.linalg.slogdet(matrix)[1], jnp.trace(matrix @ matrix)


@program([floats(P("x", "y"), 8, 10, dtype=np.float64)], gradient=("a",), rtol=1e-13, atol=1e-13, x64=True)
def full_precision(a):
    """Sums, products, functions and transforms to thirteen digits."""
    return (a.sum(0), jnp.cumsum(a, 1), a @ a.T, jnp.exp(a), jnp.sin(100 * a), jnp.tanh(a), jax.nn.logsumexp(a, 1), jnp.var(a, 0),
            jnp.fft.rfft(a, axis=1).real, jax.lax.erf(a), jnp.log1p(a**2), jnp.arctan2(a, a[::-1]))


@program([floats(P("x"), 6, 8), floats(P(None, "y"), 8, 8, scale=0.3)], gradient=("x", "w"), types=BOTH, rtol=2e-3, atol=1e-3)
def fixed_point(x, w):
    """A deep equilibrium model: a fixed point by a while loop, its gradient by another fixed point."""

    def step(w, x, z):
        return jnp.tanh(z @ w * 0.5 + x)

    def iterated(f, z):
        def goes_on(state):
            return (jnp.abs(state[0] - state[1]).max() > 1e-6) & (state[2] < 60)

        return lax.while_loop(goes_on, lambda s: (s[1], f(s[1]), s[2] + 1), (z, f(z), 0))[1]

    @jax.custom_vjp
    def solved(w, x):
        return iterated(lambda z: step(w, x, z), jnp.zeros_like(x))

    def forward(w, x):
        z = solved(w, x)
        return z, (w, x, z)

    def backward(kept, slope):
        w, x, z = kept
        back = jax.vjp(lambda z: step(w, x, z), z)[1]
        total = iterated(lambda u: slope + back(u)[0], slope)
        return jax.vjp(lambda w, x: step(w, x, z), w, x)[1](total)

    solved.defvjp(forward, backward)
    return solved(w, x)

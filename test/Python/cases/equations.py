"""Differential equations and linear algebra, differentiated, cut along several mesh axes."""

import jax
import jax.numpy as jnp
import jax.scipy.fft
import jax.scipy.linalg
import jax.scipy.ndimage
import jax.scipy.sparse.linalg
import numpy as np
from jax import lax
from jax.experimental.ode import odeint
from jax.sharding import PartitionSpec as P

from cases.harness import floats, integers, program

BOTH = ("float32", "float64")


def field(point, w1, b1, w2, b2, w3):
    """A network of two hidden layers with one output."""
    hidden = jnp.tanh(point @ w1 + b1)
    hidden = jnp.tanh(hidden @ w2 + b2)
    return (hidden @ w3)[..., 0]


@program([floats(P("x"), 14, 2), floats(P(None, "y"), 2, 16), floats(P("y"), 16), floats(P("y", None), 16, 16, scale=0.3),
          floats(P(), 16), floats(P(), 16, 1)], gradient=("w1", "w2", "w3"), rtol=3e-3, atol=3e-3)
def burgers_residual(points, w1, b1, w2, b2, w3):
    """Residual of Burgers' equation by a network: a second derivative as forward over reverse mode."""

    def residual(point):
        def value(z):
            return field(z, w1, b1, w2, b2, w3)

        u, slope = jax.value_and_grad(value)(point)
        along = jnp.array([1.0, 0.0], point.dtype)
        bend = jax.jvp(lambda z: jax.grad(value)(z)[0], (point,), (along,))[1]
        return slope[1] + u * slope[0] - 0.01 * bend

    return jax.vmap(residual)(points)


@program([floats(P(("x", "y")), 11, 3), floats(P(None, "z"), 3, 8), floats(P("z"), 8), floats(P("z", None), 8, 8, scale=0.4),
          floats(P(), 8), floats(P(), 8, 1)], gradient=("w1", "w2"), types=BOTH, rtol=3e-3, atol=3e-3)
def laplacian_by_products(points, w1, b1, w2, b2, w3):
    """A network's Laplacian by products with its Hessian, and the Hessian itself."""

    def value(z):
        return field(z, w1, b1, w2, b2, w3)

    def laplacian(point):
        columns = jax.vmap(lambda v: jax.jvp(jax.grad(value), (point,), (v,))[1])(jnp.eye(3, dtype=point.dtype))
        return jnp.trace(columns)

    return jax.vmap(laplacian)(points), jax.vmap(jax.hessian(value))(points)


@program([floats(P("x"), 7, 2), floats(P(), 2, 8), floats(P(), 8), floats(P(), 8, 8, scale=0.4), floats(P(), 8), floats(P(), 8, 1)],
         rtol=5e-3, atol=5e-3)
def curvature_along_gradient(points, *params):
    """The Hessian of a loss that is made of a gradient, times its gradient."""

    def loss(params):
        values, back = jax.vjp(lambda points: jax.vmap(lambda z: field(z, *params))(points), points)
        return jnp.sum(back(jnp.ones_like(values))[0] ** 2)

    gradient = jax.grad(loss)(params)
    return jax.jvp(jax.grad(loss), (params,), (gradient,))[1]


def chebyshev(count):
    """The matrix that differentiates at Chebyshev's points."""
    points = np.cos(np.pi * np.arange(count) / (count - 1))
    scale = np.ones(count)
    scale[0] = scale[-1] = 2
    scale *= (-1) ** np.arange(count)
    apart = points[:, None] - points
    matrix = np.outer(scale, 1 / scale) / (apart + np.eye(count))
    return matrix - np.diag(matrix.sum(1))


@program([floats(P("x", None, "y"), 13, 5, 5), floats(P("x"), 13, 5, 5, least=0.1)], gradient=("u", "k"), types=BOTH,
         rtol=2e-3, atol=2e-3)
def spectral_elements(u, k):
    """Stiffness of spectral elements in a ring, summed with their neighbours'."""
    d = jnp.asarray(chebyshev(5), u.dtype)
    flow_x = k * jnp.einsum("ij,ejk->eik", d, u)
    flow_y = k * jnp.einsum("kj,eij->eik", d, u)
    residual = jnp.einsum("ji,ejk->eik", d, flow_x) + jnp.einsum("jk,eij->eik", d, flow_y)
    from_left = jnp.roll(residual[:, -1, :], 1, 0)
    from_right = jnp.roll(residual[:, 0, :], -1, 0)
    return residual.at[:, 0, :].add(from_left).at[:, -1, :].add(from_right)


@program([floats(P("x", "y"), 31, 7)], rtol=2e-3, atol=1e-3)
def red_black_relaxation(force):
    """Successive over-relaxation of red, then of black points; both dims are cut."""
    row, column = jnp.indices(force.shape)
    is_red = (row + column) % 2 == 0

    def sweep(u, _):
        for points in (is_red, ~is_red):
            padded = jnp.pad(u, 1)
            around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
            u = jnp.where(points, u + 1.3 * (0.25 * (force + around) - u), u)
        return u, jnp.abs(u).max()

    return lax.scan(sweep, jnp.zeros_like(force), None, length=6)


@program([floats(P("x", "y"), 12, 10), floats(P("x", "y"), 12, 10, scale=2), floats(P("x"), 12, 10, scale=2)], gradient=("q", "u"),
         types=BOTH, rtol=2e-3, atol=1e-3)
def backward_in_time(q, u, v):
    """Transport of a periodic field along the flow, interpolated between four points; both dims are cut."""
    rows, columns = q.shape

    def step(q, _):
        row, column = jnp.meshgrid(jnp.arange(rows, dtype=q.dtype), jnp.arange(columns, dtype=q.dtype), indexing="ij")
        row, column = row - 0.37 * u, column - 0.41 * v
        part_row, part_column = row - jnp.floor(row), column - jnp.floor(column)
        top = jnp.floor(row).astype(jnp.int32) % rows
        left = jnp.floor(column).astype(jnp.int32) % columns
        low, right = (top + 1) % rows, (left + 1) % columns
        above = (1 - part_column) * q[top, left] + part_column * q[top, right]
        below = (1 - part_column) * q[low, left] + part_column * q[low, right]
        return (1 - part_row) * above + part_row * below, None

    return lax.scan(step, q, None, length=3)[0]


@program([floats(P("x"), 9, 11), floats(P("x"), 9, 11), floats(P(None, "y"), 9, 11)], gradient=("image",), rtol=2e-3, atol=1e-3)
def coordinates_mapped(image, rows, columns):
    """An image at other coordinates: mirrored, wrapped, and constant outside."""
    at = [rows * 3 + 4, columns * 3 + 5]
    mapped = jax.scipy.ndimage.map_coordinates
    return mapped(image, at, order=1, mode="mirror"), mapped(image, at, order=1, mode="wrap"), mapped(image, at, order=0, mode="constant", cval=2.0)


@program([floats(P("x"), 20, 6), floats(P("y"), 7, 6), integers(P("z"), 0, 20, 41), integers(P("z"), 0, 7, 41), floats(P("z"), 41, 4),
          floats(P(), 16, 8, scale=0.3), floats(P(), 8, 6, scale=0.3)], gradient=("cells", "nodes", "w1"), rtol=2e-3, atol=1e-3)
def cells_to_nodes(cells, nodes, source, target, edges, w1, w2):
    """A weather model's messages from cells to the nodes of a coarser mesh, and back; all three sets are cut."""
    message = jax.nn.swish(jnp.concatenate([cells[source], nodes[target], edges], -1) @ w1) @ w2
    message = jax.nn.standardize(message, axis=-1, epsilon=1e-5)
    nodes = nodes + jnp.zeros_like(nodes).at[target].add(message)
    return cells + jax.ops.segment_sum(nodes[target] * message, source, cells.shape[0]), nodes


@program([floats(P("x"), 10, 12, 4), floats(P(), 4, 4)], gradient=("faces", "w"))
def rhombi_of_a_sphere(faces, w):
    """Ten faces of a sphere's grid: edges from a static table of neighbours, a pole that five share."""
    neighbours = (np.arange(10) + 2) % 10
    edge = faces[neighbours][:, :, :1].repeat(4, -1)
    grown = jnp.concatenate([edge, faces[:, 1:]], axis=1)
    return jnp.einsum("rnc,cd->rnd", grown, w) + faces[::2, 0].mean(0)


@program([floats(P("x"), 11, 11, scale=0.3), floats(P("y"), 11)], gradient=("a", "b"), rtol=5e-3, atol=2e-3)
def conjugate_gradients(a, b):
    """JAX's own conjugate gradients, differentiated through the equation that they solve."""
    matrix = a @ a.T + 2 * jnp.eye(11, dtype=a.dtype)
    return jax.scipy.sparse.linalg.cg(lambda v: matrix @ v, b, maxiter=11)[0]


@program([floats(P("x", None), 9, 9, scale=0.3), floats(P("x"), 9)], types=BOTH, rtol=5e-3, atol=2e-3)
def unsymmetric_solvers(a, b):
    """Stabilised biconjugate gradients, and GMRES with restarts."""
    matrix = a + 4 * jnp.eye(9, dtype=a.dtype)
    solvers = jax.scipy.sparse.linalg
    return solvers.bicgstab(lambda v: matrix @ v, b)[0], solvers.gmres(lambda v: matrix @ v, b, restart=5, maxiter=3)[0]


@program([floats(P("x", "y"), 6, 13, 2), floats(P(), 4, 4, scale=0.4), floats(P(), 2, 4)], gradient=("seen", "change", "view"),
         types=BOTH, rtol=5e-3, atol=3e-3)
def filters_by_cholesky(seen, change, view):
    """Kalman filters of a batch: factors, triangular solves and log-likelihoods; batch and time are cut."""
    kind = seen.dtype
    change = change * 0.5 + jnp.eye(4, dtype=kind) * 0.5

    def one(rows):
        def step(state, row):
            mean, spread = state
            mean = change @ mean
            spread = change @ spread @ change.T + 0.1 * jnp.eye(4, dtype=kind)
            total = view @ spread @ view.T + 0.5 * jnp.eye(2, dtype=kind)
            factor = jnp.linalg.cholesky(total)
            gain = jax.scipy.linalg.cho_solve((factor, True), view @ spread).T
            missed = row - view @ mean
            white = jax.scipy.linalg.solve_triangular(factor, missed, lower=True)
            mean = mean + gain @ missed
            spread = spread - gain @ total @ gain.T
            return (mean, spread), (-0.5 * white @ white - jnp.log(jnp.diag(factor)).sum(), mean)

        return lax.scan(step, (jnp.zeros(4, kind), jnp.eye(4, dtype=kind)), rows)[1]

    return jax.vmap(one)(seen)


@program([floats(P("x"), 10, 5, 5, scale=0.4), floats(P("x", None, "y"), 10, 5, 3)], gradient=("a", "b"), types=BOTH, rtol=5e-3, atol=3e-3)
def triangular_systems(a, b):
    """Triangular systems of a batch in three forms, and determinants; batch and right sides are cut."""
    lower = jnp.tril(a) + 3 * jnp.eye(5, dtype=a.dtype)

    def solved(**how):
        return lax.linalg.triangular_solve(lower, b, left_side=True, lower=True, **how)

    squares = lower @ lower.swapaxes(-1, -2) + a @ a.swapaxes(-1, -2)
    return solved(), solved(transpose_a=True), solved(unit_diagonal=True), jnp.linalg.slogdet(squares)[1]


@program([floats(P("x", "y"), 12, 10, 8)], gradient=("force",), types=BOTH, rtol=3e-3, atol=1e-3)
def poisson_in_a_box(force):
    """Poisson's equation by transforms along three dims, two of them cut."""
    waves = [jnp.fft.fftfreq(size) * 2 * np.pi for size in force.shape]
    square = waves[0][:, None, None] ** 2 + waves[1][None, :, None] ** 2 + waves[2] ** 2
    square = square.astype(force.dtype)
    modes = jnp.fft.fftn(force)
    return jnp.fft.ifftn(jnp.where(square > 0, modes / jnp.where(square > 0, square, 1), 0)).real


@program([floats(P("x", "y"), 9, 15)], gradient=("force",), rtol=3e-3, atol=1e-3)
def cosine_transforms(force):
    """Cosine transforms there and back, a Hermitian one, and real ones of an odd extent; both dims are cut."""
    row, column = jnp.indices(force.shape)
    modes = jax.scipy.fft.dctn(force) / (1 + row + column)
    return jax.scipy.fft.idctn(modes), jnp.fft.hfft(force[:, :5]), jnp.fft.irfft2(jnp.fft.rfft2(force), force.shape)


@program([floats(P("x", "y"), 15, 15), floats(P("x"), 15, 3)], types=BOTH, rtol=5e-3, atol=5e-3)
def largest_eigenvectors(a, start):
    """Power iterations of three vectors, made orthogonal one after the other."""
    matrix = a @ a.T / 15

    def orthogonal(basis, number):
        vector = basis[:, number]
        along = jnp.where(jnp.arange(3) < number, basis.T @ vector, 0)
        vector = vector - basis @ along
        return basis.at[:, number].set(vector / jnp.linalg.norm(vector)), None

    def step(basis, _):
        basis = lax.scan(orthogonal, matrix @ basis, jnp.arange(3))[0]
        return basis, jnp.einsum("ni,nm,mi->i", basis, matrix, basis)

    return lax.scan(step, start, None, length=8)[1]


@program([floats(P("x"), 12, 6, scale=0.3)], gradient=("g",), rtol=5e-3, atol=5e-3)
def orthogonalised_update(g):
    """Newton-Schulz iterations as an optimiser does them, and a matrix exponential."""
    x = g / (jnp.linalg.norm(g) + 1e-6)
    for _ in range(3):
        square = x.T @ x
        x = 3.4445 * x + x @ (-4.7750 * square + 2.0315 * square @ square)
    return x, jax.scipy.linalg.expm(g.T @ g * 0.2)


@program([floats(P("x"), 7, 3, dtype=np.float64), floats(P("y"), 3, 3, dtype=np.float64)], gradient=("start", "a"), rtol=1e-5,
         atol=1e-6, x64=True)
def controlled_steps(start, a):
    """Steps of Bogacki and Shampine whose length the largest error of all ranks decides."""

    def slope(y):
        return jnp.tanh(y @ a)

    def step(state, _):
        y, length = state
        k1 = slope(y)
        k2 = slope(y + length * k1 / 2)
        k3 = slope(y + length * 3 / 4 * k2)
        new = y + length * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = slope(new)
        error = jnp.max(jnp.abs(length * (-5 / 72 * k1 + k2 / 12 + k3 / 9 - k4 / 8)))
        longer = jnp.clip(0.9 * (1e-3 / (error + 1e-12)) ** (1 / 3), 0.3, 2.0)
        return (jnp.where(error < 1e-2, new, y), length * longer), error

    return lax.scan(step, (start, jnp.float64(0.1)), None, length=8)


@program([floats(P("x"), 7, 3, dtype=np.float64), floats(P(), 3, 3, dtype=np.float64)], rtol=1e-5, atol=1e-6, x64=True)
def adjoint_of_an_equation(start, a):
    """The gradient of a differential equation's solution by its adjoint equation."""

    def loss(a):
        times = jnp.array([0.0, 0.5, 1.0])
        return jnp.sum(odeint(lambda y, _, a: jnp.tanh(y @ a), start, times, a) ** 2)

    return jax.value_and_grad(loss)(a)

"""Programs with symbolic extents and a manual region over a mesh of their own."""

import jax
import jax.numpy as jnp
from declared import program
from jax import lax
from jax.sharding import PartitionSpec as P


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

"""Programs that say themselves what each rank does and sends (``jax.shard_map``), on meshes of their own."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, integers, program

THREE = {"x": 3}
FIVE = {"x": 5}
SIX = {"x": 2, "y": 3}
EIGHT = {"x": 2, "y": 2, "z": 2}


def ring(axis, step=1):
    """Each rank of an axis, and the one that it sends to."""
    size = lax.axis_size(axis)
    return [(rank, (rank + step) % size) for rank in range(size)]


@program([floats(P("x"), 12, 6), floats(P(), 6, 4)], gradient=("u", "w"), mesh=THREE)
def second_difference(u, w):
    """Edge rows from both neighbours, zeros at the ends."""

    def local(u):
        rank = lax.axis_index("x")
        above = jnp.where(rank == 0, 0.0, lax.ppermute(u[-1:], "x", ring("x")))
        below = jnp.where(rank == lax.axis_size("x") - 1, 0.0, lax.ppermute(u[:1], "x", ring("x", -1)))
        grown = jnp.concatenate([above, u, below])
        return grown[:-2] - 2 * grown[1:-1] + grown[2:]

    return jax.shard_map(local, in_specs=P("x"), out_specs=P("x"))(jnp.sin(u)) @ w


@program([floats(P("x"), 10, 6), floats(P("x"), 10, 6)], gradient=("a", "b"), mesh=FIVE)
def ring_with_its_own_gradient(a, b):
    """Products with a block that travels around a ring, and a gradient that sends its sums along."""

    def turn(block):
        return lax.ppermute(block, "x", ring("x"))

    def forward(a, b):
        def step(state, _):
            total, block = state
            return (total + jnp.tanh(a @ block.T) @ block, turn(block)), None

        return lax.scan(step, (jnp.zeros_like(a), b), None, length=5)[0][0], (a, b)

    def backward(kept, slope):
        a, b = kept

        def step(state, _):
            of_a, of_b, block = state
            score = jnp.tanh(a @ block.T)
            of_score = slope @ block.T * (1 - score * score)
            of_b = of_b + score.T @ slope + of_score.T @ a
            return (of_a + of_score @ block, turn(of_b), turn(block)), None

        return lax.scan(step, (jnp.zeros_like(a), jnp.zeros_like(b), b), None, length=5)[0][:2]

    products = jax.custom_vjp(lambda a, b: forward(a, b)[0])
    products.defvjp(forward, backward)
    return jax.shard_map(products, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False)(a, b)


@program([floats(P("x", "y"), 8, 6, 4), floats(P(), 4, 4)], gradient=("x", "w"), mesh=SIX)
def exchanged_for_sums(x, w):
    """All-to-alls around sums along the sequence, and a mean over both axes."""

    def local(x, w):
        rows = lax.all_to_all(x, "y", 0, 1, tiled=True)
        back = lax.all_to_all(jnp.cumsum(rows, 1) @ w, "y", 1, 0, tiled=True)
        return back * lax.pmean(jnp.abs(back).mean(), ("x", "y"))

    return jax.shard_map(local, in_specs=(P("x", "y"), P()), out_specs=P("x", "y"), check_vma=False)(jnp.tile(x, (3, 1, 1)), w)


@program([floats(P("x", "y"), 8, 8), floats(P("y", "z"), 8, 8)], gradient=("a", "b"), mesh=EIGHT)
def product_on_a_cube(a, b):
    """A product of matrices on a cube of ranks: gathered along one axis, scattered along another."""

    def local(a, b):
        return lax.psum_scatter(lax.all_gather(a, "z", axis=0, tiled=True) @ b, "y", scatter_dimension=0, tiled=True)

    specs = (P(("x", "z"), "y"), P("y", "z"))
    return jax.shard_map(local, in_specs=specs, out_specs=P(("x", "y"), "z"), check_vma=False)(a, b)


@program([floats(P("x"), 6, 5), integers(P("x"), 0, 6, 6)], gradient=("table",), mesh={"x": 2})
def rows_from_whoever_has_them(table, index):
    """A table in parts: each rank gives the rows that it has, and all are summed."""

    def local(table, index):
        is_mine = index[:, None] // 3 == lax.axis_index("x")
        return lax.psum(jnp.where(is_mine, table[index % 3], 0), "x")

    return jax.shard_map(local, in_specs=(P("x"), P()), out_specs=P())(table, index)


@program([floats(P(("x", "y")), 12, 4), floats(P("x"), 3, 4, 4)], gradient=("x", "w"), mesh={"x": 3, "y": 2})
def pipeline(x, w):
    """Four micro-batches through a pipeline of three ranks, by a scan."""

    def local(x, w):
        rank = lax.axis_index("x")
        batches = x.reshape(4, 3, 4)

        def step(state, turn):
            passed, done = state
            now = jnp.tanh(jnp.where(rank == 0, batches[jnp.minimum(turn, 3)], passed) @ w[0])
            done = jnp.where((rank == 2) & (turn >= 2), done.at[jnp.maximum(turn - 2, 0)].set(now), done)
            return (lax.ppermute(now, "x", [(0, 1), (1, 2)]), done), None

        done = lax.scan(step, (jnp.zeros((3, 4)), jnp.zeros((4, 3, 4))), jnp.arange(6))[0][1]
        return lax.psum(jnp.where(rank == 2, done, 0), "x")

    return jax.shard_map(local, in_specs=(P(), P("x")), out_specs=P(), check_vma=False)(x, w)


@program([floats(P("x"), 12, 4), floats(P(None, "y"), 4, 6)], gradient=("x", "w"), mesh=SIX)
def one_axis_by_hand(x, w):
    """A region over one axis of two, in a program that leaves the other to the compiler."""

    def local(rows):
        return lax.psum(jnp.sin(rows), "x") + rows * lax.axis_index("x")

    rows = jax.shard_map(local, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})(x @ w)
    return lax.with_sharding_constraint(rows, P(None, "y")) * 2


@program([floats(P("x"), 9, 4)], mesh=THREE)
def loop_until_all_are_done(x):
    """A while loop in a region, whose end a maximum over all ranks decides."""

    def local(x):
        def goes_on(state):
            return lax.pmax(jnp.abs(state[0]).max(), "x") < 50

        return lax.while_loop(goes_on, lambda state: (state[0] * (1.2 + 0.1 * lax.axis_index("x")), state[1] + 1), (x, jnp.int32(0)))

    return jax.shard_map(local, in_specs=P("x"), out_specs=(P("x"), P()), check_vma=False)(x)


@program([floats(P("x"), 10, 3)], mesh=FIVE)
def sorted_by_all(x):
    """Each rank takes its part of what all have sorted; a minimum and a sum of ranks."""

    def local(x):
        rows = lax.all_gather(x, "x", tiled=True)
        place = jnp.argsort(jnp.argsort(rows[:, 0]))
        rank = lax.axis_index("x")
        return lax.dynamic_slice_in_dim(rows[jnp.argsort(place)], rank * 2, 2), lax.pmin(x, "x"), lax.psum(place[:2] * (rank + 1), "x")

    return jax.shard_map(local, in_specs=P("x"), out_specs=(P("x"), P(), P()), check_vma=False)(x)


@program([floats(P("x"), 12, 6, dtype=np.complex64)], mesh=THREE)
def transform_by_exchange(x):
    """A transform in two dims with an all-to-all between them."""

    def local(x):
        rows = lax.all_to_all(jnp.fft.fft(x, axis=1), "x", 1, 0, tiled=True)
        return jnp.fft.fft(rows, axis=0)

    return jax.shard_map(local, in_specs=P("x"), out_specs=P(None, "x"))(x)


@program([floats(P("x"), 8, 4)], gradient=("x",), mesh={"x": 2})
def every_sum(x):
    """A sum, a gather, a scattered sum and a maximum in one region."""

    def local(x):
        total = lax.psum(x, "x") + jnp.cos(x) * lax.all_gather(x, "x").sum((0, 1))
        scattered = lax.psum_scatter(jnp.tanh(x), "x", scatter_dimension=1, tiled=True)
        return total, scattered, lax.pmax(lax.stop_gradient(x), "x")

    return jax.shard_map(local, in_specs=P("x"), out_specs=(P("x"), P("x"), P()), check_vma=False)(x)


@program([floats(P("x", "y"), 8, 6), floats(P(), 6, 6)], gradient=("x", "w"), mesh={"x": 4, "y": 2})
def mean_in_a_mapped_scan(x, w):
    """A mean over ranks in a scan under vmap in a region."""

    def local(x, w):
        def step(state, row):
            return jnp.tanh(state + lax.pmean(row, "y")), state.sum()

        rows = jax.vmap(lambda row: lax.scan(step, jnp.zeros(3), row.reshape(-1, 3))[1])(x)
        return rows * lax.axis_index("x") + w.sum()

    return jax.shard_map(local, in_specs=(P("x", "y"), P()), out_specs=P("x", "y"), check_vma=False)(x, w)


@program([floats(P("x", "y"), 10, 12, 7), floats(P("z"), 7, 9)], gradient=("a", "w"), rtol=3e-3, atol=2e-3, mesh=EIGHT)
def constrained(a, w):
    """Values that are asked for in one sharding after another."""
    a = lax.with_sharding_constraint(jnp.sin(a), P("y", None, "x"))
    b = lax.with_sharding_constraint(a @ w, P(("x", "z"), "y"))
    b = lax.with_sharding_constraint(b.transpose(2, 0, 1), P("z", None, "x"))
    flat = lax.with_sharding_constraint(b.reshape(9, -1), P("x", ("y", "z")))
    return flat, jnp.concatenate([b, b[:, ::-1]], 1)[::2]

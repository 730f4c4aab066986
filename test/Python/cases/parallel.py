"""Parallel algorithms as their users write them in ``jax.shard_map``, over one to three mesh axes, with gradients."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import floats, given, integers, program
from cases.regions import ring

FOUR = {"x": 4}
SIX = {"x": 2, "y": 3}
EIGHT = {"x": 2, "y": 2, "z": 2}


@program([floats(P("x", "y"), 8, 9)], gradient=("u",), mesh=SIX)
def corners_by_two_exchanges(u):
    """A nine-point average on a torus: edges along one axis, then edges with their corners along the other."""

    def grown(u, axis, dim):
        first = lax.slice_in_dim(u, 0, 1, axis=dim)
        last = lax.slice_in_dim(u, u.shape[dim] - 1, u.shape[dim], axis=dim)
        return jnp.concatenate([lax.ppermute(last, axis, ring(axis)), u, lax.ppermute(first, axis, ring(axis, -1))], dim)

    def local(u):
        wide = grown(grown(jnp.tanh(u), "x", 0), "y", 1)
        rows, columns = u.shape
        return sum(wide[i:i + rows, j:j + columns] * (i + 2 * j + 1) for i in range(3) for j in range(3)) / 45

    return jax.shard_map(local, in_specs=P("x", "y"), out_specs=P("x", "y"))(u)


@program([floats(P("y", "x"), 6, 8, 4), floats(P(), 4, 12, scale=0.4), floats(P("y"), 9, 4), integers(P("y", "x"), 0, 9, 6, 8)],
         gradient=("x", "mix", "table"), mesh={"x": 4, "y": 3}, rtol=2e-3, atol=1e-3)
def attention_over_a_cut_sequence(x, mix, table, labels):
    """Ring attention over a cut sequence, and cross-entropy over a cut vocabulary: largest and sum by all ranks."""

    def local(x, mix, table, labels):
        query, key, value = jnp.split(x @ mix, 3, -1)

        def step(state, _):
            largest, below, above, key, value = state
            score = jnp.einsum("bqd,bkd->bqk", query, key) / 2
            now = jnp.maximum(largest, score.max(-1))
            shrunk = jnp.exp(largest - now)
            weight = jnp.exp(score - now[..., None])
            below = below * shrunk + weight.sum(-1)
            above = above * shrunk[..., None] + jnp.einsum("bqk,bkd->bqd", weight, value)
            return (now, below, above, *(lax.ppermute(block, "x", ring("x")) for block in (key, value))), None

        zero = jnp.zeros_like(query[..., 0])
        _, below, above, _, _ = lax.scan(step, (zero - 1e9, zero, jnp.zeros_like(query), key, value), None, length=4)[0]
        # Rows are cut along y as the vocabulary is: all rows meet all words.
        rows = lax.all_gather(above / below[..., None], "y", tiled=True)
        wanted = lax.all_gather(labels, "y", tiled=True)
        logits = jnp.einsum("bqd,vd->bqv", rows, table)
        largest = lax.pmax(lax.stop_gradient(logits).max(-1), "y")
        total = lax.psum(jnp.exp(logits - largest[..., None]).sum(-1), "y")
        place = wanted - 3 * lax.axis_index("y")
        is_here = (place >= 0) & (place < 3)
        mine = jnp.take_along_axis(logits, jnp.clip(place, 0, 2)[..., None], -1)[..., 0]
        hit = lax.psum(jnp.where(is_here, mine, 0), "y")
        return lax.pmean((jnp.log(total) + largest - hit).mean(), "x")

    specs = (P("y", "x"), P(), P("y"), P("y", "x"))
    return jax.shard_map(local, in_specs=specs, out_specs=P(), check_vma=False)(x, mix, table, labels)


@program([floats(P("x"), 16, 5), floats(P(), 5, 4), floats(P("x"), 4, 5, 6, scale=0.4), floats(P("x"), 4, 6, 5, scale=0.4)],
         gradient=("tokens", "router", "w1", "w2"), mesh=FOUR, rtol=2e-3, atol=1e-3)
def experts_by_all_to_all(tokens, router, w1, w2):
    """One expert on each rank: tokens go to their expert in buffers of three, and come back by their gates."""

    def local(tokens, router, w1, w2):
        chance = jax.nn.softmax(tokens @ router)
        expert = jnp.argmax(chance, -1)
        hot = jax.nn.one_hot(expert, 4, dtype=jnp.int32)
        place = ((jnp.cumsum(hot, 0) - 1) * hot).sum(-1)
        buffers = jnp.zeros((4, 3, 5)).at[expert, place].set(tokens, mode="drop")
        arrived = lax.all_to_all(buffers, "x", 0, 0)
        done = lax.all_to_all(jnp.tanh(arrived @ w1[0]) @ w2[0], "x", 0, 0)
        back = done.at[expert, place].get(mode="fill", fill_value=0)
        load = lax.pmean(hot.astype(jnp.float32).mean(0), "x") @ lax.pmean(chance.mean(0), "x")
        return back * chance.max(-1, keepdims=True), load

    specs = (P("x"), P(), P("x"), P("x"))
    return jax.shard_map(local, in_specs=specs, out_specs=(P("x"), P()), check_vma=False)(tokens, router, w1, w2)


@program([floats(P("y"), 12, 6), floats(P("x"), 2, 6, 6, scale=0.5), floats(P("x"), 2, 6)], gradient=("x", "w", "b"), mesh=SIX,
         rtol=2e-3, atol=1e-3)
def pipeline_of_sharded_stages(x, w, b):
    """Two stages along one axis whose weights are cut along the other: gathered when used, gradients scattered."""

    def local(x, w, b):
        stage = lax.axis_index("x")
        whole = lax.all_gather(w[0], "y", axis=0, tiled=True)
        batches = x.reshape(2, 2, 6)

        def step(passed, turn):
            now = jnp.tanh(jnp.where(stage == 0, batches[jnp.clip(turn, 0, 1)], passed) @ whole + b[0])
            return lax.ppermute(now, "x", [(0, 1)]), now

        done = lax.scan(step, jnp.zeros((2, 6)), jnp.arange(3))[1]
        return lax.psum(jnp.where(stage == 1, done[1:], 0), "x").reshape(4, 6)

    specs = (P("y"), P("x", "y"), P("x"))
    return jax.shard_map(local, in_specs=specs, out_specs=P("y"), check_vma=False)(x, w, b)


@program([floats(P("x"), 8, 6), floats(P("x", "y"), 8, 6)], gradient=("gradient", "weight"), mesh={"x": 2, "y": 3})
def optimiser_in_parts(gradient, weight):
    """Gradients are summed to parts, each part is updated, and the weights are gathered: both axes in turn."""

    def local(gradient, weight):
        part = lax.psum_scatter(gradient, "y", scatter_dimension=1, tiled=True) / 3
        size = jnp.sqrt(lax.psum(jnp.sum(part**2), ("x", "y")))
        new = weight - 0.1 * part * jnp.minimum(1, 1 / size)
        return lax.all_gather(new, "y", axis=1, tiled=True), new

    return jax.shard_map(local, in_specs=(P("x"), P("x", "y")), out_specs=(P("x"), P("x", "y")), check_vma=False)(gradient, weight)


@program([floats(P("x", "y", "z"), 4, 4, 4, dtype=np.complex64)], mesh=EIGHT)
def transform_in_pencils(x):
    """A transform in three dims on a cube of ranks: pencils are exchanged along each axis."""

    def local(x):
        for axis, dim, other in (("x", 0, 1), ("y", 1, 2), ("z", 2, 0)):
            pencils = jnp.fft.fft(lax.all_to_all(x, axis, other, dim, tiled=True), axis=dim)
            x = lax.all_to_all(pencils, axis, dim, other, tiled=True)
        return x

    return jax.shard_map(local, in_specs=P("x", "y", "z"), out_specs=P("x", "y", "z"))(x)


@program([floats(P("x"), 8, 3)], gradient=("x",), mesh=FOUR)
def sums_up_to_each_rank(x):
    """A sum of all rows above by doubling: messages to the rank one, two and four further on, none around the end."""

    def local(x):
        rank = lax.axis_index("x")
        total = x.sum(0)
        step = 1
        while step < 4:
            arrived = lax.ppermute(total, "x", [(i, i + step) for i in range(4 - step)])
            total = total + jnp.where(rank >= step, arrived, 0)
            step *= 2
        return jnp.cumsum(x, 0) + (total - x.sum(0))

    return jax.shard_map(local, in_specs=P("x"), out_specs=P("x"), check_vma=False)(jnp.sin(x))


@program([floats(P("x"), 16), integers(P("x"), 0, 100, 16)], mesh=FOUR)
def odd_even_merges(x, tags):
    """Sorted blocks: neighbours merge in odd and even turns, and keep the lower or the upper half."""

    def local(x, tags):
        rank = lax.axis_index("x")
        x, tags = lax.sort((x, tags), num_keys=1)

        def turn(state, number):
            x, tags = state
            pairs = [[(0, 1), (1, 0), (2, 3), (3, 2)], [(0, 0), (1, 2), (2, 1), (3, 3)]]
            arrived = [lax.switch(number % 2, [lambda v, p=p: lax.ppermute(v, "x", p) for p in pairs], v) for v in (x, tags)]
            both = [jnp.concatenate([mine, other]) for mine, other in zip((x, tags), arrived)]
            keys, marks = lax.sort(both, num_keys=2)
            partner = jnp.where(number % 2 == 0, rank ^ 1, jnp.array([0, 2, 1, 3])[rank])
            low, high = (keys[:4], marks[:4]), (keys[4:], marks[4:])
            kept = [jnp.where(partner > rank, a, b) for a, b in zip(low, high)]
            return tuple(jnp.where(partner == rank, old, new) for old, new in zip(state, kept)), None

        return lax.scan(turn, (x, tags), jnp.arange(4))[0]

    return jax.shard_map(local, in_specs=(P("x"), P("x")), out_specs=(P("x"), P("x")), check_vma=False)(x, tags)


@program([floats(P("x", "y"), 6, 6), floats(P("y", "x"), 6, 6)], gradient=("a", "b"), mesh={"x": 2, "y": 2})
def cannons_product(a, b):
    """Cannon's product of matrices: blocks are skewed, then turn along both axes of a square of ranks."""

    def local(a, b):
        row, column = lax.axis_index("x"), lax.axis_index("y")
        b = lax.ppermute(b, ("x", "y"), [(0, 0), (1, 2), (2, 1), (3, 3)])
        a = jnp.where(row == 1, lax.ppermute(a, "y", ring("y")), a)
        b = jnp.where(column == 1, lax.ppermute(b, "x", ring("x")), b)
        total = a @ b
        a, b = lax.ppermute(a, "y", ring("y")), lax.ppermute(b, "x", ring("x"))
        return total + a @ b

    return jax.shard_map(local, in_specs=(P("x", "y"), P("y", "x")), out_specs=P("x", "y"), check_vma=False)(a, b)


@program([floats(P("x"), 12, 3), floats(P("x"), 12), given(P(), 2.5)], gradient=("position", "charge", "cell"), mesh=FOUR,
         rtol=2e-3, atol=1e-3)
def ewald_sums(position, charge, cell):
    """Charges in a periodic box: near pairs by a ring, far ones by waves summed over ranks."""

    def local(position, charge, cell):
        whole = jnp.arange(12).reshape(4, 3)
        mine = whole[lax.axis_index("x")]

        def step(state, _):
            energy, (there, theirs, names) = state
            apart = position[:, None] - there
            apart = apart - cell * jnp.round(lax.stop_gradient(apart / cell))
            is_pair = mine[:, None] != names
            square = jnp.where(is_pair, jnp.sum(apart**2, -1), 1.0)
            length = jnp.sqrt(square)
            near = jnp.where(is_pair, charge[:, None] * theirs * jax.scipy.special.erfc(length) / length, 0)
            return (energy + 0.5 * near.sum(1), jax.tree.map(lambda v: lax.ppermute(v, "x", ring("x")), (there, theirs, names))), None

        energy = lax.scan(step, (jnp.zeros(3), (position, charge, mine)), None, length=4)[0][0]
        waves = jnp.asarray([w for w in np.ndindex(3, 3, 3) if any(w)], jnp.float32) * 2 * jnp.pi / cell
        phase = position @ waves.T
        cosine = lax.psum(charge @ jnp.cos(phase), "x")
        sine = lax.psum(charge @ jnp.sin(phase), "x")
        square = jnp.sum(waves**2, -1)
        far = 2 * jnp.pi / cell**3 * jnp.sum(jnp.exp(-square / 4) / square * (cosine**2 + sine**2))
        return energy, far

    specs = (P("x"), P("x"), P())
    return jax.shard_map(local, in_specs=specs, out_specs=(P("x"), P()), check_vma=False)(position, charge, cell)


@program([floats(P("x", "y"), 8, 6), floats(P(("y", "x")), 12)], gradient=("a", "b"), mesh=SIX)
def gathered_over_both(a, b):
    """Gathers and scattered sums over two axes at once, in both orders, and groups of one axis."""

    def local(a, b):
        whole = lax.all_gather(b, ("y", "x"), tiled=True)
        turned = lax.all_gather(b, ("x", "y"), tiled=True)
        part = lax.psum_scatter(jnp.outer(whole, turned).sum(1), ("x", "y"), tiled=True)
        return a * part.sum() + lax.pmean(a, "y"), part

    return jax.shard_map(local, in_specs=(P("x", "y"), P(("y", "x"))), out_specs=(P("x", "y"), P(("x", "y"))), check_vma=False)(a, b)


@program([floats(P("x"), 8, 4), floats(P(), 4)], gradient=("x", "scale"), mesh=FOUR)
def norm_over_all_ranks(x, scale):
    """Batch norm whose mean and variance are of all ranks, with its own forward-mode rule inside a custom derivative."""

    @jax.custom_jvp
    def root(v):
        return lax.rsqrt(v + 1e-5)

    @root.defjvp
    def _(primals, tangents):
        value = root(primals[0])
        return value, -0.5 * value**3 * tangents[0]

    def local(x, scale):
        mean = lax.pmean(x.mean(0), "x")
        spread = lax.pmean(((x - mean) ** 2).mean(0), "x")
        return (x - mean) * root(spread) * scale

    return jax.shard_map(local, in_specs=(P("x"), P()), out_specs=P("x"))(x, scale)

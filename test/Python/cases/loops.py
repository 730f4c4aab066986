"""Loops whose branches yield what the loop carries, as solvers and samplers keep a state or replace it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import model, normal


@model({1: P("x"), 2: P("x")})
def kept_or_replaced():
    """What an iteration keeps, swaps, or makes twice, by a branch; and what it does to it afterwards; rows are cut."""

    def more(a, b):
        return lax.fori_loop(0, 2, lambda i, a: a.at[i].add(0.1 * b[i]), a)

    keep = lambda a, b: (a, b)
    branches = [
        [keep, lambda a, b: (jnp.tanh(a * b),) * 2],
        [keep, lambda a, b: (b, a), lambda a, b: (more(a, b), b), lambda a, b: (a, a)],
        [lambda a, b: lax.cond(a.sum() > 0, keep, lambda a, b: (b, a + 1), a, b), lambda a, b: (b.at[0].set(1.0), b)],
    ]
    afterwards = [
        lambda a, b: (more(a, b), b),
        lambda a, b: (a, lax.while_loop(lambda s: s.sum() < 9, lambda s: s.at[0].add(jnp.abs(a[1]) + 1), b)),
        lambda a, b: (b.at[0].add(1), a),
        lambda a, b: (more(lax.cond(b.sum() > 0, lambda: more(a, b), lambda: a), b), b),
    ]

    def run(first, a, b):
        results = []
        for some in branches:
            for then in afterwards:
                def turn(i, state, some=some, then=then):
                    return then(*lax.switch((i + first) % len(some), some, *state))

                results.append(lax.fori_loop(0, 5, turn, (a, b)))
        return results

    return run, (np.int32(1), normal(13, 3, scale=0.3), normal(13, 3, scale=0.3))


@model({0: P("x")}, rtol=1e-3)
def implicit_steps():
    """An implicit solver under vmap: Newton's iterations with a factor that is made anew or kept, until they rest; systems are cut."""

    def field(y):
        return jnp.stack([-0.4 * y[0] + y[1] * y[2], 0.4 * y[0] - y[1] * y[2] - 3 * y[1] ** 2, 3 * y[1] ** 2])

    def step(y, kept, h, anew):
        def factor(y):
            return jax.scipy.linalg.lu_factor(jnp.eye(3) - h * jax.jacfwd(field)(y))

        lu = lax.cond(anew, lambda: factor(y), lambda: kept)

        def turn(carry):
            z, _, n = carry
            change = jax.scipy.linalg.lu_solve(lu, z - y - h * field(z))
            return z - change, jnp.abs(change).max(), n + 1

        z, _size, count = lax.while_loop(lambda c: (c[1] > 1e-6) & (c[2] < 8), turn, (y, jnp.float32(1), 0))
        return z, lu, count

    def solve(y):
        def turn(carry, number):
            y, kept = carry
            z, kept, count = step(y, kept, 0.1, number % 3 == 0)
            return (z, kept), (z, count)

        start = (jnp.eye(3), jnp.arange(3, dtype=jnp.int32))
        return lax.scan(turn, (y, start), jnp.arange(7))[1]

    return jax.vmap(solve), (np.abs(normal(7, 3)) + 0.1,)

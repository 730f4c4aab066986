"""Kinds of ops for random_programs.py that are other kinds, seen through JAX's transforms; loops that carry much; own derivatives."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from random_kinds import KINDS, REAL, Draw, Function, kind, matrix

INSIDE = [name for name, (count, _) in KINDS.items() if count == 1]
"""Kinds that others are made of. Those of this file are not among them, so that nothing nests for ever."""
LARGEST = 0.97


def inner(draw: Draw, shape: Sequence[int]) -> Function | None:
    """Another kind of a value of such a shape, its result bounded and real."""
    if not shape:
        return None
    function = KINDS[draw.choice(INSIDE)][1](draw, shape)
    return function and (lambda x: LARGEST * jnp.tanh(function(x).astype(REAL)))


Wrapped = Callable[[Draw, Function, Sequence[int]], Function]


def wrapper(least: int = 1, drops: int = 0) -> Callable[[Wrapped], Wrapped]:
    """Enters a kind made of another one, of values whose shape lacks the first ``drops`` dims."""

    def enter(make: Wrapped) -> Wrapped:
        def made(draw: Draw, shape: Sequence[int]) -> Function | None:
            function = inner(draw, shape[drops:])
            return function and make(draw, function, shape)

        made.__name__ = make.__name__
        kind(least=least + drops)(made)
        return make

    return enter


@wrapper(drops=1)
def any_vmapped(draw: Draw, function: Function, shape: Sequence[int]) -> Function:
    at = draw.dim(shape)
    return lambda x: jax.vmap(function, in_axes=at)(jnp.moveaxis(x, 0, at))


@wrapper(drops=2)
def any_vmapped_twice(_: Draw, function: Function, __: Sequence[int]) -> Function:
    return lambda x: jax.vmap(jax.vmap(function), out_axes=-1)(x)


@wrapper(drops=1)
def any_in_scan(draw: Draw, function: Function, _: Sequence[int]) -> Function:
    remembers, reverse = draw.chance(0.4), draw.chance(0.3)

    def turn(carry: Any, row: jax.Array) -> tuple[Any, jax.Array]:
        total, last = carry
        result = function(row + 0.1 * last)
        return (total + result.sum(), 0.5 * last + row), result * jnp.cos(total)

    def scan(x: jax.Array) -> jax.Array:
        step = jax.checkpoint(turn) if remembers else turn
        return lax.scan(step, (jnp.zeros((), x.dtype), x[0]), x, reverse=reverse)[1]

    return scan


@wrapper()
def any_in_loop(draw: Draw, function: Function, _: Sequence[int]) -> Function:
    """As many turns as a value says."""
    most = draw.randint(1, 4)

    def loop(x: jax.Array) -> jax.Array:
        turns = jnp.clip((8 * jnp.abs(x.ravel()[0])).astype(int), 0, most)
        looped = lambda y: lax.fori_loop(0, turns, lambda at, state: 0.5 * state + 0.1 * function(state).mean() + at, y)
        return lax.stop_gradient(looped(lax.stop_gradient(x)))

    return loop


@wrapper()
def any_in_branch(draw: Draw, function: Function, _: Sequence[int]) -> Function:
    whose = draw.randrange(3)
    zeros = lambda x: jnp.zeros_like(function(x))

    def choose(x: jax.Array) -> jax.Array:
        at = (jnp.floor(5 * x.ravel()[0]).astype(int) + whose) % 3
        return lax.switch(at, [function, zeros, lambda x: function(x / 2)], x)

    return choose


@wrapper(drops=1)
def any_in_mapped_branch(_: Draw, function: Function, __: Sequence[int]) -> Function:
    choose = lambda row: lax.cond(row.ravel()[0] > 0.1, function, lambda row: -function(row / 2), row)
    return lambda x: jax.vmap(choose)(x)


@wrapper(drops=1)
def any_in_mapped_loop(_: Draw, function: Function, __: Sequence[int]) -> Function:
    """Each row turns as often as it says."""
    goes = lambda state: (jnp.abs(state[0]).max() > 0.3) & (state[1] < 5)
    turn = lambda state: (0.6 * state[0] + 0.01 * function(state[0]).mean(), state[1] + 1)
    return lambda x: lax.stop_gradient(jax.vmap(lambda row: lax.while_loop(goes, turn, (row, 0))[0])(lax.stop_gradient(x)))


@wrapper()
def any_checkpointed(draw: Draw, function: Function, _: Sequence[int]) -> Function:
    policy = draw.choice([
        None, jax.checkpoint_policies.everything_saveable, jax.checkpoint_policies.dots_saveable, jax.checkpoint_policies.nothing_saveable,
        jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
    ])  # fmt: skip
    return jax.checkpoint(lambda x: function(jnp.sin(function(x)).sum() / 9 + x), policy=policy)


@wrapper()
def any_with_tangent(_: Draw, function: Function, __: Sequence[int]) -> Function:
    return lambda x: jax.jvp(function, (x,), (jnp.cos(x),))[1]


@wrapper()
def any_with_gradient(_: Draw, function: Function, __: Sequence[int]) -> Function:
    return lambda x: jax.grad(lambda x: (function(x) ** 2).sum())(x)


@wrapper()
def any_with_second_derivative(_: Draw, function: Function, __: Sequence[int]) -> Function:
    gradient = jax.grad(lambda x: (function(x) ** 2).sum())
    return lambda x: jax.jvp(gradient, (x,), (jnp.ones_like(x),))[1]


@wrapper()
def any_with_jacobian(draw: Draw, function: Function, shape: Sequence[int]) -> Function:
    few, of = min(3, shape[0]), draw.choice([jax.jacfwd, jax.jacrev])
    return lambda x: of(lambda rows: function(x.at[:few].set(rows)).ravel()[:9])(x[:few])


@wrapper()
def any_with_own_gradient(draw: Draw, function: Function, _: Sequence[int]) -> Function:
    by = draw.choice([0.5, 2.0])
    if draw.chance(0.5):
        ruled = jax.custom_jvp(function)
        ruled.defjvp(lambda primals, tangents: (lambda out, dot: (out, by * dot))(*jax.jvp(function, primals, tangents)))
        return ruled
    own = jax.custom_vjp(function)
    own.defvjp(lambda x: (function(x), x), lambda x, given: (by * jax.vjp(function, x)[1](given)[0],))
    return own


@wrapper()
def any_called_twice(_: Draw, function: Function, __: Sequence[int]) -> Function:
    called = jax.jit(function)
    return lambda x: called(x) + called(x / 2)


@wrapper()
def any_in_a_callback(_: Draw, function: Function, __: Sequence[int]) -> Function:
    halve = lambda x: np.asarray(x) / 2

    def call(x: jax.Array) -> jax.Array:
        x = lax.stop_gradient(x)
        return function(jax.pure_callback(halve, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims"))

    return call


@kind(least=2)
def stacked_carry(draw: Draw, shape: Sequence[int]) -> Function:
    """A loop whose state holds a stack that it writes, and counts of other types."""
    reverse, unroll = draw.chance(0.3), draw.choice([1, 1, 2, 3])
    length = draw.randint(1, 7)

    def turn(carry: Any, at: jax.Array) -> tuple[Any, Any]:
        stack, best, count = carry
        row = jnp.sin(stack[(at + 1) % shape[0]] + count)
        stack = lax.dynamic_update_index_in_dim(stack, row, at % shape[0], 0)
        return (stack, jnp.maximum(best, row), count + 1), {"row": row, "count": count}

    def scan(x: jax.Array) -> jax.Array:
        start = (x, x[0], jnp.zeros((), jnp.int32))
        (stack, best, count), rows = lax.scan(turn, start, jnp.arange(length), reverse=reverse, unroll=unroll)
        return jnp.concatenate([stack, best[None], rows["row"] + rows["count"].reshape(-1, *[1] * (x.ndim - 1))]) / (1 + count)

    return scan


@kind(least=2)
def nested_loops(draw: Draw, _: Sequence[int]) -> Function:
    turns = draw.randint(1, 3)
    within = lambda row: lax.scan(lambda s, e: (0.6 * s + e, s * e), row.sum() / row.size, row.ravel())
    until = lambda row: lax.while_loop(lambda s: (s[1] < 4) & (s[0].sum() < 0.5), lambda s: (s[0] + 0.11, s[1] + 1), (row, 0))[0]
    return draw.choice([
        lambda x: lax.scan(lambda s, row: (within(row)[0] + s / 2, within(row + s)[1]), 0.1, x)[1],
        lambda x: lax.fori_loop(0, turns, lambda _, s: lax.fori_loop(0, 2, lambda at, s: jnp.roll(s, at + 1, 0) / 2 + x, s), x),
        lambda x: lax.stop_gradient(lax.map(until, lax.stop_gradient(x))),
        lambda x: lax.map(lambda row: row.sum() + row, x, batch_size=2),
    ])  # fmt: skip


@kind(least=2)
def associative(draw: Draw, shape: Sequence[int]) -> Function:
    """Scans by operations of pairs and of matrices, which do not commute."""
    dim, reverse = draw.dim(shape), draw.chance(0.3)
    linear = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
    square = lambda x: jnp.stack([jnp.stack([x, x / 3], -1), jnp.stack([0.1 - x, x / 2], -1)], -2)
    return draw.choice([
        lambda x: lax.associative_scan(linear, (0.5 * jnp.cos(x), x), axis=dim, reverse=reverse)[1],
        lambda x: lax.associative_scan(lambda a, b: a @ b / 2, square(matrix(x)[:, 0]), reverse=reverse),
        lambda x: lax.associative_scan(lambda a, b: jnp.where(b == 0, a, b), jnp.floor(3 * x - 0.0137), axis=dim, reverse=reverse),
        lambda x: lax.reduce(x * x, jnp.array(0.0), jnp.hypot, (dim,)),
        lambda x: lax.reduce((x, lax.broadcasted_iota(jnp.int32, x.shape, dim)), (jnp.array(-jnp.inf), jnp.int32(0)), larger, (dim,))[1] / 10,
    ])  # fmt: skip


def larger(one: tuple[jax.Array, jax.Array], other: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    takes = (one[0] > other[0]) | ((one[0] == other[0]) & (one[1] < other[1]))
    return jnp.where(takes, one[0], other[0]), jnp.where(takes, one[1], other[1])


@kind()
def solved_by_iteration(draw: Draw, _: Sequence[int]) -> Function:
    """Implicit derivatives: of roots and of linear systems."""
    system = lambda x: lambda v: (2 + jnp.abs(x).ravel()) * v + 0.1 * jnp.roll(v, 1) + 0.1 * jnp.roll(v, -1)
    bisect = lambda f, start: lax.fori_loop(0, 40, lambda _, s: s - 0.3 * f(s), start)
    tangent = lambda g, y: y / g(jnp.ones_like(y))
    return draw.choice([
        lambda x: jax.scipy.sparse.linalg.cg(system(x), x.ravel(), maxiter=30)[0],
        lambda x: jax.scipy.sparse.linalg.bicgstab(system(x), x.ravel(), maxiter=30)[0],
        lambda x: lax.custom_root(lambda s: s + jnp.sin(s) - x, x, bisect, tangent),
        lambda x: jax.linear_transpose(lambda v: jnp.cumsum(v, 0), x)(x)[0],
    ])  # fmt: skip

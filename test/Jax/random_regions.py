"""Kinds of ops for random_programs.py within manual regions, and with axes of a mesh that are explicit.

JAX's CPU client has one device: there, the devices' parts are elements of an axis that is mapped.
"""

from collections.abc import Collection, Sequence

import jax
import jax.numpy as jnp
from jax import lax
from random_kinds import ONE_DEVICE, Draw, Function, kind
from random_transforms import inner

Spec = tuple[str | None, ...]


def is_one_device() -> bool:
    return ONE_DEVICE in jax.sharding.get_abstract_mesh().axis_names


def along(dim: int, axis: str) -> Spec:
    return (*[None] * dim, axis)


def mapped_parts(body: Function, axes: Sequence[tuple[str, int]], before: Spec, after: Spec) -> Function:
    """What a manual region of ``body`` over ``axes`` computes, on one device."""
    if not axes:
        return body
    (name, ranks), *rest = axes
    within = mapped_parts(body, rest, before, after)

    def apply(x: jax.Array) -> jax.Array:
        source = 0 if name in before else None
        if name in before:
            dim = before.index(name)
            x = jnp.moveaxis(x.reshape(*x.shape[:dim], ranks, -1, *x.shape[dim + 1 :]), dim, 0)
        parts = jax.vmap(within, in_axes=source, axis_name=name, axis_size=ranks)(x)
        return jnp.concatenate([*parts], after.index(name)) if name in after else parts[0]

    return apply


def region(draw: Draw, body: Function, before: Spec, after: Spec, only: Collection[str] = (), checks: bool = True) -> Function:
    """``body`` with all axes of the mesh manual, or ``only`` some."""
    names = {*only} or {*draw.axes}

    def apply(x: jax.Array) -> jax.Array:
        if is_one_device():
            return mapped_parts(body, [item for item in draw.axes.items() if item[0] in names], before, after)(x)
        return jax.shard_map(body, in_specs=jax.P(*before), out_specs=jax.P(*after), axis_names=names, check_vma=checks)(x)

    return apply


def sent_by_some(x: jax.Array, axis: str, pairs: Sequence[tuple[int, int]], ranks: int) -> jax.Array:
    """A ``ppermute`` in which not all ranks take part: zeros come to the others. Mapped axes know only whole ones."""
    if not is_one_device():
        return lax.ppermute(x, axis, pairs)
    receives = jnp.isin(lax.axis_index(axis), jnp.array([to for _, to in pairs], int))
    return jnp.where(receives, lax.ppermute(x, axis, ring(ranks)), 0)


def ring(ranks: int) -> list[tuple[int, int]]:
    return [(rank, (rank + 1) % ranks) for rank in range(ranks)]


@kind()
def manual_region(draw: Draw, shape: Sequence[int]) -> Function | None:
    axis = draw.choice([*draw.axes])
    ranks, dim, other = draw.axes[axis], draw.dim(shape), draw.dim(shape)
    if shape[dim] % ranks:
        return None
    around = ring(ranks)
    bodies: list[Function] = [
        lambda x: x + lax.psum(x, axis) / ranks, lambda x: x - lax.pmax(lax.stop_gradient(x), axis), lambda x: lax.ppermute(x, axis, around),
        lambda x: x * lax.all_gather(x, axis).sum(), lambda x: x * lax.axis_index(axis) / ranks,
        lambda x: lax.fori_loop(0, ranks - 1, lambda _, state: state / 2 + lax.ppermute(state, axis, around), x),
        lambda x: jnp.concatenate([lax.ppermute(lax.slice_in_dim(x, 0, 1, axis=dim), axis, around), x], dim),
        lambda x: x + sent_by_some(x, axis, around[: ranks // 2], ranks), lambda x: x - lax.pmin(lax.stop_gradient(x), axis),
    ]  # fmt: skip
    if shape[dim] // ranks % ranks == 0:
        bodies.append(lambda x: lax.psum_scatter(x, axis, scatter_dimension=dim, tiled=True))
    before = after = along(dim, axis)
    body = draw.choice(bodies)
    if other != dim and shape[other] % ranks == 0 and draw.chance(0.3):
        body, after = lambda x: lax.all_to_all(x, axis, other, dim, tiled=True), along(other, axis)
    return region(draw, body, before, after)


@kind()
def any_in_region(draw: Draw, shape: Sequence[int]) -> Function | None:
    """Another kind of each device's part, with the derivatives of the region."""
    axis, dim = draw.choice([*draw.axes]), draw.dim(shape)
    ranks, checks = draw.axes[axis], draw.chance(0.5)
    if shape[dim] % ranks:
        return None
    function = inner(draw, [size // ranks if at == dim else size for at, size in enumerate(shape)])
    if function is None:
        return None
    body, after = draw.choice([
        (lambda x: lax.psum(function(x), axis), ()), (lambda x: function(x)[None], (axis,)), (lambda x: function(x + lax.axis_index(axis))[None], (axis,)),
        (lambda x: function(lax.ppermute(x, axis, ring(ranks)))[None], (axis,)), (lambda x: function(x)[None] * lax.psum(function(x / 2), axis), (axis,)),
    ])  # fmt: skip
    return region(draw, body, along(dim, axis), after, checks=checks)


@kind(least=2)
def region_of_two_axes(draw: Draw, shape: Sequence[int]) -> Function | None:
    """Values cut along both axes of a mesh; collectives along one, the other, or both."""
    if len(draw.axes) < 2:
        return None
    (x, x_ranks), (y, y_ranks) = draw.axes.items()
    one, other = draw.sample(range(len(shape)), 2)
    if shape[one] % x_ranks or shape[other] % y_ranks:
        return None
    names: list[str | None] = [None] * len(shape)
    names[one], names[other] = x, y
    around = ring(y_ranks)
    bodies: list[Function] = [
        lambda v: v + lax.psum(v, (x, y)), lambda v: v * lax.pmean(jnp.sin(v), x) + lax.ppermute(v, y, around), lambda v: v * lax.axis_index((x, y)),
        lambda v: v + lax.all_gather(v, x).sum(0), lambda v: v * lax.psum(lax.ppermute(v, y, around), x),
        lambda v: lax.scan(lambda s, _: (lax.ppermute(s, y, around), s.sum()), v, None, length=y_ranks)[1].sum() * v,
    ]  # fmt: skip
    if shape[one] // x_ranks % y_ranks == 0:
        bodies.append(lambda v: lax.all_gather(lax.psum_scatter(v, y, scatter_dimension=one, tiled=True), y, axis=one, tiled=True))
        bodies.append(lambda v: lax.all_to_all(jnp.sin(lax.all_to_all(v, y, one, other, tiled=True)), y, other, one, tiled=True))
    return region(draw, draw.choice(bodies), tuple(names), tuple(names), checks=False)


@kind(least=2)
def region_within_region(draw: Draw, shape: Sequence[int]) -> Function | None:
    """One axis manual, and the other not or in a region of its own."""
    if len(draw.axes) < 2:
        return None
    x, y = draw.sample([*draw.axes], 2)
    one, other = draw.sample(range(len(shape)), 2)
    if shape[one] % draw.axes[x] or shape[other] % draw.axes[y]:
        return None
    rings = {name: ring(ranks) for name, ranks in draw.axes.items()}
    within = region(draw, lambda v: v - lax.ppermute(v, y, rings[y]) / 2, along(other, y), along(other, y), only=[y])
    body: Function = draw.choice([
        lambda v: within(jnp.sin(v)) + lax.psum(v, x), lambda v: jnp.cumsum(v, other) + lax.ppermute(v, x, rings[x]),
        lambda v: jnp.sort(v, other) * lax.axis_index(x), lambda v: within(v) * lax.all_gather(v, x).sum(),
    ])  # fmt: skip
    return region(draw, body, along(one, x), along(one, x), only=[x])


@kind(least=2)
def explicit_axis(draw: Draw, shape: Sequence[int]) -> Function | None:
    """Ops whose shardings are part of types."""
    axis, dim, to = draw.choice([*draw.axes]), draw.dim(shape), draw.dim(shape)
    if shape[dim] % draw.axes[axis] or shape[to] % draw.axes[axis]:
        return None

    def anew(x: jax.Array, spec: Spec) -> jax.Array:
        return x if is_one_device() else jax.sharding.reshard(x, jax.P(*spec))

    def multiply(x: jax.Array) -> jax.Array:
        rows = anew(x, along(to, axis)).reshape(-1) if x.ndim == 1 else x
        return jnp.einsum("i...,j...->ij", rows, x, **({} if is_one_device() else {"out_sharding": jax.P(axis) if dim == 0 else jax.P()}))

    body: Function = draw.choice([
        lambda x: jnp.sin(x) + x, lambda x: anew(x, along(to, axis)) * 2, lambda x: x.sum(dim), multiply, lambda x: jnp.swapaxes(x, 0, -1), lambda x: x.max(to),
        lambda x: anew(x, ()).T, lambda x: x * jnp.max(x, dim, keepdims=True), lambda x: lax.scan(lambda s, _: (s / 2 + x, s.sum()), x, None, length=2)[0],
        lambda x: jax.vmap(jnp.sum)(anew(x, along(0, axis))) if shape[0] % draw.axes[axis] == 0 else x, lambda x: anew(jnp.cumsum(anew(x, ()), dim), along(dim, axis)),
    ])  # fmt: skip

    def apply(x: jax.Array) -> jax.Array:
        if is_one_device():
            return body(x)
        return jax.sharding.explicit_axes(lambda x: anew(body(x), ()), axes=axis, in_sharding=(jax.P(*along(dim, axis)),))(x)

    return apply

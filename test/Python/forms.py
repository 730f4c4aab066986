"""Manual regions, ties and layouts as JAX prints them, with both partitioners; expected values by JAX on 8 devices."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy
import shardc
from jax import lax
from jax.experimental.shard_alike import shard_alike
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
x = (numpy.random.default_rng(0).integers(-64, 64, (8, 16)) / 64).astype(numpy.float32)


def manual(body: object, inputs: object, outputs: object, **options: object) -> object:
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False, **options))


def gathers(v: jax.Array) -> tuple:
    return lax.all_gather(v, "y"), lax.psum_scatter(v, "x", scatter_dimension=1, tiled=True)


def exchanges(v: jax.Array) -> tuple:
    return lax.all_to_all(v, "y", 1, 0, tiled=True), lax.ppermute(v, ("x", "y"), [(i, (i + 3) % 8) for i in range(8)])


def groups(v: jax.Array) -> tuple:
    pairs = [[0, 3], [2, 1]]
    return (lax.psum(v, "y", axis_index_groups=pairs), lax.all_gather(v, "y", axis_index_groups=pairs),
            lax.pshuffle(v, "y", [3, 1, 0, 2]))


def kinds(v: jax.Array) -> tuple:
    return (lax.psum(v.astype(jnp.int8), "x"), lax.psum(v > 0, "x"), lax.pmax(v.astype(jnp.bfloat16), "x"),
            lax.psum(v.astype(jnp.complex64), "x"))


def branches(v: jax.Array) -> jax.Array:
    return lax.cond(lax.axis_index("y") % 2 == 0, lambda a: lax.psum(a, "x"), lambda a: lax.pmax(a, "x") * 2, v)


def loop(v: jax.Array) -> jax.Array:
    return lax.fori_loop(0, 3, lambda _, c: lax.ppermute(c, "x", [(0, 1), (1, 0)]) * 0.5 + v, v)


def nested(v: jax.Array) -> jax.Array:
    def inner(w: jax.Array) -> jax.Array:
        return lax.psum(w, "y") + lax.axis_index("y")

    columns = P(None, "y")
    region = jax.shard_map(inner, in_specs=columns, out_specs=columns, axis_names={"y"}, check_vma=False)
    return region(v) + lax.psum(v, "x")


def alike(a: jax.Array, b: jax.Array) -> tuple:
    a = lax.with_sharding_constraint(a, NamedSharding(mesh, P("x", "y")))
    return shard_alike(a, jnp.sin(b))


def odd(a: jax.Array) -> jax.Array:
    return lax.with_sharding_constraint(jnp.sin(a[:7]), NamedSharding(mesh, P(("y", "x"), None))) * 2


cases = {
    "gathers": (manual(gathers, P("x", "y"), (P("x", None, "y"), P(None, ("y", "x")))), x),
    "exchanges": (manual(exchanges, P("x", None), (P("x", "y"), P(("x", "y"), None))), x),
    "groups": (manual(groups, P("x", "y"), (P("x", "y"), P("x", "y"), P("x", "y"))), x),
    "kinds": (manual(kinds, P("x", "y"), P(None, "y")), x),
    "branches": (manual(branches, P("x", "y"), P(None, "y")), x),
    "loop": (manual(loop, P("x", "y"), P("x", "y")), x),
    "nested": (manual(nested, P("x"), P("x"), axis_names={"x"}), x),
    "alike": (jax.jit(alike), x, x),
    "odd": (jax.jit(odd), x),
}
for shardy in (True, False):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    for name, (function, *args) in cases.items():
        jax.clear_caches()
        want = function(*args)
        program = shardc.compile(function, *args)
        got = program(*args)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            assert a.dtype == b.dtype, (name, a.dtype, b.dtype)
            one, other = (numpy.asarray(value, numpy.complex64) for value in (a, b))
            numpy.testing.assert_allclose(one, other, 1e-5, 1e-5, err_msg=name)
        assert program.report(*args)["ranks"] == 8, name
        print(name, "equal", flush=True)
print("all good")

"""Programs with manual regions, as JAX prints them for a mesh of so many ranks: growth.py --manual compiles them.

    growth_manual.py RANKS FOLDER

Writes FOLDER/NAME.mlir for each, and prints "NAME AXIS=SIZE,..." a line. What JAX prints of a manual region holds the sizes
of its mesh (groups of ranks, pairs of source and target), so each mesh has a text of its own. Extents grow with the mesh: a rank
always has as much.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RANKS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={RANKS}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

# A function of whole arrays, their shapes, and how they lie.
Program = tuple[Callable[..., Any], list[tuple[int, ...]], list[P]]


def mesh_of(*axes: str) -> Mesh:
    """All ranks along the only axis, or along several as equal as can be (powers of two)."""
    sizes, axis, left = [1] * len(axes), 0, RANKS
    while left > 1:
        sizes[axis % len(axes)] *= 2
        left //= 2
        axis += 1
    return jax.make_mesh(tuple(sizes), axes, axis_types=(AxisType.Auto,) * len(axes))


def halo_exchange(mesh: Mesh) -> Program:
    """Steps of diffusion: each shard sends one row both ways."""
    n = mesh.shape["x"]

    def local(u: jax.Array) -> Any:
        def step(u: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            above = lax.ppermute(u[-1:], "x", [(i, (i + 1) % n) for i in range(n)])
            below = lax.ppermute(u[:1], "x", [(i, (i - 1) % n) for i in range(n)])
            wide = jnp.concatenate([above, u, below])
            change = wide[2:] + wide[:-2] + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u
            return u + 0.1 * change, lax.pmax(jnp.abs(change).max(), "x")
        return lax.scan(step, u, None, length=4)
    return jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P())), [(8 * n, 16)], [P("x")]


def ring_attention(mesh: Mesh) -> Program:
    """Keys and values travel around a ring; maxima and sums rescale what was added before."""
    n = mesh.shape["x"]

    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        rows, me = q.shape[2], lax.axis_index("x")
        position = me * rows + jnp.arange(rows)

        def step(carry: Any, i: jax.Array) -> Any:
            k, v, m, total, out = carry
            keys = ((me - i) % n) * rows + jnp.arange(rows)
            score = jnp.einsum("bhqd,bhkd->bhqk", q, k) * 0.35
            score = jnp.where(position[:, None] >= keys[None], score, -1e9)
            new = jnp.maximum(m, score.max(-1))
            p, scale = jnp.exp(score - new[..., None]), jnp.exp(m - new)
            out = out * scale[..., None] + jnp.einsum("bhqk,bhkd->bhqd", p, v)
            ring = [(j, (j + 1) % n) for j in range(n)]
            return (lax.ppermute(k, "x", ring), lax.ppermute(v, "x", ring), new, total * scale + p.sum(-1), out), None

        def varying(x: jax.Array) -> jax.Array:
            return lax.pcast(x, "x", to="varying")
        start = (k, v, varying(jnp.full(q.shape[:3], -1e9)), varying(jnp.zeros(q.shape[:3])), jnp.zeros_like(q))
        (_, _, _, total, out), _ = lax.scan(step, start, jnp.arange(n))
        return out / total[..., None]
    spec = P(None, None, "x")
    return jax.shard_map(local, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec), [(1, 2, 8 * n, 8)] * 3, [spec] * 3


def ring_attention_vjp(mesh: Mesh) -> Program:
    """The same with its gradient."""
    function, shapes, specs = ring_attention(mesh)

    def both(q: jax.Array, k: jax.Array, v: jax.Array, cotangent: jax.Array) -> Any:
        out, pull = jax.vjp(function, q, k, v)
        return out, pull(cotangent)
    return both, [*shapes, shapes[0]], [*specs, specs[0]]


def ulysses(mesh: Mesh) -> Program:
    """All-to-all from rows to heads before attention, and back behind it."""
    n = mesh.shape["x"]

    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        def there(x: jax.Array) -> jax.Array:
            return lax.all_to_all(x, "x", split_axis=2, concat_axis=1, tiled=True).transpose(0, 2, 1, 3)
        p = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", there(q), there(k)), axis=-1)
        out = jnp.einsum("bhqk,bhkd->bhqd", p, there(v)).transpose(0, 2, 1, 3)
        return lax.all_to_all(out, "x", split_axis=1, concat_axis=2, tiled=True)
    spec = P(None, "x")
    return jax.shard_map(local, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec), [(1, 2 * n, n, 4)] * 3, [spec] * 3


def sequence_train(mesh: Mesh) -> Program:
    """A block that is tensor and sequence parallel by hand, with its gradients."""
    data, model = mesh.shape["data"], mesh.shape["model"]

    def local(up: jax.Array, down: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        h = lax.all_gather(x, "model", axis=1, tiled=True)
        h = jax.nn.gelu(h @ up) @ down
        out = x + lax.psum_scatter(h, "model", scatter_dimension=1, tiled=True)
        return lax.pmean(jnp.mean((out - y) ** 2), ("data", "model"))
    specs = [P(None, "model"), P("model"), P("data", "model"), P("data", "model")]
    loss = jax.shard_map(local, mesh=mesh, in_specs=tuple(specs), out_specs=P())
    shapes: list[tuple[int, ...]] = [(16, 4 * model), (4 * model, 16), (2 * data, 4 * model, 16), (2 * data, 4 * model, 16)]
    return jax.value_and_grad(loss, argnums=(0, 1)), shapes, specs


def partial_manual(mesh: Mesh) -> Program:
    """Manual along one axis; the other is the compiler's within the region."""
    data, model = mesh.shape["data"], mesh.shape["model"]

    def local(x: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        return lax.psum(jnp.tanh(x @ up) @ down, "model")
    function = jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "model"), P("model")), out_specs=P(), axis_names={"model"})
    return function, [(4 * data, 16), (16, 4 * model), (4 * model, 16)], [P("data"), P(None, "model"), P("model")]


def nested(mesh: Mesh) -> Program:
    """A region within a region, each manual along an axis of its own, and the gradient."""
    data, model = mesh.shape["data"], mesh.shape["model"]

    def inner(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.psum(x @ w, "data")

    def outer(x: jax.Array, w: jax.Array) -> jax.Array:
        deep = jax.shard_map(inner, in_specs=(P(None, "data"), P("data")), out_specs=P(), axis_names={"data"})
        return lax.psum(deep(x, w), "model")
    function = jax.shard_map(outer, mesh=mesh, in_specs=(P(None, "model"), P("model")), out_specs=P(), axis_names={"model"})
    columns = 2 * data * model
    return jax.grad(lambda x, w: (function(x, w) ** 2).sum(), argnums=(0, 1)), [(5, columns), (columns, 3)], [P(), P("model")]


def collectives(mesh: Mesh) -> Program:
    """Each collective once, along both axes together and along one."""
    n = mesh.size

    def local(x: jax.Array) -> Any:
        both = ("data", "model")
        return (lax.psum(x, both), lax.pmin(x, "data"), lax.all_gather(x, "data", tiled=True),
                lax.psum_scatter(lax.all_gather(x, "data", tiled=True), "data", tiled=True),
                lax.ppermute(x, both, [(i, n - 1 - i) for i in range(n)]), lax.axis_index(both)[None])
    function = jax.shard_map(local, mesh=mesh, in_specs=P(("data", "model")), check_vma=False,
                             out_specs=(P(), P("model"), P("model"), P(("data", "model")), P(("data", "model")), P(("data", "model"))))
    return function, [(4 * n, 3)], [P(("data", "model"))]


PROGRAMS: dict[str, tuple[Callable[[Mesh], Program], tuple[str, ...]]] = {
    "halo_exchange": (halo_exchange, ("x",)),
    "ring_attention": (ring_attention, ("x",)),
    "ring_attention_vjp": (ring_attention_vjp, ("x",)),
    "ulysses": (ulysses, ("x",)),
    "sequence_train": (sequence_train, ("data", "model")),
    "partial_manual": (partial_manual, ("data", "model")),
    "nested": (nested, ("data", "model")),
    "collectives": (collectives, ("data", "model")),
}


def main() -> None:
    """Write the programs."""
    folder = Path(sys.argv[2])
    for name, (build, axes) in PROGRAMS.items():
        mesh = mesh_of(*axes)
        function, shapes, specs = build(mesh)
        arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        lowered = jax.jit(function, in_shardings=tuple(NamedSharding(mesh, spec) for spec in specs)).lower(*arguments)
        (folder / f"{name}.mlir").write_text(lowered.as_text(), encoding="utf-8")
        print(name, ",".join(f"{axis}={size}" for axis, size in mesh.shape.items()), flush=True)


if __name__ == "__main__":
    main()

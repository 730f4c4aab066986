"""Rings of attention written by hand in several ways, as JAX prints them, with their gradients.

    ring_forms.py RANKS FOLDER

Writes FOLDER/NAME.mlir for each form, and prints the names.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RANKS = int(sys.argv[1])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={RANKS}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

NEXT = [(rank, (rank + 1) % RANKS) for rank in range(RANKS)]


def score_of(q: jax.Array, k: jax.Array, i: jax.Array | int) -> jax.Array:
    """Causal scores of the block that is here in iteration i."""
    rows, me = q.shape[0], lax.axis_index("x")
    score = q @ k.T * 0.35
    keys = ((me - i) % RANKS) * rows + jnp.arange(rows)
    return jnp.where((me * rows + jnp.arange(rows))[:, None] >= keys[None], score, -1e9)


def send(x: jax.Array) -> jax.Array:
    """To the next rank."""
    return lax.ppermute(x, "x", NEXT)


def running(*, divides: bool) -> Callable[..., jax.Array]:
    """A running maximum and sum; what was added up is divided in each iteration, or at the end."""
    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        def step(carry: Any, i: jax.Array) -> Any:
            k, v, largest, total, out = carry
            score = score_of(q, k, i)
            new = jnp.maximum(largest, score.max(-1))
            p, scale = jnp.exp(score - new[:, None]), jnp.exp(largest - new)
            both = total * scale + p.sum(-1)
            if divides:
                out = out * (total * scale / both)[:, None] + p @ v / both[:, None]
            else:
                out = out * scale[:, None] + p @ v
            return (send(k), send(v), new, both, out), None
        start = [lax.pcast(jnp.full(q.shape[:1], x), "x", to="varying") for x in (-1e9, 0.0)]
        (_, _, _, total, out), _ = lax.scan(step, (k, v, *start, jnp.zeros_like(q)), jnp.arange(RANKS))
        return out if divides else out / total[:, None]
    return local


def branching(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Blocks behind all queries of a rank are left out by a branch: ranks are read one by one."""
    def step(carry: Any, i: jax.Array) -> Any:
        k, v, state = carry

        def use(state: Any) -> Any:
            largest, total, out = state
            score = score_of(q, k, i)
            new = jnp.maximum(largest, score.max(-1))
            p, scale = jnp.exp(score - new[:, None]), jnp.exp(largest - new)
            return new, total * scale + p.sum(-1), out * scale[:, None] + p @ v
        me = lax.axis_index("x")
        state = lax.cond((me - i) % RANKS <= me, use, lambda state: state, state)
        return (send(k), send(v), state), None
    start = (jnp.full(q.shape[:1], -1e9), jnp.zeros(q.shape[:1]), jnp.zeros_like(q))
    (_, _, (_, total, out)), _ = lax.scan(step, (k, v, start), jnp.arange(RANKS))
    return out / total[:, None]


def merged(merge: Callable[[Any, Any], Any]) -> Callable[..., jax.Array]:
    """Blocks that are softmaxes of their own, merged by the logarithms of their sums; without a mask."""
    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        def block(k: jax.Array, v: jax.Array) -> Any:
            score = q @ k.T * 0.35
            largest = score.max(-1)
            p = jnp.exp(score - largest[:, None])
            return p @ v / p.sum(-1)[:, None], largest + jnp.log(p.sum(-1))

        def step(carry: Any, _: None) -> Any:
            k, v, here = send(carry[0]), send(carry[1]), carry[2]
            return (k, v, merge(here, block(k, v))), None
        (_, _, (out, _)), _ = lax.scan(step, (k, v, block(k, v)), None, length=RANKS - 1)
        return out
    return local


def by_logaddexp(a: Any, b: Any) -> Any:
    """Weights are exponentials of differences."""
    both = jnp.logaddexp(a[1], b[1])
    return a[0] * jnp.exp(a[1] - both)[:, None] + b[0] * jnp.exp(b[1] - both)[:, None], both


def by_sigmoid(a: Any, b: Any) -> Any:
    """The weight of the new block is a sigmoid."""
    return a[0] - jax.nn.sigmoid(b[1] - a[1])[:, None] * (a[0] - b[0]), a[1] - jax.nn.log_sigmoid(a[1] - b[1])


def by_maximum(a: Any, b: Any) -> Any:
    """Both are scaled to the larger."""
    largest = jnp.maximum(a[1], b[1])
    left, right = jnp.exp(a[1] - largest), jnp.exp(b[1] - largest)
    return (a[0] * left[:, None] + b[0] * right[:, None]) / (left + right)[:, None], largest + jnp.log(left + right)


def main() -> None:
    """Write all."""
    mesh = jax.make_mesh((RANKS,), ("x",), axis_types=(AxisType.Auto,))
    forms = {
        "running": running(divides=False),
        "divided": running(divides=True),
        "branching": branching,
        "logaddexp": merged(by_logaddexp),
        "sigmoid": merged(by_sigmoid),
        "maximum": merged(by_maximum),
    }
    for name, local in forms.items():
        function = jax.shard_map(local, mesh=mesh, in_specs=(P("x"),) * 3, out_specs=P("x"), check_vma=name != "branching")

        def both(q: jax.Array, k: jax.Array, v: jax.Array, cotangent: jax.Array, function: Any = function) -> Any:
            out, pull = jax.vjp(function, q, k, v)
            return out, pull(cotangent)
        shape = jax.ShapeDtypeStruct((4 * RANKS, 4), jnp.float32)
        jitted = jax.jit(both, in_shardings=(NamedSharding(mesh, P("x")),) * 4)
        (Path(sys.argv[2]) / f"{name}.mlir").write_text(jitted.lower(*[shape] * 4).as_text(), encoding="utf-8")
        print(name)


main()

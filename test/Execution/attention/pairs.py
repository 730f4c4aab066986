"""Run sums over pairs and their gradients, as people write them in JAX, on four ranks, and compare.

    pairs.py --tools DIR [NAME ...]

Sums of kernels, with values and without, weighted sums within a radius, energies of bodies: each, and the gradient that JAX derives, must become
ops on all pairs alone, so that no rank holds a number for each pair, and compute what JAX computes. Prints a line for each program that
fails, and a summary; exit code 1 if there is any.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
import runner
from jax.sharding import NamedSharding, PartitionSpec

QUERIES, POINTS, DIMS, FEATURES = 24, 16, 3, 5
MESH = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))


def squares(x: jax.Array, y: jax.Array) -> jax.Array:
    """Squared distances of all pairs."""
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def kernel(x, y, w):
    return (jnp.exp(-squares(x, y)) * w).sum(1)


def kernel_product(x, y, w):
    return jnp.exp(-squares(x, y)) @ w


def kernel_values(x, y, values):
    return jnp.exp(-squares(x, y)) @ values


def kernel_expanded(x, y, w):
    """Distances by the product."""
    return jnp.exp(-((x * x).sum(-1)[:, None] + (y * y).sum(-1)[None] - 2 * x @ y.T)) @ w


def kernel_batches(x, y, w):
    """The same with a batch, whose points are far from the origin: no part of the exponent may be raised by itself."""
    x, y, w = jnp.stack([x, x + 9.0]), jnp.stack([y, y + 9.0]), jnp.stack([w, 2.0 * w])
    distance = (x * x).sum(-1)[:, :, None] + (y * y).sum(-1)[:, None] - 2 * jnp.einsum("bqd,bkd->bqk", x, y)
    return jnp.einsum("bqk,bk->bq", jnp.exp(-distance), w).sum(0)


def within_radius(x, y, w):
    q = squares(x, y)
    return (jnp.where(q < 1.0, (1.0 - q) ** 2, 0.0) * w).sum(1)


def roots(x, y, w):
    return (jnp.exp(-jnp.linalg.norm(x[:, None] - y[None], axis=-1)) * w).sum(1)


def energy(x, m):
    """Of bodies that are paired with themselves too: what a body does to itself is large, and no force."""
    return -0.5 * (m[:, None] * m[None] / jnp.sqrt(squares(x, x) + 0.001)).sum()


def batches(x, y, w):
    return jax.vmap(kernel)(jnp.stack([x, x + 1]), jnp.stack([y, y - 1]), jnp.stack([w, w])).sum(0)


def length_scale(x, y, w, h):
    return (jnp.exp(-squares(x, y) / h) * w).sum()


def of_square(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Sum of squares of a function: its cotangent needs its output."""
    return lambda *arguments: (function(*arguments) ** 2).sum()


X, Y, W, VALUES = (QUERIES, DIMS), (POINTS, DIMS), (POINTS,), (POINTS, FEATURES)
PROGRAMS: dict[str, tuple[Callable[..., jax.Array], list[tuple[int, ...]]]] = {
    "kernel": (kernel, [X, Y, W]), "kernel_product": (kernel_product, [X, Y, W]), "kernel_values": (kernel_values, [X, Y, VALUES]),
    "kernel_expanded": (kernel_expanded, [X, Y, W]), "kernel_batches": (kernel_batches, [X, Y, W]), "within_radius": (within_radius, [X, Y, W]), "roots": (roots, [X, Y, W]),
    "energy": (energy, [X, (QUERIES,)]), "batches": (batches, [X, Y, W]), "length_scale": (length_scale, [X, Y, W, ()]),
    "kernel_squared": (of_square(kernel), [X, Y, W]), "batches_squared": (of_square(batches), [X, Y, W]),
}


def check(name: str, tools: Path, where: Path) -> str | None:
    """Return what is wrong with a program, None if nothing is."""
    function, shapes = PROGRAMS[name]
    rng = np.random.default_rng(0)
    arguments = [np.asarray(rng.standard_normal(shape), np.float32) if shape else np.float32(1.3) for shape in shapes]

    def both(*values):
        out, pull = jax.vjp(function, *values)
        return out, *pull(jnp.cos(jnp.arange(out.size, dtype=out.dtype)).reshape(out.shape))

    shardings = tuple(NamedSharding(MESH, PartitionSpec("x") if shape else PartitionSpec()) for shape in shapes)
    lowered = jax.jit(both, in_shardings=shardings).lower(*arguments)
    wanted = [np.asarray(value) for value in jax.jit(both)(*arguments)]
    program = runner.Exported(lowered, arguments, where)
    raised = program.raised(tools)
    pairs = re.findall(rf"tensor<(?:\d+x)?(?:{QUERIES}x{POINTS}|{POINTS}x{QUERIES}|{QUERIES}x{QUERIES})x", raised.stdout)
    if raised.returncode != 0 or pairs:
        return f"a number for each pair is left {len(pairs)} times {raised.stderr[:200]}"
    # Far from the origin, distances by the product are rounded.
    return program.compare(tools, wanted, 1e-3 if name == "kernel_batches" else 1e-5)


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, PROGRAMS, check))

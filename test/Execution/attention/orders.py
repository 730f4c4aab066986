"""Run programs whose tokens are in zigzag order, because the compiler chose it or because it was asked for, and compare with JAX.

    orders.py --tools DIR [NAME ...]        (NAME: a model below, or random:FIRST:LAST)

Models have several causal attentions on one axis of four ranks. What is said of each is whether zigzag order through the program is chosen; it has to compute what JAX does
chosen and with --keep-order, on even and uneven shards. Random programs, chains of what knows positions and what does not (sorts, searches for the largest, running sums, slices,
windows, gathers, loops, manual regions), are run as they are and with `zigzag` on every argument, on even and uneven shards, some of them empty. Prints a line for each program
that is wrong, and a summary; exit code 1 if there is any.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
import runner
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

RANKS = 4
MESH = jax.make_mesh((RANKS,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
RNG = np.random.default_rng(0)

#===----------------------------------------------------------------------===#
# Models
#===----------------------------------------------------------------------===#

TOKENS, HEADS, DEPTH, WORDS = 2048, 4, 32, 512


@dataclass
class Model:
    """A function; its arguments; the dim of each that is cut; whether an order is carried through it, of shards of these sizes."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    cut: dict[int, int]
    carried: bool
    sizes: tuple[int, ...] | None = None


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * RNG.standard_normal(shape)).astype(np.float32)


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention, heads first."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])
    at = jnp.arange(q.shape[1])
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(jnp.where(at[:, None] >= at[None, :], scores, -jnp.inf)), v)


def rotate(x: jax.Array) -> jax.Array:
    """Rotate pairs of features by angles of positions."""
    angle = jnp.arange(x.shape[1])[:, None] * 100.0 ** (-jnp.arange(x.shape[2] // 2) / x.shape[2])
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def layer(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
    """Attention and a feed-forward layer, of tokens first."""
    h = x - x.mean(-1, keepdims=True)
    q, k, v = (jnp.einsum("te,ehd->htd", h, p[name]) for name in "qkv")
    x = x + jnp.einsum("htd,hde->te", attend(rotate(q), rotate(k), v), p["o"])
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]


def weights(layers: int) -> dict[str, np.ndarray]:
    width = HEADS * DEPTH
    shapes = {"q": (width, HEADS, DEPTH), "k": (width, HEADS, DEPTH), "v": (width, HEADS, DEPTH), "o": (HEADS, DEPTH, width),
              "up": (width, width), "down": (width, width)}
    return {name: normal(layers, *shape, scale=0.1) for name, shape in shapes.items()}


def predict(p: dict[str, Any], tokens: jax.Array, layers: int) -> jax.Array:
    x = p["embed"][tokens]
    for i in range(layers):
        x = layer(x, {name: value[i] for name, value in p["layers"].items()})
    return x


def loss(p: dict[str, Any], tokens: jax.Array, labels: jax.Array, layers: int) -> jax.Array:
    chance = jax.nn.log_softmax(predict(p, tokens, layers) @ p["embed"].T)
    return -jnp.take_along_axis(chance, labels[:, None], 1).mean()


def next_word(p: dict[str, Any], tokens: jax.Array, layers: int) -> jax.Array:
    """The same with labels that are the tokens after: what reads neighbours."""
    chance = jax.nn.log_softmax((predict(p, tokens, layers) @ p["embed"].T)[:-1])
    return -jnp.take_along_axis(chance, tokens[1:, None], 1).mean()


def scanned(p: dict[str, Any], tokens: jax.Array, labels: jax.Array, keeps: bool = False) -> jax.Array:
    """Layers in a loop; the gradient's loop computes all of a layer again, or has what the first loop keeps."""
    one = layer if keeps else jax.checkpoint(layer)
    x, _ = lax.scan(lambda x, p: (one(x, p), None), p["embed"][tokens], p["layers"])
    chance = jax.nn.log_softmax(x @ p["embed"].T)
    return -jnp.take_along_axis(chance, labels[:, None], 1).mean()


def trained(function: Callable[..., Any]) -> Callable[..., Any]:
    def step(p: dict[str, Any], *data: jax.Array) -> Any:
        value, gradients = jax.value_and_grad(function)(p, *data)
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, gradients), value

    return step


def chain(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    for _ in range(4):
        q = attend(q, k, v)
    return q


def model_of(layers: int) -> dict[str, Any]:
    return {"layers": weights(layers), "embed": normal(WORDS, HEADS * DEPTH, scale=0.3)}


def words() -> np.ndarray:
    return RNG.integers(0, WORDS, TOKENS).astype(np.int32)


QKV = tuple(normal(HEADS, TOKENS, DEPTH) for _ in range(3))
ALL = {0: 1, 1: 1, 2: 1}
# Tokens and labels are the arguments after seven arrays of weights.
MODELS = {
    "chain": Model(chain, QKV, ALL, True),
    "once": Model(attend, QKV, ALL, False),
    "chain_uneven": Model(chain, QKV, ALL, False, (1500, 0, 403, 145)),
    "chain_nearly_even": Model(chain, QKV, ALL, True, (513, 510, 512, 513)),
    "chain_gradient": Model(lambda q, k, v, g: jax.vjp(chain, q, k, v)[1](g), (*QKV, normal(HEADS, TOKENS, DEPTH)), ALL | {3: 1}, True),
    "forward": Model(lambda p, t, s: loss(p, t, s, 2), (model_of(2), words(), words()), {7: 0, 8: 0}, True),
    "training": Model(trained(lambda p, t, s: loss(p, t, s, 2)), (model_of(2), words(), words()), {7: 0, 8: 0}, True),
    "next_word": Model(trained(lambda p, t: next_word(p, t, 2)), (model_of(2), words()), {7: 0}, True),
    "scan": Model(scanned, (model_of(3), words(), words()), {7: 0, 8: 0}, True),
    "scan_training": Model(trained(scanned), (model_of(3), words(), words()), {7: 0, 8: 0}, True),
    "scan_kept": Model(trained(lambda p, t, s: scanned(p, t, s, keeps=True)), (model_of(3), words(), words()), {7: 0, 8: 0}, True),
    "one_result_after_another": Model(lambda q, k, v: (attend(q, k, v), attend(q[:, ::-1], k, v), jnp.cumsum(attend(k, q, v), 1)), QKV, ALL, False),
}


def specs(arguments: tuple[Any, ...], cut: dict[int, int]) -> Any:
    leaves, tree = jax.tree.flatten(arguments)
    return jax.tree.unflatten(tree, [NamedSharding(MESH, PartitionSpec(*[None] * cut[i], "x") if i in cut else PartitionSpec()) for i in range(len(leaves))])


def run(tools: Path, where: Path, options: list[str], wanted: list[np.ndarray], tolerance: float) -> str | None:
    """What is wrong with the program of `where`, None if nothing is; options are of shard-run."""
    command = [tools / "shard-run", where / "program.mlir", "--quick", f"--inputs=@{where / 'in.npz'}", f"--outputs=@{where / 'out.npz'}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"exit code {done.returncode} {' '.join(options)} {(done.stderr or done.stdout)[-300:]}"
    with np.load(where / "out.npz") as results:
        for i, want in enumerate(wanted):
            got = results[f"out{i}"].astype(np.float64)
            want = want.astype(np.float64)
            if got.shape != want.shape or not np.array_equal(np.isnan(got), np.isnan(want)):
                return f"result {i} is of another shape, or has other NaNs {' '.join(options)}"
            there = np.isfinite(want)
            worst = np.abs(got - want)[there].max(initial=0)
            if not worst <= tolerance * max(1.0, np.abs(want)[there].max(initial=0)):
                return f"result {i} differs by {worst:.3g} {' '.join(options)}"
    return None


def export(function: Callable[..., Any], arguments: tuple[Any, ...], cut: dict[int, int], where: Path) -> list[np.ndarray]:
    """Write the program and its arguments; what JAX computes."""
    lowered = jax.jit(function, in_shardings=specs(arguments, cut), keep_unused=True).lower(*arguments)
    (where / "program.mlir").write_text(lowered.as_text())
    np.savez(where / "in.npz", **{f"in{i}": leaf for i, leaf in enumerate(jax.tree.leaves(arguments))})
    return [np.asarray(value) for value in jax.tree.leaves(jax.jit(function)(*arguments))]


def check_model(name: str, tools: Path, where: Path) -> str | None:
    model = MODELS[name]
    wanted = export(model.function, model.arguments, model.cut, where)
    sizes = [f"--sizes={argument}:{dim}={','.join(map(str, model.sizes))}" for argument, dim in model.cut.items()] if model.sizes else []
    stages = f"--spmd-import={'sizes=' + ';'.join(size.removeprefix('--sizes=') for size in sizes) if sizes else ''}"
    explained = subprocess.run([tools / "shard-opt", where / "program.mlir", stages, "--spmd-raise", "--spmd-propagate", "--spmd-partition", "--explain", "-o", os.devnull],
                               capture_output=True, text=True, check=False)
    if explained.returncode != 0:
        return f"refused: {explained.stderr[-300:]}"
    raised = subprocess.run([tools / "shard-opt", where / "program.mlir", "--spmd-import", "--spmd-raise"], capture_output=True, text=True, check=False).stdout
    if f"{TOKENS}x{TOKENS}x" in raised:
        return "has scores of all tokens with all"
    carried = "order zigzag carried through the program" in explained.stderr
    if carried != model.carried:
        return "an order is carried through it" if carried else "no order is carried through it"
    for options in ([], ["--keep-order"]):
        if wrong := run(tools, where, [*sizes, *options], wanted, 3e-4):
            return wrong
    return None


#===----------------------------------------------------------------------===#
# Random programs
#===----------------------------------------------------------------------===#


def shard_mapped(function: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
    return jax.shard_map(function, mesh=MESH, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))


def neighbours(x: jax.Array) -> jax.Array:
    return lax.ppermute(x, "x", [(i, (i + 1) % RANKS) for i in range(RANKS)]) + lax.axis_index("x").astype(x.dtype)


def looped(x: jax.Array, i: int) -> jax.Array:
    return lax.fori_loop(0, 3, lambda j, y: jnp.sin(y) + (jnp.roll(y, j, 0) if i % 2 else y * j), x)


# Functions of (tokens, features) to the same shape: what does not care, and what knows places.
STEPS: dict[str, Callable[[jax.Array, np.random.Generator], jax.Array]] = {
    "elementwise": lambda x, r: jnp.tanh(x) * 1.5,
    "product": lambda x, r: x @ jnp.asarray(r.standard_normal((x.shape[1], x.shape[1])).astype(np.float32)),
    "positions": lambda x, r: x + jnp.sin(jnp.arange(x.shape[0]))[:, None],
    "table": lambda x, r: x * jnp.asarray(r.standard_normal((x.shape[0], 1)).astype(np.float32)),
    "running": lambda x, r: jnp.cumsum(x, 0) * 0.1,
    "running_most": lambda x, r: lax.cummax(x, 0, reverse=bool(r.integers(2))),
    "sorted": lambda x, r: jnp.sort(x, 0),
    "argsorted": lambda x, r: x[jnp.argsort(x[:, 0])],
    "largest": lambda x, r: x + lax.top_k(x.T, 3)[0].sum() + lax.top_k(x[:, 0], 4)[1].astype(x.dtype).mean(),
    "first_of_largest": lambda x, r: x + jnp.argmax(jnp.round(x), 0).astype(x.dtype)[None, :] * 0.01,
    "slice": lambda x, r: jnp.pad(x[2:-1], ((1, 2), (0, 0))),
    "strided": lambda x, r: jnp.repeat(x[::2], 2, 0)[: x.shape[0]],
    "shifted": lambda x, r: jnp.roll(x, int(r.integers(1, 5)), 0) + x,
    "reversed": lambda x, r: x[::-1],
    "concatenated": lambda x, r: jnp.concatenate([x[3:], x[:3]], 0),
    "dynamic": lambda x, r: lax.dynamic_update_slice(x, 2 * lax.dynamic_slice(x, (jnp.argmax(x[:8, 0]), 0), (5, x.shape[1])), (jnp.argmax(x[:6, 1]), 0)),
    "one_row": lambda x, r: x + lax.dynamic_index_in_dim(x, int(r.integers(x.shape[0])), 0),
    "rows_by_index": lambda x, r: x[jnp.asarray(r.integers(0, x.shape[0], x.shape[0]))],
    "added_by_index": lambda x, r: jnp.zeros_like(x).at[jnp.asarray(r.integers(0, x.shape[0], x.shape[0]))].add(x),
    "set_by_index": lambda x, r: x.at[jnp.asarray(r.permutation(x.shape[0])[:5])].set(1.0),
    "window": lambda x, r: lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), "SAME"),
    "convolution": lambda x, r: lax.conv_general_dilated(x.T[None], jnp.ones((x.shape[1], x.shape[1], 3)) * 0.1, (1,), "SAME")[0].T,
    "split": lambda x, r: jnp.swapaxes(x.reshape(x.shape[0] // 4, 4, -1), 0, 1).reshape(x.shape),
    "reduced": lambda x, r: x - x.mean(0) + x.max(0) * 0.1,
    "attention": lambda x, r: attend(x[None], x[None], x[None])[0],
    "window_attention": lambda x, r: jax.nn.dot_product_attention(x[None, :, None], x[None, :, None], x[None, :, None], local_window_size=(5, 2))[0, :, 0],
    "nearest": lambda x, r: x + lax.top_k(-((x[:, None] - x[None]) ** 2).sum(-1), 2)[1].sum(1, keepdims=True).astype(x.dtype) * 1e-3,
    "kernel": lambda x, r: jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ x * 0.1,
    "loop": lambda x, r: looped(x, int(r.integers(2))),
    "branch": lambda x, r: lax.cond(x.sum() > 0, lambda x: x[::-1], jnp.cos, x),
    "manual": lambda x, r: shard_mapped(neighbours)(x),
    # A real spectrum has each number twice, and rounding would choose the larger.
    "spectrum": lambda x, r: jnp.fft.fft(x, axis=0).real * 0.1 + x,
    "transposed": lambda x, r: (x.T @ jnp.cos(x)) .sum() * 0.01 + x,
}


def check_random(seed: int, tools: Path, where: Path) -> str | None:
    rng = np.random.default_rng(seed)
    tokens, features = 4 * int(rng.integers(3, 12)), int(rng.integers(2, 6))
    names = list(rng.choice(list(STEPS), int(rng.integers(2, 6))))

    def function(x: jax.Array, y: jax.Array) -> Any:
        again = np.random.default_rng(seed)
        for name in names:
            x = STEPS[name](x, again)
            x = x / jnp.maximum(jnp.abs(x).max(), 1.0)
        return x, (x * y).sum(), x[:, 0] + y[:, 1]

    arguments = tuple(rng.standard_normal((tokens, features)).astype(np.float32) for _ in range(2))
    wanted = export(function, arguments, {0: 0, 1: 0}, where)
    cuts = np.sort(rng.integers(0, tokens + 1, RANKS - 1))
    uneven = ",".join(map(str, np.diff(np.concatenate([[0], cuts, [tokens]]))))
    for sizes in ("", "zigzag", uneven, uneven + ",zigzag"):
        options = [f"--sizes={i}:0={sizes}" for i in range(2)] if sizes else []
        if wrong := run(tools, where, options, wanted, 1e-4):
            return f"{' '.join(names)}: {wrong}"
    return None


def check(name: str, tools: Path, where: Path) -> str | None:
    if not name.startswith("random:"):
        return check_model(name, tools, where)
    first, last = map(int, name.split(":")[1:])
    wrong = [f"{seed}: {why}" for seed in range(first, last) if (why := check_random(seed, tools, where))]
    return "\n".join(wrong) or None


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, [*MODELS, "random:0:20"], check))

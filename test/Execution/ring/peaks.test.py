"""Check what ranks hold where a sequence is cut: peaks.test.py SHARD_RUN [--table].

Programs as people write them in JAX, each at growing numbers of ranks. Peaks are the report's, less arguments and results, among which weights
are whole on each rank. --table prints them.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from math import log2, prod
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

BYTES = {"f32": 4, "bf16": 2, "i32": 4, "f64": 8, "i1": 1}
# Shares of the peak at half as many ranks. Rows of a tile of scores and the like do not shrink. Of large shards a peak may be lower by what is done
# block by block, so this is asked from the fewest ranks to each.
MOST = 0.58


def attend(q, k, v, is_causal: bool):
    """Softmax attention of (batch, heads, tokens, features)."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(jnp.float32) / q.shape[-1] ** 0.5
    if is_causal:
        places = jnp.arange(q.shape[2])
        scores = jnp.where(places[:, None] >= places[None, :], scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1).astype(q.dtype), v)


def block(weights: dict, x, is_causal: bool):
    """One pre-norm block of a transformer on (batch, tokens, width), 4 heads."""
    def norm(x, scale):
        x = x.astype(jnp.float32)
        return (scale * (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)).astype(weights["qkv"].dtype)

    batch, tokens, width = x.shape
    q, k, v = (part.reshape(batch, tokens, 4, width // 4).swapaxes(1, 2) for part in jnp.split(norm(x, weights["first"]) @ weights["qkv"], 3, axis=-1))
    x = x + attend(q, k, v, is_causal).swapaxes(1, 2).reshape(batch, tokens, width) @ weights["out"]
    return x + jax.nn.gelu(norm(x, weights["second"]) @ weights["up"]) @ weights["down"]


def shapes_of(width: int, dtype, layers: tuple = ()) -> dict:
    shapes = {"first": (width,), "qkv": (width, 3 * width), "out": (width, width), "second": (width,), "up": (width, 4 * width), "down": (4 * width, width)}
    return {name: jax.ShapeDtypeStruct((*layers, *shape), dtype) for name, shape in shapes.items()}


def vit_train(tokens: int) -> tuple[Callable, list, list]:
    """A step of gradient descent of two blocks on patches, whose mean is classified."""
    def loss(weights, x, labels):
        for layer in weights["blocks"]:
            x = block(layer, x, is_causal=False)
        logits = x.mean(1) @ weights["head"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    def step(weights, x, labels):
        value, gradient = jax.value_and_grad(loss)(weights, x, labels)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)

    weights = {"blocks": [shapes_of(64, jnp.float32)] * 2, "head": jax.ShapeDtypeStruct((64, 10), jnp.float32)}
    inputs = [weights, jax.ShapeDtypeStruct((1, tokens, 64), jnp.float32), jax.ShapeDtypeStruct((1,), jnp.int32)]
    return step, inputs, [None, (None, "x"), None]


def language_train(tokens: int) -> tuple[Callable, list, list]:
    """A step of a causal model in bfloat16 that scans over its layers and computes them again in the backward."""
    def loss(weights, x, targets):
        layer = jax.checkpoint(lambda x, weights: (block(weights, x, is_causal=True), None))
        half = jax.tree.map(lambda w: w.astype(jnp.bfloat16), weights)
        x, _ = jax.lax.scan(layer, x.astype(jnp.bfloat16), half)
        return ((x.astype(jnp.float32) - targets) ** 2).mean()

    def step(weights, x, targets):
        value, gradient = jax.value_and_grad(loss)(weights, x, targets)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)

    x = jax.ShapeDtypeStruct((1, tokens, 64), jnp.float32)
    return step, [shapes_of(64, jnp.float32, (3,)), x, x], [None, (None, "x"), (None, "x")]


def attention(tokens: int, is_causal: bool, backward: bool, dtype=jnp.float32) -> tuple[Callable, list, list]:
    shape, spec = jax.ShapeDtypeStruct((1, 2, tokens, 32), dtype), (None, None, "x")

    def forward(q, k, v):
        return attend(q, k, v, is_causal)

    def both(q, k, v, g):
        out, pull = jax.vjp(forward, q, k, v)
        return out, *pull(g)

    return (both if backward else forward), [shape] * (3 + backward), [spec] * (3 + backward)


def text_of(program: tuple[Callable, list, list], results_cut: bool) -> str:
    """The program as JAX prints it, its arguments cut as its specs say."""
    f, inputs, specs = program
    mesh = AbstractMesh((2,), ("x",))

    def cut(spec, tree):
        sharding = NamedSharding(mesh, PartitionSpec(*(spec or ())))
        return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), tree)

    results = {"out_shardings": NamedSharding(mesh, PartitionSpec(None, None, "x"))} if results_cut else {}
    return jax.jit(f, **results).trace(*map(cut, specs, inputs)).lower(lowering_platforms=("cpu",)).as_text()


def held(shard_run: str, model: Path, ranks: int) -> tuple[int, int]:
    """What the rank that holds most holds beside arguments and results, and what its whole arguments are, in bytes."""
    command = [shard_run, str(model), f"--ranks={ranks}", "--report=json", "--range=0,0.1", "--outputs=@" + str(model.with_suffix(".npz"))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"peaks: {' '.join(command)}:\n{run.stderr}")
    report = json.loads(run.stdout)
    values = [*report["arguments"], *report["results"]]
    peaks = []
    for rank, peak in enumerate(report["peak_bytes"]):
        own = sum(BYTES[value["type"]] * prod(dim["sizes"][rank] if dim["axes"] else size for size, dim in zip(value["shape"], value["dims"], strict=True))
                  for value in values)
        peaks.append(peak - own)
    whole = [value for value in report["arguments"] if not any(dim["axes"] for dim in value["dims"])]
    return max(peaks), sum(BYTES[value["type"]] * prod(value["shape"]) for value in whole)


def main() -> int:
    tokens = 2048
    keys = 2 * tokens * 32 * 4
    # With two ranks less is under way at once: the law holds from four on.
    # (program, ranks, results are cut as arguments, bytes that no rank may hold at the last of ranks)
    programs = {
        "attention": (attention(tokens, False, False), (8, 16), True, keys),
        "causal attention, bf16": (attention(tokens, True, False, jnp.bfloat16), (4, 8), True, keys),
        "attention and gradient": (attention(tokens, False, True), (8, 16), True, 2 * keys),
        "causal attention and gradient": (attention(tokens, True, True), (4, 8, 16), True, 2 * keys),
        "vision transformer, training": (vit_train(tokens // 2), (4, 8), False, None),
        # No mask of all tokens with all either, which JAX makes before the layers.
        "causal transformer, bf16, again in the backward": (language_train(tokens // 2), (4, 8), False, (tokens // 2) ** 2 * 4)}
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, all_ranks, results_cut, limit) in programs.items():
            model = Path(folder) / "model.mlir"
            model.write_text(text_of(program, results_cut))
            found = {ranks: held(sys.argv[1], model, ranks) for ranks in all_ranks}
            peaks = {ranks: peak for ranks, (peak, _) in found.items()}
            if "--table" in sys.argv:
                print(f"{name:50}", *(f"{ranks}: {peak / 1e6:.2f} MB" for ranks, peak in peaks.items()), flush=True)
                continue
            for ranks in all_ranks[1:]:
                # What would be there on any number of ranks: gradients of weights, and weights of another type.
                whole = 2 * found[ranks][1]
                fewest = all_ranks[0]
                if peaks[ranks] - whole > MOST ** log2(ranks / fewest) * (peaks[fewest] - whole):
                    sys.exit(f"peaks: {name}: {ranks} ranks hold {peaks[ranks]} bytes at most, {fewest} ranks {peaks[fewest]}, "
                             f"{whole} for whole arguments left out")
            if limit and peaks[all_ranks[-1]] >= limit:
                sys.exit(f"peaks: {name}: {all_ranks[-1]} ranks hold {peaks[all_ranks[-1]]} bytes, all keys are {keys}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

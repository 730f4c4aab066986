"""Time attention whose sequence is cut against JAX and PyTorch on the same cores, in one run.

    attention.py [--shard-run PATH] [--rounds N] [--steps N] [--ranks 2,4] [CASE ...]

Plain softmax attention as people write it, B1 H8 S4096 D64 f32, queries, keys and values cut along the sequence: forward,
and forward with the gradient of all three. "ring forward" is the same attention as its author has cut it, blocks of keys
travelling in shard_map past an online softmax. JAX has as many virtual devices as there are ranks; PyTorch runs
scaled_dot_product_attention with two threads. All take turns; figures are medians of all steps of all rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(Path(__file__).parent))
from bench import time_steps  # noqa: E402

SHAPE = (1, 8, 4096, 64)
SPEC = (None, None, "x", None)
CASES = ("forward", "forward+backward", "causal forward", "causal forward+backward", "ring forward")


def attention(is_causal: bool):
    """Return softmax attention of (batch, heads, tokens, features) in JAX."""
    import jax
    import jax.numpy as jnp

    def f(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8.0
        if is_causal:
            places = jnp.arange(q.shape[2])
            scores = jnp.where(places[:, None] >= places[None, :], scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)

    return f


def ring(mesh):
    """Return attention that goes round a ring of its own."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec

    ranks = mesh.shape["x"]

    def local(q, k, v):
        def step(carry, _):
            k, v, m, l, acc = carry  # noqa: E741
            scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8.0
            new = jnp.maximum(m, scores.max(-1))
            p, correction = jnp.exp(scores - new[..., None]), jnp.exp(m - new)
            acc = acc * correction[..., None] + jnp.einsum("bhqk,bhkd->bhqd", p, v)
            k, v = (jax.lax.ppermute(x, "x", [(i, (i + 1) % ranks) for i in range(ranks)]) for x in (k, v))
            return (k, v, new, l * correction + p.sum(-1), acc), None

        rows = jnp.zeros_like(q[..., 0])
        (_, _, _, total, acc), _ = jax.lax.scan(step, (k, v, rows - jnp.inf, rows, jnp.zeros_like(q)), None, length=ranks)
        return acc / total[..., None]

    spec = PartitionSpec(*SPEC)
    return jax.shard_map(local, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec)


def program(case: str, mesh):
    """Return the function of a case and its number of arguments and results."""
    import jax

    if case.startswith("ring"):
        return ring(mesh), 3, 1
    f = attention(case.startswith("causal"))
    if not case.endswith("backward"):
        return f, 3, 1

    def both(q, k, v, g):
        out, pull = jax.vjp(f, q, k, v)
        return out, *pull(g)

    return both, 4, 4


def run_jax(case: str, ranks: int, steps: int) -> list[float]:
    """Time JAX; returns milliseconds."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={ranks}"
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((ranks,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    f, inputs, outputs = program(case, mesh)
    sharding = NamedSharding(mesh, PartitionSpec(*SPEC))
    rng = np.random.default_rng(0)
    values = [jax.device_put(rng.normal(size=SHAPE).astype(np.float32), sharding) for _ in range(inputs)]
    out = sharding if outputs == 1 else (sharding,) * outputs
    compiled = jax.jit(f, out_shardings=out).lower(*values).compile()
    return time_steps(lambda: jax.block_until_ready(compiled(*values)), steps)


def run_torch(case: str, steps: int) -> list[float]:
    """Time PyTorch with two threads; returns milliseconds."""
    import torch

    torch.set_num_threads(2)
    backward, is_causal = case.endswith("backward"), case.startswith("causal")
    q, k, v = (torch.randn(SHAPE, requires_grad=backward) for _ in range(3))
    gradient = torch.randn(SHAPE)
    attend = torch.nn.functional.scaled_dot_product_attention

    def step() -> None:
        out = attend(q, k, v, is_causal=is_causal)
        if backward:
            torch.autograd.grad(out, (q, k, v), gradient)

    return time_steps(step, steps)


def export(case: str, ranks: int, path: Path) -> None:
    """Write the case as StableHLO with its shardings."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

    mesh = AbstractMesh((ranks,), ("x",))
    f, inputs, outputs = program(case, mesh)
    sharding = NamedSharding(mesh, PartitionSpec(*SPEC))
    shapes = [jax.ShapeDtypeStruct(SHAPE, jnp.float32, sharding=sharding)] * inputs
    out = sharding if outputs == 1 else (sharding,) * outputs
    path.write_text(jax.jit(f, out_shardings=out).trace(*shapes).lower(lowering_platforms=("cpu",)).as_text())


def child(*arguments: str) -> float:
    """Run one peer in a process of its own; returns its median milliseconds."""
    run = subprocess.run([sys.executable, __file__, "--child", *arguments], capture_output=True, text=True, check=True)
    return statistics.median(json.loads(run.stdout.splitlines()[-1]))


def compare(shard_run: str, case: str, ranks: int, rounds: int, steps: int) -> dict:
    """Return the medians of one case: milliseconds by runner, and shardc's report."""
    times: dict[str, list[float]] = {"shardc": [], "jax": [], "torch": []}
    report: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "attention.mlir"
        export(case, ranks, model)
        for _ in range(rounds):
            run = subprocess.run([shard_run, str(model), "--seed=1", f"--repeat={steps}", "--report=json"],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"attention: shard-run failed on {case} at {ranks} ranks:\n{run.stderr}")
            report = json.loads(run.stdout)
            times["shardc"].append(report["ms_per_step"])
            times["jax"].append(child("jax", case, str(ranks), str(steps)))
            times["torch"].append(child("torch", case, str(ranks), str(steps)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {**medians, "compile_ms": report["compile_ms"], "peak": max(report["peak_bytes"])}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        runner, case, ranks, steps = sys.argv[2:]
        times = run_jax(case, int(ranks), int(steps)) if runner == "jax" else run_torch(case, int(steps))
        print(json.dumps(times))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default=str(ROOT / "build" / "bin" / "shard-run"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=CASES[:2], help=", ".join(CASES))
    options = parser.parse_args()
    print(f"{'case':28}{'ranks':>6}{'shardc':>10}{'jax':>10}{'torch':>10}{'jax/us':>8}{'torch/us':>9}{'MB a rank':>10}")
    for case in options.cases:
        for ranks in map(int, options.ranks.split(",")):
            row = compare(options.shard_run, case, ranks, options.rounds, options.steps)
            print(f"{case:28}{ranks:6}{row['shardc']:10.1f}{row['jax']:10.1f}{row['torch']:10.1f}"
                  f"{row['jax'] / row['shardc']:8.2f}{row['torch'] / row['shardc']:9.2f}{row['peak'] / 1e6:10.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

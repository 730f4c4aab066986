"""Time attention whose sequence is cut against JAX and PyTorch on the same cores, in one run.

    attention.py [--shard-run PATH] [--rounds N] [--steps N] [--ranks 2,4] [CASE ...]

Plain softmax attention as people write it, B1 H8 S4096 D64 f32, queries, keys and values cut along the sequence: forward,
and forward with the gradient of all three. "ring forward" is the same attention as its author has cut it, blocks of keys
travelling in shard_map past an online softmax. JAX has as many virtual devices as there are ranks; PyTorch runs
scaled_dot_product_attention with two threads. All take turns; figures are medians of all steps of all rounds.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import harness

SHAPE = (1, 8, 4096, 64)
SPEC = (None, None, "x", None)
CASES = ("forward", "forward+backward", "causal forward", "causal forward+backward", "ring forward", "ring forward+backward")


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
            k, v, m, l, acc = carry
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


def program(case: str, mesh) -> tuple:
    """Return the program of a case (harness.py)."""
    import jax

    f = ring(mesh) if case.startswith("ring") else attention(case.startswith("causal"))
    if not case.endswith("backward"):
        return f, [(SHAPE, SPEC)] * 3, SPEC

    def both(q, k, v, g):
        out, pull = jax.vjp(f, q, k, v)
        return out, *pull(g)

    return both, [(SHAPE, SPEC)] * 4, [SPEC] * 4


def run_jax(case: str, ranks: str, steps: str) -> dict:
    """Time JAX."""
    return harness.time_jax(lambda mesh: program(case, mesh), int(ranks), int(steps))


def run_torch(case: str, steps: str) -> dict:
    """Time PyTorch with two threads."""
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

    return harness.time_steps(step, int(steps))


def export(case: str, ranks: int, path: Path) -> None:
    """Write the case as StableHLO with its shardings."""
    harness.export(lambda mesh: program(case, mesh), ranks, path)


def compare(shard_run: str, case: str, ranks: int, rounds: int, steps: int) -> dict:
    """Return the medians of one case: milliseconds by runner, and bytes that a rank holds at most."""
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "attention.mlir"
        export(case, ranks, model)

        def shardc() -> float:
            reports.append(harness.run_shardc(shard_run, model, steps))
            return reports[-1]["ms_per_step"]

        medians = harness.interleaved(rounds, {"shardc": shardc, "jax": lambda: harness.ask("jax", case, ranks, steps)["ms"],
                                            "torch": lambda: harness.ask("torch", case, steps)["ms"]})
    return {**medians, "peak": max(reports[-1]["peak_bytes"])}


def main() -> int:
    if harness.answer({"jax": run_jax, "torch": run_torch}):
        return 0
    parser = harness.parser(__doc__, steps=5, rounds=3)
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

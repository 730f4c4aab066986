"""Time nearest neighbours and radius search against JAX on the same cores, in one run.

    neighbours.py [--shard-run PATH] [--rounds N] [--steps N] [--ranks 2,4] [CASE ...]

Points in three dimensions, f32: the 8 nearest of 8,192 queries among 32,768 points with their mean value, and the number of points within
a radius. Points and queries are cut; JAX has as many virtual devices. All take turns; figures are medians of all steps of
all rounds, `cpu` is processor time a step.
"""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import harness

POINTS, QUERIES, NEIGHBOURS = 32768, 8192, 8


def distances(points, queries):
    """Return squared distances of all pairs, as people write them."""
    import jax.numpy as jnp

    return jnp.sum((queries[:, None, :] - points[None, :, :]) ** 2, axis=-1)


def nearest(points, queries, values):
    """Return the mean value of each query's nearest points."""
    import jax
    import jax.numpy as jnp

    _, places = jax.lax.top_k(-distances(points, queries), NEIGHBOURS)
    return jnp.mean(values[places], axis=1)


def radius(points, queries, values):
    """Return the sum of values within a radius of each query."""
    import jax.numpy as jnp

    return jnp.where(distances(points, queries) < 0.25, 1.0, 0.0) @ values


CASES = {"nearest": nearest, "radius": radius}


def program(case: str) -> tuple:
    """Return the program of a case (harness.py)."""
    rows = ("x", None)
    return CASES[case], [(shape, rows) for shape in ((POINTS, 3), (QUERIES, 3), (POINTS, 4))], rows


def run_jax(case: str, ranks: str, steps: str) -> dict:
    """Time JAX."""
    return harness.time_jax(lambda _: program(case), int(ranks), int(steps))


def compare(shard_run: str, case: str, ranks: int, rounds: int, steps: int) -> dict:
    """Return the medians of one case: milliseconds by runner, and processor milliseconds as `cpu` by runner."""
    cpu: dict[str, list[float]] = {"shardc": [], "jax": []}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.mlir"
        harness.export(lambda _: program(case), ranks, model)

        def shardc() -> float:
            report = harness.step_of_shardc(shard_run, model, steps)
            cpu["shardc"].append(report["cpu"])
            return report["ms_per_step"]

        def jax() -> float:
            found = harness.ask("jax", case, ranks, steps)
            cpu["jax"].append(found["cpu"])
            return found["ms"]

        medians = harness.interleaved(rounds, {"shardc": shardc, "jax": jax})
    return {**medians, "cpu": {name: statistics.median(values) for name, values in cpu.items()}}


def main() -> int:
    if harness.answer({"jax": run_jax}):
        return 0
    parser = harness.parser(__doc__, steps=5, rounds=3)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=list(CASES), help=", ".join(CASES))
    options = parser.parse_args()
    print(f"{'case':10}{'ranks':>6}{'shardc':>10}{'jax':>10}{'jax/us':>8}{'cpu':>10}{'jax cpu':>10}")
    for case in options.cases:
        for ranks in map(int, options.ranks.split(",")):
            row = compare(options.shard_run, case, ranks, options.rounds, options.steps)
            print(f"{case:10}{ranks:6}{row['shardc']:10.1f}{row['jax']:10.1f}{row['jax'] / row['shardc']:8.2f}"
                  f"{row['cpu']['shardc']:10.1f}{row['cpu']['jax']:10.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

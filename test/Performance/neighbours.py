"""Time nearest neighbours and radius search against JAX on the same cores, in one run.

    neighbours.py [--shard-run PATH] [--rounds N] [--steps N] [--ranks 2,4] [CASE ...]

Points in three dimensions, f32: the 8 nearest of 8,192 queries among 32,768 points with their mean value, and the number of points within
a radius. Points and queries are cut; JAX has as many virtual devices. All take turns; figures are medians of all steps of
all rounds, `cpu` is processor time a step.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
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


def shapes() -> list[tuple[int, ...]]:
    return [(POINTS, 3), (QUERIES, 3), (POINTS, 4)]


def run_jax(case: str, ranks: int, steps: int) -> dict:
    """Time JAX in this process."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={ranks}"
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((ranks,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = NamedSharding(mesh, PartitionSpec("x", None))
    rng = np.random.default_rng(0)
    values = [jax.device_put(rng.normal(size=shape).astype(np.float32), sharding) for shape in shapes()]
    compiled = jax.jit(CASES[case], out_shardings=sharding).lower(*values).compile()
    jax.block_until_ready(compiled(*values))
    times, before = [], resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(steps):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*values))
        times.append((time.perf_counter() - start) * 1e3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {"ms": times, "cpu": (after.ru_utime - before.ru_utime) / steps * 1e3}


def export(case: str, ranks: int, path: Path) -> None:
    """Write the case as StableHLO with its shardings."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

    sharding = NamedSharding(AbstractMesh((ranks,), ("x",)), PartitionSpec("x", None))
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding) for shape in shapes()]
    path.write_text(jax.jit(CASES[case], out_shardings=sharding).trace(*arguments).lower(lowering_platforms=("cpu",)).as_text())


def run_shardc(shard_run: str, model: Path, steps: int) -> tuple[dict, float]:
    """Return shardc's report and the processor seconds of the whole run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([shard_run, str(model), "--seed=1", f"--repeat={steps}", "--report=json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"neighbours: shard-run failed:\n{done.stderr}")
    return json.loads(done.stdout), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        case, ranks, steps = sys.argv[2:]
        print(json.dumps(run_jax(case, int(ranks), int(steps))))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default=str(ROOT / "build" / "bin" / "shard-run"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=list(CASES), help=", ".join(CASES))
    options = parser.parse_args()
    print(f"{'case':10}{'ranks':>6}{'shardc':>10}{'jax':>10}{'jax/us':>8}{'cpu':>10}{'jax cpu':>10}")
    for case in options.cases:
        for ranks in map(int, options.ranks.split(",")):
            ours, theirs, cpu, their_cpu = [], [], [], []
            with tempfile.TemporaryDirectory() as folder:
                model = Path(folder) / "model.mlir"
                export(case, ranks, model)
                for _ in range(options.rounds):
                    _, few = run_shardc(options.shard_run, model, 2)
                    report, many = run_shardc(options.shard_run, model, 2 + options.steps)
                    ours.append(report["ms_per_step"])
                    cpu.append((many - few) / options.steps * 1e3)
                    run = subprocess.run([sys.executable, __file__, "--child", case, str(ranks), str(options.steps)],
                                         capture_output=True, text=True, check=True)
                    found = json.loads(run.stdout.splitlines()[-1])
                    theirs += found["ms"]
                    their_cpu.append(found["cpu"])
            mine, jax = statistics.median(ours), statistics.median(theirs)
            print(f"{case:10}{ranks:6}{mine:10.1f}{jax:10.1f}{jax / mine:8.2f}{statistics.median(cpu):10.1f}{statistics.median(their_cpu):10.1f}",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

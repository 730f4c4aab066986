"""What timings of shardc beside others share: programs, peers in processes of their own, and interleaving.

A program is a function of a mesh of one axis "x" that returns a JAX function, its arguments as (shape, spec) of f32 arrays,
and the spec of its result, or a list of specs for a function of several.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
Program = Callable[..., tuple]


def parser(doc: str, steps: int, rounds: int = 0) -> argparse.ArgumentParser:
    """Return a parser of what all of them take; figures are of `steps` steps, and `rounds` rounds if there are any."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--shard-run", default=str(ROOT / "build" / "bin" / "shard-run"))
    if rounds:
        made.add_argument("--rounds", type=int, default=rounds)
    made.add_argument("--steps", type=int, default=steps)
    return made


# --- programs -------------------------------------------------------------------------------------------------------


def on_mesh(program: Program, mesh) -> tuple:
    """Return the program as a jitted function on `mesh`, and its arguments as (shape, sharding)."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    def sharding(spec):
        return NamedSharding(mesh, PartitionSpec(*spec))

    f, arguments, out = program(mesh)
    shardings = tuple(map(sharding, out)) if isinstance(out, list) else sharding(out)
    return jax.jit(f, out_shardings=shardings), [(shape, sharding(spec)) for shape, spec in arguments]


def export(program: Program, ranks: int, path: Path, dtype: str = "float32") -> None:
    """Write the program as StableHLO with its shardings, on arguments of `dtype`."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh

    f, arguments = on_mesh(program, AbstractMesh((ranks,), ("x",)))
    shapes = [jax.ShapeDtypeStruct(shape, jnp.dtype(dtype), sharding=sharding) for shape, sharding in arguments]
    path.write_text(f.trace(*shapes).lower(lowering_platforms=("cpu",)).as_text())


# --- those who run it -----------------------------------------------------------------------------------------------


def processor_seconds(who: int) -> float:
    """Return processor time that this process (resource.RUSAGE_SELF) or its children have taken."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def time_steps(step: Callable[[], object], steps: int, warmups: int = 3) -> dict:
    """Return milliseconds of each step, after `warmups` of them, and processor milliseconds of a step."""
    for _ in range(warmups):
        step()
    times, before = [], processor_seconds(resource.RUSAGE_SELF)
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - begin))
    return {"ms": times, "cpu": 1e3 * (processor_seconds(resource.RUSAGE_SELF) - before) / steps}


def time_jax(program: Program, ranks: int, steps: int, dtype: str = "float32", warmups: int = 3) -> dict:
    """Time the program on arguments of `dtype` in this process, which has not imported JAX yet; as time_steps."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={ranks}"
    import jax
    import numpy as np

    mesh = jax.make_mesh((ranks,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    f, arguments = on_mesh(program, mesh)
    rng = np.random.default_rng(0)
    values = [jax.device_put(rng.normal(size=shape).astype(jax.numpy.dtype(dtype)), sharding) for shape, sharding in arguments]
    compiled = f.lower(*values).compile()
    return time_steps(lambda: jax.block_until_ready(compiled(*values)), steps, warmups)


def run_shardc(shard_run: str, model: Path, steps: int, *more: str) -> dict:
    """Return shardc's report under options `more`, with processor seconds of the whole run as `cpu_s`; ends this process if it fails."""
    before = processor_seconds(resource.RUSAGE_CHILDREN)
    seed = () if any(option.startswith("--inputs=") for option in more) else ("--seed=1",)
    command = [shard_run, str(model), *seed, f"--repeat={steps}", "--report=json", *more]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{Path(sys.argv[0]).stem}: shard-run failed on {model.name}:\n{run.stderr}")
    return {**json.loads(run.stdout), "cpu_s": processor_seconds(resource.RUSAGE_CHILDREN) - before}


def step_of_shardc(shard_run: str, model: Path, steps: int, *more: str) -> dict:
    """Return shardc's report, with processor milliseconds of a step as `cpu`: start and compilation cancel out."""
    few, many = run_shardc(shard_run, model, 2, *more), run_shardc(shard_run, model, 2 + steps, *more)
    return {**many, "cpu": 1e3 * (many["cpu_s"] - few["cpu_s"]) / steps}


# --- interleaving ----------------------------------------------------------------------------------------------------------


def answer(peers: dict[str, Callable[..., dict]]) -> bool:
    """Return False in the process that the user started; in one that `ask` did, time the peer that it names."""
    if sys.argv[1:2] != ["--child"]:
        return False
    name, *arguments = sys.argv[2:]
    print(json.dumps(peers[name](*arguments)))
    return True


def ask(peer: str, *arguments: object) -> dict:
    """Time one peer of this script in a process of its own; as time_steps, with the median of `ms`."""
    run = subprocess.run([sys.executable, sys.argv[0], "--child", peer, *map(str, arguments)], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout.splitlines()[-1])
    return {**found, "ms": statistics.median(found["ms"])}


def interleaved(rounds: int, runners: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Let each run once a round, so that whatever else the machine does affects all of them; returns medians."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            times[name].append(run())
    return {name: statistics.median(values) for name, values in times.items()}

"""Time shardc against JAX (and PyTorch) on the same cores, in one run.

    bench.py [--shard-run PATH] [--rounds N] [--steps N] [CASE ...]

A case is one program at one number of ranks. Peers run in processes of their own, in turns with shardc, so that
whatever else the machine does meets all of them; each figure is the median of all steps of all rounds, after warm-up.
JAX has as many virtual CPU devices as there are ranks; all have the same cores. Needs jax (and, for the convolution
alone, torch where it can be imported); prints what it leaves out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "python" / "examples"))


# --- programs, as JAX functions -------------------------------------------------------------------------------------


def conv_halo():
    """3x3 convolution and bias, 1x8x1024x1024 f32, rows cut."""
    from jax import lax

    def f(image, w, bias):
        y = lax.conv_general_dilated(image, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return y + bias[None, :, None, None]

    return f, [((1, 8, 1024, 1024), (None, None, "x")), ((8, 8, 3, 3), ()), ((8,), ())], (None, None, "x")


def unet2d():
    """The example U-Net at 256x256, rows cut."""
    import jax

    from unet import init, unet

    leaves, tree = jax.tree.flatten(init(jax.random.key(0)))

    def f(*args):
        return unet(jax.tree.unflatten(tree, args[:-1]), args[-1])

    arguments = [(leaf.shape, ()) for leaf in leaves] + [((1, 256, 256, 3), (None, "x"))]
    return f, arguments, (None, "x")


def shallow_water():
    """Ten steps of the shallow-water equations on a periodic 2048x2048 C-grid, rows cut."""
    from functools import partial

    import jax.numpy as jnp
    from jax import lax

    east, west = partial(jnp.roll, shift=-1, axis=1), partial(jnp.roll, shift=1, axis=1)
    north, south = partial(jnp.roll, shift=-1, axis=0), partial(jnp.roll, shift=1, axis=0)

    def step(_, state):
        h, u, v = state
        uh, vh = u * 0.5 * (h + east(h)), v * 0.5 * (h + north(h))
        h = h - 0.05 * (uh - west(uh) + vh - south(vh))
        ubar = 0.25 * (u + west(u) + north(u) + north(west(u)))
        vbar = 0.25 * (v + east(v) + south(v) + south(east(v)))
        u = u + 0.05 * (0.1 * vbar - (east(h) - h))
        v = v + 0.05 * (-0.1 * ubar - (north(h) - h))
        return h, u, v

    def f(h, u, v):
        return lax.fori_loop(0, 10, step, (h, u, v))

    return f, [((2048, 2048), ("x",))] * 3, [("x",)] * 3


def wave3d():
    """Ten leapfrog steps of the wave equation on 192x192x192, edge-padded slices, planes cut."""
    import jax.numpy as jnp
    from jax import lax

    def f(u, previous, c2):
        def step(_, state):
            u, previous = state
            p, c = jnp.pad(u, 1, mode="edge"), slice(1, -1)
            laplacian = (p[2:, c, c] + p[:-2, c, c] + p[c, 2:, c] + p[c, :-2, c] + p[c, c, 2:] + p[c, c, :-2] - 6 * u)
            return 2 * u - previous + 0.02 * c2 * laplacian, u

        return lax.fori_loop(0, 10, step, (u, previous))

    return f, [((192, 192, 192), ("x",))] * 3, [("x",)] * 2


PROGRAMS = {"conv_halo": conv_halo, "unet2d": unet2d, "shallow_water": shallow_water, "wave3d": wave3d}


def result_shardings(mesh, out):
    """Return the sharding of the result, or of each where `out` is a list of specs."""
    from jax.sharding import NamedSharding, PartitionSpec

    if isinstance(out, list):
        return tuple(NamedSharding(mesh, PartitionSpec(*spec)) for spec in out)
    return NamedSharding(mesh, PartitionSpec(*out))


# --- runners, each in a process of its own: print a JSON list of milliseconds ---------------------------------------


def time_steps(step, steps: int) -> list[float]:
    import time

    for _ in range(3):
        step()
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def run_jax(program: str, ranks: int, steps: int) -> list[float]:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={ranks}"
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    f, arguments, out = PROGRAMS[program]()
    mesh = jax.make_mesh((ranks,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rng = np.random.default_rng(0)
    values = [jax.device_put(rng.normal(size=shape).astype(np.float32), NamedSharding(mesh, PartitionSpec(*spec)))
              for shape, spec in arguments]
    compiled = jax.jit(f, out_shardings=result_shardings(mesh, out)).lower(*values).compile()
    return time_steps(lambda: jax.block_until_ready(compiled(*values)), steps)


def run_torch(program: str, steps: int) -> list[float]:
    import torch

    assert program == "conv_halo"
    image, w, bias = torch.randn(1, 8, 1024, 1024), torch.randn(8, 8, 3, 3), torch.randn(8)
    with torch.inference_mode():
        return time_steps(lambda: torch.nn.functional.conv2d(image, w, bias, padding=1), steps)


def export(program: str, ranks: int, path: Path) -> None:
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

    f, arguments, out = PROGRAMS[program]()
    mesh = AbstractMesh((ranks,), ("x",))
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))
              for shape, spec in arguments]
    lowered = jax.jit(f, out_shardings=result_shardings(mesh, out)).trace(*shapes)
    path.write_text(lowered.lower(lowering_platforms=("cpu",)).as_text())


# --- the comparison -------------------------------------------------------------------------------------------------


def child(*arguments: str) -> list[float]:
    run = subprocess.run([sys.executable, __file__, "--child", *arguments], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def compare(shard_run: str, program: str, ranks: int, rounds: int, steps: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / f"{program}.mlir"
        export(program, ranks, model)
        times: dict[str, list[float]] = {"shardc": [], "jax": [], "torch": []}
        compile_ms = 0.0
        for _ in range(rounds):
            run = subprocess.run([shard_run, str(model), "--seed=1", f"--repeat={steps}", "--report=json"],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"bench: shard-run failed on {program} at {ranks} ranks:\n{run.stderr}")
            report = json.loads(run.stdout)
            times["shardc"].append(report["ms_per_step"])
            compile_ms = max(compile_ms, report["compile_ms"])
            times["jax"].append(statistics.median(child("jax", program, str(ranks), str(steps))))
            if program == "conv_halo" and times["torch"] is not None:
                try:
                    times["torch"].append(statistics.median(child("torch", program, str(steps))))
                except subprocess.CalledProcessError:
                    times["torch"] = []
        row = {name: statistics.median(values) for name, values in times.items() if values}
        return {"program": program, "ranks": ranks, "compile_ms": compile_ms, **row}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        kind, program, *rest = sys.argv[2:]
        times = run_jax(program, int(rest[0]), int(rest[1])) if kind == "jax" else run_torch(program, int(rest[0]))
        print(json.dumps(times))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("cases", nargs="*", help="PROGRAM:RANKS; default: all")
    options = parser.parse_args()
    cases = options.cases or [f"{program}:{ranks}" for program in PROGRAMS for ranks in (1, 2, 4)]
    print(f"{'program':12} ranks  compile ms  shardc ms    jax ms  torch ms  jax/shardc  torch/shardc")
    for case in cases:
        program, ranks = case.split(":")
        row = compare(options.shard_run, program, int(ranks), options.rounds, options.steps)
        cells = [f"{row[name]:10.2f}" if name in row else f"{'-':>10}" for name in ("shardc", "jax", "torch")]
        ratios = [f"{row[name] / row['shardc']:10.2f}" if name in row else f"{'-':>10}" for name in ("jax", "torch")]
        print(f"{program:12} {ranks:>5}  {row['compile_ms']:10.0f} " + "".join(cells) + "  " + "  ".join(ratios), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Training loops through JAX on shardc, beside JAX's CPU client with as many virtual devices, and beside shard-run.

    jax_loops.py [--devices 2,4] [--steps 50] [--rounds 3] [--long N] [--without-jax] [--json FILE] [PROGRAM ...]

Programs are those of training.py, at sizes where a step takes 20 ms to 1 s; the state is carried on from step to step and donated. Each side has a process
of its own on the same cores, and sides take turns, so that whatever else the machine does affects all of them; figures are medians of rounds, of steps their
median too. No cache of compiled programs is on. Columns: ms of a step (wall; the same where only the last of as many steps more is waited for; processor
time of all threads), the whole (tracing, compilation and all
steps, in s: wall and processor time), compilation alone (processor time in s of the first call less that of a step), the most memory of the process in MB.
`shard-run` runs the program that JAX hands over, with the same inputs and threads, as often. Losses of both after the last step must agree.
--without-jax leaves JAX's own client out: how far shardc through JAX is above shard-run.

--long N runs N steps on shardc alone and prints processor time of a step and memory of the process at 20 marks on the way.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import harness

# --- one side, in a process of its own --------------------------------------------------------------------------------


def resident_mb() -> float:
    """Return what the process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def peak_mb() -> float:
    """Return what it held at most."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def prepare(name: str, devices: int) -> tuple[Any, Any, tuple, tuple]:
    """Return the mesh, the training, and its state and data on the mesh."""
    import jax
    from training import PROGRAMS

    model = 2 if devices % 4 == 0 else 1
    mesh = jax.make_mesh((devices // model, model), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    training = PROGRAMS[name]()
    state, data = training.place(mesh)
    jax.block_until_ready((state, data))
    return mesh, training, state, data


def run_loop(name: str, devices: int, steps: int, marks: int) -> dict[str, Any]:
    """Run the loop; each step is waited for."""
    import jax

    mesh, training, state, data = prepare(name, devices)
    step = training.jitted(mesh)
    walls, used, curve, losses = [], [], [], []
    began, processor = time.perf_counter(), time.process_time()
    for number in range(steps):
        before = time.perf_counter(), time.process_time()
        *state, loss = step(*state, *data)
        jax.block_until_ready((state, loss))
        walls.append(time.perf_counter() - before[0])
        used.append(time.process_time() - before[1])
        if marks and (number + 1) % max(1, steps // marks) == 0:
            last = used[-max(1, steps // marks) :]
            curve.append((number + 1, 1e3 * statistics.median(last), resident_mb()))
            losses.append(float(loss))
    whole = time.perf_counter() - began, time.process_time() - processor
    peak, last_loss = peak_mb(), float(loss)
    before_ahead = time.perf_counter()
    for _ in range(steps if not marks else 0):
        *state, loss = step(*state, *data)
    jax.block_until_ready((state, loss))
    ahead = time.perf_counter() - before_ahead
    return {
        "step_ms": 1e3 * statistics.median(walls[1:]),
        "ahead_ms": 1e3 * ahead / steps,
        "step_cpu_ms": 1e3 * statistics.median(used[1:]),
        "first_s": walls[0],
        "first_cpu_s": used[0],
        "whole_s": whole[0],
        "whole_cpu_s": whole[1],
        "peak_mb": peak,
        "loss": last_loss,
        "curve": curve,
    }


def write_model(name: str, devices: int, folder: Path) -> None:
    """Write the text and the inputs for shard-run."""
    import jax
    import numpy as np

    mesh, training, state, data = prepare(name, devices)
    (folder / "model.mlir").write_text(training.jitted(mesh).trace(*state, *data).lower(lowering_platforms=("cpu",)).as_text())
    leaves = jax.tree.leaves((state, data))
    np.savez(folder / "inputs.npz", **{f"in{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)})


# --- the sides --------------------------------------------------------------------------------------------------------


def environment(side: str, devices: int) -> dict[str, str]:
    given = {"JAX_ENABLE_COMPILATION_CACHE": "false", "SHARDC_CACHE_DIR": ""}
    if side == "jax":
        flags = f"--xla_force_host_platform_device_count={devices}"
        return os.environ | given | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    path = f"{harness.ROOT / 'python'}:{os.environ.get('PYTHONPATH', '')}"
    return os.environ | given | {"JAX_PLATFORMS": "shardc", "SHARDC_DEVICES": str(devices), "PYTHONPATH": path}


def ask(side: str, devices: int, *arguments: object) -> Any:
    """Return what a process of this side prints."""
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(side, devices))
    if run.returncode != 0:
        sys.exit(f"jax_loops: {side} failed on {arguments}:\n{run.stderr[-4000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def ask_shard_run(tool: str, folder: Path, steps: int, devices: int) -> dict[str, Any]:
    """Return milliseconds of a step, wall and processor time, of shard-run."""
    threads = max(1, len(os.sched_getaffinity(0)) // devices)
    return harness.step_of_shardc(tool, folder / "model.mlir", steps, f"--inputs=@{folder / 'inputs.npz'}", f"--threads={threads}")


def median(rows: list[dict[str, Any]], key: str) -> float:
    return statistics.median(row[key] for row in rows)


def spread(rows: list[dict[str, Any]], key: str) -> str:
    values = [row[key] for row in rows]
    return f"{min(values):.3g}-{max(values):.3g}"


def compare(options: argparse.Namespace, name: str, devices: int) -> dict[str, Any]:
    """Print the rows of one program on this many devices."""
    rows: dict[str, list[dict[str, Any]]] = {"shardc": []} | ({} if options.without_jax else {"jax": []})
    tool: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        ask("jax", devices, "write", name, devices, folder)
        if options.shard_run:
            ask_shard_run(options.shard_run, folder, 1, devices)  # the first process reads libraries from disk
        for _ in range(options.rounds):
            for side in rows:
                rows[side].append(ask(side, devices, "loop", name, devices, options.steps, 0))
            if options.shard_run:
                tool.append(ask_shard_run(options.shard_run, folder, options.steps, devices))
    for side, found in rows.items():
        cells = [f"{median(found, key):.{digits}f}" for key, digits in (("step_ms", 1), ("ahead_ms", 1), ("step_cpu_ms", 1), ("whole_s", 2), ("whole_cpu_s", 2))]
        compilation = statistics.median(row["first_cpu_s"] - row["step_cpu_ms"] / 1e3 for row in found)
        print(f"| {name} | {devices} | {side} | {cells[0]} | {cells[1]} | {cells[2]} ({spread(found, 'step_cpu_ms')}) | {cells[3]} | {cells[4]} | "
              f"{compilation:.2f} | {median(found, 'peak_mb'):.0f} | {median(found, 'loss'):.6f} |", flush=True)
    if tool:
        print(f"| {name} | {devices} | shard-run | {median(tool, 'ms_per_step'):.1f} | | {median(tool, 'cpu'):.1f} ({spread(tool, 'cpu')}) | | | | | |", flush=True)
    ours, theirs = median(rows["shardc"], "loss"), median(rows.get("jax", rows["shardc"]), "loss")
    if not abs(ours - theirs) <= 1e-2 * max(abs(theirs), 1e-3):
        sys.exit(f"jax_loops: {name} on {devices} devices: the loss is {ours}, JAX's {theirs}")
    return {"program": name, "devices": devices, **rows, "shard_run": tool}


def child(arguments: list[str]) -> None:
    kind, name, devices, *rest = arguments
    if kind == "write":
        write_model(name, int(devices), Path(rest[0]))
        print("{}")
    else:
        print(json.dumps(run_loop(name, int(devices), int(rest[0]), int(rest[1]))))


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return 0
    names = ("unet2d", "vit", "gnn_message_passing", "transformer")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", choices=[*names, []], metavar="PROGRAM")
    parser.add_argument("--devices", default="2,4")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--without-jax", action="store_true")
    parser.add_argument("--shard-run", default=str(harness.ROOT / "build" / "bin" / "shard-run"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = []
    counts = [int(number) for number in options.devices.split(",")]
    if options.long:
        print("| program | devices | step | ms of processor time | MB |\n|---|---|---|---|---|")
    else:
        print("| program | devices | side | ms a step | not waited for | processor ms (spread) | whole s | processor s | compilation | MB | loss |\n"
              "|---|---|---|---|---|---|---|---|---|---|---|")
    for name in options.programs or names:
        for devices in counts:
            if options.long:
                found = ask("shardc", devices, "loop", name, devices, options.long, 20)
                report.append({"program": name, "devices": devices, **found})
                for step, used, memory in found["curve"]:
                    print(f"| {name} | {devices} | {step} | {used:.2f} | {memory:.0f} |", flush=True)
            else:
                report.append(compare(options, name, devices))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

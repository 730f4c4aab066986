"""Run random attention programs through shardc, raised, sharded along their tokens, and compare with JAX.

    check.py [FIRST LAST] [--ranks N] [--jobs N] --tools DIR

For each seed from FIRST up to LAST (0 and 1000): the raised program must have no exponential left (all of it became
attention), and must compute what JAX does, on even and on uneven shards (empty ones too, every third time in zigzag order from
both ends) of its tokens, on two to five ranks, or on twice as many with its batch or its heads cut as well; every fifth time also without Raise (`--no-raise`).
Prints a line for each program that does not, and a summary; exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
sys.path.insert(0, str(Path(__file__).resolve().parent))
import programs

# Sums in another order, and in f32 where the program rounds each step.
TOLERANCES = {"bfloat16": 5e-2, "float16": 1.5e-2, "float32": 3e-5, "float64": 3e-5}


def annotate(text: str, mesh: dict[str, int], cuts: dict[str, dict[int, int]], kept: list[int]) -> str:
    """Cut dims of arguments over axes of ``mesh``: ``cuts[axis][argument]`` is the dim."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "func.func public @main(" in line)
    for argument in {argument for dims in cuts.values() for argument in dims}.intersection(kept):
        name = f"%arg{kept.index(argument)}: tensor<"
        start = lines[at].index(name) + len(name)
        end = lines[at].index(">", start)
        dims = lines[at][start:end].count("x")
        axes = {cuts[axis].get(argument): axis for axis in mesh}
        cut = ", ".join(f'{{"{axes[i]}"}}' if i in axes else "{}" for i in range(dims))
        lines[at] = f"{lines[at][: end + 1]} {{sdy.sharding = #sdy.sharding<@mesh, [{cut}]>}}{lines[at][end + 1:]}"
    axes = ", ".join(f'"{axis}"={size}' for axis, size in mesh.items())
    lines.insert(at, f"  sdy.mesh @mesh = <[{axes}]>")
    return "\n".join(lines) + "\n"


def check(seed: int, ranks: int | None, tools: Path, where: Path) -> str | None:
    """Return what is wrong with the program of ``seed``, None if nothing is."""
    program = programs.make(seed)
    rng = np.random.default_rng(seed)
    ranks = ranks or int(rng.integers(2, 6))
    mesh = {"sp": ranks} | ({"dp": 2} if program.batch and rng.random() < 0.3 else {})
    lowered = jax.jit(program.function).lower(*program.arguments)
    try:
        wanted = [np.asarray(value).astype(np.float64) for value in jax.tree.leaves(lowered.compile()(*program.arguments))]
    except jax.errors.JaxRuntimeError:
        return None  # what XLA cannot run on a CPU is no reference
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    text = annotate(lowered.as_text(), mesh, {"sp": program.sequence, "dp": program.batch}, kept)
    (where / "program.mlir").write_text(text)
    raised = subprocess.run([tools / "shard-opt", where / "program.mlir", "--spmd-import", "--spmd-raise"],
                            capture_output=True, text=True, check=False)
    if raised.returncode != 0:
        return f"refused: {raised.stderr[:300]}"
    if "pairs.all_pairs softmax" not in raised.stdout or "stablehlo.exponential" in raised.stdout:
        return "not raised"
    if program.name.endswith(" joint") and "stablehlo.concatenate" not in raised.stdout:
        return "its two products are not one"
    np.savez(where / "in.npz", **{f"in{i}": program.arguments[number] for i, number in enumerate(kept)})
    tolerance = next(value for name, value in TOLERANCES.items() if f" {name} " in program.name + " ")
    for way in ("", "uneven", *(["--no-raise"] if seed % 5 == 0 else [])):
        uneven = way == "uneven"
        command = [tools / "shard-run", where / "program.mlir", f"--inputs=@{where / 'in.npz'}",
                   f"--outputs=@{where / 'out.npz'}"]
        if way == "--no-raise":
            command.append(way)
        if uneven:
            for number, dim in program.sequence.items():
                if number in kept:
                    size = program.arguments[number].shape[dim]
                    cuts = np.sort(rng.integers(0, size + 1, ranks - 1))
                    parts = np.diff(np.concatenate([[0], cuts, [size]]))
                    order = ",zigzag" if seed % 3 == 0 else ""
                    command.append(f"--sizes={kept.index(number)}:{dim}={','.join(map(str, parts))}{order}")
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return f"exit code {run.returncode} {way} {(run.stderr or run.stdout)[:300]}"
        with np.load(where / "out.npz") as results:
            for i, want in enumerate(wanted):
                got = results[f"out{i}"].astype(np.float64).reshape(want.shape)
                # Without the maximum subtracted the program itself may overflow; attention does not.
                there = np.isfinite(want)
                worst = np.abs(got - want)[there].max(initial=0)
                scale = max(1.0, np.abs(want)[there].max(initial=0))
                if not worst <= tolerance * scale:
                    return f"result {i} differs by {worst:.3g} of {scale:.3g} {way}"
    return None


def report(seed: int, ranks: int | None, tools: Path) -> str | None:
    """Return a line about the program of ``seed`` if it is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(seed, ranks, tools, Path(folder))
    return wrong and f"{programs.make(seed).name}: {wrong}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("last", type=int, nargs="?", default=1000)
    parser.add_argument("--ranks", type=int, help="as many for every program")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tools", type=Path, required=True)
    options = parser.parse_args()
    seeds = range(options.first, options.last)
    one = functools.partial(report, ranks=options.ranks, tools=options.tools)
    bad = 0
    # JAX has threads: a fork of it may hang.
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for done, wrong in enumerate(pool.imap(one, seeds), start=1):
            if done % 100 == 0:
                print(f"{done} of {len(seeds)} programs", file=sys.stderr)
            if wrong:
                bad += 1
                print(wrong, flush=True)
    print(f"{len(seeds)} programs, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

"""Run one program of the corpus on many meshes and compare with JAX's stored outputs.

    check.py NAME [--shard-run PATH]

Each program runs on the mesh in its file, with each axis resized to 1, 2 and 3, and with its sharded arguments
arriving in uneven shards, empty ones among them. Prints a line a run; exits 1 if one of them is not equal. The
expected outputs come from the unsharded program as JAX runs it, so that no partitioner has touched them.
"""

import argparse
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def uneven(size: int, shards: int, variant: int) -> list[int]:
    """Cut ``size`` elements into ``shards`` parts that no rounding of size / shards gives.

    Variant 0 leans to the first shards, variant 1 leaves one shard empty (two or more shards).
    """
    if shards == 1:
        return [size]
    weights = [shards + 2 - i for i in range(shards)]
    if variant == 1:
        weights = [1 + (3 * i) % shards for i in range(shards)]
        weights[shards // 2] = 0
    cuts = [0]
    for total in itertools.accumulate(weights):
        cuts.append(round(size * total / sum(weights)))
    return [b - a for a, b in itertools.pairwise(cuts)]


def variants(entry: dict) -> list[tuple[str, list[str]]]:
    """All runs of one program: what it is called, and the options of shard-run."""
    mesh = dict(map(tuple, entry["mesh"]))
    runs = [("file", [])]
    meshes = [mesh]
    for size in (1, 2, 3):
        meshes.append({axis: size for axis in mesh})
    if len(mesh) > 1:
        meshes += [{axis: 3 if i == odd else 1 for i, axis in enumerate(mesh)} for odd in range(len(mesh))]
        meshes.append({axis: 2 + i for i, axis in enumerate(mesh)})
    for sizes in meshes[1:]:
        text = ",".join(f"{axis}={size}" for axis, size in sizes.items())
        runs.append((text, [f"--mesh={text}"]))
    for sizes in ([mesh] + meshes[3:4]):
        for variant in (0, 1):
            cuts = []
            for number, arg in enumerate(entry["args"]):
                for dim, axes in enumerate(arg["spec"] or []):
                    axes = [axes] if isinstance(axes, str) else axes or []
                    shards = math.prod(sizes[axis] for axis in axes)
                    if shards > 1:
                        parts = uneven(arg["shape"][dim], shards, variant)
                        cuts.append(f"{number}:{dim}={','.join(map(str, parts))}")
            if cuts:
                text = ",".join(f"{axis}={size}" for axis, size in sizes.items())
                runs.append((f"{text} uneven {variant}", [f"--mesh={text}", *(f"--sizes={cut}" for cut in cuts)]))
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--shard-run", default="shard-run")
    options = parser.parse_args()
    entry = next(e for e in json.loads((HERE / "manifest.json").read_text()) if e["name"] == options.name)
    program = HERE / "Inputs" / f"{options.name}.mlir"
    data = program.with_suffix(".npz")
    failures = 0
    for name, flags in variants(entry):
        command = [options.shard_run, str(program), f"--inputs=@{data}", f"--expect=@{data}",
                   f"--rtol={entry['rtol']}", f"--atol={entry['atol']}", *flags]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        print(f"{options.name:28} {name:24} {'equal' if run.returncode == 0 else f'EXIT {run.returncode}'}", flush=True)
        if run.returncode != 0:
            failures += 1
            print("  " + " ".join(command), run.stderr[-2000:], sep="\n  ", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Run programs of a corpus on many meshes and compare with JAX's stored outputs.

    check.py [NAME...] [--all] [--corpus DIR] [--runs all|short|own] [--jobs N] [--shard-run PATH]

Each program runs on the mesh in its file, with each axis resized to 1, 2 and 3, and with its sharded arguments
arriving in uneven shards, empty ones among them. The expected outputs come from the unsharded program as JAX runs
it, so that no partitioner has touched them; programs without stored data are compiled and run on random inputs.

Prints a line a run: program, mesh, how it ended, all-gathers and bytes moved in a step; at the end how many passed
and failed. Exits 1 if one failed.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import math
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
UNSUPPORTED = 77


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


def print_mesh(sizes: dict[str, int]) -> str:
    return ",".join(f"{axis}={size}" for axis, size in sizes.items())


def cut_arguments(entry: dict, sizes: dict[str, int], variant: int) -> list[str]:
    """The ``--sizes`` options that let every sharded argument arrive in uneven shards."""
    cuts = []
    for number, arg in enumerate(entry["args"]):
        for dim, axes in enumerate(arg.get("spec") or []):
            axes = [axes] if isinstance(axes, str) else axes or []
            shards = math.prod(sizes[axis] for axis in axes)
            if shards > 1:
                parts = uneven(arg["shape"][dim], shards, variant)
                cuts.append(f"--sizes={number}:{dim}={','.join(map(str, parts))}")
    return cuts


def variants(entry: dict, which: str) -> list[tuple[str, list[str]]]:
    """The runs of one program: what each is called, and the options of shard-run.

    ``which``: all; short: its own mesh and one uneven or else resized; own: its own mesh.
    """
    mesh = dict(map(tuple, entry["mesh"]))
    runs = [("file", [])]
    # Regions that already communicate hold the sizes of their own mesh.
    if which == "own" or not mesh or "data" not in entry or "sdy.manual_computation" in entry.get("ops", {}):
        return runs
    meshes = [{axis: size for axis in mesh} for size in (1, 2, 3)]
    if len(mesh) > 1:
        meshes += [{axis: 3 if i == odd else 1 for i, axis in enumerate(mesh)} for odd in range(len(mesh))]
        meshes.append({axis: 2 + i for i, axis in enumerate(mesh)})
    for sizes in meshes:
        runs.append((print_mesh(sizes), [f"--mesh={print_mesh(sizes)}"]))
    for sizes in (mesh, meshes[2]):
        for variant in (0, 1):
            if cuts := cut_arguments(entry, sizes, variant):
                runs.append((f"{print_mesh(sizes)} uneven {variant}", [f"--mesh={print_mesh(sizes)}", *cuts]))
    if which == "short":
        runs = [runs[0], next((run for run in runs if run[0].endswith("uneven 1")), runs[3])]
    return runs


@dataclasses.dataclass
class Outcome:
    """How one run ended; ``message`` is the first line that says why it failed."""

    program: str
    run: str
    status: str
    gathers: int = 0
    moved: int = 0
    message: str = ""
    command: str = ""

    @property
    def passed(self) -> bool:
        return self.status in ("equal", "ran")


def execute(shard_run: str, corpus: Path, entry: dict, run: str, flags: list[str], timeout: float) -> Outcome:
    """Run shard-run once; a crash, a refusal and a time-out are outcomes as well."""
    command = [shard_run, str(corpus / entry["file"]), "--report=json", *flags]
    if "data" in entry:
        data = corpus / entry["data"]
        command += [f"--inputs=@{data}", f"--expect=@{data}", f"--rtol={entry['rtol']}", f"--atol={entry['atol']}"]
    else:
        command += ["--seed=1"]
    outcome = Outcome(entry["name"], run, "", command=" ".join(command))
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        outcome.status = "TIMEOUT"
        return outcome
    if result.returncode == 0:
        outcome.status = "equal" if "data" in entry else "ran"
        sites = json.loads(result.stdout)["communication"]
        outcome.gathers = sum(site["count"] for site in sites if site["kind"] == "all_gather")
        outcome.moved = sum(site["bytes"] for site in sites)
        return outcome
    names = {1: "REFUSED", 3: "DIFFERS", 5: "HANGS", 9: "MEMORY", UNSUPPORTED: "UNSUPPORTED"}
    outcome.status = names.get(result.returncode, f"EXIT {result.returncode}")
    lines = result.stderr.splitlines()
    said = [line for line in lines if re.search(r"error:|differs|Assertion|PLEASE|terminate", line)]
    outcome.message = (said or lines or [""])[0]
    return outcome


def read_manifest(corpus: Path) -> list[dict]:
    """The programs of a corpus: a list, or an object that holds it; files may be left to the names."""
    manifest = json.loads((corpus / "manifest.json").read_text())
    entries = manifest["entries"] if isinstance(manifest, dict) else manifest
    for entry in entries:
        if "file" not in entry:
            entry["file"] = f"Inputs/{entry['name']}.mlir"
            entry["data"] = f"Inputs/{entry['name']}.npz"
    return entries


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every program, those without data last")
    parser.add_argument("--corpus", type=Path, default=HERE, help="a directory with a manifest.json")
    parser.add_argument("--runs", choices=("all", "short", "own"), default="all")
    parser.add_argument("--no-big", action="store_true", help="leave out programs without stored data")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run")
    parser.add_argument("--shard-run", default="shard-run")
    options = parser.parse_args()
    entries = read_manifest(options.corpus)
    known = {entry["name"] for entry in entries}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no program '{unknown[0]}' in {options.corpus}/manifest.json")
    if not options.all:
        entries = [entry for entry in entries if entry["name"] in options.names]
    if options.no_big:
        entries = [entry for entry in entries if "data" in entry]
    entries.sort(key=lambda entry: "data" not in entry)

    print(f"{'program':30} {'mesh':28} {'pass':12} {'all-gathers':>11} {'bytes moved':>12}", flush=True)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(execute, options.shard_run, options.corpus, entry, run, flags, options.timeout)
                for entry in entries for run, flags in variants(entry, options.runs)]
        for future in runs:
            outcome = future.result()
            numbers = f" {outcome.gathers:11} {outcome.moved:12}" if outcome.passed else ""
            print(f"{outcome.program:30} {outcome.run:28} {outcome.status:12}{numbers}", flush=True)
            if outcome.passed:
                passed += 1
            else:
                failed += 1
                print(f"  $ {outcome.command}\n  {outcome.message}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

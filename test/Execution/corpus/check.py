"""Run programs of a corpus on many meshes and compare with JAX's stored outputs.

    check.py [NAME...] [--all] [--big] [--corpus DIR] [--runs all|sample|short|ranks|few|own] [--jobs N] [--results FILE]
             [--device NAME] [--precision NAME] [--transport NAME] [--kernels NAME] [--interpreter]

Each program runs on the mesh in its file, with each axis resized to 1, 2 and 3, and with its sharded arguments
arriving in uneven shards, empty ones among them. The expected outputs come from the unsharded program as JAX runs
it, so that no partitioner has touched them; programs without stored data (``--big``) are compiled and run on random
inputs.

Prints a line a run: program, mesh, how its shards were cut, how it ended, the largest difference, all-gathers and
bytes moved in a step; at the end how many passed and failed. Exits 1 if one failed; a program that needs more memory
than there is, and says so, has not.

``--interpreter`` compiles nothing: the interpreter of the program's text runs each program once (docs/Developer/Testing.md).

``--results FILE`` keeps a line of JSON for each run as it ends, and takes from there what the same shard-run did
already: a table that was interrupted goes on where it stopped. Several processes may write to one file.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "Inputs"))
from samples import cover

UNSUPPORTED = 77

# Where the interpreter is right and JAX's stored output is XLA's own: sqrt(-1.59 - 0i), whose sign XLA's CPU drops.
BRANCH_CUTS = {"complex_fft": "output 20 differs from the expected one at [0, 13, 4]: got (0,-1.262438), expected (0,1.262438); "
                              "1 of 384 elements"}


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


@dataclasses.dataclass(frozen=True)
class Run:
    """One way to run a program; ``shards``: even, uneven, empty (one of them has no elements), or one rank (compared
    with what one rank computes as well)."""

    mesh: str
    shards: str
    flags: tuple[str, ...]


def launch(mesh: str, extra: tuple[str, ...]) -> tuple[str, ...]:
    """What starts processes for the ranks of ``mesh`` ("x=2,y=2", "none"), where the options ``extra`` want them."""
    if not {"--transport=process", "--transport=shm", "--transport=tcp"} & set(extra):
        return ()
    ranks = math.prod(int(axis.split("=")[1]) for axis in mesh.split(",")) if mesh != "none" else 1
    return (f"--processes={ranks}",)


def variants(entry: dict, which: str, extra: tuple[str, ...] = ()) -> list[Run]:
    """The runs of one program, with the options ``extra``.

    ``which``: all; sample: its own mesh, one rank, and, by a hash, one mesh of another size and each kind of uneven shards; short: its own mesh and one uneven or else resized; ranks: its own mesh and one rank; few: one
    rank of every other program alone, by a hash; own: its own mesh. Of sample and short, LLVM optimises what runs on the program's own mesh: other meshes cut it otherwise, and give LLVM the same loops.
    """
    if extra:
        return [dataclasses.replace(run, flags=(*extra, *launch(run.mesh, extra), *run.flags))
                for run in variants(entry, which)]
    if which in ("sample", "short"):
        own, *others = chosen(entry, which)
        return [own, *(dataclasses.replace(run, flags=("--quick", *run.flags)) for run in others)]
    return chosen(entry, which)


def chosen(entry: dict, which: str) -> list[Run]:
    """The runs of one program; its own mesh first."""
    mesh = dict(map(tuple, entry["mesh"]))
    if which == "interpreter":
        return [Run("none", "interpreted", ("--interpret",))]
    runs = [Run(print_mesh(mesh) or "none", "as in file", ())]
    if which == "few" and zlib.crc32(entry["name"].encode()) % 2:
        return runs
    # Regions that already communicate hold the sizes of their own mesh.
    if "sdy.manual_computation" in entry.get("ops", {}) and "data" in entry:
        return [*runs, Run(runs[0].mesh, "one rank", ("--check",))]
    if which == "own" or not mesh or "data" not in entry:
        return runs
    meshes = [{axis: size for axis in mesh} for size in (1, 2, 3)]
    if which in ("ranks", "few"):
        return [*runs, Run(print_mesh(meshes[0]), "even", (f"--mesh={print_mesh(meshes[0])}",))]
    if len(mesh) > 1:
        meshes += [{axis: 3 if i == odd else 1 for i, axis in enumerate(mesh)} for odd in range(len(mesh))]
        meshes.append({axis: 2 + i for i, axis in enumerate(mesh)})
    for sizes in meshes:
        runs.append(Run(print_mesh(sizes), "even", (f"--mesh={print_mesh(sizes)}",)))
    for sizes in (mesh, meshes[1], meshes[2]):
        for variant, shards in enumerate(("uneven", "empty")):
            if cuts := cut_arguments(entry, sizes, variant):
                runs.append(Run(print_mesh(sizes), shards, (f"--mesh={print_mesh(sizes)}", *cuts)))
    runs = list({(run.mesh, run.shards): run for run in runs}.values())
    if which == "sample":
        sizes = {f"{entry['name']} {run.mesh} {run.shards}": run for run in runs}
        kinds = {name: {run.shards, "own" if run == runs[0] else "one" if run.mesh == print_mesh(meshes[0]) else "resized"}
                 for name, run in sizes.items()}
        runs = [sizes[name] for name in cover(kinds)]
    if which == "short":
        runs = [runs[0], next((run for run in runs if run.shards == "empty"), runs[3])]
    return runs


@dataclasses.dataclass
class Outcome:
    """How one run ended; ``message`` is the first line that says why it failed."""

    program: str
    mesh: str
    shards: str
    status: str
    error: float = 0
    gathers: int = 0
    moved: int = 0
    message: str = ""
    command: str = ""
    tool: str = ""
    seconds: float = 0

    @property
    def passed(self) -> bool:
        return self.status in ("equal", "ran", "branch cut") or self.too_large

    @property
    def too_large(self) -> bool:
        """It compiles, but this machine has not the memory that it says it needs."""
        return self.status.startswith("needs")

    def line(self) -> str:
        head = f"{self.program:29} {self.mesh:22} {self.shards:10} {self.status:11}"
        if not self.passed:
            return f"{head}\n  $ {self.command}\n  {self.message}"
        error = f"{self.error:9.1e}" if self.status == "equal" else f"{'':9}"
        return f"{head} {error} {self.gathers:11} {self.moved:12}"


HEAD = f"{'program':29} {'mesh':22} {'shards':10} {'pass':11} {'max error':>9} {'all-gathers':>11} {'bytes moved':>12}"


class Results:
    """The outcomes that a file keeps, of one shard-run."""

    def __init__(self, path: Path | None, tool: str) -> None:
        self.path, self.tool, self.known = path, tool, {}
        self.lock = threading.Lock()
        if path and path.exists():
            for line in path.read_text().splitlines():
                outcome = Outcome(**json.loads(line))
                if outcome.tool == tool and outcome.passed:
                    self.known[outcome.command] = outcome

    def keep(self, outcome: Outcome) -> None:
        outcome.tool = self.tool
        if self.path:
            with self.lock, self.path.open("a") as file:
                file.write(json.dumps(dataclasses.asdict(outcome)) + "\n")


def version_of(shard_run: str) -> str:
    """What tells one build of shard-run from another."""
    path = shutil.which(shard_run)
    return f"{os.path.getmtime(path)} {os.path.getsize(path)}" if path else ""


def execute(shard_run: str, corpus: Path, entry: dict, run: Run, timeout: float, results: Results) -> Outcome:
    """Run shard-run once; a crash, a refusal and a time-out are outcomes as well."""
    interprets = "--interpret" in run.flags
    command = [shard_run, str(corpus / entry["file"]), *([] if interprets else ["--report=json"]), *run.flags]
    if "data" in entry:
        data = corpus / entry["data"]
        command.append(f"--inputs=@{data}")
        rounds = any(flag.startswith("--precision=") and flag != "--precision=highest" for flag in run.flags)
        command += ["--check"] if rounds else [f"--expect=@{data}", f"--rtol={entry['rtol']}", f"--atol={entry['atol']}"]
    else:
        command += ["--seed=1"]
    outcome = Outcome(entry["name"], run.mesh, run.shards, "", command=shlex.join(command))
    if known := results.known.get(outcome.command):
        return known
    begin = time.monotonic()
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        result = None
    outcome.seconds = round(time.monotonic() - begin, 2)
    if result is None:
        outcome.status, outcome.message = "TIMEOUT", f"not done in {timeout:.0f} seconds"
    elif result.returncode == 0 and interprets:
        outcome.status = "equal"
        outcome.error = max(map(float, re.findall(r"largest difference (\S+)", result.stderr)), default=0)
    elif result.returncode == 0:
        report = json.loads(result.stdout)
        outcome.status = "equal" if "data" in entry else "ran"
        outcome.error = max((compared["largest"] for compared in report.get("comparisons", [])), default=0)
        sites = report["communication"]
        outcome.gathers = sum(site["count"] for site in sites if site["kind"] == "all_gather")
        outcome.moved = sum(site["bytes"] for site in sites)
    else:
        names = {1: "REFUSED", 3: "DIFFERS", 5: "HANGS", 9: "MEMORY", UNSUPPORTED: "UNSUPPORTED"}
        outcome.status = names.get(result.returncode, f"EXIT {result.returncode}")
        lines = result.stderr.splitlines()
        said = [line for line in lines if re.search(r"error:|differs|Assertion|PLEASE|terminate", line)]
        outcome.message = (said or lines or [""])[0]
        if interprets and BRANCH_CUTS.get(entry["name"], "\0") in outcome.message:
            outcome.status = "branch cut"
        needed = re.search(r"need (\d+) bytes on .* the limit is", outcome.message)
        if result.returncode == 9 and needed:
            outcome.status = f"needs {int(needed.group(1)) / 1e9:.0f} GB"
    results.keep(outcome)
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
    parser.add_argument("--runs", choices=("all", "sample", "short", "ranks", "few", "own", "interpreter"), default="all")
    parser.add_argument("--interpreter", action="store_true", help="let the interpreter run each program; nothing is compiled")
    parser.add_argument("--big", action="store_true", help="with --all: programs without stored data as well")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run")
    parser.add_argument("--results", type=Path, help="keeps what ended, so that a second call goes on from there")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--kernels", help="who does products on devices (default: our kernels)")
    parser.add_argument("--device", help="what runs the programs (default: the host)")
    parser.add_argument("--precision", help="of products on that device (default: highest, as that of the stored outputs); others are compared "
                        "with what one rank computes of f32")
    parser.add_argument("--transport", help="how buffers go from rank to rank (default: the tool's own)")
    options = parser.parse_args()
    if options.interpreter:
        options.runs = "interpreter"
    if options.device not in (None, "cpu") and not options.precision:
        options.precision = "highest"
    extra = tuple(f"--{name}={getattr(options, name)}" for name in ("device", "precision", "transport", "kernels") if getattr(options, name))
    entries = read_manifest(options.corpus)
    known = {entry["name"] for entry in entries}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no program '{unknown[0]}' in {options.corpus}/manifest.json")
    if options.names:
        entries = [entry for entry in entries if entry["name"] in options.names]
    elif not options.all and not options.big:
        parser.error("name programs, or give --all or --big")
    else:
        wanted = {True} if not options.big else {True, False} if options.all else {False}
        entries = [entry for entry in entries if ("data" in entry) in wanted]
    entries.sort(key=lambda entry: "data" not in entry)

    begin = time.monotonic()
    print(HEAD, flush=True)
    outcomes = []
    results = Results(options.results, version_of(options.shard_run))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(execute, options.shard_run, options.corpus, entry, run, options.timeout, results)
                for entry in entries for run in variants(entry, options.runs, extra)]
        try:
            for future in runs:
                outcomes.append(future.result())
                print(outcomes[-1].line(), flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    unknown = [outcome for outcome in outcomes if options.interpreter and outcome.status == "UNSUPPORTED"]
    failed = [outcome for outcome in outcomes if not outcome.passed and outcome not in unknown]
    large = sum(outcome.too_large for outcome in outcomes)
    print(f"{len(outcomes) - len(failed) - len(unknown) - large} passed, {len(failed)} failed, "
          f"{f'{len(unknown)} not known to the interpreter, ' if unknown else ''}"
          f"{f'{large} need more memory than this machine has, ' if large else ''}"
          f"{len({outcome.program for outcome in outcomes})} programs, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compile programs of a corpus once, with the sizes of all cut dims left open, and run them on many sizes.

    binding.py [NAME...] [--all] [--corpus DIR] [--sizes N] [--meshes all|short|own] [--jobs N] [--costs [--most RATIO]]
               [--results FILE] [--device NAME] [--no-fallback]
    binding.py [NAME...] [--all] --symbolic-mesh [--ranks 1,2,3] [--estimate N] ...
    binding.py [NAME...] [--all] --families [--part I/N] ...

Each program is compiled with ``--dynamic=all`` for the mesh in its file, with its axes resized to 1, 2 and 4 (and 2 by
2). What comes out is run on N vectors of random sizes, empty shards among them, without compiling again, and compared
with JAX's stored outputs, which no partitioner has touched. ``--costs`` runs balanced sizes first, compiles the program
for each of the sizes as well, and says how many times its communication ops, bytes moved and peak memory the open program
has: with balanced sizes, with all drawn ones together, and with the worst of them. ``--most 1.05`` fails a program that has
more with balanced sizes. ``--no-fallback`` fails a program that compiles with that option for known sizes, and not for open ones.

With ``--symbolic-mesh`` the number of ranks is left open too: each program is compiled once for each set of axes of its
mesh, with ``--symbolic-mesh=AXES``, and runs on 1, 2, 3, 4, 5, 7 and 8 ranks, and where two axes are open on 1 by 2, 3 by 2 and
so on: in balanced shards, then in N vectors of random sizes. Costs of ways are estimated with 2 ranks along an axis, or with
``--estimate`` others; results are the same.

``--families`` takes the layers and gradients of test/Execution/families instead of a corpus, each on its mesh of one axis
(NAME-1) and of two (NAME-2). ``--part 2/4`` takes every fourth program from the second on.

A program that differs for one binding runs on the others too: the line says how many differ, and how to see the first.
``--results FILE`` keeps a line of JSON for each program and mesh as it ends, and takes from there what the same
shard-run did already, but failures.

Prints a line for each program and mesh; at the end how many passed, failed and were refused. Exits 1 if one failed.
"""

import argparse
import concurrent.futures
import functools
import json
import math
import random
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "families"))
from check import HERE, UNSUPPORTED, print_mesh, read_manifest, version_of
from run import corpus_of


def random_sizes(source: random.Random, size: int, shards: int) -> list[int]:
    """Sizes of ``shards`` shards of ``size`` elements; about every fourth has none."""
    cuts = sorted(source.randint(0, size) for _ in range(shards - 1))
    if source.random() < 0.5 and shards > 1:
        cuts[source.randrange(shards - 1)] = source.choice([0, size])
        cuts.sort()
    return [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]


def draw(entry: dict, sizes: dict[str, int], source: random.Random) -> list[str]:
    """``--sizes`` options for every argument dim that is cut. Dims of one extent along the same axes are cut alike as
    often as not: rows of points and of their labels."""
    drawn: dict[tuple, list[int]] = {}
    options = []
    alike = source.random() < 0.5
    for number, arg in enumerate(entry["args"]):
        for dim, axes in enumerate(arg.get("spec") or []):
            axes = [axes] if isinstance(axes, str) else axes or []
            shards = math.prod(sizes[axis] for axis in axes)
            if shards < 2:
                continue
            key = (arg["shape"][dim], *axes) if alike else (number, dim)
            parts = drawn.setdefault(key, random_sizes(source, arg["shape"][dim], shards))
            options.append(f"--sizes={number}:{dim}={','.join(map(str, parts))}")
    return options


Costs = tuple[float, ...]  # communication ops, bytes, memory


def costs(report: dict) -> Costs:
    """Communication ops and bytes of a step, and the most memory that a rank had."""
    sites = report["communication"]
    return sum(site["count"] for site in sites), sum(site["bytes"] for site in sites), max(report["peak_bytes"])


def says(result: subprocess.CompletedProcess) -> str:
    lines = result.stderr.splitlines()
    return next((line for line in lines if "error:" in line or "differs" in line), (lines or ["nothing"])[0])


def execute(options: argparse.Namespace, command: list[str]) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"error: not done in {options.timeout:.0f} seconds")


def failure(command: list[str], result: subprocess.CompletedProcess) -> str:
    return f"{shlex.join(command[1:])}: code {result.returncode}: {says(result)}"


def compile_artifact(options: argparse.Namespace, command: list[str]) -> tuple[str, str] | None:
    """Run ``command``, which compiles. Returns how the program came out where there is no artifact, else None."""
    compiled = execute(options, command)
    if compiled.returncode == UNSUPPORTED:
        return "refused", says(compiled)
    return ("FAILED", failure(command, compiled)) if compiled.returncode else None


def compile_open(options: argparse.Namespace, command: list[str]) -> tuple[str, str] | None:
    """Compile with ``--dynamic=all``; nothing is gathered for want of a rule that is not with known sizes, if that is asked."""
    if not options.no_fallback:
        return compile_artifact(options, [*command, "--dynamic=all"])
    failed = compile_artifact(options, [*command, "--dynamic=all", "--no-fallback"])
    if not failed or "no-fallback" not in failed[1]:
        return failed
    if not compile_artifact(options, [*command, "--no-fallback"]):
        return "FAILED", f"known sizes need no fallback: {failed[1]}"
    return compile_artifact(options, [*command, "--dynamic=all"])


def outcome(failures: list[str], runs: int, line: str) -> tuple[str, str]:
    """How a program came out of ``runs`` runs, of which ``failures`` failed; ``line`` is said where none did."""
    return ("FAILED", f"{len(failures)} of {runs} runs: {failures[0]}") if failures else ("equal", line)


class Results:
    """What a file keeps of one shard-run: how programs came out, by program, mesh and options."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.path, self.tool = options.results, version_of(options.shard_run)
        self.lock = threading.Lock()
        self.known: dict[str, tuple[str, str]] = {}
        self.asked = f"{options.sizes} {options.seed} {options.costs} {options.most} {options.ranks} {options.estimate}"
        self.asked += " no-fallback" if options.no_fallback else ""
        for line in self.path.read_text().splitlines() if self.path and self.path.exists() else []:
            kept = json.loads(line)
            if kept["tool"] == self.tool and kept["status"] != "FAILED":
                self.known[kept["key"]] = (kept["status"], kept["line"])

    def of(self, name: str, mesh: str, check: Callable[[], tuple[str, str]]) -> tuple[str, str]:
        key = f"{name} {mesh} {self.asked}"
        if key in self.known:
            return self.known[key]
        status, line = check()
        if self.path:
            with self.lock, self.path.open("a") as file:
                file.write(json.dumps({"tool": self.tool, "key": key, "status": status, "line": line}) + "\n")
        return status, line


def check_mesh(options: argparse.Namespace, entry: dict, axes: tuple[str, ...]) -> tuple[str, str]:
    """How one program came out that was compiled once for any number of ranks along ``axes``."""
    data = options.corpus / entry["data"]
    compared = [f"--inputs=@{data}", f"--expect=@{data}", f"--rtol={entry['rtol']}", f"--atol={entry['atol']}"]
    own = dict(map(tuple, entry["mesh"]))
    counts = [int(count) for count in options.ranks.split(",")]
    if len(axes) == 1:
        # The other axes are as they were compiled: with two ranks, or one.
        rest = {axis: min(size, 2) for axis, size in own.items() if axis not in axes}
        meshes = [{**rest, axes[0]: count} for count in counts if count * math.prod(rest.values()) <= 12]
    else:
        rest = {axis: 1 for axis in own if axis not in axes[:2]}
        pairs = [(a, b) for a in counts for b in counts if a <= 3 and b <= 3 and a * b <= 8]
        meshes = [{**rest, axes[0]: a, axes[1]: b} for a, b in pairs]
    rest = {axis: size for axis, size in meshes[0].items() if axis not in axes}
    compiled_for = {**rest, **{axis: options.estimate for axis in axes}}
    with tempfile.TemporaryDirectory() as folder:
        artifact = f"{folder}/program.so"
        command = [options.shard_translate, str(options.corpus / entry["file"]), f"--symbolic-mesh={','.join(axes)}"]
        command += [f"--mesh={print_mesh(compiled_for)}", "-o", artifact]
        if refused := compile_artifact(options, command):
            return refused
        source = random.Random(f"{options.seed} {entry['name']}")
        runs, failures = 0, []
        for mesh in meshes:
            for number in range(options.sizes + 1):
                sizes = draw(entry, {axis: mesh.get(axis, 1) for axis in own}, source) if number else []
                command = [options.shard_run, artifact, f"--mesh={print_mesh(mesh)}", *sizes, *compared]
                ran = execute(options, command)
                failures += [failure(command, ran)] if ran.returncode else []
                runs += 1
    return outcome(
        failures,
        runs,
        f"{runs} runs on {len(meshes)} meshes, {min(map(count_ranks, meshes))} to {max(map(count_ranks, meshes))} ranks",
    )


def count_ranks(mesh: dict[str, int]) -> int:
    return math.prod(mesh.values())


def check(options: argparse.Namespace, entry: dict, mesh: dict[str, int]) -> tuple[str, str]:
    """How one program on one mesh came out: its status and a line about it."""
    data = options.corpus / entry["data"]
    compared = [f"--inputs=@{data}", f"--expect=@{data}", f"--rtol={entry['rtol']}", f"--atol={entry['atol']}"]
    meshed = [f"--mesh={print_mesh(mesh)}"] if mesh else []
    with tempfile.TemporaryDirectory() as folder:
        artifact = f"{folder}/program.so"
        # As the stored outputs are.
        target = [f"--target={options.device}", "--precision=highest"] if options.device else []
        command = [
            options.shard_translate,
            str(options.corpus / entry["file"]),
            *meshed,
            *target,
            "-o",
            artifact,
        ]
        if refused := compile_open(options, command):
            return refused
        source = random.Random(f"{options.seed} {entry['name']} {print_mesh(mesh)}")
        pairs: list[tuple[Costs, Costs]] = []  # with balanced sizes first
        failures, runs = [], 0
        for number in range(options.sizes + 1):
            if number == 0 and not options.costs:
                continue
            sizes = draw(entry, mesh, source) if number else []
            command = [options.shard_run, artifact, "--report=json", *sizes, *compared]
            ran = execute(options, command)
            failures += [failure(command, ran)] if ran.returncode else []
            runs += 1
            if not options.costs or ran.returncode:
                continue
            known = [*meshed, *([f"--device={options.device}", "--precision=highest"] if options.device else [])]
            command = [
                options.shard_run,
                str(options.corpus / entry["file"]),
                "--report=json",
                *known,
                *sizes,
                *compared,
            ]
            static = execute(options, command)
            if static.returncode == 0:
                pairs.append((costs(json.loads(ran.stdout)), costs(json.loads(static.stdout))))
    if failures or not pairs:
        return outcome(failures, runs, "")
    balanced, line = compare_costs(pairs)
    if options.most and max(balanced) > options.most:
        return "FAILED", f"more than x{options.most} of known sizes: {line}"
    return outcome(failures, runs, line)


def compare_costs(pairs: list[tuple[Costs, Costs]]) -> tuple[Costs, str]:
    """How many times the costs of known sizes the open program has, by pairs of both: with the first sizes, and a line
    about all."""

    def times(open_: float, known: float) -> float:
        return (open_ or 1) / (known or 1)

    each = [tuple(map(times, *pair)) for pair in pairs]
    ratios = {"balanced": each[0]}
    if len(pairs) > 1:
        sums = [[sum(column) for column in zip(*side, strict=True)] for side in zip(*pairs[1:], strict=True)]
        ratios["drawn"] = tuple(map(times, *sums))
        ratios["worst"] = tuple(max(column) for column in zip(*each[1:], strict=True))
    said = [f"{name} ops x{a:.2f} bytes x{b:.2f} memory x{c:.2f}" for name, (a, b, c) in ratios.items()]
    return each[0], ", ".join(said)


def meshes_of(entry: dict, which: str) -> list[dict[str, int]]:
    own = dict(map(tuple, entry["mesh"]))
    if which == "own" or "sdy.manual_computation" in entry.get("ops", {}):
        return [own]
    others = [{axis: 2 for axis in own}]
    if which == "all":
        others += [{axis: 1 for axis in own}, {axis: 4 if i == 0 else 1 for i, axis in enumerate(own)}]
    return [own, *(mesh for mesh in others if mesh != own)]


def axes_of(entry: dict) -> list[tuple[str, ...]]:
    """Each axis of its mesh alone, and the first two."""
    own = [axis for axis, _ in entry["mesh"]]
    return [(axis,) for axis in own] + ([tuple(own[:2])] if len(own) > 1 else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every program with stored data")
    parser.add_argument("--corpus", type=Path, default=HERE, help="a directory with a manifest.json")
    parser.add_argument("--families", action="store_true", help="the layers of test/Execution/families")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th program from the I-th on")
    parser.add_argument("--sizes", type=int, default=10, help="size vectors for each program and mesh")
    parser.add_argument("--meshes", choices=("all", "short", "own"), default="all")
    parser.add_argument("--symbolic-mesh", action="store_true", help="leave numbers of ranks open too")
    parser.add_argument("--ranks", default="1,2,3,4,5,7,8", help="sizes of an open axis")
    parser.add_argument("--estimate", type=int, default=2, help="ranks along an open axis for estimates")
    parser.add_argument("--costs", action="store_true", help="compare with the program compiled for each of the sizes")
    parser.add_argument("--most", type=float, help="of known sizes' costs, with balanced sizes, or the program fails")
    parser.add_argument(
        "--no-fallback", action="store_true", help="gathers for want of a rule only where known sizes do"
    )
    parser.add_argument("--device", help="what runs the programs: cuda or emulated-cuda (default: the host)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, help="keeps what ended, so that a second call goes on from there")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one process")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--shard-translate", default="shard-translate")
    options = parser.parse_args()
    written = tempfile.TemporaryDirectory()
    if options.families:
        options.corpus, options.meshes = Path(written.name), "own"
    entries = corpus_of(options.corpus) if options.families else read_manifest(options.corpus)
    entries = [entry for entry in entries if "data" in entry and entry["mesh"]]
    if unknown := set(options.names) - {entry["name"] for entry in entries}:
        parser.error(f"no program '{min(unknown)}' with data and a mesh in {options.corpus}/manifest.json")
    if not options.names and not options.all:
        parser.error("name programs, or give --all")
    part, parts = map(int, options.part.split("/"))
    entries = [entry for entry in entries if options.all or entry["name"] in options.names][part - 1 :: parts]
    begin = time.monotonic()
    counts = {"equal": 0, "refused": 0, "FAILED": 0}
    results = Results(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cases: list[tuple[dict, str, Callable[[], tuple[str, str]]]] = []
        for entry in entries:
            if options.symbolic_mesh:
                open_axes = axes_of(entry)
                cases += [
                    (entry, f"{','.join(axes)}=?", functools.partial(check_mesh, options, entry, axes))
                    for axes in open_axes
                ]
            else:
                meshes = meshes_of(entry, options.meshes)
                cases += [(entry, print_mesh(mesh), functools.partial(check, options, entry, mesh)) for mesh in meshes]
        runs = [(entry, mesh, pool.submit(results.of, entry["name"], mesh, case)) for entry, mesh, case in cases]
        for entry, mesh, run in runs:
            status, line = run.result()
            counts[status] += 1
            print(f"{entry['name']:29} {mesh:16} {status:8} {line}", flush=True)
    print(
        f"{counts['equal']} passed, {counts['FAILED']} failed, {counts['refused']} refused, {time.monotonic() - begin:.0f} s"
    )
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())

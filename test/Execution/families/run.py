"""Run the families of layers that others shard, cut in several ways, and compare with JAX on one device.

    run.py [FAMILY...] [--all] [--sample] [--table FILE] [--shard-run PATH] [--jobs N] [--part I/N]

Every case (generate.py) holds a layer and its gradients. It runs with arguments in uneven shards, one of them empty, on a
mesh of one axis and on one of two axes; with ``--all`` in even shards, too; with ``--sample`` on some of these meshes: each case on one,
and of each family some on each, without LLVM's optimisations. ``--part 2/4`` takes every fourth case from the second on. ``--table`` writes docs/Reference/families.md's table. Exits 1 if a run is not as expected.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Inputs"))
from fork_server import Limits, Tool
from samples import cover

INPUTS = Path(__file__).parent / "Inputs"
LIMITS = Limits(seconds=240, wait=120, memory=64 << 30)
MESHES = {"1": {"x": 4}, "2": {"x": 2, "y": 2}}
ARGUMENT = re.compile(r"%arg(\d+): tensor<((?:\d+x)*)\w+>")


def uneven(size: int, shards: int, salt: int) -> list[int]:
    """Sizes of ``shards`` shards that add up to ``size``: no two alike where that can be, one empty if there are three or more."""
    weights = [(3 * i + salt) % shards + 0.4 * i for i in range(shards)]
    if shards > 2:
        weights[(salt + 1) % shards] = 0
    total, sizes = sum(weights), []
    for i in range(shards):
        sizes.append(round(size * sum(weights[: i + 1]) / total) - sum(sizes))
    return sizes


def annotate(text: str, case: dict, mesh: dict[str, int], even: bool) -> str:
    """Put a mesh and shardings on the arguments of a program."""

    def sharding(match: re.Match) -> str:
        number, shape = match.group(1), [int(size) for size in match.group(2).split("x") if size]
        axes: dict[int, list[str]] = defaultdict(list)
        for axis in mesh:
            if number in case[axis]:
                axes[case[axis][number]].append(axis)
        if not axes:
            return match.group(0)
        dims = []
        for dim, size in enumerate(shape):
            shards = 1
            for axis in axes[dim]:
                shards *= mesh[axis]
            sizes = "" if even or shards == 1 else f" sizes {uneven(size, shards, int(number) + dim)}"
            dims.append("{" + ", ".join(f'"{axis}"' for axis in axes[dim]) + sizes + "}")
        return match.group(0) + " {spmd.sharding = #spmd.sharding<@mesh, [" + ", ".join(dims) + "]>}"

    head, main, rest = text.partition("@main(")
    arguments, arrow, results = rest.partition(") -> ")
    axes = ", ".join(f'"{axis}"={size}' for axis, size in mesh.items())
    head = re.sub(r"module @(\w+) attributes \{[^}]*\} \{", rf"module @\1 {{\n  spmd.mesh @mesh = <[{axes}]>", head)
    return head + main + ARGUMENT.sub(sharding, arguments) + arrow + results


def corpus_of(where: Path) -> list[dict]:
    """Write the cases into ``where`` as programs in even shards; return them as entries of a corpus' manifest, one for each mesh."""
    entries = []
    for case in json.loads((INPUTS / "manifest.json").read_text())["cases"]:
        text = (INPUTS / f"{case['name']}.mlir").read_text()
        arguments = text.partition("@main(")[2].partition(") -> ")[0]
        shapes = {number: [int(size) for size in shape.split("x") if size] for number, shape in ARGUMENT.findall(arguments)}
        for number, mesh in MESHES.items():
            name = f"{case['name']}-{number}"
            (where / f"{name}.mlir").write_text(annotate(text, case, mesh, even=True))
            cuts = {argument: [[axis for axis in mesh if case[axis].get(argument) == dim] for dim in range(len(shape))] for argument, shape in shapes.items()}
            entries.append(
                {
                    "name": name,
                    "family": case["family"],
                    "mesh": list(map(list, mesh.items())),
                    "file": f"{name}.mlir",
                    "data": str(INPUTS / f"{case['name']}.npz"),
                    "args": [{"shape": shapes[argument], "spec": cuts[argument]} for argument in sorted(shapes, key=int)],
                    "rtol": case["rtol"],
                    "atol": case["atol"],
                }
            )
    return entries


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--case")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="directory for the programs as they were run")
    options = parser.parse_args()
    cases = json.loads((INPUTS / "manifest.json").read_text())["cases"]
    part, parts = map(int, options.part.split("/"))
    cases = [c for c in cases if not options.families or c["family"] in options.families]
    points = {f"{c['name']}-{axes}": {c["name"], (c["family"], axes)} for c in cases for axes in MESHES}
    chosen = set(cover(points) if options.sample else points)
    cases = [c for c in cases[part - 1 :: parts] if options.case in (None, c["name"])]
    runs = [
        (c, axes, even)
        for c in cases
        for axes in MESHES
        if f"{c['name']}-{axes}" in chosen
        for even in ([True, False] if options.all or options.table else [False])
    ]
    directory = tempfile.TemporaryDirectory()
    where = options.keep or Path(directory.name)
    where.mkdir(parents=True, exist_ok=True)

    def run(job: tuple[dict, str, bool]) -> str:
        case, axes, even = job
        name = f"{case['name']}-{axes}-{'even' if even else 'uneven'}"
        program = where / f"{name}.mlir"
        program.write_text(annotate((INPUTS / f"{case['name']}.mlir").read_text(), case, MESHES[axes], even))
        data = INPUTS / f"{case['name']}.npz"
        quick = ["--quick"] if options.sample else []
        arguments = [str(program), *quick, f"--inputs=@{data}", f"--expect=@{data}", f"--rtol={case['rtol']}", f"--atol={case['atol']}"]
        done = shard_run.run(arguments, LIMITS)
        if done.by_clock:
            return f"{name}: no end within {LIMITS.wait} s"
        if done.code == 0:
            return ""
        said = [line for line in done.said.splitlines() if "error" in line]
        return f"{name}: exit code {done.code}: {' | '.join(said)[:400]}"

    scratch = tempfile.TemporaryDirectory()
    shard_run = Tool(options.shard_run, Path(scratch.name))
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(run, runs))
    shard_run.close()
    for outcome in filter(None, outcomes):
        print(outcome)
    failed = sum(map(bool, outcomes))
    if options.table:
        passes: dict[str, dict[tuple[str, bool], list[bool]]] = defaultdict(lambda: defaultdict(list))
        for (case, axes, even), outcome in zip(runs, outcomes, strict=True):
            passes[case["family"]][axes, even].append(not outcome)
        lines = ["| family | cases | with gradients | 1 axis, even | 1 axis, uneven | 2 axes, even | 2 axes, uneven |", "|---|---|---|---|---|---|---|"]
        for family, found in passes.items():
            count = len(found["1", False])
            gradients = sum(c["backward"] for c in cases if c["family"] == family)
            cells = []
            for key in [("1", True), ("1", False), ("2", True), ("2", False)]:
                cells.append("pass" if all(found[key]) else f"{sum(found[key])} of {count}")
            lines.append(f"| {family} | {count} | {gradients} | {' | '.join(cells)} |")
        options.table.write_text("\n".join(lines) + "\n")
    print(f"{len(runs) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

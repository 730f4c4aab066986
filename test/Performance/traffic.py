"""Bytes that operators move, and bytes that they hold, beside JAX, cut along each dim in turn.

    traffic.py [--shard-run PATH] [--json FILE] [--markdown FILE] [--all] [--strict] [--no-gradients] [NAME...]

Each operator runs forwards and, where it has one, backwards. Its largest argument, and those of the same shape, are cut in four along each
dim, and in two by two along each pair of dims. Bytes moved are counted as scripts/compare_communication.py counts them, for shardc and for XLA's
partitioner. Bytes held are the largest rank's arguments, results and temporaries, on four ranks and on one: shardc's `peak_bytes` beside the sum
that XLA's memory analysis says.

A line is printed where more is moved than XLA's, or more than 1.3 times as much is held; `--all` prints every line. `--strict` exits with 1 where
there is a line of the first kind. `NAME...` takes the operators that hold one of the words.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import compare_communication as communication
import jax
import numpy as np
import traffic_cases
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MORE_HELD = 1.3
# What is held for a call whatever its size: exchanges of single elements, alignment.
FEW_BYTES = 4096


def backwards(function):
    """The gradients by all arguments of floats, of a result that pulls with itself."""
    def pulled(*arguments):
        floats = [i for i, a in enumerate(arguments) if np.issubdtype(a.dtype, np.inexact)]

        def of_floats(*values):
            whole = list(arguments)
            for i, value in zip(floats, values, strict=True):
                whole[i] = value
            results = jax.tree.leaves(function(*whole))
            return [r for r in results if np.issubdtype(r.dtype, np.inexact)]

        results, pull = jax.vjp(of_floats, *(arguments[i] for i in floats))
        return pull(results)
    return pulled


def cuts(arguments):
    """(mesh, one spec an argument) for every way to cut the largest argument."""
    largest = max(range(len(arguments)), key=lambda i: arguments[i].size)
    shape = arguments[largest].shape
    dims = [d for d, size in enumerate(shape) if size >= 4]

    def specs(places):
        spec = PartitionSpec(*(places.get(d) for d in range(len(shape))))
        return [spec if a.shape == shape else PartitionSpec() for a in arguments]

    yield "", None
    for dim in dims:
        yield f"{dim}", (("x",), (4,), specs({dim: "x"}))
    for one, two in itertools.combinations(dims, 2):
        yield f"{one},{two}", (("x", "y"), (2, 2), specs({one: "x", two: "y"}))


def lowered(function, arguments, cut):
    if cut is None:
        return jax.jit(function).lower(*arguments)
    names, sizes, specs = cut
    mesh = Mesh(np.array(jax.devices()).reshape(sizes), names)
    return jax.jit(function, in_shardings=[NamedSharding(mesh, spec) for spec in specs]).lower(*arguments)


def measure(shard_run, function, arguments, cut, folder):
    """What is moved and held: {"moved": [shardc, XLA], "held": [shardc, XLA], "sites": [...]}, or {"error": ...}."""
    try:
        program = lowered(function, arguments, cut)
        text = program.as_text()
        compiled = program.compile()
    except Exception as error:
        return {"jax_error": str(error).splitlines()[0][:200]}
    path, data = Path(folder, "program.mlir"), Path(folder, "inputs.npz")
    path.write_text(text)
    kept = sorted(program._lowering.compile_args["kept_var_idx"])
    np.savez(data, **{f"in{i}": traffic_cases.on_host(arguments[k]) for i, k in enumerate(kept)})
    command = [shard_run, str(path), "--report=json", f"--inputs=@{data}", "--no-cache"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode:
        errors = [line for line in run.stderr.splitlines() if "error" in line]
        return {"error": f"exit code {run.returncode}: " + (errors[0].split("error: ")[-1][:300] if errors else "")}
    report = json.loads(run.stdout)
    counts, unknown = communication.count_xla(compiled.as_text(), 1 if cut is None else 4)
    memory = compiled.memory_analysis()
    sites = [{key: site[key] for key in ("kind", "bytes", "count", "name")} for site in report["communication"]]
    ours = sum(site["bytes"] / (site["count"] if unknown and site["count"] else 1) for site in sites)
    return {"moved": [round(ours), sum(size for _, size in counts.values())],
            "xla": {kind: size for kind, (_, size) in counts.items()},
            "held": [max(report["peak_bytes"]), memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes],
            "arguments": memory.argument_size_in_bytes, "sites": sites, "results": report["results"]}


def rows(args):
    for name, (function, arguments) in traffic_cases.CASES.items():
        if args.names and not any(word in name for word in args.names):
            continue
        arguments = traffic_cases.arrays(arguments)
        for direction, what in (("", function), (" vjp", None if name in traffic_cases.FORWARD_ONLY else backwards(function))):
            if what is None or (direction and args.no_gradients) or (direction and not any(np.issubdtype(a.dtype, np.inexact) for a in arguments)):
                continue
            for label, cut in cuts(arguments):
                with tempfile.TemporaryDirectory() as folder:
                    yield f"{name}{direction}", label, measure(args.shard_run, what, arguments, cut, folder)


PAGE = """# What operators move and hold, beside JAX

Made by: `test/Performance/traffic.py --markdown docs/Results/traffic.md`

{count} programs: operators of JAX and their gradients, small ones, unsharded, with the largest argument cut in four along each dim, and in two by two
along each pair of dims. Moved: bytes that leave a rank in a step, over all ranks, shardc's and those of XLA's partitioner, counted as in [communication](communication.md).
Held: the most bytes of arguments, results and temporaries on a rank.

{more} move more than XLA's, {equal} as much, {fewer} less; {held} hold more than {limit} times as much.

| program | cut along | moved, shardc | XLA | held, shardc | XLA |
|---|---|---|---|---|---|
{moved_lines}

The twenty that hold most by that ratio:

| program | cut along | held, shardc | XLA | ratio |
|---|---|---|---|---|
{held_lines}
"""


def write_page(path, table):
    rows = [row for row in table if "moved" in row]

    def name(row):
        return f"| {row['name']} | {row['cut'] or 'nothing'} |"

    def ratio(row):
        return row["held"][0] / row["held"][1]

    more = sorted((row for row in rows if "moved" in row["faults"]), key=lambda row: row["moved"][1] / row["moved"][0])
    held = sorted((row for row in rows if "held" in row["faults"]), key=ratio, reverse=True)
    Path(path).write_text(PAGE.format(
        count=len(rows), more=len(more), equal=sum(row["moved"][0] == row["moved"][1] for row in rows),
        fewer=sum(row["moved"][0] < row["moved"][1] for row in rows), held=len(held), limit=MORE_HELD,
        moved_lines="\n".join(f"{name(row)} {row['moved'][0]} | {row['moved'][1]} | {row['held'][0]} | {row['held'][1]} |" for row in more),
        held_lines="\n".join(f"{name(row)} {row['held'][0]} | {row['held'][1]} | {ratio(row):.2f} |" for row in held[:20])))


def faults(row):
    if "jax_error" in row:
        return []
    if "error" in row:
        return ["error"]
    found = []
    if row["moved"][0] > row["moved"][1]:
        found.append("moved")
    if row["held"][0] > MORE_HELD * row["held"][1] + FEW_BYTES:
        found.append("held")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shard-run", default="build/bin/shard-run")
    parser.add_argument("--json", help="write all lines to this file")
    parser.add_argument("--markdown", help="write a page of the lines to this file")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--no-gradients", action="store_true")
    args = parser.parse_args()
    table = []
    for name, label, row in rows(args):
        row["faults"] = faults(row)
        table.append({"name": name, "cut": label, **row})
        if row["faults"] or args.all:
            print(f"{name:34} {label:4}", row.get("error") or row.get("jax_error") or
                  f"moved {row['moved'][0]:>10} {row['moved'][1]:>10}  held {row['held'][0]:>10} {row['held'][1]:>10}  {' '.join(row['faults'])}",
                  flush=True)
        if args.json:
            Path(args.json).write_text(json.dumps(table, indent=1) + "\n")
    if args.markdown:
        write_page(args.markdown, table)
    more = sum("moved" in row["faults"] for row in table)
    held = sum("held" in row["faults"] for row in table)
    print(f"{len(table)} programs: {more} move more than XLA's, {held} hold more than {MORE_HELD} times as much")
    return 1 if args.strict and more else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares what shardc communicates with what XLA's partitioner does for the same program.

    compare_communication.py --corpus DIR --shard-run PATH [--only a,b] [--json FILE] [--markdown FILE]

Needs jax (whose compiler gives XLA's numbers: its compiled text is parsed) unless --xla=FILE names an earlier --json file.
Both are counted per step, over all ranks, as bytes that leave a rank:

    all-reduce of n bytes in a group of k    2 (k - 1) n
    all-gather with a result of n bytes        (k - 1) n
    reduce-scatter of n bytes                  (k - 1) n
    all-to-all of n bytes on each rank         (k - 1) n
    collective-permute of n bytes              n for each pair of two different ranks

An op in a loop counts once an iteration (XLA: known_trip_count; loops without one are counted once, and marked), the branches
of a conditional as the most expensive of them. shardc's are what --report=json says.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import corpus

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
ELEMENT_BYTES = {"pred": 1, "s4": 1, "u4": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2, "s32": 4, "u32": 4,
                 "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}


# ---------------------------------------------------------------------------------------------
# XLA
# ---------------------------------------------------------------------------------------------
def compiled_text(path, ranks):
    """XLA's text of the program in file `path`, compiled for `ranks` CPU devices as jax.jit would."""
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import numpy as np
    jax.config.update("jax_enable_x64", True)
    from jax._src import compiler, xla_bridge
    from jaxlib import xla_client
    with corpus.parsed(path) as module:
        main = next(op for op in module.body.operations if getattr(op, "name", None) is not None and str(op.name) == '"main"')
        open_arguments = ["sdy.sharding" not in attrs for attrs in main.arg_attrs] if main.arguments else []
        attributes = main.attributes
        results = attributes.get("res_attrs", [])
        open_results = ["sdy.sharding" not in attrs for attrs in results] or [True] * len(main.type.results)
        devices = np.array(jax.devices()[:ranks])
        options = compiler.get_compile_options(1, ranks, devices.reshape(1, ranks))
        build = options.executable_build_options
        build.allow_spmd_sharding_propagation_to_parameters = open_arguments
        build.allow_spmd_sharding_propagation_to_output = open_results
        program = compiler.backend_compile_and_load(xla_bridge.get_backend(), module, xla_client.DeviceList(tuple(devices)), options, [])
        return program.hlo_modules()[0].to_string()


def shape_bytes(text):
    """Bytes of each array in a shape such as `(f32[2,3]{1,0}, s32[])`."""
    sizes = []
    for element, dims in re.findall(r"\b([a-z]+\d*)\[([\d,]*)\]", text):
        if element not in ELEMENT_BYTES:
            continue
        size = ELEMENT_BYTES[element]
        for dim in filter(None, dims.split(",")):
            size *= int(dim)
        sizes.append(size)
    return sizes


def group_size(line, ranks):
    """Ranks in one group of a collective."""
    groups = re.search(r"replica_groups=(\{\{.*?\}\}|\{\}|\[[\d,]+\]<=|mesh\[(.*?)\][^{]*\{(.*?)\})", line)
    if not groups or groups.group(1) == "{}":
        return ranks
    text = groups.group(1)
    if text.startswith("{{"):
        return text[2:].split("}")[0].count(",") + 1
    if text.startswith("["):
        return int(text[1:text.index("]")].split(",")[-1])
    sizes = {name: int(size) for name, size in re.findall(r"'([^']+)'=(\d+)", groups.group(2))}
    size = 1
    for name, part in re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", groups.group(3)):
        size *= int(part) if part else sizes[name]
    return size


def bytes_of_collective(kind, line, result, ranks):
    """Bytes that one execution of a collective moves between ranks, over all ranks."""
    size = sum(shape_bytes(result))
    if kind == "collective-permute":
        pairs = re.findall(r"\{(\d+),(\d+)\}", re.search(r"source_target_pairs=\{(.*?)\}\}", line).group(0))
        return size * sum(source != target for source, target in pairs)
    k = group_size(line, ranks)
    groups = ranks // k
    if kind == "all-reduce":
        return 2 * (k - 1) * size * groups
    if kind == "reduce-scatter":
        return (k - 1) * size * k * groups
    return (k - 1) * size * groups


def count_xla(text, ranks):
    """{kind: [executions, bytes]} a step, and whether a loop had no known trip count."""
    computations, entry, current = {}, None, None
    for line in text.splitlines():
        head = re.match(r"(ENTRY )?%?([\w.\-]+) (?:\(.*\) -> .*)?\{$", line)
        if head and not line.startswith(" "):
            current = computations.setdefault(head.group(2), [])
            if head.group(1):
                entry = head.group(2)
        elif line.startswith("  ") and current is not None:
            current.append(line)
    unknown = False
    memo = {}

    def visit(name):
        nonlocal unknown
        if name in memo:
            return memo[name]
        total = {}

        def add(counts, times=1):
            for kind, (count, size) in counts.items():
                have = total.setdefault(kind, [0, 0])
                have[0] += count * times
                have[1] += size * times

        for line in computations.get(name, []):
            parts = re.match(r"\s+(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([\w\-]+)\(", line)
            if not parts:
                continue
            result, op = parts.groups()
            kind = op[:-6] if op.endswith("-start") else op
            if kind in KINDS:
                if op.endswith("-start") and kind in ("all-gather", "collective-permute"):
                    # Operand and result are side by side.
                    result = result[result.index(",") + 1:]
                add({kind: [1, bytes_of_collective(kind, line, result, ranks)]})
            elif op == "while":
                trips = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
                unknown |= not trips
                for callee in re.findall(r"(?:body|condition)=%?([\w.\-]+)", line):
                    add(visit(callee), int(trips.group(1)) if trips else 1)
            elif op == "conditional":
                callees = re.findall(r"(?:true_computation|false_computation)=%?([\w.\-]+)", line)
                branches = re.search(r"branch_computations=\{(.*?)\}", line)
                if branches:
                    callees += re.findall(r"%?([\w.\-]+)", branches.group(1))
                add(max((visit(callee) for callee in callees), key=lambda counts: sum(b for _, b in counts.values()), default={}))
            elif op == "call":
                for callee in re.findall(r"to_apply=%?([\w.\-]+)", line):
                    add(visit(callee))
        memo[name] = total
        return total

    return visit(entry), unknown


# ---------------------------------------------------------------------------------------------
# shardc
# ---------------------------------------------------------------------------------------------
def run_shardc(shard_run, path, data):
    """The list of communication ops of --report=json, or a line that says why there is none."""
    command = [shard_run, path, "--report=json"] + ([f"--inputs=@{data}"] if data else ["--seed=1"])
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode:
        errors = [line for line in run.stderr.splitlines() if "error" in line]
        return f"exit code {run.returncode}: " + (errors[0].split("error: ")[-1] if errors else "")
    return json.loads(run.stdout)["communication"]


def count_shardc(sites):
    total = {}
    for site in sites:
        have = total.setdefault(site["kind"], [0, 0])
        have[0] += site["count"]
        have[1] += site["bytes"]
    return total


# ---------------------------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------------------------
PAGE = """# What is communicated, beside XLA

Made by: `scripts/compare_communication.py --markdown docs/Results/communication.md`

For each program of the corpus on its mesh: what shardc moves in a step, and what XLA's partitioner (jaxlib {jaxlib}, CPU, Shardy's propagation)
moves for the same text. Counts are executions in a step, bytes are those that leave a rank, over all ranks, both counted alike:

| | bytes |
|---|---|
| all-reduce of n bytes in groups of k | 2 (k − 1) n for each group |
| all-gather with a result of n bytes, reduce-scatter or all-to-all of n bytes on each rank | (k − 1) n for each group; a reduce-scatter's n is its result, k times |
| collective-permute of n bytes | n for each pair of different ranks |
| shardc's exchanges | the elements that a rank needs and has not |

An op in a loop counts once an iteration. Where XLA does not know a loop's trip count, both are counted for one iteration (*). Of branches the most
expensive one counts for XLA, the one that ran for shardc. XLA's are read from its compiled text, which combines what can be combined.

{table}

{summary}

Operators one by one, with their gradients, and what they hold: `test/Performance/traffic.py`.

## All-gathers that are left

A gather is no exchange of neighbours: every rank gets all. Each that is left, with what asked for it:

{gathers}
"""


def once(row):
    """shardc's counts with each op executed once, as XLA's loops of unknown length are counted."""
    return count_shardc([dict(site, count=1, bytes=site["bytes"] / site["count"]) for site in row["sites"] if site["count"] > 0])


def number(counts, kinds):
    return sum(count for kind, (count, _) in counts.items() if kind in kinds)


def write_page(path, rows, jaxlib):
    lines = ["| program | mesh | all-gathers | | all-reduces, reduce-scatters | | exchanges, permutes, all-to-alls | | bytes | |",
             "|---|---|---|---|---|---|---|---|---|---|", "| | | shardc | XLA | shardc | XLA | shardc | XLA | shardc | XLA |"]
    gathers = ["| program | where | needed | bytes |", "|---|---|---|---|"]
    more, equal, fewer = [], 0, 0
    for name, row in sorted(rows.items()):
        if "shardc" not in row or "xla" not in row:
            continue
        ours = once(row) if row["xla_unknown"] else row["shardc"]
        theirs = row["xla"]
        bytes_ours, bytes_theirs = (round(sum(size for _, size in counts.values())) for counts in (ours, theirs))
        mesh = " ".join(f"{axis}={size}" for axis, size in row["mesh"])
        groups = (("all_gather", "all-gather"), ("all_reduce", "reduce_scatter", "all-reduce", "reduce-scatter"),
                  ("halo_exchange", "rebalance", "all_to_all", "shift", "ring", "ask", "collective-permute", "all-to-all"))
        cells = [f"{number(counts, kinds):g}" for kinds in groups for counts in (ours, theirs)]
        lines.append(f"| {name}{'*' if row['xla_unknown'] else ''} | {mesh} | {' | '.join(cells)} | {bytes_ours} | {bytes_theirs} |")
        if bytes_ours > bytes_theirs:
            more.append(name)
        equal += bytes_ours == bytes_theirs
        fewer += bytes_ours < bytes_theirs
        for site in row["sites"]:
            if site["kind"] != "all_gather":
                continue
            # Without their places: the one of the op stands beside.
            reasons = (re.sub(r" at \S*$", "", reason["needed"]) for reason in site.get("reasons", []))
            needed = ("; ".join(dict.fromkeys(reasons)) or site["name"]).replace("|", "\\|")
            line = site["location"].rsplit("/", 1)[-1]
            gathers.append(f"| {name} | {line} | {needed} | {site['bytes']:g} |")
    summary = (f"{fewer} programs move fewer bytes than XLA's, {equal} as many, {len(more)} more"
               f"{': ' + ', '.join(more) if more else ''}.")
    Path(path).write_text(PAGE.format(jaxlib=jaxlib, table="\n".join(lines), summary=summary, gathers="\n".join(gathers)))
    print(summary, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpus.add_arguments(parser)
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--xla", help="take XLA's numbers from this file")
    parser.add_argument("--json", help="write everything to this file")
    parser.add_argument("--text", help="a folder for XLA's compiled text")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a program moves more bytes than XLA's")
    parser.add_argument("--save-xla", help="write XLA's numbers alone to this file, for --xla")
    parser.add_argument("--jaxlib", default="0.10.2", help="its version, for the page")
    parser.add_argument("--markdown", help="write the tables of the docs to this file")
    args = parser.parse_args()
    known = json.loads(Path(args.xla).read_text()) if args.xla else {}
    rows, more, failed = {}, 0, 0
    for entry, path, ranks in corpus.programs(args):
        name = entry["name"]
        row = rows[name] = {"mesh": entry["mesh"], "kind": entry["kind"]}
        if name in known and "xla" in known[name]:
            row["xla"], row["xla_unknown"] = known[name]["xla"], known[name]["xla_unknown"]
        elif not args.xla:
            try:
                text = compiled_text(path, ranks)
                if args.text:
                    Path(args.text, name + ".hlo").write_text(text)
                row["xla"], row["xla_unknown"] = count_xla(text, ranks)
            except Exception as error:  # XLA refuses it
                row["xla_error"] = str(error).splitlines()[0][:200]
        sites = run_shardc(args.shard_run, path, Path(args.corpus, entry["data"]) if entry.get("data") else None)
        if isinstance(sites, str):
            row["shardc_error"] = sites
        else:
            row["shardc"] = count_shardc(sites)
            row["sites"] = sites
        counts = row.get("shardc", {})
        if row.get("xla_unknown") and "sites" in row:
            counts = once(row)
        ours = round(sum(b for _, b in counts.values()))
        theirs = sum(b for _, b in row.get("xla", {}).values())
        more += ours > theirs and "xla" in row
        failed += "shardc_error" in row
        print(f"{name:32} shardc {ours:>10} xla {theirs:>10} {'MORE' if ours > theirs and 'xla' in row else ''}"
              f" {row.get('shardc_error', '')}{row.get('xla_error', '')}{' (unknown loop)' if row.get('xla_unknown') else ''}",
              file=sys.stderr, flush=True)
    if args.markdown:
        write_page(args.markdown, rows, args.jaxlib)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    if args.save_xla:
        numbers = {name: {key: row[key] for key in ("xla", "xla_unknown")} for name, row in rows.items() if "xla" in row}
        Path(args.save_xla).write_text("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in numbers.items()) + "\n}\n")
    return 1 if args.strict and (more or failed) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the shardings that shardc's propagation gives arguments and results with those of Shardy's.

    compare_shardings.py --corpus DIR --shard-opt PATH [--only a,b] [--markdown FILE]

Needs jax, whose jaxlib carries Shardy's passes. Both read the same program; arguments and results that the program
leaves open are compared, dim by dim.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import corpus


def shardy(path):
    """The text of the program after Shardy's propagation."""
    import jaxlib.mlir._mlir_libs._stablehlo as stablehlo
    from jaxlib.mlir.passmanager import PassManager
    stablehlo.register_stablehlo_passes()
    with corpus.parsed(path) as module:
        PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
        return str(module)


def split_top(text):
    """Splits at commas outside brackets and strings."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        if quoted:
            continue
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[i - 1] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def matching(text, start):
    """The place of the parenthesis that closes the one at `start`."""
    depth, quoted = 0, False
    for i in range(start, len(text)):
        if text[i] == '"':
            quoted = not quoted
        if quoted:
            continue
        depth += text[i] in "("
        depth -= text[i] in ")"
        if depth == 0:
            return i
    raise ValueError("no end")


def signature(text, attribute):
    """For each argument and each result of @main its shape, and the axes of each dim or None."""
    start = text.index("(", re.search(r"func\.func (?:public )?@main", text).end())
    end = matching(text, start)
    arguments = text[start + 1:end]
    rest = text[end + 1:]
    results = ""
    if rest.lstrip().startswith("->"):
        rest = rest[rest.index("->") + 2:].lstrip()
        results = rest[1:matching(rest, 0)] if rest.startswith("(") else rest.split("{\n")[0]
    values = []
    for kind, list_text in (("argument", arguments), ("result", results)):
        for number, part in enumerate(split_top(list_text)):
            tensor = re.search(r"tensor<([^>]*)>", part)
            if not tensor:
                continue
            rank = len(re.findall(r"(\d+)x", tensor.group(1)))
            found = re.search(attribute + r" = #[\w.]+<@[\w.]+, \[(.*?)\](?:, \w+ = [^>]*)?>", part)
            dims = None
            if found:
                dims = [re.findall(r'"([^"]+)"', dim.split(" sizes")[0]) for dim in re.findall(r"\{([^}]*)\}", found.group(1))]
            values.append((f"{kind} {number}", dims if dims is not None else [[]] * rank))
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpus.add_arguments(parser)
    parser.add_argument("--shard-opt", default="shard-opt")
    parser.add_argument("--markdown", help="write the table of the docs to this file")
    args = parser.parse_args()
    lines, same, different, programs = [], 0, 0, 0
    for entry, path, _ in corpus.programs(args):
        name = entry["name"]
        run = subprocess.run([args.shard_opt, str(path), "--spmd-import", "--spmd-propagate"], capture_output=True, text=True, timeout=120)
        if run.returncode:
            print(f"{name}: shardc refuses it", file=sys.stderr)
            continue
        try:
            theirs = signature(shardy(path), "sdy.sharding")
        except Exception as error:
            print(f"{name}: Shardy refuses it: {str(error).splitlines()[0][:100]}", file=sys.stderr)
            continue
        ours = signature(run.stdout, "spmd.sharding")
        programs += 1
        if len(ours) != len(theirs):
            print(f"{name}: {len(ours)} and {len(theirs)} values", file=sys.stderr)
            continue
        for (what, mine), (_, other) in zip(ours, theirs):
            if mine == other:
                same += 1
                continue
            different += 1
            show = lambda dims: "[" + ", ".join("{" + ", ".join(dim) + "}" for dim in dims) + "]"
            lines.append(f"| {name} | {what} | `{show(mine)}` | `{show(other)}` |")
            print(f"{name}: {what}: shardc {show(mine)}, Shardy {show(other)}", file=sys.stderr)
    summary = f"{programs} programs, {same} arguments and results alike, {different} different"
    print(summary)
    if args.markdown:
        Path(args.markdown).write_text("| program | value | shardc | Shardy |\n|---|---|---|---|\n" + "\n".join(lines) + f"\n\n{summary}.\n")


if __name__ == "__main__":
    main()

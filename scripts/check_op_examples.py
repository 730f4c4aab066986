#!/usr/bin/env python3
"""Run the example of each op's description, and compare.

usage: check_op_examples.py SHARD_OPT [NAME...] [--print]

An example is a code block of the op's description, one or more ops as they are in a
function:

    ```mlir
    %1 = local.all_reduce sum %0 along ["x"] on @mesh : tensor<8xf32>
    ```

It is put into a function, whose arguments are the values that it does not define, on a
mesh of two ranks along "x" and two along "y" unless it has one of its own. shard-opt has
to verify it, and to print it back as it stands, whatever names and line breaks are. Each op
of the project's own dialects must have one. Ops of other projects may leave out what their
printers write: what is printed has to be read and printed alike. --print prints what comes
out instead of comparing.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import textwrap
from dataclasses import dataclass

from pass_docs import ROOT, dump_tablegen

sys.path.insert(0, str(ROOT / "test" / "Inputs"))
from shard_opt import ShardOpt

# The project's own dialects: each op has an example.
OWN = ("spmd", "local", "pairs", "kernel", "solver")
FILES = {
    "spmd": "Spmd/IR/Spmd.td",
    "local": "Local/IR/Local.td",
    "pairs": "Pairs/IR/Pairs.td",
    "kernel": "Kernel/IR/Kernel.td",
    "solver": "Solver/IR/SolverOps.td",
    "stablehlo": "StableHLO/IR/StableHLOOps.td",
    "chlo": "Chlo/IR/ChloOps.td",
    "sdy": "Sdy/IR/SdyOps.td",
    "check": "Check/IR/CheckOps.td",
    "interpreter": "Interpreter/IR/InterpreterOps.td",
}
MESH = '{dialect}.mesh @mesh = <["x"=2, "y"=2]>\n'
BLOCK = re.compile(r"^```mlir\n(.*?)^```", re.MULTILINE | re.DOTALL)
VALUE = re.compile(r"%[\w$.-]+")


@dataclass
class Op:
    """An op of a dialect; it is called by ``name``."""

    name: str
    file: str
    examples: list[str]


def read_ops() -> list[Op]:
    """All ops of the dialects, in the order of files and of their definitions."""
    ops = []
    for dialect, file in FILES.items():
        records = dump_tablegen(ROOT / "include" / "shardc" / "Dialect" / file)
        found = []
        for record in map(records.get, records["!instanceof"]["Op"]):
            if records[record["opDialect"]["def"]]["name"] != dialect:
                continue
            path, _, line = record["!locs"][0].rpartition(":")
            text = textwrap.dedent(record["description"]).strip("\n") + "\n"
            name = f"{dialect}.{record['opName']}"
            found.append(((path, int(line)), Op(name, path, BLOCK.findall(text))))
        ops += [op for _, op in sorted(found, key=lambda pair: pair[0])]
    return ops


UNKNOWN = re.compile(r":(\d+):(\d+): error: use of undeclared SSA value name")
USED = re.compile(r"definition of SSA value [^\n]*\n(?:.*\n)*?.*previously used here with type '(.*)'")


def program_of(tool: ShardOpt, example: str, dialect: str) -> str:
    """A program around ``example``. What it does not define has the type with which the parser sees it used."""
    if re.match(rf"{dialect}\.mesh @|module|func\.func", example):
        return example
    before = MESH.format(dialect="sdy" if dialect == "sdy" else "spmd") if "@mesh" in example else ""
    for name, kind in re.findall(r"decomposition = (@[\w.]+).*?: (\(.*)", example, re.DOTALL):
        before += f"func.func private {name}{kind}"
    arguments: dict[str, str] = {}
    while True:
        header = ", ".join(f"{name}: {kind}" for name, kind in arguments.items())
        text = f"{before}func.func @example({header}) {{\n{example}\nfunc.return\n}}\n"
        _, _, errors = tool.run(text)
        unknown = UNKNOWN.search(errors)
        value = VALUE.match(text.splitlines()[int(unknown[1]) - 1], int(unknown[2]) - 1) if unknown else None
        if not value:
            return text
        # A definition behind the use, of a type that it surely has not: the error names the type.
        defined = f'\n{value[0]} = "example.value"() : () -> !llvm.token\nfunc.return\n'
        _, _, errors = tool.run(text.replace("\nfunc.return\n", defined), "--allow-unregistered-dialect")
        used = USED.search(errors)
        if not used:
            return text
        arguments[value[0]] = used[1]


def numbered(found: re.Match[str]) -> str:
    """An affine map whose dims have the names that are printed."""
    names = {name: f"d{number}" for number, name in enumerate(re.findall(r"\w+", found[1]))}
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), found[0])


def plain(text: str) -> list[str]:
    """The tokens of ``text``: no comments, no spaces, values numbered as they come, results of one op apart."""
    text = re.sub(r"//[^\n]*", "", text).replace("} ]", "}]")
    text = re.sub(r"affine_map<\(([^)]*)\) -> [^>]*>", numbered, text)
    # %0:2 = … %0#1 becomes %0_0, %0_1 = … %0_1.
    for name, count in re.findall(r"(%[\w]+):(\d+)(?= =)", text):
        text = text.replace(f"{name}:{count} =", ", ".join(f"{name}_{i}" for i in range(int(count))) + " =")
        text = re.sub(rf"{name}#(\d+)", rf"{name}_\1", text)
    # Arguments of a block may have names that another's had.
    names: dict[str, str] = {}
    count = 0

    def rename(found: re.Match[str]) -> str:
        nonlocal count
        is_defined = text[found.end():found.end() + 1] == ":"
        if is_defined or found[0] not in names:
            names[found[0]] = f"%{count}"
            count += 1
        return names[found[0]]

    text = VALUE.sub(rename, text)
    tokens = re.findall(r"%\d+|-?\d+\.\d*(?:[eE][+-]?\d+)?|[\w.@#^$]+|\S", text)
    return [repr(float(token)) if re.fullmatch(r"-?\d+\.\d*(?:[eE][+-]?\d+)?", token) else token for token in tokens]


def body_of(printed: str) -> str:
    """The body of the function that shard-opt prints, without aliases of attributes."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", printed, re.MULTILINE))
    text = re.sub(r"^#\w+ = .*\n", "", printed, flags=re.MULTILINE)
    text = re.sub(r"#\w+\b(?!\.)", lambda name: aliases.get(name[0], name[0]), text)
    inside = re.search(r"func\.func @example\([^\n]*\{\n(.*)^    return\n  \}\n\}", text, re.MULTILINE | re.DOTALL)
    whole = re.search(r"^module[^\n]*\{\n(.*)\}", text, re.MULTILINE | re.DOTALL)
    return inside[1] if inside else whole[1] if whole else text


def check(tool: ShardOpt, op: Op, example: str, only_print: bool) -> bool:
    """Whether the example holds."""
    code, printed, errors = tool.run(program_of(tool, example, op.name.partition(".")[0]))
    if only_print:
        print(f"// {op.name}\n{printed}{errors}")
        return True
    if code != 0:
        print(f"{op.file}: the example of {op.name} is not verified:\n{errors}")
        return False
    if op.name not in example:
        print(f"{op.file}: the example of {op.name} has no such op")
        return False
    expected, found = plain(example), plain(body_of(printed))
    if op.name.partition(".")[0] not in OWN:
        expected, found = printed.splitlines(), tool.run(printed)[1].splitlines()
    if expected == found:
        return True
    print(f"{op.file}: the example of {op.name} does not hold:")
    print(" ".join(difflib.unified_diff(expected, found, "described:", "found:", lineterm="", n=4)))
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tool", metavar="SHARD_OPT")
    parser.add_argument("names", nargs="*", metavar="NAME", help="ops (default: all)")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print what comes out")
    options = parser.parse_args()

    good, count, tool = True, 0, ShardOpt(options.tool)
    ops = [op for op in read_ops() if not options.names or op.name in options.names]
    for op in ops:
        if not op.examples and op.name.partition(".")[0] in OWN:
            print(f"{op.file}: {op.name} has no example")
            good = False
        for example in op.examples:
            good = check(tool, op, example, options.only_print) and good
            count += 1
    tool.close()
    print(f"{count} examples of {len(ops)} ops")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

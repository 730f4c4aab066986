#!/usr/bin/env python3
"""Run the example of each pass's description, and compare.

usage: check_pass_examples.py SHARD_OPT [NAME...] [--print]

An example is a code block of two programs, whole or without their module:

    ```mlir
    // before
    func.func @main(...)
    // after
    func.func @main(...)
    ```

The first is run through the pass (``// before: --spmd-pass=option`` says another
command line); the result and the second must be printed alike. After
``// after, among others`` stand only the lines that the pass is about: each must be a
line of the result, in this order. ``...`` marks what is left out. Each pass must have
one, and a file of test has to name it on a command line: an example alone is one case.
--print prints what comes out instead of comparing.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import sys

from pass_docs import ROOT, Pass, read_passes

sys.path.insert(0, str(ROOT / "test" / "Inputs"))
from shard_opt import ShardOpt

EXAMPLE = re.compile(
    r"^```mlir\n// before(?:: (?P<flags>[^\n]*))?\n(?P<before>.*?)"
    r"^// after(?P<part>, among others)?\n(?P<after>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


def run(tool: ShardOpt, text: str, flags: list[str]) -> str:
    """What ``tool`` prints for ``text``; its diagnostics where it fails."""
    code, printed, errors = tool.run(text, *flags)
    return printed if code == 0 else f"code {code}\n{errors}"


def plain(text: str) -> list[str]:
    """The lines of ``text`` without what descriptions in .td files have to write otherwise."""
    return [line.strip().replace("} ]", "}]") for line in text.splitlines()]


def missing_line(expected: str, found: str) -> str | None:
    """The first line of ``expected`` that is not in ``found`` behind those before it."""
    lines = iter(plain(found))
    for line in plain(expected):
        if line not in ("", "...") and line not in lines:
            return line
    return None


def check(tool: ShardOpt, entry: Pass, example: re.Match[str], only_print: bool) -> bool:
    """Whether the pass makes of the example's first program the second."""
    flags = shlex.split(example["flags"] or f"--{entry.name}")
    found = run(tool, example["before"], flags)
    if only_print:
        print(f"// {entry.name}: {shlex.join(flags)}\n{found}")
        return True
    if example["part"]:
        line = missing_line(example["after"], found)
        if line is None:
            return True
        print(f"{entry.file}: the example of {entry.name} does not hold: no line '{line}' in\n{found}")
        return False
    expected = run(tool, example["after"], [])
    if found == expected:
        return True
    print(f"{entry.file}: the example of {entry.name} does not hold:")
    print("\n".join(difflib.unified_diff(expected.splitlines(), found.splitlines(), "described", "found", lineterm="")))
    return False


def named_by_tests() -> set[str]:
    """The passes that command lines of tests name, alone (``--spmd-pass``) or in a pipeline (``(spmd-pass)``)."""
    found: set[str] = set()
    for path in (ROOT / "test").rglob("*"):
        if path.suffix in (".mlir", ".test", ".py", ".cpp") and path.is_file():
            found.update(re.findall(r"(?:--|=|[(,\"])(spmd-[a-z0-9-]+)", path.read_text(errors="replace")))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tool", metavar="SHARD_OPT")
    parser.add_argument("names", nargs="*", metavar="NAME", help="passes (default: all)")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print what comes out")
    options = parser.parse_args()

    passes = [entry for entry in read_passes() if not options.names or entry.name in options.names]
    good, tool = True, ShardOpt(options.tool)
    run_examples = 0
    named = named_by_tests()
    for entry in passes:
        if entry.name not in named:
            print(f"{entry.file}: no test names {entry.name}; write one that runs it alone")
            good = False
        examples = [found for found in EXAMPLE.finditer(entry.description + "\n") if "func" in found["before"]]
        if not examples:
            print(f"{entry.file}: {entry.name} has no example that can be run")
            good = False
        for example in examples:
            good = check(tool, entry, example, options.only_print) and good
            run_examples += 1
    tool.close()
    print(f"{run_examples} examples of {len(passes)} passes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

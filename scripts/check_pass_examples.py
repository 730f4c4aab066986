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
command line); the result and the second must be printed alike. Passes whose
descriptions have no such block with whole functions are named in
scripts/passes_without_example.txt, which may only shrink. --print prints what comes out instead of comparing.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import subprocess
import sys
from pathlib import Path

from pass_docs import Pass, read_passes

LIST = Path(__file__).resolve().parent / "passes_without_example.txt"
EXAMPLE = re.compile(
    r"^```mlir\n// before(?:: (?P<flags>[^\n]*))?\n(?P<before>.*?)^// after\n(?P<after>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


def run(tool: str, text: str, flags: list[str]) -> str:
    """What ``tool`` prints for ``text``; its diagnostics where it fails."""
    done = subprocess.run([tool, "-", *flags], input=text, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"code {done.returncode}\n{done.stderr}"


def check(tool: str, entry: Pass, example: re.Match[str], only_print: bool) -> bool:
    """Whether the pass makes of the example's first program the second."""
    flags = shlex.split(example["flags"] or f"--{entry.name}")
    found = run(tool, example["before"], flags)
    if only_print:
        print(f"// {entry.name}: {shlex.join(flags)}\n{found}")
        return True
    expected = run(tool, example["after"], [])
    if found == expected:
        return True
    print(f"{entry.file}: the example of {entry.name} does not hold:")
    print("\n".join(difflib.unified_diff(expected.splitlines(), found.splitlines(), "described", "found", lineterm="")))
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tool", metavar="SHARD_OPT")
    parser.add_argument("names", nargs="*", metavar="NAME", help="passes (default: all)")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print what comes out")
    options = parser.parse_args()

    listed = set(LIST.read_text().split()) if LIST.exists() else set()
    passes = [entry for entry in read_passes() if not options.names or entry.name in options.names]
    good = True
    run_examples = 0
    for entry in passes:
        examples = [found for found in EXAMPLE.finditer(entry.description + "\n") if "func" in found["before"]]
        if not examples and entry.name not in listed:
            print(f"{entry.file}: {entry.name} has no example that can be run")
            good = False
        elif examples and entry.name in listed:
            print(f"{entry.name} has an example: take its line out of {LIST.name}")
            good = False
        for example in examples:
            good = check(options.tool, entry, example, options.only_print) and good
            run_examples += 1
    for name in sorted(listed - {entry.name for entry in passes}) if not options.names else []:
        print(f"{LIST.name}: there is no pass {name}")
        good = False
    print(f"{run_examples} examples of {len(passes)} passes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Check that no stage has a price of its own.

Every estimate of bytes, operations and seconds in ROOMS is made of a machine's figures, by Machine/Cost.h
(docs/Developer/AddACost.md). A constant in a stage may be something else, and its comment says what, in brackets:

  [limit]   how far the compiler looks, or how much code it writes: of its own time and memory, not the program's
  [shape]   of a kernel: threads, registers, tiles, and what the hardware has of them
  [format]  what another side reads: an instruction's encoding, an ABI, places in a struct
  [guess]   about a program: sizes and trip counts that nobody knows
  [maths]   what follows by arithmetic

One comment may stand above several constants. Coefficients of functions (FOLDERS_OF_MATHS) need none. Also refused:
numbers of bytes (64 << 10, 4 * 1024) outside such constants. Prints a line for each, and exits with 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOMS = ("Communication", "KernelGen", "Memory", "Partition", "Propagation", "Rules")
FOLDERS_OF_MATHS = ("lib/KernelGen/CPU/Functions", "lib/KernelGen/GPU/GpuFunctions.cpp")
KINDS = ("limit", "shape", "format", "guess", "maths")

CONSTANT = re.compile(r"\bconstexpr\s+(?:u?int\d*_t|unsigned|int|size_t|double|float)\s+(\w+)[^=]*=\s*[^;]*\d")
NAMED = re.compile(r"\bconstexpr\s+(?:u?int\d*_t|unsigned|int|size_t|double|float)\s+(\w+)")
BYTES = re.compile(r"\b\d+\s*<<\s*(?:10|20|30)\b|\b\d+\s*\*\s*1024\b")
KIND = re.compile(r"\[(?:" + "|".join(KINDS) + r")\]")


def statements(lines: list[str]) -> list[tuple[int, int, str]]:
    """Return each constexpr constant: its first line, the one behind its last, and its text without comments."""
    found = []
    number = 0
    while number < len(lines):
        first = number
        text = lines[number].split("//")[0]
        number += 1
        if not NAMED.search(text):
            continue
        while ";" not in text and number < len(lines):
            text += lines[number].split("//")[0]
            number += 1
        found.append((first, number, text))
    return found


def is_said(lines: list[str], first: int, last: int, constants: set[int]) -> bool:
    """Whether the comment of a constant, its own or that of constants that it follows, names a kind."""
    if any("//" in line for line in lines[first:last]):
        return any(KIND.search(line) for line in lines[first:last])
    above = first - 1
    while above >= 0 and above in constants:
        above -= 1
    comment = []
    while above >= 0 and lines[above].lstrip().startswith("//"):
        comment.append(lines[above])
        above -= 1
    return any(KIND.search(line) for line in comment)


def check(path: Path, name: str) -> list[str]:
    lines = path.read_text().splitlines()
    problems = []
    inside: set[int] = set()
    for first, last, text in statements(lines):
        inside.update(range(first, last))
        # What is made of other constants alone has their kind.
        if CONSTANT.search(text) and not is_said(lines, first, last, inside):
            problems.append(f"{name}:{first + 1}: what is constant '{NAMED.search(text)[1]}'? "  # type: ignore[index]
                            f"A price comes from Machine/Cost; else say [{'], ['.join(KINDS)}] in its comment")
    for number, line in enumerate(lines):
        if number not in inside and BYTES.search(line.split("//")[0]):
            problems.append(f"{name}:{number + 1}: a number of bytes without a name: take it from Machine/Cost, "
                            "or name it and say what it is")
    return problems


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    problems = []
    for room in ROOMS:
        for folder in (root / "lib" / room, root / "include/shardc" / room):
            for path in sorted(folder.rglob("*")):
                name = path.relative_to(root).as_posix()
                if path.suffix in (".h", ".cpp") and not name.startswith(FOLDERS_OF_MATHS):
                    problems += check(path, name)
    print("\n".join([*problems, f"{len(problems)} constants that may be prices"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

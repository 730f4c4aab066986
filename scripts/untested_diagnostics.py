#!/usr/bin/env python3
"""List the diagnostics that no test names.

Looks at every statement of lib and tools that emits an error (emitError, emitOpError, refuse, fail and their like),
takes the words that it prints between values, and looks for four that follow one another (for all, of fewer) in the
files of test: tests name a part of a text. Whitespace and the marks of regular expressions are left out. What is not
found is printed as ``file:line: words``; a summary by room ends the list. A text that a test prints for another
statement counts for both.

Exit status 1 if fewer than ``--at-least`` per cent are named.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
from pathlib import Path

EMITS = re.compile(r"\b(?:emitOpError|emitError|createStringError|makeError|refuse|fail)\s*\(|\bInFlightDiagnostic\b")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SUFFIXES = {".mlir", ".test", ".py", ".cpp", ".h", ".txt", ".in", ".sh", ".md"}
SHORTEST, WINDOW = 3, 4
ESCAPES = {r"\"": '"', r"\n": " ", r"\\": "\\", r"\t": " "}


def plain(text: str) -> str:
    """Words in lower case with one space between; marks of regular expressions gone."""
    text = re.sub(r"%[a-z]*\d*|\\|\{\{\.\*\}\}", " ", text)
    return " ".join(word.strip(".'") for word in re.findall(r"[a-z0-9_.'-]*[a-z0-9][a-z0-9_.'-]*", text.lower()))


def statement(text: str, begin: int) -> str:
    """From `begin` to the semicolon that ends it, strings skipped."""
    position = begin
    while position < len(text):
        if text[position] == '"':
            match = STRING.match(text, position)
            if not match:
                break
            position = match.end()
            continue
        if text[position] == ";":
            break
        position += 1
    return text[begin:position]


def pieces(source: str) -> list[str]:
    """What a statement prints, cut where values stand; literals that follow one another are one."""
    joined = re.sub(r'(?<!\\)"\s*\n?\s*"', "", source)
    found = []
    for match in STRING.finditer(joined):
        words = match[1]
        for escape, meaning in ESCAPES.items():
            words = words.replace(escape, meaning)
        found += [plain(part) for part in re.split(r"%[a-z]+|\{\d\}", words)]
    return [piece for piece in found if len(piece.split()) >= SHORTEST]


def is_told(piece: str, told: str) -> bool:
    """True if tests hold a window of `piece`."""
    words = piece.split()
    width = min(WINDOW, len(words))
    return any(" ".join(words[i : i + width]) in told for i in range(len(words) - width + 1))


def main() -> int:
    """Prints the list and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-least", type=float, default=0, help="per cent that must be named")
    parser.add_argument("--summary", action="store_true", help="the table alone")
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    tests = [path for path in sorted((root / "test").rglob("*")) if path.suffix in SUFFIXES]
    told = "\n".join(plain(path.read_text(errors="replace")) for path in tests if path.stat().st_size < 1 << 20)
    named: collections.Counter[str] = collections.Counter()
    total: collections.Counter[str] = collections.Counter()
    for path in sorted([*(root / "lib").rglob("*.cpp"), *(root / "tools").rglob("*.cpp")]):
        text = re.sub(r"(?m)^\s*//.*$", lambda match: " " * len(match[0]), path.read_text())
        parts = path.relative_to(root).parts
        room = "/".join(parts[:2])
        end = 0
        for match in EMITS.finditer(text):
            if match.start() < end:
                continue
            source = statement(text, match.start())
            end = match.start() + len(source)
            words = pieces(source)
            if not words:
                continue
            total[room] += 1
            if any(is_told(piece, told) for piece in words):
                named[room] += 1
            elif not options.summary:
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path.relative_to(root)}:{line}: {max(words, key=len)}")
    for room in sorted(total):
        print(f"{room:28} {named[room]:4} of {total[room]:4}")
    share = 100 * named.total() / max(total.total(), 1)
    print(f"{named.total()} of {total.total()} diagnostics are named by a test: {share:.1f} %")
    return 1 if share < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""List the diagnostics that no test names.

Looks at every statement of lib and tools that says what is wrong (SAYS below: emitError, emitUnsupported, refuse, usage
and their like, and what is written to errs()), takes the words that it prints between values, and looks for four that
follow one another (for all, of fewer) in the files of test: tests name a part of a text. Whitespace and the marks of
regular expressions are left out. What is not found is printed as ``file:line: words``; a summary by room ends the list.
A text that a test prints for another statement counts for both.

``--check`` ends with 1 for one that no test names and that does not stand in untested_diagnostics.txt, which says why
no test can, or that none does yet; and for one that stands there and is tested, or is gone: that list only gets
shorter. ``--runtime`` looks at runtime/lib instead, with the same list.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from diagnostics import EMITTERS

# What takes a text and says it: what the page of diagnostics reads (say is the runtime's), and warnings.
SAYS = (*sorted(EMITTERS.keys() - {"say"}), "emitWarning", "warning")
EMITS = re.compile(rf"\b(?:{'|'.join(SAYS)})\s*\(|\bInFlightDiagnostic\b|\berrs\(\)\s*<<")
RUNTIME_EMITS = re.compile(r"\b(?:writeError|systemError|checkMemory|usage|say|refuse|fail)\s*\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SUFFIXES = {".mlir", ".test", ".py", ".cpp", ".h", ".txt", ".in", ".sh", ".md"}
SHORTEST, WINDOW = 3, 4
SCRIPTS = Path(__file__).resolve().parent
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
    """What a statement prints, cut where values are inserted; literals that follow one another are one."""
    joined = re.sub(r'(?<!\\)"\s*\n?\s*"', "", source)
    found = []
    for match in STRING.finditer(joined):
        words = match[1]
        for escape, meaning in ESCAPES.items():
            words = words.replace(escape, meaning)
        found += [plain(part) for part in re.split(r"%[a-z]+|\{\d(?::[^}]*)?\}", words)]
    return [piece for piece in found if len(piece.split()) >= SHORTEST]


def is_quoted(piece: str, told: str) -> bool:
    """True if tests hold a window of `piece`."""
    words = piece.split()
    width = min(WINDOW, len(words))
    return any(" ".join(words[i : i + width]) in told for i in range(len(words) - width + 1))


def diagnostics(paths: list[Path], emits: re.Pattern[str]) -> Iterator[tuple[Path, int, list[str]]]:
    """File, line and words of each statement that says something of enough words."""
    for path in paths:
        text = re.sub(r"(?m)^[ \t]*//.*$", lambda match: " " * len(match[0]), path.read_text())
        end = 0
        for match in emits.finditer(text):
            if match.start() < end:
                continue
            source = statement(text, match.start())
            end = match.start() + len(source)
            words = pieces(source)
            if words and "cl::desc" not in source:  # An option of such a name, not a call.
                yield path, text.count("\n", 0, match.start()) + 1, words


def exceptions(runtime: bool) -> set[str]:
    """``file: words`` of those that no test can reach; a line that begins with # says why those below it cannot."""
    lines = (SCRIPTS / "untested_diagnostics.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#") and line.startswith("runtime/") == runtime}


def main() -> int:
    """Prints the list and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the list of exceptions")
    parser.add_argument("--runtime", action="store_true", help="of runtime/lib")
    parser.add_argument("--summary", action="store_true", help="the table alone")
    options = parser.parse_args()
    root = SCRIPTS.parent
    folders = ["runtime/lib"] if options.runtime else ["lib", "tools"]
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*.cpp"))]
    tested = [root / "test", *([root / "runtime" / "test"] if (root / "runtime" / "test").is_dir() else [])]
    tests = [path for folder in tested for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES]
    told = "\n".join(plain(path.read_text(errors="replace")) for path in tests if path.stat().st_size < 1 << 20)
    named: collections.Counter[str] = collections.Counter()
    total: collections.Counter[str] = collections.Counter()
    untested: dict[str, str] = {}
    for path, line, words in diagnostics(paths, RUNTIME_EMITS if options.runtime else EMITS):
        place = path.relative_to(root)
        room = "/".join(place.parts[: 3 if options.runtime else 2])
        total[room] += 1
        if any(is_quoted(piece, told) for piece in words):
            named[room] += 1
        else:
            untested[f"{place}: {max(words, key=len)}"] = f"{place}:{line}: {max(words, key=len)}"
    known = exceptions(options.runtime)
    if not options.summary:
        print("\n".join(text + (" (known)" if key in known else "") for key, text in untested.items()))
    for room in sorted(total):
        print(f"{room:28} {named[room]:4} of {total[room]:4}")
    share = 100 * named.total() / max(total.total(), 1)
    print(f"{named.total()} of {total.total()} diagnostics are named by a test: {share:.1f} %")
    if not options.check:
        return 0
    for key in sorted(untested.keys() - known):
        print(f"no test names this diagnostic; write one: {untested[key]}")
    for key in sorted(known - untested.keys()):
        print(f"tested or gone; take it out of untested_diagnostics.txt: {key}")
    return int(untested.keys() != known)


if __name__ == "__main__":
    sys.exit(main())

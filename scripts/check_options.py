#!/usr/bin/env python3
"""Compare the options of a tool with those that its page describes.

usage: check_options.py TOOL [PAGE]

PAGE is docs/Reference/NAME.md of the tool's name, if not said. Each option that ``TOOL --help`` lists has a row in a
table of the page, or stands in its first paragraph, where usage is; each option there, and each ``--option`` of the
page's text, is one of the tool. An option that takes a value is written with ``=``, one that takes none without; where
a value may be left out, both are right.
A row that says "as for [tool](page)" sends the reader on: that page has a row for each of its options. Ends with 1 if
anything differs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# As LLVM's command line prints them: "--name=<value>", "--name[=<value>]", "--name", "-o <value>".
LISTED = re.compile(r"^  --?(?P<name>[a-z][\w-]*)(?P<value>\[=|=| <)?", re.MULTILINE)
WRITTEN = re.compile(r"(?<![\w-])--?(?P<name>[a-z][\w-]*)(?P<value>=)?")
GENERIC = {"help", "help-hidden", "help-list", "help-list-hidden", "version"}
ELSEWHERE = re.compile(r"as for \[[^\]]*\]\(([\w.-]+)\)")

NEVER, MAYBE, ALWAYS = "no value", "perhaps a value", "a value"


def listed(tool: str) -> dict[str, str]:
    """The tool's options, and whether they take a value."""
    printed = subprocess.run([tool, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    values = {"[=": MAYBE, "=": ALWAYS, " <": ALWAYS}
    options = {match["name"]: values.get(match["value"] or "", NEVER) for match in LISTED.finditer(printed)}
    if not options:
        raise ValueError(f"{tool} --help lists no option")
    return {name: value for name, value in options.items() if name not in GENERIC}


def rows(page: Path) -> list[tuple[int, str, str]]:
    """Line, first cell and text of each row that begins with an option."""
    found = []
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if match := re.match(r"\| (?P<options>`-[^|]*) \| (?P<text>.*) \|$", line):
            found.append((number, match["options"], match["text"]))
    return found


def named(text: str) -> dict[str, set[bool]]:
    """Options between backquotes, each with whether it is written with a value; it may be both."""
    options: dict[str, set[bool]] = {}
    for code in re.findall(r"`([^`]*)`", text):
        # A value may hold what looks like an option: the first word is one.
        if match := WRITTEN.match(code):
            options.setdefault(match["name"], set()).add(bool(match["value"]))
    return options


def check(tool: str, page: Path) -> list[str]:
    """What differs."""
    options = listed(tool)
    described: dict[str, set[bool]] = {}
    problems = []
    for number, cell, text in rows(page):
        elsewhere = ELSEWHERE.search(text)
        others = {name for _, row, _ in rows(page.parent / elsewhere[1]) for name in named(row)} if elsewhere else set()
        for name, forms in named(cell).items():
            described.setdefault(name, set())
            if name not in options:
                problems.append(f"{page.name}:{number}: {Path(tool).name} has no option '{name}'")
            elif elsewhere is None:
                described[name] |= forms
            elif name not in others:
                problems.append(f"{page.name}:{number}: {elsewhere[1]} has no row for option '{name}'")
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        # Rows were looked at.
        for name in re.findall(r"`--([a-z][a-z-]*)", line):
            if not line.startswith("| `-") and name not in options and name not in GENERIC:
                problems.append(f"{page.name}:{number}: {Path(tool).name} has no option '{name}'")
    usage = page.read_text().partition("\n\n")[2].partition("\n\n")[0]
    in_usage = {match["name"] for match in re.finditer(r"(?<=\s)--?(?P<name>[a-z][\w-]*)", usage)}
    for name, value in options.items():
        if name not in described and name not in in_usage:
            problems.append(f"{page.name}: no row for option '{name}', which {Path(tool).name} --help lists")
        forms = described.get(name, set())
        if forms and ((value == ALWAYS and True not in forms) or (value == NEVER and True in forms)):
            problems.append(f"{page.name}: option '{name}' takes {value}, and is written otherwise")
    return problems


def main() -> int:
    """Prints what differs."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    tool = sys.argv[1]
    page = Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs" / "Reference" / f"{Path(tool).name}.md"
    problems = check(tool, page)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

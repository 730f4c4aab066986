#!/usr/bin/env python3
"""Do what a tutorial says, and compare what is printed.

usage: tutorial.py PAGE TOOLS FOLDER [--print]

A code block that opens with ```` ```LANGUAGE file=NAME ```` is written into FOLDER. In blocks that open with ```` ```console ````
lines that begin with `$ ` are run there, with the tools of TOOLS for build/bin/ and this Python for python; the lines below are looked for among the
lines that are printed, in this order. `...` stands for anything, in a line or as one. --print prints what the commands print.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)(?: (?:file=(\S+)|from=\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def missing(expected: list[str], printed: str) -> str | None:
    """The first expected line that is not printed behind those before it."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in expected:
        words = " ".join(line.split())
        if words in ("", "..."):
            continue
        pattern = ".*".join(map(re.escape, words.split("...")))
        if not any(re.fullmatch(pattern, found) for found in lines):
            return line
    return None


def main() -> int:
    page, tools, folder = (os.path.abspath(name) for name in sys.argv[1:4])
    commands = 0
    for language, name, text in BLOCK.findall(Path(page).read_text()):
        if name:
            Path(folder, name).write_text(text)
        if language != "console":
            continue
        for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            typed = re.sub(r"\bpython ", lambda _: sys.executable + " ", command.replace("build/bin/", tools + "/"))
            done = subprocess.run(["bash", "-c", typed], cwd=folder, capture_output=True, text=True, check=False)
            printed = done.stdout + done.stderr
            commands += 1
            if "--print" in sys.argv:
                print(f"$ {command}\n{printed}")
            line = missing(expected.splitlines(), printed)
            if done.returncode != 0 or line is not None:
                print(f"{page}: '{command}' ended with {done.returncode}" + (f", without the line\n{line}\n" if line else ""))
                print(f"but printed\n{printed}")
                return 1
    print(f"{commands} commands")
    return 0 if commands else 1


if __name__ == "__main__":
    sys.exit(main())

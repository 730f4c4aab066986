#!/usr/bin/env python3
"""Run the tool commands of a page of the docs.

usage: run_examples.py PAGE TOOLS FOLDER

Every line of a code block that starts with build/bin/ is run in FOLDER, with the
tools of TOOLS; what follows three spaces is a remark. Exits with 1 at the first command that
fails, or if there is none.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def commands(page: str) -> list[str]:
    """Return the commands of all code blocks of a Markdown page."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [re.split(r"   +", line)[0] for line in lines if line.startswith("build/bin/")]


def main() -> int:
    page, tools, folder = sys.argv[1:]
    found = commands(Path(page).read_text())
    for command in found:
        typed = command.replace("build/bin/", tools + "/")
        result = subprocess.run(["bash", "-c", typed], cwd=folder, capture_output=True, text=True, check=False)
        print(f"{command}: {result.returncode}")
        if result.returncode != 0:
            print(result.stdout, result.stderr)
            return 1
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())

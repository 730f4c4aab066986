#!/usr/bin/env python3
"""Compare the options that a tool's page names with those that --help lists.

usage: check_options.py PAGE TOOL OTHER_PAGE ...

Options of PAGE, with those that it shares with OTHER_PAGEs, must be the same set as --help's;
exits with 1 and says which are not.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GENERIC = {"help", "help-list", "help-hidden", "help-list-hidden", "version"}


def main() -> int:
    page, tool, *others = sys.argv[1:]
    text = Path(page).read_text()
    named = set(re.findall(r"`--([a-z-]+)", text))
    shared = {name for other in others for name in re.findall(r"`--([a-z-]+)", Path(other).read_text())}
    output = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    offered = set(re.findall(r"^  --([a-z-]+)", output, re.MULTILINE)) - GENERIC
    missing = offered - named
    unknown = named - offered - shared
    for name in sorted(missing):
        print(f"{page}: does not name --{name}")
    for name in sorted(unknown):
        print(f"{page}: names --{name}, which {tool} does not have")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())

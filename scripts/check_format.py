#!/usr/bin/env python3
"""Check that C and C++ files are as clang-format 22 writes them.

usage: check_format.py [--fix]

--fix formats those that are not. Exits with 1 if the check fails, with 77 if there is no
clang-format-22.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("include", "lib", "runtime", "test", "tools")


def is_formatted(tool: str, path: str) -> bool:
    """Whether clang-format would leave ``path`` (relative to the root) as it is."""
    check = subprocess.run([tool, "--dry-run", "--Werror", path], cwd=ROOT, capture_output=True, check=False)
    return check.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="format the files that are not")
    options = parser.parse_args()

    tool = shutil.which("clang-format-22")
    if not tool:
        print("clang-format-22 is not there (Debian package clang-format-22)")
        return 77
    files = sorted(
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".c", ".cpp", ".h"}
    )
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        formatted = dict(zip(files, pool.map(lambda path: is_formatted(tool, path), files), strict=True))
    broken = [path for path in files if not formatted[path]]
    if options.fix and broken:
        subprocess.run([tool, "-i", *broken], cwd=ROOT, check=True)
        broken = []
    for path in broken:
        print(f"{path}: not as clang-format-22 writes it: clang-format-22 -i {path}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

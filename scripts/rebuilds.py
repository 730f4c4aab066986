#!/usr/bin/env python3
"""Print how much of a build a change of each generated header compiles again.

usage: rebuilds.py BUILD [--most=SHARE]

A header is what mlir-tblgen writes of a .td file. A change of that file writes those headers alone again whose text
becomes another. Counted are the objects of the target `all` that read it, by what ninja kept of their last compilation.
--most: a share of them, such as 0.33; exits with 1 if a header has more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def ninja(build: Path, *arguments: str) -> list[str]:
    command = ["ninja", "-C", str(build), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--most", type=float, default=1.0, help="the largest share of objects that is no error")
    options = parser.parse_args()

    build = options.build.resolve()
    objects = {line for line in ninja(build, "-t", "inputs", "all") if line.endswith(".o")}
    # OBJECT: #deps N, ... (VALID), then a file a line.
    readers: dict[str, set[str]] = defaultdict(set)
    current = ""
    for line in ninja(build, "-t", "deps"):
        if line.startswith(" "):
            file = line.strip()
            if file.endswith(".h.inc") and Path(file).is_relative_to(build) and current in objects:
                readers[str(Path(file).relative_to(build))].add(current)
        elif line:
            current = line.partition(":")[0]

    worst = 0.0
    print(f"{'objects':>8} {'share':>6}  header, of {len(objects)} objects")
    for name, compiled in sorted(readers.items(), key=lambda item: -len(item[1])):
        share = len(compiled) / len(objects)
        worst = max(worst, share)
        print(f"{len(compiled):8} {100 * share:5.1f}%  {name}")
    if not readers:
        print(f"{build}: no object is known to read a generated header; build first", file=sys.stderr)
        return 1
    if worst > options.most:
        print(f"a change of one header compiles more than {100 * options.most:.1f} % again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Print how much of a build a change of each .td file, and of each generated header, compiles again.

usage: rebuilds.py BUILD [--most=SHARE]

A header is what mlir-tblgen writes of a .td file and those that it includes. A change of a file writes those headers
alone again whose text becomes another: at most all that it is read for. Counted are the objects of the target `all`
that read one of them, by what ninja kept of their last compilation, precompiled headers included.
--most: a share of them, such as 0.33; exits with 1 if a file has more.
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


def show(title: str, readers: dict[str, set[str]], count: int, suffix: str) -> float:
    """Print who of `readers` is read by how many objects, the most first, and return the largest share of `count`."""
    print(title)
    worst = 0.0
    for name, objects in sorted(readers.items(), key=lambda item: -len(item[1])):
        if name.endswith(suffix):
            worst = max(worst, len(objects) / count)
            print(f"{len(objects):8} {100 * len(objects) / count:5.1f}%  {name}")
    return worst


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
            if file.endswith(".inc") and Path(file).is_relative_to(build) and current in objects:
                readers[str(Path(file).relative_to(build))].add(current)
        elif line:
            current = line.partition(":")[0]

    if not readers:
        print(f"{build}: no object is known to read a generated header; build first", file=sys.stderr)
        return 1
    show(f"{'objects':>8} {'share':>6}  header, of {len(objects)} objects", readers, len(objects), ".h.inc")
    # mlir-tblgen writes beside each header which files it has read for it.
    compiled: dict[str, set[str]] = defaultdict(set)
    for rule in build.rglob("*.inc.d"):
        header = str(rule.relative_to(build)).removesuffix(".d")
        for file in rule.read_text().replace("\\\n", " ").split(":", 1)[1].split():
            if file.endswith(".td") and "/include/shardc/" in file:
                compiled[file.rpartition("/include/shardc/")[2]] |= readers.get(header, set())
    title = f"\n{'objects':>8} {'share':>6}  .td file: all headers that it is read for"
    worst = show(title, compiled, len(objects), ".td")
    if worst > options.most:
        print(f"a change of one file compiles more than {100 * options.most:.1f} % again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

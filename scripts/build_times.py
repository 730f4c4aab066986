#!/usr/bin/env python3
"""Print what a build took, by target and by file, from ninja's log.

usage: build_times.py BUILD [--files=N]

Seconds are those between a command's start and end, of its last run: on a machine that
is busy with other things, or with ccache, they say little.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--files", type=int, default=20, help="how many of the slowest to print")
    options = parser.parse_args()

    seconds: dict[str, float] = {}
    for line in (options.build / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            seconds[output] = (int(end) - int(begin)) / 1000
    targets: dict[str, list[float]] = defaultdict(list)
    for output, time in seconds.items():
        folder, objects, rest = output.partition("/CMakeFiles/")
        targets[f"{folder} {rest.partition('.dir/')[0]}" if objects else "links and what tablegen writes"].append(time)
    print(f"{'seconds':>8} {'files':>6}  target")
    for name, times in sorted(targets.items(), key=lambda item: -sum(item[1])):
        print(f"{sum(times):8.1f} {len(times):6}  {name}")
    print(f"{sum(seconds.values()):8.1f} {len(seconds):6}  everything\n")
    for output, time in sorted(seconds.items(), key=lambda item: -item[1])[: options.files]:
        print(f"{time:8.1f}  {output}")


if __name__ == "__main__":
    main()

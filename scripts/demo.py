#!/usr/bin/env python3
"""The demo: a U-Net on four CPU ranks, in uneven bands of rows, compared.

usage: demo.py [--tools DIR] [--ranks N] [--steps N] [--report FILE]

Runs shard-run on python/examples/unet.mlir (plain JAX, exported beforehand; JAX is
not needed) and prints what its JSON report says. Every figure is from the run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "python" / "examples"
IMAGE = 18  # the argument that is cut; its dim 1 holds the rows
ROWS = 252
POOLING = 4  # two levels of 2x2 windows

Report = dict[str, Any]


def uneven_bands(rows: int, ranks: int) -> list[int]:
    """Cut rows into bands that differ, with boundaries that pooling windows straddle.

    Returns: ``ranks`` positive sizes that add up to ``rows``.
    """
    boundaries = [rows * i // ranks for i in range(ranks + 1)]
    for i in range(1, ranks):
        boundaries[i] += 3 - 2 * (i % 2)
        if boundaries[i] % POOLING == 0:
            boundaries[i] += 1
    return [high - low for low, high in itertools.pairwise(boundaries)]


def run(command: list[str]) -> Report:
    """Print a command, run it, and return the JSON object on its stdout.

    Its stderr is shown if it fails; the demo then ends with its exit code.
    """
    print("  $ " + shlex.join(command), flush=True)
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        sys.stderr.write(result.stderr)
        print(f"the command ended with exit code {result.returncode}", file=sys.stderr)
        sys.exit(result.returncode if result.returncode > 0 else 1)
    return json.loads(result.stdout)


def size_text(count: float) -> str:
    """Return bytes in a unit that reads well."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def source_line(location: str) -> str:
    """Return the Python line that a location like ``unet.py:45:11`` names, or nothing."""
    match = re.search(r"(\w+\.py):(\d+)", location)
    path = EXAMPLES / match.group(1) if match else None
    if not match or not path or not path.exists():
        return ""
    lines = path.read_text().splitlines()
    number = int(match.group(2))
    return lines[number - 1].strip() if number <= len(lines) else ""


def say(label: str, text: str, note: str = "") -> None:
    """Print one row of the screen."""
    print(f"{label:<10}{text}" + (f"   {note}" if note else ""), flush=True)


def show_communication(report: Report) -> None:
    """Print what was inserted, and the largest of it."""
    sites = report["communication"]
    kinds: dict[str, int] = {}
    for site in sites:
        kinds[site["kind"]] = kinds.get(site["kind"], 0) + 1
    listed = ", ".join(
        f"{count} {kind.replace('_', ' ')}{'s' if count > 1 else ''}"
        for kind, count in sorted(kinds.items(), key=lambda item: -item[1])
    )
    gathers = "" if "all_gather" in kinds else "; no gathers"
    say("", f"inserted: {listed or 'nothing'}{gathers}")
    moved = sum(site["bytes"] for site in sites)
    if sites:
        largest = max(sites, key=lambda site: site["bytes"])
        say("", f"largest:  {largest['kind'].replace('_', ' ')} over {largest['axis']}, "
            f"{size_text(largest['bytes'])} of {size_text(moved)} per step, for {largest['location']}")
        if line := source_line(largest["location"]):
            say("", f"          {line}")


def show_comparison(report: Report, other: str, what: str) -> None:
    """Print how far the outputs are from another run's."""
    outputs = [entry for entry in report["comparisons"] if entry["with"] == other]
    equal = sum(entry["bitwise_equal"] for entry in outputs)
    count = f"{len(outputs)} output{'s' if len(outputs) > 1 else ''}"
    if equal == len(outputs):
        say("compare", f"with {what}: {count} bitwise equal", "ok")
        return
    worst = max(outputs, key=lambda entry: float(entry["largest"]))
    say("compare", f"with {what}: {count} equal within the tolerance, "
        f"largest difference {float(worst['largest']):.1e}", "ok")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default="build/bin", help="where shard-run is")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--report", default="report.json", help="where the run's report is written")
    arguments = parser.parse_args()
    if not 1 <= arguments.ranks <= 32 or arguments.steps < 1:
        parser.error("expected 1 to 32 ranks and at least 1 step")

    model = "python/examples/unet.mlir"
    data = "@python/examples/unet.npz"
    operations = len(re.findall(r"= \"?(?:stablehlo|chlo)\.", (ROOT / model).read_text()))
    bands = uneven_bands(ROWS, arguments.ranks)
    tool = [str(Path(arguments.tools) / "shard-run"), model]
    common = [f"--inputs={data}", f"--repeat={arguments.steps}", "--report=json"]

    say("model", f"U-Net of python/examples/unet.py, {operations} ops as JAX printed them")
    start = time.monotonic()
    report = run([*tool, f"--mesh=x={arguments.ranks}",
                  f"--sizes={IMAGE}:1={','.join(map(str, bands))}",
                  *common, f"--expect={data}", "--check"])
    (ROOT / arguments.report).write_text(json.dumps(report, indent=1) + "\n")
    single = run([*tool, "--mesh=x=1", *common])

    image = report["arguments"][IMAGE]
    shape = "x".join(map(str, image["shape"]))
    cut = image["dims"][1]["sizes"]
    say("input", f"image {shape} {image['type']}, rows {sum(cut)} = {' | '.join(map(str, cut))} over "
        f"mesh x={report['mesh']['x']}", "uneven; boundaries inside the pooling windows")
    say("compile", f"{report['compile_ms'] / 1000:.2f} s")
    show_communication(report)
    waited = sum(site["wait_ms"] for site in report["communication"])
    moving = sum(site["ms"] for site in report["communication"]) - waited
    step = report["ms_mean"]  # as the times of communication are means
    say("run", f"{report['ranks']} ranks in this process, {report['steps']} steps, "
        f"{report['ms_per_step']:.1f} ms per step (1 rank: {single['ms_per_step']:.1f})")
    say("", f"moving data {100 * moving / step:.0f} % of a rank's time, waiting for others "
        f"{100 * waited / step:.0f} % ({os.cpu_count()} cores); peak memory {size_text(max(report['peak_bytes']))} "
        f"a rank (1 rank: {size_text(single['peak_bytes'][0])})")
    show_comparison(report, "unsharded", "the unsharded run")
    show_comparison(report, "expected", "JAX's stored result")
    say("report", arguments.report)
    say("next", "./run demo --ranks 3")
    say("", "build/bin/shard-opt python/examples/unet.mlir --spmd-import --spmd-propagate --spmd-partition")
    say("", f"{time.monotonic() - start:.1f} s for all of this")


if __name__ == "__main__":
    main()

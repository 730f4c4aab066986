"""What a program is said to need before it starts, beside what its ranks then hold.

``memory.py [NAME...] --shard-run FILE [--count N]``

For each program of the corpus (with ``--count`` every so many of them, as many): ``--memory-limit=1`` refuses it with code
9 and names the bytes that inputs, outputs and temporaries of all ranks need; ``--report=json`` gives ``peak_bytes`` of
each rank, which are measured; beside these the tool holds the whole arrays. One byte less than is needed is refused as
well, and nothing runs. Prints a line for each and how far the two are apart; ends with 1 where a program holds a tenth
more or less than it was said to need.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

INPUTS = Path(__file__).resolve().parent / "Inputs"
NEEDS = re.compile(r"need (\d+) bytes on (\d+) ranks?, the limit is (\d+)")


BYTES = {"bf16": 2, "i1": 1, "ui1": 1}


def whole(values: list[dict[str, Any]]) -> int:
    """Bytes of whole arrays, inputs or outputs as the report has them."""
    total = 0
    for value in values:
        kind = value["type"]
        bits = sum(int(number) for number in re.findall(r"\d+", kind)[:1]) * (2 if kind.startswith("complex") else 1)
        total += BYTES.get(kind, max(bits // 8, 1)) * math.prod(value["shape"])
    return total


def run(tool: str, model: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """One run of shard-run."""
    command = [tool, str(model), "--repeat=1", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main() -> None:
    """Prints the table; exits 1 where a program is outside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shard-run", required=True)
    parser.add_argument("--count", type=int, default=0)
    options = parser.parse_args()
    models = sorted(path for path in INPUTS.glob("*.mlir") if not options.names or path.stem in options.names)
    if options.count:
        models = models[:: max(len(models) // options.count, 1)][: options.count]
    outside = known = 0
    for model in models:
        refused = run(options.shard_run, model, "--memory-limit=1")
        said = NEEDS.search(refused.stderr)
        if refused.returncode != 9 or not said:
            print(f"{model.stem:34} not said: code {refused.returncode}", flush=True)
            continue
        known += 1
        needs = int(said[1])
        below = run(options.shard_run, model, f"--memory-limit={needs - 1}")
        done = run(options.shard_run, model, f"--memory-limit={needs}", "--report=json")
        if done.returncode or below.returncode != 9:
            outside += 1
            print(f"{model.stem:34} needs {needs}: code {done.returncode} with it, {below.returncode} with a byte less  FAILED")
            continue
        report = json.loads(done.stdout[done.stdout.index("{") :])
        held = sum(report["peak_bytes"]) + whole(report["arguments"]) + whole(report["results"])
        share = held / needs
        failed = not 0.9 <= share <= 1.1
        outside += failed
        print(f"{model.stem:34} needs {needs:12} holds {held:12}  {share:6.1%}{'  FAILED' if failed else ''}", flush=True)
    print(f"{known - outside} of {known} hold what they were said to need, to a tenth")
    sys.exit(outside > 0)


if __name__ == "__main__":
    main()

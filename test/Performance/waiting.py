"""What one tiny all-reduce costs on 1 to 64 ranks, more of them than cores.

    waiting.py [--shard-run PATH] [--ranks 1,2,4,8,16,64] [--transports thread,shm,tcp] [--rounds N] [--json FILE] [--assert]

A step is one all-reduce of one number, so that it is made of waiting and waking alone. Prints a line for each transport and number of ranks: the median and
the least time of a step, and the processor time of all ranks in a step, in µs (the middle one of the rounds). Ranks that are processes end at 16. --assert: code 1 where the least time is 1 ms or more on 64 threads, or 0.5 ms on 16 processes over tcp, in each of up to ten rounds: other programs only
ever add to it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LIMITS = {("thread", 64): 1000, ("tcp", 16): 500}
"""The least time of a step that --assert lets pass, in µs."""

MODEL = """
func.func public @main(%arg0: tensor<{ranks}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> (tensor<f32> {{sdy.sharding = #sdy.sharding<@mesh, []>}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<{ranks}xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}}
"""


def processor_time() -> float:
    """Seconds of processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: list[str], steps: int) -> tuple[dict, float]:
    """The report of a run and its processor time in s."""
    before = processor_time()
    done = subprocess.run([*command, f"--repeat={steps}", "--report=json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout), processor_time() - before


def measure(command: list[str], seconds: float) -> tuple[float, float, float]:
    """Median, least and processor time of a step in µs, over about ``seconds``."""
    few, _ = run(command, 50)
    steps = int(min(200_000, max(100, seconds * 1000 / max(few["ms_mean"], 1e-4))))
    report, used = run(command, steps)
    _, start = run(command, 1)
    return 1e3 * report["ms_per_step"], 1e3 * report["ms_min"], 1e6 * max(used - start, 0) / steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default="build/bin/shard-run")
    parser.add_argument("--ranks", default="1,2,4,8,16,64")
    parser.add_argument("--transports", default="thread,shm,tcp")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of steps in each round")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--assert", action="store_true", dest="asserts")
    options = parser.parse_args()
    translate = str(Path(options.shard_run).with_name("shard-translate"))
    table, late = [], []
    print(f"{len(os.sched_getaffinity(0))} cores; load {os.getloadavg()[0]:.1f}\n\n| transport | ranks | median µs | least µs | processor µs |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for transport in options.transports.split(","):
            for ranks in map(int, options.ranks.split(",")):
                if transport != "thread" and not 1 < ranks <= 16:
                    continue
                artifact, model = f"{folder}/{ranks}.so", Path(folder) / "model.mlir"
                if not Path(artifact).exists():
                    model.write_text(f'sdy.mesh @mesh = <["x"={ranks}]>\n' + MODEL.format(ranks=ranks))
                    subprocess.run([translate, str(model), "-o", artifact], check=True)
                command = [options.shard_run, artifact, f"--transport={transport}"]
                if transport != "thread":
                    command.append(f"--processes={ranks}")
                rounds = [measure(command, options.seconds) for _ in range(options.rounds)]
                limit = LIMITS.get((transport, ranks), float("inf")) if options.asserts else float("inf")
                while min(round_[1] for round_ in rounds) >= limit and len(rounds) < 10:
                    rounds.append(measure(command, options.seconds))
                if min(round_[1] for round_ in rounds) >= limit:
                    late.append(f"{transport}, {ranks} ranks: {limit} µs or more in each of {len(rounds)} rounds")
                median, least, used = (statistics.median(column) for column in zip(*rounds))
                table.append({"transport": transport, "ranks": ranks, "median_us": median, "least_us": least, "processor_us": used})
                print(f"| {transport} | {ranks} | {median:.1f} | {least:.1f} | {used:.1f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(table, indent=1) + "\n")
    for line in late:
        print(line)
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())

"""Time programs whose sizes are left open beside those compiled for the sizes that they are bound to.

    open_sizes.py [--ranks 2] [--rounds N] [--steps N] [--models DIR] [CASE ...]

The cases are those of uneven.py, once in even shards and once in shards of 5 : 3. Prints the time of a step of both, and the ratios of
open to known: of time (the median of rounds, and where 90 % of the medians of ratios drawn again from the rounds lie), of bytes that
move, of communication ops, of the most memory of a rank, and of the processor time of compiling. ``--prepare`` only exports and compiles.
Needs jax to export.
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import harness
import uneven


def compile_timed(command: list[str]) -> float | None:
    """Return the processor time of a compilation; None where it is refused."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode == 77:
        print(next(line for line in result.stderr.splitlines() if "error:" in line)[:200])
        return None
    if result.returncode:
        raise SystemExit(result.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def moved(report: dict) -> tuple[float, float, float]:
    """Bytes and communication ops of a step, and the most bytes of a rank."""
    sites = report["communication"]
    return sum(site["bytes"] for site in sites), sum(site["count"] for site in sites), max(report["peak_bytes"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default=str(harness.ROOT / "build" / "bin" / "shard-run"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--models", type=Path, default=harness.ROOT / "build" / "uneven-models")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(uneven.CASES), metavar="CASE", help=", ".join(uneven.CASES))
    options = parser.parse_args()
    models = uneven.Models(options.models, options.shard_run)
    translate = str(Path(options.shard_run).parent / "shard-translate")
    print(f"{'case':18}{'cut':14}{'known':>9}{'open':>9}{'time':>7}  {'spread':11}{'bytes':>7}{'ops':>7}{'memory':>8}{'compiling':>11}", flush=True)
    all_times, all_compiling = [], []
    for case in options.cases:
        total = uneven.CASES[case][1]
        text = models.text(case, total, options.ranks)
        opened = options.models / f"{case}-{total}-{options.ranks}-open.so"
        open_time = compile_timed([translate, str(text), "--no-cache", "--dynamic=all", "-o", str(opened)])
        if open_time is None:
            continue
        for cut in ([1] * options.ranks, (5, 3)) if options.ranks == 2 else ([1] * options.ranks,):
            shares = ",".join(map(str, cut))
            known = options.models / f"{case}-{total}-{shares.replace(',', '_')}-known.so"
            known_time = compile_timed([translate, str(text), "--no-cache", f"--sizes=x={shares}", "-o", str(known)])
            if options.prepare:
                continue
            times: dict[str, list[float]] = {"open": [], "known": []}
            reports = {}
            for _ in range(options.rounds):
                for name, artifact, more in (("known", known, []), ("open", opened, [f"--sizes=x={shares}"])):
                    reports[name] = harness.run_shardc(options.shard_run, artifact, options.steps, "--trust", *more)
                    times[name].append(reports[name]["ms_per_step"])
            ratios = [a / b for a, b in zip(times["open"], times["known"], strict=True)]
            low, high = uneven.interval(ratios)
            more = [(a or 1) / (b or 1) for a, b in zip(moved(reports["open"]), moved(reports["known"]), strict=True)]
            all_times.append(statistics.median(ratios))
            all_compiling.append(open_time / known_time)
            print(f"{case:18}{':'.join(map(str, cut)):14}{statistics.median(times['known']):9.2f}{statistics.median(times['open']):9.2f}"
                  f"{all_times[-1]:7.2f}  {f'{low:.2f}-{high:.2f}':11}{more[0]:7.2f}{more[1]:7.2f}{more[2]:8.2f}{all_compiling[-1]:11.2f}", flush=True)
    for name, list_ in (("time", all_times), ("compiling", all_compiling)):
        if list_:
            print(f"{name}: geometric mean {math.exp(statistics.mean(map(math.log, list_))):.2f}, most {max(list_):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

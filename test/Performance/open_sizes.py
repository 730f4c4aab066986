"""Time programs whose sizes are left open beside those compiled for the sizes that they are bound to.

    open_sizes.py [--ranks 2] [--rounds N] [--steps N] [--models DIR] [CASE ...]
    open_sizes.py --rows [--ranks 2] [--rounds N] [--budget MS] [--json FILE] [ROW ...]

The cases are those of uneven.py, once in even shards and once in shards of 5 : 3. Prints the time of a step of both, and the ratios of
open to known: of time (the median of rounds, and where 90 % of the medians of ratios drawn again from the rounds lie), of bytes that
move, of communication ops, of the most memory of a rank, and of the processor time of compiling. ``--prepare`` only exports and compiles.

``--rows`` takes rows of the table of programs (Table/rows.json; those named, else all) in even shards. A step's time is the least of all
steps of all rounds, in turns, and that of compiling the least processor time, so that it may run beside others. A run has as many
steps as need --budget milliseconds. It prints all rows, and the geometric mean and the most of each kind of operator;
``--json`` keeps what ended, and a second call goes on from there.
Needs jax to export.
"""

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parent / "Table"))
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


def export_row(row: dict, ranks: int, path: Path) -> dict[str, int]:
    """Write a row of the table as StableHLO for a mesh of so many ranks."""
    import jax
    import operators
    import programs  # noqa: F401  (its rows)
    from jax.sharding import AbstractMesh
    from worker import traced

    operators.load("shardc")
    case = operators.case(row)
    axes = case.axes(ranks)
    f, shardings = traced(case, AbstractMesh(tuple(axes.values()), tuple(axes)))
    shapes = [jax.ShapeDtypeStruct(value.shape, jax.numpy.dtype(given.dtype), sharding=where)
              for value, given, where in zip(case.arrays(), case.inputs, shardings, strict=True)]
    path.write_text(f.trace(*shapes).lower(lowering_platforms=("cpu",)).as_text())
    return axes


def time_row(row: dict, options: argparse.Namespace) -> dict:
    """Milliseconds of a step, and of the processor for compiling, with known sizes and with open ones."""
    text = options.models / f"row-{row['row']}-{options.ranks}.mlir"
    export_row(row, options.ranks, text)
    translate = str(Path(options.shard_run).parent / "shard-translate")
    ways = {"known": [], "open": ["--dynamic=all"]}
    artifacts = {way: text.with_suffix(f".{way}.so") for way in ways}
    compiling: dict[str, list[float]] = {way: [] for way in ways}
    steps: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way, more in ways.items():
            took = compile_timed([translate, str(text), "--no-cache", *more, "-o", str(artifacts[way])])
            if took is None:
                return {"refused": True}
            compiling[way].append(took)
    count = 0
    for _ in range(options.rounds):
        for way, artifact in artifacts.items():
            if not count:
                first = harness.run_shardc(options.shard_run, artifact, 3)["ms_min"]
                count = max(8, min(1000, math.ceil(options.budget / first)))
            steps[way].append(harness.run_shardc(options.shard_run, artifact, count)["ms_min"])
    for file in (text, *artifacts.values()):
        file.unlink()
    return {"compiling": {way: 1e3 * min(all_) for way, all_ in compiling.items()},
            "step": {way: min(all_) for way, all_ in steps.items()}, "steps": count}


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.mean(map(math.log, values)))


def time_rows(options: argparse.Namespace) -> int:
    rows = json.loads((Path(__file__).parent / "Table" / "rows.json").read_text())
    if unknown := set(options.cases) - {row["row"] for row in rows}:
        raise SystemExit(f"no row '{min(unknown)}' in Table/rows.json")
    options.models.mkdir(parents=True, exist_ok=True)
    kept = {}
    if options.json and options.json.exists():
        kept = {entry["row"]: entry for entry in map(json.loads, options.json.read_text().splitlines())}
    kinds: dict[str, list[tuple[float, float]]] = {}
    print(f"{'row':34}{'known':>11}{'open':>11}{'step':>7}{'compiling':>11}", flush=True)
    for row in rows:
        if options.cases and row["row"] not in options.cases:
            continue
        timed = kept.get(row["row"])
        if not timed:
            try:
                timed = {"row": row["row"], **time_row(row, options)}
            except (Exception, SystemExit) as error:
                print(f"{row['row']:34} {str(error).splitlines()[-1][:120]}", flush=True)
                continue
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps(timed) + "\n")
        if "refused" in timed:
            print(f"{row['row']:34} refused", flush=True)
            continue
        step, compiling = (timed[what]["open"] / timed[what]["known"] for what in ("step", "compiling"))
        kinds.setdefault(row["operator"], []).append((step, compiling))
        print(f"{row['row']:34}{timed['step']['known']:8.2f} ms{timed['step']['open']:8.2f} ms{step:7.2f}{compiling:11.2f}", flush=True)
    for kind, ratios in kinds.items():
        steps, compilings = zip(*ratios, strict=True)
        print(f"{kind:28}{len(ratios):3} rows: step {geometric_mean(steps):.2f}, most {max(steps):.2f}; compiling {geometric_mean(compilings):.2f}, most {max(compilings):.2f}")
    if kinds:
        steps, compilings = zip(*(pair for ratios in kinds.values() for pair in ratios), strict=True)
        print(f"{len(steps)} rows: step {geometric_mean(steps):.2f}, most {max(steps):.2f}; compiling {geometric_mean(compilings):.2f}, most {max(compilings):.2f}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default=str(harness.ROOT / "build" / "bin" / "shard-run"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rows", action="store_true", help="rows of the table of programs")
    parser.add_argument("--budget", type=float, default=300, help="of --rows: milliseconds of steps in a run")
    parser.add_argument("--json", type=Path, help="of --rows: keeps what ended")
    parser.add_argument("--models", type=Path, default=harness.ROOT / "build" / "uneven-models")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(uneven.CASES) + "; or rows")
    options = parser.parse_args()
    if options.rows:
        return time_rows(options)
    options.cases = options.cases or list(uneven.CASES)
    if unknown := set(options.cases) - set(uneven.CASES):
        parser.error(f"no case '{min(unknown)}'")
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
            print(f"{name}: geometric mean {geometric_mean(list_):.2f}, most {max(list_):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

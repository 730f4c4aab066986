"""Time attention of growing sequences at growing numbers of ranks, beside what the pairs alone would take.

    attention_scaling.py [--shard-run PATH] [--steps N] [--rounds N] [--tokens 4096,8192,16384] [--ranks 1,1x2,2,4] [--causal] [--backward]

B1 H8 D64 f32, queries, keys and values cut along the sequence. One line for each sequence and number of ranks ("1x2": one rank of two threads):

    ms       median of a step; of the least of --rounds rounds, in which all take turns
    of limit limit over ms
    cpu ms   processor time of a step, of all ranks: what other programs on the machine do not touch
    limit    processor time of one rank, of the shortest sequence, times pairs over its pairs, over threads of all ranks or cores if these are fewer: the
             step if nothing were lost to communication, balance or short blocks
    work     limit's processor time over this one's: 1 where ranks add no work
    MB       that leave a rank
    hidden   of the time for communication, what other work covered
    peak     MB that a rank holds at most

A last line for each sequence says what two ranks come to beside one rank of two threads, where both are asked for: 1 is as fast.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import attention
import harness


def measure(shard_run: str, case: str, tokens: int, ranks: int, threads: int, steps: int) -> dict:
    """Return what one line says."""
    attention.SHAPE = (1, 8, tokens, 64)
    with tempfile.TemporaryDirectory() as folder:
        model, artifact = Path(folder) / "attention.mlir", Path(folder) / "attention.so"
        attention.export(case, ranks, model)
        translate = Path(shard_run).parent / "shard-translate"
        subprocess.run([str(translate), str(model), "-o", str(artifact), f"--threads={threads}"], check=True)
        report = harness.step_of_shardc(shard_run, artifact, steps)
    total = report["communication_total"]
    return {"ms": report["ms_per_step"], "cpu": report["cpu"], "bytes": total["bytes"] / ranks, "hidden": total["hidden"],
            "peak": max(report["peak_bytes"])}


def best(rows: list[dict]) -> dict:
    """Of several rounds the one that others disturbed least."""
    return {**min(rows, key=lambda row: row["ms"]), "cpu": min(row["cpu"] for row in rows)}


def main() -> int:
    parser = harness.parser(__doc__, steps=5, rounds=1)
    parser.add_argument("--tokens", default="4096,8192,16384")
    parser.add_argument("--ranks", default="1,1x2,2,4")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--backward", action="store_true")
    options = parser.parse_args()
    case = ("causal " if options.causal else "") + "forward" + ("+backward" if options.backward else "")
    cores = len(os.sched_getaffinity(0))
    first = None
    print(f"{case} on {cores} cores\n{'tokens':>8}{'ranks':>6}{'ms':>10}{'cpu ms':>10}{'limit':>10}{'of limit':>10}{'work':>7}{'MB':>8}{'hidden':>8}{'peak':>8}")
    ways = [tuple(map(int, (way if "x" in way else way + "x1").split("x"))) for way in options.ranks.split(",")]
    for tokens in map(int, options.tokens.split(",")):
        turns = [{way: measure(options.shard_run, case, tokens, *way, options.steps) for way in ways} for _ in range(options.rounds)]
        rows = {way: best([turn[way] for turn in turns]) for way in ways}
        if first is None:
            alone_row = rows.get((1, 1)) or measure(options.shard_run, case, tokens, 1, 1, options.steps)
            first = (tokens, alone_row["cpu"])
        pairs = tokens * (tokens + 1 if options.causal else tokens)
        of_first = first[0] * (first[0] + 1 if options.causal else first[0])
        alone = first[1] * pairs / of_first
        for (ranks, threads), row in rows.items():
            limit, name = alone / min(ranks * threads, cores), str(ranks) if threads == 1 else f"{ranks}x{threads}"
            print(f"{tokens:8}{name:>6}{row['ms']:10.1f}{row['cpu']:10.1f}{limit:10.1f}{limit / row['ms']:10.2f}{alone / row['cpu']:7.2f}"
                  f"{row['bytes'] / 1e6:8.1f}{row['hidden']:8.2f}{row['peak'] / 1e6:8.1f}", flush=True)
        if (1, 2) in rows and (2, 1) in rows:
            print(f"{tokens:8} two ranks beside one rank of two threads: {rows[1, 2]['ms'] / rows[2, 1]['ms']:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Time attention of growing sequences at growing numbers of ranks, beside what the pairs alone would take.

    attention_scaling.py [--shard-run PATH] [--steps N] [--tokens 4096,8192,16384] [--ranks 1,2,4] [--causal] [--backward]

B1 H8 D64 f32, queries, keys and values cut along the sequence. One line for each sequence and number of ranks:

    ms       median of a step
    cpu ms   processor time of a step, of all ranks: what other programs on the machine do not touch
    limit    processor time of one rank, of the shortest sequence, times pairs over its pairs, over ranks or cores if these are fewer: the
             step if nothing were lost to communication, balance or short blocks
    work     limit's processor time over this one's: 1 where ranks add no work
    MB       that leave a rank
    hidden   of the time for communication, what other work covered
    peak     MB that a rank holds at most
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import attention
import harness


def measure(shard_run: str, case: str, tokens: int, ranks: int, steps: int) -> dict:
    """Return what one line says."""
    attention.SHAPE = (1, 8, tokens, 64)
    with tempfile.TemporaryDirectory() as folder:
        model, artifact = Path(folder) / "attention.mlir", Path(folder) / "attention.so"
        attention.export(case, ranks, model)
        translate = Path(shard_run).parent / "shard-translate"
        subprocess.run([str(translate), str(model), "-o", str(artifact)], check=True)
        report = harness.step_of_shardc(shard_run, artifact, steps)
    sites = report["communication"]
    spent = sum(site["ms"] for site in sites)
    # A site's time is what hidden leaves of it.
    would = sum(site["ms"] / max(1e-9, 1 - site["hidden"]) for site in sites)
    return {"ms": report["ms_per_step"], "cpu": report["cpu"], "bytes": sum(site["bytes"] for site in sites) / ranks,
            "hidden": 1 - spent / would if would else 0.0, "peak": max(report["peak_bytes"])}


def main() -> int:
    parser = harness.parser(__doc__, steps=5)
    parser.add_argument("--tokens", default="4096,8192,16384")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--backward", action="store_true")
    options = parser.parse_args()
    case = ("causal " if options.causal else "") + "forward" + ("+backward" if options.backward else "")
    cores = len(os.sched_getaffinity(0))
    first = None
    print(f"{case} on {cores} cores\n{'tokens':>8}{'ranks':>6}{'ms':>10}{'cpu ms':>10}{'limit':>10}{'work':>7}{'MB':>8}{'hidden':>8}{'peak':>8}")
    for tokens in map(int, options.tokens.split(",")):
        for ranks in map(int, options.ranks.split(",")):
            row = measure(options.shard_run, case, tokens, ranks, options.steps)
            if first is None:
                first = (tokens, row["cpu"] if ranks == 1 else measure(options.shard_run, case, tokens, 1, options.steps)["cpu"])
            pairs = tokens * (tokens + 1 if options.causal else tokens)
            of_first = first[0] * (first[0] + 1 if options.causal else first[0])
            alone = first[1] * pairs / of_first
            print(f"{tokens:8}{ranks:6}{row['ms']:10.1f}{row['cpu']:10.1f}{alone / min(ranks, cores):10.1f}{alone / row['cpu']:7.2f}"
                  f"{row['bytes'] / 1e6:8.1f}{row['hidden']:8.2f}{row['peak'] / 1e6:8.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

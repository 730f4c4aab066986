"""Compile models again and again, and compare the artifacts byte by byte.

    repeated.test.py --tools DIRECTORY [--count N] [MODEL...]

Each time in another directory, with another environment, on one core and on all, and at other
addresses (the system gives them by chance). An artifact names its model as the command line does, so the name stays the same.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "Execution" / "corpus" / "Inputs"
MODELS = ("sm_collectives", "conv_halo_vjp", "moe_top2")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("models", nargs="*", default=MODELS)
    options = parser.parse_args()
    tool = str((options.tools / "shard-translate").resolve())
    differ = 0
    for model in options.models:
        digests = set()
        for number in range(options.count):
            with tempfile.TemporaryDirectory(prefix="x" * (1 + number % 7)) as folder:
                (Path(folder) / "model.mlir").write_bytes((CORPUS / f"{model}.mlir").read_bytes())
                cores = os.sched_getaffinity(0)
                mine = {min(cores)} if number % 2 else cores
                environment = {**os.environ, "TMPDIR": folder, "NOISE": "n" * (97 * number)}
                subprocess.run([tool, "model.mlir", "-o", "model.so"], check=True, cwd=folder, env=environment, capture_output=True, preexec_fn=lambda mine=mine: os.sched_setaffinity(0, mine))
                digests.add(hashlib.sha256((Path(folder) / "model.so").read_bytes()).hexdigest())
        if len(digests) > 1:
            differ += len(digests) - 1
            print(f"{model}: {len(digests)} different artifacts in {options.count}")
    print(f"{len(options.models)} models, {options.count} times each: {len(options.models) * options.count} artifacts, {differ} differ")
    return int(differ > 0)


sys.exit(main())

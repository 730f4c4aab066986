"""Compile models again and again, and compare what comes out byte by byte.

    repeated.test.py --tools DIRECTORY [--count N] [--random N [--seed S]] [MODEL...]

Each model is compiled for CPUs, with sizes left open, with --reproducible and to PTX, each N times: in another
directory, with another environment, on one core and on all, and at other addresses (the system gives them by chance).
Nothing comes from the cache of compiled programs. An artifact names its model as the command line does, so the name
stays the same. --random adds programs that shard-fuzz draws.
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
WAYS = ((), ("--dynamic=all",), ("--reproducible",), ("--target=cuda", "--emit=ptx"))


def draw(tools: Path, count: int, seed: int) -> dict[str, bytes]:
    """Programs that shard-fuzz prints, by a name for each."""
    if count == 0:
        return {}
    text = subprocess.run(
        [tools / "shard-fuzz", "--print", f"--count={count}", f"--seed={seed}"], check=True, capture_output=True
    ).stdout
    return {f"program {number} of seed {seed}": part for number, part in enumerate(text.split(b"// -----\n"))}


def compile_once(tool: str, model: bytes, way: tuple[str, ...], number: int) -> str | None:
    """The digest of what one compilation writes; None where the model is refused."""
    with tempfile.TemporaryDirectory(prefix="x" * (1 + number % 7)) as folder:
        (Path(folder) / "model.mlir").write_bytes(model)
        cores = os.sched_getaffinity(0)
        mine = {min(cores)} if number % 2 else cores
        environment = {**os.environ, "TMPDIR": folder, "NOISE": "n" * (97 * number)}
        done = subprocess.run(
            [tool, "model.mlir", "--no-cache", *way, "-o", "model.out"],
            cwd=folder,
            env=environment,
            capture_output=True,
            preexec_fn=lambda: os.sched_setaffinity(0, mine),
        )
        if done.returncode not in (0, 1, 77):
            sys.exit(f"shard-translate ended with {done.returncode}: {done.stderr.decode()}")
        return None if done.returncode else hashlib.sha256((Path(folder) / "model.out").read_bytes()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("models", nargs="*", default=MODELS)
    options = parser.parse_args()
    tools = options.tools.resolve()
    models = {model: (CORPUS / f"{model}.mlir").read_bytes() for model in options.models}
    models |= draw(tools, options.random, options.seed)
    made = refused = differ = 0
    for name, model in models.items():
        for way in WAYS:
            digests = [
                compile_once(str(tools / "shard-translate"), model, way, number) for number in range(options.count)
            ]
            made += sum(digest is not None for digest in digests)
            refused += all(digest is None for digest in digests)
            if len(set(digests)) > 1:
                differ += len(set(digests)) - 1
                print(f"{name} {' '.join(way)}: {len(set(digests))} different outputs in {options.count}")
    print(
        f"{len(models)} models in {len(WAYS)} ways, {options.count} times each: {made} outputs, {differ} differ; {refused} refused"
    )
    return int(differ > 0)


sys.exit(main())

"""Whether the scheduler's model (scripts/scheduler.py) puts variants of kernels in the order in which their published times are.

    ladders.py [--machine a6000]... [--kernel block]... [--size N] [--least SHARE] [--within SHARE]

Compiles Inputs/sgemm.cu with nvcc, estimates each kernel on each GPU, and prints a table, the pairs that come out in the
wrong order, and shares. Kernels by whose times the model's constants were found are marked, and their pairs counted apart.
With --least, 1 where fewer pairs are right; with --within, where an estimate is further off. No GPU is needed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import itertools
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import scheduler
from sass.cubin import Kernel, find_tool, read_cubin
from sass.launches import Launch

SOURCE = Path(__file__).parent / "Inputs" / "sgemm.cu"
ARCHITECTURES = {"a100": "sm_80", "a6000": "sm_86", "rtx4090": "sm_89"}

# GFLOP/s of C = A B, 4096 cubed. A6000: S. Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance: a
# Worklog", table of the repository SGEMM_CUDA. A100 and RTX 4090: others' runs of the same kernels, in tables of two
# repositories that are built upon it ("SGEMM on CUDA GPU: the experiments run on one A100 GPU"; "Running the kernels on a
# NVIDIA RTX 4090 (Ada, SM89)").
PUBLISHED = {
    "a6000": {
        "naive": 309.0,
        "coalesced": 1986.5,
        "shared": 2980.3,
        "column": 8474.7,
        "block": 15971.7,
        "linear": 16213.4,
        "padded": 16459.2,
        "doubled": 17278.3,
        "wide": 18237.3,
        "tuned": 19721.0,
        "warptiled": 21779.3,
    },
    "a100": {
        "naive": 290.0,
        "coalesced": 3010.0,
        "shared": 5440.0,
        "column": 10200.0,
        "block": 14470.0,
        "padded": 14950.0,
        "linear": 15280.0,
        "wide": 15370.0,
        "tuned": 15860.0,
        "warptiled": 16780.0,
    },
    "rtx4090": {
        "naive": 673.5,
        "coalesced": 5217.8,
        "shared": 6481.4,
        "column": 19308.0,
        "block": 35636.5,
        "linear": 36609.9,
        "padded": 37057.6,
        "wide": 42464.2,
        "tuned": 42827.2,
        "warptiled": 45319.9,
    },
}
# By these times, on these GPUs, constants of the model were found.
FITTED = {(machine, kernel) for machine in ("a6000", "a100") for kernel in ("naive", "coalesced", "shared", "column")}


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a kernel reaches: GFLOP/s as published, and by the model."""

    machine: str
    kernel: str
    published: float
    estimated: float

    @property
    def fitted(self) -> bool:
        return (self.machine, self.kernel) in FITTED


def launch_of(kernel: str, size: int) -> Launch:
    """A launch for matrices of ``size`` squared, with the worklog's blocks."""
    tile, threads = {
        "naive": ((32, 32), (32, 32, 1)),
        "coalesced": ((32, 32), (1024, 1, 1)),
        "shared": ((32, 32), (1024, 1, 1)),
        "column": ((64, 64), (512, 1, 1)),
        "warptiled": ((128, 128), (128, 1, 1)),
        "doubled": ((256, 128), (256, 1, 1)),
    }.get(kernel, ((128, 128), (256, 1, 1)))
    left, right, result = 1 << 32, 2 << 32, 3 << 32
    words = struct.unpack("<6Q", struct.pack("<iiifQQf4xQ", size, size, size, 1.0, left, right, 0.0, result))
    return Launch(kernel, (size // tile[0], size // tile[1], 1), threads, 0, list(words))


def compile_for(arch: str, folder: Path) -> dict[str, Kernel]:
    cubin = folder / f"{arch}.cubin"
    subprocess.run([find_tool("nvcc"), f"-arch={arch}", "-cubin", "-o", cubin, SOURCE], check=True, capture_output=True)
    return read_cubin(cubin)


def estimate(machine: str, kernel: str, code: Kernel, size: int) -> Estimate:
    found = scheduler.schedule(code, launch_of(kernel, size), scheduler.MACHINES[machine])
    return Estimate(machine, kernel, PUBLISHED[machine][kernel], 2 * size**3 / found.seconds / 1e9)


def estimates(machines: list[str], kernels: list[str], size: int, jobs: int) -> list[Estimate]:
    """Of all kernels on all GPUs, or of those that are asked for."""
    work = []
    with tempfile.TemporaryDirectory() as folder:
        for machine in machines or list(PUBLISHED):
            code = compile_for(ARCHITECTURES[machine], Path(folder))
            work += [(machine, one, code[one], size) for one in PUBLISHED[machine] if not kernels or one in kernels]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        found = {}
        for done in concurrent.futures.as_completed(begun := {pool.submit(estimate, *one): one[:2] for one in work}):
            found[begun[done]] = done.result()
            print(line_of(found[begun[done]]), flush=True)
        return [found[machine, kernel] for machine, kernel, *_ in work]


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two kernels of one GPU, the faster one first by what is published."""

    faster: Estimate
    slower: Estimate

    @property
    def apart(self) -> float:
        return self.faster.published / self.slower.published - 1

    @property
    def right(self) -> bool:
        return self.faster.estimated > self.slower.estimated

    @property
    def fitted(self) -> bool:
        return self.faster.fitted or self.slower.fitted


def pairs_of(found: list[Estimate]) -> list[Pair]:
    ordered = sorted(found, key=lambda one: (one.machine, -one.published))
    return [Pair(a, b) for a, b in itertools.combinations(ordered, 2) if a.machine == b.machine]


def line_of(one: Estimate) -> str:
    return (
        f"| {one.machine} | {one.kernel} | {one.published:.0f} | {one.estimated:.0f} | "
        f"{one.estimated / one.published:.2f} | {'fitted' if one.fitted else ''} |"
    )


def report(found: list[Estimate]) -> list[str]:
    lines: list[str] = []
    pairs = [pair for pair in pairs_of(found) if not pair.fitted]
    for name, some in (
        ("pairs without a fitted one", pairs),
        ("of those, less than 20 % apart", [pair for pair in pairs if pair.apart < 0.2]),
        ("of those, 3 % to 20 % apart", [pair for pair in pairs if 0.03 <= pair.apart < 0.2]),
        ("pairs with a fitted one", [pair for pair in pairs_of(found) if pair.fitted]),
        ("all pairs", pairs_of(found)),
    ):
        lines.append(f"{name}: {sum(pair.right for pair in some)} of {len(some)} in the right order")
    lines += [
        f"wrong: {pair.faster.machine} {pair.faster.kernel} is {pair.apart:.1%} faster than {pair.slower.kernel}, estimated {pair.faster.estimated / pair.slower.estimated - 1:+.1%}"
        for pair in pairs_of(found)
        if not pair.right
    ]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--machine", action="append", default=[], choices=sorted(PUBLISHED))
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--size", type=int, default=4096, help="of the matrices; the published times are of 4096")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=0, help="share of pairs that have to be right, fitted ones too")
    parser.add_argument("--within", type=float, default=0, help="share by which an estimate may differ from what is published")
    options = parser.parse_args()
    print("| GPU | kernel | published, GFLOP/s | estimated | ratio | |\n|---|---|---|---|---|---|")
    found = estimates(options.machine, options.kernel, options.size, options.jobs)
    print("\n".join(report(found)))
    pairs = pairs_of(found)
    far = [one for one in found if options.within and abs(one.estimated / one.published - 1) > options.within]
    return int(sum(pair.right for pair in pairs) < options.least * len(pairs) or bool(far))


if __name__ == "__main__":
    sys.exit(main())

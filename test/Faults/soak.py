"""Many steps, and many programs, in one process each: memory, descriptors and threads stay what they are.

    soak.py --tools DIRECTORY [--steps N] [--programs N] [--transport NAME] [--program NAME]

Steps: a program with halos, gathers and a ring runs N steps on four ranks. From step 500 (a twentieth of shorter runs) to the
last the resident memory of all its processes may grow by 1 % at most; descriptors and threads stay the same; the last step's
results have the bits of one step's. Programs: a file of N modules is compiled, loaded, run and left, one after the other, in one
process; memory after the first tenth may grow by 1 % and half a MiB.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import MODELS, Run, ranks_of

PROGRAMS = ("heat2d_roll", "knn_interpolate", "sm_ring_attention")
"""Halos, gathers by index, a ring."""

LEAST_LOOKS = 20
"""So many looks at a program while it steps say whether it grows. Where a machine is so fast that there are fewer, it takes more steps."""

MOST_STEPS = 10_000_000


def look(process: int) -> tuple[int, int, int]:
    """KiB of its own memory that a process has in use, its descriptors, its threads."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines() if ":" in line)
    own = sum(int(status[name].split()[0]) for name in ("RssAnon", "RssShmem"))
    return own, len(os.listdir(f"/proc/{process}/fd")), int(status["Threads"])


def soak(tools: Path, program: str, steps: int, transport: str) -> None:
    model, run = MODELS / f"{program}.mlir", str(tools / "shard-run")
    with tempfile.TemporaryDirectory() as folder:
        one, last, said = (Path(folder) / name for name in ("one.npz", "last.npz", "report.json"))
        subprocess.run([run, str(model), f"--outputs=@{one}"], check=True, capture_output=True)
        begin = time.monotonic()
        command = [run, str(model), f"--repeat={steps}", f"--outputs=@{last}", "--report=json", f"--transport={transport}", *([] if transport == "thread" else ["--processes=4"])]
        samples: list[tuple[float, dict[int, tuple[int, int, int]]]] = []
        with said.open("wb") as report, Run(command, stdout=report) as running:
            while running.process.poll() is None:
                try:
                    processes = [running.process.pid] if transport == "thread" else list(ranks_of(running.process.pid).values())
                    samples.append((time.monotonic(), {process: look(process) for process in processes}))
                except (OSError, KeyError):
                    pass
                time.sleep(0.005)
            assert running.process.returncode == 0, running.text()
        took = time.monotonic() - begin
        assert one.read_bytes() == last.read_bytes(), f"{program}: the last step's results differ from one step's"
        mean_ms = json.loads(said.read_text())["ms_mean"]
        # Steps end when the first of all threads does, and have taken as long as the program says: what comes before is the start.
        threads = [sum(threads for _, _, threads in sample.values()) for _, sample in samples]
        most = max((count for count in set(threads) if threads.count(count) > 2), default=0)
        ends = max((when for (when, _), its_threads in zip(samples, threads, strict=True) if its_threads == most), default=0.0)
        begins = ends - 1e-3 * mean_ms * (steps - min(500, steps // 20))
        stepping = [sample for (when, sample), its_threads in zip(samples, threads, strict=True) if its_threads == most and begins <= when]
        if len(stepping) <= LEAST_LOOKS and steps < MOST_STEPS:
            return soak(tools, program, 4 * steps, transport)
        assert len(stepping) > LEAST_LOOKS, f"{program}: {len(stepping)} looks at it while it steps: give more steps"
        stepping = stepping[: -max(2, len(stepping) // 20)]
        tenth = max(1, len(stepping) // 10)
        memory = [sum(kib for kib, _, _ in sample.values()) for sample in stepping]
        early, late = statistics.median(memory[:tenth]), statistics.median(memory[-tenth:])
        growth = 100 * (late - early) / early
        descriptors = {tuple(files for _, files, _ in sample.values()) for sample in stepping}
        print(f"{program}, {transport}: {steps} steps in {took:.0f} s, {early:.0f} KiB early, {late:.0f} KiB late, growth {growth:.2f} %, "
              f"descriptors {sorted(descriptors)[0]}, {most} threads, {len(stepping)} looks", flush=True)
        assert growth <= 1, f"{program}: memory grows by {growth:.2f} %"
        assert len(descriptors) == 1, f"{program}: descriptors change: {descriptors}"


def soak_programs(tools: Path, count: int) -> None:
    """Compile, load, run and leave ``count`` programs in one process."""
    text = (MODELS / "conv_halo.mlir").read_text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.mlir"
        path.write_text("\n// -----\n".join([text] * count))
        samples = []
        with Run([str(tools / "shard-run"), str(path)]) as running:
            while running.process.poll() is None:
                with contextlib.suppress(OSError, KeyError):
                    samples.append(look(running.process.pid))
                time.sleep(0.05)
            said = running.text()
            assert running.process.returncode == 0 and f"{count} of {count} modules passed" in said, said[-500:]
    tenth = max(2, len(samples) // 10)
    early, late = (statistics.median(kib for kib, _, _ in part) for part in (samples[tenth : 2 * tenth], samples[-tenth - 1 : -1]))
    growth = 100 * (late - early) / early
    files = sorted({files for _, files, _ in samples[tenth:-1]})
    print(f"{count} programs in one process: {early:.0f} KiB early, {late:.0f} KiB late, growth {growth:.2f} %, descriptors {files[0]} to {files[-1]}")
    assert late - early <= 0.01 * early + 512, f"memory grows by {late - early:.0f} KiB"
    assert files[-1] - files[0] <= 16, f"descriptors grow: {files}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--transport", action="append", choices=("thread", "shm", "tcp"))
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    options = parser.parse_args()
    failed = []
    for transport in options.transport or ["thread", "shm", "tcp"]:
        for program in options.program or PROGRAMS:
            try:
                soak(options.tools, program, options.steps, transport)
            except AssertionError as error:
                failed.append(str(error))
    if options.programs:
        try:
            soak_programs(options.tools, options.programs)
        except AssertionError as error:
            failed.append(str(error))
    for problem in failed:
        print(f"FAILED {problem}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

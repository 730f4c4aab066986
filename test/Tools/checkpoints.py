#!/usr/bin/env python3
"""Lose ranks and jobs while they save, and see that nothing is lost.

    kills     kill -9 of a rank, of the launcher or of a job of threads at --count random moments while every step is
              saved. After each the directory must hold whole checkpoints, the last of them at least as new as the last
              step that was known to be saved, with the bits that NumPy computes. The next round goes on from there.
    restarts  kill or stop one rank of four, --count times; the launcher must go on with three (--restarts) and end with
              the bits of a run that nobody disturbed.
    full      save on disks that are too small, in a mount namespace of its own.
    cost      what saving and restoring take, beside writing the same bytes.
    pairs     save on one mesh, read on another: --count of 20 x 20 meshes with uneven, replicated and empty shards.

Prints one line of figures for each job that is asked for; exits with 1 at the first thing that is wrong. With --work
what is done is noted there: a command that was stopped goes on.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Faults")]

import shardc
from processes import ranks_of
from shardc._tools import find_tool

MODEL = """
sdy.mesh @mesh = <["x"={x}, "y"={y}]>
func.func public @main(
    %rows: tensor<{n}x96xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}} loc("rows"),
    %columns: tensor<{n}x97xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{"x"}}]>}} loc("columns"),
    %all: tensor<77xui32> loc("all"),
    %step: tensor<i32> loc("step"))
    -> (tensor<{n}x96xi32> {{jax.result_info = "rows", sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
        tensor<{n}x97xi32> {{jax.result_info = "columns", sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{"x"}}]>}},
        tensor<77xui32> {{jax.result_info = "all"}},
        tensor<i32> {{jax.result_info = "total"}}) {{
  %three = stablehlo.constant dense<3> : tensor<{n}x96xi32>
  %tripled = stablehlo.multiply %rows, %three : tensor<{n}x96xi32>
  %steps = stablehlo.broadcast_in_dim %step, dims = [] : (tensor<i32>) -> tensor<{n}x96xi32>
  %next = stablehlo.add %tripled, %steps : tensor<{n}x96xi32>
  %five = stablehlo.constant dense<5> : tensor<{n}x97xi32>
  %other = stablehlo.multiply %columns, %five : tensor<{n}x97xi32>
  %seven = stablehlo.constant dense<7> : tensor<77xui32>
  %drawn = stablehlo.multiply %all, %seven : tensor<77xui32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %total = stablehlo.reduce(%next init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<{n}x96xi32>, tensor<i32>) -> tensor<i32>
  return %next, %other, %drawn, %total : tensor<{n}x96xi32>, tensor<{n}x97xi32>, tensor<77xui32>, tensor<i32>
}}
"""


class State:
    """What the model computes, in NumPy; ``step`` steps are done."""

    def __init__(self, size: int) -> None:
        draw = numpy.random.default_rng(size)
        self.step = 0
        self.values = {"rows": draw.integers(-99, 99, (size, 96), numpy.int32),
                       "columns": draw.integers(-99, 99, (size, 97), numpy.int32),
                       "all": draw.integers(0, 99, 77, numpy.uint32)}

    def advance(self, step: int) -> None:
        assert step >= self.step, f"from step {self.step} back to {step}"
        while self.step < step:
            rows, columns, all_ = self.values.values()
            self.values = {"rows": rows * numpy.int32(3) + numpy.int32(self.step), "columns": columns * numpy.int32(5),
                           "all": all_ * numpy.uint32(7)}
            self.step += 1

    def compare(self, got: dict[str, Any]) -> None:
        assert list(got) == list(self.values), list(got)
        for name, expected in self.values.items():
            assert got[name].tobytes() == expected.tobytes(), f"step {self.step}: other bits in {name!r}"


def write_model(folder: Path, size: int, x: int = 4, y: int = 1) -> tuple[Path, Path, State]:
    """The model's file, that of its inputs, and the state that they are."""
    model, inputs, state = folder / "model.mlir", folder / "in.npz", State(size)
    model.write_text(MODEL.format(n=size, x=x, y=y))
    numpy.savez(inputs, **{f"in{i}": value for i, value in enumerate(state.values.values())})
    return model, inputs, state


def compile_for(model: Path, artifact: Path, options: list[str]) -> Path:
    if not artifact.exists():
        run([find_tool("shard-translate"), str(model), "-o", str(artifact), *options])
    return artifact


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, f"{' '.join(command)}: code {result.returncode}\n{result.stderr}"
    return result


def wait_for_ranks(process: subprocess.Popen[str], ranks: int, gone: set[int]) -> dict[int, int]:
    """The processes of a launcher's next attempt, by rank: none of those that are gone."""
    for _ in range(6000):
        found = ranks_of(process.pid)
        if len(found) == ranks and not gone & set(found.values()):
            return found
        time.sleep(0.01)
    raise AssertionError(f"no {ranks} ranks after 60 s")


def steps_with_log(command: list[str], until: int) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a run and read its log up to some line. It cannot run far ahead: its pipe is short."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    assert process.stdout is not None
    fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
    seen: list[int] = []
    while len(seen) < until:
        line = process.stdout.readline()
        if not line:
            break
        if line.startswith("step "):
            seen.append(int(line[5 : line.index(":")]))
    return process, seen


def wait_for_end(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError("a run that lost a rank did not end within 60 s") from None


def kills(count: int, seed: int, work: Path) -> None:
    folder = work / "kills"
    folder.mkdir(parents=True, exist_ok=True)
    model, inputs, state = write_model(folder, 300)
    artifacts = [compile_for(model, folder / f"model-{n}.so", [f"--mesh=x={n}"]) for n in (4, 3)]
    saved, notes = folder / "saved", folder / "done.json"
    done = json.loads(notes.read_text()) if notes.exists() else {"kills": 0, "old": 0, "unfinished": 0, "step": 0}
    if (saved / "lock").exists():
        # Of a command that was stopped a job may be left.
        wait_for_lock(saved)
    begin = time.monotonic()
    for round_ in range(done["kills"], count):
        draw = random.Random(f"{seed} {round_}")
        ranks = draw.randrange(2)
        command = [find_tool("shard-run"), str(artifacts[ranks]), f"--inputs=@{inputs}", "--carry=0-2:0-2",
                   "--step-number=step", "--log=total", "--steps=1000000", f"--checkpoint={saved}", "--save-every=1",
                   "--keep=2", "--resume"]
        how = draw.choice(["threads", "rank", "rank", "launcher"])
        if how != "threads":
            command.append(f"--processes={[4, 3][ranks]}")
        process, seen = steps_with_log(command, draw.randint(1, 3))
        if not seen:
            raise AssertionError(f"round {round_}: no step\n{process.communicate()[1]}")
        # Somewhere in the saves that follow.
        time.sleep(draw.uniform(0, 0.03))
        if how == "rank":
            victims = ranks_of(process.pid)
            os.kill(draw.choice(sorted(victims.values())), signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGKILL)
        output, said = wait_for_end(process)
        logged = seen + [int(line[5 : line.index(":")]) for line in output.splitlines()
                         if line.startswith("step ") and ":" in line]
        # Ranks of a launcher that is gone end by themselves; the next job waits for the lock.
        wait_for_lock(saved)
        done["unfinished"] += any(path.name.startswith(".unfinished-") for path in saved.iterdir())
        if logged[-1] == done["step"] == 0 and not list(saved.glob("step-*")):
            # The first save had not been made.
            done["old"] += 1
            done["kills"] = round_ + 1
            continue
        read = shardc.restore(saved)
        # What was logged in step s is saved before step s + 1 begins.
        assert read.step >= max(logged[-1], done["step"]), (
            f"round {round_}: step {read.step} after {logged[-1]}: {said}")
        for path in saved.glob("step-*"):
            shardc.restore(saved, step=int(path.name[5:]))
        state.advance(read.step)
        state.compare(read.values)
        done["old"] += read.step == logged[-1]
        done.update(kills=round_ + 1, step=read.step)
        notes.with_suffix(".new").write_text(json.dumps(done))
        notes.with_suffix(".new").rename(notes)
    print(f"kills: {count} jobs killed while they saved: {done['old']} times the state before was the last, "
          f"{count - done['old']} times a new one; {done['unfinished']} left an unfinished one; {done['step']} steps, "
          f"0 saves lost, 0 mixed ({time.monotonic() - begin:.0f} s)")
    if count >= 100:
        # Moments that miss every save would show nothing.
        assert done["unfinished"] >= count // 20, f"only {done['unfinished']} kills came within a save"
    shutil.rmtree(folder)


def wait_for_lock(directory: Path) -> None:
    with open(directory / "lock") as lock:
        for _ in range(1000):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.01)
    raise AssertionError("the lock of a job that was killed is still held after 10 s")


def restarts(count: int, seed: int, work: Path) -> None:
    folder = work / "restarts"
    folder.mkdir(parents=True, exist_ok=True)
    model, inputs, state = write_model(folder, 50)
    artifact = compile_for(model, folder / "model.so", ["--mesh=x=4"])
    state.advance(400)
    begin, losses = time.monotonic(), 0
    for round_ in range(count):
        draw = random.Random(f"{seed} {round_}")
        # Two ranks, one after the other; one that hangs; one of a mesh of two axes; one of an artifact.
        kind = ["two", "hangs", "axes", "artifact"][round_ % 4]
        lost = 2 if kind == "two" else 1
        left = {"two": ["3 ranks of mesh x=3,y=1", "2 ranks of mesh x=2,y=1"], "hangs": ["3 ranks of mesh x=3,y=1"],
                "axes": ["2 ranks of mesh x=1,y=2"], "artifact": ["an artifact has its mesh: 4 ranks again"]}[kind]
        program = [str(artifact)] if kind == "artifact" else [str(model)]
        program += ["--mesh=x=2,y=2"] if kind == "axes" else []
        with tempfile.TemporaryDirectory(dir=folder) as place:
            saved = Path(place) / "saved"
            process, _ = steps_with_log(
                [find_tool("shard-run"), *program, f"--inputs=@{inputs}", "--carry=0-2:0-2", "--step-number=step",
                 "--log=total", "--steps=400", f"--checkpoint={saved}", "--save-every=7", "--keep=2", "--processes=4",
                 f"--restarts={lost}", f"--transport={draw.choice(['shm', 'tcp'])}", f"--timeout={4000 if kind == 'hangs' else 30_000}"],
                draw.randint(1, 40))
            gone: set[int] = set()
            for loss in range(lost):
                victims = wait_for_ranks(process, 4 - loss, gone)
                gone |= set(victims.values())
                time.sleep(draw.uniform(0, 0.5) if loss else 0)
                how = signal.SIGSTOP if kind == "hangs" else signal.SIGKILL
                os.kill(victims[draw.choice(sorted(victims))], how)
                losses += 1
            _, said = wait_for_end(process)
            assert process.returncode == 0, f"round {round_}: code {process.returncode}\n{said}"
            for loss in range(lost):
                line = f"restart {loss + 1} of {lost} after the loss of 1 rank: {left[loss]}, from step "
                assert line in said, f"round {round_}: no '{line}' in\n{said}"
            read = shardc.restore(saved)
            assert read.step == 400 and f"{read.ranks} ranks" in left[-1], read
            state.compare(read.values)
    print(f"restarts: {count} jobs lost {losses} ranks and ended by themselves, on the ranks that were left, with the "
          f"bits of an undisturbed run ({time.monotonic() - begin:.0f} s)")


MESHES = [("x=1,y=1", ""), ("x=2,y=1", ""), ("x=3,y=1", ""), ("x=4,y=1", ""), ("x=5,y=1", ""), ("x=8,y=1", ""),
          ("x=1,y=2", ""), ("x=1,y=3", ""), ("x=2,y=2", ""), ("x=2,y=3", ""), ("x=3,y=2", ""), ("x=4,y=2", ""),
          ("x=2,y=1", "0:0=1,12"), ("x=3,y=1", "0:0=0,13,0"), ("x=4,y=1", "1:1=0,90,7,0"), ("x=2,y=2", "1:0=13,0"),
          ("x=2,y=3", "1:0=1,0,12"), ("x=5,y=1", "0:0=3,0,0,0,10"), ("x=3,y=3", "1:1=97,0,0"),
          ("x=7,y=1", "0:0=1,2,3,4,3,0,0")]


def pairs(count: int, seed: int, work: Path) -> None:
    folder = work / "pairs"
    folder.mkdir(parents=True, exist_ok=True)
    model, inputs, state = write_model(folder, 13)
    zeros = folder / "zeros.npz"
    numpy.savez(zeros, **{f"in{i}": value * 0 for i, value in enumerate(state.values.values())})
    state.advance(1)
    after = {f"out{i}": value for i, value in enumerate(state.values.values())}
    state.advance(2)
    expected = folder / "out.npz"
    last = {f"out{i}": value for i, value in enumerate(state.values.values())}
    numpy.savez(expected, **last, out3=state.values["rows"].sum(dtype=numpy.int32))
    every = [(a, b) for a in range(len(MESHES)) for b in range(len(MESHES))]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    begin = time.monotonic()

    def artifact(number: int) -> str:
        mesh, sizes = MESHES[number]
        options = [f"--mesh={mesh}"] + ([f"--sizes={sizes}"] if sizes else [])
        return str(compile_for(model, folder / f"mesh-{number}.so", options))

    common = ["--carry=0-2:0-2", "--step-number=step"]
    for saver, reader in sorted(chosen):
        saved = folder / f"saved-{saver}"
        if not saved.exists():
            run([find_tool("shard-run"), artifact(saver), f"--inputs=@{inputs}", *common, "--steps=1",
                 f"--checkpoint={saved}", "--save-every=1"])
            got = shardc.restore(saved).values
            for expect, value in zip(after.values(), got.values(), strict=True):
                assert expect.tobytes() == value.tobytes(), f"saved on {MESHES[saver]}"
        result = run([find_tool("shard-run"), artifact(reader), f"--inputs=@{zeros}", *common, "--steps=2",
                      f"--checkpoint={saved}", "--resume", f"--expect=@{expected}"])
        assert result.stderr.count("bitwise equal") == 4, f"{MESHES[saver]}, {MESHES[reader]}: {result.stderr}"
    print(f"pairs: {len(chosen)} of {len(every)} pairs of meshes give equal bits ({time.monotonic() - begin:.0f} s)")


def full(count: int, seed: int, work: Path) -> None:
    """In a mount namespace of its own, where a disk may be as small as one likes."""
    inside = "SHARDC_SMALL_DISK"
    if inside not in os.environ:
        command = ["unshare", "--map-root-user", "--mount", sys.executable, __file__, "full", f"--count={count}",
                   f"--seed={seed}"]
        try:
            possible = subprocess.run([*command[:3], "true"], capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            possible = False
        if not possible:
            print("full: not run, no mount namespace can be made here")
            return
        result = subprocess.run(command, env={**os.environ, inside: "1"}, check=False)
        assert result.returncode == 0, "full: failed"
        return
    work.mkdir(parents=True, exist_ok=True)
    model, inputs, _ = write_model(work, 300)
    artifact = compile_for(model, work / "model.so", ["--mesh=x=4"])
    disk = work / "disk"
    disk.mkdir()
    refused = 0
    for round_ in range(count):
        # One checkpoint takes 233 kB; the third does not fit.
        kilobytes = random.Random(f"{seed} {round_}").randrange(480, 720)
        run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(disk)])
        command = [find_tool("shard-run"), str(artifact), f"--inputs=@{inputs}", "--carry=0-2:0-2",
                   "--step-number=step", "--steps=9", f"--checkpoint={disk / 'saved'}", "--save-every=1"]
        command += ["--processes=4"] * (round_ % 2)
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert result.returncode == 7, f"code {result.returncode}: {result.stderr}"
        assert "No space left on device" in result.stderr, result.stderr
        read = shardc.restore(disk / "saved")
        now = State(300)
        now.advance(read.step)
        now.compare(read.values)
        assert not [path for path in (disk / "saved").iterdir() if path.name.startswith(".unfinished")]
        refused += 1
        run(["umount", str(disk)])
    print(f"full: {refused} jobs ended with code 7 on full disks of 480 to 720 kB, the checkpoint before whole")


def cost(count: int, seed: int, work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    values = {f"v{i}": numpy.random.default_rng(seed + i).random((4096, 1024)) for i in range(count)}
    megabytes = sum(value.nbytes for value in values.values()) / 1e6

    def measure(call: Any) -> str:
        wall, processor = time.monotonic(), time.process_time()
        call()
        return f"{time.process_time() - processor:.2f} s of CPU in {time.monotonic() - wall:.2f} s"

    def plainly() -> None:
        with open(Path(place) / "plain", "wb") as file:
            for value in values.values():
                file.write(value.data)
            file.flush()
            os.fsync(file.fileno())

    with tempfile.TemporaryDirectory(dir=work) as place:
        plain = measure(plainly)
        saved = measure(lambda: shardc.save(Path(place) / "saved", values, step=1))
        read = measure(lambda: shardc.restore(Path(place) / "saved"))
    digests = measure(lambda: [hashlib.sha256(value.data).digest() for value in values.values()])
    print(f"cost: {megabytes:.0f} MB by one rank: write and fsync {plain}; save {saved}; restore {read}; "
          f"SHA-256 of OpenSSL for comparison {digests}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", choices=["kills", "restarts", "pairs", "full", "cost", []],
                        help="default: all")
    parser.add_argument("--count", type=int,
                        help="of each; default: 1000 kills, 20 restarts, 400 pairs, 20 full disks, 8 times 34 MB")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="where a command that was stopped goes on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        try:
            for job, count in ((kills, 1000), (restarts, 20), (pairs, 400), (full, 20), (cost, 8)):
                if not options.jobs or job.__name__ in options.jobs:
                    job(options.count or count, options.seed, work)
        except AssertionError as error:
            print(f"checkpoints.py: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

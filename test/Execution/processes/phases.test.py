"""Kills or stops rank 0 at each call of the system that it makes while a job starts and runs.

    phases.test.py SHARD-RUN MODEL [--every=K] [--slack=S] [--transport=shm] [--alone]

Rank 0 reads the model, compiles it, listens, publishes the program and runs it: each call of these is one moment, from the first to the
last. A killed rank: all are gone within 2 s, with code 4; a stopped one: within the timeout and 1 s, with code 5. Rank 0 is named, and
nothing is left. --alone: no launcher of ours has started the ranks; rank 0 compiles while the others wait for its program, and these
name it. --every: one moment of so many. --slack: seconds more, on a busy machine. Prints how many moments there are, and the
longest of each.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Faults"))

from processes import Run, interposer

TIMEOUT = 2.0
NAMED = {
    "kill": r"rank 0 \(process \d+\) was ended by signal 9",
    "stop": r"rank 0 \(process \d+\) was stopped by signal 19|missing: rank 0|rank 0 \(process \d+\) does not end|^rank 0 waits for",
}


def check(command: list[str], library: Path, what: str, number: int) -> float | None:
    """What happens when ``what`` comes at call ``number``: how long it took until all were gone; None where there are fewer calls."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        environment = {"LD_PRELOAD": str(library), "SHARDC_FAULT": f"{what}:0:start:0:{number}", "SHARDC_FAULT_LOG": str(log)}
        with Run([*command, f"--timeout={int(1000 * TIMEOUT)}"], environment) as run:
            code, _ = run.wait(60)
            end = time.monotonic()
            text, case = run.text(), f"{what} of rank 0 at call {number}"
            if not log.exists():
                assert code == 0, f"{case}: code {code} without a fault\n{text}"
                return None
            took = end - int(log.read_text().split()[0]) / 1e9
            case += f": {took:.2f} s, code {code}\n{text}"
            assert code == {"kill": 4, "stop": 5}[what], case
            assert re.search(NAMED[what], text, re.MULTILINE), case
            left = run.left()
            assert not left, f"{left} is left: {case}"
            return took


def check_alone(command: list[str], library: Path, what: str, number: int) -> float | None:
    """The same of ranks that are told by their environment who they are, as by torchrun: how long until the others were gone."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        job = {"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": f"phases-{os.getpid()}-{time.monotonic_ns()}"}
        fault = {"LD_PRELOAD": str(library), "SHARDC_FAULT": f"{what}:0:start:0:{number}", "SHARDC_FAULT_LOG": str(log)}
        ranks = [
            subprocess.Popen(
                [*command, f"--timeout={int(1000 * TIMEOUT)}"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **job, **({} if rank else fault), "RANK": str(rank), "LOCAL_RANK": str(rank)},
            )
            for rank in range(3)
        ]
        try:
            texts = [ranks[rank].communicate(timeout=60)[1] for rank in (1, 2)]
            end = time.monotonic()
        finally:
            ranks[0].send_signal(signal.SIGCONT if not log.exists() else signal.SIGKILL)
            said = ranks[0].communicate(timeout=60)[1]
        codes = [rank.returncode for rank in ranks]
        case = f"{what} of rank 0 at call {number}, alone"
        if not log.exists():
            assert codes == [0, 0, 0], f"{case}: codes {codes} without a fault\n{said}{texts}"
            return None
        took = end - int(log.read_text().split()[0]) / 1e9
        text = "".join(texts)
        case += f": {took:.2f} s, codes {codes}\n{text}"
        if f"waited {int(4000 * TIMEOUT)} ms for rank 0 to listen" in text:
            took -= 3 * TIMEOUT  # Nobody knows of a rank that has not begun: all are given four times as long to come.
        # Once all have met, and rank 0 has nothing more to say, the others may end well.
        if codes[1:] == [0, 0]:
            return 0.0
        assert codes[1:] == [{"kill": 4, "stop": 5}[what]] * 2, case
        assert re.search(r"rank 0\b", text), case
        print(case, flush=True)
        return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("model")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--slack", type=float, default=0)
    parser.add_argument("--transport", default="shm")
    parser.add_argument("--alone", action="store_true")
    arguments = parser.parse_args()
    command = [arguments.tool, arguments.model, "--no-cache", f"--transport={arguments.transport}"]
    if not arguments.alone:
        command.append("--processes=3")
    one = check_alone if arguments.alone else check
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        library = interposer(Path(folder))
        for what, limit in (("kill", 2.0), ("stop", TIMEOUT + 1)):
            longest, cases, number = 0.0, 0, 1
            while True:
                try:
                    took = one(command, library, what, number)
                    if took is None:
                        break
                    longest = max(longest, took)
                    assert took <= limit + arguments.slack, f"{what} at call {number}: {took:.2f} s"
                except AssertionError as problem:
                    problems.append(str(problem))
                    print(problem, flush=True)
                    if len(problems) > 20:
                        break
                cases, number = cases + 1, number + arguments.every
            print(f"{what}: {cases} moments of {number - 1} calls, {longest:.2f} s at most", flush=True)
            assert cases >= 5, "rank 0 makes no calls"
    print(f"{len(problems)} failed")
    sys.exit(len(problems) > 0)


main()

"""Kills one process of a job in the middle of its steps.

    killed.test.py SHARD-RUN MODEL
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Faults"))

from processes import busy, ranks_of


def check(tool: str, model: str, transport: str, victim: int, number: int) -> None:
    # Who is killed is missed long before the watchdog would say so; and that is not to find a rank that the machine keeps waiting.
    timeout = 4000 if number == signal.SIGSTOP else 30_000
    command = [tool, model, "--processes=4", f"--transport={transport}", "--repeat=1000000", f"--timeout={timeout}"]
    if transport == "nccl":
        command.append("--device=emulated-cuda")
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ranks: dict[int, int] = {}
    deadline = time.monotonic() + 60
    # All four compute: each has used a while of a core.
    while len(ranks) < 4 or min(map(busy, ranks.values())) < 0.2:
        assert time.monotonic() < deadline and launcher.poll() is None, "the ranks do not begin"
        time.sleep(0.05)
        ranks = ranks_of(launcher.pid)
    os.kill(ranks[victim], number)
    begin = time.monotonic()
    _, text = launcher.communicate(timeout=60)
    took = time.monotonic() - begin
    print(f"{transport}, rank {victim}, signal {number}: {took:.2f} s, code {launcher.returncode}\n{text}")
    if number == signal.SIGKILL:
        assert launcher.returncode == 4, launcher.returncode
        # Code 4: the others noticed; the watchdog would have said 5.
        assert f"rank {victim} (process {ranks[victim]}) was ended by signal 9" in text
        assert f"rank {victim}" in text and "is gone" in text
    else:
        assert launcher.returncode == 5, launcher.returncode
        # Also where it was stopped in a wait.
        assert f"missing: rank {victim} (process {ranks[victim]}), which is stopped" in text
        assert f"rank {victim} (process {ranks[victim]}) was stopped by signal 19" in text
    for process in ranks.values():
        assert not Path(f"/proc/{process}").exists(), "a process is left"


def main() -> None:
    tool, model = sys.argv[1:]
    check(tool, model, "shm", 2, signal.SIGKILL)
    check(tool, model, "tcp", 0, signal.SIGKILL)
    check(tool, model, "nccl", 3, signal.SIGKILL)
    check(tool, model, "shm", 1, signal.SIGSTOP)


main()

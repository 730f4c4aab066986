"""Kills or stops one rank of a job while ranks come together.

    start.test.py SHARD-RUN MODEL [--count=N] [--slack=S]

Each case is another rank, moment and transport. A killed one: all are gone within 2 s, with code 4, and rank and signal are
named. A stopped one: within the timeout and 1 s, with code 5, and the rank is named. Every sixth case is a stopped one that no launcher
of ours has started: each rank is told by its environment who it is, as by torchrun, and all others end and name it. --slack: seconds more, on a
busy machine. Prints the longest of each.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Faults"))

from processes import ranks_of

TIMEOUT = 2.0


def check(tool: str, artifact: str, transport: str, victim: int, delay: float, number: int) -> float:
    """Returns how long it took until all were gone."""
    command = [tool, artifact, "--processes=4", f"--transport={transport}", "--repeat=1000000000"]
    launcher = subprocess.Popen(
        [*command, f"--timeout={int(1000 * TIMEOUT)}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    ranks: dict[int, int] = {}
    deadline = time.monotonic() + 60
    while len(ranks) < 4:
        assert time.monotonic() < deadline and launcher.poll() is None, "the ranks do not begin"
        time.sleep(0.002)
        ranks = ranks_of(launcher.pid)
    time.sleep(delay)
    os.kill(ranks[victim], number)
    begin = time.monotonic()
    _, text = launcher.communicate(timeout=60)
    took = time.monotonic() - begin
    case = f"{transport}, rank {victim}, signal {number} after {delay:.3f} s: {took:.2f} s, code {launcher.returncode}"
    print(f"{case}\n{text}", flush=True)
    for process in ranks.values():
        assert not Path(f"/proc/{process}").exists(), "a process is left"
    if number == signal.SIGKILL:
        assert launcher.returncode == 4, case
        assert f"rank {victim} (process {ranks[victim]}) was ended by signal 9" in text, case
    else:
        assert launcher.returncode == 5, case
        named = f"rank {victim} (process {ranks[victim]}) was stopped by signal 19" in text or f"missing: rank {victim}" in text
        assert named or f"\nrank {victim} waits for" in text or f"rank {victim} (process {ranks[victim]}) does not end" in text, case
    return took


def check_alone(tool: str, artifact: str, transport: str, victim: int, delay: float) -> float:
    """Stops a rank that another launcher has started; returns how long it took until the others were gone."""
    environment = {**os.environ, "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": f"start-{os.getpid()}-{time.monotonic_ns()}"}
    command = [tool, artifact, f"--transport={transport}", "--repeat=1000000000", f"--timeout={int(1000 * TIMEOUT)}"]
    ranks = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(4)
    ]
    time.sleep(delay)
    ranks[victim].send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    others = [rank for rank in range(4) if rank != victim]
    try:
        texts = [ranks[rank].communicate(timeout=60)[1] for rank in others]
    finally:
        ranks[victim].kill()
        ranks[victim].communicate()
    took = time.monotonic() - begin
    codes = [ranks[rank].returncode for rank in others]
    case = f"{transport}, rank {victim} of no launcher of ours, stopped after {delay:.3f} s: {took:.2f} s, codes {codes}"
    print(f"{case}\n{''.join(texts)}", flush=True)
    for text in texts:
        assert f"rank {victim} (process {ranks[victim].pid})" in text or f"missing: rank {victim}" in text, case
    assert codes == [5] * 3, case
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("model")
    parser.add_argument("--count", type=int, default=96)
    parser.add_argument("--slack", type=float, default=0)
    arguments = parser.parse_args()
    longest = {signal.SIGKILL: 0.0, signal.SIGSTOP: 0.0}
    with tempfile.TemporaryDirectory() as directory:
        artifact = f"{directory}/program.so"
        translate = str(Path(arguments.tool).with_name("shard-translate"))
        subprocess.run([translate, arguments.model, "-o", artifact], check=True)
        for number in range(arguments.count):
            kind = signal.SIGSTOP if number % 3 == 2 else signal.SIGKILL
            transport = ("shm", "tcp")[number // 6 % 2]
            victim = (number * 3 + number // 4) % 4
            delay = 0.02 * (number * 7 % 20)
            if number % 6 == 5:
                took = check_alone(arguments.tool, artifact, transport, victim, delay)
            else:
                took = check(arguments.tool, artifact, transport, victim, delay, kind)
            longest[kind] = max(longest[kind], took)
    print(f"{arguments.count} cases; killed: {longest[signal.SIGKILL]:.2f} s at most; stopped, timeout {TIMEOUT:.0f} s: "
          f"{longest[signal.SIGSTOP]:.2f} s at most")
    assert longest[signal.SIGKILL] <= 2 + arguments.slack
    assert longest[signal.SIGSTOP] <= TIMEOUT + 1 + arguments.slack


sys.exit(main())

"""Run the programs of real sizes, which nobody has computed elsewhere, and print a table.

    big.py [NAME...] --corpus DIR [--shard-run PATH] [--timeout SECONDS] [--check]

Each program of the manifest without stored data runs once on its own mesh, on random inputs; every element of every
result must be finite (``RANGES`` has the programs that random numbers from -1 to 1 make no sense for). With ``--check`` the unsharded program runs as well, where the memory of this machine lets it,
and results must agree within ``--rtol`` and ``--atol``.

Prints a line a program: seconds to compile and for one step, processor seconds of everything (with ``--check`` of both
programs), the most bytes that a rank held (its arguments and results among them), the most memory of the process, what
a step communicates, and how it ended. What needs more memory than there is is compiled to need less. Exits 1 if one
failed; a program that needs more memory than there is, and says so, is counted apart.
"""

import argparse
import dataclasses
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from check import HERE, print_mesh, read_manifest

HEAD = (
    f"{'program':30} {'mesh':16} {'compile s':>9} {'step s':>8} {'cpu s':>7} {'rank GB':>8} {'all GB':>7} "
    f"{'moved MB':>9}  pass"
)
MEMORY = 9
# The second moments of Adam are squares; water that is rough on the scale of its grid breaks.
# Random indices are from -8 to 7: sixteen nodes receive all edges, in each of fifteen layers.
RANGES = {
    "vit_train_big": "0,1",
    "mlp_dp_tp_train_big": "0,1",
    "shallow_water_big": "0.01,0.011",
    "gnn_message_passing_train_big": "-0.0003,0.0003",
}


@dataclasses.dataclass
class Outcome:
    """One run; numbers are 0 where it did not end with a report."""

    program: str
    mesh: str
    status: str = ""
    compile_s: float = 0
    step_s: float = 0
    cpu_s: float = 0
    rank_bytes: int = 0
    process_bytes: int = 0
    moved: int = 0
    message: str = ""

    @property
    def failed(self) -> bool:
        return self.status.isupper() or self.status.startswith(("NOT FINITE", "EXIT"))

    def line(self) -> str:
        numbers = " " * 53
        if self.step_s:
            numbers = (
                f"{self.compile_s:9.1f} {self.step_s:8.2f} {self.cpu_s:7.0f} {self.rank_bytes / 1e9:8.2f} "
                f"{self.process_bytes / 1e9:7.2f} {self.moved / 1e6:9.1f}"
            )
        text = f"{self.program:30} {self.mesh:16} {numbers}  {self.status}"
        return text + (f"\n  {self.message}" if self.failed else "")


def run_command(command: list[str], timeout: float) -> tuple[int, str, str, resource.struct_rusage]:
    """Exit code, stdout, stderr and what the process used; code 124 where it did not end in ``timeout`` seconds."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        late = threading.Event()
        timer = threading.Timer(timeout, lambda: (late.set(), process.kill()))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        code = 124 if late.is_set() else process.returncode
        return code, out.read(), err.read(), usage


def execute(entry: dict, options: argparse.Namespace, check: bool) -> Outcome:
    """Run shard-run on one program; a crash, a refusal and a time-out are outcomes as well."""
    outcome = Outcome(entry["name"], print_mesh(dict(map(tuple, entry["mesh"]))))
    command = [options.shard_run, str(options.corpus / entry["file"]), "--seed=1", "--report=json", "--fit-memory"]
    command.append(f"--timeout={options.timeout * 1000}")
    if entry["name"] in RANGES:
        command.append(f"--range={RANGES[entry['name']]}")
    if check:
        command += ["--check", f"--rtol={options.rtol}", f"--atol={options.atol}"]
    code, out, err, usage = run_command(command, options.timeout)
    outcome.process_bytes, outcome.cpu_s = usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime
    lines = [line for line in err.splitlines() if line.strip()]
    outcome.message = next((line for line in lines if "error:" in line), lines[-1] if lines else "")
    if out.startswith("{"):
        report = json.loads(out)
        outcome.compile_s, outcome.step_s = report["compile_ms"] / 1e3, report["ms_per_step"] / 1e3
        outcome.rank_bytes = max(report["peak_bytes"])
        outcome.moved = sum(site["bytes"] for site in report["communication"])
        bad = [i for i, result in enumerate(report["results"]) if result["not_finite"]]
        outcome.status = f"NOT FINITE: result {bad[0]}" if bad else "equal" if check else "finite"
        outcome.message = "" if bad else outcome.message
    needed = re.search(r"need (\d+) bytes on (\d+) ranks", outcome.message)
    if code == MEMORY and needed:
        if check and needed.group(2) == "1":
            outcome = execute(entry, options, check=False)
            outcome.status += " (too large for one rank)"
            return outcome
        outcome.status = f"needs {int(needed.group(1)) / 1e9:.0f} GB"
    elif code:
        names = {1: "REFUSED", 3: "DIFFERS", 5: "HANGS", 124: "TIMEOUT"}
        outcome.status = names.get(code, f"EXIT {code}")
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--corpus", type=Path, default=HERE, help="a directory with a manifest.json and the programs")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds for one program")
    parser.add_argument("--check", action="store_true", help="compare with the unsharded program as well")
    parser.add_argument("--rtol", type=float, default=1e-2)
    parser.add_argument("--atol", type=float, default=1e-2)
    options = parser.parse_args()
    entries = [entry for entry in read_manifest(options.corpus) if "data" not in entry]
    known = {entry["name"] for entry in entries}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no program '{unknown[0]}' without stored data in {options.corpus}/manifest.json")
    if options.names:
        entries = [entry for entry in entries if entry["name"] in options.names]
    if not entries:
        parser.error(f"{options.corpus}/manifest.json has no program without stored data")

    begin = time.monotonic()
    print(HEAD, flush=True)
    outcomes = []
    for entry in entries:
        outcomes.append(execute(entry, options, options.check))
        print(outcomes[-1].line(), flush=True)
    failed = sum(outcome.failed for outcome in outcomes)
    large = sum(outcome.status.startswith("needs") for outcome in outcomes)
    print(
        f"{len(outcomes) - failed - large} passed, {failed} failed, "
        f"{large} need more memory than this machine has, {time.monotonic() - begin:.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

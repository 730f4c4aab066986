"""The tests of ranks, faults and threads many times while other programs take all cores.

    load.py --build DIRECTORY [--times N] [--results FILE] [--again] [--hogs N]

Each time is a line of FILE when it is over, with what failed tests said; a loop that was stopped goes on where it was. Limits of time are of what the code waits
for, less what the machine kept from a thread that only slept: a machine that does five things at once is late, but not wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

GTESTS = "AllReduce*:BusyCores*:Cores*:Crew*:CudaGraphs*:Exchange*:HostCalls*:Job.*:Launch*:Lost*:Memory*:Mismatch*:Nccl*:Processes*:Reduce*:Rows*:Share*:Sites*:Store*:Transport*:Watchdog*:World*"
LIT = ["Execution/processes/transports.test", "Execution/threads", "Faults/faults.test"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--hogs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--gtest", default=GTESTS)
    parser.add_argument("--no-lit", action="store_true")
    options = parser.parse_args()
    results = options.results or options.build / "load.jsonl"
    if options.again:
        results.unlink(missing_ok=True)
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    # A loop that is stopped takes its hogs along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.hogs)]
    try:
        for number in range(len(known), options.times):
            begin = time.monotonic()
            failed = []
            unit = subprocess.run([str(options.build / "bin/ShardRuntimeTests"), f"--gtest_filter={options.gtest}", "--gtest_brief=1"], capture_output=True, text=True, check=False)
            failed += [line for line in unit.stdout.splitlines() if "FAILED  ]" in line and "ms)" in line]
            said = "" if unit.returncode == 0 else unit.stdout[-10_000:] + unit.stderr[-2000:]
            passed = unit.stdout.split("[  PASSED  ] ")[-1].split()[0] if "PASSED" in unit.stdout else "0"
            if unit.returncode != 0 and not failed:
                failed.append(f"ShardRuntimeTests: code {unit.returncode}")
            tests = 0
            if not options.no_lit:
                lit = subprocess.run(["/usr/lib/llvm-22/bin/lit", "-v", "-j2", *(str(options.build / "test" / name) for name in LIT)], capture_output=True, text=True, check=False)
                failed += [line for line in lit.stdout.splitlines() if line.startswith(("FAIL: ", "TIMEOUT: "))]
                tests = sum(line.startswith("PASS: ") for line in lit.stdout.splitlines())
                if lit.returncode != 0 and not failed:
                    failed.append(f"lit: code {lit.returncode}")
                said += "" if lit.returncode == 0 else lit.stdout[-10_000:]
            entry = {"time": number, "unit": int(passed), "lit": tests, "failed": failed, "said": said, "seconds": round(time.monotonic() - begin, 1)}
            known.append(entry)
            with results.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{number + 1} of {options.times}: {passed} unit tests and {tests} of lit passed, {len(failed)} failed, {entry['seconds']} s {failed or ''}", *([said] if said else []), flush=True)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    failures = sum(len(entry["failed"]) for entry in known)
    print(f"{len(known)} times beside {options.hogs} hogs: {sum(entry['unit'] + entry['lit'] for entry in known)} passed, {failures} failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

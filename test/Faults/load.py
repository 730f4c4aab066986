"""The tests of ranks, faults and threads many times while other programs take all cores.

    load.py --build DIRECTORY [--times N] [--only REGEX] [--results FILE] [--again] [--hogs N] [--list]

A group is one suite of a GoogleTest binary (`runtime:Crew`) or one file of lit (`lit:Faults/holes.test`). The group with the fewest runs is next, and each run is a
line of FILE when it is over, with what failed tests said: a loop that was stopped loses the run that it was in. Limits of time are of what the code waits for, less
what the machine kept from a thread that only slept: a machine that does five things at once is late, but not wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

BINARIES = {"runtime": "ShardRuntimeTests", "processes": "ShardcProcessesTests", "engine": "ShardcEngineTests", "plugin": "ShardcPjrtTests"}
# Tests of what the code computes or refuses, which know no thread, rank or time.
ALONE = re.compile("runtime:(Combiners|ElementType|Emulator|KernelChoice|LibraryDeathTest|Lines|Program|Sites|Unchecked|Usage)|engine:(ElementTypes|Null)|plugin:(Metadata|Wire)|lit:Python/lint.test")
LIT = "/usr/lib/llvm-22/bin/lit"
FOLDERS = ["Execution/processes", "Execution/threads", "Faults", "Jax", "Python", "Tools/shard-run"]


@dataclass(frozen=True)
class Result:
    passed: int
    failed: list[str]
    said: str


def run(command: list[str], limit: float) -> tuple[int, str]:
    """The exit code and what was printed; -1 where it did not end within ``limit`` seconds."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        text, _ = process.communicate(timeout=limit)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        return -1, text
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def groups_of(build: Path) -> list[str]:
    groups = []
    for kind, binary in BINARIES.items():
        program = build / "bin" / binary
        if not program.exists():
            print(f"{binary} is not built: left out", flush=True)
            continue
        code, text = run([str(program), "--gtest_list_tests"], 60)
        assert code == 0, text
        groups += [f"{kind}:{line.split('.')[0]}" for line in text.splitlines() if re.match(r"[\w/]+\.(\s|$)", line)]
    if (build / "test/lit.site.cfg.py").exists():
        _, text = run([LIT, "--show-tests", *(str(build / "test" / folder) for folder in FOLDERS)], 120)
        groups += [f"lit:{line.split(' :: ')[1]}" for line in text.splitlines() if " :: " in line]
    return [group for group in groups if not ALONE.fullmatch(group)]


def run_group(build: Path, group: str, limit: float) -> Result:
    kind, name = group.split(":", 1)
    if kind == "lit":
        code, text = run([LIT, "-v", "-j1", str(build / "test" / name)], limit)
        failed = [line for line in text.splitlines() if line.startswith(("FAIL: ", "TIMEOUT: ", "UNRESOLVED: "))]
        passed = sum(line.startswith("PASS: ") for line in text.splitlines())
    else:
        code, text = run([str(build / "bin" / BINARIES[kind]), f"--gtest_filter={name}.*", "--gtest_brief=1"], limit)
        failed = [line for line in text.splitlines() if "FAILED  ]" in line and "ms)" in line]
        passed = int(text.split("[  PASSED  ] ")[-1].split()[0]) if "[  PASSED  ]" in text else 0
    if code != 0 and not failed:
        failed = [f"{group}: no end after {limit:.0f} s" if code == -1 else f"{group}: code {code}"]
    return Result(passed, failed, text[-12_000:] if failed else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--only", default="", help="groups whose names this expression is found in")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true", help="forget the runs of these groups")
    parser.add_argument("--hogs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which a group has failed to end")
    parser.add_argument("--list", action="store_true", help="print how often each group has been run, and no more")
    options = parser.parse_args()
    results = options.results or options.build / "load.jsonl"

    groups = [group for group in groups_of(options.build) if re.search(options.only, group)]
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if options.again:
        known = [entry for entry in known if entry["group"] not in groups]
        results.write_text("".join(json.dumps(entry) + "\n" for entry in known))
    known = [entry for entry in known if entry["group"] in groups]
    runs = dict.fromkeys(groups, 0)
    for entry in known:
        runs[entry["group"]] += 1

    if not options.list:
        # A loop that is stopped takes its hogs along.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.hogs)]
        try:
            while groups and min(runs.values()) < options.times:
                group = min(groups, key=lambda name: runs[name])
                begin = time.monotonic()
                result = run_group(options.build, group, options.limit)
                entry = {"group": group, "passed": result.passed, "failed": result.failed, "said": result.said, "seconds": round(time.monotonic() - begin, 1)}
                with results.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
                known.append(entry)
                runs[group] += 1
                text = f"{group}, {runs[group]} of {options.times}: {result.passed} passed, {len(result.failed)} failed, {entry['seconds']} s"
                print(text, *result.failed, *([result.said] if result.said else []), sep="\n  ", flush=True)
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()

    for group in groups if options.list else []:
        of_group = [entry for entry in known if entry["group"] == group]
        print(f"{runs[group]:4} {sum(len(entry['failed']) for entry in of_group):4} failed {sum(entry['seconds'] for entry in of_group):8.1f} s  {group}")
    failures = sum(len(entry["failed"]) for entry in known)
    print(f"{len(groups)} groups, {min(runs.values(), default=0)} to {max(runs.values(), default=0)} times: {sum(entry['passed'] for entry in known)} passed, {failures} failed")
    return int(failures > 0 and not options.list)


if __name__ == "__main__":
    sys.exit(main())

"""Run JAX's own tests on shardc's devices, and say of each that failed why.

    suite.py [FILE...] [--suite DIR] [--library FILE] [--devices N] [--cases N] [--seed N] [--dut cpu] [--platform NAME]
             [--every N[+K]] [--jobs N] [--results FILE] [--again] [--failed] [--table FILE] [--known FILE] [--beside FILE] [--limit SECONDS] [--alone]

The suite is a checkout of JAX, or a part of it: a folder with ``tests`` and ``conftest.py``. FILE: ``lax``,
``lax_test`` or ``lax_test.py``; without any, all but those that test parts of other accelerators (Pallas, Mosaic).

A file runs in a process of its own. A test that ends the process (abort) or says nothing for ``--limit`` seconds (hang) is
recorded as such, and the rest of the file goes on in another process. A file that cannot be imported counts as failed.

``--every N`` keeps each Nth test, chosen by a hash of its name; ``--every N+K``, with K below N, others of them. ``--results FILE`` keeps a line of JSON for each test;
tests that are in it are not run again, unless ``--again`` is given, or ``--failed`` for those that did not pass. ``--platform cpu`` runs JAX's own CPU client with as
many devices instead: what can be passed at all; with its results as ``--beside FILE``, a table of ours has its counts too,
and how many of the tests that it passes are passed here. ``--known FILE`` lists tests that fail: only others fail the command, and
one of the list that passes does too, so that the list only shrinks.

With ``--alone`` the CPU client that JAX keeps beside them fails if it is to compile anything.

Prints a table by file and the reasons by count. Ends with 0 if all passed that ran, with 1 if not, with 77 where the suite
or a Python package that it needs is not there.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEEDED = ("jax", "pytest", "absl", "hypothesis", "scipy", "numpy", "ml_dtypes")
WHERE = """JAX's tests are not at {suite}. They are part of JAX's sources, not of its wheel:
  git clone --depth 1 --branch jax-v0.10.2 https://github.com/jax-ml/jax
and SHARDC_JAX_TESTS=jax ./run test jax (or --suite=jax)."""
OTHERS = re.compile(r"pallas|mosaic|gpu_|_gpu|tpu|multiprocess|memories_test|ragged_collective|layout_test")
"""Files about what only other accelerators have."""


def share(text: str) -> str:
    """Which tests: each Nth, "N", or "N+K"."""
    count, plus, offset = text.partition("+")
    if not count.isdecimal() or not (offset or "0").isdecimal() or bool(plus) != bool(offset) or int(offset or 0) >= int(count):
        raise argparse.ArgumentTypeError(f"'{text}' is not N, or N+K with K below N")
    return text


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="JAX's tests on shardc's devices")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--suite", type=Path, default=ROOT.parent / "shared" / "jax-tests")
    parser.add_argument("--library", type=Path, default=ROOT / "build" / "lib" / "libshardc_pjrt.so")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="JAX's seed for generated cases")
    parser.add_argument("--dut", default="")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--platform", default="shardc")
    parser.add_argument("--every", type=share, default="1", metavar="N[+K]")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300)
    parser.set_defaults(pytest=[])  # more options of pytest: package_tests.py has some
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--known", type=Path)
    parser.add_argument("--beside", type=Path)
    return parser.parse_args()


def files_of(suite: Path, names: list[str]) -> list[Path]:
    """The files that ``names`` mean. Raises: SystemExit for a name that is none."""
    tests = sorted((suite / "tests").glob("*_test.py"))
    if not names:
        return [path for path in tests if not OTHERS.search(path.name)]
    found = []
    for name in names:
        stem = name.removesuffix(".py").removesuffix("_test").split("/")[-1]
        path = suite / "tests" / f"{stem}_test.py"
        if not path.is_file():
            sys.exit(f"suite.py: no {path}")
        found.append(path)
    return found


def environment(options: argparse.Namespace) -> dict[str, str]:
    env = dict(os.environ, JAX_NUM_GENERATED_CASES=str(options.cases), JAX_SKIP_SLOW_TESTS="true",
               JAX_PLATFORMS=options.platform, SHARDC_DEVICES=str(options.devices), PYTHONDONTWRITEBYTECODE="1",
               SHARDC_JAX_EVERY=options.every, SHARDC_PJRT_LIBRARY=str(options.library))
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), str(HERE), env.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    if options.seed:
        env["JAX_TEST_SEED_OFFSET"] = str(options.seed)
    if options.alone:
        env["SHARDC_JAX_ALONE"] = "1"
    if options.dut:
        env["JAX_TEST_DUT"] = options.dut
    if options.platform == "cpu":
        env["XLA_FLAGS"] = f"{env.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={options.devices}"
    return env


started: set[int] = set()
"""Processes of pytest, each the first of a group."""


def end(*_: Any) -> None:
    """Ends what was started, and this."""
    for group in list(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    os._exit(1)


class Watched:
    """One process of pytest, and what it has written so far."""

    def __init__(self, path: Path, options: argparse.Namespace, done: set[str]) -> None:
        self.collected: list[str] | None = None
        self.unreadable: str | None = None
        self.results: dict[str, dict[str, Any]] = {}
        self.running: str | None = None
        self.finished = False
        with tempfile.TemporaryDirectory(prefix="shardc-jax-") as folder:
            record, skip, log = (Path(folder) / name for name in ("record", "done", "log"))
            skip.write_text("\n".join(done))
            record.touch()
            env = dict(environment(options), SHARDC_JAX_RECORD=str(record), SHARDC_JAX_DONE=str(skip))
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "recorder", "-p", "no:xdist",
                       "--tb=short", *options.pytest, str(path.relative_to(options.suite))]
            with open(log, "wb") as out:
                process = subprocess.Popen(command, cwd=options.suite, env=env, stdout=out, stderr=subprocess.STDOUT,
                                           start_new_session=True)
                started.add(process.pid)
                try:
                    self.hung = self.watch(process, record, options.limit)
                finally:
                    if process.poll() is None:
                        os.killpg(process.pid, signal.SIGKILL)
                        process.wait()
                    started.discard(process.pid)
            self.code = process.returncode
            self.tail = log.read_text(errors="replace")[-3000:]

    def watch(self, process: "subprocess.Popen[bytes]", record: Path, limit: int) -> bool:
        """Follow the process to its end; True if a test said nothing for ``limit`` seconds, or twenty times as long before the first."""
        last = time.monotonic()
        rest = ""  # a line of which not all is written yet
        with open(record) as written:
            while True:
                ended = process.poll() is not None
                *lines, rest = (rest + written.read()).split("\n")
                for line in lines:
                    last = time.monotonic()
                    self.take(json.loads(line))
                if ended:
                    return False
                if time.monotonic() - last > (limit if self.running else 20 * limit):
                    return True
                time.sleep(0.1)

    def take(self, line: dict[str, Any]) -> None:
        if "unreadable" in line:
            self.unreadable = line["unreadable"]
        elif "collected" in line:
            self.collected = line["collected"]
        elif "begin" in line:
            self.running = line["begin"]
        elif "end" in line:
            old = self.results.get(line["end"])
            if old is None or old["outcome"] != "failed":
                self.results[line["end"]] = line
        elif "finished" in line:
            self.finished = True


def run_file(path: Path, options: argparse.Namespace, known: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """All tests of one file, also where some of them end the process."""
    results: dict[str, dict[str, Any]] = dict(known)
    while True:
        part = Watched(path, options, set(results))
        results.update(part.results)
        if part.collected is None or part.unreadable:
            text = (part.unreadable or part.tail).strip()
            last = text.splitlines()[-1:] or ["no message"]
            return [*results.values(), {"end": f"{path.name}::import", "outcome": "hang" if part.hung else "import",
                                        "text": last[0].removeprefix("E").strip() + "\n" + text[-1500:]}]
        if part.finished and not part.hung:
            break
        missing = [name for name in part.collected if name not in results]
        if not missing:
            break
        culprit = part.running if part.running in missing else missing[0]
        how = "hang" if part.hung else "abort"
        text = f"nothing for {options.limit} s" if part.hung else f"ended with {part.code}\n{part.tail.strip()[-800:]}"
        results[culprit] = {"end": culprit, "outcome": how, "text": text}
    return [results[name] for name in part.collected if name in results]


def reason(text: str) -> str:
    """What a failure has in common with others: the message without numbers and names."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    line = lines[0] if lines else "no message"
    if line.rstrip(":") == "AssertionError" and len(lines) > 1:
        line = "AssertionError: " + lines[1]
    line = re.sub(r"[\w./-]+\.(?:py|mlir)(?::\d+)+(?::\d+)?:?\s*", "", line)
    line = re.sub(r"loc\(.*?\)", "", line)
    line = re.sub(r"(?:tensor)?<[^<>]*>", "<…>", line)
    line = re.sub(r"\b\d[\d.e+-]*\b", "N", line)
    return line[:150]


def needed_tests(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    by_file: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for result in results:
        by_file[result["end"].split("::")[0]].append(result)
    return by_file


def table_of(results: list[dict[str, Any]], beside: set[str] | None = None) -> str:
    """By file, then the reasons of failures by count. With the tests that are passed ``beside``, how many of these are."""
    rows = ["| file | passed | failed | skipped by JAX | not run | of those that ran |", "|---|---|---|---|---|---|"]
    if beside is not None:
        rows = [rows[0] + " passed by JAX's CPU client | of these here |", rows[1] + "---|---|"]
    total: collections.Counter[str] = collections.Counter()
    for name, tests in [*sorted(needed_tests(results).items()), ("", results)]:
        count = collections.Counter("not run" if test["outcome"] in ("abort", "hang", "import") else test["outcome"] for test in tests)
        ran = count["passed"] + count["failed"] + count["not run"]
        share = f"{100 * count['passed'] / ran:.1f} %" if ran else ""
        rows.append(f"| {name or 'all'} | {count['passed']} | {count['failed']} | {count['skipped']} | {count['not run']} | {share} |")
        if beside is not None:
            theirs = [test for test in tests if test["end"] in beside]
            ours = sum(test["outcome"] == "passed" for test in theirs)
            rows[-1] += f" {len(theirs)} | {f'{100 * ours / len(theirs):.1f} %' if theirs else ''} |"
        total = count
    if total["failed"] + total["not run"]:
        reasons: dict[str, list[str]] = collections.defaultdict(list)
        for test in results:
            if test["outcome"] not in ("passed", "skipped"):
                what = test["outcome"] + ": " if test["outcome"] != "failed" else ""
                reasons[what + reason(test["text"])].append(test["end"])
        rows += ["", "| count | reason | for example |", "|---|---|---|"]
        for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
            rows.append(f"| {len(names)} | {why.replace('|', '/')} | {names[0]} |")
    return "\n".join(rows)


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, end)
    options.suite, options.library = options.suite.resolve(), options.library.resolve()  # the tests run in another folder
    if not (options.suite / "tests").is_dir():
        print(WHERE.format(suite=options.suite))
        return 77
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        print(f"{sys.executable} lacks {', '.join(missing)}; {options.suite}/README.md says what to install")
        return 77
    files = files_of(options.suite, options.files)
    setting = f"{options.platform} {options.devices} {options.cases} {options.seed} {options.dut} {options.every}"
    known: dict[str, dict[str, dict[str, Any]]] = collections.defaultdict(dict)
    others: list[str] = []  # of other settings, and of files that are not run now
    running = {path.name for path in files}
    before: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)  # of files that are run later
    if options.results and options.results.is_file():
        for line in options.results.read_text().splitlines():
            result = json.loads(line)
            if result["setting"] != setting or result["end"].split("::")[0] not in running:
                others.append(line + "\n")
                continue
            before[result["end"].split("::")[0]].append(result)
            if result["outcome"] in ("passed", "skipped") or not (options.failed or result["outcome"] == "import"):
                known[result["end"].split("::")[0]][result["end"]] = result
    lock = threading.Lock()
    results: list[dict[str, Any]] = []

    def one(path: Path) -> None:
        begin = time.monotonic()
        found = run_file(path, options, {} if options.again else known.get(path.name, {}))
        with lock:
            results.extend(dict(test, setting=setting) for test in found)
            print(f"{path.name}: {sum(test['outcome'] == 'passed' for test in found)} of {len(found)} passed, "
                  f"{time.monotonic() - begin:.0f} s", flush=True)
            if options.results:
                done = {test["end"].split("::")[0] for test in results}
                kept = [test for name, tests in before.items() if name not in done for test in tests]
                options.results.write_text("".join(others + [json.dumps(test) + "\n" for test in kept + results]))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for _ in pool.map(one, files):
                pass
        except KeyboardInterrupt:
            end()
    beside: set[str] | None = None
    if options.beside:
        lines = [json.loads(line) for line in options.beside.read_text().splitlines()]
        beside = {line["end"] for line in lines if line["outcome"] == "passed"}
    print("\n" + (table := table_of(results, beside)))
    if options.table:
        options.table.write_text(table + "\n")
    failed = {test["end"] for test in results if test["outcome"] not in ("passed", "skipped")}
    if not options.known:
        return 1 if failed else 0
    listed = {line for line in options.known.read_text().splitlines() if line and not line.startswith("#")}
    passed = {test["end"] for test in results if test["outcome"] == "passed"}
    for name in sorted(failed - listed):
        print(f"failed, and is not in {options.known}: {name}")
    for name in sorted(passed & listed):
        print(f"passes: take it out of {options.known}: {name}")
    return 1 if failed - listed or passed & listed else 0


if __name__ == "__main__":
    sys.exit(main())

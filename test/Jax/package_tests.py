"""Run the tests that come with other packages on shardc's devices, and say which of them pass on JAX's own CPU client alone.

    package_tests.py PACKAGE... [--only TEXT] [--library FILE] [--devices N] [--every N[+K]] [--jobs N] [--limit SECONDS]

PACKAGE: the name of an installed package whose wheel has its tests (``optax``, ``mujoco.mjx``), or a folder, such as an unpacked
source distribution. Its files ``*_test.py`` and ``test_*.py`` are run by pytest, each in a process of its own, with as many devices
as ``--devices`` says (4). ``--only TEXT``: files whose path has it. ``--every`` and ``--limit`` are those of suite.py.

A test that fails, ends the process or hangs is run again on JAX's CPU client with as many devices. If that passes it, it failed here
alone, and is listed with the reason; if not, it is the package's affair, or that of a version of another package.

The last line has the counts. Ends with 0 if no test failed here alone, with 1 if some did, with 77 where pytest is not there.
"""

import argparse
import concurrent.futures
import copy
import functools
import importlib.util
import signal
import sys
from pathlib import Path
from typing import Any

import suite

PYTEST = ["--import-mode=importlib", "-c", "/dev/null", "-o", "python_files=*_test.py test_*.py", "-o", "consider_namespace_packages=true",
          "-p", "package_tests"]
"""Options of pytest. Those of a package's own configuration ask for plugins that need not be there."""


def pytest_configure() -> None:
    """As a plugin of pytest: tests that absl's own runner starts elsewhere find its flags read."""
    if importlib.util.find_spec("absl"):
        from absl import flags

        flags.FLAGS.mark_as_parsed()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="tests of other packages on shardc's devices")
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--library", type=Path, default=suite.ROOT / "build" / "lib" / "libshardc_pjrt.so")
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--every", type=suite.share, default="1", metavar="N[+K]")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300)
    # What else suite.py asks of a run.
    parser.set_defaults(platform="shardc", cases=1, seed=0, dut="", alone=False, pytest=PYTEST)
    return parser.parse_args()


def place_of(package: str) -> tuple[Path, Path]:
    """The folder to import from, and that of the tests. Raises: SystemExit for what is neither installed nor a folder."""
    if Path(package).is_dir():
        return Path(package).resolve(), Path(package).resolve()
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        found = None
    if found is None or not found.submodule_search_locations:
        sys.exit(f"package_tests.py: '{package}' is no installed package and no folder")
    folder = Path(next(iter(found.submodule_search_locations))).resolve()
    return folder.parents[package.count(".")], folder


def failed(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [test for test in tests if test["outcome"] not in ("passed", "skipped")]


def run(path: Path, root: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The tests of one file, each that failed with its outcome ``beside``, on JAX's CPU client."""
    options = copy.copy(options)
    options.suite = root
    tests = suite.run_file(path, options, {})
    if failures := failed(tests):
        options.platform = "cpu"
        others = {test["end"]: test for test in tests if test["outcome"] in ("passed", "skipped")}
        beside = {test["end"]: test["outcome"] for test in suite.run_file(path, options, others)}
        for test in failures:
            # A file that cannot be imported has one entry, of its own.
            test["beside"] = beside.get(test["end"], "passed" if test["outcome"] == "import" else "not run")
    return [dict(test, end=f"{path.relative_to(root)}::{test['end'].partition('::')[2]}") for test in tests]


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, suite.end)
    if importlib.util.find_spec("pytest") is None:
        print(f"{sys.executable} lacks pytest")
        return 77
    options.library = options.library.resolve()
    results: list[dict[str, Any]] = []
    for package in options.packages:
        root, folder = place_of(package)
        files = sorted({*folder.rglob("*_test.py"), *folder.rglob("test_*.py")})
        files = [path for path in files if options.only in str(path.relative_to(root))]
        if not files:
            sys.exit(f"package_tests.py: '{package}' has no file of tests{f' with {options.only} in its path' if options.only else ''}")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            try:
                for path, tests in zip(files, pool.map(functools.partial(run, root=root, options=options), files)):
                    results += tests
                    alone = [test for test in failed(tests) if test["beside"] == "passed"]
                    print(f"{path.relative_to(root)}: {sum(test['outcome'] == 'passed' for test in tests)} of {len(tests)} passed, "
                          f"{len(alone)} failed here alone", flush=True)
                    for test in alone:
                        print(f"  {test['end'].partition('::')[2]}: {suite.reason(test['text'])}", flush=True)
            except KeyboardInterrupt:
                suite.end()
    passed = sum(test["outcome"] == "passed" for test in results)
    alone = sum(test["beside"] == "passed" for test in failed(results))
    skipped = sum(test["outcome"] == "skipped" for test in results)
    print(f"{passed} passed, {alone} failed here alone, {len(failed(results)) - alone} failed on JAX's CPU client as well, {skipped} skipped")
    return 1 if alone else 0


if __name__ == "__main__":
    sys.exit(main())

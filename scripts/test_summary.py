#!/usr/bin/env python3
"""Add up what the test programs reported, and print one line.

usage: test_summary.py RESULTS [PART...]

RESULTS holds lit.json (lit --output), ctest.xml (ctest --output-junit) and
gtest/*.json (one file for each GoogleTest program); RESULTS/PART the last two for
programs of another build, such as one under a sanitizer. Every GoogleTest case counts
as one test; a ctest entry that wrote no GoogleTest file counts as one, and so does a
program that failed although none of its cases did (a sanitizer reports at its end).
Exits with 1 if a test failed, or if a report is missing: a run that ended early did
not pass.
Each test that failed is named at the end, with the first lines of what it said.
Tests that were not run are listed, with what this machine lacks; those that lack
something that the environment's SHARDC_REQUIRED names have failed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from pathlib import Path

LIT_FAILURES = {"FAIL", "XPASS", "TIMEOUT", "UNRESOLVED"}
LIT_PASSES = {"PASS", "XFAIL", "FLAKYPASS"}
MOST_LINES = 12
MOST_COLUMNS = 400


def first_lines(text: str) -> list[str]:
    """Return the first lines of a message that are not empty, cut to a readable length."""
    lines = [line.rstrip()[:MOST_COLUMNS] for line in text.splitlines() if line.strip()]
    return lines[:MOST_LINES]


def lines_of_error(text: str) -> list[str]:
    """Return the lines of a log from the first that speaks of an error, or else its last ones."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = next((i for i, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE)), -MOST_LINES)
    return first_lines("\n".join(lines[found:]))


def count_lit(path: Path) -> tuple[int, int, int]:
    """Return (passed, failed, not run) of lit's report."""
    codes = Counter(test["code"] for test in json.loads(path.read_text())["tests"])
    passed = sum(codes[code] for code in LIT_PASSES)
    failed = sum(codes[code] for code in LIT_FAILURES)
    return passed, failed, sum(codes.values()) - passed - failed


def find_lit_failures(path: Path) -> dict[str, list[str]]:
    """Return the tests of lit's report that failed, and what they said."""
    return {
        f"{test['name'].removeprefix('shardc :: ')} ({test['code']})": lines_of_error(test["output"])
        for test in json.loads(path.read_text())["tests"]
        if test["code"] in LIT_FAILURES
    }


def find_gtest_failures(path: Path) -> dict[str, list[str]]:
    """Return the cases of one GoogleTest program that failed, and what they said."""
    found = {}
    for suite in json.loads(path.read_text()).get("testsuites", []):
        for case in suite.get("testsuite", []):
            if case.get("failures"):
                said = "\n".join(failure["failure"] for failure in case["failures"])
                found[f"{path.stem}: {suite['name']}.{case['name']}"] = first_lines(said)
    return found


def find_lacking(path: Path) -> dict[str, list[str]]:
    """Return what lit's tests lacked, and which were not run for it."""
    lacking: dict[str, list[str]] = defaultdict(list)
    for test in json.loads(path.read_text())["tests"]:
        if test["code"] in LIT_FAILURES | LIT_PASSES:
            continue
        found = re.search(r"requires the following unavailable features: (.*)", test["output"])
        lacking[found.group(1) if found else test["code"]].append(test["name"].removeprefix("shardc :: "))
    return lacking


def count_gtest(path: Path) -> tuple[int, int, int]:
    """Return (passed, failed, not run) of one GoogleTest program."""
    report = json.loads(path.read_text())
    not_run = 0
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            not_run += case.get("status") == "NOTRUN" or case.get("result") == "SKIPPED"
    failed = report["failures"] + report.get("errors", 0)
    return report["tests"] - failed - not_run, failed, not_run


def count_programs(results: Path, said: dict[str, list[str]]) -> tuple[int, int, int]:
    """Return (passed, failed, not run) of what ctest ran: GoogleTest programs and checks.

    Adds to ``said`` what failed, and what it said.
    """
    passed = failed = not_run = 0
    failures_of: dict[str, int] = {}
    for path in sorted((results / "gtest").glob("*.json")):
        counts = count_gtest(path)
        failures_of[path.stem] = counts[1]
        passed, failed, not_run = passed + counts[0], failed + counts[1], not_run + counts[2]
        said.update(find_gtest_failures(path))

    ctest = results / "ctest.xml"
    if not ctest.exists():
        print(f"no report of ctest: {ctest}", file=sys.stderr)
        return passed, failed + 1, not_run
    for case in ElementTree.parse(ctest).getroot().iter("testcase"):
        # A check that ends with 77 has said what it lacks.
        if case.get("status") == "notrun" and case.find("skipped") is not None:
            print(f"not run: {case.get('name')}: {case.findtext('system-out', '').strip()}")
            not_run += 1
            continue
        ran_well = case.get("status") == "run"
        failures = failures_of.get(case.get("name", ""))
        if failures is None:
            passed, failed = passed + ran_well, failed + (not ran_well)
            if not ran_well:
                said[case.get("name", "")] = lines_of_error(case.findtext("system-out", ""))
        elif not ran_well and not failures:
            said[f"{case.get('name')} as a whole"] = lines_of_error(case.findtext("system-out", ""))
            failed += 1
    return passed, failed, not_run


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: test_summary.py RESULTS [PART...]", file=sys.stderr)
        return 2
    results = Path(sys.argv[1])
    passed = failed = not_run = 0
    said: dict[str, list[str]] = {}
    for folder in (results, *(results / part for part in sys.argv[2:])):
        counts = count_programs(folder, said)
        passed, failed, not_run = passed + counts[0], failed + counts[1], not_run + counts[2]

    lit = results / "lit.json"
    if lit.exists():
        counts = count_lit(lit)
        passed, failed, not_run = passed + counts[0], failed + counts[1], not_run + counts[2]
        required = set(os.environ.get("SHARDC_REQUIRED", "").split())
        said.update(find_lit_failures(lit))
        for what, tests in find_lacking(lit).items():
            is_required = not required.isdisjoint(re.split(r"[^\w-]+", what))
            print(f"{'FAILED' if is_required else 'not run'}, for this machine lacks {what}: {', '.join(tests)}")
            if is_required:
                failed, not_run = failed + len(tests), not_run - len(tests)
    else:
        print(f"no report of lit: {lit}", file=sys.stderr)
        failed += 1

    if not_run:
        print(f"{not_run} not run")
    for name, lines in said.items():
        print(f"FAILED: {name}")
        for line in lines:
            print(f"    {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

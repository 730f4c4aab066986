"""Run the StableHLO project's own test programs, and see that their checks are made.

    suite.py [NAME...] [--suite DIR] [--tools DIR] [--every N] [--changed N] [--jobs N] [--results FILE]

The suite is a folder with ``data``, ``interpret``, ``math``, ``dynamic`` and ``syntax``, one case a file. A case of
the first three is run by ``shard-run FILE``: it passes where that ends with 0, which it does if every check of the file
holds. One of the last two passes where ``shard-opt`` reads, verifies and prints it, and reads and prints that alike.

Of data and interpret every tenth case (``--changed``, by its place in the list) is run once more with the
expected value of one check changed, and must end with 3; it may end with another value changed, should the first be the
true one.

NAME: cases with that word in their path. ``--every N``: each Nth case alone. ``--results FILE`` keeps a line of JSON
for each case as it ends, and takes from there what the same tools did already: a run that was stopped goes on.

Prints each case that did not pass, and a table by folder. Ends with 0 if all passed but those of quantised types, with 1
if not, with 77 where there is no suite.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

RUN = ("data", "interpret", "math")
READ = ("dynamic", "syntax")
DIFFERS, UNSUPPORTED = 3, 77
LIMIT_S = 600

TENSOR = r"tensor<(?:[^<>]|<[^<>]*>)*>"
CONSTANT_CHECK = re.compile(r"(check\.expect_\w+_const\s+%[\w#]+\s*,\s*)(dense<.*?>)(\s*:\s*)(" + TENSOR + ")", re.S)
CONSTANT = re.compile(r"(stablehlo\.constant\s+(?:\([^)]*\)\s*)?)(dense<.*?>)(\s*:\s*)(" + TENSOR + ")", re.S)
PAIR_CHECK = re.compile(r"check\.expect_(?:eq|almost_eq|close)\"?\s*\(?\s*%[\w#]+\s*,\s*%(\w+)")


def element_of(tensor: str) -> str:
    """``i4`` of ``tensor<2x3xi4>``."""
    return tensor[len("tensor<") : -1].rsplit("x", 1)[-1] if "complex" not in tensor else "complex"


def other_values(tensor: str) -> list[str]:
    """Two values that an element can have, far enough apart for any check; none for tensors without elements."""
    dims = re.findall(r"(\d+)x", tensor)
    if "0" in dims:
        return []
    element = element_of(tensor)
    if element == "i1":
        return ["false", "true"]
    if element == "complex":
        return ["(4.0,1.0)", "(1.0,4.0)"]
    return ["4.0", "1.0"] if "f" in element else ["1", "0"]


def changed_texts(text: str) -> list[str]:
    """``text`` with the expected value of one check made another: for each value of two, empty if there is none to change."""
    for match in CONSTANT_CHECK.finditer(text):
        values = other_values(match[4])
        if values:
            return [text[: match.start()] + match[1] + f"dense<{value}>" + match[3] + match[4] + text[match.end() :] for value in values]
    for check in PAIR_CHECK.finditer(text):
        name = check[1]
        made = re.search(rf"%{name}(?::\d+)?\s*=\s*(?:func\.)?call @([\w.$-]+)", text)
        if made:
            begin = text.find(f"@{made[1]}(", made.end())
            begin = begin if begin >= 0 else text.find(f"func.func private @{made[1]}(")
        else:
            begin = text.find(f"%{name} = ")
        match = CONSTANT.search(text, begin) if begin >= 0 else None
        if match and other_values(match[4]):
            return [text[: match.start()] + match[1] + f"dense<{value}>" + match[3] + match[4] + text[match.end() :] for value in other_values(match[4])]
    return []


def reason_of(stderr: str) -> str:
    """The first error, without what differs from case to case."""
    for line in stderr.splitlines():
        if "error: " in line:
            text = line.split("error: ", 1)[1]
            text = re.sub(r"(/[\w./+-]+)(:\d+)?", "FILE", text)
            text = re.sub(r"\bat \[[\d, ]*\].*", "at some element", text)
            return re.sub(r"\s+", " ", text)[:160]
    return "no error line"


class Suite:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.run_tool = str(Path(args.tools) / "shard-run")
        self.opt_tool = str(Path(args.tools) / "shard-opt")
        stamps = [os.stat(tool) for tool in (self.run_tool, self.opt_tool)]
        self.tools = [[stamp.st_size, stamp.st_mtime_ns] for stamp in stamps]
        self.known: dict[str, dict] = {}
        if args.results and Path(args.results).exists():
            for line in Path(args.results).read_text().splitlines():
                entry = json.loads(line)
                if entry["tools"] == self.tools:
                    self.known[entry["case"]] = entry
        self.lock = threading.Lock()

    def call(self, *command: str, text: str | None = None) -> tuple[int, str, str]:
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return 124, "", f"error: it takes more than {LIMIT_S} s"
        return done.returncode, done.stdout, done.stderr

    def read_again(self, case: Path) -> tuple[str, str]:
        """A case that is read, verified and printed, twice."""
        code, first, errors = self.call(self.opt_tool, "--split-input-file", str(case))
        if code == 0:
            code, second, errors = self.call(self.opt_tool, "--split-input-file", "-", text=first)
            if code == 0 and first != second:
                return "failed", "what is printed reads as another program"
        return ("passed", "") if code == 0 else ("failed", reason_of(errors))

    def run_changed(self, text: str) -> str:
        """passed where a changed value was noticed, unchanged where there is none to change, else failed."""
        texts = changed_texts(text)
        if not texts:
            return "unchanged"
        for changed in texts:
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(changed)
                file.flush()
                code, _, _ = self.call(self.run_tool, file.name)
            if code != 0:
                return "passed" if code == DIFFERS else f"failed with code {code}"
        return "failed: two values hold"

    def judge(self, case: Path, index: int) -> dict:
        entry = {"case": f"{case.parent.name}/{case.name}", "tools": self.tools, "changed": ""}
        text = case.read_text(errors="replace")
        if case.parent.name in READ:
            entry["verdict"], entry["why"] = self.read_again(case)
        else:
            code, _, errors = self.call(self.run_tool, str(case))
            verdicts = {0: "passed", UNSUPPORTED: "refused"}
            entry["verdict"] = verdicts.get(code, "failed")
            entry["why"] = "" if code == 0 else f"code {code}: {reason_of(errors)}"
        if "!quant." in text and entry["verdict"] != "passed":
            entry["verdict"] = "quantised"
        elif entry["verdict"] == "passed" and case.parent.name in ("data", "interpret") and index % self.args.changed == 0:
            entry["changed"] = self.run_changed(text)
        return entry

    def run(self, cases: list[tuple[int, Path]]) -> list[dict]:
        entries = []

        def one(item: tuple[int, Path]) -> dict:
            index, case = item
            name = f"{case.parent.name}/{case.name}"
            if name in self.known:
                return self.known[name]
            entry = self.judge(case, index)
            if self.args.results:
                with self.lock, open(self.args.results, "a") as out:
                    out.write(json.dumps(entry) + "\n")
            return entry

        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for entry in pool.map(one, cases):
                if entry["verdict"] in ("failed", "refused"):
                    print(f"{entry['verdict']:9} {entry['case']}: {entry['why']}", flush=True)
                if entry["changed"].startswith("failed"):
                    print(f"unnoticed {entry['case']}: {entry['changed']}", flush=True)
                entries.append(entry)
        return entries


def print_tables(entries: list[dict]) -> bool:
    """The tables; whether all is well."""
    verdicts = ("passed", "failed", "refused", "quantised")
    print(f"\n{'folder':10} {'cases':>6}" + "".join(f"{verdict:>10}" for verdict in verdicts))
    for folder in (*RUN, *READ, "all"):
        mine = [entry for entry in entries if folder in ("all", entry["case"].split("/")[0])]
        if mine:
            counts = collections.Counter(entry["verdict"] for entry in mine)
            print(f"{folder:10} {len(mine):6}" + "".join(f"{counts[verdict]:10}" for verdict in verdicts))
    reasons = collections.Counter(entry["why"] for entry in entries if entry["verdict"] in ("failed", "refused"))
    if reasons:
        print("\ncases  why")
        for why, count in reasons.most_common():
            print(f"{count:5}  {why}")
    changed = collections.Counter(entry["changed"].split()[0].rstrip(":") for entry in entries if entry["changed"])
    print(
        f"\nrun again with an expected value changed: {sum(changed.values())}, of these noticed {changed['passed']}, "
        f"unnoticed {changed['failed']}, without a value to change {changed['unchanged']}"
    )
    return not reasons and not changed["failed"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--suite", default="../shared/stablehlo-tests")
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--changed", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", default="")
    args = parser.parse_args()
    suite = Path(args.suite)
    if not any((suite / folder).is_dir() for folder in (*RUN, *READ)):
        print(f"no suite at {suite}: it is made of stablehlo/testdata and stablehlo/tests of https://github.com/openxla/stablehlo, one case a file, in the folders {', '.join((*RUN, *READ))}")
        return UNSUPPORTED
    cases = [case for folder in (*RUN, *READ) for case in sorted((suite / folder).glob("*.mlir"))]
    chosen = [(index, case) for index, case in enumerate(cases) if not args.names or any(name in f"{case.parent.name}/{case.name}" for name in args.names)]
    if not chosen:
        print(f"no case of {suite} has a name with {' or '.join(args.names)}")
        return 2
    # Those that are left keep being changed in their turn.
    chosen = [(place, case) for place, (_, case) in enumerate(chosen[:: args.every])]
    return 0 if print_tables(Suite(args).run(chosen)) else 1


if __name__ == "__main__":
    sys.exit(main())

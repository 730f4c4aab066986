"""Compares the exit codes of the manual, of each tool's --help and of ExitCode in the sources.

    exit-codes.test.py MANUAL DIRECTORY-OF-TOOLS SOURCES
"""

import re
import subprocess
import sys
from pathlib import Path

manual, tools, sources = map(Path, sys.argv[1:])
table: dict[int, str] = {}
for codes, cause in re.findall(r"^\| ([\d, ]+) \| (.+) \|$", manual.read_text().split("## Exit codes")[1], re.MULTILINE):
    table.update({int(code): cause.lower() for code in codes.split(",")})
declared = dict(re.findall(r"(\w+) = (\d+)", re.search(r"enum class ExitCode \{(.*?)\}", (sources / "../include/shardc/Driver/Errors.h").read_text(), re.DOTALL)[1]))
numbers = {name: int(code) for name, code in declared.items()}
assert set(numbers.values()) <= set(table), f"{sorted(set(numbers.values()) - set(table))} are in Errors.h and not in the manual"
signals = {129, 130, 143}
assert set(table) == set(numbers.values()) | signals, f"the manual has {sorted(table)}"

# What a tool's own sources, and what it shares with others, can return.
driver = sources / "../lib/Driver"
shared = "".join(path.read_text() for path in (sources / "Common/Tool.cpp", sources / "Common/Start.cpp", *driver.glob("*.cpp")))
for tool in ("shard-run", "shard-translate", "shard-opt"):
    text = subprocess.run([tools / tool, "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.search(r"exit codes: (.*)", text, re.DOTALL)
    assert listed, f"{tool} --help says nothing of exit codes"
    found = {int(code): cause for code, cause in re.findall(r"(\d+) ([^,]+)", re.sub(r"\s+", " ", listed[1]))}
    own = "".join(path.read_text() for path in (sources / tool).glob("*.cpp"))
    returned = {numbers[name] for name in re.findall(r"ExitCode::(\w+)", own)} | {0, 1, 7, 9}
    if tool != "shard-opt":  # reads its options, and compiles, by itself
        returned |= {numbers[name] for name in re.findall(r"ExitCode::(\w+)", shared)}
    if tool == "shard-run":
        returned |= signals
        returned |= set(numbers.values())  # the runtime's statuses
    assert set(found) == returned, f"{tool} --help lists {sorted(found)}, its sources return {sorted(returned)}"
    for code, cause in found.items():
        first = cause.strip().lower().split()[0]
        assert first in table[code], f"{tool} --help calls {code} '{cause.strip()}', the manual '{table[code]}'"
print("ok")

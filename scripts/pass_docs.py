"""The project's passes as their .td files describe them."""

from __future__ import annotations

import json
import subprocess
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path("/usr/lib/llvm-22")


@dataclass
class Option:
    """An option of a pass."""

    name: str
    type: str
    default: str
    description: str


@dataclass
class Pass:
    """A pass: its flag is ``--`` and ``name``."""

    name: str
    file: str
    operation: str
    summary: str
    description: str
    options: list[Option] = field(default_factory=list)


def dump_tablegen(file: Path) -> dict:
    """What ``file`` defines."""
    includes = [f"-I{LLVM}/include", f"-I{ROOT}/include"]
    command = [str(LLVM / "bin" / "llvm-tblgen"), "-dump-json", *includes, str(file)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def read_passes() -> list[Pass]:
    """All passes, in the order of files and of their definitions."""
    passes = []
    for file in sorted((ROOT / "include" / "shardc").glob("*/*Passes.td")):
        records = dump_tablegen(file)
        found = []
        for name in records["!instanceof"]["PassBase"]:
            record = records[name]
            options = [records[option["def"]] for option in record["options"]]
            found.append((
                int(record["!locs"][0].rpartition(":")[2]),
                Pass(
                    record["argument"],
                    str(file.relative_to(ROOT)),
                    record["baseClass"].partition("<")[2].removesuffix(">").rpartition("::")[2] or "any op",
                    record["summary"],
                    textwrap.dedent(record["description"]).strip("\n"),
                    [
                        Option(option["argument"], option["type"], option["defaultValue"], option["description"])
                        for option in options
                    ],
                ),
            ))
        passes += [entry for _, entry in sorted(found, key=lambda pair: pair[0])]
    return passes

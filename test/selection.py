"""Which tests lit runs: all, those of a tier, or a sample; and what each takes of the processors (test/lit.cfg.py)."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator

import lit.formats
from lit.LitConfig import LitConfig
from lit.Test import Result, Test

IR_TOOLS = re.compile(
    r"(?:not (?:--crash )?)?(?:shard-opt|mlir-opt|FileCheck|split-file|count|cat|diff|echo|rm|mkdir|cp|sed)\b|$"
)


def looks_at_ir(path: str) -> bool:
    """Whether no command of the test ``path`` makes or runs code."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        runs = [line.partition("RUN:")[2].strip() for line in lines if re.match(r"\W*RUN:", line)]
    script = "\n".join(runs).replace("\\\n", " ")
    return all(IR_TOOLS.match(command.strip()) for command in re.split(r"\||&&|;|\n", script))


class Selection(lit.formats.ShTest):
    """Shell tests of ``tier`` (``ir``, or None: all), each ``every``-th of them. What each takes of the processors,
    in seconds, becomes a line of the file ``times``."""

    def __init__(self, tier: str | None, every: int, times: str | None) -> None:
        super().__init__(execute_external=False)
        if tier not in (None, "ir"):
            raise ValueError(f"no tier '{tier}'; there is ir")
        self.tier = tier
        self.every = every
        self.times = times

    def execute(self, test: Test, lit_config: LitConfig) -> Result:
        # A worker of lit runs one test at a time, so the processes that it waits for are that test's.
        before = os.times()
        result = super().execute(test, lit_config)
        after = os.times()
        if self.times:
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            with open(self.times, "a", encoding="utf-8") as times:
                times.write(f"{seconds:.2f} {'/'.join(test.path_in_suite)}\n")
        return result

    def getTestsInDirectory(self, *arguments) -> Iterator[Test]:
        for test in super().getTestsInDirectory(*arguments):
            if self.tier == "ir" and not looks_at_ir(test.getSourcePath()):
                continue
            # By name: the same tests on every machine, whatever else is there.
            if zlib.crc32("/".join(test.path_in_suite).encode()) % self.every == 0:
                yield test

"""shard-opt as a function of text.

It is started once: a start takes 30 ms of a core, and examples take hundreds of runs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from fork_server import Limits, Tool

LIMITS = Limits(seconds=60, wait=120, memory=64 << 30)


class ShardOpt:
    """The tool at ``tool``."""

    def __init__(self, tool: str) -> None:
        self.scratch = tempfile.TemporaryDirectory()
        folder = Path(self.scratch.name)
        self.program, self.printed = folder / "program.mlir", folder / "printed.mlir"
        self.tool = Tool(tool, folder)

    def run(self, text: str, *flags: str) -> tuple[int, str, str]:
        """The exit code for ``text``, what is printed, and the diagnostics."""
        self.program.write_text(text)
        self.printed.unlink(missing_ok=True)
        done = self.tool.run([str(self.program), *flags, "-o", str(self.printed)], LIMITS)
        printed = self.printed.read_text() if self.printed.exists() else ""
        return done.code, *(said.replace(str(self.program), "<stdin>") for said in (printed, done.said))

    def close(self) -> None:
        self.tool.close()
        self.scratch.cleanup()

"""Run programs that JAX made, and compare with what JAX computed: what pairs.py and steps.py share."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np


class Exported:
    """A lowered program and its arguments as files of a folder."""

    def __init__(self, lowered: Any, arguments: list[Any], where: Path) -> None:
        self.model, self.inputs, self.outputs = where / "program.mlir", where / "in.npz", where / "out.npz"
        self.model.write_text(lowered.as_text())
        np.savez(self.inputs, **{f"in{i}": argument for i, argument in enumerate(arguments)})

    def raised(self, tools: Path) -> subprocess.CompletedProcess[str]:
        """Return shard-opt's run up to the end of Raise."""
        return subprocess.run([tools / "shard-opt", self.model, "--spmd-import", "--spmd-raise"], capture_output=True, text=True, check=False)

    def compare(self, tools: Path, wanted: list[Any], tolerance: float, options: Iterable[str] = ()) -> str | None:
        """Run it, not optimised by LLVM; return what is wrong with its results, None if nothing is. The tolerance is of the largest element, and of one."""
        run = subprocess.run([tools / "shard-run", self.model, "--quick", f"--inputs=@{self.inputs}", f"--outputs=@{self.outputs}", *options],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return f"exit code {run.returncode} {(run.stderr or run.stdout)[:300]}"
        with np.load(self.outputs) as results:
            for i, want in enumerate(wanted):
                worst = np.abs(results[f"out{i}"] - want).max()
                if not worst <= tolerance * max(1.0, np.abs(want).max()):
                    return f"result {i} differs by {worst:.3g}"
        return None


def main(doc: str | None, programs: Iterable[str], check: Callable[[str, Path, Path], str | None]) -> int:
    """Check the programs that the command line names, or all; the exit code."""
    programs = list(programs)
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(programs))
    options = parser.parse_args()
    bad = 0
    names = options.names or programs
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            wrong = check(name, options.tools, Path(folder))
            if wrong:
                bad += 1
                print(f"{name}: {wrong}", flush=True)
    print(f"{len(names)} programs, {bad} wrong")
    return bad > 0

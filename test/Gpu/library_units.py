"""That scripts/libraries.py finds of our own kernels, by their main loops alone, what walking their launches finds.

    library_units.py FOLDER TOOLS
"""

import argparse
import contextlib
import dataclasses
import io
import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "scripts"), str(Path(__file__).parent)]
import beside
import counted
import gauge
import libraries

# Of whole tiles: of 96 x 128, and of 128 x 128.
SIZES = {"a100": 1536, "h100": 1024}


class Own(unittest.TestCase):
    folder, tools = Path(), Path()

    def compiled(self, machine: str) -> tuple[Path, counted.Counted]:
        """A bf16 product's kernels, as a library has them."""
        program = next(one for one in counted.programs() if (one.name, one.machine) == ("bf16 product", machine))
        self.folder.mkdir(parents=True, exist_ok=True)
        model, cubin = self.folder / "product.mlir", self.folder / f"{machine}.cubin"
        model.write_text(program.text(SIZES[machine]))
        arch = gauge.gpus()[machine].arch
        command = ["--target=cuda", "--kernels=generated", f"--arch={arch}", f"--machine={machine}", "--emit=cubin"]
        subprocess.run([self.tools / "shard-translate", model, *command, "-o", cubin], check=True)
        return cubin, program

    def check_against_walk(self, machine: str, tile: tuple[int, int]) -> None:
        (cubin, program), n = self.compiled(machine), SIZES[machine]
        gpu = gauge.gpus()[machine]
        problem = libraries.Problem("product", (n, n, n))
        found = libraries.estimates_of(cubin, gpu.arch, "", gpu, problem, tile, self.folder)
        walked = gauge.count_program(program, (n,), self.tools).program
        figures = max(walked.launches, key=lambda one: one.seconds)
        own = next(one for one in found if one.name == figures.kernel)
        turns = problem.work / own.loop.work
        # What a walk adds is prologue, epilogue, and (on sm_90a) the warp that loads.
        self.assertLess(own.loop.slots * turns, figures.slots)
        self.assertGreater(own.loop.slots * turns, 0.25 * figures.slots)
        for limit, least in (("tensor", 0.999), ("shared", 0.85), ("l2", 0.85)):
            share = own.limits[limit] / figures.limits[limit]
            self.assertTrue(least < share < 1.01, f"{machine}, {limit}: {share}")

    def test_warps(self) -> None:
        self.check_against_walk("a100", (96, 128))

    def test_warpgroups(self) -> None:
        self.check_against_walk("h100", (128, 128))

    def test_table(self) -> None:
        """Our own kernel in a library's place; a library that is not there; one without such a kernel."""
        (cubin, _), n = self.compiled("a100"), SIZES["a100"]
        one = beside.Beside("bf16 product", "a100", (n,), "ours", cubin.name, "", "product", (n, n, n), 0.92, tile=(96, 128))
        rows = [one, dataclasses.replace(one, library="absent.so"), dataclasses.replace(one, kernel="no such")]
        # ... and without what a smaller product takes, which the program is said to do as well.
        rows.append(dataclasses.replace(one, without="attention forward"))
        beside.libraries = lambda: rows
        counts = [gauge.count_program(counted_one, (size,), self.tools) for counted_one, size in (
            (next(found for found in counted.programs() if (found.name, found.machine) == ("bf16 product", "a100")), size) for size in (n, 768))]
        options = argparse.Namespace(library=self.folder, programs=[], machine=[])
        printed, complaint = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaint):
            code = libraries.compare(options, gauge.gpus(), lambda one, shape: counts[one.name != "bf16 product"])
        self.assertEqual(code, 1)
        row = next(line for line in printed.getvalue().splitlines() if line.startswith("| bf16"))
        self.assertRegex(row, r"\| bf16 product \| 1536 \| a100 \| [\d.]+ \| [\d.]+ us \| tensor \| ours: `\w+` \| .* \| (100|9\d)% \| 92% \|")
        seconds, slots = counts[0].program.seconds - counts[1].program.seconds, counts[0].slots - counts[1].slots
        self.assertIn(f"| bf16 product, without attention forward | {n} | a100 | {slots:.1f} | {seconds * 1e6:.4g} us |", printed.getvalue())
        self.assertIn("not compared: absent.so", printed.getvalue())
        self.assertIn("has no kernel that 'no such' matches", complaint.getvalue())


if __name__ == "__main__":
    Own.tools = Path(sys.argv.pop())
    Own.folder = Path(sys.argv.pop())
    unittest.main()

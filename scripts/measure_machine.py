#!/usr/bin/env python3
"""Measure this host and write its figures as a file for --machine.

Every figure is taken with programs that shardc itself compiles and runs, so it is what
a program gets, not what the hardware could do: a product in cache, a sum of more than
the caches hold, an all-reduce of one number, an all-to-all of large blocks, a small loop
with and without threads. Sizes of caches are what the system says. Medians, three
significant digits. What cannot be measured here is left out, and so is the preset's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PRODUCT = 512  # rows, columns and depth: 3 MB of f32
SUMMED = 1 << 25  # elements of f32: 128 MB
MOVED = 1 << 22  # elements of f32 that a rank holds: 16 MB
POINTS = 1 << 12  # of the loop that threads share

matrix = f"tensor<{PRODUCT}x{PRODUCT}xf32>"
product = f"""
func.func @main(%a: {matrix}, %b: {matrix}) -> {matrix} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}
  return %0 : {matrix}
}}
"""

loop = f"""
func.func @main(%a: tensor<{POINTS}xf32>, %b: tensor<{POINTS}xf32>) -> tensor<{POINTS}xf32> {{
  %0 = stablehlo.add %a, %b : tensor<{POINTS}xf32>
  return %0 : tensor<{POINTS}xf32>
}}
"""


def sum_of(elements: int, ranks: int) -> str:
    """A sum of all elements, cut over `ranks`."""
    sharding = ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}' if ranks > 1 else ""
    mesh = f'sdy.mesh @mesh = <["x"={ranks}]>' if ranks > 1 else ""
    return f"""
{mesh}
func.func @main(%a: tensor<{elements}xf32>{sharding}) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<{elements}xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
"""


def all_to_all(elements: int, ranks: int) -> str:
    """A matrix of `elements` a rank that arrives cut by rows and leaves cut by columns."""
    side = ranks * 256
    shape = f"{side}x{elements * ranks // side}xf32"
    return f"""
sdy.mesh @mesh = <["x"={ranks}]>
func.func @main(%a: tensor<{shape}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
    -> (tensor<{shape}> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}}) {{
  return %a : tensor<{shape}>
}}
"""


class Runner:
    """Runs programs with `shard_run`; `options` are those that the user gave."""

    def __init__(self, shard_run: str, options: list[str], quick: bool) -> None:
        self.shard_run = shard_run
        self.options = options
        self.quick = quick

    def seconds(self, program: str, repeat: int, *options: str) -> float:
        """The median seconds of a step. Raises: subprocess.CalledProcessError."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.mlir"
            path.write_text(program)
            repeat = 3 if self.quick else repeat
            command = [self.shard_run, str(path), "--seed=1", f"--repeat={repeat}", "--report=json", *options]
            text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(text)["ms_per_step"] / 1e3


def caches() -> dict[str, float]:
    """Bytes of a core's cache of data, of its second-level cache, and of the last-level one by core that shares it."""
    sizes: dict[int, tuple[float, int]] = {}
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            shared = (index / "shared_cpu_map").read_text()
            holds_data = (index / "type").read_text().strip() != "Instruction"
        except (OSError, ValueError):
            continue
        factor = {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 0)
        if factor and holds_data:
            sizes[level] = (float(size[:-1]) * factor, max(bin(int(shared.replace(",", ""), 16)).count("1"), 1))
    result = {}
    if 1 in sizes:
        result["first_cache"] = sizes[1][0]
    if 2 in sizes:
        result["cache"] = sizes[2][0]
    if 3 in sizes:
        result["shared_cache"] = sizes[3][0] / sizes[3][1]
    return result


def measure(runner: Runner, ranks: int) -> dict[str, object]:
    """All figures that can be measured here."""
    figures: dict[str, object] = {"preset": "generic"}
    figures["flops"] = 2 * PRODUCT**3 / runner.seconds(product, 50)
    figures["memory_bandwidth"] = 4 * SUMMED / runner.seconds(sum_of(SUMMED, 1), 20)
    latency = runner.seconds(sum_of(ranks, ranks), 2000, *runner.options)
    moved = runner.seconds(all_to_all(MOVED, ranks), 20, *runner.options)
    figures["link"] = {
        "bandwidth": 4 * MOVED * (ranks - 1) / ranks / max(moved - latency, 1e-9),
        "latency": latency,
    }
    if len(os.sched_getaffinity(0)) > 1:
        alone = runner.seconds(loop, 2000)
        shared = runner.seconds(loop, 2000, "--threads=2", "--machine=generic,fork=0")
        figures["fork"] = max(shared - alone / 2, 1e-7)
    figures.update(caches())
    return figures


def rounded(value: object) -> object:
    """Numbers to three significant digits, in whatever holds them."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", help="the file to write; without it, the figures are printed")
    parser.add_argument("--shard-run", default="build/bin/shard-run")
    parser.add_argument("--ranks", type=int, default=2, help="ranks whose link is measured (default 2)")
    parser.add_argument("--processes", action="store_true", help="ranks are processes, not threads")
    parser.add_argument("--transport", help="how ranks talk, as shard-run has it: thread, shm, tcp, mpi")
    parser.add_argument("--quick", action="store_true", help="three steps of each program: to see that it works")
    arguments = parser.parse_args()
    if arguments.ranks < 2:
        parser.error("--ranks: a link has two ranks at least")
    options = [f"--processes={arguments.ranks}"] if arguments.processes else []
    if arguments.transport:
        options.append(f"--transport={arguments.transport}")
    try:
        figures = measure(Runner(arguments.shard_run, options, arguments.quick), arguments.ranks)
    except subprocess.CalledProcessError as error:
        print(f"measure_machine: {' '.join(map(str, error.cmd))} ended with {error.returncode}", file=sys.stderr)
        return 1
    text = json.dumps(rounded(figures), indent=2) + "\n"
    if arguments.output:
        Path(arguments.output).write_text(text)
        print(f"{arguments.output}: use it with --machine={arguments.output}")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

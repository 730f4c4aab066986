"""What the machine code of the libraries' own kernels lets them reach, beside ours.

    gauge.py --library FILE|FOLDER [NAME...]
    gauge.py --library FILE --kernel REGEX --machine a100 [--tile 128x256] [--product MxNxK | --attention TxHxD | --gradients TxHxD]

Takes cubins, or shared libraries, whose cubins cuobjdump extracts. With a folder: finds in it the libraries that
test/Gpu/beside.py names, and prints a table. An estimate is by the limits of gauge.py and of the main loop
alone: what comes before and after it is left out, and work that a helper kernel does. So a library needs at least as long.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from sass.cubin import ROOT, Kernel, find_tool, read_cubin, read_sections
from sass.gpus import Gpu
from sass.mainloop import MainLoop, main_loop


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is to compute: "product" of ``sizes`` (rows, columns, depth), "attention" or its "gradients" of
    (tokens, heads, features). ``size``: bytes of an element."""

    kind: str
    sizes: tuple[int, int, int]
    size: int = 2

    @property
    def work(self) -> float:
        if self.kind == "product":
            return 2.0 * math.prod(self.sizes)
        tokens, heads, features = self.sizes
        return (4.0 if self.kind == "attention" else 10.0) * tokens * tokens * heads * features

    def blocks(self, tile: tuple[int, int]) -> int:
        """How many tiles there are; of attention, those of queries, of gradients, those of keys."""
        if self.kind == "product":
            return math.ceil(self.sizes[0] / tile[0]) * math.ceil(self.sizes[1] / tile[1])
        return math.ceil(self.sizes[0] / tile[0 if self.kind == "attention" else 1]) * self.sizes[1]

    def loaded(self, tile: tuple[int, int]) -> float:
        """Bytes that a block's turns load, for each operation."""
        rows, columns = tile
        if self.kind == "product":
            return self.size / 2 * (1 / rows + 1 / columns)
        return self.size / (2 * rows) if self.kind == "attention" else self.size / 5 / columns

    @property
    def touched(self) -> float:
        """Bytes that have to come from memory or go there: operands and results once."""
        if self.kind == "product":
            rows, columns, depth = self.sizes
            return float(self.size * (rows * depth + depth * columns + rows * columns))
        return float((4 if self.kind == "attention" else 8) * self.size * math.prod(self.sizes))


@dataclasses.dataclass
class Estimate:
    name: str
    kernel: Kernel
    loop: MainLoop
    tile: tuple[int, int] | None
    limits: dict[str, float]  # seconds; of an operation where there is no problem

    @property
    def seconds(self) -> float:
        return max(self.limits.values())

    @property
    def limit(self) -> str:
        return max(self.limits, key=lambda name: self.limits[name])


def demangled(names: list[str]) -> list[str]:
    """As a C++ compiler was given them; the same where there is no c++filt."""
    if not (tool := shutil.which("c++filt")) or not names:
        return names
    return subprocess.run(
        [tool], input="\n".join(names), capture_output=True, text=True, check=True
    ).stdout.splitlines()


def tile_of(name: str) -> tuple[int, int] | None:
    """Rows and columns of a block's tile, where a kernel's name says that."""
    for pattern in (
        r"tilesize(\d+)x(\d+)",  # cuBLAS, cuDNN
        r"gemm_(?:bf16_|fp16_)?(\d+)x(\d+)_",
        r"Flash_(?:fwd|bwd)_kernel_traits<\d+, (\d+), (\d+),",  # FlashAttention 2
        r"Mainloop\w+<.*?tuple<cute::C<\d+>, cute::C<\d+>, cute::C<\d+> >, cute::tuple<cute::C<(\d+)>, cute::C<(\d+)>",  # 3
    ):
        if found := re.search(pattern, name):
            return int(found.group(1)), int(found.group(2))
    return None


def short(name: str) -> str:
    """A kernel's name without namespaces, and no longer than a line of a table."""
    name = re.sub(r"\b(?:\w+::)+|^void ", "", name)
    name = re.sub(r"^device_kernel<enable_\w+<", "", name)
    name = re.sub(r"C<(\d+)>", r"\1", name)
    return re.sub(r"_aux_.*|__5x_.*|_execute.*", "", name)[:96].strip()


def estimate(
    name: str, kernel: Kernel, gpu: Gpu, problem: Problem | None, tile: tuple[int, int] | None
) -> Estimate | None:
    """What a kernel's main loop needs of each unit, for a problem's work spread over the GPU by its tiles."""
    loop = main_loop(kernel)
    if not loop:
        return None
    tile = tile or tile_of(name)
    work = problem.work if problem else 1.0
    part = 1 / gpu.multiprocessors
    if problem and tile:  # of the multiprocessor with most tiles, each of which is whole
        blocks = problem.blocks(tile)
        part = math.ceil(blocks / gpu.multiprocessors) / blocks
        if problem.kind == "product":
            work = 2.0 * blocks * tile[0] * tile[1] * problem.sizes[2]
    turns = work / loop.work  # of warps
    busy = turns * part / gpu.clock
    loaded = problem.loaded(tile) * work if problem and tile else 0
    limits = {
        "issue": loop.slots / 4 * busy,
        **{pipe: 32 * count / gpu.lanes[pipe] * busy for pipe, count in loop.pipes.items()},
        "tensor": ((loop.tensor_time - loop.warp_tensor_time) / gpu.tensor + loop.warp_tensor_time / gpu.warp_tensor)
        * busy,
        "shared": (loop.shared_bytes * turns + (loaded if loop.copies else 0)) * part / 128 / gpu.clock,
    }
    if problem:
        limits["l2"] = loaded / gpu.l2 / gpu.clock
        limits["memory"] = problem.touched / (0.92 * gpu.bandwidth)
        limits["launch"] = gpu.launch
    return Estimate(name, kernel, loop, tile, limits)


def cubins_of(path: Path, arch: str, folder: Path) -> Iterator[Path]:
    """Of a cubin itself, of a shared library those for ``arch``."""
    with path.open("rb") as opened:
        machine = opened.read(20)[18:20]
    if int.from_bytes(machine, "little") == 190:  # EM_CUDA
        yield path
        return
    tool = find_tool("cuobjdump")
    if not tool:
        raise FileNotFoundError("no cuobjdump: install NVIDIA's CUDA toolkit or the package nvidia-cuda-cuobjdump")
    kept = folder / f"{path.name}.{arch}"
    if not kept.exists():
        kept.mkdir(parents=True)
        subprocess.run(
            [tool, "-arch", arch, "-xelf", "all", str(path.resolve())], cwd=kept, check=True, stdout=subprocess.DEVNULL
        )
    yield from sorted(kept.glob("*.cubin"))


def kernels_of(path: Path, arch: str, pattern: str, folder: Path) -> Iterator[tuple[str, Kernel]]:
    """Kernels whose name (as in the source) has something that ``pattern`` matches."""
    for cubin in cubins_of(path, arch, folder):
        places = read_sections(cubin.read_bytes())[0]
        names = [name.removeprefix(".text.") for name in places if name.startswith(".text.")]
        wanted = {name: said for name, said in zip(names, demangled(names)) if re.search(pattern, said)}
        for name, kernel in read_cubin(cubin, wanted=wanted).items() if wanted else ():
            yield wanted[name], kernel


def estimates_of(
    path: Path, arch: str, pattern: str, gpu: Gpu, problem: Problem | None, tile: tuple[int, int] | None, folder: Path
) -> list[Estimate]:
    """The fastest first."""
    found = [estimate(name, kernel, gpu, problem, tile) for name, kernel in kernels_of(path, arch, pattern, folder)]
    return sorted((one for one in found if one), key=lambda one: one.seconds)


def describe(one: Estimate, gpu: Gpu, problem: Problem | None) -> list[str]:
    loop = one.loop
    common = ", ".join(f"{count} {name}" for name, count in loop.mix.most_common(6))
    lines = [
        f"{short(one.name)}: {one.kernel.registers} registers, {len(one.kernel.code)} instructions",
        f"    main loop at {loop.at:#x}: {loop.slots} slots, {loop.shared_bytes:.0f} B of shared memory; {common}",
    ]
    peak = 1 / gpu.tensor if loop.tensor else 1 / (2 * gpu.lanes["fma"])
    figures = f"{1024 * loop.slots / loop.work:.2f} slots for 1024 operations of a warp"
    if problem and problem.kind != "product":
        scores = loop.work / (problem.work / (problem.sizes[0] ** 2 * problem.sizes[1]))
        figures += f", {32 * loop.slots / scores:.1f} a score"
    least = (problem.work if problem else 1) * peak / gpu.multiprocessors / gpu.clock
    lines.append(f"    {figures}; {one.limit} lets it reach {least / one.seconds:.0%} of the peak")
    if problem:
        of = (
            f" by tiles of {one.tile[0]} x {one.tile[1]}"
            if one.tile
            else ", tiles not known: none is cut off, none waits"
        )
        lines.append(
            f"    {problem.kind} of {' x '.join(map(str, problem.sizes))}{of}: at least {one.seconds * 1e6:.4g} us; "
            + ", ".join(
                f"{name} {seconds * 1e6:.4g}"
                for name, seconds in sorted(one.limits.items(), key=lambda pair: -pair[1])[:4]
            )
        )
    return lines


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("x"))


def find_library(place: Path, name: str) -> Path | None:
    return (
        place
        if place.is_file() and place.name == name
        else next(iter(sorted(place.rglob(name))), None)
        if place.is_dir()
        else None
    )


def inspect(options: argparse.Namespace, gpu: Gpu) -> int:
    """Prints the kernels that --kernel names."""
    problem = None
    for kind in ("product", "attention", "gradients"):
        if text := getattr(options, kind):
            rows, columns, depth = numbers(text)
            problem = Problem(kind, (rows, columns, depth), options.size)
    tile = None
    if options.tile:
        rows, columns = numbers(options.tile)
        tile = (rows, columns)
    with tempfile.TemporaryDirectory() as folder:
        found = estimates_of(
            options.library, options.arch or gpu.arch, options.kernel, gpu, problem, tile, Path(folder)
        )
    for one in found:
        print("\n".join(describe(one, gpu, problem)))
    if not found:
        print(f"gauge: error: no kernel that {options.kernel!r} matches has a loop that multiplies", file=sys.stderr)
        return 1
    print("Estimated from counts, of main loops alone: docs/Reference/gpu-performance.md")
    return 0


def compare(options: argparse.Namespace, gpus: dict[str, Gpu], count: Callable[[Any, tuple[int, ...]], Any]) -> int:
    """Prints a table: our programs beside libraries' kernels for the same."""
    sys.path.insert(0, str(ROOT / "test" / "Gpu"))
    beside, counted = importlib.import_module("beside"), importlib.import_module("counted")
    programs = {(one.name, one.machine): one for one in counted.programs()}
    print(
        "| program | size | GPU | slots an element | estimate | limit | library's kernel | slots an element | estimate | limit | our share | goal |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    absent, problems = set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for one in beside.libraries():
            if options.programs and not any(name in one.program for name in options.programs):
                continue
            if options.machine and one.machine not in options.machine:
                continue
            if not (library := find_library(options.library, one.library)):
                absent.add(one.library)
                continue
            problem, gpu = Problem(one.kind, one.sizes, one.size), gpus[one.machine]
            found = estimates_of(library, one.arch or gpu.arch, one.kernel, gpu, problem, one.tile, Path(folder))
            if not found:
                print(f"gauge: error: {library} has no kernel that {one.kernel!r} matches", file=sys.stderr)
                problems = 1
                continue
            program = programs[one.program, one.machine]
            row, best = count(program, one.shape), found[0]
            longest = max(row.program.launches, key=lambda figures: figures.seconds)
            seconds, own_slots = row.program.seconds, row.slots
            if one.without:  # counted alone, of the same size
                other = count(programs[one.without, one.machine], one.shape)
                seconds, own_slots = seconds - other.program.seconds, own_slots - other.slots
            name = f"{one.program}, without {one.without}" if one.without else one.program
            slots = 32 * best.loop.slots * problem.work / best.loop.work / row.elements
            print(
                f"| {name} | {' x '.join(map(str, one.shape))} | {one.machine} | {own_slots:.1f} | {seconds * 1e6:.4g} us | {longest.limit} | "
                f"{one.by}: `{short(best.name)}` | {slots:.1f} | {best.seconds * 1e6:.4g} us | {best.limit} | {best.seconds / seconds:.0%} | {one.goal:.0%} |",
                flush=True,
            )
    for name in sorted(absent):
        print(f"not compared: {name} is not in {options.library}")
    return problems

"""What the machine code of a program's kernels lets them reach on a GPU, without one.

    gauge.py PROGRAM.mlir... [--machine a100|h100|b200] [--arch sm_90a] [--work FLOPS] [--elements N] [--loops]
             [--scheduled]
    gauge.py --counted [NAME...] [--small] [--machine h100]
    gauge.py --launches PROGRAM.mlir... [--most N]
    gauge.py --library FILE|FOLDER ...: libraries' own kernels (libraries.py)

Compiles a program, disassembles its kernels (nvdisasm), finds what is launched with which arguments (a driver that
only writes launches down, test/Gpu/LaunchRecorder.c), and walks warps of each launch (scripts/sass). So the whole launch
counts: prologue, every turn of every loop, epilogue, and helper kernels beside. Figures are *estimated* from counts, never
measured. --scheduled says as well what a model of the multiprocessor's schedulers makes of each launch (scheduler.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import libraries
import scheduler
from sass.costs import PACKED, bytes_of, pipe_of, shared_bytes, tensor_memory_work, tensor_work
from sass.cubin import ROOT, Kernel, find_nvdisasm, read_cubin
from sass.flow import basic_blocks, loops_of
from sass.gpus import Gpu, gpus
from sass.launches import Launch, block_at, read_launches
from sass.operands import read_by, written_by
from sass.walks import Plan, Walk, cluster_of, walk_launch, walk_warp

# A launch -----------------------------------------------------------------------


@dataclasses.dataclass
class Figures:
    """What is counted of one launch, and what follows from it."""

    kernel: str
    grid: int
    threads: int
    registers: int
    shared: int
    resident: int  # blocks on a multiprocessor
    slots: float = 0  # instructions of warps
    mix: Counter[str] = dataclasses.field(default_factory=Counter)  # ... by opcode
    pipes: Counter[str] = dataclasses.field(default_factory=Counter)
    tensor: float = 0
    tensor_time: float = 0  # in operations of 16 bits
    warp_tensor_time: float = 0  # ... of mma.sync
    shared_bytes: float = 0
    global_bytes: float = 0
    wide_bytes: float = 0  # of global_bytes, 16 bytes at once or by TMA copies
    footprint: float = 0
    barriers: float = 0
    in_flight: float = 0  # bytes, a multiprocessor
    unknown: int = 0  # branches
    unplaced: int = 0  # accesses whose address is not known
    unmodelled: Counter[str] = dataclasses.field(default_factory=Counter)
    limits: dict[str, float] = dataclasses.field(default_factory=dict)
    scheduled: float = 0  # seconds by the model of the schedulers, where it was asked
    unscheduled: tuple[str, ...] = ()  # ... or what it does not know

    @property
    def seconds(self) -> float:
        return max(self.limits.values(), default=0)

    @property
    def limit(self) -> str:
        return max(self.limits, key=lambda name: self.limits[name]) if self.limits else ""


def resident_blocks(gpu: Gpu, registers: int, threads: int, shared: int) -> int:
    warps = (threads + 31) // 32
    a_warp = (max(registers, 1) * 32 + 255) // 256 * 256
    by_registers = gpu.registers // (a_warp * warps)
    by_shared = gpu.shared // ((shared + 1024 + 127) // 128 * 128)
    return max(1, min(gpu.blocks, gpu.warps // warps, by_registers, by_shared))


def in_flight(kernel: Kernel) -> int:
    """Most bytes of global memory that a thread has asked for before it needs any of them, within a basic block."""
    most = 0
    for block in basic_blocks(kernel.code):
        waiting: dict[str, int] = {}
        for one in kernel.code[block.begin : block.end]:
            if set(read_by(one)) & set(waiting):
                waiting = {}
            if one.name == "LDG":
                names = written_by(one)
                waiting |= {name: 0 for name in names} | {names[0]: bytes_of(one)} if names else {}
                most = max(most, sum(waiting.values()))
    return most


ELEMENT = {6: 2, 7: 4, 8: 8, 9: 2, 0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8}


def map_words(launch: Launch, kernel: Kernel, number: int) -> list[int]:
    return launch.words[16 * number : 16 * number + 16]


def element_of(words: list[int]) -> int:
    """Bytes of an element of a tensor map."""
    return ELEMENT.get(words[1] >> 8 & 0xFF, 4)


def copied_by(words: list[int]) -> int:
    """Bytes of a TMA copy: of a box, or of windows, which are channels of pixels (shardrt/TensorMap.h)."""
    return math.prod(words[11 : 11 + (2 if words[1] >> 16 & 1 else words[1] & 0xFF)]) * element_of(words)


def span_of(launch: Launch, words: list[int]) -> tuple[int, int]:
    """Addresses that a tensor map covers."""
    dims, element = words[1] & 0xFF, element_of(words)
    last = (words[2] - 1) * element + sum((words[2 + i] - 1) * words[6 + i] for i in range(1, dims))
    return words[0], words[0] + last + element


def lane_pattern(plan: Plan, launch: Launch) -> dict[int, tuple[int, int]]:
    """Of each access of global memory, sectors of 32 bytes that a warp touches at first, and threads that do."""
    first: dict[int, set[int]] = {}
    lanes: Counter[int] = Counter()
    middle = block_at(launch.grid, launch.blocks // 2)
    warp = (launch.threads + 31) // 32 // 2
    for lane in range(min(32, launch.threads)):
        walk = Walk()
        walk_warp(plan, launch, middle, warp, walk, lane, limit=1500)
        for index, (low, _) in walk.touched.items():
            size = bytes_of(plan.kernel.code[index])
            first.setdefault(index, set()).update(range(low // 32, (low + size - 1) // 32 + 1))
            lanes[index] += 1
    return {index: (len(sectors), lanes[index]) for index, sectors in first.items()}


def united(spans: list[tuple[int, int]]) -> int:
    total, end = 0, 0
    for low, high in sorted(spans):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total


def gauge(kernel: Kernel, launch: Launch, gpu: Gpu, plan: Plan | None = None) -> Figures:
    """Counts one launch, and how long it takes at least by each limit."""
    plan = plan or Plan.of(kernel)
    walk, most = walk_launch(plan, launch)
    shared = max(kernel.shared, launch.shared)
    figures = Figures(
        launch.kernel,
        launch.blocks,
        launch.threads,
        kernel.registers,
        shared,
        resident_blocks(gpu, kernel.registers, launch.threads, shared),
    )
    figures.unknown, figures.unplaced, figures.unmodelled = walk.unknown, walk.unplaced, walk.unmodelled
    patterns = lane_pattern(plan, launch)
    spans = []
    fills = 0.0
    for index, times in walk.counts.items():
        one, count = kernel.code[index], times
        figures.slots += count
        figures.mix[one.opcode] += count
        if pipe := pipe_of(one):
            figures.pipes[pipe] += count * (2 if one.name in PACKED else 1)
        work, time = tensor_work(one)
        figures.tensor += work * count
        if one.name in ("HGMMA", "QGMMA"):
            figures.tensor_time += time * count
        else:
            figures.warp_tensor_time += time * count
        figures.shared_bytes += shared_bytes(one) * count
        if one.name in ("BAR", "SYNCS") and ("SYNC" in one.suffixes or "PHASECHK" in one.suffixes):
            figures.barriers += count
        if one.name in ("LDG", "STG", "LDGSTS", "RED", "REDG", "ATOMG"):
            sectors, _ = patterns.get(index, (bytes_of(one), 32))
            moved = 32.0 * sectors * walk.done[index]
            figures.global_bytes += moved
            figures.wide_bytes += moved if bytes_of(one) >= 16 else 0
            if index in walk.touched:
                low, high = walk.touched[index]
                spans.append((low, high + 32 * bytes_of(one)))
    for index, products in walk.products.items():
        for described, times in products.items():
            work, time, read = tensor_memory_work(described, kernel.code[index].operands[0].startswith("tmem"))
            figures.tensor += work * times
            figures.tensor_time += time * times
            figures.shared_bytes += read * times
    arriving = 0.0  # ... to shared memory: a multicast to two blocks is loaded once
    for index, maps in walk.maps.items():
        blocks = cluster_of(kernel) if "MULTICAST" in kernel.code[index].suffixes else 1
        for number, times in maps.items():
            words = map_words(launch, kernel, number)
            if len(words) < 16 or not words[1] & 0xFF:
                continue
            fills += copied_by(words) * times
            arriving += blocks * copied_by(words) * times
            spans.append(span_of(launch, words))
    figures.global_bytes += fills
    figures.wide_bytes += fills
    figures.shared_bytes += arriving
    figures.footprint = min(figures.global_bytes, united(spans)) if spans else figures.global_bytes
    warps = (launch.threads + 31) // 32
    asynchronous = any(one.name in ("LDGSTS", "UTMALDG") for one in kernel.code)
    figures.in_flight = figures.resident * (shared if asynchronous else 32 * warps * in_flight(kernel))
    # A multiprocessor's part of all work: of that with most blocks, or with the one that has most to do.
    busiest = max(math.ceil(launch.blocks / gpu.multiprocessors) / launch.blocks, most)
    cycle = 1 / gpu.clock
    limits = {"issue": figures.slots * busiest / 4 * cycle}
    for pipe, count in figures.pipes.items():
        limits[pipe] = count * busiest * 32 / gpu.lanes[pipe] * cycle
    limits["tensor"] = (figures.tensor_time / gpu.tensor + figures.warp_tensor_time / gpu.warp_tensor) * busiest * cycle
    limits["shared"] = figures.shared_bytes * busiest / 128 * cycle
    limits["l2"] = figures.global_bytes / gpu.l2 * cycle
    limits["memory"] = figures.footprint / (0.92 * gpu.bandwidth)
    used = min(launch.blocks, gpu.multiprocessors)
    if figures.in_flight and figures.footprint:
        limits["latency"] = figures.footprint / (figures.in_flight * used) * gpu.latency
    limits["launch"] = gpu.launch
    figures.limits = limits
    return figures


def add_schedule(figures: Figures, kernel: Kernel, launch: Launch, gpu: Gpu) -> None:
    """Adds what the model of the schedulers says of a launch."""
    machine = scheduler.MACHINES.get(gpu.name)
    figures.unscheduled = tuple(scheduler.missing_in(kernel)) if machine else (f"machine {gpu.name}",)
    if machine and not figures.unscheduled:
        machine = dataclasses.replace(machine, clock=gpu.clock, bandwidth=gpu.bandwidth, launch=gpu.launch)
        figures.scheduled = scheduler.schedule(kernel, launch, machine).seconds


# A program ------------------------------------------------------------------------


@dataclasses.dataclass
class Program:
    """Launches of a step of one rank, with copies and fills that no kernel does."""

    name: str
    arch: str
    gpu: Gpu
    launches: list[Figures]
    moved: Counter[str]
    kernels: dict[str, Kernel]

    @property
    def seconds(self) -> float:
        without = sum(self.moved[f"{what}s"] for what in ("copy", "fill")) * self.gpu.launch
        return sum(figures.seconds for figures in self.launches) + without

    @property
    def slots(self) -> float:
        return sum(figures.slots for figures in self.launches)

    def total(self, what: str) -> float:
        return float(sum(getattr(figures, what) for figures in self.launches))


def build_recorder(folder: Path, tools: Path) -> Path:
    """The driver that writes launches down: built with the tools, else here."""
    built = tools.parent / "lib" / "LaunchRecorder.so"
    if built.exists():
        return built
    library = folder / "LaunchRecorder.so"
    subprocess.run(
        [
            os.environ.get("CC", "cc"),
            "-shared",
            "-fPIC",
            "-O1",
            "-o",
            library,
            ROOT / "test/Gpu/LaunchRecorder.c",
            "-lpthread",
        ],
        check=True,
    )
    return library


def record_launches(
    model: Path, gpu: Gpu, arch: str, tools: Path, flags: tuple[str, ...], folder: Path, rank: int = 0
) -> tuple[list[Launch], Counter[str]]:
    """What one rank of a program launches in a step, and what it moves without a kernel."""
    record = folder / "launches"
    environment = dict(
        os.environ,
        SHARDRT_LAUNCHES=str(record),
        SHARDRT_CUDA_LIBRARY=str(build_recorder(folder, tools)),
        LAUNCH_RECORDER_CAPABILITY=re.sub(r"\D", "", arch),
        LAUNCH_RECORDER_MULTIPROCESSORS=str(gpu.multiprocessors),
    )
    subprocess.run(
        [tools / "shard-run", model, "--device=cuda", "--kernels=generated", f"--arch={arch}", f"--machine={gpu.name}", *flags],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return read_launches(record, rank)


def count_launches(model: Path, gpu: Gpu, tools: Path, flags: tuple[str, ...], most: int) -> int:
    """Prints how many kernels a step of a program launches; 1 where these are more than ``most`` (0: any number)."""
    with tempfile.TemporaryDirectory() as folder:
        launches, moved = record_launches(model, gpu, gpu.arch, tools, flags, Path(folder))
    print(f"{model.stem}: {len(launches)} launches, {moved['copys']} copies and {moved['fills']} fills without a kernel")
    if most and len(launches) > most:
        print(f"expected at most {most} launches")
        return 1
    return 0


def measure(
    model: Path,
    gpu: Gpu,
    arch: str = "",
    tools: Path = ROOT / "build/bin",
    flags: tuple[str, ...] = (),
    name: str = "",
    rank: int = 0,
    scheduled: bool = False,
) -> Program:
    """Compiles a program, records its launches, and counts each."""
    arch = arch or gpu.arch
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        cubin = folder / "kernels.cubin"
        common = ["--kernels=generated", f"--arch={arch}", f"--machine={gpu.name}", *flags]
        subprocess.run(
            [tools / "shard-translate", model, "--target=cuda", *common, "--emit=cubin", "-o", cubin], check=True
        )
        kernels = read_cubin(cubin)
        launches, moved = record_launches(model, gpu, arch, tools, flags, folder, rank)
    plans: dict[str, Plan] = {}
    done: dict[tuple[object, ...], Figures] = {}
    figures = []
    for launch in launches:
        plan = plans.setdefault(launch.kernel, Plan.of(kernels[launch.kernel]))
        key = (launch.kernel, launch.grid, tuple(launch.words))
        if key not in done:
            done[key] = gauge(kernels[launch.kernel], launch, gpu, plan)
            if scheduled:
                add_schedule(done[key], kernels[launch.kernel], launch, gpu)
        figures.append(done[key])
    return Program(name or model.stem, arch, gpu, figures, moved, kernels)


# What is printed --------------------------------------------------------------------


def loop_lines(kernel: Kernel) -> list[str]:
    """The loops of a kernel: slots, tensor work, memory, and the commonest instructions of each."""
    blocks = basic_blocks(kernel.code)
    lines = []
    for loop in loops_of(kernel.code, blocks):
        code = [kernel.code[at] for number in loop.blocks for at in range(blocks[number].begin, blocks[number].end)]
        mix = Counter(one.name for one in code)
        tensor = sum(tensor_work(one)[1] for one in code) / 1024
        common = ", ".join(f"{count} {name}" for name, count in mix.most_common(8))
        lines.append(
            f"    loop at {blocks[loop.head].begin * 16:#x}: {len(code)} slots, {tensor:.0f} tensor cycles of a warp, {sum(map(shared_bytes, code)):.0f} B of shared memory; {common}"
        )
    return lines


def describe(program: Program, work: float = 0, elements: float = 0, with_loops: bool = False) -> list[str]:
    gpu = program.gpu
    lines = [
        f"{program.name}, {program.arch} on {gpu.name}: estimated {program.seconds * 1e6:.1f} us, {len(program.launches)} launches"
    ]
    if work:
        rate = work / program.seconds
        peak = gpu.tensor * gpu.multiprocessors * gpu.clock
        lines[0] += f", {rate / 1e12:.1f} TFLOP/s ({rate / peak:.0%} of the tensor cores' peak)"
    if elements:
        lines[0] += f", {32 * program.slots / elements:.1f} slots an element"
    for what in ("copy", "fill"):
        if count := program.moved[f"{what}s"]:
            lines.append(f"  {count} x {what} without a kernel, {program.moved[what]} bytes")
    for figures, count in grouped(program.launches):
        limits = sorted(figures.limits.items(), key=lambda pair: -pair[1])
        lines.append(
            f"  {count} x {figures.kernel}: {figures.grid} blocks of {figures.threads}, {figures.registers} registers, {figures.shared} B shared, "
            f"{figures.resident} a multiprocessor ({figures.resident * figures.threads / 32 / gpu.warps:.0%} of its warps)"
        )
        lines.append(
            "    limits: "
            + ", ".join(
                f"{name} {seconds * 1e6:.2f} us" for name, seconds in limits if seconds > 0.02 * figures.seconds
            )
        )
        if figures.scheduled:
            lines.append(f"    by the schedulers' model: {figures.scheduled * 1e6:.2f} us")
        elif figures.unscheduled:
            lines.append(f"    not in the schedulers' model: {', '.join(figures.unscheduled)}")
        mix = Counter[str]()
        for opcode, number in figures.mix.items():
            mix[opcode.split(".")[0]] += number
        lines.append(
            f"    {figures.slots:.3g} slots: "
            + ", ".join(f"{number / figures.slots:.0%} {name}" for name, number in mix.most_common(9))
        )
        if figures.tensor:
            cycles = figures.tensor_time / 1024 + figures.warp_tensor_time * gpu.tensor / gpu.warp_tensor / 1024
            useful = f", {work / figures.tensor:.0%} of the work is useful" if work else ""
            lines.append(f"    {figures.slots / cycles:.2f} slots a tensor cycle of a warp{useful}")
        if figures.global_bytes:
            busy = figures.seconds * gpu.clock * min(gpu.multiprocessors, figures.grid)
            lines.append(
                f"    {figures.global_bytes / 1e6:.2f} MB of {figures.footprint / 1e6:.2f} MB of memory, {figures.wide_bytes / figures.global_bytes:.0%} by 16 bytes or more, "
                f"{figures.in_flight / 1024:.0f} KiB under way a multiprocessor; {figures.shared_bytes / busy:.0f} B of shared memory a cycle, "
                f"{figures.barriers / max(1, figures.grid * figures.threads / 32):.0f} waits a warp"
            )
        if figures.unknown or figures.unplaced or figures.unmodelled:
            lines.append(
                f"    not followed: {figures.unknown} branches on data; {figures.unplaced} addresses; {dict(figures.unmodelled)}"
            )
        if with_loops:
            lines += loop_lines(program.kernels[figures.kernel])
    return lines


def grouped(launches: list[Figures]) -> list[tuple[Figures, int]]:
    counts: dict[tuple[str, int], list[Figures]] = {}
    for figures in launches:
        counts.setdefault((figures.kernel, figures.grid), []).append(figures)
    return [(same[0], len(same)) for same in counts.values()]


@dataclasses.dataclass
class Row:
    """A program of test/Gpu/counted.py, counted."""

    counted: Any
    shape: tuple[int, ...]
    program: Program

    @property
    def elements(self) -> float:
        return float(self.counted.elements(*self.shape))

    @property
    def slots(self) -> float:
        return 32 * self.program.slots / self.elements

    @property
    def least(self) -> float:
        """Seconds that the work takes at the GPU's own rates: tensor cores, or 92 % of memory bandwidth."""
        gpu, seconds = self.program.gpu, 0.0
        if self.counted.work:
            seconds = self.counted.work(*self.shape) / (self.counted.speed * gpu.tensor * gpu.multiprocessors * gpu.clock)
        if self.counted.traffic:
            seconds = max(seconds, self.counted.traffic(*self.shape) / (0.92 * gpu.bandwidth))
        return seconds

    @property
    def useful(self) -> float:
        """Of the tensor cores' work, what the program asked for."""
        issued = self.program.total("tensor")
        return self.counted.work(*self.shape) / issued if self.counted.work and issued else 0

    def problems(self) -> list[str]:
        found = []
        if self.counted.slots and self.slots > self.counted.slots:
            found.append(f"{self.slots:.1f} slots an element, expected at most {self.counted.slots:g}")
        if self.counted.launches and len(self.program.launches) > self.counted.launches:
            found.append(f"{len(self.program.launches)} launches, expected at most {self.counted.launches}")
        if (share := self.least / self.program.seconds) < self.counted.share:
            found.append(f"{share:.0%} of what the GPU can, expected at least {self.counted.share:.0%}")
        if lost := sum(figures.unplaced for figures in self.program.launches):
            found.append(f"{lost} addresses that are not known, expected none")
        if any(figures.unmodelled for figures in self.program.launches):
            found.append(
                f"instructions that are not modelled: {[dict(figures.unmodelled) for figures in self.program.launches]}"
            )
        return found


def count_programs(names: list[str], machines: list[str], small: bool, tools: Path) -> list[Row]:
    """Programs of test/Gpu/counted.py: at sizes for CI, or at those of the page."""
    sys.path.insert(0, str(ROOT / "test" / "Gpu"))
    counted = importlib.import_module("counted")
    rows = []
    for one in counted.programs():
        if (names and not any(name in one.name for name in names)) or (machines and one.machine not in machines):
            continue
        rows.append(count_program(one, one.small if small else one.size, tools))
    return rows


def count_program(one: Any, shape: tuple[int, ...], tools: Path) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.mlir"
        model.write_text(one.text(*shape))
        return Row(one, shape, measure(model, gpus()[one.machine], tools=tools, flags=one.flags, name=one.name))


def table(rows: list[Row]) -> list[str]:
    lines = [
        "| program | size | GPU | launches | slots an element | 16-byte accesses | useful tensor work | estimate | limit | share of what the GPU can |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        program = row.program
        longest = max(program.launches, key=lambda figures: figures.seconds)
        moved = program.total("global_bytes")
        lines.append(
            f"| {row.counted.name} | {' x '.join(map(str, row.shape))} | {row.counted.machine} | {len(program.launches)} | {row.slots:.1f} | "
            f"{program.total('wide_bytes') / moved if moved else 0:.0%} | {f'{row.useful:.0%}' if row.useful else '–'} | {program.seconds * 1e6:.4g} us | {longest.limit} | "
            f"{f'{row.least / program.seconds:.0%}' if row.least else '–'} |"
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="a file, or, with --counted, parts of names")
    parser.add_argument("--counted", action="store_true", help="programs of test/Gpu/counted.py, as a table")
    parser.add_argument(
        "--small", action="store_true", help="with --counted: at CI's sizes; 1 where a figure is worse than its bound"
    )
    parser.add_argument(
        "--machine", action="append", default=[], choices=sorted(gpus()), help="default: h100, or all that are counted"
    )
    parser.add_argument("--arch", default="", help="default: the machine's")
    parser.add_argument("--work", type=float, default=0, help="operations that a step has to do")
    parser.add_argument("--elements", type=float, default=0, help="what slots are counted by")
    parser.add_argument("--flag", action="append", default=[], help="of shard-run and shard-translate")
    parser.add_argument("--loops", action="store_true", help="what is in the kernels' loops")
    parser.add_argument("--scheduled", action="store_true", help="what the model of the schedulers says of each launch")
    parser.add_argument("--launches", action="store_true", help="count launches alone: needs no nvdisasm")
    parser.add_argument("--most", type=int, default=0, help="with --launches: 1 where there are more")
    parser.add_argument("--tools", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--library", type=Path, help="a library's cubin or shared library, or a folder of these")
    parser.add_argument("--kernel", default="", help="with --library: which kernels, a regular expression")
    parser.add_argument("--tile", default="", help="with --kernel: a block's rows x columns, where the name lacks them")
    parser.add_argument("--product", default="", metavar="MxNxK", help="with --kernel: what it is to compute")
    parser.add_argument("--attention", default="", metavar="TOKENSxHEADSxFEATURES")
    parser.add_argument("--gradients", default="", metavar="TOKENSxHEADSxFEATURES")
    parser.add_argument("--size", type=int, default=2, help="with these: bytes of an element")
    options = parser.parse_args()
    if options.launches:
        gpu = gpus()[(options.machine or ["h100"])[0]]
        return max(
            count_launches(Path(model), gpu, options.tools, tuple(options.flag), options.most)
            for model in options.programs
        )
    if not find_nvdisasm():
        print(
            "gauge: error: no nvdisasm: install NVIDIA's CUDA toolkit or the package nvidia-cuda-nvdisasm",
            file=sys.stderr,
        )
        return 1
    if options.library and options.kernel:
        return libraries.inspect(options, gpus()[(options.machine or ["h100"])[0]])
    if options.library:
        return libraries.compare(options, gpus(), lambda one, shape: count_program(one, shape, options.tools))
    if not options.counted:
        for model in options.programs:
            for machine in options.machine or ["h100"]:
                flags, gpu = tuple(options.flag), gpus()[machine]
                program = measure(Path(model), gpu, options.arch, options.tools, flags, scheduled=options.scheduled)
                print("\n".join(describe(program, options.work, options.elements, options.loops)))
        print("Estimated from counts. A kernel takes as long as its first limit: docs/Reference/gpu-performance.md")
        return 0
    rows = count_programs(options.programs, options.machine, options.small, options.tools)
    print("\n".join(table(rows)))
    problems = (
        [f"{row.counted.name} on {row.counted.machine}: {problem}" for row in rows for problem in row.problems()]
        if options.small
        else []
    )
    print("".join(f"\n{problem}" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

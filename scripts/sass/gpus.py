"""What GPUs can do, as estimates take it."""

from __future__ import annotations

import dataclasses
import re

from sass.cubin import ROOT


@dataclasses.dataclass(frozen=True)
class Gpu:
    """Rates of a GPU, a cycle and multiprocessor where nothing else is said.

    ``tensor``: operations on 16 bits of warpgroup products (of mma.sync where there are none); ``warp_tensor``: of
    mma.sync. ``lanes``: threads a cycle by pipe. ``l2``: bytes a cycle of all. ``latency``: seconds of a load from
    memory under load. ``launch``: seconds from one small kernel to the next in a graph.
    """

    name: str
    arch: str
    multiprocessors: int
    bandwidth: float
    clock: float
    tensor: float
    warp_tensor: float
    l2: float
    latency: float
    launch: float
    lanes: dict[str, float]
    registers: int = 65536
    warps: int = 64
    blocks: int = 32
    shared: int = 228 << 10


PIPES = {"fma": 128.0, "imad": 64.0, "alu": 64.0, "xu": 16.0, "lsu": 32.0, "uniform": 64.0, "double": 64.0}


def preset(name: str) -> tuple[int, float]:
    """Multiprocessors and bytes a second of a preset of lib/Machine."""
    text = (ROOT / "lib/Machine/Machine.cpp").read_text()
    found = re.search(rf'gpu\("{name}", [\d.e]+, ([\d.e]+), [^,]+, (\d+),', text)
    if not found:
        raise ValueError(f"no preset '{name}' in lib/Machine/Machine.cpp")
    return int(found.group(2)), float(found.group(1))


def gpus() -> dict[str, Gpu]:
    """The three GPUs. Sources: docs/Reference/gpu-performance.md."""
    made = {}
    for gpu in (
        Gpu(
            "a100",
            "sm_80",
            0,
            0,
            1.41e9,
            2048,
            2048,
            5120,
            600e-9,
            1.5e-6,
            PIPES | {"fma": 64.0, "double": 32.0},
            shared=164 << 10,
        ),
        Gpu("h100", "sm_90a", 0, 0, 1.83e9, 4096, 2540, 5120, 700e-9, 1.3e-6, PIPES),
        Gpu("b200", "sm_100a", 0, 0, 1.85e9, 8192, 2540, 10240, 800e-9, 1.3e-6, PIPES),
    ):
        count, bandwidth = preset(gpu.name)
        made[gpu.name] = dataclasses.replace(gpu, multiprocessors=count, bandwidth=bandwidth)
    return made

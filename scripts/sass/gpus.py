"""What GPUs can do, as estimates take it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from sass.cubin import ROOT


@dataclasses.dataclass(frozen=True)
class Gpu:
    """Rates of a GPU, a cycle and multiprocessor where nothing else is said.

    ``tensor``: operations on 16 bits of warpgroup products (of mma.sync where there are none); ``warp_tensor``: of
    mma.sync. ``lanes``: threads a cycle by pipe. ``l2``: bytes a cycle of all. ``latency``: seconds of a load from
    memory under load. What is zero at first is the preset's, ``launch`` among it: seconds from one small kernel to the
    next in a graph.
    """

    name: str
    arch: str
    tensor: float
    latency: float
    lanes: dict[str, float]
    launch: float = 0
    multiprocessors: int = 0
    bandwidth: float = 0
    clock: float = 0
    warp_tensor: float = 0
    l2: float = 0
    registers: int = 65536
    warps: int = 64
    blocks: int = 32
    shared: int = 228 << 10


PIPES = {"fma": 128.0, "imad": 64.0, "alu": 64.0, "xu": 16.0, "lsu": 32.0, "uniform": 64.0, "double": 64.0}


def preset(name: str) -> dict[str, Any]:
    """Return what a preset of lib/Machine says: multiprocessors, bandwidth, a launch, and what is done in a cycle."""
    text = (ROOT / "lib/Machine/Machine.cpp").read_text()
    cycle = r"\{([\d.e]+), (\d+), \d+, (\d+)\}"
    found = re.search(rf'gpu\("{name}", [\d.e]+, ([\d.e]+), [^,]+, (\d+), [\d.e]+, ([\d.e-]+),\s*{cycle}', text)
    if not found:
        raise ValueError(f"no preset '{name}' in lib/Machine/Machine.cpp")
    bandwidth, multiprocessors, launch, clock, warp_tensor, l2 = map(float, found.groups())
    return {
        "multiprocessors": int(multiprocessors),
        "bandwidth": bandwidth,
        "launch": launch,
        "clock": clock,
        "warp_tensor": warp_tensor,
        "l2": l2,
    }


def gpus() -> dict[str, Gpu]:
    """The three GPUs. Sources: docs/Reference/gpu-performance.md."""
    made = {}
    for gpu in (
        Gpu(
            "a100",
            "sm_80",
            tensor=2048,
            latency=600e-9,
            lanes=PIPES | {"fma": 64.0, "double": 32.0},
            shared=164 << 10,
        ),
        Gpu("h100", "sm_90a", tensor=4096, latency=700e-9, lanes=PIPES),
        Gpu("b200", "sm_100a", tensor=8192, latency=800e-9, lanes=PIPES),
    ):
        made[gpu.name] = dataclasses.replace(gpu, **preset(gpu.name))
    return made

"""The loop in which a kernel multiplies, and how fast a GPU can go through it.

Of a library's kernel nobody outside knows the arguments, so its launches cannot be walked. Its main loop can be found
in its code: that which has the tensor instructions (or, without any, the multiply-adds). What a warp issues in an
iteration, over what that multiplies, says how much of each unit a product needs, whatever its size.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

from sass.costs import PACKED, pipe_of, shared_bytes, tensor_work
from sass.cubin import Instruction, Kernel
from sass.flow import Loop, basic_blocks, loops_of

# Operations of an instruction of a warp that no tensor core does.
VECTOR_WORK = {"FFMA": 64.0, "FFMA2": 128.0, "DFMA": 64.0}


@dataclasses.dataclass
class MainLoop:
    """An iteration of the main loop, of one warp. All its code counts, branches that are seldom taken too.

    ``work``: operations; ``tensor_time`` those of 16 bits that take tensor cores as long, of them ``warp_tensor_time``
    by instructions of single warps. ``shared_bytes``: without what TMA copies (``copies``: there are some) bring.
    """

    at: int
    slots: int = 0
    work: float = 0
    tensor_time: float = 0
    warp_tensor_time: float = 0
    shared_bytes: float = 0
    copies: bool = False
    pipes: Counter[str] = dataclasses.field(default_factory=Counter)
    mix: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def tensor(self) -> bool:
        return self.tensor_time > 0


def vector_work(one: Instruction) -> float:
    return VECTOR_WORK.get(one.name, 0.0)


def main_loop(kernel: Kernel) -> MainLoop | None:
    """Of the innermost loops with at least half as much work as that with most, the one with fewest instructions for
    its work: attention has loops with masks beside the one without. None where no loop multiplies."""
    blocks = basic_blocks(kernel.code)
    work_of = (lambda one: tensor_work(one)[0]) if any(tensor_work(one)[0] for one in kernel.code) else vector_work
    found: list[tuple[Loop, list[Instruction], float]] = []
    for loop in loops_of(kernel.code, blocks):
        code = [kernel.code[at] for number in loop.blocks for at in range(blocks[number].begin, blocks[number].end)]
        work = sum(map(work_of, code))
        if work and not any(inner.blocks < loop.blocks for inner, _, _ in found):
            found.append((loop, code, work))
    if not found:
        return None
    most = max(work for _, _, work in found)
    loop, code, work = min(
        (one for one in found if one[2] >= most / 2), key=lambda one: (len(one[1]) / one[2], blocks[one[0].head].begin)
    )
    made = MainLoop(16 * blocks[loop.head].begin, len(code), work)
    for one in code:
        time = tensor_work(one)[1]
        made.tensor_time += time
        if one.name not in ("HGMMA", "QGMMA"):
            made.warp_tensor_time += time
        made.shared_bytes += shared_bytes(one)
        made.mix[one.name] += 1
        if pipe := pipe_of(one):
            made.pipes[pipe] += 2 if one.name in PACKED else 1
    # Copies by TMA are another warp's, outside of this loop; cp.async are this one's, and counted.
    made.copies = any(one.name == "UTMALDG" for one in kernel.code)
    return made

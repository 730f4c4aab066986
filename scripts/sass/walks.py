"""How often a launch runs each instruction, and where it touches memory.

A warp's control flow is walked: what branches depend on (block and thread numbers, sizes, addresses) is computed,
everything else is unknown. Of a warp its first lane is followed. A branch on something unknown goes on behind it, which
leaves loops and skips rare paths; such branches are counted, so that a figure that rests on them can be told.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable

from sass.cubin import Instruction, Kernel
from sass.flow import BRANCHES, Block, basic_blocks, needed_for_control, stores_of_drawn, target_of
from sass.launches import Launch, block_at
from sass.operands import TOUCHING, instruction_operand, is_predicate, place_of, written_by
from sass.steps import Step, compile_step
from sass.values import MASK, Reader, Values, address_reader, constant_name, flag_reader, reader


@dataclasses.dataclass
class Walk:
    """How often each instruction ran in some warps, and where memory was touched."""

    warps: int = 0
    counts: Counter[int] = dataclasses.field(default_factory=Counter)
    touched: dict[int, tuple[int, int]] = dataclasses.field(
        default_factory=dict
    )  # of an instruction: least and largest address
    done: Counter[int] = dataclasses.field(default_factory=Counter)  # of those, how often the lane's guard held
    maps: dict[int, Counter[int]] = dataclasses.field(default_factory=dict)  # of a TMA copy: which maps
    products: dict[int, Counter[int]] = dataclasses.field(default_factory=dict)  # of one into tensor memory: which
    unknown: int = 0  # branches
    unplaced: int = 0  # accesses whose address is not known
    cut: int = 0
    unmodelled: Counter[str] = dataclasses.field(default_factory=Counter)
    # In order, where they are asked for: basic blocks by number; and by instruction, addresses (None: not known or
    # not touched).
    path: list[int] | None = None
    places: dict[int, list[int | None]] | None = None

    def add(self, other: Walk, times: float) -> None:
        """Counts ``other`` so many times."""
        self.warps += other.warps
        self.unknown += other.unknown
        self.unplaced += other.unplaced
        self.cut += other.cut
        self.unmodelled += other.unmodelled
        for mine, its in ((self.counts, other.counts), (self.done, other.done)):
            scale_into(mine, its, times)
        for all_mine, all_its in ((self.maps, other.maps), (self.products, other.products)):
            for index, its in all_its.items():
                scale_into(all_mine.setdefault(index, Counter()), its, times)
        for index, (low, high) in other.touched.items():
            least, largest = self.touched.get(index, (low, high))
            self.touched[index] = (min(low, least), max(high, largest))


def scale_into(mine: Counter[int], its: Counter[int], times: float) -> None:
    for key, count in its.items():
        mine[key] += count * times  # type: ignore[assignment]


@dataclasses.dataclass
class Plan:
    """What walking a kernel needs of it, found once."""

    kernel: Kernel
    blocks: list[Block]
    number: dict[int, int]
    steps: list[list[int]]
    touching: tuple[str, ...] = TOUCHING
    drawn: frozenset[int] = frozenset()  # what stores the number that a block draws
    compiled: dict[int, Step] = dataclasses.field(default_factory=dict)  # ... those that are the same for all threads

    @staticmethod
    def of(kernel: Kernel, touching: tuple[str, ...] = TOUCHING) -> Plan:
        blocks = basic_blocks(kernel.code)
        needed = needed_for_control(kernel.code, blocks, touching)
        drawn = frozenset(stores_of_drawn(kernel.code))
        steps = [
            [
                at
                for at in range(block.begin, block.end)
                if at in needed | drawn or kernel.code[at].name in touching or instruction_operand(kernel.code[at])
            ]
            for block in blocks
        ]
        return Plan(kernel, blocks, {block.begin: i for i, block in enumerate(blocks)}, steps, touching, drawn)


def touch(one: Instruction, index: int, walk: Walk, kernel: Kernel) -> Step:
    """Notes where memory is touched."""
    where, guard = address_reader(place_of(one)), flag_reader(one.guard or "PT")
    places = None if walk.places is None else walk.places.setdefault(index, [])

    def step(values: Values) -> None:
        if guard(values) == 0:
            if places is not None:
                places.append(None)
            return
        walk.done[index] += 1
        at = where(values)
        if places is not None:
            places.append(at)
        if at is None:
            walk.unplaced += 1
            return
        if one.name.startswith("UTMA"):
            walk.maps.setdefault(index, Counter())[(at + kernel.base - kernel.parameters) // 128] += 1
            return
        low, high = walk.touched.get(index, (at, at))
        walk.touched[index] = (min(low, at), max(high, at))

    return step


def multiply_into_tensor_memory(one: Instruction, index: int, walk: Walk) -> Step:
    """Notes what is multiplied: PTX's instruction descriptor."""
    described, guard = reader(instruction_operand(one)), flag_reader(one.guard or "PT")

    def step(values: Values) -> None:
        if guard(values) != 0 and (value := described(values)) is not None:
            walk.products.setdefault(index, Counter())[value] += 1

    return step


def draw(one: Instruction, plan: Plan, index: int, number: int, shared: dict[int, int | None]) -> Step | None:
    """What instructions do by which a block draws its ``number``, in the order of blocks, and its threads load it."""
    if one.name == "ATOMG":
        return lambda values: values.update({one.operands[1]: number})
    if index not in plan.drawn and one.name != "LDS":
        return None
    where, guard = address_reader(place_of(one)), flag_reader(one.guard or "PT")
    if one.name == "LDS":
        names = written_by(one)

        def load(values: Values) -> None:
            at = where(values)
            for i, name in enumerate(names):
                values[name] = None if at is None else shared.get(at + 4 * i)

        return load
    stored = reader(one.operands[-1])

    def store(values: Values) -> None:
        if guard(values) != 0 and (at := where(values)) is not None:
            shared[at] = stored(values)

    return store


@functools.cache
def taken_by(last: Instruction) -> Reader:
    """Whether the instruction that ends a block goes elsewhere, as far as that is known: not where that is for lanes
    that have parted."""
    if "DIV" in last.suffixes:
        return lambda values: 0
    flags = [last.guard or "PT"]
    if last.name == "BRA":
        flags += [operand for operand in last.operands if is_predicate(operand)]
    readers = [flag_reader(flag) for flag in flags]

    def taken(values: Values) -> int | None:
        found = [read(values) for read in readers]
        return 0 if 0 in found else None if None in found else 1

    return taken


def walk_warp(
    plan: Plan,
    launch: Launch,
    block: tuple[int, int, int],
    warp_number: int,
    walk: Walk,
    lane: int = 0,
    limit: int = 1_000_000,
    shared: dict[int, int | None] | None = None,
) -> None:
    """Follows one lane of a warp of one block, and adds what it ran to `walk`. `shared`: numbers that the block's warps
    before have put into shared memory, by address."""
    kernel = plan.kernel
    thread = 32 * warp_number + lane
    x, y, _ = launch.block
    special = {
        "SR_TID.X": thread % x,
        "SR_TID.Y": thread // x % y,
        "SR_TID.Z": thread // (x * y),
        "SR_CTAID.X": block[0],
        "SR_CTAID.Y": block[1],
        "SR_CTAID.Z": block[2],
        "SR_LANEID": lane,
        "SR_EQMASK": 1 << lane,
        "SR_LTMASK": (1 << lane) - 1,
    }
    values: Values = {}
    for i in range(3):
        values[f"c{kernel.sizes + 4 * i}"] = launch.block[i]
        values[f"c{kernel.grid + 4 * i}"] = launch.grid[i]
    for bank, words in kernel.constants.items():
        for i, word in enumerate(words):
            values[constant_name(bank, 4 * i)] = word
    for i, word in enumerate(launch.words):
        values[f"c{kernel.parameters + 8 * i}"] = word & MASK
        values[f"c{kernel.parameters + 8 * i + 4}"] = word >> 32
    code = kernel.code
    number_of_block = block[0] + launch.grid[0] * (block[1] + launch.grid[1] * block[2])
    steps: list[list[Step]] = []
    for indices in plan.steps:
        made: list[Step] = []
        for index in indices:
            one = code[index]
            if one.name in plan.touching:
                made.append(touch(one, index, walk, kernel))
            elif instruction_operand(one):
                made.append(multiply_into_tensor_memory(one, index, walk))
                continue
            drawing = draw(one, plan, index, number_of_block, shared) if plan.drawn and shared is not None else None
            if drawing:
                made.append(drawing)
            elif one.name not in BRANCHES and one.name not in ("STG", "STS", "STSM"):
                if not (step := plan.compiled.get(index)):
                    step = compile_step(one, special, walk.unmodelled)
                    if one.name not in ("S2R", "S2UR", "CS2R"):
                        plan.compiled[index] = step
                made.append(step)
        steps.append(made)
    ends: list[tuple[str, Reader, int]] = []
    for part in plan.blocks:
        last = code[part.end - 1]
        ends.append(
            (
                last.name if last.name in BRANCHES else "",
                taken_by(last),
                target_of(last) if last.name in ("BRA", "CALL") else -1,
            )
        )
    visits: Counter[int] = Counter()
    calls: list[int] = []
    at, left = 0, limit
    while at in plan.number and left > 0:
        number = plan.number[at]
        visits[number] += 1
        if walk.path is not None:
            walk.path.append(number)
        left -= len(steps[number]) + 1
        for step in steps[number]:
            step(values)
        at = plan.blocks[number].end
        kind, taken_of, target = ends[number]
        if not kind:
            continue
        taken = taken_of(values)
        if taken is None:
            walk.unknown += 1
        elif taken:
            if kind == "EXIT":
                break
            if kind == "CALL":
                calls.append(at)
            at = target if kind != "RET" else calls.pop() if calls else -1
    walk.cut += left <= 0
    walk.warps += 1
    for number, times in visits.items():
        for index in range(plan.blocks[number].begin, plan.blocks[number].end):
            walk.counts[index] += times


def cluster_of(kernel: Kernel) -> int:
    """Blocks of a cluster: those that wait for one another are pairs."""
    return 2 if any(one.name.startswith("UCGABAR") for one in kernel.code) else 1


def stand_for(total: int, size: Callable[[int], float], more: int = 8) -> dict[int, float]:
    """Some of ``total`` numbers, and how many of all each stands for, so that sizes add up to those of all: between two
    that were looked at, sizes are on a line. Where such two differ, up to ``more`` in the middle are looked at as well,
    so that a step (of blocks that stay, the first ones have a tile more) is found."""
    chosen = sorted({0, total // 2, total * 5 // 7, total - 1})
    for _ in range(more):
        gaps = [(abs(size(b) - size(a)) * (b - a - 1), a, b) for a, b in itertools.pairwise(chosen)]
        widest, a, b = max(gaps, default=(0.0, 0, 0))
        if not widest:
            break
        chosen = sorted([*chosen, (a + b) // 2])
    weights = dict.fromkeys(chosen, 1.0)
    for a, b in itertools.pairwise(chosen):
        weights[a] += (b - a - 1) / 2
        weights[b] += (b - a - 1) / 2
    return weights


def walk_launch(plan: Plan, launch: Launch) -> tuple[Walk, float]:
    """What a launch does, by some of its warps; and the part of its instructions that the block has with most (of a
    cluster, whose blocks share their work, an equal part of the cluster's)."""
    together, warps = cluster_of(plan.kernel), (launch.threads + 31) // 32
    chosen = range(warps) if warps <= 12 else sorted({*range(0, warps, max(1, warps // 8)), warps - 1})
    walks: dict[int, list[Walk]] = {}

    def slots(cluster: int) -> float:
        """Of all blocks of a cluster."""
        if cluster not in walks:
            walks[cluster] = [Walk() for _ in range(together)]
            for rank, walk in enumerate(walks[cluster]):
                shared: dict[int, int | None] = {}
                for number in chosen:
                    walk_warp(
                        plan, launch, block_at(launch.grid, cluster * together + rank), number, walk, shared=shared
                    )
        return float(sum(walk.counts.total() for walk in walks[cluster]))

    all_of_them = Walk()
    for cluster, weight in stand_for(launch.blocks // together, slots).items():
        slots(cluster)
        for walk in walks[cluster]:
            all_of_them.add(walk, weight * warps / len(chosen))
    most = max(map(slots, walks)) / together * warps / len(chosen)
    return all_of_them, most / max(1, all_of_them.counts.total())

"""A model of one multiprocessor of a GPU, event by event: how long a launch takes by the schedule in its machine code.

ptxas writes into each instruction for how many cycles its warp stalls, and for which earlier results it waits
(Control). So what is simulated is what the hardware adds: four schedulers that issue one instruction a cycle each,
ports of the register file, units with their rates, queues of the memory pipeline, latencies, caches and bandwidth that
multiprocessors share. Warps' paths and addresses are those that sass.walks finds by walking them.

Of a long loop, the first and last turns are simulated; what is between takes as long as the turns before. Of many
blocks, those of the first generations on one multiprocessor are; the others take as long as the last generation.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections import OrderedDict, deque

from sass.costs import bytes_of, pipe_of, tensor_work
from sass.cubin import Instruction, Kernel
from sass.flow import Loop, loops_of
from sass.launches import Launch, block_at
from sass.operands import SHARED_MEMORY, TOUCHING, split_results
from sass.walks import Plan, Walk, walk_warp

FAR = 1e18
CREDIT = 2000.0  # cycles


@dataclasses.dataclass(frozen=True)
class Machine:
    """Figures of a GPU, in cycles and bytes, of a multiprocessor where nothing else is said.

    ``units``: cycles for which an instruction of a warp holds a unit of its scheduler. ``lsu``: lanes a cycle of the
    memory pipeline. ``tags``: lines that it looks up a cycle. ``local``: bytes a cycle from the first-level cache.
    ``hit``, ``l2``, ``memory``: latencies. ``port``: bytes a cycle of a multiprocessor to and from the second level;
    ``l2_rate``: of all together. Sources: docs/Reference/gpu-performance.md.
    """

    name: str
    multiprocessors: int
    clock: float
    bandwidth: float
    units: dict[str, float]
    tensor: float  # multiply-adds of 16 bits a cycle and scheduler
    lsu: float
    tags: float
    local: float
    cache: int  # first-level cache and shared memory together
    second: int  # second-level cache
    shared_latency: float = 23
    hit: float = 33
    l2: float = 200
    memory: float = 470
    port: float = 64
    l2_rate: float = 4096
    warps: int = 64
    blocks: int = 32
    shared: int = 164 << 10
    registers: int = 65536
    queue: float = 24  # cycles of work that wait in the memory pipeline's queue
    launch: float = 3e-6  # seconds from one launch to the next, beside the work
    efficiency: float = 0.9  # of the memory's bandwidth


UNITS = {"fma": 1.0, "imad": 2.0, "alu": 2.0, "xu": 8.0, "uniform": 2.0, "double": 2.0, "tensor": 1.0, "": 1.0}
AMPERE = UNITS | {"fma": 2.0, "double": 4.0}
GAMING = UNITS | {"double": 64.0}

MACHINES = {
    one.name: one
    for one in (
        Machine("a100", 108, 1.41e9, 1.555e12, AMPERE, 256, 32, 1, 64, 192 << 10, 40 << 20, l2_rate=5120),
        Machine(
            "a6000", 84, 1.70e9, 768e9, GAMING, 128, 16, 1, 128, 128 << 10, 6 << 20, warps=48, blocks=16,
            shared=100 << 10, l2=230, memory=520,
        ),
        Machine(
            "rtx4090", 128, 2.52e9, 1.008e12, GAMING, 64, 16, 1, 128, 128 << 10, 72 << 20, warps=48, blocks=24,
            shared=100 << 10, l2=270, memory=560,
        ),
        Machine(
            "h100", 132, 1.755e9, 3.35e12, UNITS | {"double": 2.0}, 1024, 32, 1, 64, 256 << 10, 50 << 20,
            shared=228 << 10, l2=260, memory=560, l2_rate=5120,
        ),
    )
}


# What an instruction does to the machine ------------------------------------

PLAIN, SHARED, LOAD, STORE, COPY, BARRIER, DRAIN, COMMIT, EXIT = range(9)


@dataclasses.dataclass
class Op:
    """An instruction as the schedulers see it."""

    kind: int
    unit: str
    hold: float  # cycles of its unit
    stall: int
    write: int
    read: int
    waits: tuple[int, ...]
    latency: float = 0
    reads: tuple[tuple[int, int], ...] = ()  # registers by place of the operand
    keeps: tuple[int, ...] = ()  # places whose register stays in the operand cache
    lines: tuple[int, ...] = ()  # of an access to global memory: lines that lanes touch, from the first lane's address
    sectors: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()
    index: int = -1
    shared_by: float = 1.0  # blocks of a wave that read what this one reads
    taken: bool = False


def banks(addresses: list[int], size: int) -> int:
    """Cycles that a warp's access of shared memory takes: words of one bank that differ. Of 64 (128) bits, halves
    (quarters) of a warp are looked at one after the other, but for those that read the same."""
    step = {8: 16, 16: 8}.get(size, 32)
    total = 0
    before: set[int] = set()
    for begin in range(0, len(addresses), step):
        words = {(at + i) // 4 for at in addresses[begin : begin + step] for i in range(0, size, 4)}
        if words <= before:
            continue
        before = words
        counts = [0] * 32
        for word in words:
            counts[word % 32] += 1
        total += max(counts)
    return max(1, total)


def operand_reads(one: Instruction) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Registers that an arithmetic instruction reads, by the operand's place; and places that it keeps."""
    found, kept = [], []
    for place, operand in enumerate(split_results(one)[1]):
        if match := re.match(r"[-|~!]*R(\d+)", operand):
            found.append((place, int(match.group(1))))
            if ".reuse" in operand:
                kept.append(place)
    return tuple(found), tuple(kept)


# Cycles of what has no fixed latency; 20 for others.
LATENCY = {"S2R": 25, "S2UR": 25, "LDC": 30, "LDCU": 30, "SHFL": 24, "R2UR": 12, "POPC": 16, "FLO": 16, "VOTE": 12}


def op_of(one: Instruction, index: int, machine: Machine) -> Op:
    control, name = one.control, one.name
    waits = tuple(i for i in range(6) if control.wait >> i & 1)
    unit = pipe_of(one)
    hold, stall = machine.units.get(unit, 1.0), max(1, control.stall)
    op = Op(PLAIN, unit, hold, stall, control.write, control.read, waits, LATENCY.get(name, 20), index=index)
    if unit in ("fma", "imad", "alu"):
        op.reads, op.keeps = operand_reads(one)
    if name in ("HMMA", "IMMA", "DMMA"):
        op.unit, op.hold = "tensor", tensor_work(one)[1] / 2 / machine.tensor
        op.latency = 33
    elif name in ("LDS", "STS", "LDSM", "STSM", "ATOMS", "SHFL"):
        op.kind, op.unit, op.hold, op.latency = SHARED, "lsu", 32 / machine.lsu, machine.shared_latency
    elif name in ("LDG", "LD", "ATOMG", "ATOM"):
        op.kind, op.unit = LOAD, "lsu"
    elif name in ("STG", "ST", "RED", "REDG"):
        op.kind, op.unit = STORE, "lsu"
    elif name == "LDGSTS":
        op.kind, op.unit = COPY, "lsu"
    elif name == "BAR" and "SYNC" in one.suffixes:
        op.kind = BARRIER
    elif name == "DEPBAR" and one.operands and one.operands[0].startswith("SB"):
        left = int(one.operands[1], 16) if len(one.operands) > 1 and one.operands[1].startswith("0x") else 0
        op.kind, op.extra = DRAIN, (int(one.operands[0][2:]), left)
    elif name == "LDGDEPBAR":
        op.kind = COMMIT
    elif name == "EXIT":
        op.kind = EXIT
    elif unit == "lsu":
        op.unit = ""
    return op


@dataclasses.dataclass
class Patterns:
    """What lanes of a warp touch, by instruction: addresses from the first lane's, at its first turn."""

    lanes: dict[int, list[int]]

    @staticmethod
    def of(plan: Plan, launch: Launch, limit: int = 2500) -> Patterns:
        block = block_at(launch.grid, min(launch.blocks - 1, launch.blocks // 2))
        warp = (launch.threads + 31) // 32 // 2
        lanes: dict[int, list[int]] = {}
        for lane in range(min(32, launch.threads - 32 * warp)):
            walk = Walk(places={})
            walk_warp(plan, launch, block, warp, walk, lane, limit=limit)
            for index, places in (walk.places or {}).items():
                if (first := next((at for at in places if at is not None), None)) is not None:
                    lanes.setdefault(index, []).append(first)
        return Patterns(lanes)


def firsts_of(plan: Plan, launch: Launch, block: int, steps: int) -> dict[int, int]:
    """Addresses that the first thread of a block touches first, by instruction."""
    walk = Walk(places={})
    walk_warp(plan, launch, block_at(launch.grid, block), 0, walk, limit=steps)
    found = {index: [at for at in places if at is not None] for index, places in (walk.places or {}).items()}
    return {index: places[0] for index, places in found.items() if places}


def prepare(kernel: Kernel, launch: Launch, machine: Machine, plan: Plan) -> list[Op]:
    """The kernel's instructions with what a launch adds: conflicts of banks, sectors, blocks that read the same."""
    patterns = Patterns.of(plan, launch)
    ops = [op_of(one, index, machine) for index, one in enumerate(kernel.code)]
    wave = min(launch.blocks, machine.multiprocessors * resident_blocks(machine, kernel, launch))
    chosen = sorted({i * (wave - 1) // max(1, min(wave, 512) - 1) for i in range(min(wave, 512))})
    firsts: dict[int, set[int]] = {}
    asked = {op.index for op in ops if op.kind in (LOAD, COPY)}
    # As far as it takes to see each load once.
    reach = next((n for n in (250, 500, 1000, 2000) if asked <= firsts_of(plan, launch, chosen[0], n).keys()), 500)
    for number in chosen:
        for index, first in firsts_of(plan, launch, number, reach).items():
            firsts.setdefault(index, set()).add(first)
    for op in ops:
        one, size = kernel.code[op.index], bytes_of(kernel.code[op.index])
        lanes = patterns.lanes.get(op.index, [])
        if op.kind == SHARED and one.name != "SHFL":
            if one.name in ("LDSM", "STSM"):
                parts = int(next((s for s in one.suffixes if s in ("1", "2", "4")), "1"))
                eights = [lanes[8 * i : 8 * i + 8] for i in range(parts)] if lanes else []
                op.hold = max(op.hold, sum(banks(one, 16) for one in eights) if eights else parts)
            else:
                # 16 bytes a thread take two cycles even where all threads read the same.
                op.hold = max(op.hold, 2 if size == 16 else 1, banks(lanes, size) if lanes else size / 4)
        elif op.kind in (LOAD, STORE, COPY):
            base = lanes[0] & ~127 if lanes else 0
            spread = lanes or [32 * size // 32 * i for i in range(32)]
            sectors = sorted({(at + i) // 32 - base // 32 for at in spread for i in range(0, size, min(size, 32))})
            op.sectors = tuple(sectors)
            op.lines = tuple(sorted({sector >> 2 for sector in sectors}))
            rate = 128 if op.kind == COPY else machine.local
            op.hold = max(32 / machine.lsu, len(op.lines) / machine.tags, 32 * len(sectors) / rate)
            op.latency = machine.hit
            if op.index in firsts:
                op.shared_by = len(chosen) / len(firsts[op.index])
    return ops


def resident_blocks(machine: Machine, kernel: Kernel, launch: Launch) -> int:
    warps = (launch.threads + 31) // 32
    a_warp = (max(kernel.registers, 1) * 32 + 255) // 256 * 256
    shared = max(kernel.shared, launch.shared)
    by_shared = machine.shared // ((shared + 1024 + 127) // 128 * 128) if shared else machine.blocks
    return max(1, min(machine.blocks, machine.warps // warps, machine.registers // (a_warp * warps), by_shared))


# Traces ----------------------------------------------------------------------

# Turns of a long loop that are simulated, and the last ones. A path of no more instructions than LONG stays as it is;
# loops in a loop stay unless it is ten times as long without that one's turns.
TURNS, LAST, LONG = 10, 2, 6_000


def compress(path: list[int], loops: list[Loop], sizes: list[int], half: bool) -> list[int]:
    """Places in a path of basic blocks, without the middle turns of loops, outer loops first, until it is short.
    ``half``: of turns that would stay at the beginning, one half."""
    entries = list(range(len(path)))
    for loop in reversed(loops):
        if sum(sizes[path[entry]] for entry in entries) <= (LONG if len(entries) == len(path) else 10 * LONG):
            break
        made: list[int] = []
        i = 0
        while i < len(entries):
            if path[entries[i]] not in loop.blocks:
                made.append(entries[i])
                i += 1
                continue
            end, heads = i, []
            while end < len(entries) and path[entries[end]] in loop.blocks:
                if path[entries[end]] == loop.head:
                    heads.append(end)
                end += 1
            if len(heads) > TURNS + LAST + 2:
                made += entries[i : heads[TURNS // 2 if half else TURNS]] + entries[heads[-LAST] : end]
            else:
                made += entries[i:end]
            i = end
        entries = made
    return entries


@dataclasses.dataclass
class Course:
    """What a warp of a block does: its basic blocks, and by instruction the first lane's addresses."""

    path: list[int]
    places: dict[int, list[int | None]]
    whole: bool = True


def course_of(plan: Plan, launch: Launch, block: int, warp: int, limit: int) -> Course:
    walk = Walk(path=[], places={})
    walk_warp(plan, launch, block_at(launch.grid, block), warp, walk, limit=limit)
    return Course(walk.path or [], walk.places or {}, not walk.cut)


def courses_of(plan: Plan, launch: Launch, blocks: list[int], limit: int) -> list[list[Course]]:
    """Of each warp of some blocks. A warp that begins as another one that was followed to its end goes on like that,
    its addresses as far from the other's as at first."""
    known: list[Course] = []
    found: list[list[Course]] = []
    for block in blocks:
        found.append([])
        for warp in range((launch.threads + 31) // 32):
            start = course_of(plan, launch, block, warp, 600)
            if start.whole:
                found[-1].append(start)
                continue
            alike = next((one for one in known if one.path[: len(start.path)] == start.path), None)
            if alike is None:
                known.append(course_of(plan, launch, block, warp, limit))
                found[-1].append(known[-1])
                continue
            places: dict[int, list[int | None]] = {}
            for index, its in alike.places.items():
                mine = start.places.get(index, [])
                pair = next(((a, b) for a, b in zip(mine, its) if a is not None and b is not None), None)
                shift = pair[0] - pair[1] if pair else 0
                places[index] = [None if one is None else one + shift for one in its] if shift else its
            found[-1].append(Course(alike.path, places))
    return found


def trace_of(
    plan: Plan, course: Course, loops: list[Loop], half: bool = False, ends: bool = False
) -> tuple[list[tuple[int, int]], int]:
    """Instructions by number, each with the first lane's address; and how many are left out. ``ends``: where most are
    left out at once, so that all that is simulated is the beginning of a long loop."""
    blocks, path, places = plan.blocks, course.path, course.places
    sizes = [one.end - one.begin for one in blocks]
    steps: list[tuple[int, int]] = []
    used = dict.fromkeys(places, 0)
    at = 0
    entries = compress(path, loops, sizes, half)
    if ends:
        gaps = [after - before for before, after in itertools.pairwise(entries)]
        entries = entries[: max(range(len(gaps)), key=lambda i: gaps[i]) + 1]
    for entry in entries:
        for passed in path[at:entry]:
            for index in range(blocks[passed].begin, blocks[passed].end):
                if index in used:
                    used[index] += 1
        for index in range(blocks[path[entry]].begin, blocks[path[entry]].end):
            address = 0
            if index in used:
                address = next(iter(places[index][used[index] : used[index] + 1]), None) or 0
                used[index] += 1
            steps.append((index, address))
        at = entry + 1
    return steps, sum(sizes[one] for one in path) - len(steps)


# The machine at work ------------------------------------------------------------


class Warp:
    """A warp that is there: where it is, when it may go on, and what it waits for."""

    def __init__(self, steps: list[tuple[int, int]], group: Group, born: float) -> None:
        self.steps, self.group = steps, group
        self.at = 0
        self.ready = born
        self.pending: list[list[float]] = [[] for _ in range(6)]
        self.copies = 0.0  # when the last copy into shared memory is there
        self.committed: list[float] = []
        self.cached: dict[int, int] = {}
        self.due = born
        self.unit = ""


class Group:
    """A block on the multiprocessor."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.waiting: list[Warp] = []


class Multiprocessor:
    """Runs blocks, and says when each one ended."""

    def __init__(self, machine: Machine, ops: list[Op], used: int, shared: int) -> None:
        self.machine, self.ops = machine, ops
        self.lsu = self.port = self.l2 = self.memory = 0.0
        self.l2_cycles = 32 * used / machine.l2_rate  # of a sector
        self.memory_cycles = 32 / (machine.efficiency * machine.bandwidth / machine.clock / used)
        self.capacity = max(16, (machine.cache - shared) // 128)
        self.cache: OrderedDict[int, float] = OrderedDict()
        self.missed: dict[int, float] = {}
        self.units: list[dict[str, float]] = [dict.fromkeys(machine.units, 0.0) for _ in range(4)]
        self.next = [0.0] * 4
        self.ports = [0.0] * 4
        self.warps: list[list[Warp]] = [[] for _ in range(4)]
        self.last: list[Warp | None] = [None] * 4
        self.best: list[tuple[float, Warp | None] | None] = [None] * 4
        self.issued = 0

    def fetch(self, op: Op, sectors: int, now: float) -> float:
        """When so many sectors come from the second level; some of them from memory."""
        # Others are not as busy at the same time: what was not used of bandwidth that all share may be caught up with.
        self.port = max(self.port, now) + sectors * 32 / self.machine.port
        self.l2 = max(self.l2, now - CREDIT) + sectors * self.l2_cycles
        there = max(self.port, self.l2) + self.machine.l2
        missing = self.missed.get(op.index, 0.0) + sectors / op.shared_by
        whole = math.floor(missing)
        self.missed[op.index] = missing - whole
        if whole:
            self.memory = max(self.memory, now - CREDIT) + whole * self.memory_cycles
            there = max(there, self.port + self.machine.memory, self.memory + self.machine.memory)
        return there

    def load(self, op: Op, address: int, now: float) -> float:
        """When what a warp asks for is there. Lines that were there, or are on their way, are not asked for again."""
        base, latest, cache = address >> 7, 0.0, self.cache
        per_line: dict[int, int] = {}
        for sector in op.sectors:
            per_line[sector >> 2] = per_line.get(sector >> 2, 0) + 1
        for line, count in per_line.items():
            key = base + line
            if (there := cache.get(key)) is not None:
                cache.move_to_end(key)
                latest = max(latest, there)
                continue
            there = self.fetch(op, count, now)
            cache[key] = there
            latest = max(latest, there)
            if len(cache) > self.capacity:
                cache.popitem(last=False)
        return max(now + self.machine.hit, latest)

    def settle(self, warp: Warp) -> None:
        """Finds when a warp's next instruction has all that it waits for: known once the one before is issued."""
        op = self.ops[warp.steps[warp.at][0]]
        when = warp.ready
        for one in op.waits:
            for time in warp.pending[one]:
                if time > when:
                    when = time
        if op.kind == DRAIN:
            times = warp.committed if warp.committed else sorted(warp.pending[op.extra[0]])
            if len(times) > op.extra[1]:
                when = max(when, times[len(times) - 1 - op.extra[1]])
        warp.due, warp.unit = when, op.unit

    def choose(self, part: int) -> tuple[float, Warp | None]:
        """The warp that a scheduler issues next, and when: the last one if it can go on, else the oldest."""
        units, soonest = self.units[part], self.next[part]
        best, chosen, last = FAR, None, self.last[part]
        queue = self.lsu - self.machine.queue
        for warp in self.warps[part]:
            when = warp.due
            if when > best:
                continue
            if unit := warp.unit:
                free = queue if unit == "lsu" else units[unit]
                if free > when:
                    when = free
            if when < soonest:
                when = soonest
            if when < best or (when == best and warp is last):
                best, chosen = when, warp
        return best, chosen

    def issue(self, warp: Warp, part: int, now: float) -> bool:
        """Issues a warp's next instruction; whether the warp ended."""
        step, address = warp.steps[warp.at]
        warp.at += 1
        op = self.ops[step]
        self.issued += 1
        ahead = 1.0
        if op.reads:
            even = odd = 0
            cached, keep, read = warp.cached, {}, set()
            for place, register in op.reads:
                if cached.get(place) != register and register not in read:
                    read.add(register)
                    if register & 1:
                        odd += 1
                    else:
                        even += 1
                if place in op.keeps:
                    keep[place] = register
            warp.cached = keep
            # A bank of registers is read once a cycle; a scheduler's window evens out two instructions.
            ports = max(self.ports[part], now - 1) + max(even, odd, 1)
            self.ports[part] = ports
            ahead = max(1.0, ports - now)
        self.next[part] = now + ahead
        warp.ready = now + max(op.stall, ahead)
        kind = op.kind
        if kind == PLAIN:
            if op.unit:
                units = self.units[part]
                units[op.unit] = max(units[op.unit], now) + op.hold
            if op.write >= 0:
                warp.pending[op.write].append(now + op.latency)
                self.trim(warp.pending[op.write], now)
            if op.read >= 0:
                warp.pending[op.read].append(now + 8)
        elif kind <= COPY:
            self.lsu = served = max(self.lsu, now) + op.hold
            if kind == SHARED:
                there = served + op.latency
            elif kind == LOAD:
                there = self.load(op, address, served)
            elif kind == STORE:
                there = served
                self.fetch(op, len(op.sectors), served)
            else:
                there = self.fetch(op, len(op.sectors), served) + 10
                warp.copies = max(warp.copies, there)
            if op.write >= 0:
                warp.pending[op.write].append(there)
                self.trim(warp.pending[op.write], now)
            if op.read >= 0:
                warp.pending[op.read].append(served + 6)
        elif kind == COMMIT:
            warp.committed.append(warp.copies)
        elif kind == BARRIER:
            group = warp.group
            group.waiting.append(warp)
            if len(group.waiting) >= group.left:
                self.release(group, now)
            else:
                warp.ready = FAR
        if warp.at < len(warp.steps):
            return False
        group = warp.group
        group.left -= 1
        if group.waiting and len(group.waiting) >= group.left:
            self.release(group, now)
        return True

    def release(self, group: Group, now: float) -> None:
        """All warps of a block have met."""
        for other in group.waiting:
            other.ready = now + 8
            if other.at < len(other.steps):
                self.settle(other)
        group.waiting = []
        self.best = [None] * 4

    @staticmethod
    def trim(times: list[float], now: float) -> None:
        if len(times) > 12:
            times[:] = [time for time in times if time > now]

    def run(self, blocks: deque[list[list[tuple[int, int]]]], resident: int) -> list[float]:
        """Runs blocks, so many at once; when each ended."""
        ended: list[float] = []

        def admit(now: float) -> None:
            if blocks:
                traces = blocks.popleft()
                group = Group(len(traces))
                for trace in traces:
                    part = min(range(4), key=lambda i: len(self.warps[i]))
                    self.warps[part].append(warp := Warp(trace, group, now))
                    self.settle(warp)
                self.best = [None] * 4

        for _ in range(resident):
            admit(0.0)
        while True:
            now, chosen, where = FAR, None, 0
            for part in range(4):
                found = self.best[part]
                if found is None or (found[1] is not None and found[1].unit == "lsu"):
                    found = self.best[part] = self.choose(part)
                if found[0] < now:
                    now, chosen, where = found[0], found[1], part
            if chosen is None:
                break
            self.last[where] = chosen
            self.best[where] = None
            if self.issue(chosen, where, now):
                self.warps[where].remove(chosen)
                if not chosen.group.left:
                    ended.append(now)
                    admit(now + 50)
            elif chosen.ready < FAR:
                self.settle(chosen)
            else:
                chosen.due = FAR
        return ended


@dataclasses.dataclass
class Estimate:
    """How long a launch takes: seconds, and what they are made of."""

    seconds: float
    generation: float  # cycles of blocks that are on a multiprocessor together
    resident: int
    issued: int


# What others are told by, and copies and products that go on by themselves: their queues are not modelled.
MISSING = ("SYNCS", "UTMALDG", "UTMASTG", "HGMMA", "QGMMA", "IGMMA", "UTC", "LDTM", "STTM", "UCGABAR", "UBLKCP", "STAS")


def missing_in(kernel: Kernel) -> list[str]:
    """Instructions of a kernel that the model knows nothing of."""
    return sorted({one.name for one in kernel.code if one.name.startswith(MISSING)})


def schedule(
    kernel: Kernel, launch: Launch, machine: Machine, generations: int = 3, limit: int = 3_000_000, whole: bool = False
) -> Estimate:
    """How long a launch takes on a machine. ``whole``: no turn of a loop is left out."""
    plan = Plan.of(kernel, TOUCHING + SHARED_MEMORY)
    ops = prepare(kernel, launch, machine, plan)
    loops = loops_of(kernel.code, plan.blocks)
    used = min(machine.multiprocessors, launch.blocks)
    most = math.ceil(launch.blocks / machine.multiprocessors)
    resident = min(resident_blocks(machine, kernel, launch), most)
    shared = resident * max(kernel.shared, launch.shared)

    def simulate(courses: list[list[Course]], half: bool = False, ends: bool = False) -> tuple[list[float], int, int]:
        traces = [[trace_of(plan, one, [] if whole else loops, half, ends) for one in block] for block in courses]
        processor = Multiprocessor(machine, ops, used, shared)
        ended = processor.run(deque([[steps for steps, _ in block] for block in traces]), resident)
        return ended, processor.issued, sum(left for block in traces for _, left in block)

    numbers = [min(launch.blocks - 1, i * machine.multiprocessors) for i in range(min(most, generations * resident))]
    courses = courses_of(plan, launch, numbers[:resident], limit)
    if not whole and any(trace_of(plan, one, loops)[1] for block in courses[:1] for one in block):
        # Turns that are left out take as long as what one beginning of a loop has more than another.
        few, less, _ = simulate(courses, half=True, ends=True)
        many, more, _ = simulate(courses, ends=True)
        ended, issued, left_out = simulate(courses, half=True)
        total = generation = ended[-1] + left_out * (many[-1] - few[-1]) / (more - less)
        simulated = resident
    else:
        courses += courses_of(plan, launch, numbers[resident:], limit)
        ended, issued, _ = simulate(courses)
        simulated, total = len(courses), ended[-1]
        generation = ended[resident - 1]
        if simulated > resident:
            generation = (ended[-1] - ended[resident - 1]) / (simulated / resident - 1)
    total += (most - simulated) / resident * generation
    return Estimate(total / machine.clock + machine.launch, generation, resident, issued)

"""Where a warp may go: basic blocks, loops, and the instructions that decide."""

from __future__ import annotations

import dataclasses
import re

from sass.cubin import Instruction
from sass.operands import TOUCHING, instruction_operand, place_of, read_by, registers_of, written_by

BRANCHES = {"BRA", "EXIT", "CALL", "RET", "BRX", "JMP"}


@dataclasses.dataclass
class Block:
    """Instructions [begin, end) of a kernel."""

    begin: int
    end: int


def target_of(instruction: Instruction) -> int:
    """The index that a branch names, or -1."""
    for operand in reversed(instruction.operands):
        if re.fullmatch(r"0x[0-9a-f]+", operand):
            return int(operand, 16) // 16
    return -1


def basic_blocks(code: list[Instruction]) -> list[Block]:
    leaders = {0}
    for at, one in enumerate(code):
        if one.name in BRANCHES:
            leaders.add(at + 1)
            if one.name in ("BRA", "CALL", "JMP"):
                leaders.add(target_of(one))
    begins = sorted(at for at in leaders if 0 <= at < len(code))
    return [Block(begin, end) for begin, end in zip(begins, [*begins[1:], len(code)])]


def successors(code: list[Instruction], blocks: list[Block]) -> list[list[int]]:
    number = {block.begin: i for i, block in enumerate(blocks)}
    found = []
    for block in blocks:
        last = code[block.end - 1]
        next_ones: list[int] = []
        if last.name in ("BRA", "JMP", "CALL"):
            next_ones += [number[target_of(last)]] if target_of(last) in number else []
        if (
            last.name not in ("BRA", "JMP", "EXIT", "RET", "BRX") or last.guard or len(last.operands) > 1
        ) and block.end in number:
            next_ones.append(number[block.end])
        found.append(next_ones)
    return found


@dataclasses.dataclass(frozen=True)
class Loop:
    """A natural loop: its blocks, by number, and the loops in it."""

    head: int
    blocks: frozenset[int]


def loops_of(code: list[Instruction], blocks: list[Block]) -> list[Loop]:
    """Natural loops, the inner ones first. Waits of a few instructions around one try are none."""
    follow = successors(code, blocks)
    before: list[set[int]] = [set() for _ in blocks]
    for i, nexts in enumerate(follow):
        for j in nexts:
            before[j].add(i)
    everything = set(range(len(blocks)))
    dominators = [everything.copy() for _ in blocks]
    dominators[0] = {0}
    changed = True
    while changed:
        changed = False
        for i in range(1, len(blocks)):
            new = set.intersection(*(dominators[j] for j in before[i])) | {i} if before[i] else everything
            if new != dominators[i]:
                dominators[i] = new
                changed = True
    bodies: dict[int, set[int]] = {}
    for i, nexts in enumerate(follow):
        for head in nexts:
            if head in dominators[i] and dominators[i] != everything:
                body = bodies.setdefault(head, {head})
                stack = [i]
                while stack:
                    one = stack.pop()
                    if one not in body:
                        body.add(one)
                        stack.extend(before[one])
    found = [
        Loop(head, frozenset(body))
        for head, body in bodies.items()
        if not is_wait([code[k] for i in body for k in range(blocks[i].begin, blocks[i].end)])
    ]
    return sorted(found, key=lambda loop: len(loop.blocks))


def is_wait(code: list[Instruction]) -> bool:
    names = {one.name for one in code}
    return (
        len(code) <= 8
        and not names & {"HMMA", "HGMMA", "QGMMA", "STG", "STS", "FFMA"}
        and bool(names & {"SYNCS", "USETMAXREG", "ELECT", "YIELD"})
    )


def stores_of_drawn(code: list[Instruction]) -> set[int]:
    """Instructions that store to shared memory what an atomic instruction has found: the number that a block draws,
    which all its threads load."""
    found: set[int] = set()
    drawn: set[str] = set()
    for at, one in enumerate(code):
        if one.name in BRANCHES:
            drawn = set()
        elif one.name == "ATOMG":
            drawn = set(registers_of(one.operands[1]))  # behind a predicate
        elif one.name == "STS" and drawn & set(registers_of(one.operands[-1])):
            found.add(at)
        elif drawn & set(written_by(one)):
            drawn = set()
    return found


def needed_for_control(    code: list[Instruction], blocks: list[Block], touching: tuple[str, ...] = TOUCHING
) -> set[int]:
    """Instructions whose results say where a warp goes, or which memory ``touching`` ones touch."""
    follow = successors(code, blocks)
    reads, writes, wanted = (
        [read_by(one) for one in code],
        [written_by(one) for one in code],
        [control_reads(one, touching) for one in code],
    )
    for at in stores_of_drawn(code):
        wanted[at] = [name for operand in (code[at].guard, *code[at].operands) for name in registers_of(operand)]
    alive: list[set[str]] = [set() for _ in blocks]  # at a block's beginning
    chosen: set[int] = set()
    changed = True
    while changed:
        changed = False
        for i in range(len(blocks) - 1, -1, -1):
            names = set().union(*(alive[j] for j in follow[i]))
            if code[blocks[i].end - 1].name in ("RET", "CALL"):  # goes on anywhere
                names = names.union(*alive)
            for at in range(blocks[i].end - 1, blocks[i].begin - 1, -1):
                if any(name in names for name in writes[at]):
                    chosen.add(at)
                    if not code[at].guard:
                        names.difference_update(writes[at])
                    names.update(reads[at])
                names.update(wanted[at])
            if names != alive[i]:
                alive[i] = names
                changed = True
    return chosen


def control_reads(one: Instruction, touching: tuple[str, ...] = TOUCHING) -> list[str]:
    found: list[str] = []
    if one.name in BRANCHES or one.name in touching:
        found += registers_of(one.guard)
    if one.name in BRANCHES:
        found += [name for operand in one.operands for name in registers_of(operand)]
    if one.name in touching:
        found += registers_of(place_of(one))
    if described := instruction_operand(one):
        found += registers_of(described)
    return found

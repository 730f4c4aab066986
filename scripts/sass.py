"""Machine code of GPUs: what a cubin's kernels are made of, and how often a launch runs each instruction.

nvdisasm's output is read, never printed text of a driver. How often a basic block runs is found by walking a warp's
control flow: what branches depend on (block and thread numbers, sizes, addresses) is computed, everything else is
unknown. Of a warp its first lane is followed. A branch on something unknown goes on behind it, which leaves loops and
skips rare paths; such branches are counted, so that a figure that rests on them can be told.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import os
import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MASK = 0xFFFFFFFF


def find_tool(name: str) -> str:
    """A toolkit's, or the one that a package brought to this tree's Python; empty where there is none."""
    folders = [
        str(Path(os.environ[home]) / "bin") for home in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT") if os.environ.get(home)
    ]
    folders += [str(path) for path in sorted(ROOT.glob(".venv/lib/python*/site-packages/nvidia/cu*/bin"))]
    return shutil.which(name, path=os.pathsep.join([*folders, os.environ.get("PATH", "")])) or ""


def find_nvdisasm() -> str:
    return find_tool("nvdisasm")


@dataclasses.dataclass(frozen=True)
class Control:
    """What ptxas tells the scheduler in an instruction's word of 128 bits, from Volta on: bits 105 to 125.

    ``stall``: cycles until the warp may issue its next instruction. ``write``, ``read``: which of the warp's six
    counters is raised until the result is there, or until the operands have been read; -1 for none. ``wait``: counters
    that have to be zero, by bits. ``reuse``: operands that stay in the operand cache, by bits.
    """

    stall: int = 1
    keeps: bool = True  # the warp is to go on with, unless it cannot
    write: int = -1
    read: int = -1
    wait: int = 0
    reuse: int = 0

    @staticmethod
    def of(word: int) -> Control:
        bits = word >> 105
        write, read = bits >> 5 & 7, bits >> 8 & 7
        return Control(
            bits & 15,
            bool(bits >> 4 & 1),
            -1 if write == 7 else write,
            -1 if read == 7 else read,
            bits >> 11 & 63,
            bits >> 17 & 15,
        )


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One instruction; ``guard`` is its predicate ("@!P0" as "!P0") or empty."""

    opcode: str
    operands: tuple[str, ...]
    guard: str = ""
    control: Control = Control()

    @property
    def name(self) -> str:
        return self.opcode.split(".")[0]

    @property
    def suffixes(self) -> list[str]:
        return self.opcode.split(".")[1:]


@dataclasses.dataclass
class Kernel:
    """A kernel's code and what it takes of a multiprocessor."""

    name: str
    arch: str
    code: list[Instruction]
    registers: int = 0
    shared: int = 0
    parameters: int = 0x210  # where the constant bank holds the first argument
    base: int = 0x210  # ... and what addresses of arguments are counted from
    sizes: int = 0

    @property
    def grid(self) -> int:
        """Where the constant bank holds the grid."""
        return self.sizes + (16 if self.sizes else 12)


# By compute capability: where the constant bank holds what a launch gives to every kernel (block; grid, one word further from 10 on), and where arguments begin that are aligned to
# no more than 8 bytes.
SIZES = {"8": 0x0, "9": 0x0, "10": 0x360, "12": 0x360}
PARAMETERS = {"8": 0x160, "9": 0x210, "10": 0x380, "12": 0x380}


def split_operands(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def read_sections(cubin: bytes) -> tuple[dict[str, tuple[int, int]], dict[str, int], dict[str, int]]:
    """Of an ELF file: where sections are, and their sizes, by name; by kernel, registers (EIATTR_REGCOUNT) and where arguments begin (EIATTR_PARAM_CBANK)."""
    offset = struct.unpack_from("<Q", cubin, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + i * size) for i in range(count)]

    def text(table: int, at: int) -> str:
        begin = headers[table][4] + at
        return cubin[begin : cubin.index(b"\0", begin)].decode()

    places = {text(names, header[0]): (header[4], header[5]) for header in headers}
    symbols: list[str] = []
    for header in headers:
        if header[1] == 2:  # SHT_SYMTAB
            for at in range(header[4], header[4] + header[5], 24):
                symbols.append(text(header[6], struct.unpack_from("<I", cubin, at)[0]))
    registers: dict[str, int] = {}
    starts: dict[str, int] = {}
    for header in headers:
        name = text(names, header[0])
        if not name.startswith(".nv.info"):
            continue
        at, end = header[4], header[4] + header[5]
        while at + 4 <= end:
            form, attribute, length = struct.unpack_from("<BBH", cubin, at)
            if form == 4 and attribute == 0x2F:
                symbol, number = struct.unpack_from("<II", cubin, at + 4)
                registers[symbols[symbol]] = number
            if form == 4 and attribute == 0x0A:
                starts[name.removeprefix(".nv.info.")] = struct.unpack_from("<IHH", cubin, at + 4)[1]
            at += 4 + (length if form == 4 else 0)
    return places, registers, starts


def controls_of(cubin: bytes, place: tuple[int, int]) -> list[Control]:
    """Of each instruction in a section of machine code."""
    begin, size = place
    return [Control.of(int.from_bytes(cubin[at : at + 16], "little")) for at in range(begin, begin + size, 16)]


def read_cubin(path: Path, nvdisasm: str = "") -> dict[str, Kernel]:
    """The kernels of a cubin, by name."""
    text = subprocess.run(
        [nvdisasm or find_nvdisasm(), "-c", "-json", str(path)], capture_output=True, text=True, check=True
    ).stdout
    header, functions = json.loads(text)
    version = header["SM"]["version"]
    cubin = path.read_bytes()
    places, registers, starts = read_sections(cubin)
    kernels = {}
    for function in functions:
        name = function["function-name"]
        code = [
            Instruction(
                one["opcode"],
                split_operands(one.get("operands", "")),
                one.get("predicate", "").removeprefix("@"),
                control,
            )
            for one, control in zip(function["sass-instructions"], controls_of(cubin, places[f".text.{name}"]))
        ]
        while code and code[-1].name in ("NOP", "BRA"):
            code.pop()
        major = str(version["major"])
        kernels[name] = Kernel(
            name,
            f"sm_{version['major']}{version['minor']}",
            code,
            registers.get(name, 0),
            places.get(f".nv.shared.{name}", (0, 0))[1],
            starts.get(name, PARAMETERS[major]),
            PARAMETERS[major],
            SIZES[major],
        )
    return kernels


# Control flow ---------------------------------------------------------------

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


def loops(code: list[Instruction], blocks: list[Block]) -> list[Loop]:
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
        and not names & {"HMMA", "HGMMA", "STG", "STS", "FFMA"}
        and bool(names & {"SYNCS", "USETMAXREG", "ELECT", "YIELD"})
    )


# What an instruction does ---------------------------------------------------

REGISTER = re.compile(r"(UR|UP|R|P)(\d+|Z|T)")


def registers_of(operand: str) -> list[str]:
    """Names of registers in an operand, two of what has 64 bits."""
    found = []
    for match in REGISTER.finditer(operand):
        kind, number = match.groups()
        if number in ("Z", "T"):
            continue
        found.append(kind + number)
        if kind in ("R", "UR") and operand[match.end() :].startswith(".64"):
            found.append(f"{kind}{int(number) + 1}")
    return found


def is_predicate(operand: str) -> bool:
    return bool(re.fullmatch(r"!?U?P(\d+|T)", operand))


def is_wide(one: Instruction) -> bool:
    """Whether the result is two registers."""
    return (
        "WIDE" in one.suffixes
        or (one.name == "CS2R" and "32" not in one.suffixes)
        or (
            "64" in one.suffixes
            and one.name in ("LDC", "ULDC", "LDCU", "MOV", "UMOV", "LDG", "LDS", "IADD", "UIADD3", "S2UR", "IMAD")
        )
    )


def split_results(one: Instruction) -> tuple[list[str], list[str]]:
    """Operands that are written, and those that are read."""
    operands = list(one.operands)
    if not operands or one.name in (
        "STG",
        "STS",
        "STL",
        "ST",
        "RED",
        "UTMALDG",
        "UTMASTG",
        "LDGSTS",
        "BAR",
        "BSSY",
        "BSYNC",
        "BRA",
        "EXIT",
        "CALL",
        "RET",
        "WARPSYNC",
        "DEPBAR",
        "LDGDEPBAR",
        "MEMBAR",
        "FENCE",
        "UBLKCP",
        "REDG",
        "REDS",
        "UTMAREDG",
        "STTM",
    ):
        return [], operands
    if one.name in ("ISETP", "FSETP", "UISETP", "DSETP", "HSETP2", "PLOP3", "UPLOP3", "PSETP"):
        return operands[:2], operands[2:]
    if one.name in ("VOTE", "VOTEU"):  # the last is what is asked
        return operands[:-1], operands[-1:]
    written, rest = [operands[0]], operands[1:]
    if (
        is_predicate(operands[0])
        and rest
        and not is_predicate(rest[0])
        and one.name in ("LOP3", "ULOP3", "SHFL", "ELECT", "R2UR", "REDUX", "R2P")
    ):
        written, rest = [*written, rest[0]], rest[1:]
    elif one.name in ("IADD3", "UIADD3", "IADD", "LEA", "ULEA", "IMAD", "UIMAD", "SHFL", "MATCH"):
        while rest and is_predicate(rest[0]) and not rest[0].startswith("!"):
            written, rest = [*written, rest[0]], rest[1:]
    return written, rest


# Registers that a load of so many bits, or of so many matrices, fills.
LOADED = {"64": 2, "128": 4, "256": 8, "2": 2, "4": 4}


def written_by(one: Instruction) -> list[str]:
    written, _ = split_results(one)
    found = [name for operand in written for name in registers_of(operand)]
    if written and (match := re.match(r"(UR|R)(\d+)", written[0])):
        found += [f"{match.group(1)}{int(match.group(2)) + i}" for i in range(1, registers_written(one))]
    return found


def registers_written(one: Instruction) -> int:
    """How many registers its first result is."""
    if one.name in ("LDG", "LDS", "LDC", "ULDC", "LDCU", "LDSM", "LDTM"):
        for suffix in one.suffixes:
            if suffix in LOADED:
                return LOADED[suffix]
            if one.name == "LDTM" and (match := re.fullmatch(r"x(\d+)", suffix)):
                return int(match.group(1))
    return 2 if is_wide(one) else 1


def read_by(one: Instruction) -> list[str]:
    written, rest = split_results(one)
    found = [name for operand in rest for name in registers_of(operand)]
    if "WIDE" in one.suffixes and len(rest) >= 3 and (match := re.match(r"-?(UR|R)(\d+)", rest[2])):
        found.append(f"{match.group(1)}{int(match.group(2)) + 1}")
    if one.guard:
        found += registers_of(one.guard)
        found += [name for operand in written for name in registers_of(operand)]  # what was there may stay
    return found


TOUCHING = ("LDG", "STG", "LDGSTS", "RED", "REDG", "ATOMG", "UTMALDG", "UTMASTG")
SHARED = ("LDS", "STS", "LDSM", "STSM", "ATOMS")


def instruction_operand(one: Instruction) -> str:
    """Of a product into tensor memory (UTCHMMA), the operand that describes it; else empty."""
    if not (one.name.startswith("UTC") and one.name.endswith("MMA")):
        return ""
    return next(re.sub(r"idesc\[(.*)\]", r"\1", operand) for operand in one.operands if operand.startswith("idesc["))


def needed_for_control(
    code: list[Instruction], blocks: list[Block], touching: tuple[str, ...] = TOUCHING
) -> set[int]:
    """Which instructions say where a warp goes, or which memory ``touching`` ones touch: those whose results get there."""
    follow = successors(code, blocks)
    reads, writes, wanted = (
        [read_by(one) for one in code],
        [written_by(one) for one in code],
        [control_reads(one, touching) for one in code],
    )
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


@functools.cache
def place_of(one: Instruction) -> str:
    """The operand that says where in global memory; of a TMA copy, its map."""
    return next(operand for operand in reversed(one.operands) if "[" in operand)


# Values ---------------------------------------------------------------------


Values = dict[str, int | None]
Reader = Callable[[Values], int | None]
Step = Callable[[Values], None]
LONG = (1 << 64) - 1


@functools.cache
def flag_reader(operand: str) -> Reader:
    name, negated = operand.lstrip("!"), operand.startswith("!")
    if name in ("PT", "UPT"):
        always = int(not negated)
        return lambda values: always
    if not negated:
        return lambda values: values.get(name, 0)

    def inverse(values: Values) -> int | None:
        value = values.get(name, 0)
        return None if value is None else 1 - value

    return inverse


def reader(operand: str, wide: bool = False) -> Reader:
    """What reads an operand of 32 (64) bits, without its sign."""
    text = operand.replace(".reuse", "")
    mask = LONG if wide else MASK
    if text[0] in "-~" and not re.fullmatch(r"-[\d.x]+(e[+-]?\d+)?|-0x[0-9a-f]+", text):
        inner, negate = reader(text[1:], wide), text[0] == "-"

        def negated(values: Values) -> int | None:
            value = inner(values)
            return None if value is None else (-value if negate else ~value) & mask

        return negated
    text = text.strip("|")
    if is_predicate(text):
        return flag_reader(text)
    if half := re.search(r"\.H([01])(_H[01])?$", text):
        whole, by = reader(text[: half.start()]), 16 * int(half.group(1))

        def part(values: Values) -> int | None:
            value = whole(values)
            return None if value is None else value >> by & 0xFFFF

        return part
    if match := re.match(r"(UR|R)(\d+|Z)(\.64)?", text):
        kind, number, long = match.groups()
        if number == "Z":
            return lambda values: 0
        low = kind + number
        if not (wide or long):
            return lambda values: values.get(low, 0)
        high = f"{kind}{int(number) + 1}"

        def both(values: Values) -> int | None:
            first, second = values.get(low, 0), values.get(high, 0)
            return None if first is None or second is None else first | second << 32

        return both
    if text.startswith("c["):
        bank, place = re.findall(r"\[([^\]]*)\]", text)[:2]
        where = address_reader(f"[{place}]")

        def constant(values: Values) -> int | None:
            at = where(values)
            if bank != "0x0" or at is None:
                return None
            value = values.get(f"c{at}", 0)
            return value if value is None or not wide else value | (values.get(f"c{at + 4}", 0) or 0) << 32

        return constant
    try:
        number_value = int(text, 0) & mask
    except ValueError:
        try:
            number_value = as_bits(float(text))
        except ValueError:
            return lambda values: None
    return lambda values: number_value


@functools.cache
def address_reader(operand: str) -> Reader:
    """Of [R1.64+UR2+0x40], desc[UR4][R2.64], [R3.X4+0x10]."""
    inner = re.findall(r"\[([^\]]*)\]", operand)[-1]
    terms = [reader(part, wide=".64" in part) for part in inner.split("+")]
    scales = [int(match.group(1)) if (match := re.search(r"\.X(\d+)$", part)) else 1 for part in inner.split("+")]

    def total(values: Values) -> int | None:
        result = 0
        for term, part, scale in zip(terms, inner.split("+"), scales):
            value = term(values)
            if value is None:
                return None
            result += scale * (signed(value) if part.startswith("-") else value)
        return result

    return total


Writer = Callable[[Values, int | None], None]


def writer(operand: str, wide: bool = False) -> Writer:
    match = re.match(r"(UR|UP|R|P)(\d+)", operand)
    if not match:
        return lambda values, value: None
    low, high = match.group(), f"{match.group(1)}{int(match.group(2)) + 1}"

    def both(values: Values, value: int | None) -> None:
        values[low] = None if value is None else value & MASK
        values[high] = None if value is None else value >> 32 & MASK

    def one(values: Values, value: int | None) -> None:
        values[low] = None if value is None else value & MASK

    return both if wide else one


def signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def table(lut: int, a: int, b: int, c: int) -> int:
    """A function of three bits, by its table, on each bit of three words."""
    result = 0
    for row in range(8):
        if lut >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result & MASK


def compare(how: str, a: float, b: float) -> bool:
    return {"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b}[how]


def as_float(value: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", value))[0])


def as_bits(value: float) -> int:
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return 0x7F800000


def known(readers: list[Reader], values: Values) -> list[int] | None:
    found = [read(values) for read in readers]
    return None if None in found else [value or 0 for value in found]


def combined_flags(way: str, value: bool | None, other: int | None) -> int | None:
    """A flag and another one, of which either may not be known."""
    if way == "OR":
        return 1 if value or other else None if value is None or other is None else 0
    if way == "XOR":
        return None if value is None or other is None else int(value != bool(other))
    return 0 if value is False or other == 0 else None if value is None or other is None else 1


def set_predicate(one: Instruction) -> Step:
    written, rest = split_results(one)
    how, bits = one.suffixes[0], 64 if {"U64", "S64", "64"} & set(one.suffixes) else 32
    unsigned, extended = bool({"U32", "U64"} & set(one.suffixes)), "EX" in one.suffixes
    left, right = reader(rest[0], bits == 64), reader(rest[1], bits == 64)
    beside = flag_reader(rest[2] if len(rest) > 2 else "PT")
    lower = flag_reader(rest[3] if len(rest) > 3 else "PT")
    way = "OR" if "OR" in one.suffixes else "XOR" if "XOR" in one.suffixes else "AND"
    first, second = writer(written[0]), writer(written[1])

    def step(values: Values) -> None:
        a, b = left(values), right(values)
        result: bool | None = None
        if a is not None and b is not None:
            result = compare(how, a if unsigned else signed(a, bits), b if unsigned else signed(b, bits))
            if extended:
                low = lower(values)
                if how in ("EQ", "NE"):
                    result = None if low is None else (result and bool(low) if how == "EQ" else result or bool(low))
                elif a == b:
                    result = None if low is None else bool(low)
        other = beside(values)
        first(values, combined_flags(way, result, other))
        second(values, combined_flags(way, None if result is None else not result, other))

    return step


def set_predicate_of_floats(one: Instruction) -> Step:
    """FSETP: as far as it is known; a U makes it true of NaN."""
    written, rest = split_results(one)
    how, others = one.suffixes[0], NAN_TESTS.get(one.suffixes[0])
    left, right, beside = float_reader(rest[0]), float_reader(rest[1]), flag_reader(rest[2])
    way = "OR" if "OR" in one.suffixes else "AND"
    pair = [writer(operand) for operand in written]

    def step(values: Values) -> None:
        a, b, other = left(values), right(values), beside(values)
        result = None
        if a is not None and b is not None:
            unordered = math.isnan(a) or math.isnan(b)
            result = (
                others(unordered) if others else how.endswith("U") if unordered else compare(how.removesuffix("U"), a, b)
            )
        for write, value in zip(pair, (result, None if result is None else not result)):
            write(values, combined_flags(way, value, other))

    return step


NAN_TESTS: dict[str, Callable[[bool], bool]] = {"NUM": lambda unordered: not unordered, "NAN": lambda unordered: unordered}


def bits_reader(operand: str) -> Reader:
    """What reads the bits of an operand of which numbers are floats: 1 is 1.0."""
    try:
        bits = as_bits(float(operand.upper().replace("QNAN", "NAN")))
    except ValueError:
        return reader(operand)
    return lambda values: bits


def float_reader(operand: str) -> Callable[[Values], float | None]:
    """What reads an operand as a float, with its sign."""
    text = operand.replace(".reuse", "")
    negated, text = text.startswith("-"), text.removeprefix("-")
    bits, absolute = bits_reader(text.strip("|")), text.startswith("|")

    def read(values: Values) -> float | None:
        value = bits(values)
        if value is None:
            return None
        number = abs(as_float(value)) if absolute else as_float(value)
        return -number if negated else number

    return read


def multiply_floats(one: Instruction) -> Step:
    """FMUL, to nearest or to zero: ptxas divides short integers by it."""
    written, rest = split_results(one)
    left, right, write = float_reader(rest[0]), float_reader(rest[1]), writer(written[0])
    to_zero = "RZ" in one.suffixes

    def step(values: Values) -> None:
        a, b = left(values), right(values)
        if a is None or b is None:
            return write(values, None)
        bits = as_bits(a * b)  # exact in 64 bits
        write(values, bits - 1 if to_zero and abs(as_float(bits)) > abs(a * b) else bits)

    return step


def logic_of_predicates(one: Instruction) -> Step:
    written, rest = split_results(one)
    flags = [flag_reader(operand) for operand in rest[:3]]
    outputs = [(writer(operand), int(lut, 16)) for operand, lut in zip(written, rest[3:5])]

    def step(values: Values) -> None:
        inputs = [flag(values) for flag in flags]
        for write, lut in outputs:
            outcomes = {
                lut >> row & 1
                for row in range(8)
                if all(value is None or value == bit for value, bit in zip(inputs, (row >> 2, row >> 1 & 1, row & 1)))
            }
            write(values, outcomes.pop() if len(outcomes) == 1 else None)

    return step


def add(one: Instruction) -> Step:
    written, rest = split_results(one)
    width = 64 if "64" in one.suffixes else 32
    carried = "X" in one.suffixes
    carries = [flag_reader(operand) for operand in rest if is_predicate(operand)] if carried else []
    terms = []
    for operand in rest:
        if is_predicate(operand):
            continue
        # The carry of a difference is that of the complement and one.
        negated = re.match(r"-(UR|R|c)", operand) and not carried
        terms.append((reader("~" + operand[1:] if negated else operand, width == 64), 1 if negated else 0))
    write, others = writer(written[0], width == 64), [writer(operand) for operand in written[1:]]

    def step(values: Values) -> None:
        total: int | None = 0
        for read, more in terms:
            value = read(values)
            total = None if total is None or value is None else total + value + more
        for flag in carries:
            value = flag(values)
            total = None if total is None or value is None else total + value
        write(values, None if total is None else total & LONG)
        for i, carry in enumerate(others):
            carry(values, None if total is None else int(total >> width > i))

    return step


def multiply(one: Instruction) -> Step:
    written, rest = split_results(one)
    carry_in = flag_reader(rest[-1]) if is_predicate(rest[-1]) and "X" in one.suffixes else None
    rest = [operand for operand in rest if not is_predicate(operand)]
    wide, high, unsigned = "WIDE" in one.suffixes, "HI" in one.suffixes, "U32" in one.suffixes
    left, right, addend = reader(rest[0]), reader(rest[1]), reader(rest[2], wide)
    write, others = writer(written[0], wide), [writer(operand) for operand in written[1:]]

    def step(values: Values) -> None:
        a, b, c = left(values), right(values), addend(values)
        if a == 0 or b == 0:
            a = b = 0
        flag = carry_in(values) if carry_in else 0
        if a is None or b is None or c is None or flag is None:
            for write_one in (write, *others):
                write_one(values, None)
            return
        product = a * b if unsigned else signed(a) * signed(b)
        if high:
            total = (product >> 32 & MASK) + c + flag
            carry = total > MASK
        else:
            total = (product & (LONG if wide else MASK)) + c + flag
            carry = total > (LONG if wide else MASK)
        write(values, total & LONG)
        for write_one in others:
            write_one(values, int(carry))

    return step


def shift(one: Instruction) -> Step:
    written, rest = split_results(one)
    left, upper = "L" in one.suffixes, "HI" in one.suffixes
    arithmetic, wraps = bool({"S32", "S64"} & set(one.suffixes)), "W" in one.suffixes
    low_word, amount, high_word = (reader(operand) for operand in rest[:3])
    write = writer(written[0])

    def step(values: Values) -> None:
        low, by, high = low_word(values), amount(values), high_word(values)
        if left and not upper:
            high = 0
        if not left and upper:
            low = 0
        if low is None or by is None or high is None:
            return write(values, None)
        by = by & 31 if wraps else min(by, 63)
        both = high << 32 | low
        both = both << by if left else (signed(both, 64) if arithmetic else both) >> by
        write(values, (both >> 32 if upper else both) & MASK)

    return step


def scaled_add(one: Instruction) -> Step:
    written, rest = split_results(one)
    flags = [operand for operand in rest if is_predicate(operand)]
    terms = [operand for operand in rest if not is_predicate(operand)]
    by = int(terms[-1], 16) if terms[-1].startswith("0x") else 0
    low, second = reader(terms[0]), reader(terms[1])
    upper = reader(terms[2]) if len(terms) > 3 else None
    is_high, extends = "HI" in one.suffixes, "SX32" in one.suffixes
    carry = flag_reader(flags[0]) if "X" in one.suffixes and flags else None
    write, others = writer(written[0]), [writer(operand) for operand in written[1:]]

    def step(values: Values) -> None:
        a, b = low(values), second(values)
        top = signed(a or 0) >> 31 & MASK if extends else upper(values) if upper else 0
        flag = carry(values) if carry else 0
        total: int | None = None
        if a is not None and b is not None and top is not None and flag is not None:
            shifted = (top << 32 | a) << by
            total = (shifted >> 32 if is_high else shifted) & MASK
            total += b + flag
        write(values, total)
        for write_one in others:
            write_one(values, None if total is None else int(total > MASK))

    return step


def permuted(low: int, selector: int, high: int) -> int:
    pool = (high << 32 | low).to_bytes(8, "little")
    result = 0
    for i in range(4):
        which = selector >> (4 * i) & 15
        byte = pool[which & 7]
        result |= (0xFF * (byte >> 7) if which & 8 else byte) << (8 * i)
    return result


def narrowed(value: int, bits: int, unsigned: bool) -> int:
    bits = min(bits, 32)
    kept = value & (1 << bits) - 1
    return kept if unsigned or not bits else signed(kept, bits) & MASK


def reciprocal(value: int) -> int:
    number = as_float(value)
    return as_bits(1 / number) if number else 0x7F800000


def truncated(value: int) -> int | None:
    number = as_float(value)
    return int(number) & MASK if abs(number) < 2**33 else None


def function_of(one: Instruction) -> Callable[..., int | None] | None:
    """What a plain instruction makes of its operands."""
    name, suffixes = one.name.removeprefix("U"), set(one.suffixes)
    unsigned = "U32" in suffixes
    if name in ("MOV", "R2UR", "IMOV", "MOV32I", "SHFL", "REDUX", "CREDUX"):
        return lambda a: a
    if name == "SGXT":
        return lambda a, b: narrowed(a, b, unsigned)
    if name == "PRMT":
        return permuted
    if name == "BMSK":
        return lambda a, b: ((1 << min(b, 32)) - 1) << min(a, 32) & MASK
    if name in ("I2F", "I2FP"):
        bits = 16 if {"U16", "S16"} & suffixes else 32
        positive = bool({"U16", "U32"} & suffixes)
        return lambda a: as_bits(float(a & (1 << bits) - 1 if positive else signed(a & (1 << bits) - 1, bits)))
    if name == "F2I" and not {"U64", "S64"} & suffixes:
        return truncated
    if name == "MUFU" and "RCP" in suffixes:
        return reciprocal
    plain: dict[str, Callable[..., int | None]] = {
        "IABS": lambda a: abs(signed(a)),
        "POPC": int.bit_count,
        "FLO": lambda a: (a.bit_length() - 1) & MASK,
        "BREV": lambda a: int(f"{a:032b}"[::-1], 2),
    }
    return plain.get(name)


UNKNOWN = (
    "LDG",
    "LDS",
    "LDL",
    "LD",
    "LDSM",
    "ATOM",
    "ATOMG",
    "ATOMS",
    "DSETP",
    "HSETP2",
    "MATCH",
    "P2R",
    "FFMA",
    "FADD",
    "FMNMX",
    "HFMA2",
    "FMNMX3",
    "FFMA2",
    "FMUL2",
    "FADD2",
    "F2FP",
    "HMMA",
    "HGMMA",
    "LDTM",
    "STAS",
)


def bitwise(one: Instruction) -> Step:
    """LOP3: any function of three words, by its table."""
    written, rest = split_results(one)
    readers, lut = [reader(operand) for operand in rest[:3]], int(rest[3], 16)
    both = [(writer(operand), is_predicate(operand)) for operand in written]

    def step(values: Values) -> None:
        found = [read(values) for read in readers]
        if lut == 0xC0 and 0 in found[:2]:  # AND with zero
            found = [0, 0, 0]
        result = None if None in found else table(lut, *[value or 0 for value in found])
        for write, is_flag in both:
            write(values, None if result is None else int(result != 0) if is_flag else result)

    return step


def load_constant(one: Instruction) -> Step:
    """LDC: 1 to 16 bytes of the arguments."""
    bits = next((int(suffix[1:]) for suffix in one.suffixes if suffix in ("U8", "S8", "U16", "S16")), 32)
    bank, place = re.findall(r"\[([^\]]*)\]", split_results(one)[1][0])[:2]
    where, names = address_reader(f"[{place}]"), written_by(one)

    def step(values: Values) -> None:
        at = where(values)
        for i, name in enumerate(names):
            value = None if at is None or bank != "0x0" else values.get(f"c{at + 4 * i}", 0)
            values[name] = None if value is None else value & (1 << bits) - 1

    return step


def select(one: Instruction) -> Step:
    """SEL, and the least or the largest of two."""
    rest = split_results(one)[1]
    read_one = bits_reader if one.name == "FSEL" else reader
    flag, pair = flag_reader(rest[2]), [read_one(operand) for operand in rest[:2]]
    picks, unsigned = one.name.endswith("SEL"), "U32" in one.suffixes
    write = writers_of(one)[0]

    def step(values: Values) -> None:
        chosen = flag(values)
        a, b = (read(values) for read in pair)
        if picks:
            write(values, (a if a == b else None) if chosen is None else a if chosen else b)
        elif chosen is None or a is None or b is None:
            write(values, None)
        else:
            write(values, (min if chosen else max)(a, b, key=lambda v: v if unsigned else signed(v)))

    return step


def vote(one: Instruction) -> Step:
    """VOTE: lanes agree, as all that is known is the same for all lanes."""
    rest, writers = split_results(one)[1], writers_of(one)
    asked = flag_reader(rest[-1]) if rest else None  # without one: the lanes that are there

    def step(values: Values) -> None:
        for write in writers:
            write(values, asked(values) if asked else None)

    return step


def answer(one: Instruction) -> Step:
    """Whoever waits has waited, one lane is elected, and divisors are no special case."""
    written, writers, flag = split_results(one)[0], writers_of(one), int(one.name != "FCHK")

    def step(values: Values) -> None:
        for write, operand in zip(writers, written):
            write(values, flag if is_predicate(operand) or one.name == "ELECT" else None)

    return step


def evaluate(one: Instruction, function: Callable[..., int | None]) -> Step:
    """What `function` makes of the operands, if all are known."""
    (written, rest), writers = split_results(one), writers_of(one)
    if one.name in ("MOV", "UMOV") and is_wide(one):
        whole = reader(rest[0], wide=True)
        return lambda values: writers[0](values, whole(values))
    count = function.__code__.co_argcount if hasattr(function, "__code__") else 1
    readers = [reader(operand) for operand in rest[:count]]

    def step(values: Values) -> None:
        found = known(readers, values)
        result = None if found is None else function(*found)
        for write, operand in zip(writers, written):
            write(values, 1 if is_predicate(operand) else result)

    return step


def constant_halves(one: Instruction) -> Step | None:
    """HFMA2 of zeros and two constants: what ptxas moves a constant with where other units are busy."""
    rest, write = split_results(one)[1], writers_of(one)[0]
    if len(rest) != 4 or any(operand.lstrip("-") != "RZ" for operand in rest[:2]):
        return None
    try:
        high, low = (int.from_bytes(struct.pack("<e", float(operand)), "little") for operand in rest[2:])
    except ValueError:
        return None
    return lambda values: write(values, high << 16 | low)


STEPS: dict[str, Callable[[Instruction], Step | None]] = {
    name: make
    for make, names in (
        (set_predicate, "ISETP UISETP"),
        (set_predicate_of_floats, "FSETP"),
        (multiply_floats, "FMUL"),
        (logic_of_predicates, "PLOP3 UPLOP3"),
        (add, "IADD3 UIADD3 IADD UIADD VIADD UVIADD"),
        (multiply, "IMAD UIMAD"),
        (shift, "SHF USHF"),
        (scaled_add, "LEA ULEA"),
        (bitwise, "LOP3 ULOP3"),
        (load_constant, "LDC ULDC LDCU"),
        (select, "SEL USEL FSEL IMNMX VIMNMX UIMNMX UVIMNMX"),
        (vote, "VOTE VOTEU"),
        (constant_halves, "HFMA2"),
        (answer, "ELECT SYNCS USETMAXREG ACQBULK FCHK"),
    )
    for name in names.split()
}


def writers_of(one: Instruction) -> list[Writer]:
    """What sets each of its results."""
    wide = is_wide(one)
    return [writer(operand, wide and not is_predicate(operand)) for operand in split_results(one)[0]]


def compile_step(one: Instruction, special: dict[str, int], unmodelled: Counter[str]) -> Step:
    """What `one` does to the values that are known."""
    name, writers = one.name, writers_of(one)
    step: Step | None
    names = written_by(one)

    def forget(values: Values) -> None:
        for name in names:
            values[name] = None

    if make := STEPS.get(name):
        step = make(one)
        if step is None:
            return forget
    elif name in ("S2R", "S2UR", "CS2R"):
        there = special.get(split_results(one)[1][0], 0)
        step = lambda values: writers[0](values, there)
    elif function := function_of(one):
        step = evaluate(one, function)
    else:
        if (
            name not in UNKNOWN
            and not name.startswith(("UTMA", "UTC"))
            and name not in ("MUFU", "RED", "REDG", "LDGSTS")
        ):
            unmodelled[one.opcode] += 1
        step = forget
    return guarded(one, step, forget) if one.guard else step


def guarded(one: Instruction, step: Step, forget: Step) -> Step:
    """`step` under the guard of `one`; `forget` where it is not known whether that holds."""
    guard = flag_reader(one.guard)

    def decide(values: Values) -> None:
        holds = guard(values)
        if holds:
            step(values)
        elif holds is None:
            forget(values)

    return decide


# A launch -------------------------------------------------------------------


@dataclasses.dataclass
class Launch:
    """What a kernel was launched with: arguments as words of 8 bytes."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    words: list[int]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]


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
    compiled: dict[int, Step] = dataclasses.field(default_factory=dict)  # ... those that are the same for all threads

    @staticmethod
    def of(kernel: Kernel, touching: tuple[str, ...] = TOUCHING) -> Plan:
        blocks = basic_blocks(kernel.code)
        needed = needed_for_control(kernel.code, blocks, touching)
        steps = [
            [
                at
                for at in range(block.begin, block.end)
                if at in needed or kernel.code[at].name in touching or instruction_operand(kernel.code[at])
            ]
            for block in blocks
        ]
        return Plan(kernel, blocks, {block.begin: i for i, block in enumerate(blocks)}, steps, touching)


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


@functools.cache
def taken_by(last: Instruction) -> Reader:
    """Whether the instruction that ends a block goes elsewhere, as far as that is known."""
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
) -> None:
    """Follows one lane of a warp of one block, and adds what it ran to `walk`."""
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
    for i, word in enumerate(launch.words):
        values[f"c{kernel.parameters + 8 * i}"] = word & MASK
        values[f"c{kernel.parameters + 8 * i + 4}"] = word >> 32
    code = kernel.code
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
            if one.name not in BRANCHES and one.name not in ("STG", "STS", "STSM"):
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


def block_at(grid: tuple[int, int, int], number: int) -> tuple[int, int, int]:
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


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
                for number in chosen:
                    walk_warp(plan, launch, block_at(launch.grid, cluster * together + rank), number, walk)
        return float(sum(walk.counts.total() for walk in walks[cluster]))

    all_of_them = Walk()
    for cluster, weight in stand_for(launch.blocks // together, slots).items():
        slots(cluster)
        for walk in walks[cluster]:
            all_of_them.add(walk, weight * warps / len(chosen))
    most = max(map(slots, walks)) / together * warps / len(chosen)
    return all_of_them, most / max(1, all_of_them.counts.total())


def read_launches(path: Path, thread: int = 0) -> tuple[list[Launch], Counter[str]]:
    """What one thread launched (test/Gpu/LaunchRecorder.c), and bytes that were copied or filled without a kernel, by what."""
    launches, moved = [], Counter[str]()
    for line in path.read_text().splitlines():
        words = line.split()
        if int(words[0]) != thread:
            continue
        if words[1] != "launch":
            moved[words[1]] += int(words[2])
            moved[words[1] + "s"] += 1
            continue
        numbers = [int(word) for word in words[3:10]]
        launches.append(
            Launch(
                words[2],
                (numbers[0], numbers[1], numbers[2]),
                (numbers[3], numbers[4], numbers[5]),
                numbers[6],
                [int(word, 16) for word in words[10:]],
            )
        )
    return launches, moved

"""What an instruction makes of the values that are known: all that branches and addresses are computed with."""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Callable

from sass.cubin import Instruction
from sass.operands import PREDICATES, is_predicate, is_wide, split_results, written_by
from sass.values import (
    LONG,
    MASK,
    Values,
    Writer,
    address_reader,
    as_bits,
    as_float,
    bits_reader,
    combined_flags,
    constant_at,
    flag_reader,
    float_reader,
    known,
    reader,
    signed,
    writer,
)

Step = Callable[[Values], None]


def table(lut: int, a: int, b: int, c: int) -> int:
    """A function of three bits, by its table, on each bit of three words."""
    result = 0
    for row in range(8):
        if lut >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result & MASK


def compare(how: str, a: float, b: float) -> bool:
    return {"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b}[how]


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


NAN_TESTS: dict[str, Callable[[bool], bool]] = {
    "NUM": lambda unordered: not unordered,
    "NAN": lambda unordered: unordered,
}


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
            if others:
                result = others(unordered)
            else:
                result = how.endswith("U") if unordered else compare(how.removesuffix("U"), a, b)
        for write, value in zip(pair, (result, None if result is None else not result)):
            write(values, combined_flags(way, value, other))

    return step


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
    "QGMMA",
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
    """LDC: 1 to 16 bytes of a constant bank."""
    bits = next((int(suffix[1:]) for suffix in one.suffixes if suffix in ("U8", "S8", "U16", "S16")), 32)
    bank, place = re.findall(r"\[([^\]]*)\]", split_results(one)[1][0])[:2]
    where, names = address_reader(f"[{place}]"), written_by(one)

    def step(values: Values) -> None:
        at = where(values)
        for i, name in enumerate(names):
            value = None if at is None else constant_at(values, bank, at + 4 * i)
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


def pack_predicates(one: Instruction) -> Step | None:
    """P2R: predicates as bits of a word, under a mask; other bits are those of the second operand."""
    (_, rest), write = split_results(one), writers_of(one)[0]
    if one.suffixes or len(rest) != 3 or rest[0] != "PR":
        return None
    kept, mask = reader(rest[1]), reader(rest[2])

    def step(values: Values) -> None:
        result, wanted = kept(values), mask(values)
        for i, name in enumerate(PREDICATES):
            if result is None or wanted is None:
                break
            if wanted >> i & 1:
                flag = values.get(name, 0)
                result = None if flag is None else result & ~(1 << i) | flag << i
        write(values, result)

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


def writers_of(one: Instruction) -> list[Writer]:
    """What sets each of its results."""
    wide = is_wide(one)
    return [writer(operand, wide and not is_predicate(operand)) for operand in split_results(one)[0]]


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
        (pack_predicates, "P2R"),
        (vote, "VOTE VOTEU"),
        (constant_halves, "HFMA2"),
        (answer, "ELECT SYNCS USETMAXREG ACQBULK FCHK"),
    )
    for name in names.split()
}


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

"""What registers hold, as far as it is known, and how an operand is read or written.

What nobody has written is 0: ptxas reads such registers where nothing depends on it.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable

from sass.operands import is_predicate

MASK = 0xFFFFFFFF
LONG = (1 << 64) - 1
Values = dict[str, int | None]
Reader = Callable[[Values], int | None]
Writer = Callable[[Values, int | None], None]


def constant_name(bank: str, at: int) -> str:
    return f"c{at}" if bank == "0x0" else f"c{bank}[{at}]"


def constant_at(values: Values, bank: str, at: int) -> int | None:
    """A word of a constant bank: 0x0 has the arguments, others what ptxas put there."""
    return values.get(constant_name(bank, at), 0 if bank == "0x0" else None)


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
            words = [None if at is None else constant_at(values, bank, at + 4 * i) for i in range(1 + wide)]
            return None if None in words else sum((word or 0) << 32 * i for i, word in enumerate(words))

        return constant
    try:
        number_value = int(text, 0) & mask
    except ValueError:
        try:
            number_value = as_bits(float(text))
        except ValueError:
            return lambda values: None
    return lambda values: number_value


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

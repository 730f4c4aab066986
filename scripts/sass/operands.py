"""Which registers and which memory an instruction reads and writes."""

from __future__ import annotations

import functools
import re

from sass.cubin import Instruction

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


# What P2R packs, from its first bit on.
PREDICATES = [f"P{i}" for i in range(7)]

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
    if one.name == "P2R":
        found += PREDICATES
    if one.guard:
        found += registers_of(one.guard)
        found += [name for operand in written for name in registers_of(operand)]  # what was there may stay
    return found


TOUCHING = ("LDG", "STG", "LDGSTS", "RED", "REDG", "ATOMG", "UTMALDG", "UTMASTG")
SHARED_MEMORY = ("LDS", "STS", "LDSM", "STSM", "ATOMS")


def instruction_operand(one: Instruction) -> str:
    """Of a product into tensor memory (UTCHMMA), the operand that describes it; else empty."""
    if not (one.name.startswith("UTC") and one.name.endswith("MMA")):
        return ""
    return next(re.sub(r"idesc\[(.*)\]", r"\1", operand) for operand in one.operands if operand.startswith("idesc["))


@functools.cache
def place_of(one: Instruction) -> str:
    """The operand that says where in global memory; of a TMA copy, its map."""
    return next(operand for operand in reversed(one.operands) if "[" in operand)

"""What an instruction costs: the unit that does it, its work on tensor cores, and the bytes that it moves."""

from __future__ import annotations

import re

from sass.cubin import Instruction

FMA = {"FFMA", "FMUL", "FADD", "HFMA2", "HMUL2", "HADD2", "FFMA2", "FMUL2", "FADD2"}
# Of those, two f32 at once: one instruction, and as long as two.
PACKED = {"FFMA2", "FMUL2", "FADD2"}
XU = {"MUFU", "F2F", "F2I", "I2F", "FRND", "POPC", "FLO", "BREV"}
LSU = {
    "LDG",
    "STG",
    "LDS",
    "STS",
    "LDSM",
    "STSM",
    "SHFL",
    "LDGSTS",
    "ATOM",
    "ATOMG",
    "ATOMS",
    "RED",
    "REDG",
    "LD",
    "ST",
    "LDL",
    "STL",
    "LDC",
    "REDS",
    "STAS",
}
CONTROL = {
    "BRA",
    "EXIT",
    "BSSY",
    "BSYNC",
    "BAR",
    "WARPSYNC",
    "NOP",
    "CALL",
    "RET",
    "DEPBAR",
    "LDGDEPBAR",
    "SYNCS",
    "FENCE",
    "MEMBAR",
    "WARPGROUP",
    "USETMAXREG",
    "YIELD",
    "ELECT",
    "UTMALDG",
    "UTMASTG",
    "UTCHMMA",
    "UTCQMMA",
    "UTCBAR",
    "UTCATOMSWS",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "CGAERRBAR",
    "LDTM",
    "STTM",
    "HMMA",
    "HGMMA",
    "IMMA",
    "DMMA",
    "QGMMA",
    "IGMMA",
    "S2R",
    "S2UR",
    "CS2R",
    "ERRBAR",
    "CCTL",
    "ACQBULK",
    "VOTE",
    "R2UR",
}
DOUBLE = {"DFMA", "DADD", "DMUL", "DSETP", "DMNMX"}


def pipe_of(one: Instruction) -> str:
    """Which unit does it; empty where that is none of those that are counted."""
    name = one.name
    if name in CONTROL:
        return ""
    if name in FMA:
        return "fma"
    if name == "IMAD":
        return "imad"
    if name in XU:
        return "xu"
    if name in LSU:
        return "lsu"
    if name in DOUBLE:
        return "double"
    return "uniform" if name.startswith("U") else "alu"


def bytes_of(one: Instruction) -> int:
    """What a thread loads or stores at once."""
    for suffix, size in (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1), ("16", 2), ("256", 32)):
        if suffix in one.suffixes:
            return size
    return 4


TENSOR_SPEED = {
    "BF16": 1.0,
    "F16": 1.0,
    "TF32": 0.5,
    "F32": 1.0,
    "S8": 2.0,
    "U8": 2.0,
    "E4M3": 2.0,
    "E5M2": 2.0,
    "F64": 1 / 16,
}


def tensor_work(one: Instruction) -> tuple[float, float]:
    """Operations of a tensor instruction of a warp, and how many of 16 bits take as long."""
    if one.name not in ("HMMA", "HGMMA", "IMMA", "DMMA", "QGMMA", "IGMMA"):
        return 0, 0
    shape = next((suffix for suffix in one.suffixes if re.fullmatch(r"\d+x\d+x\d+|\d{3,5}", suffix)), "")
    if "x" in shape:
        m, n, k = (int(part) for part in shape.split("x"))
        m //= 4  # a warp's part of a warpgroup's
    else:
        m, n, k = {
            "16816": (16, 8, 16),
            "1688": (16, 8, 8),
            "1684": (16, 8, 4),
            "16832": (16, 8, 32),
            "884": (8, 8, 4),
            "16864": (16, 8, 64),
        }.get(shape, (0, 0, 0))
    kinds = [suffix for suffix in one.suffixes if suffix in TENSOR_SPEED]
    kind = (
        "TF32"
        if "TF32" in kinds or (one.name == "HGMMA" and k == 8)
        else "F64"
        if one.name == "DMMA"
        else kinds[-1]
        if kinds
        else "F16"
    )
    work = 2.0 * m * n * k
    return work, work / TENSOR_SPEED[kind]


def tensor_memory_work(described: int, left_is_there: bool = False) -> tuple[float, float, float]:
    """Of a product into tensor memory, by its instruction descriptor: operations, those of 16 bits that take as long,
    and bytes of shared memory that it reads: not its left matrix where that is in tensor memory."""
    rows, columns = 16 * (described >> 24 & 31), 8 * (described >> 17 & 63)
    size = 4 if described >> 7 & 7 == 2 else 2  # tf32, else f16 or bf16
    work = 2.0 * rows * columns * 32 / size
    return work, work * size / 2, 32.0 * (columns if left_is_there else rows + columns)


def shared_bytes(one: Instruction) -> float:
    """Bytes that an instruction of a warp moves to or from shared memory (TMA copies aside)."""
    if one.name in ("LDS", "STS", "ATOMS", "LDGSTS"):
        return 32.0 * bytes_of(one)
    if one.name in ("LDSM", "STSM"):
        return 128.0 * int(next((suffix for suffix in one.suffixes if suffix in ("1", "2", "4")), "1"))
    if one.name in ("HGMMA", "QGMMA") and (shape := re.search(r"(\d+)x(\d+)x(\d+)", one.opcode)):
        m, n, k = (int(part) for part in shape.groups())
        size = 4 if k == 8 else 1 if k == 32 else 2
        left = 0 if len(one.operands) > 1 and one.operands[1].startswith("R") else m * k * size
        return (left + n * k * size) / 4  # of one of four warps
    return 0

"""Kernels of a cubin as nvdisasm reads them: instructions, with what ptxas tells the scheduler."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Container
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
    constants: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)  # words of other banks, by bank

    @property
    def grid(self) -> int:
        """Where the constant bank holds the grid."""
        return self.sizes + (16 if self.sizes else 12)


# By compute capability: where the constant bank holds what a launch gives to every kernel (block; grid, one word
# further from 10 on), and where arguments begin that are aligned to no more than 8 bytes.
SIZES = {"8": 0x0, "9": 0x0, "10": 0x360, "12": 0x360}
PARAMETERS = {"8": 0x160, "9": 0x210, "10": 0x380, "12": 0x380}


def split_operands(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def read_instruction(opcode: str, operands: str, predicate: str, control: Control = Control()) -> Instruction:
    """As nvdisasm prints it in JSON, where PR (all predicates, an operand of P2R) is in the guard's place."""
    parts = split_operands(operands)
    if predicate == "PR":
        return Instruction(opcode, (parts[0], predicate, *parts[1:]), "", control)
    return Instruction(opcode, parts, predicate.removeprefix("@"), control)


def read_sections(cubin: bytes) -> tuple[dict[str, tuple[int, int]], dict[str, int], dict[str, int], list[str]]:
    """Of an ELF file: where sections are, and their sizes, by name; by kernel, registers (EIATTR_REGCOUNT) and where
    arguments begin (EIATTR_PARAM_CBANK); symbols."""
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
        if name.startswith(".text.") and header[7] >> 24:  # where there is no attribute
            registers.setdefault(name.removeprefix(".text."), header[7] >> 24)
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
    return places, registers, starts, symbols


def constants_of(cubin: bytes, places: dict[str, tuple[int, int]], name: str) -> dict[str, tuple[int, ...]]:
    """Words of a kernel's constant banks but the arguments', by bank: numbers too long for an instruction."""
    banks = {}
    for section, (begin, size) in places.items():
        bank, _, owner = section.removeprefix(".nv.constant").partition(".")
        if section.startswith(".nv.constant") and owner == name and bank != "0":
            banks[hex(int(bank))] = struct.unpack_from(f"<{size // 4}I", cubin, begin)
    return banks


def controls_of(cubin: bytes, place: tuple[int, int]) -> list[Control]:
    """Of each instruction in a section of machine code."""
    begin, size = place
    return [Control.of(int.from_bytes(cubin[at : at + 16], "little")) for at in range(begin, begin + size, 16)]


def read_cubin(path: Path, nvdisasm: str = "", wanted: Container[str] | None = None) -> dict[str, Kernel]:
    """The kernels of a cubin, by name; all, or those that are wanted."""
    cubin = path.read_bytes()
    places, registers, starts, symbols = read_sections(cubin)
    command = [nvdisasm or find_nvdisasm(), "-c", "-json", str(path)]
    if wanted is not None:
        indices = [str(i) for i, name in enumerate(symbols) if name in wanted and f".text.{name}" in places]
        if not indices:
            return {}
        command += ["-fun", ",".join(indices)]
    header, functions = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    version = header["SM"]["version"]
    kernels = {}
    for function in functions:
        name = function["function-name"]
        if wanted is not None and name not in wanted:
            continue
        code = [
            read_instruction(one["opcode"], one.get("operands", ""), one.get("predicate", ""), control)
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
            constants_of(cubin, places, name),
        )
    return kernels

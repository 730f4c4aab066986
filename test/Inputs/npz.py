#!/usr/bin/env python3
"""Write small .npy and .npz files for tests, with the standard library alone.

usage: npz.py write FILE.npz [--store] NAME=SPEC ...
       npz.py npy FILE.npy SPEC
       npz.py show FILE.npz          (one line a member: name, dtype, shape, first values)
       npz.py truncate FILE BYTES    (keeps the first BYTES; negative: cuts off the last)
       npz.py poke FILE OFFSET HEX   (overwrites; negative offsets count from the end)

SPEC is DESCR:SHAPE:VALUES: a NumPy type string, sizes joined by x (none: a
scalar), and values joined by commas, repeated until the array is full; `iota`
counts from 0. Example: in0=<f4:2x3:0.5,1.5
"""

from __future__ import annotations

import ast
import itertools
import struct
import sys
import zipfile

FORMATS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q"}
FORMATS |= {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}


def npy(spec: str) -> bytes:
    """Return the bytes of one .npy file."""
    descr, shape_text, values_text = spec.split(":")
    shape = tuple(int(size) for size in shape_text.split("x")) if shape_text else ()
    count = 1
    for size in shape:
        count *= size
    kind = descr.lstrip("<>|=")
    order = ">" if descr.startswith(">") else "<"
    values = range(count) if values_text == "iota" else itertools.cycle(values_text.split(","))
    body = b""
    for value in itertools.islice(values, count):
        if kind[0] == "c":
            number = complex(value)
            part = {"c8": "f", "c16": "d"}[kind]
            body += struct.pack(order + 2 * part, number.real, number.imag)
        elif kind in FORMATS:
            number = float(value) if kind[0] == "f" else int(value)
            body += struct.pack(order + FORMATS[kind], number)
        else:
            body += bytes(8)  # object arrays and the like: what is refused
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body


def members(path: str) -> dict[str, tuple[dict, tuple]]:
    """Return the header and the values of each member; no values of element types that struct has not."""
    result = {}
    with zipfile.ZipFile(path) as archive:
        if bad := archive.testzip():
            sys.exit(f"bad checksum: {bad}")
        for name in sorted(archive.namelist()):
            data = archive.read(name)
            (length,) = struct.unpack("<H", data[8:10])
            header = ast.literal_eval(data[10 : 10 + length].decode())
            body = data[10 + length :]
            kind = header["descr"].lstrip("<>|=")
            values: tuple = ()
            if kind in FORMATS:
                size = struct.calcsize(FORMATS[kind])
                values = struct.unpack(f"<{len(body) // size}{FORMATS[kind]}", body)
            result[name] = (header, values)
    return result


def read(path: str) -> dict[str, list]:
    """Return the values of each member, in row-major order."""
    return {name.removesuffix(".npy"): list(values) for name, (_, values) in members(path).items()}


def show(path: str) -> None:
    for name, (header, values) in members(path).items():
        text = " ".join(f"{value:g}" for value in values[:16])
        print(f"{name} {header['descr']} {header['shape']} {text}")


def main(arguments: list[str]) -> None:
    command, path, *rest = arguments
    if command == "write":
        compression = zipfile.ZIP_DEFLATED
        if "--store" in rest:
            rest.remove("--store")
            compression = zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", compression) as archive:
            for member in rest:
                name, spec = member.split("=", 1)
                archive.writestr(name + ".npy", npy(spec))
    elif command == "npy":
        with open(path, "wb") as file:
            file.write(npy(rest[0]))
    elif command == "show":
        show(path)
    elif command == "truncate":
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data[: int(rest[0])])
    elif command == "poke":
        with open(path, "rb") as file:
            data = bytearray(file.read())
        offset, patch = int(rest[0]), bytes.fromhex(rest[1])
        offset = offset + len(data) if offset < 0 else offset
        data[offset : offset + len(patch)] = patch
        with open(path, "wb") as file:
            file.write(data)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

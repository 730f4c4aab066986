"""Change single bits of an artifact, and cut it off: each change must be refused, by the name of the part that it is in.

    artifacts.py ARTIFACT --shard-run PATH --library PATH [--every=N] [--runs=N] [--seed=S] [--whole=SYMBOL]

Every N-th bit of the file (1: all), and every length at which a part of the file ends, one byte less and one more, is given
to the runtime's loader (shardrt_program_load_trusted of libshardrt.so, in a process of its own: a crash is seen). Then
--runs of them, spread over all parts, to shard-run --trust. Asserted: code 8, the name of the part that the bit is in, no
signal, no result. With --whole=shardc_formulas every bit of this symbol is flipped, whatever N is, and counted apart from the
part that it is in: it says how numbers follow from sizes that a program leaves open. The parts are read from the seal here, by
the text of docs/Reference/artifact.md. Ends with a table and 'N passed, N failed'.

    artifacts.py --make-format=N ARTIFACT OUT

writes an artifact as another version would: with another number and digests that hold; 1: without a seal, as before format 2.

    artifacts.py --other-interface ARTIFACT OUT

writes it as a compiler would that knew another runtime; it is not signed.

    artifacts.py --without-program ARTIFACT OUT

writes it with another name for the program that it carries, so that there is none; it is not signed.

    artifacts.py --load ARTIFACT --library PATH

gives it to the runtime's loader, and prints the status and what that says.
"""

import argparse
import collections
import ctypes
import hashlib
import multiprocessing
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN = b"\x89shardc seal\r\n\x1a\n"
END = b"\x89shardc artifact"
TRAILER = 32 + 8 + len(END)
REFUSED = 8
LENGTHS = "lengths"


def parts_of(data: bytes) -> list[tuple[str, int, int]]:
    """Name, begin and end of each part of the file; the last is the seal."""
    size = struct.unpack_from("<Q", data, len(data) - len(END) - 8)[0]
    begin = len(data) - size
    assert data.endswith(END) and data[begin:].startswith(BEGIN)
    at = begin + len(BEGIN)
    _, _, count = struct.unpack_from("<III", data, at)
    at += 12
    parts = []
    for _ in range(count):
        offset, length, letters = struct.unpack_from("<QQH", data, at)
        at += 18
        parts.append((data[at : at + letters].decode(), offset, offset + length))
        at += letters + 32
    assert [0, *(end for _, _, end in parts)] == [*(start for _, start, _ in parts), begin], "a byte is in no part"
    return [*parts, ("seal", begin, len(data))]


def symbol_range(data: bytes, name: str) -> range:
    """The bytes of the file that the dynamic symbol ``name`` stands for."""
    table = struct.unpack_from("<Q", data, 40)[0]
    count = struct.unpack_from("<H", data, 60)[0]
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    dynamic = next(header for header in headers if header[1] == 11)  # SHT_DYNSYM
    names = headers[dynamic[6]][4]
    for at in range(dynamic[4], dynamic[4] + dynamic[5], 24):
        letters, _, _, section, address, size = struct.unpack_from("<IBBHQQ", data, at)
        start = names + letters
        if data[start : data.index(0, start)].decode() == name and section:
            begin = address - headers[section][3] + headers[section][4]
            return range(begin, begin + size)
    raise SystemExit(f"the artifact has no symbol {name}")


def make_format(number: int, data: bytes) -> bytes:
    """The artifact as a version would write it whose format is ``number``."""
    parts = parts_of(data)
    if number == 1:
        end = next((start for name, start, _ in parts if name == "program"), parts[-1][1])
        assert b'{"format":3,' in data[:end]
        return data[:end].replace(b'{"format":3,', b'{"format":1,')
    begin = parts[-1][1]
    seal = bytearray(data[begin:])
    struct.pack_into("<I", seal, len(BEGIN), number)
    seal[-TRAILER : 32 - TRAILER] = hashlib.sha256(seal[:-TRAILER]).digest()
    return data[:begin] + bytes(seal)


def other_interface(data: bytes) -> bytes:
    """The artifact with another interface in its metadata, and digests that hold."""
    key = b'"interface":"'
    at = data.index(key, data.index(b'{"format":')) + len(key)
    changed = bytearray(data)
    changed[at : at + 16] = b"0123456789abcdef"
    *parts, (_, begin, _) = parts_of(data)
    seal = changed[begin:]
    place = len(BEGIN) + 12
    for name, start, end in parts:
        place += 18 + len(name)
        seal[place : place + 32] = hashlib.sha256(changed[start:end]).digest()
        place += 32
    struct.pack_into("<I", seal, len(BEGIN) + 4, 0)
    seal[place : place + 96] = bytes(96)
    seal[-TRAILER : 32 - TRAILER] = hashlib.sha256(seal[:-TRAILER]).digest()
    return bytes(changed[:begin] + seal)


def without_program(data: bytes) -> bytes:
    """The artifact with a part 'nothing' where 'program' is, and digests that hold."""
    *parts, (_, begin, _) = parts_of(data)
    seal = bytearray(data[begin:].replace(b"program", b"nothing"))
    place = len(BEGIN) + 12 + sum(18 + len(name) + 32 for name, _, _ in parts)
    struct.pack_into("<I", seal, len(BEGIN) + 4, 0)
    seal[place : place + 96] = bytes(96)
    seal[-TRAILER : 32 - TRAILER] = hashlib.sha256(seal[:-TRAILER]).digest()
    return data[:begin] + bytes(seal)


def load_changed(library: str, data: bytes, changes: list[tuple[int, int | None]], answers: multiprocessing.Queue) -> None:
    """Load ``data`` with each of ``changes``: one bit of a byte flipped, or (None) cut off at a byte."""
    runtime = ctypes.CDLL(library)
    program, said = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
    file = os.memfd_create("changed")
    path = f"/proc/self/fd/{file}".encode()
    os.write(file, data)
    for at, bit in changes:
        if bit is None:
            os.ftruncate(file, at)
            if at > len(data):
                os.pwrite(file, b"\0", at - 1)
        else:
            os.pwrite(file, bytes([data[at] ^ 1 << bit]), at)
        status = runtime.shardrt_program_load_trusted(path, ctypes.byref(program), said, len(said))
        answers.put((at, bit, status, said.value.decode()))
        os.ftruncate(file, len(data))
        os.pwrite(file, data[at:], at) if bit is None else os.pwrite(file, data[at : at + 1], at)
    answers.put(None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifact", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--make-format", type=int)
    parser.add_argument("--other-interface", action="store_true")
    parser.add_argument("--without-program", action="store_true")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--library", help="libshardrt.so")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", metavar="SYMBOL", help="every bit of this symbol, whatever --every says")
    options = parser.parse_args()
    data = options.artifact.read_bytes()
    if options.load:
        program, said = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
        status = ctypes.CDLL(options.library, mode=ctypes.RTLD_GLOBAL).shardrt_program_load_trusted(bytes(options.artifact), ctypes.byref(program), said, len(said))
        print(f"{status}: {said.value.decode()}")
        return 0
    if options.other_interface:
        options.out.write_bytes(other_interface(data))
        return 0
    if options.without_program:
        options.out.write_bytes(without_program(data))
        return 0
    if options.make_format is not None:
        options.out.write_bytes(make_format(options.make_format, data))
        return 0

    parts = parts_of(data)
    rng = random.Random(options.seed)

    whole = symbol_range(data, options.whole) if options.whole else range(0)

    def part_at(at: int) -> str:
        return next(name for name, start, end in parts if start <= at < end)

    changes: list[tuple[int, int | None]] = [divmod(number, 8) for number in range(options.seed % options.every, 8 * len(data), options.every)]
    changes += [(at, bit) for at in whole for bit in range(8) if (8 * at + bit - options.seed) % options.every != 0]
    borders = sorted({length for _, start, end in parts for border in (start, end) for length in (border - 1, border, border + 1)})
    changes += [(length, None) for length in borders if 0 <= length != len(data)]
    answers: multiprocessing.Queue = multiprocessing.Queue()
    worker = multiprocessing.Process(target=load_changed, args=(options.library, data, changes, answers))
    worker.start()
    table: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    failures: list[str] = []

    def judge(at: int, bit: int | None, status: int, said: str, where: str) -> None:
        name = LENGTHS if bit is None else part_at(at)
        refused = status == REFUSED and "refused: " in said and (bit is None or f"section '{name}'" in said)
        table[options.whole if bit is not None and at in whole else name]["refused" if refused else "not"] += 1
        if not refused:
            failures.append(f"{where}: byte {at} ({name}), " + (f"bit {bit}" if bit is not None else "cut") + f": code {status}, '{said}'")

    for _ in changes:
        while True:
            try:
                answer = answers.get(timeout=1)
                break
            except Exception:  # queue.Empty: is there still somebody to wait for?
                if not worker.is_alive():
                    answer = None
                    break
        if answer is None:
            failures.append(f"the loader ended with {worker.exitcode}")
            break
        judge(*answer, "loader")
    worker.join(10)

    # One in each part, then anywhere.
    picked = [(rng.randrange(start, end), rng.randrange(8)) for _, start, end in [*parts, *([("", whole.start, whole.stop)] if whole else [])]]
    picked += [(rng.randrange(len(data)), rng.randrange(8)) for _ in range(options.runs - len(picked))]
    with tempfile.TemporaryDirectory() as directory:
        for at, bit in picked[: options.runs]:
            changed = Path(directory) / "changed.so"
            changed.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            ran = subprocess.run([options.shard_run, str(changed), "--trust"], capture_output=True, text=True, check=False, timeout=60)
            judge(at, bit, ran.returncode if not ran.stdout else -1, ran.stderr, "shard-run")

    print(f"{options.artifact.name}: {len(data)} bytes, {len(parts)} parts")
    for name in [*(name for name, _, _ in parts), options.whole, LENGTHS]:
        if name in table:
            print(f"  {name:32} {table[name]['refused']:7} refused {table[name]['not']:5} not")
    for failure in failures[:20]:
        print(failure)
    passed = sum(counts["refused"] for counts in table.values())
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

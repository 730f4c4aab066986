"""Damage to files of each kind, as bytes: programs, bytecode, arrays and archives of them, artifacts, machines' figures, command
lines. All that is random comes from the generator that is given."""

import io
import random
import re
import zipfile

TOKEN = re.compile(rb'-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|%[\w#]+|@\w+|"[^"\n]*"|[A-Za-z_][\w.]*|\S')
NUMBERS = [b"0", b"-1", b"1", b"2", b"7", b"65537", b"2147483648", b"-9223372036854775808", b"9223372036854775807",
           b"18446744073709551616", b"99999999999999999999999999", b"1.0e999", b"0x7FC00000", b"?"]
WORDS = [b"f32", b"f64", b"bf16", b"i1", b"i32", b"ui8", b"complex<f32>", b"index", b"none", b"tensor<*xf32>", b"tensor<?xf32>",
         b"f8E4M3FN", b"{", b"}", b"[", b"]", b"<", b">", b"(", b")", b",", b":", b"->", b'""', b'"x"', b"@mesh", b"%arg0",
         b"true", b"dense<>", b"\xff\xfe", b"\x00", b"stablehlo.add", b"stablehlo.constant", b"unit", b"loc(unknown)"]


def mutate_program(rng: random.Random, text: bytes, other: bytes) -> bytes:
    """Change one to four things in ``text``; pieces may come from ``other``."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 4])):
        tokens = list(TOKEN.finditer(text))
        if not tokens:
            return text
        token = rng.choice(tokens)
        begin, end = token.span()
        kind = rng.randrange(10)
        if kind >= 8 and rng.random() < 0.7:  # those are large
            kind -= 8
        if kind == 0:  # a number
            numbers = [t for t in tokens if t.group()[:1].isdigit() or t.group()[:1] == b"-"]
            if numbers:
                begin, end = rng.choice(numbers).span()
            text = text[:begin] + rng.choice(NUMBERS) + text[end:]
        elif kind == 1:
            text = text[:begin] + rng.choice(WORDS) + text[end:]
        elif kind == 2:
            text = text[:begin] + text[end:]
        elif kind == 3:
            text = text[:end] + b" " + token.group() + text[end:]
        elif kind == 4:  # a token from elsewhere in the program, of the same kind if there is one
            same = [t for t in tokens if t.group()[:1] == token.group()[:1]]
            text = text[:begin] + rng.choice(same).group() + text[end:]
        elif kind == 5:  # a line away, doubled, or from another program
            lines = text.split(b"\n")
            at = rng.randrange(len(lines))
            lines[at : at + 1] = rng.choice([[], [lines[at], lines[at]], [rng.choice(other.split(b"\n"))]])
            text = b"\n".join(lines)
        elif kind == 6:
            at = rng.randrange(len(text))
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
        elif kind == 7:
            text = text[: rng.randrange(len(text))]
        elif kind == 8:  # short as text, endless or deep when written out
            count, fan = rng.choice([(40, 2), (400, 1), (20000, 1)])
            part = rng.choice([b"[%s]", b"{x = %s}", b"loc(fused[%s])"])
            aliases = [b"#x0 = " + (b'loc("a")' if part.startswith(b"loc") else b"unit")]
            aliases += [b"#x%d = " % i + part % b", ".join([b"#x%d" % (i - 1)] * (1 if part.startswith(b"{") else fan)) for i in range(1, count)]
            use = b" loc(#x%d)" if part.startswith(b"loc") else b" attributes {mhlo.x = #x%d}"
            text = b"\n".join(aliases) + b"\n" + text.replace(b"module", b"module" + use % (count - 1), 1)
        else:  # nested deeper
            depth = rng.choice([3, 300, 30000])
            pair = rng.choice([(b"[", b"]"), (b"(", b")"), (b"{", b"}"), (b"tensor<", b">"), (b"tuple<", b">")])
            text = text[:begin] + pair[0] * depth + token.group() + pair[1] * depth + text[end:]
    return text


def mutate_bytecode(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change one to four things in ``data``; pieces may come from ``other``. Most keep the lengths of all sections."""
    if rng.random() < 0.6:
        changed = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(20, len(data))
            length = rng.choice([0, 0, 0, 1, 2, 8])
            if length:
                start = rng.randrange(20, len(data) - length)
                at = min(at, len(data) - length)
                changed[at : at + length] = data[start : start + length]
            else:
                changed[at] = rng.choice([changed[at] ^ 1 << rng.randrange(8), changed[at] + 2 & 0xFF, changed[at] - 2 & 0xFF, 1, 0xFF])
        return bytes(changed)
    for _ in range(rng.randint(1, 4)):
        if len(data) < 8:
            return data
        at = rng.randrange(4 if rng.random() < 0.95 else 0, len(data))
        length = rng.choice([1, 1, 2, 4, 16, 64, 400])
        kind = rng.randrange(8)
        if kind == 0:
            data = data[:at] + bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFE, 0xFF, rng.randrange(256)])]) + data[at + 1 :]
        elif kind == 1:  # one bit
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 2:  # a number of nine bytes, as lengths may be
            data = data[:at] + b"\0" + rng.randrange(1 << 64).to_bytes(8, "little") + data[at + rng.choice([1, 9]) :]
        elif kind == 3:
            data = data[:at] + data[at + length :]
        elif kind == 4:
            data = data[: at + length] + data[at : at + length] * rng.choice([1, 3, 200]) + data[at + length :]
        elif kind == 5:
            start = rng.randrange(len(other))
            data = data[:at] + other[start : start + length] + data[at + length :]
        elif kind == 6:
            data = data[:at]
        else:
            data = data[:at] + bytes(rng.randrange(256) for _ in range(length)) + data[at + length :]
    return data


def bomb(rng: random.Random, name: str) -> bytes:
    """Return an archive whose members are far larger than it, or say that they are."""
    written = io.BytesIO()
    size = rng.choice([1 << 20, 1 << 28, 1 << 32])
    shape = rng.choice([b"(%d,)" % (size // 4), b"(3,)", b"(%d, 4294967296)" % (1 << 33)])
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + b", }\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(1 << 24)
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    data = bytearray(written.getvalue())
    directory = data.rindex(b"PK\x01\x02")
    # Sizes as they are, or as they are not, in one place or in both.
    if rng.random() < 0.7:
        for at in [directory + 24] + [22] * rng.randrange(2):
            data[at : at + 4] = min(size, 0xFFFFFFFE).to_bytes(4, "little")
    return bytes(data)


def mutate_array(rng: random.Random, content: bytes) -> bytes:
    """Change a .npy file: bytes of it, its length, what its header says."""
    header_end = 10 + int.from_bytes(content[8:10], "little")
    header = content[10:header_end]
    kind = rng.randrange(6)
    if kind == 0:
        at = rng.randrange(min(len(content), 140))
        return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    if kind == 1:
        return content[: rng.randrange(len(content))]
    if kind == 2:
        return content[:8] + rng.randrange(65536).to_bytes(2, "little") + content[10:]
    if kind == 3:
        shape = rng.choice([b"(9223372036854775807, 2)", b"(-1,)", b"()", b"(0,)", b"(" + b"2, " * 40 + b")", b"(1e3,)", b"(4294967296, 4294967296)"])
        header = re.sub(rb"\([^)]*\)", shape, header)
    elif kind == 4:
        header = re.sub(rb"'[<>|=]\w+'", rng.choice([b"'|O'", b"'<f3'", b"'>f4'", b"'<U8'", b"'|V99999999999'", b"''"]), header)
    else:
        header = header.replace(b"False", rng.choice([b"True", b"None", b"[" * 5000, b"__import__('os')"]))
    return content[:8] + (len(header) & 0xFFFF).to_bytes(2, "little") + header + content[header_end:]


def mutate_archive(rng: random.Random, data: bytes) -> bytes:
    """Change the zip, or one member's .npy header or length."""
    if rng.random() < 0.015:
        return bomb(rng, "in0.npy")
    if rng.random() < 0.5:
        changed = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            # Most of a zip's structure stands at its end.
            at = rng.randrange(len(changed)) if rng.random() < 0.4 else max(0, len(changed) - 1 - rng.randrange(400))
            changed[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        return bytes(changed) if rng.random() < 0.7 else bytes(changed[: rng.randrange(len(changed))])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = rng.randrange(len(members))
    name, content = members[at]
    if rng.random() < 0.15:
        members[at] = (rng.choice(["../../in0.npy", "/in0.npy", "in0", "in0.npy\x00", "in" + "9" * 300 + ".npy"]), content)
    else:
        members[at] = (name, mutate_array(rng, content))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return written.getvalue()


def mutate_artifact(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Flip bits, put in a piece from elsewhere, or cut off."""
    changed = bytearray(data)
    kind = rng.randrange(5)
    if kind == 0:
        for _ in range(rng.choice([1, 1, 1, 8])):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    elif kind == 1:  # headers and the seal's end: what is read before anything is compared
        at = rng.choice([rng.randrange(64), len(data) - 1 - rng.randrange(64)])
        at = min(max(at, 0), len(data) - 1)  # files of checkpoints may be shorter
        changed[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    elif kind == 2:
        length = rng.choice([1, 8, 64, 4096])
        start, at = rng.randrange(len(other)), rng.randrange(len(data))
        changed[at : at + length] = other[start : start + length]
    elif kind == 3:
        return data[: rng.randrange(len(data))]
    else:
        size = rng.randrange(len(data))
        return data[:size] + other[size:] if rng.random() < 0.5 else data + bytes(rng.randrange(256) for _ in range(rng.choice([1, 40, 5000])))
    return bytes(changed)


def mutate_option(rng: random.Random, option: str, others: list[str]) -> str:
    """Change the value of ``option``, or its name, or take one of ``others``. What would be an endless run by right is not asked for."""
    name, is_said, value = option.partition("=")
    kind = rng.randrange(7)
    if kind == 0:
        return rng.choice(others)
    if kind == 1:
        return name if is_said else f"{name}={rng.choice(['0', '', 'x', '-1', 'true'])}"
    if kind == 2:
        return f"{rng.choice(others).partition('=')[0]}={value}"
    if kind == 3:
        at = rng.randrange(len(value) + 1)
        value = value[:at] + rng.choice([",", ":", "=", "0", "-", "x", "?", "@", ".", ";", " ", "\u00e9", "=" * 300]) + value[at + rng.randrange(2) :]
    elif kind == 4:
        value = value[: rng.randrange(len(value) + 1)]
    else:
        numbers = list(re.finditer(r"\d+", value))
        extreme = rng.choice(NUMBERS).decode()
        if name in ("--repeat", "--steps", "--balance", "--restarts", "--timeout"):
            extreme = rng.choice(["0", "-1", "1", "2", "?", "99999999999999999999999"])
        if not numbers:
            value = extreme
        else:
            number = rng.choice(numbers)
            value = value[: number.start()] + extreme + value[number.end() :]
    return f"{name}={value}"

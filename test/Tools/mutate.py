"""Feed damaged programs and arrays to the tools: they must refuse them, never crash or hang.

    mutate.py --count=N [--seed=S] [--shard-run PATH] [--corpus DIR] [--jobs N] [--results FILE [--again]]
              [--sandbox]

A quarter of the N mutants are programs (.mlir: bytes, numbers, tokens and lines of one program changed, taken away, doubled
or taken from another, endless when written out), a quarter bytecode, portable artifacts too (bytes, lengths and whole pieces changed, cut off or
taken from another), a quarter archives (.npz: bytes of the zip and of the .npy headers, truncated, lengths that lie, bombs),
a fifth artifacts (.so: bits, pieces from elsewhere, lengths), the rest checkpoints (one file of them damaged, at times with a
digest that holds). Most go to shard-run, some to the shard-opt and
shard-translate beside it; artifacts with and without --trust. With --results each is a line of FILE when it is over, and one
that was stopped goes on where it was. Each runs under limits of 60 s and 3 GiB of
address space. Asserted: an exit code that docs/Reference/shard-run.md lists, a diagnostic on stderr where it is not 0, no
signal. With --sandbox the tools run confined, and none may try what is forbidden. A mutant that breaks this is kept in --save.
Ends with how many of each were taken and 'N passed, N failed'.
"""

import argparse
import collections
import hashlib
import io
import json
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "Execution" / "corpus" / "Inputs"
PORTABLE = Path(__file__).parents[1] / "Dialect" / "Vhlo" / "Inputs"
COUNTER = Path(__file__).parent / "shard-run" / "Inputs" / "counter.mlir"
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 77}
SECONDS, WAIT = 60, 900
"""Of a core, where what is read may take four; and by the clock: a busy machine fails no mutant, but what waits for nothing ends too."""
MEMORY = 3 << 30
LARGEST = 40_000
"""Bytes of the largest program taken: parsing and compiling it must not take most of the time."""

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


def mutate_archive(rng: random.Random, data: bytes) -> bytes:
    """Change the zip, or one member's .npy header or length."""
    if rng.random() < 0.04:
        return bomb(rng, "in0.npy")
    if rng.random() < 0.5:
        changed = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            # Most of a zip's structure stands at its end.
            at = rng.randrange(len(changed)) if rng.random() < 0.4 else max(0, len(changed) - 1 - rng.randrange(400))
            changed[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        return bytes(changed) if rng.random() < 0.7 else bytes(changed[: rng.randrange(len(changed))])
    members = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [[name, archive.read(name)] for name in archive.namelist()]
    member = rng.choice(members)
    name, content = member
    kind = rng.randrange(7)
    header_end = 10 + int.from_bytes(content[8:10], "little")
    header = content[10:header_end]
    if kind == 0:
        at = rng.randrange(min(len(content), 140))
        content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    elif kind == 1:
        content = content[: rng.randrange(len(content))]
    elif kind == 2:
        shape = rng.choice([b"(9223372036854775807, 2)", b"(-1,)", b"()", b"(0,)", b"(" + b"2, " * 40 + b")", b"(1e3,)", b"(4294967296, 4294967296)"])
        header = re.sub(rb"\([^)]*\)", shape, header)
        content = content[:8] + len(header).to_bytes(2, "little") + header + content[header_end:]
    elif kind == 3:
        header = re.sub(rb"'[<>|=]\w+'", rng.choice([b"'|O'", b"'<f3'", b"'>f4'", b"'<U8'", b"'|V99999999999'", b"''"]), header)
        content = content[:8] + len(header).to_bytes(2, "little") + header + content[header_end:]
    elif kind == 4:
        content = content[:8] + rng.randrange(65536).to_bytes(2, "little") + content[10:]
    elif kind == 5:
        name = rng.choice(["../../in0.npy", "/in0.npy", "in0", "in0.npy\x00", name, "in" + "9" * 300 + ".npy"])
    else:
        header = header.replace(b"False", rng.choice([b"True", b"None", b"[" * 5000, b"__import__('os')"]))
        content = content[:8] + (len(header) & 0xFFFF).to_bytes(2, "little") + header + content[header_end:]
    member[0], member[1] = name, content
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return written.getvalue()


def mutate_artifact(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Turn bits, put in a piece from elsewhere, or cut off."""
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


def step_counter(tool: str, folder: Path, steps: int, *more: str) -> list[str]:
    """A run that keeps its state in ``folder``."""
    return [tool, str(COUNTER), "--carry=0-2:0-2", "--step-number=step", f"--steps={steps}", f"--checkpoint={folder}/saved", *more]


def damage_checkpoint(rng: random.Random, folder: Path, files: dict[str, bytes], tool: str) -> tuple[Path, list[str]]:
    """A checkpoint of which one file is damaged, or its digest as well, and the run that goes on from there."""
    name = rng.choice([name for name in files if files[name]])
    for other, content in files.items():
        path = folder / other
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    damaged = folder / name
    data = files[name]
    mutate = mutate_program if name.endswith(".json") else mutate_artifact
    data = mutate(rng, data, rng.choice(list(files.values())) or data)
    damaged.write_bytes(data)
    index = damaged.parent / "index.sha256"
    if name.endswith(".json") and rng.random() < 0.7:  # what follows is read, since the digest holds
        index.write_text(re.sub(r"[0-9a-f]{64}(?=  index.json)", hashlib.sha256(data).hexdigest(), files[str(index.relative_to(folder))].decode()))
    kept = folder / "mutant.checkpoint"
    kept.write_bytes(name.encode() + b"\n" + data)
    return kept, step_counter(tool, folder, 3, "--resume", "--timeout=15000")


def limit() -> None:
    """Run in the child: what a mutant may take."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(command: list[str]) -> tuple[int | None, str]:
    """The exit code, and what went wrong, if anything did."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=WAIT, check=False, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, f"no end within {WAIT} s"
    if done.returncode == -signal.SIGKILL:
        return None, f"no end within {SECONDS} s of a core"
    if done.returncode == -signal.SIGINT:
        raise KeyboardInterrupt  # of the campaign: this mutant is run again
    said = done.stderr.decode(errors="replace").strip()
    if "sandbox:" in said:
        return done.returncode, f"a forbidden call: {said[-600:]}"
    if done.returncode not in DOCUMENTED:
        return done.returncode, f"exit code {done.returncode}: {said[-600:]}"
    if done.returncode != 0 and "error" not in said:
        return done.returncode, f"exit code {done.returncode} without a diagnostic: {said[-600:]}"
    return done.returncode, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--save", type=Path, default=Path("mutant-failures"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true", help="forget what was run before")
    parser.add_argument("--sandbox", action="store_true", help="confine the tools; a forbidden call is a failure")
    options = parser.parse_args()
    programs = [path for path in sorted(options.corpus.glob("*.mlir")) if path.stat().st_size < LARGEST]
    archives = [path for path in programs if path.with_suffix(".npz").exists()]
    tools = Path(shutil.which(options.shard_run) or options.shard_run).parent
    def emit_bytecode(path: Path) -> bytes:
        command = [str(tools / "shard-opt"), str(path), "--emit-bytecode", "-o", "-"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    bytecode = {path: emit_bytecode(path) for path in programs[:: max(1, len(programs) // 24)]}
    bytecode |= {path: path.read_bytes() for path in sorted(PORTABLE.glob("*.mlirbc"))}

    def make_artifact(path: Path) -> bytes:
        with tempfile.TemporaryDirectory() as directory:
            made = Path(directory) / "program.so"
            subprocess.run([str(tools / "shard-translate"), str(path), "-o", str(made)], capture_output=True, check=True)
            return made.read_bytes()

    artifacts = {path: make_artifact(path) for path in sorted(programs, key=lambda path: path.stat().st_size)[:8]}
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(step_counter(options.shard_run, Path(directory), 2, "--save-every=2"), capture_output=True, check=True)
        checkpoint = {str(file.relative_to(directory)): file.read_bytes() for file in Path(directory).rglob("*") if file.is_file()}
    known: dict[int, dict[str, object]] = {}
    if options.results and options.again:
        options.results.unlink(missing_ok=True)
    if options.results and options.results.exists():
        for line in options.results.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off when the campaign was stopped
            if entry["seed"] == options.seed:
                known[entry["number"]] = entry

    def attempt(number: int) -> None:
        rng = random.Random(options.seed * 1_000_003 + number)
        with tempfile.TemporaryDirectory() as directory:
            if number % 20 == 19:
                mutant, command = damage_checkpoint(rng, Path(directory), checkpoint, options.shard_run)
                path = COUNTER
            elif number % 4 == 3:
                path = rng.choice(list(artifacts))
                mutant = Path(directory) / "mutant.so"
                mutant.write_bytes(mutate_artifact(rng, artifacts[path], rng.choice(list(artifacts.values()))))
                command = rng.choice(
                    [[options.shard_run, str(mutant), "--seed=1", "--timeout=15000", *trust] for trust in ([], ["--trust"])]
                    + [[str(tools / "shard-translate"), str(mutant), "--emit=header", "-o", "-"]]
                )
            elif number % 4 == 2:
                path = rng.choice(archives)
                mutant = Path(directory) / "mutant.npz"
                mutant.write_bytes(mutate_archive(rng, path.with_suffix(".npz").read_bytes()))
                command = [options.shard_run, str(path), f"--inputs=@{mutant}", "--timeout=15000"]
            else:
                if number % 4 == 0:
                    path = rng.choice(programs)
                    mutant = Path(directory) / "mutant.mlir"
                    mutant.write_bytes(mutate_program(rng, path.read_bytes(), rng.choice(programs).read_bytes()))
                else:
                    path = rng.choice(list(bytecode))
                    mutant = Path(directory) / "mutant.mlirbc"
                    mutant.write_bytes(mutate_bytecode(rng, bytecode[path], rng.choice(list(bytecode.values()))))
                command = rng.choice(
                    [[options.shard_run, str(mutant), "--seed=1", "--timeout=15000"]] * 4
                    + [[str(tools / "shard-opt"), str(mutant), "-o", "/dev/null"]]
                    + [[str(tools / "shard-translate"), str(mutant), "--emit=header", "-o", "-"]]
                )
            code, problem = run([*command, "--sandbox"] if options.sandbox else command)
            if problem:
                options.save.mkdir(parents=True, exist_ok=True)
                kept = options.save / f"{path.stem}-{options.seed}-{number}{mutant.suffix}"
                kept.write_bytes(mutant.read_bytes())
                problem = f"mutant {number} of {path.name}, kept as {kept}: {problem}"
                print(problem, flush=True)
        known[number] = {"seed": options.seed, "number": number, "kind": mutant.suffix, "code": code, "problem": problem}
        if options.results:
            with options.results.open("a") as results:
                results.write(json.dumps(known[number]) + "\n")

    numbers = range(options.first, options.first + options.count)
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            list(pool.map(attempt, [number for number in numbers if number not in known]))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            return 130
    entries = [known[number] for number in numbers]
    for kind in (".mlir", ".mlirbc", ".npz", ".so", ".checkpoint"):
        counts = collections.Counter(str(entry["code"]) for entry in entries if entry["kind"] == kind)
        print(f"{counts.total()} {kind}: " + ", ".join(f"exit code {code}: {counts[code]}" for code in sorted(counts)))
    problems = [entry for entry in entries if entry["problem"]]
    if options.sandbox:
        print(f"{sum('a forbidden call' in entry['problem'] for entry in problems)} forbidden calls in {options.count} runs")
    print(f"{options.count - len(problems)} passed, {len(problems)} failed")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

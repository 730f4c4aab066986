"""Programs of one op that is not as its verifier wants it: refused with a diagnostic, never a crash.

    malformed.py --tools DIRECTORY [--count N] [--first N] [--seed S] [--jobs N] [--programs N] [--save DIRECTORY] [--only NAME]

Ops are those of shard-fuzz's random programs and of test/Dialect/StableHLO. Each becomes a function of its operands, whose first is
cut; then one to three of these happen: a type of operands or results, of one or of all that have it, gets other dims (fewer, more,
0, 1, open, large) or other elements; a number of an attribute, an entry of a list, an operand, a result, an attribute goes or
changes. shard-opt reads and verifies it, shard-translate compiles what shard-opt lets through. Codes are those of docs: 0, 1, 9, 77.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

TEXTS = Path(__file__).resolve().parents[1] / "Dialect" / "StableHLO"
ELEMENTS = ["f32", "f64", "bf16", "f16", "i32", "i64", "ui8", "i8", "i1", "complex<f32>", "f8E4M3FN", "ui64", "i4"]
NUMBERS = [-9, -2, -1, 0, 1, 2, 3, 4, 5, 7, 63, 1 << 20, (1 << 62) + 1, (1 << 63) - 1, -(1 << 63)]
DOCUMENTED = {0, 1, 9, 77}
START = re.compile(r'^\s*(?:(%[\w#:, %]+?) = )?"(stablehlo\.[\w-]+|chlo\.[\w-]+)"\(([^()]*)\)(.*)$')
TYPES = re.compile(r"^(.*) : \(([^()]*)\) -> (\(.*\)|[^()]*?)\s*$", re.DOTALL)


@dataclass
class Op:
    name: str
    rest: str
    """Attributes and regions."""
    operands: list[str]
    results: list[str] = field(default_factory=list)

    def text(self) -> str:
        arguments = []
        for number, kind in enumerate(self.operands):
            dims = dims_of(kind)
            cut = f' {{sdy.sharding = #sdy.sharding<@mesh, [{", ".join(["{" + chr(34) + "x" + chr(34) + "}"] + ["{}"] * (len(dims) - 1))}]>}}' if number == 0 and dims else ""
            arguments.append(f"%a{number}: {kind}{cut}")
        names = ", ".join(f"%a{number}" for number in range(len(self.operands)))
        count = len(self.results)
        made = f"%r:{count} = " if count else ""
        returned = ", ".join(f"%r#{number}" for number in range(count))
        results = ", ".join(self.results)
        back = f"return {returned} : {results}" if count else "return"
        return (
            f'sdy.mesh @mesh = <["x"=2]>\nfunc.func public @main({", ".join(arguments)}) -> ({results}) {{\n'
            f'  {made}"{self.name}"({names}){self.rest} : ({", ".join(self.operands)}) -> ({results})\n  {back}\n}}\n'
        )


def split_types(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for letter in text.strip():
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() else parts


def dims_of(kind: str) -> list[str]:
    found = re.match(r"tensor<((?:[\d?]+x)*)", kind)
    return [dim for dim in found[1].split("x") if dim] if found else []


def ops_of(generic: str) -> list[Op]:
    """All ops of a module that is printed in generic form, those within others' regions left out."""
    ops, lines = [], generic.splitlines()
    at = 0
    while at < len(lines):
        found = START.match(lines[at])
        text = found[4] if found else ""
        at += 1
        if not found:
            continue
        depth = text.count("({") - text.count("})")
        while depth > 0 and at < len(lines):
            text += "\n" + lines[at]
            depth += lines[at].count("({") - lines[at].count("})")
            at += 1
        typed = TYPES.match(text)
        if not typed:
            continue
        results = typed[3].strip()
        results = results[1:-1] if results.startswith("(") else results
        ops.append(Op(found[2], typed[1], split_types(typed[2]), split_types(results)))
    return ops


def other_type(kind: str, rng: random.Random) -> str:
    found = re.match(r"tensor<((?:[\d?]+x)*)([^,]*)(.*)>$", kind)
    if not found:
        return kind
    dims, element, encoding = dims_of(kind), found[2], found[3]
    way = rng.randrange(8)
    if way == 0 and dims:
        dims.pop(rng.randrange(len(dims)))
    elif way == 1:
        dims.insert(rng.randrange(len(dims) + 1), str(rng.choice([0, 1, 2, 3])))
    elif way == 2:
        element = rng.choice(ELEMENTS)
    elif way == 3 and len(dims) > 1:
        rng.shuffle(dims)
    elif dims:
        place = rng.randrange(len(dims))
        size = 4 if dims[place] == "?" else int(dims[place])
        dims[place] = rng.choice(["0", "1", "?", str(size + 1), str(max(0, size - 1)), str(2 * size), "1073741824"])
    return f"tensor<{''.join(dim + 'x' for dim in dims)}{element}{encoding}>"


def change_number(text: str, rng: random.Random) -> str:
    """One number of an attribute, or an entry of a list more or less."""
    places = [found for found in re.finditer(r"(?<![\w.#%])-?\d+(?![\w.])", text)]
    if not places:
        return text
    found = rng.choice(places)
    way = rng.randrange(4)
    if way == 0 and (more := re.search(rf", {re.escape(found[0])}(?![\w.])", text)):
        return text[: more.start()] + text[more.end() :]
    number = found[0] if way == 1 else str(rng.choice(NUMBERS))
    return text[: found.start()] + (f"{found[0]}, {number}" if way in (0, 1) else number) + text[found.end() :]


def mutate(op: Op, rng: random.Random) -> Op:
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        way = rng.randrange(10)
        operands, results, rest = list(op.operands), list(op.results), op.rest
        kinds = operands + results
        if way < 4 and kinds:
            old = rng.choice(kinds)
            new = other_type(old, rng)
            if way < 2:
                operands = [new if kind == old else kind for kind in operands]
                results = [new if kind == old else kind for kind in results]
                rest = rest.replace(f": {old}", f": {new}") if rng.random() < 0.5 else rest
            else:
                place = rng.randrange(len(kinds))
                new = other_type(kinds[place], rng)
                kinds[place] = new
                operands, results = kinds[: len(operands)], kinds[len(operands) :]
        elif way < 8:
            rest = change_number(rest, rng)
        elif way == 8:
            these = operands if rng.random() < 0.6 else results
            if these and rng.random() < 0.5:
                these.pop(rng.randrange(len(these)))
            elif these:
                these.append(rng.choice(these))
        else:
            entries = re.findall(r"\b\w+ = (?:array<[^<>]*>|\d+ : i64|dense<[^<>]*> : tensor<[^<>]*>|true|false)", rest)
            if entries:
                rest = re.sub(rf"{re.escape(rng.choice(entries))}(?:, )?", "", rest, count=1).replace(", }", "}")
        op = replace(op, operands=operands, results=results, rest=rest)
    return op


def seeds(tools: Path, programs: int) -> list[Op]:
    fuzz = subprocess.run([tools / "shard-fuzz", "--print", f"--count={programs}", "--seed=16"], capture_output=True, text=True, check=True)
    texts = re.split(r"(?m)^(?=sdy\.mesh|module)", fuzz.stdout)
    texts += [part for path in sorted(TEXTS.glob("*ops.mlir")) for part in [path.read_text()]]
    found: dict[str, list[Op]] = {}
    with ThreadPoolExecutor(2) as pool:
        generic = pool.map(lambda text: subprocess.run([tools / "shard-opt", "--mlir-print-op-generic"], input=text, capture_output=True, text=True, check=False).stdout, texts)
        for text in generic:
            for op in ops_of(text):
                of = found.setdefault(op.name, [])
                if len(of) < 12 and op not in of:
                    of.append(op)
    return [op for of in found.values() for op in of]


def run(command: list[str | Path], text: str, seconds: float = 60) -> tuple[int, str]:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return -1000, "did not end"
    return done.returncode, done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--programs", type=int, default=400, help="random programs whose ops are taken")
    parser.add_argument("--save", type=Path, help="for programs that fail")
    parser.add_argument("--only", default="", help="ops whose names have this text")
    options = parser.parse_args()
    ops = [op for op in seeds(options.tools, options.programs) if options.only in op.name]
    names = sorted({op.name for op in ops})
    counts = {"refused when read": 0, "refused later": 0, "compiled": 0}

    def attempt(number: int) -> str:
        rng = random.Random(f"{options.seed}-{number}")
        name = rng.choice(names)
        text = mutate(rng.choice([op for op in ops if op.name == name]), rng).text()
        with tempfile.TemporaryDirectory() as folder:
            code, error = run([options.tools / "shard-opt", "-o", "/dev/null"], text)
            stage = "shard-opt"
            if code == 0:
                stage = "shard-translate"
                code, error = run([options.tools / "shard-translate", "--quick", "-", "-o", f"{folder}/program.so"], text)
        counts["compiled" if code == 0 else "refused when read" if stage == "shard-opt" else "refused later"] += 1
        problem = ""
        if code not in DOCUMENTED:
            problem = f"code {code}"
        elif code != 0 and "error: " not in error:
            problem = f"code {code} without a diagnostic"
        if problem and options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            (options.save / f"{options.seed}-{number}.mlir").write_text(text)
        if not problem:
            return ""
        why = next((line for line in error.splitlines() if "Assertion" in line or "UNREACHABLE" in line or "ERROR" in line or "#" in line), error[:200])
        return f"{name} {options.seed}-{number}: {stage}: {problem}: {why[:300]}"

    failed = done = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for problem in pool.map(attempt, range(options.first, options.first + options.count)):
                done += 1
                if problem:
                    failed += 1
                    print(f"FAILED {problem}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    print(f"{len(names)} ops, {done} programs: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    print(f"{done - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

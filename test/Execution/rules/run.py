"""Run small programs of one op, cut in every dim, and compare with the whole.

    run.py FAMILY... [--case NAME] [--sample] [--shard-run PATH] [--jobs N]

Each case of test/Inputs/rule-cases.mlir runs on three ranks (two for grouped convolutions): each dim of each argument
and result is sharded in turn, arguments in balanced shards, in uneven ones, and with an empty shard; then two dims
over a mesh of two axes. With --sample each dim in one of these, and each kind of shards for one dim, without LLVM's optimisations. What the
interpreter makes of the unsharded program, or, where it does not know an op, the program on one rank, is what
is expected. Exits 1 if a run is not equal; an op for which no code can be generated yet is counted, not a failure.
"""

import argparse
import itertools
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Inputs"))
from fork_server import Limits, Tool
from samples import cover

CASES = Path(__file__).parents[2] / "Inputs" / "rule-cases.mlir"
MAX_PAIRS = 5  # of dims over two axes, per case
UNSUPPORTED = "unsupported"
LIMITS = Limits(seconds=120, wait=120, memory=64 << 30)
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+(?:<\w+>)?)>")


def read_cases(family: str) -> list[tuple[str, str]]:
    """Names and texts of the cases of ``family``."""
    found: list[tuple[str, str]] = []
    current = ""
    for line in CASES.read_text().splitlines():
        if line.startswith("// FAMILY "):
            current = line.split()[2]
        elif current != family:
            continue
        elif line.startswith("// CASE "):
            found.append((line.split()[2], ""))
        elif not line.startswith("//") and found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


class Program:
    """One case: its text, and where its arguments and results stand in the signature."""

    def __init__(self, text: str) -> None:
        self.text = text
        head = text.splitlines()[0]
        arguments, results = head[head.index("(") : head.rindex("{")].split(") -> ")
        self.spans = []  # (is an argument, number, type, start in text, end)
        for is_argument, part, start in ((True, arguments, head.index("(")), (False, results, head.rindex(") -> ") + 5)):
            for number, match in enumerate(TENSOR.finditer(part)):
                self.spans.append((is_argument, number, match.group(0), start + match.start(), start + match.end()))
        # One result stands without parentheses, where an attribute may not.
        self.bare_result = not results.strip().startswith("(")

    def shape(self, span: int) -> list[int]:
        match = TENSOR.fullmatch(self.spans[span][2])
        assert match
        return [int(size) for size in match.group(1).split("x") if size]

    def sharded(self, mesh: str, cuts: dict[int, dict[int, str]]) -> str:
        """The program on ``mesh``, dims of some spans cut over axes: ``cuts[span][dim] = axis``."""
        text = self.text
        for i in reversed(range(len(self.spans))):
            is_argument, _, _, start, end = self.spans[i]
            attribute = ""
            if i in cuts:
                dims = ", ".join(f'{{"{cuts[i][d]}"}}' if d in cuts[i] else "{?}" for d in range(len(self.shape(i))))
                attribute = f" {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
            kind = text[start:end] + attribute
            if not is_argument and self.bare_result:
                kind = f"({kind})"
            text = text[:start] + kind + text[end:]
        return f"sdy.mesh @mesh = <[{mesh}]>\n{text}"

    def inputs(self) -> list[str]:
        """Options that give small values to all arguments, or a seed where nothing is an index."""
        arguments = [span for span in self.spans if span[0]]
        if not any(kind.endswith("i32>") and "ui32" not in kind for _, _, kind, _, _ in arguments):
            return ["--seed=1"]
        options = []
        for _, number, kind, _, _ in arguments:
            shape, element = TENSOR.fullmatch(kind).groups()
            count = 1
            for size in shape.split("x")[:-1]:
                count *= int(size)
            low, high = (-2, 7) if element == "i32" else (0, 2) if element == "i1" else (-9, 10)
            values = [low + (7 * i + 3 * number + i * i) % (high - low) for i in range(count)]
            options.append(f"--input={shape}{element}={','.join(map(str, values))}")
        return options


def uneven(size: int, shards: int, empty: bool) -> str:
    """Sizes of shards, growing, or with the first one empty."""
    first = 0 if empty else max(size // (2 * shards), 0)
    sizes = [first] + [0] * (shards - 1)
    for i in range(size - first):
        sizes[1 + (i * i + i) % (shards - 1 or 1)] += 1
    return ",".join(map(str, sizes))


def variants(program: Program, shards: int, case: str | None = None) -> list[tuple[str, str, list[str]]]:
    """What each run is called, its text, and its options; a sample of these for ``case``."""
    runs = []
    kinds: dict[str, set] = {}
    inputs = program.inputs()
    dims = [(i, d) for i in range(len(program.spans)) for d, size in enumerate(program.shape(i)) if size > 1]
    for i, d in dims:
        is_argument, number, _kind, _, _ = program.spans[i]
        text = program.sharded(f'"x"={shards}', {i: {d: "x"}})
        name = f"{'argument' if is_argument else 'result'} {number} dim {d}"
        runs.append((name, text, inputs))
        kinds[name] = {(i, d), "balanced"}
        if is_argument:
            for kind in ("uneven", "empty"):
                sizes = uneven(program.shape(i)[d], shards, kind == "empty")
                runs.append((f"{name} in {sizes}", text, [*inputs, f"--sizes={number}:{d}={sizes}"]))
                kinds[runs[-1][0]] = {(i, d), kind}
    pairs = [
        (first, second)
        for first, second in itertools.combinations(dims, 2)
        if program.spans[first[0]][0] == program.spans[second[0]][0]
    ]
    for (i, d), (j, e) in pairs[:: 1 + len(pairs) // MAX_PAIRS]:
        cuts: dict[int, dict[int, str]] = {i: {d: "x"}}
        cuts.setdefault(j, {})[e] = "y"
        name = f"{program.spans[i][1]}:{d} over x, {program.spans[j][1]}:{e} over y"
        runs.append((name, program.sharded('"x"=2, "y"=2', cuts), inputs))
        kinds[name] = {"two axes"}
    if case is None:
        return runs
    kept = set(cover({f"{case} {name}": kinds[name] for name, _, _ in runs}))
    return [run for run in runs if f"{case} {run[0]}" in kept]


def unsharded(shard_run: Tool, program: Program, folder: Path) -> Path:
    """A file of what ``program`` computes: by the interpreter, by one rank where that does not know an op; none if neither does."""
    text, results = folder / "unsharded.mlir", folder / "expected.npz"
    text.write_text(program.text)
    for how in (["--interpret"], []):
        if shard_run.run([str(text), *how, f"--outputs=@{results}", *program.inputs()], LIMITS).code == 0:
            break
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="+", metavar="FAMILY")
    parser.add_argument("--case", help="only this one")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    def run(job: tuple[str, str, list[str], Path]) -> str:
        """Nothing, or what went wrong."""
        _, text, arguments, expected = job
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            quick = ["--quick"] if options.sample else []
            done = shard_run.run([file.name, *quick, f"--expect=@{expected}", "--rtol=0.001", "--timeout=10000", *arguments], LIMITS)
        if done.code == 0:
            return ""
        if "has no lowering" in done.said:
            return UNSUPPORTED
        return f"exit code {done.code}: {done.said.strip()}"

    scratch = tempfile.TemporaryDirectory()
    shard_run = Tool(options.shard_run, Path(scratch.name))
    jobs = []
    for family in options.families:
        for number, (name, text) in enumerate(read_cases(family)):
            if options.case not in (None, name):
                continue
            shards = 2 if "group_count = 4" in text else 3
            program, folder = Program(text), Path(scratch.name) / f"{family}-{number}"
            folder.mkdir()
            expected = unsharded(shard_run, program, folder)
            jobs += [(f"{name}: {what}", cut, extra, expected)
                     for what, cut, extra in variants(program, shards, f"{family} {name}" if options.sample else None)]
    if not jobs:
        sys.exit(f"no case {options.case or ''} in {', '.join(options.families)}")
    with ThreadPoolExecutor(options.jobs) as pool:
        problems = list(pool.map(run, jobs))
    shard_run.close()
    for (name, text, arguments, _), problem in zip(jobs, problems, strict=True):
        if problem and problem != UNSUPPORTED:
            print(f"{name}\n{text}\n{' '.join(arguments)}\n{problem}\n")
    unsupported = problems.count(UNSUPPORTED)
    failures = sum(map(bool, problems)) - unsupported
    print(f"{', '.join(options.families)}: {len(jobs)} runs, {failures} not equal, {unsupported} of ops without code")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

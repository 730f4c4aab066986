"""Feed damaged programs, arrays, artifacts, checkpoints, figures and command lines to the tools: they must refuse them, never crash or hang.

    mutate.py --count=N [--seed=S] [--shard-run PATH] [--corpus DIR] [--jobs N] [--results FILE [--again]]
              [--sandbox] [--kinds=NAME,...] [--first=I] [--control=N]

Of twenty mutants

    text 3        programs: bytes, numbers, tokens and lines changed, taken away, doubled or taken from another, endless when written out
    swaps 5       programs that mostly still parse: types, sizes, operands, ops, attributes, shardings, regions exchanged (swaps.py)
    passes 2      the same with the programs of the tests of passes: what one stage leaves for another
    bytecode 3    bytes, lengths and whole pieces changed, cut off or taken from another; portable artifacts too
    archive 2     .npz and .npy: bytes of the zip and of headers, lengths that lie, bombs
    artifact 2    .so: bits, pieces from elsewhere, lengths
    checkpoint 1  one file of it damaged, at times with a digest that holds (none of these with --sandbox, which has no checkpoints)
    machine 1     the figures of a machine, as JSON
    options 1     command lines of the tests: values, names, numbers changed

The programs are the corpus and those that the tests give to shard-run. Most mutants go to shard-run, some with options, the
others to shard-opt, alone or with all stages, and to shard-translate; those of passes to shard-opt with the test's passes.

A tool is started once and forked before main for each mutant (forkserver.c); every --control'th mutant is given to the tool
itself as well, and both must say the same. Every 16th program is compiled once more to see which stage refuses it. With
--results each mutant is a line of FILE when it is over, and a campaign that was stopped goes on where it was. With --kinds
mutants are numbered anew.

Asserted: an exit code that docs/Reference/shard-run.md lists, a diagnostic on stderr where it is not 0, no signal, no more
than 5 s of a core and 1 GiB of memory, but where the program that was compiled takes them; what has a digest is never taken
damaged. With --sandbox the tools run confined, and none may try what is forbidden. A mutant that breaks this is kept in --save,
with its command line. Ends with how many of each kind there were, the stages that refused programs, and 'N passed, N failed'.
"""

import argparse
import collections
import hashlib
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Inputs"))
from fork_server import Ended, ForkServer, Limits, build_library, run_tool
from mutations import mutate_archive, mutate_array, mutate_artifact, mutate_bytecode, mutate_option, mutate_program
from swaps import Program, Swaps

TESTS = Path(__file__).parents[1]
CORPUS = TESTS / "Execution" / "corpus" / "Inputs"
PORTABLE = TESTS / "Dialect" / "Vhlo" / "Inputs"
COUNTER = Path(__file__).parent / "shard-run" / "Inputs" / "counter.mlir"
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 77}
LIMITS = Limits(seconds=6, wait=180, memory=3 << 30)
"""Of a core, where what is read may take four; and by the clock: a busy machine fails no mutant, but what waits for nothing ends too."""
MOST_MS, MOST_KIB = 5000, 1 << 20
LARGEST = 40_000
"""Bytes of the largest program taken: parsing and compiling it must not take most of the time."""
KINDS = ["text"] * 3 + ["swaps"] * 5 + ["passes"] * 2 + ["bytecode"] * 3 + ["archive"] * 2 + ["artifact"] * 2 + ["checkpoint", "machine", "options"]
PROGRAMS = ("text", "swaps", "bytecode")
TIMEOUT = "--timeout=15000"

STAGES = {
    "spmd-convert-foreign-shardings": "import",
    "spmd-sink-masks": "raise",
    "spmd-propagate-shardings": "propagate",
    "spmd-partition-to-local": "partition",
    "spmd-combine-exchanges": "communicate",
    "spmd-lower-communication": "lower",
}
"""The first pass of each stage."""
PIPELINE = ["--shardc-pipeline"]
OF_TESTS = ("--split-input-file", "--verify-diagnostics", "--verify-diagnostics=only-expected")
RUNS: list[list[str]] = [[]] * 6 + [["--ranks=3"], ["--mesh=x=5"], ["--dynamic=all"], ["--interpret"], ["--reproducible"], ["--no-raise"], ["--verify-partition"],
                   ["--fit-memory", "--memory-limit=100000"], ["--threads=2"]]
MACHINE = b"""{
  "preset": "generic", "flops": "80 GFLOP/s", "memory_bandwidth": "20 GB/s", "cache": "1 MiB", "shared_cache": 4194304,
  "fork": "10 us", "multiprocessors": 128, "link": {"bandwidth": "10 GB/s", "latency": "2 us"},
  "axes": {"x": {"bandwidth": "1 GB/s", "latency": "50 us"}}
}
"""


@dataclass
class Case:
    """A damaged file, those beside it, and the run that reads them. Paths are those of the directory that it runs in."""

    base: str
    mutant: str
    files: dict[str, bytes]
    tool: str
    arguments: list[str] = field(default_factory=list)
    isRefused: bool = False
    """Whether it must not end with code 0: a digest says that it is damaged."""

    def write(self, directory: Path) -> None:
        for name, content in self.files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)


def without_comments(text: bytes) -> bytes:
    """The text of a test without what it checks."""
    return b"\n".join(line for line in text.split(b"\n") if not line.lstrip().startswith(b"//") or line.startswith(b"// ----"))


def step_counter(folder: str, steps: int, *more: str) -> list[str]:
    """Options of a run that keeps its state in ``folder``."""
    return ["--carry=0-2:0-2", "--step-number=step", f"--steps={steps}", f"--checkpoint={folder}/saved", *more]


class Campaign:
    """What mutants are made of. Every mutant follows from its number and the seed."""

    def __init__(self, tools: Path, corpus: Path, seed: int, sandbox: bool) -> None:
        self.tools, self.seed, self.sandbox = tools, seed, sandbox
        self.corpus = [path for path in sorted(corpus.glob("*.mlir")) if path.stat().st_size < LARGEST]
        self.archives = [path for path in self.corpus if path.with_suffix(".npz").exists()]
        self.command_lines: list[tuple[Path, list[str]]] = []
        self.passes: list[tuple[Path, list[str], Program]] = []
        texts = {path: path.read_bytes() for path in self.corpus}
        for path in sorted(TESTS.rglob("*.mlir")):
            text = path.read_bytes()
            lines = re.findall(rb"RUN: shard-run %s([^|>&<\n]*)", text) if len(text) < LARGEST else []
            if lines:
                texts[path] = without_comments(text)
            if asked := re.search(rb"RUN: shard-opt %s([^|>&<%\n]*)", text):
                passes = [word for word in shlex.split(asked.group(1).decode().rstrip("\\")) if word.startswith("--") and word not in OF_TESTS]
                parts = [without_comments(part) for part in re.split(rb"^// -----.*\n", text, flags=re.MULTILINE) if len(part) < LARGEST // 2]
                self.passes += [(path, passes, Program(part)) for part in parts if part.strip()]
            for line in lines:
                if not re.search(rb"[%'\"/]", line):
                    self.command_lines.append((path, line.decode().split()))
        self.programs = {path: Program(text) for path, text in texts.items()}
        self.paths = list(texts)
        self.swaps = Swaps(list(texts.values()))
        self.swaps_of_passes = Swaps([part.text for _, _, part in self.passes])
        self.options = sorted({option for _, options in self.command_lines for option in options})
        self.small = sorted(self.archives, key=lambda path: path.stat().st_size)[:12]
        self.portable = sorted(PORTABLE.glob("*.mlirbc"))
        self.made: dict[tuple[Path, str], bytes] = {}
        self.lock = threading.Lock()
        with tempfile.TemporaryDirectory() as directory:
            command = [str(tools / "shard-run"), str(COUNTER), *step_counter(directory, 2, "--save-every=2")]
            subprocess.run(command, capture_output=True, check=True)
            self.checkpoint = {str(file.relative_to(directory)): file.read_bytes() for file in Path(directory).rglob("*") if file.is_file()}

    def make(self, path: Path, suffix: str) -> bytes:
        """The program as bytecode or as an artifact, made when it is first asked for; empty where it cannot be."""
        with self.lock:
            if (path, suffix) not in self.made:
                with tempfile.TemporaryDirectory() as directory:
                    made = Path(directory) / f"program{suffix}"
                    source = Path(directory) / "program.mlir"
                    source.write_bytes(path.read_bytes())
                    tool = ["shard-opt", "--emit-bytecode"] if suffix == ".mlirbc" else ["shard-translate"]
                    subprocess.run([str(self.tools / tool[0]), str(source), *tool[1:], "-o", str(made)], capture_output=True, check=False)
                    self.made[path, suffix] = made.read_bytes() if made.exists() else b""
            return self.made[path, suffix]

    def bytecode(self, rng: random.Random) -> tuple[Path, bytes]:
        """Of every eighth program of the corpus, since it takes a start of a tool, or what is stored."""
        path = rng.choice(self.corpus[::8] + self.portable)
        return path, path.read_bytes() if path in self.portable else self.make(path, ".mlirbc")

    def case(self, number: int, kind: str) -> Case:
        rng = random.Random(self.seed * 1_000_003 + number)
        case: Case = getattr(self, MAKERS.get(kind, kind))(rng)
        if self.sandbox:
            case.arguments.append("--sandbox")
        return case

    def compile(self, rng: random.Random, base: Path, name: str, mutant: bytes) -> Case:
        """A run that reads a program."""
        kind = rng.randrange(10)
        if kind < 6:
            return Case(base.name, name, {name: mutant}, "shard-run", [name, "--seed=1", TIMEOUT, *rng.choice(RUNS)])
        if kind < 8:
            return Case(base.name, name, {name: mutant}, "shard-opt", [name, *rng.choice([[], PIPELINE]), "-o", "/dev/null"])
        emit = rng.choice([["--emit=obj", "-o", "out.o"], ["--emit=obj", "-o", "out.o", "--dynamic=all"], ["--emit=local", "-o", "-"],
                           ["--emit=llvmir", "-o", "-"], ["--target=emulated-cuda", "--emit=llvmir", "-o", "-"]])
        return Case(base.name, name, {name: mutant}, "shard-translate", [name, *emit])

    def text(self, rng: random.Random) -> Case:
        base = rng.choice(self.paths)
        return self.compile(rng, base, "mutant.mlir", mutate_program(rng, self.programs[base].text, self.programs[rng.choice(self.paths)].text))

    def swaps_of(self, rng: random.Random) -> Case:
        base = rng.choice(self.paths)
        return self.compile(rng, base, "mutant.mlir", self.swaps.mutate(rng, self.programs[base]))

    def passes_of(self, rng: random.Random) -> Case:
        base, passes, program = rng.choice(self.passes)
        mutant = self.swaps_of_passes.mutate(rng, program)
        return Case(base.name, "mutant.mlir", {"mutant.mlir": mutant}, "shard-opt", ["mutant.mlir", *passes, "-o", "/dev/null"])

    def bytecode_of(self, rng: random.Random) -> Case:
        base, data = self.bytecode(rng)
        return self.compile(rng, base, "mutant.mlirbc", mutate_bytecode(rng, data, self.bytecode(rng)[1]))

    def archive(self, rng: random.Random) -> Case:
        # An artifact is loaded in a tenth of the time.
        isLoaded = rng.random() < 0.9
        base = rng.choice(self.small if isLoaded else self.archives)
        program = ("program.so", self.make(base, ".so")) if isLoaded else ("program.mlir", base.read_bytes())
        archive = base.with_suffix(".npz").read_bytes()
        case = Case(base.name, "mutant.npz", dict([program]), "shard-run", [program[0], TIMEOUT])
        if rng.random() < 0.3:
            arrays = arrays_of(archive)
            damaged = rng.randrange(len(arrays))
            for i, content in enumerate(arrays):
                name = "mutant.npy" if i == damaged else f"in{i}.npy"
                case.files[name] = mutate_array(rng, content) if i == damaged else content
                case.arguments.append(f"--input=@{name}")
            case.mutant = "mutant.npy"
            return case
        isExpected = rng.random() < 0.2
        case.files["mutant.npz"] = mutate_archive(rng, archive)
        case.arguments.append(f"--{'expect' if isExpected else 'inputs'}=@mutant.npz")
        return case

    def artifact(self, rng: random.Random) -> Case:
        base, other = rng.choice(self.small), rng.choice(self.small)
        whole = self.make(base, ".so")
        mutant = mutate_artifact(rng, whole, self.make(other, ".so"))
        isRefused = mutant not in (whole, self.make(other, ".so"))
        case = Case(base.name, "mutant.so", {"mutant.so": mutant}, "shard-run", ["mutant.so", "--seed=1", TIMEOUT], isRefused)
        kind = rng.randrange(3)
        if kind == 0:
            case.arguments.append("--trust")
        elif kind == 1:
            case.tool, case.arguments = "shard-translate", ["mutant.so", "--emit=header", "-o", "-"]
        return case

    def checkpoint_of(self, rng: random.Random) -> Case:
        files = dict(self.checkpoint)
        name = rng.choice([name for name in files if files[name]])
        mutate = mutate_program if name.endswith(".json") else mutate_artifact
        data = files[name] = mutate(rng, files[name], rng.choice(list(files.values())) or files[name])
        if name.endswith(".json") and rng.random() < 0.7:  # what follows is read, since the digest holds
            index = str(Path(name).parent / "index.sha256")
            files[index] = re.sub(rb"[0-9a-f]{64}(?=  index.json)", hashlib.sha256(data).hexdigest().encode(), files[index])
        isRefused = not name.endswith((".json", "lock")) and data != self.checkpoint[name]
        files["counter.so"] = self.make(COUNTER, ".so")
        return Case(COUNTER.name, name, files, "shard-run", ["counter.so", *step_counter(".", 3, "--resume", TIMEOUT)], isRefused)

    def machine(self, rng: random.Random) -> Case:
        base = rng.choice(self.corpus[:12])
        mutant = mutate_program(rng, MACHINE, MACHINE) if rng.random() < 0.7 else mutate_bytecode(rng, MACHINE, MACHINE)
        files = {"mutant.json": mutant, "program.mlir": self.programs[base].text}
        return Case(base.name, "mutant.json", files, "shard-translate", ["program.mlir", "--machine=mutant.json", "--emit=local", "-o", "-"])

    def command_line(self, rng: random.Random) -> Case:
        base, options = rng.choice(self.command_lines)
        options = [option for option in options if not (self.sandbox and option.startswith("--processes"))]
        for _ in range(rng.choice([1, 1, 2, 3])):
            if not options or rng.random() < 0.2:
                options.append(rng.choice(self.options))
            at = rng.randrange(len(options))
            options[at] = mutate_option(rng, options[at], self.options).replace("/", "").replace("..", ".")
        return Case(base.name, "program.mlir", {"program.mlir": self.programs[base].text}, "shard-run", ["program.mlir", *options])


def arrays_of(archive: bytes) -> list[bytes]:
    """The .npy files in0, in1, … of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [name for name in opened.namelist() if name.startswith("in")]
        return [opened.read(f"in{i}.npy") for i in range(len(names))]


MAKERS = {"swaps": "swaps_of", "passes": "passes_of", "bytecode": "bytecode_of", "checkpoint": "checkpoint_of", "options": "command_line"}
"""The makers of kinds that are not called like them."""


def judge(case: Case, ended: Ended) -> str:
    """What is wrong with how a run ended; empty if nothing."""
    said = ended.said.strip()[-600:]
    if ended.code == 0 and case.isRefused:
        return f"damage that is not noticed: {said}"
    if ended.by_clock:
        return f"no end within {LIMITS.wait} s by the clock: {said}"
    if ended.code in (-signal.SIGKILL, -signal.SIGXCPU):
        return f"no end within {LIMITS.seconds} s of a core: {said}"
    if "error: sandbox: " in ended.said:
        return f"a forbidden call: {said}"
    if ended.code not in DOCUMENTED:
        return f"exit code {ended.code}: {said}"
    if ended.code != 0 and "error" not in ended.said and not ended.said.startswith(f"{case.tool}: for the -"):
        return f"exit code {ended.code} without a diagnostic: {said}"
    if ended.ms > MOST_MS:
        return f"{ended.ms / 1000:.1f} s of a core, exit code {ended.code}: {said}"
    if ended.kib > MOST_KIB:
        return f"{ended.kib / 1024:.0f} MiB of memory, exit code {ended.code}: {said}"
    return ""


def without_times(said: str) -> str:
    """What two runs of the same must both say."""
    said = re.sub(r"\d+(\.\d+)? (ms|s|us|%|MiB of address space)(?!\w)", "N", said)
    return re.sub(r"process \d+|0x[0-9a-f]+|\d+ bytes available", "N", said)


class Tools:
    """A fork server of each tool for each thread."""

    def __init__(self, tools: Path, folder: Path) -> None:
        self.tools, self.folder = tools, folder
        self.library = build_library(folder)
        self.local = threading.local()
        self.servers: list[ForkServer] = []

    def run(self, case: Case, directory: Path) -> Ended:
        servers = self.local.__dict__
        if case.tool not in servers:
            servers[case.tool] = ForkServer(str(self.tools / case.tool), self.library, self.folder)
            self.servers.append(servers[case.tool])
        server: ForkServer = servers[case.tool]
        return server.run(case.arguments, directory, LIMITS)

    def close(self) -> None:
        for server in self.servers:
            server.close()


def is_compiled_in_time(tools: Tools, case: Case, directory: Path) -> bool:
    """Whether a run that took too much did so because its program does, compiled or interpreted: a loop may go on for ever."""
    options = [option for option in case.arguments if option.startswith(("--ranks", "--mesh", "--sizes", "--dynamic"))]
    model = case.arguments[0]
    alone = Case(case.base, case.mutant, case.files, "shard-translate", [model, *options, "--emit=obj", "-o", "out.o"])
    return not judge(alone, tools.run(alone, directory))


def stage_of(tools: Tools, case: Case, directory: Path) -> str:
    """Which stage refuses the program of ``case``; "none" if all take it."""
    stages = ["--mlir-disable-threading", "--mlir-print-ir-before=" + ",".join(STAGES)]
    ended = tools.run(Case(case.base, case.mutant, case.files, "shard-opt", [case.mutant, *PIPELINE, *stages, "-o", "/dev/null"]), directory)
    begun = re.findall(r"IR Dump Before \S+ \((\S+)\)", ended.said)
    if ended.code == 0:
        return "none"
    return STAGES[begun[-1]] if begun else "read"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--kinds", help="these alone")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--save", type=Path, default=Path("mutant-failures"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--control", type=int, default=200, help="every which mutant is given to the tool itself as well")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true", help="forget what was run before")
    parser.add_argument("--sandbox", action="store_true", help="confine the tools; a forbidden call is a failure")
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if not options.kinds or kind in options.kinds.split(",")]
    kinds = ["swaps" if kind == "checkpoint" and options.sandbox else kind for kind in kinds]
    known: dict[int, dict[str, object]] = {}
    if options.results and options.again:
        options.results.unlink(missing_ok=True)
    if options.results and options.results.exists():
        for line in options.results.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off when the campaign was stopped
            if entry["seed"] == options.seed and entry.get("sandbox") == options.sandbox:
                known[entry["number"]] = entry
    warnings.simplefilter("ignore")  # archives whose members have one name are what is wanted
    work = tempfile.TemporaryDirectory()
    os.environ["SHARDC_CACHE_DIR"] = ""  # what is tested is compiled
    os.environ.setdefault("XDG_CONFIG_HOME", work.name)  # and signed with a key of its own
    folder = Path(shutil.which(options.shard_run) or options.shard_run).resolve().parent
    campaign = Campaign(folder, options.corpus, options.seed, options.sandbox)
    tools = Tools(folder, Path(work.name))

    def attempt(number: int) -> None:
        kind = kinds[number % len(kinds)]
        case = campaign.case(number, kind)
        stage = ""
        with tempfile.TemporaryDirectory(dir=work.name) as directory:
            case.write(Path(directory))
            ended = tools.run(case, Path(directory))
            problem = judge(case, ended)
            # On a busy machine ranks that take turns, and the interpreter, end by the clock instead.
            isLoop = ended.by_clock and (b"while" in case.files[case.mutant] or "--interpret" in case.arguments)
            takes = ended.ms > MOST_MS or ended.kib > MOST_KIB or isLoop
            if problem and takes and case.tool == "shard-run" and case.mutant.startswith("mutant.mlir") and is_compiled_in_time(tools, case, Path(directory)):
                problem, stage = "", "endless"
            elif not problem and kind in PROGRAMS and number // len(kinds) % 16 == 0:
                stage = stage_of(tools, case, Path(directory))
        if options.control and number % options.control == 0 and not problem:
            with tempfile.TemporaryDirectory(dir=work.name) as directory:
                case.write(Path(directory))
                real = run_tool(str(folder / case.tool), case.arguments, Path(directory), LIMITS)
            if (real.code, without_times(real.said)) != (ended.code, without_times(ended.said)):
                problem = f"forked, the tool ends with {ended.code}: {ended.said[-400:]}\nstarted, with {real.code}: {real.said[-400:]}"
        if problem:
            kept = options.save / f"{Path(case.base).stem}-{options.seed}-{number}"
            kept.mkdir(parents=True, exist_ok=True)
            case.write(kept)
            (kept / "command").write_text(shlex.join([case.tool, *case.arguments]) + "\n")
            problem = f"mutant {number} ({kind}) of {case.base}, kept in {kept}: {problem}"
            print(problem, flush=True)
        known[number] = {"seed": options.seed, "sandbox": options.sandbox, "number": number, "kind": kind, "tool": case.tool,
                         "code": ended.code, "ms": round(ended.ms, 1), "kib": ended.kib, "stage": stage, "problem": problem}
        if options.results:
            with options.results.open("a") as results:
                results.write(json.dumps(known[number]) + "\n")

    # In the background of a shell neither would stop it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    numbers = range(options.first, options.first + options.count)
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            list(pool.map(attempt, [number for number in numbers if number not in known]))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            return 130
    tools.close()
    return report([known[number] for number in numbers], options.sandbox)


def report(entries: list[dict], sandbox: bool) -> int:
    """Print what became of the mutants."""
    for kind in dict.fromkeys(KINDS):
        of = [entry for entry in entries if entry["kind"] == kind]
        counts = collections.Counter(str(entry["code"]) for entry in of)
        if of:
            print(f"{len(of)} {kind}: " + ", ".join(f"exit code {code}: {counts[code]}" for code in sorted(counts)))
    order = ["read", *STAGES.values(), "none"]
    for kind in PROGRAMS:
        stages = collections.Counter(entry["stage"] for entry in entries if entry["stage"] in order and entry["kind"] == kind)
        if stages:
            print(f"stage that refuses, of {stages.total()} {kind}: " + ", ".join(f"{stage} {stages[stage]}" for stage in order if stages[stage]))
    endless = sum(entry["stage"] == "endless" for entry in entries)
    print(f"{endless} programs that run on, or take much memory, as they say")
    print(f"{sum(entry['ms'] for entry in entries) / max(1, len(entries)):.1f} ms of a core a mutant, at most {max(entry['ms'] for entry in entries):.0f}; "
          f"at most {max(entry['kib'] for entry in entries) // 1024} MiB")
    problems = [entry for entry in entries if entry["problem"]]
    if sandbox:
        print(f"{sum('a forbidden call' in entry['problem'] for entry in problems)} forbidden calls in {len(entries)} runs")
    print(f"{len(entries) - len(problems)} passed, {len(problems)} failed")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

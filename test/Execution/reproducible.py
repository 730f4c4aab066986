"""Run programs on many meshes and compare the bits of their outputs; measure what --reproducible costs.

    reproducible.py [NAME...] [--corpus DIR] [--default] [--short] [--cost] [--results FILE]

Each program runs with ``--reproducible`` on one rank and then, on the same inputs, on meshes of 1, 2, 3, 4, 5 and 8
ranks an axis (of two axes 2x2, 2x3, 2x4 and others), with arguments in even and uneven shards, empty ones among them,
with several threads, in processes over shared memory and over sockets, twice in the same way, and as code for
processors with AVX2 and with AVX-512 (x86 alone). Every output must have the same bytes each time. A program that is
refused by name (code 77) counts as refused; it must be refused on every mesh.

Prints a line for each program: how many runs, how many had other bits than one rank, which they were, or why it is
refused. ``--default`` leaves the option away: which programs differ without it, and where. ``--short`` takes few runs
a program. ``--cost`` also runs each program with and without the option, and prints time (of one rank), peak memory
of a rank and bytes moved (on its own mesh) of one against the other, with geometric means; ``--only-cost`` does that
alone. Exits 1 where bits differ, a run fails, or a mean is above the limit.

``--results FILE`` keeps a line of JSON for each run as it ends, and takes from there what the same shard-run did
already: a campaign that was interrupted goes on where it stopped.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import math
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "corpus"))
from check import cut_arguments, print_mesh, read_manifest, version_of

UNSUPPORTED = 77
# Of the whole corpus, as geometric means, and of one program: time, memory of a rank, bytes moved.
MEANS = {"time": 2.0, "memory": 1.5, "bytes": 2.0}
MOST = 4.0


@dataclasses.dataclass(frozen=True)
class Run:
    """One way to run a program."""

    name: str
    flags: tuple[str, ...]


def meshes_of(axes: list[str]) -> list[dict[str, int]]:
    """The sizes that the axes of a program are given."""
    if len(axes) == 1:
        return [{axes[0]: size} for size in (1, 2, 3, 4, 5, 8)]
    sizes = [(1, 1), (2, 2), (2, 3), (2, 4), (3, 1), (1, 5), (4, 2)]
    return [dict(zip(axes, (*size, *[1 + i % 2 for i in range(len(axes) - 2)]), strict=True)) for size in sizes]


def runs_of(entry: dict, short: bool) -> list[Run]:
    """The runs of a program; all are to have the bits of the first."""
    axes = [axis for axis, _ in entry["mesh"]]
    own = print_mesh(dict(map(tuple, entry["mesh"])))
    twice = [Run(f"{own} again", ()), Run(f"{own} 3 threads", ("--threads=3",))]
    if not axes or "sdy.manual_computation" in entry.get("ops", {}):
        # A region that communicates holds the sizes of its mesh.
        return [Run(own or "none", ()), *(twice[1:] if short else twice)]
    meshes = meshes_of(axes)
    if short:
        last = meshes[2]
        cuts = cut_arguments(entry, last, variant=1)
        return [Run(print_mesh(meshes[0]), (f"--mesh={print_mesh(meshes[0])}",)),
                Run(f"{print_mesh(last)} {'empty' if cuts else ''}", (f"--mesh={print_mesh(last)}", *cuts)),
                Run(f"{print_mesh(last)} 3 threads", (f"--mesh={print_mesh(last)}", "--threads=3"))]
    runs = [Run(print_mesh(mesh), (f"--mesh={print_mesh(mesh)}",)) for mesh in meshes]
    for mesh in meshes[1:]:
        for variant, shards in enumerate(("uneven", "empty")):
            if cuts := cut_arguments(entry, mesh, variant):
                runs.append(Run(f"{print_mesh(mesh)} {shards}", (f"--mesh={print_mesh(mesh)}", *cuts)))
    runs.append(Run(f"{runs[1].name} 3 threads", (*runs[1].flags, "--threads=3")))
    ranks = math.prod(meshes[1].values())
    runs.append(Run(f"{runs[1].name} again", runs[1].flags))
    runs += [Run(f"{runs[1].name} {transport}", (*runs[1].flags, f"--transport={transport}", f"--processes={ranks}"))
             for transport in ("shm", "tcp")]
    return runs + [Run(f"{runs[1].name} {name}", (*runs[1].flags, f"--arch={arch}")) for name, arch in archs()]


def archs() -> list[tuple[str, str]]:
    """Levels of x86 that this processor has: what --arch takes for each."""
    if platform.machine() != "x86_64":
        return []
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return [("AVX2", "x86-64-v3")] + [("AVX-512", "x86-64-v4")] * ("avx512vl" in flags)


def digests(archive: Path) -> dict[str, str]:
    """A digest of each member of an .npz."""
    with zipfile.ZipFile(archive) as members:
        return {name: hashlib.sha256(members.read(name)).hexdigest() for name in sorted(members.namelist())}


@dataclasses.dataclass
class Outcome:
    """``bits``: a digest of each output; ``refused``: why, where it was; ``failed``: how else it ended."""

    bits: dict[str, str] = dataclasses.field(default_factory=dict)
    refused: str = ""
    failed: str = ""


class Results:
    """What a file keeps, by command, of one shard-run: lines of JSON."""

    def __init__(self, path: Path | None, tool: str) -> None:
        self.path, self.tool, self.lock = path, tool, threading.Lock()
        self.known: dict[str, dict] = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                if entry["tool"] == tool:
                    self.known[entry["command"]] = entry["result"]

    def keep(self, command: str, result: dict) -> None:
        with self.lock:
            self.known[command] = result
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps({"tool": self.tool, "command": command, "result": result}) + "\n")


def inputs_of(entry: dict, corpus: Path) -> list[str]:
    return [f"--inputs=@{corpus / entry['data']}"] if "data" in entry else ["--seed=1"]


def expected_of(entry: dict, corpus: Path) -> tuple[str, ...]:
    """Options that compare with the outputs stored beside a program."""
    if "data" not in entry:
        return ()
    return (f"--expect=@{corpus / entry['data']}", f"--rtol={entry['rtol']}", f"--atol={entry['atol']}")


def execute(tool: str, corpus: Path, entry: dict, run: Run, options: tuple[str, ...], timeout: float,
            results: Results) -> Outcome:
    key = shlex.join([entry["name"], *run.flags, *options, *([run.name] if run.name.endswith(" again") else [])])
    if key in results.known:
        return Outcome(**results.known[key])
    outcome = execute_anew(tool, corpus, entry, run, options, timeout)
    if not outcome.failed:
        results.keep(key, dataclasses.asdict(outcome))
    return outcome


def execute_anew(tool: str, corpus: Path, entry: dict, run: Run, options: tuple[str, ...], timeout: float) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder) / "out.npz"
        command = [tool, str(corpus / entry["file"]), *inputs_of(entry, corpus)]
        command += [*run.flags, *options, f"--outputs=@{outputs}"]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return Outcome(failed=f"not done in {timeout:.0f} s")
        if result.returncode == 0:
            return Outcome(bits=digests(outputs))
        lines = result.stderr.splitlines() or [""]
        lines = [line for line in lines if "error:" in line or "differs" in line] or lines
        said = lines[0].split("error: ")[-1]
        if result.returncode == UNSUPPORTED:
            return Outcome(refused=said)
        return Outcome(failed=f"code {result.returncode}: {said}")


@dataclasses.dataclass
class Verdict:
    """What came of a program's runs."""

    program: str
    runs: int
    differing: list[str]
    refused: str = ""
    failed: str = ""

    def line(self) -> str:
        head = f"{self.program:30} {self.runs:4}"
        if self.failed:
            return f"{head}  FAILED   {self.failed}"
        if self.refused:
            return f"{head}  refused  {self.refused}"
        if self.differing:
            return f"{head}  DIFFERS  in {len(self.differing)}: {'; '.join(self.differing[:4])}"
        return f"{head}  same"


def judge(entry: dict, runs: list[Run], outcomes: list[Outcome]) -> Verdict:
    verdict = Verdict(entry["name"], len(runs), [])
    refused = [outcome.refused for outcome in outcomes if outcome.refused]
    failed = [f"{run.name}: {outcome.failed}" for run, outcome in zip(runs, outcomes, strict=True) if outcome.failed]
    if failed:
        verdict.failed = failed[0]
    elif refused and len(refused) < len(outcomes):
        verdict.failed = f"refused in {len(refused)} of {len(outcomes)} runs: {refused[0]}"
    elif refused:
        verdict.refused = refused[0]
    else:
        first = outcomes[0].bits
        for run, outcome in zip(runs[1:], outcomes[1:], strict=True):
            if wrong := [name.removesuffix(".npy") for name in first if outcome.bits.get(name) != first[name]]:
                verdict.differing.append(f"{run.name} ({', '.join(wrong[:3])})")
    return verdict


def report_of(tool: str, corpus: Path, entry: dict, options: tuple[str, ...], timeout: float) -> dict | None:
    command = [tool, str(corpus / entry["file"]), *inputs_of(entry, corpus), "--report=json", *options]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    return json.loads(result.stdout) if result.returncode == 0 else None


def ratios(tool: str, corpus: Path, entry: dict, steps: int, rounds: int, timeout: float) -> dict[str, float] | None:
    """Time, memory and bytes with --reproducible over those without; none where it is refused.

    Memory and bytes are those of the program's own mesh. Time is that of one rank, the least step of all rounds, which
    alternate, so that neither ranks nor others that use the machine count.
    """
    axes = [axis for axis, _ in entry["mesh"]]
    fixed = not axes or "sdy.manual_computation" in entry.get("ops", {})
    alone = () if fixed else (f"--mesh={print_mesh(dict.fromkeys(axes, 1))}",)
    sides = [(), ("--reproducible",)]
    own = [report_of(tool, corpus, entry, option, timeout) for option in sides]
    if None in own:
        return None
    costs = [{"time": math.inf, "memory": max(report["peak_bytes"]), "bytes": report["communication_total"]["bytes"]}
             for report in own]
    for _ in range(rounds):
        for cost, option in zip(costs, sides, strict=True):
            run = report_of(tool, corpus, entry, (*option, *alone, f"--repeat={steps}"), timeout)
            if run is None:
                return None
            cost["time"] = min(cost["time"], run["ms_min"])
    plain, exact = costs
    return {key: exact[key] / plain[key] if plain[key] else (1.0 if exact[key] == 0 else math.inf) for key in MEANS}


def print_costs(costs: dict[str, dict[str, float]]) -> bool:
    """The means; whether all are within the limits."""
    within = True
    for key, limit in MEANS.items():
        values = [cost[key] for cost in costs.values() if math.isfinite(cost[key]) and cost[key] > 0]
        if not values:
            continue
        # Nothing against something has no ratio, but is above any.
        mean, most = statistics.geometric_mean(values), max(cost[key] for cost in costs.values())
        above = [name for name, cost in costs.items() if cost[key] > MOST]
        print(f"{key} of {len(values)} programs: geometric mean {mean:.2f} (limit {limit}), most {most:.2f} (limit {MOST})"
              f"{', above it ' + ', '.join(above) if above else ''}")
        within &= mean <= limit and not above
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parent / "corpus")
    parser.add_argument("--default", action="store_true", help="without --reproducible: what differs by itself")
    parser.add_argument("--short", action="store_true", help="few runs a program")
    parser.add_argument("--cost", action="store_true", help="time, memory and bytes as well")
    parser.add_argument("--only-cost", action="store_true", help="no comparison of bits")
    parser.add_argument("--steps", type=int, default=20, help="timed steps of a run of --cost")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side of --cost, which alternate")
    parser.add_argument("--results", type=Path, help="keeps what ended, so that a second call goes on from there")
    parser.add_argument("--shard-run", default="shard-run")
    options = parser.parse_args()
    entries = read_manifest(options.corpus)
    if unknown := set(options.names) - {entry["name"] for entry in entries}:
        parser.error(f"no program '{unknown.pop()}' in {options.corpus}/manifest.json")
    entries = [entry for entry in entries if entry["name"] in options.names or (not options.names and "data" in entry)]
    results = Results(options.results, version_of(options.shard_run))
    flags = () if options.default else ("--reproducible",)

    begin = time.monotonic()
    verdicts: list[Verdict] = []
    if not options.only_cost:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            started = []
            for entry in entries:
                runs = runs_of(entry, options.short)
                # All have the bits of the first, which are to be right.
                more = [(*flags, *expected_of(entry, options.corpus)), *[flags] * (len(runs) - 1)]
                futures = [pool.submit(execute, options.shard_run, options.corpus, entry, run, each, options.timeout, results)
                           for run, each in zip(runs, more, strict=True)]
                started.append((entry, runs, futures))
            for entry, runs, futures in started:
                verdicts.append(judge(entry, runs, [future.result() for future in futures]))
                print(verdicts[-1].line(), flush=True)
    within = True
    if options.cost or options.only_cost:
        costs = {}
        print(f"{'program':30} {'time':>7} {'memory':>7} {'bytes':>7}   with --reproducible, over the default")
        for entry in entries:
            key = shlex.join(["cost", entry["name"], f"--steps={options.steps}", f"--rounds={options.rounds}"])
            if key not in results.known:
                cost = ratios(options.shard_run, options.corpus, entry, options.steps, options.rounds, options.timeout)
                results.keep(key, cost or {})
            if cost := results.known[key]:
                costs[entry["name"]] = cost
                print(f"{entry['name']:30} " + " ".join(f"{cost[key]:7.2f}" for key in MEANS), flush=True)
            else:
                print(f"{entry['name']:30} refused", flush=True)
        within = print_costs(costs)
    same = sum(not (v.differing or v.refused or v.failed) for v in verdicts)
    differing, refused, failed = (sum(bool(getattr(v, key)) for v in verdicts)
                                  for key in ("differing", "refused", "failed"))
    if verdicts:
        print(f"{sum(v.runs for v in verdicts)} runs of {len(verdicts)} programs: {same} the same on every mesh, "
              f"{differing} differ, {refused} refused, {failed} failed, {time.monotonic() - begin:.0f} s")
    return 1 if differing or failed or not within else 0


if __name__ == "__main__":
    sys.exit(main())

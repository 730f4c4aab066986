"""Every collective, rank, moment and transport with a fault; signals; writes that fail.

    campaign.py --tools DIRECTORY --results FILE [--only ranks|signals|writes|links] [--again] [--sample] [--jobs N] [--match TEXT] [--slack S] [--timeout MS]

A case is a line of FILE when it is over; a campaign that was interrupted goes on where it stopped.

ranks    A rank is killed, stopped or slow before, during and after each communication of a program, whatever it is made of,
         with each transport. Killed: code 4, its number and process in the text, all gone within 2 s. Stopped: code 5 and its
         number within the timeout and a second. Slow by 0.8 of the timeout: code 0, and the bits of an undisturbed run. After
         each, no process, temporary file or shared memory is left. Over MPI, where it is installed, mpirun is what ends a job:
         its code is not 0, and it or the ranks name who was killed (MPICH's ends with the signal's number and no more). Where a
         rank is stopped the others are to be gone in time; mpirun then takes its own time to end the one that is stopped.
signals  INT, TERM, HUP and KILL of the launcher at random moments: all gone within 2 s, with 130, 143, 129; nothing left.
links    Ranks on two sides of a link. Cut in mid-step: all leave with code 4 within 5 s and say "lost contact". Slow or stalling:
         code 0, and the bits of an undisturbed run. Needs root.
writes   The k-th write, fsync, ftruncate, mmap of a file, close, rename, link or open of a tool fails, for each kind of file that
         tools write. Code 7 (or 9, where memory was what failed) and the reason; what was there before stays untouched; no other
         file is left.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from link import Link, Weather, is_possible
from processes import MODELS, Run, busy, interposer

PROGRAMS = ("sm_collectives", "knn_interpolate", "gnn_message_passing", "sm_ring_attention")
"""Together they hold every kind of communication that ranks make."""
KINDS = {"all_gather", "all_reduce", "all_to_all", "gather_rows", "halo_exchange", "rebalance", "reduce_scatter", "row_plan", "scatter_rows"}
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "-n", "4", "--oversubscribe", "--allow-run-as-root"], "mpich": ["mpirun.mpich", "-n", "4"]}
"""Of MPI libraries: each is a transport, whose processes it starts."""
ROOT = Path(__file__).parents[2]


@dataclass
class Case:
    name: str
    run: Callable[[], str]
    """'' if all is well, else what is not; may add figures to ``figures``."""
    figures: dict[str, object]


def log_time(path: Path) -> float:
    """When the fault happened, in s of the monotonic clock."""
    try:
        return int(path.read_text().split()[0]) / 1e9
    except (OSError, IndexError):
        return 0.0


class Campaign:
    def __init__(self, tools: Path, work: Path, slack: float = 1, timeout: int = 2000) -> None:
        """``slack``: by which times may be longer, on machines that do other things; ``timeout``: how long ranks wait for one another, ms."""
        self.tools, self.work, self.slack, self.timeout = tools, work, slack, timeout
        self.run, self.translate, self.opt = (str(tools / f"shard-{name}") for name in ("run", "translate", "opt"))
        self.library = str(interposer(work))

    # Ranks ----------------------------------------------------------------------------------------------------------

    def artifact(self, program: str) -> Path:
        path = self.work / f"{program}.so"
        subprocess.run([self.translate, str(MODELS / f"{program}.mlir"), "-o", str(path)], check=True, capture_output=True)
        return path

    def sites(self, artifact: Path) -> dict[int, str]:
        """The numbers of what communicates in a program, and of which kind each is."""
        log = self.work / f"{artifact.stem}.sites"
        log.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": self.library, "SHARDC_FAULT": "sites", "SHARDC_FAULT_LOG": str(log)}
        done = subprocess.run([self.run, str(artifact), "--report=json"], check=True, capture_output=True, text=True, env=environment)
        numbers = sorted({int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("0 ")})
        communication = [entry for entry in json.loads(done.stdout)["communication"] if entry["count"] > 0]
        assert len(numbers) == len(communication), f"{artifact}: sites {numbers}, reported {len(communication)}"
        return {number: entry["kind"] for number, entry in zip(numbers, communication)}

    def transports(self) -> list[str]:
        shims = self.tools.parent / "lib"
        return ["shm", "tcp", "thread", *(name for name, command in LAUNCHERS.items() if shutil.which(command[0]) and (shims / f"shardrt_mpi_{name}.so").exists())]

    def rank_cases(self) -> list[Case]:
        cases = []
        kinds = set()
        for program in PROGRAMS:
            artifact = self.artifact(program)
            expected = self.work / f"{program}.npz"
            subprocess.run([self.run, str(artifact), f"--outputs=@{expected}"], check=True, capture_output=True)
            for site, kind in self.sites(artifact).items():
                kinds.add(kind)
                for transport in self.transports():
                    for rank in range(4):
                        for what in ("kill", "stop", "slow"):
                            for moment in ("before", "during", "after"):
                                # Threads go with their process; who sleeps is in no call.
                                if (transport == "thread" and what != "slow") or (what == "slow" and moment == "during"):
                                    continue
                                figures: dict[str, object] = {}
                                name = f"ranks {program} {kind} {site} {transport} rank {rank} {what} {moment}"
                                cases.append(Case(name, lambda a=artifact, e=expected, s=site, t=transport, r=rank, w=what, m=moment, f=figures: self.rank_case(a, e, s, t, r, w, m, f), figures))
        assert kinds == KINDS, f"no program has {KINDS - kinds}, or there are more: {kinds - KINDS}"
        return cases

    def rank_case(self, artifact: Path, expected: Path, site: int, transport: str, rank: int, what: str, moment: str, figures: dict[str, object]) -> str:
        # On a machine that does other things ranks may miss one another without any fault: where they wait longer they do not.
        problem = ""
        for scale in (1,) if self.slack == 1 else (1, 2, 4):
            problem = self.rank_fault(artifact, expected, site, transport, rank, what, moment, scale * self.timeout, figures)
            if not problem:
                break
        return problem

    def rank_fault(self, artifact: Path, expected: Path, site: int, transport: str, rank: int, what: str, moment: str, timeout: int, figures: dict[str, object]) -> str:
        steps = 3 if what == "slow" else 100_000_000
        delay = int(0.8 * timeout)
        action = f"sleep{delay}" if what == "slow" else what
        with tempfile.TemporaryDirectory() as folder:
            log, outputs = Path(folder) / "log", Path(folder) / "out.npz"
            launcher = LAUNCHERS.get(transport, [])
            command = [*launcher, self.run, str(artifact), f"--timeout={timeout}", f"--repeat={steps}", f"--transport={'mpi' if launcher else transport}", f"--outputs=@{outputs}"]
            if transport in ("shm", "tcp"):
                command.append("--processes=4")
            number = 2 if what == "slow" else 20
            environment = {"LD_PRELOAD": self.library, "SHARDC_FAULT": f"{action}:{rank}:{moment}:{site}:{number}", "SHARDC_FAULT_LOG": str(log)}
            with Run(command, environment) as run:
                ended = 0.0
                if launcher and what == "stop":
                    # What mpirun does for a second after the last of the others has gone is its own.
                    while not log_time(log) and run.process.poll() is None:
                        time.sleep(0.002)
                    ended = run.wait_for_others(but=rank) if log_time(log) else 0.0
                code, _ = run.wait(60)
                figures["launcher"] = round(time.monotonic() - log_time(log), 3)
                ended = ended or time.monotonic()
                text = run.text()
                happened = log_time(log)
                if not happened:
                    return f"the fault did not happen; code {code}: {text[:300]}"
                figures["seconds"] = round(ended - happened, 3)
                figures["code"] = code
                if left := run.left(are_ours=not launcher):
                    return f"left: {left}"
                if what == "slow":
                    return "" if code == 0 and same_arrays(outputs, expected) else f"code {code}: {text[:500]}"
                if outputs.exists():
                    return "there are results"
                limit = self.slack * (2.0 if what == "kill" else timeout / 1000 + 1)
                problem = ""
                if code == 0 if launcher else code != (4 if what == "kill" else 5):
                    problem = f"code {code}"
                elif ended - happened > limit:
                    problem = f"{ended - happened:.2f} s, expected {limit} at most"
                elif what == "kill" and launcher:
                    problem = "" if f"rank {rank} " in text or (transport == "mpich" and code == signal.SIGKILL) else "the rank is not named"
                elif what == "kill" and f"rank {rank} (process " not in text:
                    problem = "the rank is not named"
                elif what == "stop" and f"rank {rank}" not in text:
                    problem = "the rank is not named"
                return problem and f"{problem}: {text[:700]}"

    # Links ----------------------------------------------------------------------------------------------------------

    def link_cases(self, cuts: int = 100) -> list[Case]:
        if not is_possible():
            print("links: no network namespaces here (root, ip and /dev/net/tun are needed)")
            return []
        artifact = self.artifact("sm_collectives")
        expected = self.work / "sm_collectives.npz"
        subprocess.run([self.run, str(artifact), f"--outputs=@{expected}"], check=True, capture_output=True)
        rng = random.Random(11)
        weathers = {
            "200 ms": Weather(delay=0.2),
            "1 % stall": Weather(stall=1),
            "1 Mbit/s": Weather(rate=1e6),
        }
        cases = []
        for name, weather in weathers.items():
            figures: dict[str, object] = {}
            cases.append(Case(f"links slow {name}", lambda w=weather, f=figures: self.link_case(artifact, expected, w, 0, f), figures))
        for number in range(cuts):
            way = rng.choice([(True, True), (True, True), (True, False), (False, True)])
            delay = rng.random() * 1.5
            figures = {}
            name = f"links cut {number} {'both ways' if all(way) else 'one way'} after {delay:.2f} s of steps"
            cases.append(Case(name, lambda w=way, d=delay, f=figures: self.link_case(artifact, expected, Weather(cut=w), d, f), figures))
        return cases

    def link_case(self, artifact: Path, expected: Path, weather: Weather, delay: float, figures: dict[str, object]) -> str:
        """Ranks 0 and 1 on one side of the link, 2 and 3 on the other."""
        cuts = any(weather.cut)
        with Link() as link, tempfile.TemporaryDirectory() as folder:
            outputs = Path(folder) / "out.npz"
            secret = os.urandom(32).hex()
            steps = 100_000_000 if cuts else 20
            if not cuts:
                link.weather = weather
            with contextlib.ExitStack() as stack:
                runs = []
                for rank in range(4):
                    variables = {
                        "RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank % 2), "LOCAL_WORLD_SIZE": "2",
                        "MASTER_ADDR": link.addresses[0], "MASTER_PORT": "29400", "TORCHELASTIC_RUN_ID": f"link-{os.getpid()}", "SHARDRT_SECRET": secret,
                    }
                    command = ["ip", "netns", "exec", link.names[rank // 2], self.run, str(artifact), "--transport=tcp", f"--repeat={steps}", f"--outputs=@{outputs}", "--timeout=20000"]
                    runs.append(stack.enter_context(Run(command, variables)))
                if cuts:
                    deadline = time.monotonic() + 60
                    while min(busy(run.process.pid) for run in runs) < 0.3:
                        if time.monotonic() > deadline or any(run.process.poll() is not None for run in runs):
                            return "the ranks do not begin: " + " | ".join(run.text()[:300] for run in runs)
                        time.sleep(0.01)
                    time.sleep(delay)
                    link.weather = weather
                begin = time.monotonic()
                codes = [run.wait(40)[0] for run in runs]
                took = time.monotonic() - begin
                figures.update(seconds=round(took, 2), code=codes[0])
                texts = [run.text() for run in runs]
                if not cuts:
                    return "" if codes == [0] * 4 and same_arrays(outputs, expected) else f"codes {codes}: {texts}"
                if codes != [4] * 4:
                    return f"codes {codes}: {texts}"
                if took > 5 * self.slack:
                    return f"{took:.1f} s: {texts}"
                # Who only hears of it from others repeats what they say.
                if any("lost contact" not in text for text in texts) or any("its process ended" in text for text in texts):
                    return f"not called lost contact: {texts}"
        return ""

    # Signals --------------------------------------------------------------------------------------------------------

    def signal_cases(self, count: int = 100) -> list[Case]:
        rng = random.Random(7)
        codes = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}
        cases = []
        for number in range(count):
            for which in codes:
                delay, processes = rng.random() ** 2 * 1.5, rng.random() < 0.8
                figures: dict[str, object] = {}
                name = f"signals {which.name} {number} after {delay:.3f} s of {'processes' if processes else 'threads'}"
                cases.append(Case(name, lambda w=which, d=delay, p=processes, f=figures: self.signal_case(w, codes[w], d, p, f), figures))
        return cases

    def signal_case(self, which: signal.Signals, code: int, delay: float, processes: bool, figures: dict[str, object]) -> str:
        outputs = "--outputs=@out.npz"
        with tempfile.TemporaryDirectory() as folder:
            command = [self.run, str(MODELS / "heat2d_roll.mlir"), "--repeat=100000000", "--processes=4" if processes else "--ranks=4", outputs, "--timeout=20000"]
            before = os.listdir(folder)
            with Run(["bash", "-c", f"cd {folder} && exec \"$@\"", "bash", *command]) as run:
                time.sleep(delay)
                os.kill(run.process.pid, which)
                got, took = run.wait(30)
                figures.update(seconds=round(took, 3), code=got)
                if got not in (code, -which):
                    return f"code {got}: {run.text()[:300]}"
                if took > 2 * self.slack:
                    return f"{took:.2f} s"
                if left := run.left():
                    return f"left: {left}"
                if os.listdir(folder) != before:
                    return f"left: {os.listdir(folder)}"
        return ""

    # Writes ---------------------------------------------------------------------------------------------------------

    def write_cases(self, most: int = 200) -> list[Case]:
        model = MODELS / "conv_halo.mlir"
        artifact = self.artifact("conv_halo")
        tools = {
            "outputs": ("out.npz", [self.run, str(artifact), "--outputs=@out.npz"]),
            "outputs of processes": ("out.npz", [self.run, str(artifact), "--processes=4", "--outputs=@out.npz", "--timeout=10000"]),
            "trace": ("trace.json", [self.run, str(artifact), "--trace=trace.json"]),
            "report": ("report.html", [self.run, str(artifact), "--report=report.html"]),
            "model": ("out.npz", [self.run, str(model), "--outputs=@out.npz"]),
            "artifact": ("program.so", [self.translate, str(model), "-o", "program.so"]),
            "object": ("program.o", [self.translate, str(model), "--emit=obj", "-o", "program.o"]),
            "llvmir": ("program.ll", [self.translate, str(model), "--emit=llvmir", "-o", "program.ll"]),
            "header": ("program.h", [self.translate, str(model), "--emit=header", "-o", "program.h"]),
            "mlir": ("program.mlir", [self.opt, str(model), "-o", "program.mlir"]),
            "bytecode": ("program.mlirbc", [self.opt, str(model), "--emit-bytecode", "-o", "program.mlirbc"]),
        }
        cases = []
        for kind, (name, command) in tools.items():
            counts = self.work / "count"
            counts.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "LD_PRELOAD": self.library, "SHARDC_FAULT": "count", "SHARDC_FAULT_COUNT": str(counts)}
                subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
                # Times differ from run to run.
                whole = None if kind in ("trace", "report") else (Path(folder) / name).read_bytes()
            calls = max(map(int, counts.read_text().split()))
            assert calls, kind
            for number in range(1, min(calls, most) + 1):
                figures: dict[str, object] = {}
                cases.append(Case(f"writes {kind.replace(' ', '-')} {number}", lambda c=command, n=name, w=whole, k=number, f=figures: self.write_case(c, n, w, k, f), figures))
        return cases + self.checkpoint_cases(most)

    def checkpoint_cases(self, most: int) -> list[Case]:
        """A second checkpoint is saved beside a first one, which must stay as it is."""
        model = MODELS.parents[2] / "Tools/shard-run/Inputs/counter.mlir"
        save = [self.run, str(model), "--carry=0-2:0-2", "--step-number=step", "--checkpoint=saved", "--save-every=1"]
        first, second = [*save, "--steps=1"], [*save, "--steps=2", "--resume"]
        cases = []
        for kind, more in (("checkpoint", []), ("checkpoint-of-processes", ["--processes=4", "--timeout=10000"])):
            counts = self.work / "count"
            counts.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(first, check=True, capture_output=True, cwd=folder)
                before = contents(Path(folder))
                environment = {**os.environ, "LD_PRELOAD": self.library, "SHARDC_FAULT": "count", "SHARDC_FAULT_COUNT": str(counts)}
                subprocess.run([*second, *more], check=True, capture_output=True, cwd=folder, env=environment)
                whole = contents(Path(folder))
            calls = max(map(int, counts.read_text().split()))
            for number in range(1, min(calls, most) + 1):
                figures: dict[str, object] = {}
                cases.append(Case(f"writes {kind} {number}", lambda c=[*second, *more], b=before, w=whole, k=number, f=figures: self.checkpoint_case(first, c, b, w, k, f), figures))
        return cases

    def checkpoint_case(self, first: list[str], second: list[str], before: dict[str, bytes], whole: dict[str, bytes], number: int, figures: dict[str, object]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(first, check=True, capture_output=True, cwd=folder)
            with Run(["bash", "-c", f"cd {folder} && exec \"$@\"", "bash", *second], {"LD_PRELOAD": self.library, "SHARDC_FAULT": f"all:{number}"}) as run:
                code, _ = run.wait(60)
                text, left = run.text(), run.left()
            figures["code"] = code
            after = contents(Path(folder))
            if left:
                return f"left: {left}"
            if code not in (0, 7, 9):
                return f"code {code}: {text[:500]}"
            if any(after.get(name) != value for name, value in before.items()):
                return f"code {code}, and the first checkpoint is another one"
            # A whole second one may be there: what failed may have come after it.
            if after != whole and (code == 0 or after != before):
                return f"code {code}, and there are {sorted(set(after) - set(before))}"
            # Whoever goes on from there finds what is needed.
            done = subprocess.run(second, capture_output=True, text=True, cwd=folder, check=False)
            if done.returncode != 0 or contents(Path(folder)) != whole:
                return f"going on: code {done.returncode}: {done.stderr[:500]}"
        return ""

    def write_case(self, command: list[str], name: str, whole: bytes | None, number: int, figures: dict[str, object]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(b"before")
            with Run(["bash", "-c", f"cd {folder} && exec \"$@\"", "bash", *command], {"LD_PRELOAD": self.library, "SHARDC_FAULT": f"all:{number}"}) as run:
                code, _ = run.wait(60)
                text = run.text()
                left = run.left()
            figures["code"] = code
            if left:
                return f"left: {left}"
            if os.listdir(folder) != [name]:
                return f"files: {os.listdir(folder)}"
            untouched = path.read_bytes() == b"before"
            # What fails is not always needed: memory instead of a mapping, a file that only looks whether there can be one.
            if code == 0:
                is_whole = path.read_bytes() == whole if whole is not None else not untouched
                return "" if is_whole else "code 0, but the file is not what it is without the fault"
            if code not in (7, 9):
                return f"code {code}: {text[:500]}"
            if not untouched:
                return f"code {code}, but the file is another one"
            reasons = ("No space left on device", "Input/output error", "Cannot allocate memory", "no memory", "could not write all of it")
            return "" if any(reason in text for reason in reasons) else f"no reason: {text[:500]}"


def same_arrays(one: Path, other: Path) -> bool:
    """Whether two archives hold the same bytes."""
    return one.exists() and one.read_bytes() == other.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a directory, but locks, by their path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "lock"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--only", choices=("ranks", "signals", "writes", "links"))
    parser.add_argument("--match", default="", help="cases whose name has this text")
    parser.add_argument("--again", action="store_true", help="forget what was run before")
    parser.add_argument("--sample", action="store_true", help="a few of each, for every push")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=2000, help="how long ranks wait for one another, ms")
    parser.add_argument("--slack", type=float, help="by which times may be longer, on a machine that does other things (1; 3 with --sample)")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    if options.again:
        options.results.unlink(missing_ok=True)
    known = {}
    if options.results.exists():
        for line in options.results.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off when the campaign was stopped
            known[entry["case"]] = entry
    work = options.results.with_suffix(".work").resolve()
    work.mkdir(exist_ok=True)
    campaign = Campaign(options.tools.resolve(), work, options.slack or (3 if options.sample else 1), options.timeout)
    makers = {"ranks": campaign.rank_cases, "signals": campaign.signal_cases, "writes": campaign.write_cases, "links": campaign.link_cases}
    cases = [case for kind, make in makers.items() if options.only in (None, kind) for case in make() if options.match in case.name]
    if options.sample:
        # The same ones in each run, of all families.
        rng, picked = random.Random(3), collections.defaultdict(list)
        for case in cases:
            words = case.name.split()
            picked[" ".join([words[0], *[word for word in words if word in ("kill", "stop", "slow", *LAUNCHERS) or word.startswith("SIG")]])].append(case)
        counts = {"links cut": 1, "links slow": 0, "ranks kill": 6, "ranks stop": 1, "ranks slow": 2, "writes": 14}
        counts.update({f"ranks {name} {what}": 0 for name in LAUNCHERS for what in ("stop", "slow")})
        cases = [case for family, of in sorted(picked.items()) for case in rng.sample(of, min(len(of), counts.get(family, 1)))]
    waiting = [case for case in cases if case.name not in known]
    print(f"{len(cases)} cases, {len(cases) - len(waiting)} of them known", flush=True)
    begin = time.monotonic()

    def attempt(case: Case) -> None:
        try:
            problem = case.run()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            problem = f"{type(error).__name__}: {error}"
        entry = {"case": case.name, "ok": not problem, **case.figures, **({"problem": problem} if problem else {})}
        known[case.name] = entry
        with options.results.open("a") as results:
            results.write(json.dumps(entry) + "\n")
        if problem:
            print(f"FAILED {case.name}: {problem}", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            list(pool.map(attempt, waiting))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            return 130
    families: dict[str, list[dict[str, object]]] = collections.defaultdict(list)
    for case in cases:
        words = case.name.split()
        key = f"{words[0]} {words[4]} {words[7]}" if words[0] == "ranks" else f"{words[0]} {words[1]}"
        families[key].append(known[case.name])
    for family, entries in families.items():
        seconds = sorted(entry["seconds"] for entry in entries if "seconds" in entry)
        times = f", {seconds[0]:.2f} to {seconds[-1]:.2f} s, median {seconds[len(seconds) // 2]:.2f}" if seconds else ""
        codes = collections.Counter(entry.get("code") for entry in entries)
        print(f"{family}: {len(entries)} cases, {sum(not entry['ok'] for entry in entries)} failed{times}, codes {dict(codes)}")
    failed = sum(not known[case.name]["ok"] for case in cases)
    print(f"{len(waiting)} run in {time.monotonic() - begin:.0f} s\n{len(cases) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

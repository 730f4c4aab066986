"""What the tests of faults share: runs of shard-run, their ranks, and what must not be left of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

MODELS = Path(__file__).parents[1] / "Execution" / "corpus" / "Inputs"
MARK = "SHARDC_FAULT_TEST"
"""In the environment of all that a run starts: so its processes are found, whoever their parent is."""


def variables(process: int | str) -> dict[str, str]:
    """The environment a process was started with; nothing if it is gone."""
    try:
        entries = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(entry.decode(errors="replace").split("=", 1) for entry in entries if b"=" in entry)


def state(process: int) -> str:
    """The letter of /proc, '' for one that is gone or only waits to be collected."""
    try:
        letter = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""
    return "" if letter in "ZX" else letter


RANK = ("SHARDRT_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
"""What launchers say to a process about its rank: ours, Open MPI's, MPICH's."""


def ranks_of(launcher: int) -> dict[int, int]:
    """The processes that ``launcher`` has started, itself or by one of its own, and that know their rank, by rank."""
    try:
        children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    except OSError:
        return {}
    found = {}
    for child in children:
        known = variables(child)
        rank = next((known[name] for name in RANK if name in known), None)
        if rank is not None:
            found[int(rank)] = int(child)
        else:
            found.update(ranks_of(int(child)))
    return found


def busy(process: int) -> float:
    """Seconds of processor time that a process has used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def marked(mark: str) -> list[int]:
    """All processes of a run."""
    found = []
    for entry in Path("/proc").iterdir():
        is_another = entry.name.isdigit() and int(entry.name) != os.getpid() and state(int(entry.name))
        if is_another and variables(entry.name).get(MARK) == mark:
            found.append(int(entry.name))
    return found


def shared_memory() -> set[str]:
    """What of ours has a name in the system's shared memory: segments of MPI, of Python's multiprocessing and of others come and go beside a run."""
    return {entry.name for entry in os.scandir("/dev/shm") if "shard" in entry.name and not entry.is_dir(follow_symlinks=False)}


@dataclass
class Run:
    """A tool that runs, in a directory for temporary files of its own."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    preexec: object = None
    stdout: object = subprocess.DEVNULL
    number = 0

    def __enter__(self) -> Run:
        Run.number += 1
        self.mark = f"{os.getpid()}-{Run.number}-{time.monotonic_ns()}"
        self.folder = tempfile.TemporaryDirectory(prefix="fault-test-")
        self.errors = Path(self.folder.name + ".stderr")
        self.shared = shared_memory()
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=self.stdout,
                stderr=errors,
                env={**os.environ, "TMPDIR": self.folder.name, MARK: self.mark, **self.environment},
                preexec_fn=self._prepare,
                start_new_session=True,
            )
        return self

    def _prepare(self) -> None:
        """In the child: signals do what they do by default, whatever the tests were started by."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if self.preexec:
            self.preexec()

    def __exit__(self, *_: object) -> None:
        for process in marked(self.mark):
            os.kill(process, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.errors.unlink(missing_ok=True)
        self.folder.cleanup()

    def ranks(self, count: int, used: float = 0.0, seconds: float = 60) -> dict[int, int]:
        """Wait until there are ``count`` ranks and each has used ``used`` s of a core."""
        deadline = time.monotonic() + seconds
        while True:
            found = ranks_of(self.process.pid)
            if len(found) == count and all(busy(process) >= used for process in found.values()):
                return found
            assert self.process.poll() is None, f"it ended with {self.process.returncode} before there were ranks:\n{self.text()}"
            assert time.monotonic() < deadline, "the ranks do not begin"
            time.sleep(0.002)

    def wait_for_others(self, but: int, seconds: float = 60) -> float:
        """Wait until all ranks have ended but this one; returns when that was, in s of the monotonic clock."""
        others = [process for rank, process in ranks_of(self.process.pid).items() if rank != but]
        assert others, "there are no ranks"
        deadline = time.monotonic() + seconds
        while any(map(state, others)):
            assert time.monotonic() < deadline, f"these do not end: {others}"
            time.sleep(0.002)
        return time.monotonic()

    def wait(self, seconds: float = 60) -> tuple[int, float]:
        """The exit code, and how long it took to get it."""
        begin = time.monotonic()
        code = self.process.wait(seconds)
        return code, time.monotonic() - begin

    def text(self) -> str:
        return self.errors.read_text(errors="replace")

    def left(self, seconds: float = 10, are_ours: bool = True) -> str:
        """What is still there of the run so long after its end: nothing, if all is well. What stays does so however long one waits.
        ``are_ours``: temporary files count, which are not those of another launcher."""
        deadline = time.monotonic() + seconds
        while True:
            found = {
                "processes": marked(self.mark),
                "temporary files": os.listdir(self.folder.name) if are_ours else [],
                "shared memory": sorted(shared_memory() - self.shared),
            }
            problem = ", ".join(f"{what} {those}" for what, those in found.items() if those)
            if not problem or time.monotonic() > deadline:
                return problem
            time.sleep(0.02)


def interposer(folder: Path) -> Path:
    """Build the library that makes calls of the system fail."""
    library = folder / "interpose.so"
    source = Path(__file__).parent / "interpose.c"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"interpose.{os.getpid()}.so"
        compiler = next(name for name in ("clang-22", "cc") if shutil.which(name))
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", str(source), "-o", str(fresh), "-ldl"], check=True)
        fresh.rename(library)
    return library

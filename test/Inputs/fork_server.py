"""A tool that has started once and runs many command lines, each in a process that is forked before main (forkserver.c)."""

import os
import resource
import shutil
import struct
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent / "forkserver.c"


def build_library(folder: Path) -> Path:
    """Compile what is preloaded into tools."""
    library = folder / "forkserver.so"
    compiler = next(name for name in ("clang-22", "cc") if shutil.which(name))
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(library), "-ldl"], check=True)
    return library


@dataclass
class Limits:
    """Of one run: seconds of a core of each process, seconds by the clock, bytes of address space."""

    seconds: int
    wait: int
    memory: int


@dataclass
class Ended:
    """How a run ended: its exit code, or the negative number of a signal; what it took of cores (ms) and memory (KiB, the largest
    of its processes); whether it was ended by the clock; what it said on stderr."""

    code: int
    ms: float
    kib: int
    by_clock: bool
    said: str


class ForkServer:
    """Runs of the tool at ``tool``, one at a time."""

    def __init__(self, tool: str, library: Path, folder: Path) -> None:
        self.tool = tool
        self.said = folder / f"said-{Path(tool).name}-{id(self)}"
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        # Bound when it starts, not in each child.
        environment = os.environ | {
            "LD_PRELOAD": str(library), "LD_BIND_NOW": "1", "SHARDC_FORK_SERVER": f"{requests}:{answers}"}
        self.process = subprocess.Popen([tool], env=environment, pass_fds=(requests, answers), stdin=subprocess.DEVNULL, start_new_session=True)
        os.close(requests)
        os.close(answers)

    def run(self, arguments: list[str], directory: Path, limits: Limits) -> Ended:
        """Run the tool with ``arguments`` in ``directory``, its stdout closed off."""
        words = [str(directory), str(self.said), self.tool, *arguments]
        text = b"".join(os.fsencode(word) + b"\0" for word in words)
        request = struct.pack("<5Q", len(text), len(arguments) + 1, limits.seconds, limits.wait, limits.memory)
        data = memoryview(request + text)
        while data:
            data = data[os.write(self.requests, data) :]
        answer = b""
        while len(answer) < 32:
            piece = os.read(self.answers, 32 - len(answer))
            if not piece:
                raise RuntimeError(f"the fork server of {self.tool} ended with {self.process.wait()}")
            answer += piece
        status, microseconds, kib, by_clock = struct.unpack("<4Q", answer)
        if status == (1 << 64) - 1:
            raise RuntimeError("no process to run in")
        return Ended(os.waitstatus_to_exitcode(status), microseconds / 1000, kib, bool(by_clock), self.said.read_text(errors="replace"))

    def close(self) -> None:
        os.close(self.requests)
        self.process.wait()
        os.close(self.answers)


class Tool:
    """Runs of the tool at ``tool`` from any number of threads: each has a server of its own."""

    def __init__(self, tool: str, folder: Path) -> None:
        self.tool = shutil.which(tool) or tool
        self.folder = folder
        self.library = build_library(folder)
        self.own = threading.local()
        self.servers: list[ForkServer] = []

    def run(self, arguments: list[str], limits: Limits) -> Ended:
        """Run the tool in this directory, its stdout closed off."""
        if not hasattr(self.own, "server"):
            self.own.server = ForkServer(self.tool, self.library, self.folder)
            self.servers.append(self.own.server)
        server: ForkServer = self.own.server
        return server.run(arguments, Path.cwd(), limits)

    def close(self) -> None:
        for server in self.servers:
            server.close()


def run_tool(tool: str, arguments: list[str], directory: Path, limits: Limits) -> Ended:
    """The same without a server: the tool starts anew."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))

    with subprocess.Popen([tool, *arguments], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, preexec_fn=limit) as process:
        try:
            _, said = process.communicate(timeout=limits.wait)
            by_clock = False
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
            by_clock = True
    return Ended(process.returncode, 0, 0, by_clock, said.decode(errors="replace"))

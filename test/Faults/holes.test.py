"""Streams that are closed or full, files that are none, memory that runs out, signals.

    holes.test.py --tools DIRECTORY --work DIRECTORY [NAME...]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from processes import MODELS, Run, interposer, state

MODEL = MODELS / "conv_halo.mlir"
LONG = ["--repeat=100000000", "--timeout=20000"]


def within(limit: float, what: str, attempt: Callable[[], float]) -> None:
    """What ``attempt`` returns, in seconds, is below ``limit`` in one of up to four tries: other programs make it late now and then, not each time."""
    took = [attempt()]
    while took[-1] >= limit and len(took) < 4:
        took.append(attempt())
    assert took[-1] < limit, f"{what}: {took} s"


class Tests:
    def __init__(self, tools: Path, work: Path) -> None:
        self.tools, self.work = tools, work
        self.run, self.translate, self.opt = (str(tools / f"shard-{name}") for name in ("run", "translate", "opt"))

    def expect(self, command: str, code: int, *said: str, lines: int = 1, memory: int = 0) -> None:
        """Run a line of bash; it must end with ``code`` and say ``said`` in ``lines`` lines of stderr (0: any)."""

        def limit() -> None:
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        script = f"RUN={self.run} TRANSLATE={self.translate} OPT={self.opt} MODEL={MODEL}\n{command}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=240, check=False, preexec_fn=limit, cwd=self.work)
        what = f"{command}\ncode {done.returncode}, expected {code}\n{done.stderr}"
        assert done.returncode == code, what
        assert all(text in done.stderr for text in said), f"{what}\nexpected {said}"
        errors = [line for line in done.stderr.splitlines() if " ms per step" not in line]
        assert not lines or code == 0 or len(errors) == lines, what
        assert "PLEASE submit" not in done.stderr and "Stack dump" not in done.stderr, what

    def closed_streams(self) -> None:
        self.expect("$RUN $MODEL --processes=4 >&-", 7, "shard-run: error: stdout: Bad file descriptor")
        self.expect("$RUN $MODEL --ranks=4 >&-", 7, "shard-run: error: stdout: Bad file descriptor")
        self.expect("$RUN $MODEL --processes=4 --outputs=@o.npz >&- <&- 2>&-", 0)
        self.expect("$RUN $MODEL --processes=4 <&- 2>&- | grep -q 'output 0: f32'", 0)
        self.expect("$TRANSLATE $MODEL -o - --emit=header >&-", 7, "shard-translate: error: stdout: ")
        self.expect("$OPT $MODEL >&-", 7, "shard-opt: error: stdout: ")
        self.expect("$RUN - <&-", 7, "shard-run: error: -: ")
        # Nobody reads what a pipe gets.
        self.expect("($RUN $MODEL; echo $? >piped) | true; sleep 0.1; exit $(cat piped)", 7, "stdout: Broken pipe")

    def full_streams(self) -> None:
        self.expect("$RUN $MODEL --ranks=4 >/dev/full", 7, "stdout: No space left on device")
        self.expect("$RUN $MODEL --processes=4 >/dev/full", 7, "stdout: No space left on device")
        self.expect("$RUN $MODEL --report=json >/dev/full", 7, "stdout: No space left on device")
        for emit in ("llvmir", "header"):
            self.expect(f"$TRANSLATE $MODEL --emit={emit} -o - >/dev/full", 7, "stdout: No space left on device")
        for emit in ("llvmir", "header", "obj", "artifact"):
            self.expect(f"$TRANSLATE $MODEL --emit={emit} -o /dev/full", 7, "/dev/full: ", "No space left on device")
        self.expect("$OPT $MODEL >/dev/full", 7, "shard-opt: error: stdout: No space left on device")
        self.expect("$OPT $MODEL -o /dev/full", 7, "/dev/full: ", "No space left on device")
        # Messages that nobody can read do not change the code.
        self.expect("$RUN $MODEL --ranks=4 2>/dev/full | grep -q 'output 0'", 0)
        self.expect("$RUN no-such-model 2>/dev/full", 7, lines=0)

    def names_of_devices_stay(self) -> None:
        """Whoever may rename (root) would take /dev/stdout away from everybody."""
        before = [os.readlink("/dev/stdout"), os.stat("/dev/null").st_mode]
        for tool in ("$OPT $MODEL", "$TRANSLATE $MODEL --emit=header"):
            self.expect(f"{tool} -o /dev/stdout >to-file && test -s to-file", 0)
            self.expect(f"{tool} -o /dev/stdout | grep -q .", 0)
            self.expect(f"{tool} -o /dev/null", 0)
        self.expect("$RUN $MODEL --trace=/dev/stdout | grep -q traceEvents", 0)
        assert before == [os.readlink("/dev/stdout"), os.stat("/dev/null").st_mode]

    def outputs_are_checked_first(self) -> None:
        """The model does not parse: whoever reads it before the directory says so, with code 1."""
        (self.work / "bad.mlir").write_text("this is no program\n")
        self.expect("$RUN bad.mlir", 1, "bad.mlir:1:1", lines=0)
        for option in ("--outputs=@missing/o.npz", "--report=missing/r.html", "--trace=missing/t.json"):
            for ranks in ("", " --processes=2"):
                path = option.split("=")[1].lstrip("@")
                self.expect(f"$RUN bad.mlir {option}{ranks}", 7, f"shard-run: error: {path}: cannot be written: No such file or directory")
        self.expect("$RUN bad.mlir --outputs=@.", 7, ".: cannot be written: Is a directory")
        self.expect("$TRANSLATE bad.mlir -o missing/a.so", 7, "missing/a.so: cannot be written: No such file")
        self.expect("$OPT bad.mlir -o missing/a.mlir", 7, "missing/a.mlir: cannot be written: No such file")

    def special_files(self) -> None:
        """What does not end or is no file is refused; pipes are read."""
        os.mkfifo(self.work / "fifo")
        (self.work / "folder").mkdir()
        listener = socket.socket(socket.AF_UNIX)
        os.chdir(self.work)
        listener.bind("socket")
        for tool, more in (("$RUN", ""), ("$TRANSLATE", "-o a.so"), ("$OPT", "-o a.mlir")):
            for path, why in (("/dev/zero", "is a device"), ("folder", "is a directory"), ("socket", "is a socket"), ("- </dev/zero", "is a device")):
                self.expect(f"{tool} {path} {more}", 7, f"error: {path.split()[0]}: {why}")
        for option in ("--inputs=@%s", "--input=@%s", "--expect=@%s"):
            for path, why in (("/dev/zero", "is a device"), ("folder", "is a directory"), ("socket", "is a socket")):
                self.expect(f"$RUN $MODEL {option % path}" + " --input=1xf32=0" * 2 * (option == "--input=@%s"), 7, f"error: {path}: {why}")
        self.expect("$RUN <(cat $MODEL) | grep -q 'output 0'", 0)
        self.expect("cat $MODEL | $RUN - --processes=4 | grep -q 'output 0'", 0)
        self.expect("(sleep 0.3; cat $MODEL) >fifo & $RUN fifo --processes=4 | grep -q 'output 0'", 0)
        self.expect("$OPT <(cat $MODEL) | grep -q convolution", 0)
        inputs = MODEL.with_suffix(".npz")
        self.expect(f"$RUN $MODEL --inputs=@<(cat {inputs}) --expect=@{inputs}", 0)
        self.expect(f"$RUN $MODEL --inputs=@<(cat {inputs}) --processes=4", 7, "several processes cannot each read it; store it in one")

    def memory(self) -> None:
        """Whatever little a process may have: it runs, or ends with 9, one line and no trace of LLVM's."""
        codes = set()

        def starts(mebibytes: int) -> bool:
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
            return subprocess.run([self.run, "--version"], preexec_fn=limit, capture_output=True).returncode == 0

        # What its libraries take differs from machine to machine; below that the loader says so.
        least = next(size for size in range(100, 2000, 10) if starts(size))
        for mebibytes in (least + more for more in (10, 30, 60, 160, 360)):
            for ranks in ("--ranks=4", "--processes=4"):
                script = [self.run, str(MODEL), ranks, "--timeout=20000"]
                with Run(script, preexec=lambda m=mebibytes: resource.setrlimit(resource.RLIMIT_AS, (m << 20, m << 20))) as run:
                    code, _ = run.wait()
                    text = run.text()
                    assert code in (0, 9), f"{mebibytes} MiB, {ranks}: code {code}\n{text}"
                    assert "LLVM ERROR" not in text and "PLEASE" not in text, text
                    assert code == 0 or text.count("\n") == 1, f"{mebibytes} MiB, {ranks}: {text}"
                    assert not run.left(), run.left()
                    codes.add(code)
        assert codes == {0, 9}, f"the limits are all too wide, or all too narrow: {codes}"

    def memory_of_one_rank(self) -> None:
        """One rank of four may have some KiB more than before its main: code 9 and its number, or it has enough; the others leave."""
        library = str(interposer(self.work))
        hit = 0
        for victim, kibibytes in ((0, 1000), (3, 30_000), (1, 3000), (2, 100_000)):
            environment = {"LD_PRELOAD": library, "SHARDC_FAULT": f"memory:{victim}:{kibibytes}"}
            with Run([self.run, str(MODEL), "--processes=4", "--timeout=20000"], environment) as run:
                ranks = run.ranks(4)
                # What a rank needs until it has no memory left is its own affair.
                while state(ranks[victim]) and run.process.poll() is None:
                    time.sleep(0.01)
                code, took = run.wait(20)
                text = run.text()
                if code == 0:
                    continue
                assert code == 9 and f"rank {victim}" in text and "memory" in text, f"{kibibytes} KiB: code {code}\n{text}"
                assert "LLVM ERROR" not in text and not run.left(), text + run.left()
                # The watchdog would take 20 s.
                assert took < 15, f"{took} s"
                hit += 1
        assert hit > 1, "hardly any rank ran out of memory"

    def signals(self) -> None:
        """INT, TERM and HUP end all with their code; after KILL nothing is left either."""
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)):
            for delay in (0.02, 0.3, 1.0):
                def attempt(number: signal.Signals = number, code: int = code, delay: float = delay) -> float:
                    with Run([self.run, str(MODEL), "--processes=4", *LONG]) as run:
                        time.sleep(delay)
                        os.kill(run.process.pid, number)
                        got, took = run.wait(60)
                        # Before main a signal ends the process itself, which a shell reports alike.
                        assert got in (code, -number), f"{number!r} after {delay} s: code {got}\n{run.text()}"
                        assert not (left := run.left()), f"{number!r} after {delay} s: {left}"
                        return took

                within(4, f"{number!r} after {delay} s", attempt)

    def nohup(self) -> None:
        """A launcher that was asked not to hear HUP runs on, and still hears TERM."""
        with Run(["nohup", self.run, str(MODEL), "--processes=2", "--mesh=x=2", *LONG]) as run:
            run.ranks(2, used=0.05)
            os.kill(run.process.pid, signal.SIGHUP)
            time.sleep(0.3)
            assert run.process.poll() is None, run.text()
            os.kill(run.process.pid, signal.SIGTERM)
            assert run.wait(20)[0] == 143 and not run.left()

    def stopped_ranks_go_too(self) -> None:
        """TERM of the launcher while a rank is stopped, which does not hear it."""

        def attempt() -> float:
            with Run([self.run, str(MODEL), "--processes=4", *LONG]) as run:
                ranks = run.ranks(4, used=0.1)
                os.kill(ranks[2], signal.SIGSTOP)
                os.kill(run.process.pid, signal.SIGTERM)
                code, took = run.wait(60)
                assert code == 143 and not run.left(), (code, took, run.left(), run.text())
                return took

        within(4, "TERM beside a stopped rank", attempt)

    def calls_of_the_system(self) -> None:
        """No process, no pipe, no file in memory: a limit of the machine, not a fault of the program."""
        library = str(interposer(self.work))
        self.expect("$OPT $MODEL --emit-bytecode -o model.mlirbc", 0)
        for fault, command, code, said in (
            ("fork:1", "$RUN model.mlirbc", 9, "no process to read it in: Resource temporarily unavailable"),
            ("pipe:1", "$RUN model.mlirbc", 9, "no pipe to read it through: Too many open files"),
            ("memfd:1", "$TRANSLATE $MODEL --no-cache -o a.so", 9, "no memory to link in: Cannot allocate memory"),
            ("write:1", "$TRANSLATE $MODEL --no-cache -o a.so", 9, "no memory to link in: No space left on device"),
            ("memfd:1", "$OPT $MODEL -o /dev/stdout >a.mlir", 9, "/dev/stdout: no file in memory: Cannot allocate memory"),
            ("write:1", "$OPT $MODEL -o a.mlir", 7, "a.mlir: writing stopped after"),
            ("memfd:4", "$TRANSLATE $MODEL --sandbox -o a.so", 9, "the sandbox's supervisor did not link: Cannot allocate memory"),
        ):
            self.expect(f"LD_PRELOAD={library} SHARDC_FAULT={fault} {command}", code, said)

    def no_temporary_files(self) -> None:
        """Nothing needs a directory for temporary files: a full or a missing one is no concern."""
        inputs = MODEL.with_suffix(".npz")
        command = f"TMPDIR=/no/such/folder $RUN $MODEL --inputs=@{inputs} --expect=@{inputs}"
        self.expect(command, 0)
        self.expect(command + " --processes=4", 0)
        self.expect("TMPDIR=/no/such/folder $TRANSLATE $MODEL -o t.so && $RUN t.so | grep -q 'output 0'", 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    tests = Tests(options.tools.resolve(), options.work.resolve())
    names = options.names or [name for name in vars(Tests) if not name.startswith("_") and name != "expect"]
    for name in names:
        begin = time.monotonic()
        getattr(tests, name)()
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return 0


sys.exit(main())

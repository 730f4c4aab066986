"""Attacks the port at which ranks connect, while one rank is held back and after all are there.

    attack.py SHARD-RUN MODEL [--before=10000] [--after=1000] [--slack=0.5] [--tries=3]

Three ranks connect as those of torchrun do, with a secret in a file. The attacker knows everything else: command line, model,
job name, port, what true ranks said in an earlier run, and the handshake (runtime/lib/Comm/Bootstrap/Handshake.h). It comes
before rank 0 listens and goes on until the last rank has joined. It must get nothing but challenges (64 bytes, none of them of
the secret or the job's name), and the job must end well, no later than undisturbed by 5 % or --slack seconds. Prints a table;
ends with 1 where something does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import hmac
import os
import random
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Inputs"))
from ports import free_port

RANKS = 3
HELD = 1  # the rank that comes late, and that the attacker would like to be
GREETING, CHALLENGE, PROOF = 52, 64, 32
WINDOW = 200  # connections at a time
TOKEN = f"attack.test.{os.getpid()}"

KINDS = (
    "nothing, then closes",
    "nothing, stays",
    "garbage",
    "greets, then closes",
    "greets, stays",
    "half a greeting",
    "a byte now and then",
    "huge lengths",
    "6 KiB",
    "a random proof",
    "a proof under a guess",
    "a replayed rank",
    "the listener's own proof",
    "a proof from another connection",
    "the greeting of old",
)


def word(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def prove(key: bytes, side: bytes, port: int, greeting: bytes, nonce: bytes, token: str = TOKEN) -> bytes:
    words = word(b"shardrt handshake") + word(side) + word(b"store") + word(token.encode())
    words += struct.pack("<QQ", port, 0) + word(greeting) + word(nonce)
    return hmac.new(key, words, hashlib.sha256).digest()


def greet(rank: int = HELD, nonce: bytes | None = None) -> bytes:
    return b"SHARDRT2" + struct.pack("<III", rank, RANKS, 0) + (nonce or os.urandom(32))


class Hostile:
    """One connection: what it says depends on its kind, and what it hears is kept."""

    def __init__(self, kind: str, port: int, heard: list[bytes], spare: list[Hostile]) -> None:
        self.kind, self.port, self.heard, self.spare = kind, port, heard, spare
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.received = b""
        self.greeting = greet()
        self.begun = False
        self.nextByte = 0.0
        self.since = time.monotonic()
        self.result = self.socket.connect_ex(("127.0.0.1", port))

    def say(self, text: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.send(text)

    def begin(self) -> bool:
        """Says what it says first; False if it is done already."""
        self.begun = True
        kind = self.kind
        if kind == "nothing, then closes":
            return False
        if kind == "garbage":
            self.say(os.urandom(random.randint(1, 4000)))
        elif kind == "half a greeting":
            self.say(self.greeting[: random.randint(1, GREETING - 1)])
        elif kind == "huge lengths":
            self.say(b"\xff\xff\xff\xff" + b"\xff" * 60)
        elif kind == "6 KiB":
            self.say(self.greeting + bytes(6144))
        elif kind == "a replayed rank" and self.heard:
            self.greeting = self.heard[0]
            self.say(self.greeting)
        elif kind == "the greeting of old":
            old = f"shardrt-store-1\n{HELD}\n{RANKS}\n{TOKEN}".encode()
            body = struct.pack("<I", 1) + b"J" + struct.pack("<I", len(old)) + old
            self.say(struct.pack("<I", len(body)) + body)
        elif kind not in ("nothing, stays", "a byte now and then"):
            self.say(self.greeting)
        return kind != "greets, then closes"

    def answer(self) -> None:
        """Has its challenge: tries to prove what it cannot."""
        nonce, proof = self.received[:32], self.received[32:64]
        kind = self.kind
        if kind == "a random proof":
            self.say(os.urandom(PROOF))
        elif kind == "a proof under a guess":
            guess = random.choice((TOKEN, str(self.port), "", "shardrt, insecure", "SHARDRT2"))
            key = random.choice((hashlib.sha256(guess.encode()).digest(), guess.encode().ljust(32, b"\0")[:32]))
            self.say(prove(key, b"connecter", self.port, self.greeting, nonce))
        elif kind == "a replayed rank" and len(self.heard) > 1:
            self.say(self.heard[1])
        elif kind == "the listener's own proof":
            self.say(proof)
        elif kind == "a proof from another connection":
            # Greets elsewhere with this one's nonce: whatever is proven there is about another connection.
            for other in self.spare:
                if other is not self and len(other.received) == CHALLENGE:
                    self.say(other.received[32:64])
                    return
            self.say(proof[::-1])

    def tick(self, now: float) -> None:
        if self.kind == "a byte now and then" and now > self.nextByte:
            self.nextByte = now + 0.3
            self.say(self.greeting[:1])
            self.greeting = self.greeting[1:] or b"\0"


class Attacker(threading.Thread):
    """Keeps WINDOW hostile connections open until it is told to stop, and counts."""

    def __init__(self, port: int, heard: list[bytes], secrets: list[bytes], least: int) -> None:
        super().__init__(daemon=True)
        self.port, self.heard, self.secrets, self.least = port, heard, secrets, least
        self.made = {kind: 0 for kind in KINDS}
        self.refused = 0  # nobody listened
        self.total = 0
        self.admitted: list[str] = []
        self.leaked: list[str] = []
        self.challenged = 0
        self.mayStop = threading.Event()
        self.enough = threading.Event()

    def judge(self, one: Hostile) -> None:
        if len(one.received) > CHALLENGE:
            self.admitted.append(f"{one.kind}: {one.received.hex()}")
        if any(secret in one.received for secret in self.secrets):
            self.leaked.append(f"{one.kind}: {one.received.hex()}")
        self.challenged += len(one.received) >= CHALLENGE

    def close(self, one: Hostile, selector: selectors.BaseSelector, alive: list[Hostile]) -> None:
        selector.unregister(one.socket)
        one.socket.close()
        alive.remove(one)
        self.judge(one)

    def run(self) -> None:
        selector = selectors.DefaultSelector()
        alive: list[Hostile] = []
        while not (self.mayStop.is_set() and self.total >= self.least):
            # Not faster than the others can have a turn: a flood, not a test of the kernel.
            for _ in range(min(20, WINDOW - len(alive))):
                kind = KINDS[self.total % len(KINDS)]
                one = Hostile(kind, self.port, self.heard, alive)
                if one.result not in (0, errno.EINPROGRESS):
                    one.socket.close()
                    self.refused += 1
                    if one.result != errno.ECONNREFUSED:
                        time.sleep(0.01)
                    continue
                self.total += 1
                self.made[kind] += 1
                alive.append(one)
                selector.register(one.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, one)
            if not alive:
                time.sleep(0.005)
                continue
            now = time.monotonic()
            for key, mask in selector.select(0.01):
                one = key.data
                if not one.begun and mask & selectors.EVENT_WRITE:
                    if one.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                        self.total -= 1
                        self.made[one.kind] -= 1
                        self.refused += 1
                        self.close(one, selector, alive)
                        continue
                    selector.modify(one.socket, selectors.EVENT_READ, one)
                    if not one.begin():
                        self.close(one, selector, alive)
                        continue
                if mask & selectors.EVENT_READ:
                    try:
                        text = one.socket.recv(65536)
                    except BlockingIOError:
                        continue
                    except OSError:
                        text = b""
                    hadChallenge = len(one.received) >= CHALLENGE
                    one.received += text
                    if not text:
                        self.close(one, selector, alive)
                    elif not hadChallenge and len(one.received) >= CHALLENGE:
                        one.answer()
            for one in alive[:]:
                one.tick(now)
                # Those that stay make room for others, when there are many.
                if len(alive) > WINDOW * 3 // 4 and now - one.since > 1:
                    self.close(one, selector, alive)
            if self.total >= self.least:
                self.enough.set()
        for one in alive[:]:
            with contextlib.suppress(OSError):
                one.received += one.socket.recv(65536)
            self.close(one, selector, alive)


class Relay(threading.Thread):
    """Stands between one rank and rank 0, passes all on, keeps it; may change what comes behind the handshake."""

    def __init__(self, address: str, port: int, to: int, change: str = "") -> None:
        super().__init__(daemon=True)
        self.to, self.change = to, change
        self.up = self.down = b""
        self.changed = 0
        self.listener = socket.create_server((address, port))
        self.start()

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            deadline = time.monotonic() + 30
            while True:
                try:
                    server = socket.create_connection(("127.0.0.1", self.to))
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        client.close()
                        return
                    time.sleep(0.01)
            self.up = self.down = b""
            threading.Thread(target=self.carry, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.carry, args=(server, client, False), daemon=True).start()

    def carry(self, source: socket.socket, sink: socket.socket, isUp: bool) -> None:
        seen = 0
        with contextlib.suppress(OSError):
            while text := source.recv(65536):
                begin = GREETING + PROOF if isUp else CHALLENGE
                if isUp:
                    self.up += text
                else:
                    self.down += text
                if isUp and seen >= begin and self.change and not self.changed:
                    self.changed += 1
                    if self.change == "bit":
                        middle = len(text) // 2
                        text = text[:middle] + bytes([text[middle] ^ 1]) + text[middle + 1 :]
                    elif self.change == "repeat":
                        text += text
                    elif self.change == "inject":
                        text = struct.pack("<I", 48) + os.urandom(48) + text
                    elif self.change == "swallow":
                        text = b""
                if not isUp and seen >= begin and self.change == "answer" and not self.changed:
                    self.changed += 1
                    text = text[:-1] + bytes([text[-1] ^ 1])
                seen += len(text)
                sink.sendall(text)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def listeners_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Ports at which these processes listen."""
    inodes = set()
    for process in processes:
        with contextlib.suppress(OSError):
            for file in Path(f"/proc/{process.pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if (name := os.readlink(file)).startswith("socket:["):
                        inodes.add(name[8:-1])
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            found.append(fields[1])
    return found


class Job:
    """Three ranks of one program."""

    def __init__(self, tool: str, model: str, directory: Path, options: list[str]) -> None:
        self.command = [tool, model, f"--mesh=x={RANKS}", "--transport=tcp", *options]
        self.directory = directory
        self.secret = os.urandom(32)
        self.file = directory / "secret"
        self.port = free_port()
        self.ranks: dict[int, subprocess.Popen[str]] = {}
        self.file.unlink(missing_ok=True)
        with open(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(self.secret.hex())

    def start(self, rank: int, address: str = "127.0.0.1", port: int = 0) -> subprocess.Popen[str]:
        names = {"RANK": rank, "WORLD_SIZE": RANKS, "MASTER_ADDR": address, "MASTER_PORT": port or self.port}
        names |= {"SHARDRT_JOB_TOKEN": TOKEN, "SHARDRT_SECRET_FILE": self.file}
        environment = os.environ | {name: str(value) for name, value in names.items()}
        extra = [f"--outputs=@{self.directory}/out.npz"] if rank == 0 else []
        process = subprocess.Popen(
            self.command + extra, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.ranks[rank] = process
        return process

    def wait(self, seconds: float = 120) -> dict[int, tuple[int, str]]:
        deadline = time.monotonic() + seconds
        ended = {}
        for rank, process in self.ranks.items():
            _, text = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
            ended[rank] = (process.returncode, text.strip())
        return ended

    def output(self) -> bytes:
        return (self.directory / "out.npz").read_bytes()


@contextlib.contextmanager
def job_of(arguments: argparse.Namespace, options: list[str]) -> Iterator[Job]:
    with tempfile.TemporaryDirectory() as directory:
        job = Job(arguments.tool, arguments.model, Path(directory), options)
        try:
            yield job
        finally:
            for process in job.ranks.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()


FAILURES: list[str] = []


def expect(holds: bool, what: str) -> None:
    if not holds:
        FAILURES.append(what)
        print(f"  WRONG: {what}")


def record(arguments: argparse.Namespace) -> tuple[list[bytes], bytes]:
    """What rank HELD says in a job of its own, through a relay that changes nothing; and the job's output."""
    with job_of(arguments, []) as job:
        relay = Relay("127.0.0.2", job.port, job.port)
        for rank in range(RANKS):
            job.start(rank, "127.0.0.2" if rank == HELD else "127.0.0.1")
        ended = job.wait()
        expect(all(code == 0 for code, _ in ended.values()), f"a relay that changes nothing does no harm: {ended}")
        relay.listener.close()
        said = relay.up
        for secret in (job.secret, job.secret.hex().encode(), TOKEN.encode()):
            expect(secret not in relay.up + relay.down, "a relay sees neither secret nor job name")
        return [said[:GREETING], said[GREETING : GREETING + PROOF]], job.output()


def control(arguments: argparse.Namespace) -> None:
    """That the attacker would get in, had it the secret: what it does is the true handshake."""
    with job_of(arguments, []) as job:
        job.start(0)
        deadline = time.monotonic() + 60
        while True:
            try:
                one = socket.create_connection(("127.0.0.1", job.port))
                break
            except OSError:
                assert time.monotonic() < deadline, "rank 0 does not listen"
                time.sleep(0.02)
        one.settimeout(20)
        greeting = greet()
        one.sendall(greeting)
        challenge = one.recv(CHALLENGE, socket.MSG_WAITALL)
        isRankZero = hmac.compare_digest(challenge[32:], prove(job.secret, b"listener", job.port, greeting, challenge[:32]))
        expect(isRankZero, "rank 0 proves itself")
        one.sendall(prove(job.secret, b"connecter", job.port, greeting, challenge[:32]))
        verdict = one.recv(25, socket.MSG_WAITALL)
        expect(len(verdict) == 25, "who holds the secret is let in")
        print(f"control: with the secret the same words are let in (verdict of {len(verdict)} bytes)")


def undisturbed(arguments: argparse.Namespace, expected: bytes) -> float:
    with job_of(arguments, []) as job:
        for rank in range(RANKS):
            if rank != HELD:
                job.start(rank)
        time.sleep(2)
        begin = time.monotonic()
        job.start(HELD)
        ended = job.wait()
        expect(all(code == 0 for code, _ in ended.values()), f"an undisturbed job ends well: {ended}")
        expect(job.output() == expected, "an undisturbed job's output")
        return time.monotonic() - begin


def disturbed(arguments: argparse.Namespace, heard: list[bytes], expected: bytes) -> float:
    with job_of(arguments, []) as job:
        secrets = [job.secret, job.secret.hex().encode(), TOKEN.encode()]
        attacker = Attacker(job.port, heard, secrets, arguments.before)
        attacker.start()
        time.sleep(0.3)
        for rank in range(RANKS):
            if rank != HELD:
                job.start(rank)
        began = time.monotonic()
        # That many, then the rank comes in among more of them.
        while attacker.total < arguments.before and time.monotonic() - began < 300:
            time.sleep(0.02)
        begin = time.monotonic()
        job.start(HELD)
        ended = job.wait()
        took = time.monotonic() - begin
        attacker.least = attacker.total
        attacker.mayStop.set()
        attacker.join(20)
        expect(all(code == 0 for code, _ in ended.values()), f"the job ends well: {ended}")
        expect(job.output() == expected, "the job's output is that of an undisturbed one")
        expect(attacker.refused > 0, "the attacker was there before rank 0")
        expect(attacker.total >= arguments.before, f"there were enough connections: {attacker.total}")
        expect(not attacker.admitted, f"nobody is let in: {attacker.admitted[:3]}")
        expect(not attacker.leaked, f"nobody is told a secret: {attacker.leaked[:3]}")
        print(
            f"{attacker.total} hostile connections ({attacker.refused} more before rank 0 listened or after the port was "
            f"closed), {attacker.challenged} of them challenged: {len(attacker.admitted)} admitted, "
            f"{len(attacker.leaked)} told a secret; {took:.2f} s from the last rank's start to the end"
        )
        for kind, count in attacker.made.items():
            print(f"  {count:6d} {kind}")
        return took


def afterwards(arguments: argparse.Namespace) -> None:
    """All ranks are there, and step: nobody listens."""
    with job_of(arguments, ["--repeat=1000000", "--timeout=20000"]) as job:
        processes = [job.start(rank) for rank in range(RANKS)]
        deadline = time.monotonic() + 60
        # They step: each has used a while of a core.
        while min(busy(process.pid) for process in processes) < 0.5:
            assert time.monotonic() < deadline, "the ranks do not begin"
            time.sleep(0.05)
        before = [busy(process.pid) for process in processes]
        listening = listeners_of(processes)
        expect(not listening, f"ranks that step listen nowhere: {listening}")
        refused = 0
        for _ in range(arguments.after):
            with socket.socket() as one:
                refused += one.connect_ex(("127.0.0.1", job.port)) == errno.ECONNREFUSED
        expect(refused == arguments.after, f"{refused} of {arguments.after} connections are refused after the start")
        deadline = time.monotonic() + 20
        while (areStill := [busy(process.pid) <= old for process, old in zip(processes, before)]) and any(areStill) and time.monotonic() < deadline:
            time.sleep(0.05)
        expect(not any(areStill), "the ranks step on")
        expect(all(process.poll() is None for process in processes), "the job goes on")
        print(f"after the start: {refused} of {arguments.after} connections refused, the job goes on")


def busy(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def relayed(arguments: argparse.Namespace) -> None:
    """A relay that changes, repeats, adds or drops what follows a true handshake ends the job; it changes nothing in it."""
    for change in ("bit", "repeat", "inject", "swallow", "answer"):
        # On a busy machine ranks may give one another up before there is anything to change.
        for timeout in (700, 2800, 11200):
            with job_of(arguments, [f"--timeout={timeout}"]) as job:
                relay = Relay("127.0.0.2", job.port, job.port, change)
                for rank in range(RANKS):
                    job.start(rank, "127.0.0.2" if rank == HELD else "127.0.0.1")
                ended = job.wait()
                relay.listener.close()
            if relay.changed:
                break
        codes = [ended[rank][0] for rank in range(RANKS)]
        expect(relay.changed == 1, f"relay, {change}: something was changed")
        expect(all(code in (4, 5) for code in codes), f"relay, {change}: all end: {ended}")
        print(f"relay, {change}: the ranks end with {codes}")
    # To another port: what is proven is about the port that was meant.
    with job_of(arguments, []) as job:
        other = free_port()
        relay = Relay("127.0.0.1", other, job.port)
        for rank in range(RANKS):
            if rank != HELD:
                job.start(rank)
        lured = job.start(HELD, "127.0.0.1", other)
        _, text = lured.communicate(timeout=60)
        expect(lured.returncode == 4 and "does not hold the job's secret" in text, f"relay to another port: {text}")
        job.start(HELD)
        ended = job.wait()
        relay.listener.close()
        expect(all(code == 0 for code, _ in ended.values()), f"relay to another port: the job goes on: {ended}")
        print("relay to another port: the rank that was lured there is refused, the job ends well")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("model")
    parser.add_argument("--before", type=int, default=10_000)
    parser.add_argument("--after", type=int, default=1_000)
    parser.add_argument("--slack", type=float, default=0.5, help="seconds that a start under attack may take longer")
    parser.add_argument("--tries", type=int, default=3, help="starts of each kind, of which the median counts")
    parser.add_argument("--relays", type=int, default=1, help="0: leave the relays out")
    arguments = parser.parse_args()
    random.seed(7)
    heard, expected = record(arguments)
    control(arguments)
    alone = statistics.median(undisturbed(arguments, expected) for _ in range(arguments.tries))
    under = statistics.median(disturbed(arguments, heard, expected) for _ in range(arguments.tries))
    print(f"from the last rank's start to the end: {alone:.2f} s alone, {under:.2f} s under attack (median of {arguments.tries})")
    expect(under - alone <= max(arguments.slack, 0.05 * alone), f"the start takes {under - alone:.2f} s longer")
    afterwards(arguments)
    if arguments.relays:
        relayed(arguments)
    print(f"{len(FAILURES)} wrong")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())

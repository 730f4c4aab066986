"""Two network namespaces and a link between them that can be slow, lossy or cut. Needs root, ip and /dev/net/tun.

The kernel's own way (netem) is missing from many kernels: here packets of one tunnel device are carried to the other by hand.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time
from dataclasses import dataclass

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 1, 0x1000, 0x40000000


def is_possible() -> bool:
    """Whether this machine lets us make such links."""
    if os.geteuid() != 0 or not shutil.which("ip") or not os.path.exists("/dev/net/tun"):
        return False
    name = f"shardc-probe-{os.getpid()}"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return done.returncode == 0


@dataclass
class Weather:
    """What happens to packets."""

    delay: float = 0.0
    """Seconds that each takes."""
    stall: float = 0.0
    """How many of a hundred take half a second more."""
    rate: float = 0.0
    """Bits a second; 0: no limit."""
    cut: tuple[bool, bool] = (False, False)
    """Whether nothing arrives any more, there and back."""


class Link:
    """Namespaces ``names[0]`` and ``names[1]`` with addresses ``addresses``."""

    number = 0

    def __enter__(self) -> Link:
        Link.number += 1
        label = f"{os.getpid()}-{Link.number}-{random.randrange(1 << 20)}"
        self.names = [f"shardc-{label}-{side}" for side in "ab"]
        self.addresses = ["10.77.1.1", "10.77.1.2"]
        self.weather = Weather()
        self._exit = contextlib.ExitStack()
        self._stop = threading.Event()
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True)
                self._exit.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True, check=False)
            self.devices = [self._device(name) for name in self.names]
            for side, name in enumerate(self.names):
                for line in (f"addr add {self.addresses[side]} peer {self.addresses[1 - side]} dev link0", "link set link0 up", "link set lo up"):
                    subprocess.run(["ip", "-n", name, *line.split()], check=True)
            self._threads = [threading.Thread(target=self._carry, args=(side,), daemon=True) for side in (0, 1)]
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for device in self.devices:
            os.close(device)
        self._exit.close()

    def _device(self, name: str) -> int:
        """A tunnel device in the namespace ``name``: what it reads is what is sent there."""
        made: list[int] = []

        def make() -> None:
            # The namespace is of this thread alone.
            libc = ctypes.CDLL(None, use_errno=True)
            with open(f"/run/netns/{name}", "rb") as space:
                if libc.setns(space.fileno(), CLONE_NEWNET) != 0:
                    return
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"link0", IFF_TUN | IFF_NO_PI))
            made.append(device)

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        if not made:
            raise OSError(f"no tunnel device in {name}")
        return made[0]

    def _carry(self, side: int) -> None:
        """Bring packets from ``side`` to the other one."""
        rng = random.Random(side)
        source, target = self.devices[side], self.devices[1 - side]
        waiting: list[tuple[float, int, bytes]] = []
        number, free = 0, 0.0
        while not self._stop.is_set():
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                packet = heapq.heappop(waiting)[2]
                if not self.weather.cut[side]:
                    with contextlib.suppress(OSError):
                        os.write(target, packet)
            wait = min(0.05, waiting[0][0] - now) if waiting else 0.05
            if not select.select([source], [], [], max(0.0, wait))[0]:
                continue
            weather, now = self.weather, time.monotonic()
            for _ in range(64):
                try:
                    packet = os.read(source, 65536)
                except OSError:
                    break
                at = now + weather.delay + (0.5 if rng.random() * 100 < weather.stall else 0.0)
                if weather.rate:
                    free = max(free, now) + 8 * len(packet) / weather.rate
                    # What waits longest is lost, as in a router.
                    if free - now > 2:
                        continue
                    at = max(at, free)
                number += 1
                heapq.heappush(waiting, (at, number, packet))

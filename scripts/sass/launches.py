"""What a program launches: kernels with their arguments."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path


@dataclasses.dataclass
class Launch:
    """What a kernel was launched with: arguments as words of 8 bytes."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    words: list[int]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]


def block_at(grid: tuple[int, int, int], number: int) -> tuple[int, int, int]:
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


def read_launches(path: Path, thread: int = 0) -> tuple[list[Launch], Counter[str]]:
    """What one thread launched (test/Gpu/LaunchRecorder.c), and bytes that moved without a kernel, by what did that."""
    launches, moved = [], Counter[str]()
    for line in path.read_text().splitlines():
        words = line.split()
        if int(words[0]) != thread:
            continue
        if words[1] != "launch":
            moved[words[1]] += int(words[2])
            moved[words[1] + "s"] += 1
            continue
        numbers = [int(word) for word in words[3:10]]
        launches.append(
            Launch(
                words[2],
                (numbers[0], numbers[1], numbers[2]),
                (numbers[3], numbers[4], numbers[5]),
                numbers[6],
                [int(word, 16) for word in words[10:]],
            )
        )
    return launches, moved

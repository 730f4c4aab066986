"""By which power of the size of a program a tool's processor time grows, on a machine that does other things.

    growth_of_time.py        tries itself on times that are made up: n log n with noise, and n² with noise

Noise only ever adds to a time, so the least of several rounds is taken. Sizes take turns: a busy minute meets them all. What a program of a few ops takes (start, dialects) is taken off, or it would
hide a small power. The bound is halfway between n log n and n², in the exponent: for eight times the ops some 27 times the time. Rounds go on while the bound is exceeded, so noise makes a
test longer, and only growth makes it fail.
"""

from __future__ import annotations

import math
import random
import resource
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

SMALLEST = 5  # ops of the program whose time is taken off
FEWEST, MOST = 5, 15  # rounds


@dataclass
class Growth:
    """Least times, in seconds of the processor, and by which power of the number of ops they grow."""

    least: dict[int, float]
    power: float
    bound: float
    rounds: int

    @property
    def is_fast(self) -> bool:
        """Whether time grows faster than halfway between n log n and n²."""
        return self.power > self.bound

    def __str__(self) -> str:
        times = ", ".join(f"{ops} ops {seconds:.2f} s" for ops, seconds in self.least.items())
        verdict = "too fast: more than" if self.is_fast else "at most"
        return f"{times}: grows as ops to the {self.power:.2f}, {verdict} {self.bound:.2f} (least of {self.rounds} rounds)"


def processor_time(command: list[str]) -> float:
    """Seconds of processor time, of user and system, that `command` takes; it has to end with 0."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def halfway(small: int, large: int) -> float:
    """The exponent halfway between those of n log n and of n², from `small` to `large`."""
    return (1 + math.log(math.log(large) / math.log(small)) / math.log(large / small) + 2) / 2


def growth(time_of: Callable[[int], float], small: int, large: int) -> Growth:
    """How the seconds that `time_of` takes for a program of some ops grow from `small` to `large` ops."""
    sizes, bound = (SMALLEST, small, large), halfway(small, large)
    least = dict.fromkeys(sizes, math.inf)
    power, rounds = math.inf, 0
    while rounds < FEWEST or (power > bound and rounds < MOST):
        for ops in sizes:
            least[ops] = min(least[ops], time_of(ops))
        rounds += 1
        # Times are counted in steps of a clock.
        own = [max(least[ops] - least[SMALLEST], 1e-3) for ops in (small, large)]
        power = math.log(own[1] / own[0]) / math.log(large / small)
    return Growth(least, power, bound, rounds)


def self_test() -> None:
    """Times that are made up: every second is disturbed, by up to the same time again."""
    for seed in range(200):
        stream = random.Random(seed)

        def disturbed(seconds: float, stream: random.Random = stream) -> float:
            return seconds * (1 + stream.choice([0.02, 0.02, 1]) * stream.random())

        linear = growth(lambda ops: disturbed(0.07 + 5e-5 * ops * math.log(ops)), 250, 2000)
        assert not linear.is_fast, linear
        square = growth(lambda ops: disturbed(0.07 + 1e-6 * ops * ops), 250, 2000)
        assert square.is_fast, square
    print("n log n passes and n² does not")


if __name__ == "__main__":
    self_test()

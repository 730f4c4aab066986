"""Devices on cores that others use as well: who waits for another device sleeps, instead of giving its core away for a time slice each time."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="2")

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SUMS = 300


def given_away() -> int:
    """How often a thread of this process left its core though it had work: sched_yield, or the scheduler's turn."""
    lines = [line for task in Path("/proc/self/task").iterdir() for line in (task / "status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("nonvoluntary"))


mesh = jax.make_mesh((2,), ("x",))
x = jax.device_put(jnp.ones((8, 4)), NamedSharding(mesh, P("x")))
step = jax.jit(lambda x: jax.lax.fori_loop(0, SUMS, lambda _, x: x + x.sum() * 1e-9, x))
step(x).block_until_ready()
others = [subprocess.Popen([sys.executable, "-c", "import time\nend = time.time() + 60\nwhile time.time() < end: pass"])
          for _ in range(2 * len(os.sched_getaffinity(0)))]
try:
    step(x).block_until_ready()
    before = given_away()
    step(x).block_until_ready()
    times = given_away() - before
finally:
    for other in others:
        other.kill()
        other.wait()
assert times < SUMS / 4, f"{times} times for {SUMS} sums"
print("crowded good")

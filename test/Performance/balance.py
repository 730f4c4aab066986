"""Balance of two ranks: what shardc.balance() makes of unequal cores and of unequal rows.

    balance.py [--steps N] [--only half,causal,...] [--measure N]

Each rank has one thread, pinned to a core of its own. Ten steps (--steps) look for sizes; then --measure steps with the
first and with the found sizes are timed: imbalance is the own time of the slower rank over the mean, medians of steps.

    half     rows of an MLP; a busy process is pinned to the second rank's core, which has half of it then (affinity and
             the scheduler: no control group is needed). Also printed: the found share over the ideal one, which follows
             from what a row takes on each rank with equal shards
    causal   attention whose rows see what comes before them, in the order of the sequence
    masked   a field of which a quarter is computed, by where()
    hubs     messages along edges, half of which come to a hundredth of the points, all at the beginning
    none     equal rows on equal cores: what there is to be left alone

The machine has to have two cores, and nothing else to do (`nice -n -20` where that cannot be had).
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--measure", type=int, default=8)
parser.add_argument("--only", default="none,half,causal,masked,hubs")
options = parser.parse_args()

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from shardc import _balance

MESH = {"x": 2}
random = np.random.default_rng(0)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def compiled(function, arguments, shardings):
    return shardc.compile(function, *arguments, mesh=MESH, in_shardings=shardings, dynamic="all", keep_order=True,
                          threads=1)


ROWS = shardc.split(0, "x")


def mlp():
    def step(x, w, v):
        return jnp.tanh(jnp.tanh(x @ w) @ v)

    arguments = floats(40000, 128), floats(128, 256) * 0.1, floats(256, 128) * 0.1
    return compiled(step, arguments, (ROWS, None, None)), arguments


def causal():
    def step(q, k, v):
        scores = jnp.einsum("shd,thd->hst", q, k) / 8
        place = jnp.arange(q.shape[0])
        scores = jnp.where(place[:, None] >= place[None, :], scores, -jnp.inf)
        return jnp.einsum("hst,thd->shd", jax.nn.softmax(scores, axis=-1), v)

    arguments = floats(4096, 4, 64), floats(4096, 4, 64), floats(4096, 4, 64)
    return compiled(step, arguments, (ROWS, ROWS, ROWS)), arguments


def masked():
    def step(field, mask):
        value = field
        for _ in range(8):
            value = jnp.where(mask, jnp.sin(jnp.exp(jnp.tanh(value))), value)
        return value

    mask = np.zeros((2000, 1000), bool)
    mask[:500] = True
    arguments = floats(2000, 1000), mask
    return compiled(step, arguments, (ROWS, ROWS)), arguments


def hubs():
    points, edges = 20000, 160000

    def step(x, w, senders, receivers):
        h = jnp.tanh(x @ w)
        return jnp.tanh(h + jax.ops.segment_sum(h[senders], receivers, points))

    receivers = np.where(random.random(edges) < 0.5, random.integers(0, points // 100, edges),
                         random.integers(0, points, edges))
    arguments = (floats(points, 64), floats(64, 64) * 0.1, random.integers(0, points, edges).astype(np.int32),
                 np.sort(receivers).astype(np.int32))
    return compiled(step, arguments, (ROWS, None, ROWS, ROWS)), arguments


def busy_ticks():
    """What each thread of this process has used of processors."""
    ticks = {}
    for path in Path("/proc/self/task").iterdir():
        fields = (path / "stat").read_text().rpartition(")")[2].split()
        ticks[int(path.name)] = int(fields[11]) + int(fields[12])
    return ticks


def pin_ranks():
    """Each rank's thread to a core of its own: who works where one rank has all rows is that rank."""
    program, (x, w, v) = mlp()
    cores = sorted(os.sched_getaffinity(0))[:2]
    for rank, sizes in enumerate(([len(x), 0], [0, len(x)])):
        given = program.bind({(0, 0): sizes}).put(x, w, v)
        before = busy_ticks()
        for _ in range(3):
            program(*given).block_until_ready()
        after = busy_ticks()
        thread = max(after, key=lambda thread: after[thread] - before.get(thread, 0))
        os.sched_setaffinity(thread, {cores[rank]})
    return cores


def measured(program, arguments):
    """Own milliseconds of each rank in a step: medians."""
    variant = program._variants[0]
    given = program.put(*arguments)
    executable = variant.executable_for(given)
    times = []
    for _ in range(options.measure + 1):
        before = _balance._own_ns(executable)
        jax.tree.map(lambda array: array.block_until_ready(), program(*given))
        times.append([now - then for now, then in zip(_balance._own_ns(executable), before, strict=True)])
    return np.median(times[1:], axis=0) / 1e6


def imbalance(times):
    return max(times) * len(times) / sum(times)


def run(name, make):
    program, arguments = make()
    first = measured(program, arguments)
    began = time.perf_counter()
    found = shardc.balance(program, *arguments, steps=options.steps)
    took = time.perf_counter() - began
    last = measured(found.program, arguments)
    sizes = found.sizes[0, 0]
    line = (f"{name:8} {first[0]:7.1f} {first[1]:7.1f} {imbalance(first):6.3f} | {last[0]:7.1f} {last[1]:7.1f} "
            f"{imbalance(last):6.3f} | {sizes[0]:6} {sizes[1]:6} {found.moves:2} {took:5.2f} s")
    if name == "half":
        ideal = sum(sizes) * first[1] / (first[0] + first[1])
        line += f" | {sizes[0] / ideal:.3f} of the ideal share {ideal:.0f}"
    print(line, flush=True)


def main():
    cores = pin_ranks()
    cases = {"none": mlp, "half": mlp, "causal": causal, "masked": masked, "hubs": hubs}
    print(f"         own ms of each, imbalance: first | found         | sizes, how often others were tried, {options.steps} steps")
    for name in options.only.split(","):
        other = None
        if name == "half":
            # A process beside the second rank: each has half of the core.
            spin = f"import os; os.sched_setaffinity(0, {{{cores[1]}}})\nwhile True: pass"
            other = subprocess.Popen([sys.executable, "-c", spin])
            time.sleep(0.5)
        try:
            run(name, cases[name])
        finally:
            if other is not None:
                other.kill()
                other.wait()


if __name__ == "__main__":
    main()

"""A stream of graphs of different sizes through one training step: shardc, bound to each, beside JAX with padding.

    stream.py [--samples N] [--least N] [--most N] [--ranks N] [--seed N]

Each sample has another number of points and of edges (about four a point). shardc compiles the step once, with the
extents left open, and binds it to each sample; in another run it compiles each of some samples as it is. JAX compiles it for eight buckets of numbers of points, and pads each
sample to the smallest that it fits; in another run it compiles it for each sample as it is. Every run starts with
nothing of it compiled; the cache of programs is off. Prints wall and processor time of the whole stream, the wall time that was
spent on the first sample, how many times as long the others take (by both times), and the largest difference between the
losses of shardc and of JAX without padding. `--only-shardc` leaves JAX's streams out.
"""

import argparse
import os
import resource
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--samples", type=int, default=100)
parser.add_argument("--least", type=int, default=2000)
parser.add_argument("--most", type=int, default=40000)
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--each", type=int, default=10, help="samples that are compiled each as it is")
parser.add_argument("--only-shardc", action="store_true")
options = parser.parse_args()

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["SHARDC_CACHE_DIR"] = ""

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from jax import export

FEATURES, HIDDEN = 8, 32


def step(w, o, x, senders, receivers, y, weight):
    """Loss and gradients of a layer of messages; points of weight 0 are padding."""
    n = x.shape[0]

    def loss(w, o):
        h = jnp.tanh(x @ w)
        h = h + jax.ops.segment_sum(h[senders], receivers, n)
        return (((h @ o - y) ** 2).sum(1) * weight).sum() / weight.sum()

    value, grads = jax.value_and_grad(loss, (0, 1))(w, o)
    return value, *(p - 0.01 * g for p, g in zip((w, o), grads, strict=True))


def samples():
    random = np.random.default_rng(options.seed)
    for _ in range(options.samples):
        n = int(random.integers(options.least, options.most))
        m = 4 * n - int(random.integers(0, n))
        yield (random.standard_normal((n, FEATURES)).astype(np.float32), random.integers(0, n, m).astype(np.int32),
               np.sort(random.integers(0, n, m)).astype(np.int32), random.standard_normal((n, 2)).astype(np.float32),
               np.ones(n, np.float32))


def start():
    random = np.random.default_rng(1)
    return [random.standard_normal(shape).astype(np.float32) * 0.1 for shape in ((FEATURES, HIDDEN), (HIDDEN, 2))]


def pad(sample, points, edges):
    """To as many points and edges; the edges that are added join points that count for nothing."""
    x, senders, receivers, y, weight = sample
    n, m = len(x), len(senders)
    return (np.pad(x, ((0, points - n), (0, 0))), np.pad(senders, (0, edges - m), constant_values=points - 1),
            np.pad(receivers, (0, edges - m), constant_values=points - 1), np.pad(y, ((0, points - n), (0, 0))),
            np.pad(weight, (0, points - n)))


def processor_time():
    return sum(used.ru_utime + used.ru_stime
               for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def timed(name, run, data):
    """Runs a stream; its wall and processor time, and its losses."""
    weights, losses = start(), []
    began, used = time.perf_counter(), processor_time()
    first = 0.0
    for sample in data:
        value, *weights = run(weights, sample)
        losses.append(float(value))
        first = first or time.perf_counter() - began
    took, used = time.perf_counter() - began, processor_time() - used
    print(f"{name:34s} {took:8.2f} s ({used:.2f} s of processor time) for {len(data)} samples, "
          f"{first:6.2f} s of it for the first", flush=True)
    return (took, used), losses


def times(name, peer, samples, ours, data):
    """Says how many times as long as ours a peer took, had it gone through all of the data."""
    wall, used = (a / len(samples) * len(data) / b for a, b in zip(peer, ours, strict=True))
    print(f"{name} takes {wall:.1f} times as long (from {len(samples)} samples), {used:.1f} times by processor time")


def main():
    data = list(samples())
    scope = export.SymbolicScope()
    shapes = [export.symbolic_shape(text, scope=scope)
              for text in (f"{FEATURES}, {HIDDEN}", f"{HIDDEN}, 2", f"n, {FEATURES}", "m", "m", "n, 2", "n")]
    kinds = [jnp.float32] * 3 + [jnp.int32] * 2 + [jnp.float32] * 2
    cut = shardc.split(0, "x")

    def compile_step(shapes, **how):
        exported = export.export(jax.jit(step))(*map(jax.ShapeDtypeStruct, shapes, kinds))
        return shardc.compile(exported, mesh={"x": options.ranks}, in_shardings=[None, None, *([cut] * 5)], **how)

    def shardc_stream():
        program = None

        def run(weights, sample):
            nonlocal program
            if program is None:
                program = compile_step(shapes, dynamic="all")
            return program(*weights, *sample)

        return run

    def shardc_each(weights, sample):
        return compile_step([value.shape for value in (*weights, *sample)])(*weights, *sample)

    def each_stream():
        compiled = jax.jit(step)
        return lambda weights, sample: compiled(*weights, *sample)

    buckets = np.linspace(options.least, options.most, 9).astype(int)[1:]

    def bucket_stream():
        compiled = jax.jit(step)

        def run(weights, sample):
            points = int(buckets[np.searchsorted(buckets, len(sample[0]), side="right")]) if len(sample[0]) < options.most \
                else options.most
            return compiled(*weights, *pad(sample, points + 1, 4 * points + 4))

        return run

    some = data[:options.each]
    # What is loaded once is loaded before.
    points, edges = 16, 64
    compile_step([*(value.shape for value in start()), (points, FEATURES), (edges,), (edges,), (points, 2), (points,)])
    ours, losses = timed("shardc, one program", shardc_stream(), data)
    compiling, known = timed("shardc, each as it is", shardc_each, some)
    times("shardc, compiling each sample,", compiling, some, ours, data)
    print(f"losses of both differ by {difference(losses, known):.1e}")
    if options.only_shardc:
        return
    jax.clear_caches()
    buckets_took, padded = timed("JAX, eight buckets", bucket_stream(), data)
    times("JAX with buckets", buckets_took, data, ours, data)
    jax.clear_caches()
    each, expected = timed("JAX, each as it is", each_stream(), some)
    times("JAX, compiling each sample,", each, some, ours, data)
    print(f"losses differ by {difference(losses, expected):.1e}, {difference(losses, padded):.1e} from those with padding")


def difference(a, b):
    """The largest relative difference of the losses that both have."""
    return max(abs(x - y) / max(abs(y), 1e-3) for x, y in zip(a, b, strict=False))


if __name__ == "__main__":
    main()

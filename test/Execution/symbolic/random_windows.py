"""Random programs of windows, strides, flips and crops along one open extent, beside JAX.

    random_windows.py [--first N] [--count N] [--ranks 2,3] [--symbolic-mesh] [--draws N]

Rounded parts of one extent are what a compiled program confuses first: of n rows n // 2 is (n - 1) // 2 where n is odd, and 3 * (n // 3) is n - 1
for some n alone. Program N takes two to six such ops, each of the value before it or of an earlier one, and a third of the programs have the
gradient of their argument as well. Ops that JAX cannot write down for a symbol are left out.

Each program is compiled once and run at drawn extents, as symbolic.py does it. Prints what is refused, asks for other extents or differs, then the
counts; ends with 1 if a result differs, and only then: which extents have one number is a matter of the program.
"""

import argparse
import random
import sys
from collections import Counter
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import symbolic
from declared import PROGRAMS, program
from jax import lax

NOT_OF_JAX = (ValueError, TypeError, NotImplementedError, jax.errors.InconclusiveDimensionOperation)


def pooled(draw, v, earlier):
    combine, first = draw.choice([(lax.add, 0.0), (lax.max, -jnp.inf)])
    padding = draw.choice(["SAME", "VALID", [(1, 0), (0, 0)], [(1, 1), (0, 0)]])
    return lax.reduce_window(v, first, combine, (draw.randint(2, 4), 1), (draw.randint(1, 3), 1), padding)


def convolved(draw, v, earlier):
    stride = draw.randint(1, 3)
    weights = jnp.full((draw.randint(2, 4), v.shape[1], v.shape[1]), 0.1)
    padding = draw.choice(["VALID", "SAME" if stride == 1 else [(1, 1)]])
    return lax.conv_general_dilated(v[None], weights, (stride,), padding, dimension_numbers=("NWC", "WIO", "NWC"))[0]


def part(draw, v, earlier):
    rows, by = v.shape[0], draw.randint(2, 4)
    return draw.choice([
        lambda: v[::by], lambda: v[: rows // by], lambda: v[rows - rows // by :], lambda: v[: rows - 1], lambda: v[: rows - 2], lambda: v[1:],
        lambda: v[2:], lambda: v[::-by], lambda: v[::-1][: rows - 1], lambda: v[: rows // by * by], lambda: lax.dynamic_slice_in_dim(v, rows - 3, 3, 0),
    ])()  # fmt: skip


def padded(draw, v, earlier):
    low, high = draw.randint(0, 2), draw.randint(0, 2)
    return draw.choice([
        lambda: jnp.pad(v, ((low, high), (0, 0))), lambda: jnp.pad(v, ((1, 1), (0, 0)), mode=draw.choice(["edge", "wrap", "reflect"])),
        lambda: lax.pad(v, 0.0, ((low, high, 1), (0, 0, 0))),
    ])()  # fmt: skip


def moved(draw, v, earlier):
    rows, by = v.shape[0], draw.randint(-3, 3)
    return draw.choice([
        lambda: jnp.flip(v, 0), lambda: jnp.roll(v, by, 0), lambda: v - jnp.concatenate([v[1:], v[:1]], 0),
        lambda: jnp.take(v, jnp.arange(5) * 2 + by, 0, mode="clip"), lambda: jnp.take(v, (jnp.arange(rows) * 3 + 1) % rows, 0, mode="clip"),
    ])()  # fmt: skip


def along(draw, v, earlier):
    return draw.choice([
        lambda: v + jnp.sin(v).sum(0, keepdims=True) / 8, lambda: jnp.cumsum(v, 0) / 8, lambda: jnp.sort(v, 0), lambda: jnp.diff(v, axis=0),
    ])()  # fmt: skip


def joined(draw, v, earlier):
    """One behind the other, or one on the other: what is repeated is cut to the rows of the other."""
    other = draw.choice(earlier)
    return draw.choice([
        lambda: jnp.concatenate([v, other], 0), lambda: jnp.concatenate([other, v[1:]], 0),
        lambda: jnp.repeat(v, draw.randint(2, 4), 0)[: other.shape[0]] + other, lambda: jnp.repeat(v, draw.randint(2, 3), 0),
    ])()  # fmt: skip


def blocked(draw, v, earlier):
    by = draw.randint(2, 4)
    return v[: v.shape[0] // by * by].reshape(v.shape[0] // by, by, v.shape[1]).sum(1)


KINDS = [pooled, pooled, convolved, part, part, part, padded, moved, along, joined, joined, blocked]


def drawn(number):
    """Program ``number``: draws alike each time that it is traced."""
    left_out = set()

    def values(x):
        draw = random.Random(f"windows {number}")
        found, is_open = [x], not isinstance(x.shape[0], int)
        for place in range(draw.randint(2, 6)):
            kind, of = draw.choice(KINDS), draw.choice([found[-1], found[-1], draw.choice(found)])
            own = random.Random(draw.random())
            if place in left_out:
                continue
            try:
                found.append(kind(own, of, found))
            except NOT_OF_JAX:
                if not is_open:
                    raise
                left_out.add(place)
        return found[1:] or [2 * x]

    def loss(x):
        return sum(jnp.sin(jnp.where(jnp.isfinite(v), v, 0)).sum() for v in values(x))

    def function(x):
        # First: it may leave out more.
        gradients = [jax.grad(loss)(x)] if random.Random(number).random() < 0.35 else []
        return [*values(x), *gradients]

    return function


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--symbolic-mesh", action="store_true", help="one artifact for all numbers of ranks")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--shard-translate", default="shard-translate")
    parser.add_argument("--shard-run", default="shard-run")
    options = parser.parse_args()
    how = SimpleNamespace(keep=None, without_gathers=False, quick=True, seed=1, **vars(options))
    counts = Counter()
    for number in range(options.first, options.first + options.count):
        PROGRAMS.clear()
        program(["n, 2"], [0], least=8, constraints=["n >= 8"], tolerance=1e-3)(drawn(number))
        (name,) = PROGRAMS
        numbers = [int(ranks) for ranks in options.ranks.split(",")]
        for ranks in [numbers] if options.symbolic_mesh else [[number] for number in numbers]:
            try:
                status, line = symbolic.check(how, name, ranks)
            except NOT_OF_JAX as error:  # no such gradient for a symbol
                status, line = "not of JAX", str(error).splitlines()[0]
            if status == "FAILED" and ": code 2: " in line:
                status = "for other extents"
            counts[status] += 1
            if status not in ("passed", "not of JAX"):
                print(f"program {number}, {','.join(map(str, ranks))} ranks: {status}: {line}", flush=True)
    print(", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    return int(counts["FAILED"] > 0 or counts["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main())

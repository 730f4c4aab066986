"""Random JAX programs on shardc's devices, beside JAX's own CPU devices.

    random_programs.py [--seed N] [--first N] [--count N] [--only KIND,...]

A program is drawn op by op from the kinds of random_kinds.py, each of values that there are: arguments, or what came
before. All of them are results. On shardc its arguments are cut over a mesh of one axis or of two, and some values in
between are cut anew, in shards that need not divide; on CPU devices nothing is cut but by manual regions. Two of five
programs give the gradients of their arguments as well. Some are given their arguments for good, some run op by op.

Numbers are of f64 and kept near to 1, so that both sides agree to much less than a millionth unless one took another
branch, another order or another element. The first result that differs names the op.

With ``SHARDC_JAX_REAL=float32`` they are of f32, and must agree to some thousandths.

``--first N --count 1`` draws program N of a seed again. Prints what differs or is refused by one side alone, then the
counts. Ends with 0 if nothing does.
"""

import argparse
import os
import sys
import traceback
import warnings
from dataclasses import dataclass

os.environ.setdefault("JAX_PLATFORMS", "shardc,cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of XLA's: some make gradients wrong
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import jax
import jax.numpy as jnp
import numpy as np
import random_algebra  # noqa: F401
import random_regions  # noqa: F401
import random_types  # noqa: F401
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from random_kinds import KINDS, ONE_DEVICE, REAL, Draw

WIDE = REAL.itemsize == 8
jax.config.update("jax_enable_x64", WIDE)
warnings.filterwarnings("ignore", "Some donated buffers|Explicitly requested dtype|scatter inputs have incompatible types")
CLOSE = 1e-7 if WIDE else 3e-3
LARGEST = 0.97
"""What large results come to: not 1, which one side may miss by a rounding, and make another integer of."""
MOST_ELEMENTS = 8000
EXTENTS = [1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 12, 12, 13, 16, 18, 24]


@dataclass
class Op:
    kind: str
    operands: list[int]  # numbers of values
    function: object
    cut: int | None  # the dim of the result that is cut


class Program:
    """Program ``number`` of a seed; ``kinds`` are those that it is drawn from."""

    def __init__(self, seed, number, kinds):
        draw = Draw(f"{seed} {number}")
        devices = len(jax.devices())
        sizes = draw.choice([sizes for sizes in [(2,), (3,), (4,), (6,), (2, 2), (2, 3)] if np.prod(sizes) <= devices])
        self.axes = draw.axes = dict(zip("xy", sizes))
        self.shapes = [self.draw_shape(draw) for _ in range(draw.randint(1, 3))]
        values = [jax.ShapeDtypeStruct(shape, REAL) for shape in self.shapes]
        self.ops = []
        length = draw.randint(2, 9)
        with jax.set_mesh(self.mesh()):
            for _ in range(60):
                if len(self.ops) < length:
                    self.draw_op(draw, kinds, values)
        self.cuts = [self.draw_cut(draw, shape) for shape in self.shapes]
        self.has_gradients = draw.chance(0.4)
        random = np.random.RandomState(draw.randrange(2**31))
        self.arguments = [random.standard_normal(shape).astype(REAL) for shape in self.shapes]
        self.way = draw.choice(["jitted"] * 7 + ["donated"] * 2 + ["eager"])

    def mesh(self):
        sizes = tuple(self.axes.values())
        return Mesh(np.array(jax.devices()[: np.prod(sizes)]).reshape(sizes), tuple(self.axes))

    @staticmethod
    def draw_shape(draw):
        count = draw.choice([1, 2, 2, 2, 3, 3, 4])
        return tuple(draw.choice(EXTENTS if count < 4 else [2, 3, 4, 6]) for _ in range(count))

    def draw_op(self, draw, kinds, values):
        kind = draw.choice(kinds)
        count, make = KINDS[kind]
        # Late values more often than early ones.
        operands = [max(draw.randrange(len(values)), draw.randrange(len(values))) for _ in range(count)]
        function = make(draw, *[values[i].shape for i in operands])
        if function is None:
            return
        try:
            result = jax.eval_shape(function, *[values[i] for i in operands])
        except (TypeError, ValueError, NotImplementedError):  # no such op of these shapes, or no such derivative
            return
        if 0 in result.shape or np.prod(result.shape) > MOST_ELEMENTS:
            return
        cut = draw.dim(result.shape) if result.shape and draw.chance(0.25) else None
        self.ops.append(Op(kind, operands, function, cut))
        values.append(jax.ShapeDtypeStruct(result.shape, REAL))

    def draw_cut(self, draw, shape):
        """By dim of an argument, the axis that it is cut along: one that divides it, as JAX wants it."""
        spec = [None] * len(shape)
        for name, size in self.axes.items():
            fits = [dim for dim, extent in enumerate(shape) if extent % size == 0 and spec[dim] is None]
            if fits and draw.chance(0.7):
                spec[draw.choice(fits)] = name
        return PartitionSpec(*spec)

    def values(self, arguments, cuts):
        """All results; ``cuts`` says whether they are cut as drawn."""
        values = list(arguments)
        for place, op in enumerate(self.ops):
            value = LARGEST * jnp.tanh(op.function(*[values[i] for i in op.operands]).astype(REAL))
            axis = [*self.axes][place % len(self.axes)]
            # Outside of jit JAX itself wants shards to divide.
            if op.cut is not None and cuts and (self.way != "eager" or value.shape[op.cut] % self.axes[axis] == 0):
                value = lax.with_sharding_constraint(value, PartitionSpec(*[None] * op.cut, axis))
            values.append(value)
        return values[len(arguments) :]

    def results(self, arguments, cuts):
        """All values, and the gradients of the arguments where the program has them."""

        def loss(arguments):
            weigh = lambda value: (value * jnp.cos(jnp.arange(value.size, dtype=REAL).reshape(value.shape))).sum()
            return sum(map(weigh, self.values(arguments, cuts)))

        return self.values(arguments, cuts), jax.grad(loss)(arguments) if self.has_gradients else []

    def run(self, platform):
        cuts = platform == "shardc"
        mesh = self.mesh() if cuts else Mesh(np.array(jax.devices(platform)[:1]), (ONE_DEVICE,))
        place = lambda argument, cut: jax.device_put(argument, NamedSharding(mesh, cut if cuts else PartitionSpec()))
        program = lambda arguments: self.results(arguments, cuts)
        with jax.set_mesh(mesh):
            run = program if self.way == "eager" else jax.jit(program, donate_argnums=0 if self.way == "donated" else ())
            results = run([*map(place, self.arguments, self.cuts)])
        return [np.asarray(result) for result in jax.tree.leaves(results)]

    def __str__(self):
        arguments = ", ".join(f"{list(shape)} as {tuple(cut)}" for shape, cut in zip(self.shapes, self.cuts))
        return f"{self.way}, mesh {self.axes}, arguments {arguments}, ops {', '.join(op.kind for op in self.ops)}"


def difference(program, expected, found):
    """What the first result that differs is; nothing if none does."""
    names = [op.kind for op in program.ops] + [f"gradient {i}" for i in range(len(program.shapes))]
    for name, one, other in zip(names, expected, found):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{name}: {other.dtype}{[*other.shape]} in place of {one.dtype}{[*one.shape]}"
        size = max(1.0, np.max(np.abs(one), initial=0, where=np.isfinite(one)))
        with np.errstate(invalid="ignore"):
            equal = (one == other) | (np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= CLOSE * size)
        if not equal.all():
            at = np.unravel_index(int(np.argmin(equal)), equal.shape)
            return f"{name}: {(~equal).sum()} of {equal.size} elements, {other[at]} in place of {one[at]} at {[*map(int, at)]}"
    return ""


def outcome(run, *arguments, **named):
    """What ``run`` gives, or the error in place of it."""
    try:
        return run(*arguments, **named), None
    except Exception as error:
        return None, "".join(traceback.format_exception_only(error)).strip().splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description="random JAX programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default=",".join(KINDS), metavar="KIND,...")
    options = parser.parse_args()
    same = wrong = unknown = 0
    for number in range(options.first, options.first + options.count):
        program = Program(options.seed, number, options.only.split(","))
        expected, unexpected = outcome(program.run, "cpu")
        found, refused = outcome(program.run, "shardc")
        if unexpected and refused:
            unknown += 1  # JAX itself has no such gradient
            continue
        problem = unexpected or refused or difference(program, expected, found)
        same, wrong = same + (not problem), wrong + bool(problem)
        if problem:
            side = "only here: " if refused else "only on CPU devices: " if unexpected else ""
            print(f"program {number} of seed {options.seed}: {side}{problem}\n  {program}", flush=True)
    print(f"{same} as on JAX's CPU devices, {wrong} not, {unknown} that neither runs")
    return int(wrong > 0 or same == 0)


if __name__ == "__main__":
    sys.exit(main())

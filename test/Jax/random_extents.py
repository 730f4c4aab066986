"""Random JAX programs with one symbolic extent, beside JAX's own CPU device.

    random_extents.py [--seed N] [--first N] [--count N]

A program is drawn op by op from the kinds of random_kinds.py, for arguments of which one dim or more has a symbol `n`, between 8 and 64. It is exported by
jax.export, compiled once with all sizes open, and run at three extents. Kinds that JAX cannot write down for a symbol are left out as they are drawn, and so
are kinds that fix a shape for one extent (``reshaped``). A third of the programs give the gradients of their arguments as well.

Prints what differs or is refused, then the counts; ends with 0 if nothing does.
"""

import argparse
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from jax import export
from jax.sharding import PartitionSpec
from random_kinds import KINDS, REAL, Draw
from random_programs import CLOSE, LARGEST, MOST_ELEMENTS, outcome

LEAST, MOST, USUAL = 8, 64, 12
LEFT_OUT = {"manual_region", "region_within_region", "reshaped"}


def with_extent(shape, extent):
    return tuple(extent if size is None else size for size in shape)


class Open:
    """Program ``number`` of a seed; of its shapes None is the open extent."""

    def __init__(self, seed, number):
        draw = Draw(f"extents {seed} {number}")
        self.ranks = draw.choice([1, 2, 3, 4])
        draw.axes = {"x": self.ranks}
        (self.symbol,) = export.symbolic_shape("n", constraints=[f"n >= {LEAST}", f"n <= {MOST}"])
        self.shapes = [self.draw_shape(draw, is_open=i == 0 or draw.chance(0.5)) for i in range(draw.randint(1, 2))]
        self.specs = [self.draw_spec(draw, shape) for shape in self.shapes]
        self.has_gradients = draw.chance(0.3)
        self.extents = [USUAL, draw.randint(LEAST, 30), draw.randint(LEAST, MOST)]
        self.kinds, self.ops = [], []
        usual, symbolic = ([jax.ShapeDtypeStruct(with_extent(shape, n), REAL) for shape in self.shapes] for n in (USUAL, self.symbol))
        length = draw.randint(1, 5)
        for _ in range(40):
            if len(self.ops) < length:
                self.draw_op(draw, usual, symbolic)

    @staticmethod
    def draw_shape(draw, is_open):
        shape = [draw.choice([2, 3, 4, 5, 6, 8]) for _ in range(draw.choice([1, 2, 2, 3]))]
        if is_open:
            shape[draw.dim(shape)] = None
        return shape

    @staticmethod
    def draw_spec(draw, shape):
        dim = draw.choice([*range(len(shape)), None])
        return PartitionSpec() if dim is None else PartitionSpec(*[None] * dim, "x")

    def draw_op(self, draw, usual, symbolic):
        kind = draw.choice([kind for kind in KINDS if kind not in LEFT_OUT])
        count, make = KINDS[kind]
        operands = [max(draw.randrange(len(usual)), draw.randrange(len(usual))) for _ in range(count)]
        function = make(draw, *[usual[i].shape for i in operands])
        if function is None:
            return
        found, _ = outcome(jax.eval_shape, function, *[usual[i] for i in operands])
        of_symbol, _ = outcome(jax.eval_shape, function, *[symbolic[i] for i in operands])
        if found is None or of_symbol is None or 0 in found.shape or np.prod(found.shape) > MOST_ELEMENTS:
            return
        self.kinds.append(kind)
        self.ops.append((operands, function))
        usual.append(jax.ShapeDtypeStruct(found.shape, REAL))
        symbolic.append(jax.ShapeDtypeStruct(of_symbol.shape, REAL))

    def values(self, *arguments):
        values = list(arguments)
        for operands, function in self.ops:
            values.append(LARGEST * jnp.tanh(function(*[values[i] for i in operands]).astype(REAL)))
        return values[len(arguments) :]

    def results(self, *arguments):
        if not self.has_gradients:
            return self.values(*arguments)
        loss = lambda arguments: sum((value * jnp.cos(3 * value)).sum() for value in self.values(*arguments))
        return self.values(*arguments), jax.grad(loss)(arguments)

    def exported(self):
        shapes = [jax.ShapeDtypeStruct(with_extent(shape, self.symbol), REAL) for shape in self.shapes]
        return export.export(jax.jit(self.results))(*shapes)

    def arguments(self, extent):
        random = np.random.RandomState(extent)
        return [random.standard_normal(with_extent(shape, extent)).astype(REAL) for shape in self.shapes]

    def __str__(self):
        return f"{self.ranks} ranks, arguments {self.shapes} as {[tuple(spec) for spec in self.specs]}, ops {', '.join(self.kinds)}"


def differs(expected, found):
    if expected.shape != found.shape:
        return True
    size = max(1.0, np.max(np.abs(expected), initial=0, where=np.isfinite(expected)))
    with np.errstate(invalid="ignore"):
        same = (expected == found) | (np.isnan(expected) & np.isnan(found)) | (np.abs(expected - found) <= CLOSE * size)
    return not same.all()


def problem_of(program):
    """What differs or is refused; None where JAX has no such program."""
    exported, unknown = outcome(program.exported)
    if unknown or not program.ops:
        return None
    compiled, refused = outcome(shardc.compile, exported, mesh={"x": program.ranks}, in_shardings=program.specs, dynamic="all")
    if refused:
        return f"not compiled: {refused}"
    for extent in program.extents:
        arguments = program.arguments(extent)
        expected, unknown = outcome(jax.jit(program.results), *arguments)
        if unknown:
            continue  # some kinds fit some extents alone
        found, refused = outcome(compiled, *arguments)
        if refused:
            return f"n = {extent}: {refused}"
        pairs = zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True)
        for place, (one, other) in enumerate(pairs):
            if differs(np.asarray(one), np.asarray(other)):
                return f"n = {extent}: result {place} differs"
    return ""


def main():
    parser = argparse.ArgumentParser(description="random JAX programs with a symbolic extent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    same = wrong = unknown = 0
    for number in range(options.first, options.first + options.count):
        program = Open(options.seed, number)
        problem = problem_of(program)
        same, wrong, unknown = same + (problem == ""), wrong + bool(problem), unknown + (problem is None)
        if problem:
            print(f"program {number} of seed {options.seed}: {problem}\n  {program}", flush=True)
    print(f"{same} as on JAX's CPU device, {wrong} not, {unknown} that JAX has not")
    return int(wrong > 0 or same == 0)


if __name__ == "__main__":
    sys.exit(main())

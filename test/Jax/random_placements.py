"""Random JAX programs in random placements, beside JAX's own CPU devices.

    random_placements.py [--seed N] [--first N] [--count N] [--only KIND,...] [--reproducible]

Programs are those of random_programs.py. Here shardc.compile() gets them with placements that JAX has no words for: any
dim of an argument along any axis, in shards of any sizes, none among them. With ``--reproducible`` each program is
compiled for its placement and for one device, and all bits have to be the same. Manual regions are left out then: they
are written for one mesh.

``--first N --count 1`` draws program N of a seed again. Prints what differs or is refused by one side alone, then the
counts. Ends with 0 if nothing does.
"""

import argparse
import os
import sys
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=6")

import jax
import numpy as np
import shardc
from random_kinds import KINDS, Draw
from random_programs import Program, difference, outcome
from shardc import split

NOT_LOWERED = {"region_within_region"}
"""JAX cannot write down the gradient of one for CPUs: its inner region asks for an axis that the outer one has."""


class Placed:
    """A program and, for each of its arguments, how it is cut: (dim, axis, sizes)."""

    def __init__(self, seed, number, kinds):
        self.program = Program(seed, number, kinds)
        draw = Draw(f"placement {seed} {number}")
        self.cuts = [self.draw_cuts(draw, shape) for shape in self.program.shapes]

    def draw_cuts(self, draw, shape):
        cuts, dims = [], [*range(len(shape))]
        for axis, parts in self.program.axes.items():
            if dims and draw.chance(0.75):
                dim = dims.pop(draw.randrange(len(dims)))
                cuts.append((dim, axis, self.draw_sizes(draw, shape[dim], parts)))
        return cuts

    @staticmethod
    def draw_sizes(draw, extent, parts):
        """As many sizes as parts, none among them now and then; or nothing, which leaves them balanced."""
        if draw.chance(0.25):
            return None
        ends = sorted(draw.randint(0, extent) for _ in range(parts - 1))
        return [end - begin for begin, end in zip([0, *ends], [*ends, extent])]

    def run(self, *, axes=None, reproducible=False):
        """All results; on a mesh of other sizes the cuts are balanced."""
        mesh = axes or self.program.axes
        shardings = {number: [split(dim, axis, sizes=None if axes else sizes) for dim, axis, sizes in cuts]
                     for number, cuts in enumerate(self.cuts) if cuts}
        with jax.set_mesh(self.program.mesh()):
            traced = jax.jit(lambda *arguments: self.program.results([*arguments], cuts=True))
            compiled = shardc.compile(traced, *self.program.arguments, mesh=mesh, in_shardings=shardings, reproducible=reproducible)
            results = compiled(*self.program.arguments)
        return [np.asarray(result) for result in jax.tree.leaves(results)]

    def __str__(self):
        ops = ", ".join(op.kind for op in self.program.ops)
        return f"mesh {self.program.axes}, arguments {self.program.shapes} cut {self.cuts}, ops {ops}"


def problem_of(placed, reproducible):
    """What differs, or is refused by one side alone; None where JAX has no such program either."""
    expected, unexpected = outcome(placed.program.run, "cpu")
    found, refused = outcome(placed.run, reproducible=reproducible)
    if unexpected and refused:
        return None
    if unexpected or refused:
        return f"only {'on CPU devices' if unexpected else 'here'}: {unexpected or refused}"
    if problem := difference(placed.program, expected, found):
        return problem
    if reproducible:
        alone, refused = outcome(placed.run, axes=dict.fromkeys(placed.program.axes, 1), reproducible=True)
        if refused:
            return f"only here, on one device: {refused}"
        if any(one.tobytes() != other.tobytes() for one, other in zip(found, alone, strict=True)):
            return "other bits than on one device"
    return ""


def main():
    parser = argparse.ArgumentParser(description="random JAX programs in random placements")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default=",".join(kind for kind in KINDS if kind not in NOT_LOWERED), metavar="KIND,...")
    parser.add_argument("--reproducible", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", shardc.ShardcWarning)
    kinds = [kind for kind in options.only.split(",") if not options.reproducible or kind != "manual_region"]
    same = wrong = unknown = 0
    for number in range(options.first, options.first + options.count):
        placed = Placed(options.seed, number, kinds)
        problem = problem_of(placed, options.reproducible)
        same, wrong, unknown = same + (problem == ""), wrong + bool(problem), unknown + (problem is None)
        if problem:
            print(f"program {number} of seed {options.seed}: {problem}\n  {placed}", flush=True)
    print(f"{same} as on JAX's CPU devices, {wrong} not, {unknown} that neither runs")
    return int(wrong > 0 or same == 0)


if __name__ == "__main__":
    sys.exit(main())

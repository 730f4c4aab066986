"""What a program with symbolic extents is: a function, symbolic shapes, and how arguments are cut."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

F32, I32 = jnp.float32, jnp.int32


class Program:
    """A function, the symbolic shapes of its arguments, and along which dim each is cut; those that are asked to be in zigzag order there.

    With ``specs``, how arguments are cut over ``axes`` of a mesh, the function takes that mesh first; in shapes, x and y are how many ranks it has along these.
    """

    def __init__(
        self, function, shapes, cuts, types=None, least=1, constraints=(), tolerance=2e-5, zigzag=(), specs=None, axes="x",
        most=300
    ):
        self.function = function
        self.shapes = shapes
        self.cuts = cuts
        self.types = types or [F32] * len(shapes)
        self.least = least
        self.most = most
        self.constraints = constraints
        self.tolerance = tolerance
        self.zigzag = zigzag
        self.specs = specs
        self.axes = axes

    def mesh(self, ranks):
        sizes = (ranks,) if self.axes == "x" else (ranks // 2, 2)
        return Mesh(np.array(jax.devices()[:ranks]).reshape(sizes), tuple(self.axes))

    def bound(self, ranks):
        """The function of its arguments alone, and numbers of ranks by axis."""
        if self.specs is None:
            return self.function, {}
        mesh = self.mesh(ranks)
        return jax.jit(lambda *arguments: self.function(mesh, *arguments)), dict(mesh.shape)


PROGRAMS = {}


def program(shapes, cuts, **options):
    """Adds a function. ``cuts``: for each argument the dim that "x" cuts, or None."""

    def add(function):
        PROGRAMS[function.__name__] = Program(function, shapes, cuts, **options)
        return function

    return add

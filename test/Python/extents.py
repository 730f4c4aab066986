"""A program with symbolic extents, called from Python with arrays of any shape; nothing is compiled between two calls.

Prints "done" if all holds.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from compilations import Compilations
from jax import export


def graph(x, w, senders, receivers):
    n = x.shape[0]
    h = jnp.tanh(x @ w)
    h = h + jax.ops.segment_sum(h[senders % n], receivers % n, n)
    return h, h.mean(0)


def main():
    scope = export.SymbolicScope()
    shapes = [export.symbolic_shape(shape, scope=scope) for shape in ("n, 4", "4, 3", "m", "m")]
    kinds = [jnp.float32, jnp.float32, jnp.int32, jnp.int32]
    exported = export.export(jax.jit(graph))(*map(jax.ShapeDtypeStruct, shapes, kinds))
    program = shardc.compile(
        exported, mesh={"x": 3}, in_shardings=[shardc.split(0, "x"), None, shardc.split(0, "x"), shardc.split(0, "x")],
        dynamic="all")
    # What is not bound yet is open, and what is bound has numbers.
    assert "f32[?,4] [x ?, :]" in repr(program) and "f32[4,3]," in repr(program), program
    bound = program.bind(sizes={(0, 0): [4, 0, 1], (2, 0): [1, 1, 1], (3, 0): [1, 2, 0]})
    assert "f32[5,4] [x 4|0|1, :]" in repr(bound), bound
    compilations = Compilations()
    compilations.begin()
    random = np.random.default_rng(0)
    w = random.standard_normal((4, 3)).astype(np.float32)
    for n, m in ((7, 12), (1, 1), (300, 2), (5, 900), (7, 12)):
        x = random.standard_normal((n, 4)).astype(np.float32)
        senders, receivers = random.integers(0, 100, (2, m)).astype(np.int32)
        got = program(x, w, senders, receivers)
        expected = graph(jnp.asarray(x), jnp.asarray(w), jnp.asarray(senders), jnp.asarray(receivers))
        for have, want in zip(got, expected, strict=True):
            np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=2e-5, atol=2e-5)
    assert compilations.count == 0
    try:
        program(np.zeros((7, 4), np.float32), w, np.zeros(3, np.int32), np.zeros(4, np.int32))
    except shardc.UsageError as error:
        assert "Found inconsistency between dimension size" in str(error), error
    else:
        sys.exit("edges of two numbers were taken")
    print("done")


if __name__ == "__main__":
    main()

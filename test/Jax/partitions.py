"""``custom_partitioning``: its author is told how values lie, and says what each device does."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="4")

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

told: list[Any] = []

def author(lower: Any, cut: Any = None) -> Any:
    """A partition: each device does ``lower``, on operands and results as they lie or as ``cut`` says."""

    def partition(mesh: Any, operands: Any, results: Any) -> Any:
        as_told = [jax.tree.map(lambda one: one.sharding, side) for side in (results, operands)]
        told.append([one.spec for one in jax.tree.leaves(as_told[1])])
        return (mesh, lower, *(cut(mesh) if cut else as_told))

    return partition

def made(whole: Any, partition: Any, **rule: Any) -> Any:
    function = custom_partitioning(whole)
    function.def_partition(partition=partition, **rule)
    return function

a, b = np.arange(24.0, dtype="f4").reshape(4, 6), np.arange(18.0, dtype="f4").reshape(6, 3)
x, y = P("x"), P("y")
mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
put = lambda value, spec: jax.device_put(value, NamedSharding(mesh, spec))

# Operands as they are: the sum over y is the author's. Where it lies elsewhere, what is given moves there.
product = made(lambda a, b: a @ b, author(lambda a, b: lax.psum(a @ b, "y")), sharding_rule="i j, j k -> i k",
               reduction_factors=("j",))
with jax.set_mesh(mesh):
    found = jax.jit(lambda a, b: product(a, b) + 1)(put(a, P("x", "y")), put(b, y))
np.testing.assert_array_equal(found, a @ b + 1)
assert told == [[P("x", "y"), P("y", None)]], told
assert found.sharding.is_equivalent_to(NamedSharding(mesh, x), 2), found.sharding
mine = lambda mesh: (NamedSharding(mesh, P("y")), (NamedSharding(mesh, P("y")), NamedSharding(mesh, P())))
moved = made(lambda a, b: a @ b, author(lambda a, b: a @ b, mine), sharding_rule="i j, j k -> i k")
np.testing.assert_array_equal(jax.jit(moved)(put(a, x), b), a @ b)

# A function that is called twice, in a loop and outside, is asked about twice: its values lie otherwise.
told.clear()
twice = jax.jit(made(lambda a: a * 2, author(lambda a: a * 2), sharding_rule="i j -> i j"))
found = jax.jit(lambda a, b: (twice(a), lax.fori_loop(0, 3, lambda _, b: twice(b), b)))(put(a, x), put(a, P(None, "y")))
np.testing.assert_array_equal(found[0], a * 2)
np.testing.assert_array_equal(found[1], a * 8)
assert sorted(map(str, told)) == sorted(map(str, [[P("x", None)], [P(None, "y")]])), told

# Several results, scalars among them; no rule; axes of two names on one dim; types narrow and complex.
parts = made(lambda a: (a + 1, a.sum()), author(lambda a: (a + 1, lax.psum(a.sum(), ("x", "y"))),
             lambda mesh: ((NamedSharding(mesh, P(("x", "y"))), NamedSharding(mesh, P())),
                           (NamedSharding(mesh, P(("x", "y"))),))))
for kind in ("f4", "i1", "c8", "bool", jnp.bfloat16):
    given = jnp.asarray(a % 2, kind)
    more, total = jax.jit(parts)(given)
    np.testing.assert_array_equal(more, given + 1)
    np.testing.assert_array_equal(total, given.sum())

# A block that several devices have is computed by each; which of them is nobody's business.
where = made(lambda a: a, author(lambda a: a + 0 * lax.axis_index("y").astype("f4")), sharding_rule="i j -> i j")
np.testing.assert_array_equal(jax.jit(where)(put(a, x)), a)

# Blocks that do not divide, axes that are no mesh's, results of another shape, authors that raise.
odd = np.ones((3, 6), "f4")
wrong = {
    "which do not divide": (made(lambda a: a, author(lambda a: a, lambda mesh: (NamedSharding(mesh, x), (NamedSharding(mesh, x),))),
                                 sharding_rule="i j -> i j"), odd),
    "Mismatch in result shapes": (made(lambda a: a, author(lambda a: a[:1]), sharding_rule="i j -> i j"), a),
    "ZeroDivisionError": (made(lambda a: a, lambda *_: 1 / 0, sharding_rule="i j -> i j"), a),
}
for words, (function, value) in wrong.items():
    try:
        jax.jit(lambda a, function=function: function(a) + put(a, P()))(value)
    except (ValueError, jax.errors.JaxRuntimeError) as error:
        assert words in str(error), (words, error)
    else:
        raise AssertionError(words)
# In a region of some of the axes it is refused, in one of all axes it is the function itself.
region = lambda names: jax.jit(jax.shard_map(twice, mesh=mesh, in_specs=x, out_specs=x, axis_names=names))
np.testing.assert_array_equal(region({"x", "y"})(a), a * 2)
try:
    region({"x"})(a)
except jax.errors.JaxRuntimeError as error:
    assert "in a manual region of some of the mesh's axes" in str(error), error
else:
    raise AssertionError("a call in a region of one axis")
# On one device there is nothing to cut.
told.clear()
np.testing.assert_array_equal(jax.jit(twice)(a), a * 2)
assert not told, told
print("good")

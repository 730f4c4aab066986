"""Every form of a JAX model becomes a program that computes what JAX computes."""

import jax
import jax.numpy as jnp
import numpy
from jax import export

import shardc

rng = numpy.random.default_rng(0)
params = {"w": rng.random((6, 3), numpy.float32), "b": numpy.zeros(3, numpy.float32)}
x = rng.random((10, 6), numpy.float32)


def model(p: dict, x: jax.Array) -> dict:
    return {"y": jnp.tanh(x @ p["w"] + p["b"]), "largest": jnp.max(x), "mask": x > 0.5}


def equal(program: shardc.Program, *args: object, reference: object = None) -> None:
    want = reference if reference is not None else jax.jit(model)(*args)
    jax.tree.map(lambda a, b: numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), program(*args), want)


uneven = {2: shardc.split(0, "d", sizes=[5, 0, 3, 2])}
program = shardc.compile(model, params, x, mesh={"d": 4}, in_shardings=uneven)
equal(program, params, x)
program.check(params, x)
assert "sdy.mesh" in program.text

# Lowered (which drops unused arguments), jitted, text, bytecode, exports.
unused = jax.jit(lambda u, x: x * 2).lower(params, x)
equal(shardc.compile(unused), params, x, reference=2 * x)
equal(shardc.compile(jax.jit(model), params, x), params, x)
exported = export.export(jax.jit(model))(params, x)
equal(shardc.compile(exported), params, x)
leaves = jax.tree.leaves(jax.jit(model)(params, x))
equal(shardc.compile(exported.mlir_module_serialized), params, x, reference=tuple(leaves))
equal(shardc.compile(exported.mlir_module()), params, x, reference=tuple(leaves))

# Symbolic shapes are refined to the example's.
(rows,) = export.symbolic_shape("rows")
symbolic = export.export(jax.jit(lambda x: jnp.sin(x).sum(0)))(jax.ShapeDtypeStruct((rows, 6), numpy.float32))
for example in (x, x[:7]):
    equal(shardc.compile(symbolic, example), example, reference=numpy.sin(example).sum(0))
    equal(shardc.compile(symbolic.mlir_module_serialized, example), example, reference=numpy.sin(example).sum(0))
try:
    shardc.compile(symbolic)
except shardc.UnsupportedError as error:
    assert "dynamic shape" in str(error)
else:
    raise AssertionError("expected UnsupportedError")

# Masks long enough to be printed as blobs, one byte an element; types that NumPy lacks.
mask = rng.random((40, 30)) > 0.5
blob = shardc.compile(lambda x: (jnp.where(mask, x, 0).astype(jnp.bfloat16), jnp.asarray(mask)), jnp.ones((40, 30)))
half, kept = blob(numpy.ones((40, 30), numpy.float32))
assert half.dtype == jnp.bfloat16
numpy.testing.assert_array_equal(kept, mask)
numpy.testing.assert_array_equal(half.astype(numpy.float32), mask)
print("all good")

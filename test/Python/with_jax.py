"""Every form of a JAX model becomes a program that computes what JAX computes."""

import jax
import jax.numpy as jnp
import numpy
import shardc
from jax import export

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

# Static, donated and named arguments, numbers, keys, nothing.
step = jax.jit(lambda p, n, x, bias=0.0: ({k: v * n + x.sum() for k, v in p.items()}, None, bias + n),
               static_argnums=1, donate_argnums=0)
tree = {"a": numpy.ones(4, numpy.float32), "b": numpy.zeros((2, 3), numpy.float32)}
program = shardc.compile(step, tree, 3, x)
want = ({"a": 3 * tree["a"] + x.sum(), "b": tree["b"] + x.sum()}, None, numpy.float32(3))
equal(program, tree, 3, x, reference=want)
equal(program, tree, x, reference=want)
assert program(tree, 3, x)[1] is None
try:
    program(tree, 4, x)
except shardc.UsageError as error:
    assert "compiled for 3" in str(error), error
else:
    raise AssertionError("expected UsageError")
named = shardc.compile(jax.jit(lambda x, *, scale: x * scale).trace(x, scale=2.0))
numpy.testing.assert_allclose(named(x, scale=4), 4 * x)
try:
    named(x)
except shardc.UsageError as error:
    assert "scale" in str(error)
else:
    raise AssertionError("expected UsageError")
key = jax.random.key(7)
noisy = shardc.compile(lambda k, x: (jax.random.fold_in(k, 1), x + jax.random.normal(k, x.shape)), key, x,
                       mesh={"d": 2}, in_shardings={1: shardc.split(0, "d", sizes=[7, 3])})
folded, sample = noisy(key, x)
numpy.testing.assert_array_equal(jax.random.key_data(folded), jax.random.key_data(jax.random.fold_in(key, 1)))
numpy.testing.assert_allclose(sample, x + jax.random.normal(key, x.shape), rtol=1e-5, atol=1e-6)

# Arguments that jit drops keep their numbers.
dropped = jax.jit(lambda unused, x: x * 2)
equal(shardc.compile(dropped, params, x, mesh={"d": 2}, in_shardings=uneven | {2: shardc.split(0, "d", sizes=[9, 1])}),
      params, x, reference=2 * x)



# Prints, ordered ones as well, are left out; arguments keep their numbers.
def printing(x: jax.Array, y: jax.Array) -> jax.Array:
    jax.debug.print("first {}", x[0], ordered=True)
    jax.debug.print("then {}", y[0], ordered=True)
    return x + y


printed = shardc.compile(printing, x, x, mesh={"d": 2}, in_shardings={1: shardc.split(0, "d", sizes=[7, 3])})
numpy.testing.assert_allclose(printed(x, 2 * x), 3 * x, rtol=1e-6)

# A program in order zigzag, even and uneven, takes and gives arrays in order.
def causal(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    return jax.nn.dot_product_attention(q, k, v, is_causal=True) + jnp.arange(q.shape[1])[:, None, None]


qkv = rng.random((3, 2, 14, 2, 8), numpy.float32)
for sizes in (None, [5, 0, 9]):
    dealt = shardc.compile(causal, *qkv, mesh={"d": 3}, in_shardings=[shardc.split(1, "d", sizes, order="zigzag")] * 3)
    equal(dealt, *qkv, reference=causal(*qkv))
    reasons = str([site["reasons"] for site in dealt.report(*qkv)["communication"]])
    assert "puts blocks in zigzag order" in reasons, reasons
equal(shardc.compile(causal, *qkv, mesh={"d": 3}, in_shardings=[shardc.split(1, "d")] * 3, keep_order=True, quick=True), *qkv, reference=causal(*qkv))
try:
    shardc.split(1, "d", order="spiral")
except ValueError as error:
    assert "zigzag" in str(error)
else:
    raise AssertionError("expected ValueError")

# A program within a limit on its temporaries holds less, and computes the same.
def loss(weights: list[jax.Array], rows: jax.Array) -> jax.Array:
    for weight in weights:
        rows = jnp.tanh(rows @ weight)
    return jnp.mean(rows**2)


layers = ([rng.random((32, 32), numpy.float32) / 16 for _ in range(8)], rng.random((1024, 32), numpy.float32))
plain, within = (shardc.compile(jax.grad(loss), *layers, mesh={"d": 2}, in_shardings={8: shardc.split(0, "d")}, memory_limit=limit)
                 for limit in (None, 200_000))
equal(within, *layers, reference=jax.grad(loss)(*layers))
held = [max(program.report(*layers)["peak_bytes"]) for program in (plain, within)]
assert held[1] < held[0] / 2, held

# A mesh of JAX's own, in the older partitioner's form as well; a manual region, checked against one rank.
mesh = jax.sharding.AbstractMesh((2, 2), ("x", "y"))
spec = jax.sharding.PartitionSpec


def halves(x: jax.Array) -> jax.Array:
    return jax.lax.psum(x, "x") + jax.lax.axis_index("y")


for shardy in (True, False):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    manual = jax.jit(jax.shard_map(halves, mesh=mesh, in_specs=spec("x", None), out_specs=spec("y", None),
                                   check_vma=False))
    regions = shardc.compile(manual, x)
    halved = x[:5] + x[5:]
    numpy.testing.assert_allclose(regions(x), numpy.concatenate([halved, halved + 1]), rtol=1e-6)
    assert regions.check(x)["ranks"] == 4
jax.config.update("jax_use_shardy_partitioner", True)
print("all good")

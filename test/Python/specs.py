"""What JAX users write is understood, or refused by the argument's name."""

import dataclasses
import warnings

import jax
import jax.numpy as jnp
import numpy
import shardc
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

rng = numpy.random.default_rng(0)
params = {"b": numpy.zeros(6, numpy.float32), "w": rng.random((4, 6), numpy.float32)}
x = rng.random((10, 4), numpy.float32)
MESH = {"x": 4}
mesh4 = jax.sharding.AbstractMesh((4,), ("x",))


def model(params: dict, x: jax.Array) -> dict:
    return {"y": jnp.tanh(x @ params["w"] + params["b"])}


def raises(kind: type[BaseException], part: str, call: object) -> None:
    try:
        call()
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"expected {kind.__name__}")


def cuts(program: shardc.Program) -> dict[str, list[tuple[int, ...]]]:
    """Sizes of the shards of each dim, by argument."""
    params, x = program.in_shardings
    return {name: [dim.sizes for dim in sharding.dims] for name, sharding in {**params, "x": x}.items()}


def forms(expected: dict[str, list[tuple[int, ...]]], *shardings: object, **options: object) -> None:
    for given in shardings:
        program = shardc.compile(model, params, x, in_shardings=given, **{"mesh": MESH, **options})
        assert cuts(program) == expected, (given, cuts(program))
        numpy.testing.assert_allclose(program(params, x)["y"], model(params, x)["y"], rtol=1e-5)


# An entry stands for an argument, not for a flat number: no weight is cut by mistake.
rows = {"b": [(6,)], "w": [(4,), (6,)], "x": [(3, 3, 2, 2), (4,)]}
named = NamedSharding(mesh4, P("x"))
split = shardc.split
forms(rows, (P(), split(0, "x")), [P(), P("x", None)], {"params": P(), "x": [split(0, "x")]}, (P(), named),
      {0: P(), 1: P(), 2: P("x")}, ({"w": P(), "b": P()}, P("x")), {"params['w']": P(), "params['b']": P(), "x": P("x")})
forms(rows, (P(), named), (NamedSharding(mesh4, P()), named), mesh=None)
forms(rows, (P(), P("x")), mesh=mesh4)
forms({"b": [(6,)], "w": [(4,), (2, 2, 1, 1)], "x": [(10,), (4,)]}, ({"w": P(None, "x"), "b": P()}, P()))
forms({"b": [(3, 3)], "w": [(4,), (6,)], "x": [(5, 5), (2, 2)]}, ({"b": P("y"), "w": P()}, P("x", "y")), mesh={"x": 2, "y": 2})
forms({"b": [(6,)], "w": [(4,), (6,)], "x": [(3, 3, 2, 2), (4,)]}, (P(), P(("x", "y"))), mesh={"x": 2, "y": 2})
forms({"b": [(2, 2, 1, 1)], "w": [(1, 1, 1, 1), (6,)], "x": [(3, 3, 2, 2), (4,)]}, P("x"), split(0, "x"), named)
forms({"b": [(6,)], "w": [(4,), (6,)], "x": [(9, 0, 1, 0), (4,)]}, (P(), split(0, "x", sizes=[9, 0, 1, 0])))
for part, wrong in {
    "3 entries for 2 arguments (params, x)": (None, None, split(0, "x")),
    "1 entries for 2 arguments": [split(0, "x")],
    "params['b']: the array has 1 dims, but dim 1": (split(1, "x"), None),
    "params has no 'v'": ({"v": P()}, None),
    "params is a dict": ([P(), P()], None),
    "no argument 'y'": {"y": P("x")},
    "x: P('x', None, None) has 3 dims": (None, P("x", None, None)),
    "the mesh has the axes 'x'": (None, P("z")),
    "there are 3": {3: P("x")},
    "no sharding": (None, 7),
    "sums still to be made": (None, P("x", unreduced={"y"})),
    "is of the mesh {'x': 2}": (None, NamedSharding(jax.sharding.AbstractMesh((2,), ("x",)), P("x"))),
}.items():
    raises(shardc.UsageError, part, lambda wrong=wrong: shardc.compile(model, params, x, mesh=MESH, in_shardings=wrong))
raises(shardc.UsageError, "expected axes and their sizes", lambda: shardc.compile(model, params, x, mesh=4))

# Results.
program = shardc.compile(model, params, x, mesh=MESH, in_shardings=(P(), P("x")), out_shardings={"y": P(None, "x")})
assert [dim.sizes for dim in program.out_shardings["y"].dims] == [(10,), (2, 2, 1, 1)]
numpy.testing.assert_allclose(program(params, x)["y"], model(params, x)["y"], rtol=1e-5)
raises(shardc.UsageError, "out_shardings: what it is for has no 'z'",
       lambda: shardc.compile(model, params, x, mesh=MESH, out_shardings={"z": P()}))


# A registered class is a tree.
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: object
    rest: object


state = State(params["w"], [params["b"], 1.0])
step = lambda state, x: State(state.w * 2, [state.rest[0], x.sum()])
program = shardc.compile(step, state, x, mesh=MESH, in_shardings=(State(P("x"), [None, None]), P("x")))
assert [dim.sizes for dim in program.in_shardings[0].w.dims] == [(1, 1, 1, 1), (6,)]
numpy.testing.assert_allclose(program(state, x).w, 2 * params["w"])
raises(shardc.UsageError, "State", lambda: shardc.compile(step, state, x, mesh=MESH, in_shardings=((P(), P()), P("x"))))

# A mesh of one device, which is all that JAX has here, gives way: of the same axes, and of others.
one = jax.make_mesh((1,), ("x",))
for axes, devices in ((MESH, one), ({"d": 3}, one)):
    axis = next(iter(axes))
    spec = NamedSharding(devices, P("x"))
    jitted = jax.jit(model, in_shardings=(None, spec))
    program = shardc.compile(jitted, params, x, mesh=axes, in_shardings=(None, P(axis)))
    assert program.in_shardings[1].dims[0].axes == (axis,) and len(program.in_shardings[1].dims[0].sizes) == axes[axis]
    numpy.testing.assert_allclose(program(params, x)["y"], model(params, x)["y"], rtol=1e-5)
placed = jax.device_put(x, NamedSharding(one, P("x")))
program = shardc.compile(model, params, placed, mesh=MESH)
assert program.in_shardings[1].dims[0].sizes == (3, 3, 2, 2)

# Other shapes compile again, and both are kept; what is wrong is named.
program = shardc.compile(model, params, x, mesh=MESH, in_shardings=(P(), P("x")))
longer = rng.random((13, 4), numpy.float32)
for value in (x, longer, x, longer[:1]):
    numpy.testing.assert_allclose(program(params, value)["y"], model(params, value)["y"], rtol=1e-5)
assert "3 shapes" in repr(program)
raises(shardc.UsageError, "x is f32[4,10], but the program takes f32[10,4]", lambda: program(params, x.T))
raises(shardc.UsageError, "params['w'] is f32[3,3]", lambda: program({**params, "w": numpy.ones((3, 3), numpy.float32)}, x))
fixed = shardc.compile(jax.jit(model).lower(params, x), mesh=MESH)
raises(shardc.UsageError, "x", lambda: fixed(params, longer))
raises(shardc.UsageError, "i32[10,4]", lambda: fixed(params, x.astype(numpy.int32)))
sized = shardc.compile(model, params, x, mesh=MESH, in_shardings=(None, split(0, "x", sizes=[5, 0, 3, 2])))
raises(shardc.UsageError, "13", lambda: sized(params, longer))
numpy.testing.assert_allclose(sized(params, x)["y"], model(params, x)["y"], rtol=1e-5)

# JAX's arrays and shardc's, in and out.
numpy.testing.assert_allclose(program(jax.tree.map(jnp.asarray, params), jnp.asarray(x))["y"], model(params, x)["y"], rtol=1e-5)
held = program.put(params, x)
y = program(*held)["y"]
assert isinstance(y, shardc.Array)
numpy.testing.assert_allclose(jnp.asarray(y), model(params, x)["y"], rtol=1e-5)
numpy.testing.assert_array_equal(shardc.array(jnp.asarray(x), P("x"), mesh=MESH), x)
numpy.testing.assert_array_equal(shardc.array(x, NamedSharding(mesh4, P(None, "x"))), x)
lent = shardc.array(jnp.arange(1024.0))
numpy.testing.assert_array_equal(lent, numpy.arange(1024))
half = shardc.array(jnp.arange(8, dtype=jnp.bfloat16), P("x"), mesh=MESH)
assert half.dtype == jnp.bfloat16 and numpy.asarray(half)[5] == 5
numpy.testing.assert_array_equal(shardc.compile(lambda v: v + v, half, mesh=MESH, in_shardings=P("x"))(half), jnp.arange(8) * 2)


# A training loop whose state stays where it is.
def loss(params: dict, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((model(params, x)["y"] - y) ** 2)


def update(params: dict, x: jax.Array, y: jax.Array) -> tuple:
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), value


target = rng.random((10, 6), numpy.float32)
specs = {"w": P(None, "x"), "b": P("x")}
trained = shardc.compile(jax.jit(update, donate_argnums=0), params, x, target, mesh=MESH,
                         in_shardings=(specs, P(), P()), out_shardings=(specs, P()))
state, batch, wanted = trained.put(params, x, target)
expected = params
with warnings.catch_warnings():
    warnings.simplefilter("error", shardc.ShardcWarning)
    for _ in range(10):
        before = state
        state, value = trained(state, batch, wanted)
        expected, value_expected = jax.jit(update)(expected, x, target)
        assert before["w"].is_deleted() and not batch.is_deleted()
jax.tree.map(lambda a, b: numpy.testing.assert_allclose(a, b, rtol=1e-4), state, expected)
numpy.testing.assert_allclose(float(value), value_expected, rtol=1e-4)

# Inside what JAX transforms.
energy = shardc.compile(lambda p, x: jnp.sum(model(p, x)["y"]), params, x, mesh=MESH, in_shardings=(P(), P("x")))
plain = lambda p, x: jnp.sum(model(p, x)["y"])
numpy.testing.assert_allclose(jax.jit(lambda x: 2 * energy(params, x) + 1)(x), 2 * plain(params, x) + 1, rtol=1e-5)
stack = jnp.stack([x, 2 * x, 3 * x])
numpy.testing.assert_allclose(jax.vmap(lambda x: energy(params, x))(stack), jax.vmap(lambda x: plain(params, x))(stack), rtol=1e-5)
for transform in (lambda f: jax.grad(f, argnums=(0, 1)), lambda f: jax.jit(jax.grad(f, argnums=(0, 1)))):
    jax.tree.map(lambda a, b: numpy.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5),
                 transform(lambda p, x: energy(p, x) ** 2)(params, x), transform(lambda p, x: plain(p, x) ** 2)(params, x))
curved = shardc.compile(lambda v, n: (jnp.sum(v**3), n + 1), x, numpy.int32(1), mesh=MESH, in_shardings=(P("x"), None))
numpy.testing.assert_allclose(jax.grad(lambda v: curved(v, 1)[0])(x), 3 * x**2, rtol=1e-5)
numpy.testing.assert_allclose(jax.grad(lambda v: jnp.sum(jax.grad(lambda v: curved(v, 1)[0])(v)))(x), 6 * x, rtol=1e-5)
raises(shardc.UsageError, "no derivative", lambda: jax.grad(lambda x: jnp.sum(fixed(params, x)["y"]))(x))
raises(shardc.UsageError, "f32[13,4]", lambda: jax.jit(lambda x: fixed(params, x))(longer))
print("all good")

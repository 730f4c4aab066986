"""Programs that call Python while they run, on one rank and on several with uneven shards, beside JAX."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import tempfile
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from jax import lax
from jax.experimental import io_callback
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

x = (np.arange(21, dtype=np.float32).reshape(7, 3) - 4) / 8
log: list[Any] = []
KINDS = (jnp.bfloat16, jnp.int8, jnp.uint32, bool, jnp.float16, jnp.complex64, jnp.float8_e4m3fn)
LAYOUTS: list[tuple[dict[str, int] | None, Any]] = [
    (None, None),
    ({"x": 3}, {0: shardc.split(0, "x")}),
    ({"x": 3}, {0: shardc.split(0, "x", sizes=[5, 0, 2])}),
    ({"x": 2, "y": 2}, {0: [shardc.split(0, "x", sizes=[4, 3]), shardc.split(1, "y", sizes=[1, 2])]}),
]


def like(*values: Any) -> Any:
    kinds = tuple(jax.ShapeDtypeStruct(value.shape, value.dtype) for value in values)
    return kinds if len(kinds) > 1 else kinds[0]


def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which also notes that it was called, and with what sum."""

    def call(*arguments: Any) -> Any:
        log.append((name, [round(float(np.sum(argument)), 3) for argument in arguments]))
        return function(*arguments)

    return call


def pure(v: jax.Array) -> Any:
    scalar = jnp.float32(0)
    y, s = jax.pure_callback(noted("pure", lambda a: (np.sin(a), np.sum(a))), like(v, scalar), v * 2)
    return y + v, s, jnp.cumsum(y, axis=0)


def kinds(v: jax.Array) -> Any:
    """Element types as NumPy and ml_dtypes have them, complex numbers, a tensor without elements."""
    given = [(v * 100).astype(t) for t in KINDS]
    given.append(v[:0])
    back = jax.pure_callback(lambda *a: tuple(b[::-1] for b in a), like(*given), *given)
    return [b.astype(jnp.float32) for b in back[:-1]], back[-1]


def ordered(v: jax.Array) -> jax.Array:
    total = jnp.float32(0)
    one = io_callback(noted("first", np.sum), like(total), v, ordered=True)

    def body(i: jax.Array, c: jax.Array) -> jax.Array:
        c = c + io_callback(noted("loop", lambda a, i: np.float32(a.sum() * i)), like(total), c, i, ordered=True)
        taken = lambda c: c + io_callback(noted("branch", np.max), like(total), c, ordered=True)
        return lax.cond(c[0, 0] > 1, taken, lambda c: c - 1, c)

    v = lax.fori_loop(0, 3, body, v)
    io_callback(noted("last", lambda a: None), None, v, ordered=True)
    return v + one


def decided(v: jax.Array) -> jax.Array:
    """What Python says decides how often a loop runs."""
    more = lambda c: io_callback(lambda a: np.bool_(a.sum() < 30), like(jnp.bool_(True)), c)
    return lax.while_loop(more, lambda c: c * 2 + 1, v)


def printed(v: jax.Array) -> jax.Array:
    jax.debug.callback(noted("unordered", lambda a: None), v[:, 0])
    jax.debug.callback(noted("ordered", lambda a: None), v[0], ordered=True)
    lax.scan(lambda c, r: (c, jax.debug.callback(noted("row", lambda a: None), r, ordered=True)), 0, v)
    return v + 1


def derived(v: jax.Array) -> Any:
    """A callback with a derivative, batched."""

    @jax.custom_jvp
    def sine(a: jax.Array) -> jax.Array:
        return jax.pure_callback(np.sin, like(a), a, vmap_method="broadcast_all")

    @sine.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        cosine = jax.pure_callback(np.cos, like(primals[0]), primals[0], vmap_method="sequential")
        return sine(primals[0]), cosine * tangents[0]

    return jax.value_and_grad(lambda a: jnp.sum(jax.vmap(sine)(a) ** 2))(v)


def check(function: Callable[..., Any], hasOrder: bool = False) -> None:
    log.clear()
    expected = jax.tree.leaves(jax.jit(function)(x))
    jax.effects_barrier()
    calls = list(log)
    for mesh, cuts in LAYOUTS:
        log.clear()
        got = jax.tree.leaves(shardc.compile(function, x, mesh=mesh, in_shardings=cuts)(x))
        for mine, theirs in zip(got, expected, strict=True):
            np.testing.assert_allclose(np.asarray(mine, np.float32), np.asarray(theirs, np.float32), rtol=1e-5, atol=1e-6)
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, function.__name__
        assert log == calls if hasOrder else sorted(log) == sorted(calls), (function.__name__, mesh, log, calls)
    print(function.__name__, "good", len(calls))


def manual() -> None:
    """In a manual region every rank calls, with its own block."""
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    v = np.arange(16, dtype=np.float32).reshape(8, 2)

    def body(block: jax.Array) -> jax.Array:
        return jax.pure_callback(noted("block", lambda a: a - a.sum()), like(block), block)

    # JAX lowers callbacks where all axes are manual, and no others.
    function = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P(("x", "y")), out_specs=P(("x", "y")), check_vma=False))
    program = shardc.compile(function, v)
    log.clear()
    np.testing.assert_allclose(program(v), np.concatenate([part - part.sum() for part in np.split(v, 4)]))
    assert len(log) == 4, log
    program.check(v)
    print("manual good")


def partitioned() -> None:
    """Without values, on shards as they are: every element is seen."""
    seen = []
    function = lambda v: (jax.debug.callback(lambda a: seen.append(a.copy()), v, partitioned=True), v + 1)[1]
    shardc.compile(function, x, mesh={"x": 3}, in_shardings=LAYOUTS[2][1])(x)
    np.testing.assert_array_equal(np.concatenate(sorted(seen, key=lambda a: a.sum() if len(a) else -99)), x)
    assert sorted(map(len, seen)) == [0, 2, 5], seen
    print("partitioned good")


def raised() -> None:
    """What is raised ends the step on all ranks: none says that it waited too long."""

    def bad(a: Any) -> Any:
        raise KeyError("not here")

    def program(v: jax.Array) -> Any:
        return jax.pure_callback(bad, like(v), v) + jnp.sum(v)

    compiled = shardc.compile(program, x, mesh={"x": 3}, in_shardings=LAYOUTS[2][1])
    for _ in range(2):
        try:
            compiled(x)
            raise AssertionError("nothing was raised")
        except shardc.RunError as error:
            assert "not here" in str(error) and "callbacks.py" in str(error), error
            assert isinstance(error.__cause__, KeyError)
    wrong = lambda v: jax.pure_callback(lambda a: a[:2], like(v), v)
    try:
        shardc.compile(wrong, x)(x)
        raise AssertionError("a result of another shape was taken")
    except shardc.RunError as error:
        assert "Incorrect output shape" in str(error), error
    print("raised good")


def elsewhere() -> None:
    """Without the process that knows the functions: refused where one is reached that gives values."""
    taken = lambda v: lax.cond(v[0, 0] > 0, lambda a: jax.pure_callback(np.sin, like(a), a), lambda a: a + 1, v)
    with tempfile.TemporaryDirectory() as directory:
        shardc.compile(taken, x, mesh={"x": 3}, in_shardings=LAYOUTS[1][1]).save(f"{directory}/program.so")
        loaded = shardc.load(f"{directory}/program.so")
        np.testing.assert_allclose(loaded(-np.abs(x) - 1), -np.abs(x))
        try:
            loaded(np.abs(x) + 1)
            raise AssertionError("a function was called that nobody has")
        except shardc.UnsupportedError as error:
            assert "calls Python" in str(error) and "shardc.compile" in str(error), error
        shardc.compile(printed, x).save(f"{directory}/printed.so")
        log.clear()
        np.testing.assert_allclose(shardc.load(f"{directory}/printed.so")(x), x + 1)
        assert not log
    print("elsewhere good")


def specialized() -> None:
    """A comparison with a static program would call twice."""
    for asked in (0, 1):
        try:
            program = shardc.compile(pure, x, mesh={"x": 3}, in_shardings=LAYOUTS[1][1], dynamic="all", specialize=asked)
            np.testing.assert_allclose(program(x)[0], np.sin(x * 2) + x, rtol=1e-6)
            assert not asked
        except shardc.UnsupportedError as error:
            assert asked and error.code == 77, error
            assert "unsupported: specialize: the program calls Python" in str(error), error
    print("specialized good")


def long() -> None:
    """More bytes than a pipe holds, there and back."""
    v = np.random.default_rng(0).random((700, 300), np.float32)
    function = lambda v: jax.pure_callback(lambda a: (a.T.copy(), a + 1), like(v.T, v), v)
    a, b = shardc.compile(function, v, mesh={"x": 3}, in_shardings=LAYOUTS[1][1])(v)
    np.testing.assert_array_equal(a, v.T)
    np.testing.assert_array_equal(b, v + 1)
    print("long good")


check(pure)
check(kinds)
check(ordered, hasOrder=True)
check(decided)
check(printed)
check(derived)
manual()
partitioned()
raised()
elsewhere()
specialized()
long()
print("all good")

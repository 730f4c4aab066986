"""Where JAX has a rule by platform, shardc's devices take one that they can do, and the same one everywhere."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="2")

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.experimental import buffer_callback, sparse
from jax.experimental.shard_alike import shard_alike
from jax.interpreters import mlir
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

x = jnp.arange(3.0)
mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
rows = NamedSharding(mesh, P("x"))


def branches() -> None:
    """The default where there is one, else what is for the CPU: eager, jitted, batched and differentiated alike."""
    for branch, slope, named in ((jnp.cos, lambda x: -np.sin(x), {"cpu": jnp.sin, "default": jnp.cos}),
                                 (jnp.sin, np.cos, {"tpu": jnp.cos, "cpu": jnp.sin})):
        f = lambda x, named=named: lax.platform_dependent(x, **named)
        for form in (f, jax.jit(f), jax.vmap(f), jax.jit(jax.vmap(f))):
            np.testing.assert_allclose(form(x), branch(x), rtol=1e-6)
        for form in (jax.grad(f), jax.jit(jax.grad(f))):
            np.testing.assert_allclose(form(1.0), slope(1.0), rtol=1e-6)
    np.testing.assert_array_equal(jax.jit(lambda i: lax.cond(i > 0, lambda: 1, lambda: 2))(3), 1)
    print("branches good")


def sparse_products() -> None:
    """Rows without elements, and elements behind the last row."""
    matrix = sparse.BCSR((jnp.arange(1.0, 5), jnp.arange(4), jnp.array([0, 1, 3, 3])), shape=(3, 4))
    vector = jnp.arange(1.0, 5)
    dense = np.array([[1, 0, 0, 0], [0, 2, 3, 0], [0, 0, 0, 0]])
    np.testing.assert_allclose(jax.jit(lambda a, b: a @ b)(matrix, vector), dense @ np.asarray(vector))
    print("sparse products good")


def halves() -> None:
    """LAPACK has no floats of 16 bits: factors are computed in f32 and rounded. QR is refused, as by JAX's CPU."""
    square = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], "f4")
    for kind, near in ((jnp.bfloat16, 0.05), (jnp.float16, 0.005)):
        given = jnp.asarray(square, kind)
        try:
            jnp.linalg.qr(given)
        except (NotImplementedError, TypeError) as error:
            assert jnp.dtype(kind).name in str(error), error
        else:
            raise AssertionError("QR of 16 bits is refused by JAX")
        values = lax.linalg.eigh(given)[1]
        assert values.dtype == kind
        np.testing.assert_allclose(np.asarray(values, "f4"), np.linalg.eigvalsh(square), atol=near)
        low = np.asarray(lax.linalg.cholesky(given), "f4")
        np.testing.assert_allclose(low @ low.T, square, atol=near)
    print("halves good")


def systems() -> None:
    """Singular tridiagonal systems, which eigenvectors are found by, have finite solutions where that is asked for."""
    diagonal, beside = np.arange(4, dtype="f4"), np.ones(3, "f4")
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    values, vectors = jax.scipy.linalg.eigh_tridiagonal(diagonal, beside)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-5)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, atol=1e-4)
    print("systems good")


def inspected() -> None:
    """The sharding that the compiler decides on, once a compilation; the value that is asked about is cut by another's."""
    found = []

    def f(a):
        b = a * 2
        jax.debug.inspect_array_sharding(b, callback=found.append)
        jax.debug.inspect_array_sharding(b.sum(0), callback=found.append)
        return b + 1

    a = jax.device_put(np.ones((4, 3), "f4"), rows)
    with jax.set_mesh(mesh):
        jitted = jax.jit(f)
        np.testing.assert_array_equal(jitted(a), 3)
        np.testing.assert_array_equal(jitted(a), 3)
    assert [one.spec for one in found] == [P("x"), P()], found
    # A function that raises fails the compilation.
    try:
        jax.jit(lambda a: (jax.debug.inspect_array_sharding(a, callback=lambda _: 1 / 0), a)[1])(a)
    except jax.errors.JaxRuntimeError as error:
        assert "ZeroDivisionError" in str(error), error
    else:
        raise AssertionError("nobody hears what the function raised")
    print("inspected good")


def foreign() -> None:
    """A primitive of somebody else's calls back, by a rule for all platforms."""
    doubled = jax.extend.core.Primitive("doubled")
    doubled.def_abstract_eval(lambda a: a)

    def lower(context, value):
        call = mlir.emit_python_callback(context, lambda a: (np.asarray(a) * 2,), None, [value], context.avals_in,
                                         context.avals_out, has_side_effect=False)
        return call[0]

    mlir.register_lowering(doubled, lower)
    np.testing.assert_array_equal(jax.jit(doubled.bind)(x), np.arange(3) * 2)
    print("foreign good")


def buffers() -> None:
    """Functions that write their results, of JAX's own types: new ones, and what an operand is given up for."""

    def double(context, out, value, *, more):
        assert isinstance(context, buffer_callback.ExecutionContext) and isinstance(value, buffer_callback.Buffer)
        assert context.stage == buffer_callback.ExecutionStage.EXECUTE
        assert value.shape == (3,) and value.dtype == "f4" and out["sum"].writeable
        np.asarray(out["sum"])[...] = np.asarray(value).sum()
        np.from_dlpack(out["same"])[1:] += np.asarray(more)

    like = {"same": jax.ShapeDtypeStruct((3,), "f4"), "sum": jax.ShapeDtypeStruct((), "f4")}
    f = buffer_callback.buffer_callback(double, like, input_output_aliases={0: 0}, vmap_method="sequential")
    for form in (f, jax.jit(f)):
        found = form(x, more=10.0)
        np.testing.assert_array_equal(found["same"], [0, 11, 12])
        assert found["sum"] == 3
    np.testing.assert_array_equal(jax.vmap(lambda a: f(a, more=1.0))(jnp.stack([x, x + 1]))["sum"], [3, 6])
    for wrong, why in ((lambda context, out, value: 1, "must not return any values"), (lambda context, out, value: context.stream, "GPU context is not available")):
        try:
            jax.block_until_ready(buffer_callback.buffer_callback(wrong, like["same"])(x))
        except jax.errors.JaxRuntimeError as error:
            assert why in str(error), error
        else:
            raise AssertionError(why)
    print("buffers good")


def used() -> None:
    """What is said to be used stays in the program, in the shape that a rank has."""

    def f(a):
        lax.dce_sink(a + 1, prevent_mlir_dce=True)
        return a

    a = jax.device_put(np.ones((4, 3), "f4"), rows)
    text = jax.jit(f).lower(a).compile().as_text()
    assert "dce_sink" in text and "f32[2,3]" in text and "add" in text, text
    np.testing.assert_array_equal(jax.jit(f)(a), 1)
    print("used good")


def lines() -> None:
    """Communication stands at the line, and under the name, of the op that asked for it."""

    def total(a):
        return jnp.tanh(a).sum(0)

    a = jax.device_put(np.ones((4, 3), "f4"), rows)
    text = jax.jit(total).lower(a).compile().as_text()
    summed = [line for line in text.splitlines() if " all-reduce(" in line]
    assert len(summed) == 1 and 'op_name="jit(total)/reduce_sum"' in summed[0], text
    assert f"line={total.__code__.co_firstlineno + 1} " in text and __file__ in text, text
    print("lines good")


def fours() -> None:
    """Floats of four bits come in, are computed, cut, called with, and go out: all of their numbers."""
    numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], "f4")
    given = jnp.asarray(numbers).astype(jnp.float4_e2m1fn)
    assert given.dtype == jnp.float4_e2m1fn
    np.testing.assert_array_equal(np.asarray(given).astype("f4"), numbers)
    np.testing.assert_array_equal(jax.jit(lambda a: a.astype("f4") * 2)(given), numbers * 2)
    cut = jax.device_put(given, rows)
    back = jax.jit(lambda a: (a[::-1], -a))(cut)
    np.testing.assert_array_equal(np.asarray(back[0]).astype("f4"), numbers[::-1])
    np.testing.assert_array_equal(np.asarray(back[1]).astype("f4"), -numbers)
    like = jax.ShapeDtypeStruct.like(cut)
    called = jax.jit(lambda a: jax.pure_callback(lambda v: v[::-1], like, -a)[::-1])(cut)
    np.testing.assert_array_equal(np.asarray(called).astype("f4"), -numbers)
    np.testing.assert_array_equal(np.asarray(jnp.arange(5, dtype=jnp.float4_e2m1fn)).astype("f4"), np.arange(5))
    print("fours good")


def eights() -> None:
    """Floats of eight bits and less are cut where a program says so, and what they lack is what NumPy makes of it."""
    numbers = np.array([0, 0.5, 1, -1.5, 2, -0.0, 300, np.nan], "f4")
    for kind in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e4m3fnuz, jnp.float8_e5m2fnuz,
                 jnp.float8_e3m4, jnp.float8_e4m3, jnp.float8_e8m0fnu, jnp.float4_e2m1fn):
        given = numbers.astype(kind)
        back = jax.jit(lambda a: lax.with_sharding_constraint(a, rows)[::-1])(given)
        np.testing.assert_array_equal(np.asarray(back).view("u1"), given[::-1].view("u1"))
        gathered = jax.jit(jax.shard_map(lambda a: lax.all_gather(a, "x", tiled=True), mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False))
        np.testing.assert_array_equal(np.asarray(gathered(given)).view("u1"), given.view("u1"))
        for convert in (lambda a, kind=kind: a.astype(kind), lambda a, kind=kind: a.astype(kind).astype("f4").astype(kind)):
            np.testing.assert_array_equal(np.asarray(jax.jit(convert)(numbers)).astype("f4"), given.astype("f4"), str(kind))
    print("eights good")


def shown() -> None:
    """What factorisations are made of can be shown."""
    square = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]])
    for kind in ("f4", "c8"):
        for f in (lax.linalg.svd, lax.linalg.eig, lax.linalg.eigh, lax.linalg.qr, lax.linalg.schur, lax.linalg.hessenberg, lax.linalg.tridiagonal, jnp.conj):
            given = jax.device_put(np.stack([square.astype(kind)] * 2), rows)
            assert "all-" not in jax.jit(f).lower(given).compile().as_text(), f
    print("shown good")


def alike() -> None:
    """Values that are to be cut alike may be used before somebody says so."""
    a = jax.device_put(np.arange(8.0, dtype="f4").reshape(4, 2), rows)

    def f(a):
        first = a * 2
        second = shard_alike(a, first)[1] + shard_alike(first, jnp.ones((4, 2)))[1]
        return second, shard_alike(first @ first.T, jnp.arange(16.0).reshape(4, 4))

    second, (product, numbers) = jax.jit(f)(a)
    for array in (second, product, numbers):
        assert array.sharding.is_equivalent_to(rows, 2), array.sharding
    doubled = np.asarray(a) * 2
    np.testing.assert_array_equal(second, doubled + 1)
    np.testing.assert_array_equal(product, doubled @ doubled.T)
    np.testing.assert_array_equal(numbers, np.arange(16).reshape(4, 4))
    print("alike good")


def orders() -> None:
    """Who says in which order values are to be made gets the same values."""

    def f(a):
        b, c = jnp.sin(a), jnp.cos(a)
        jax.ffi.ffi_call("control_dep", (), has_side_effect=True)(c, b)  # as jax.experimental.control_deps has it
        return b, c

    for found, wanted in zip(jax.jit(f)(x), (np.sin(np.arange(3)), np.cos(np.arange(3))), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    print("orders good")


def exported() -> None:
    """What was exported for CPUs among others runs here; what was for one other platform does not, as JAX says."""
    square = np.array([[4, 1], [1, 3]], "f4")
    f = jax.jit(lambda a: (lax.platform_dependent(a, cpu=jnp.cos, default=jnp.sin), jnp.linalg.cholesky(a)))
    for platforms in (["tpu", "cpu"], ["cpu", "cuda"]):
        artifact = export.export(f, platforms=platforms)(jax.ShapeDtypeStruct((2, 2), "f4"))
        branch, factor = jax.jit(artifact.call)(square)
        np.testing.assert_allclose(branch, np.cos(square), rtol=1e-6)
        np.testing.assert_allclose(factor, np.linalg.cholesky(square), rtol=1e-6)
    both = export.export(f, platforms=["cpu", "shardc"])(jax.ShapeDtypeStruct((2, 2), "f4"))
    np.testing.assert_allclose(both.call(square)[0], np.sin(square), rtol=1e-6)
    for platforms in (["cpu"], ["tpu"], ["tpu", "cuda"]):
        try:
            export.export(jax.jit(jnp.sin), platforms=platforms)(1.0).call(1.0)
        except ValueError as error:
            assert "exported for platforms" in str(error), error
        else:
            raise AssertionError("a program for others was taken")
    print("exported good")


def broken() -> None:
    """A matrix with NaN or infinities has no vectors: nobody takes those of another for its own."""
    for bad in (np.nan, np.inf):
        square = np.array([[4, 1, 0], [1, bad, 1], [0, 1, 2]], "f4")
        for kind in ("f4", "c8"):
            for found in (*jnp.linalg.eigh(square.astype(kind)), *jnp.linalg.svd(square.astype(kind))):
                assert np.isnan(found).all(), (bad, kind, found)
    # Others of its batch have theirs.
    values, vectors = jnp.linalg.eigh(np.stack([square, np.diag(np.arange(3, dtype="f4"))]))
    assert np.isnan(vectors[0]).all(), vectors
    np.testing.assert_allclose(values[1], [0, 1, 2])
    np.testing.assert_allclose(np.abs(vectors[1]), np.eye(3))
    print("broken good")


branches()
sparse_products()
halves()
systems()
inspected()
foreign()
buffers()
used()
lines()
fours()
eights()
shown()
alike()
orders()
exported()
broken()

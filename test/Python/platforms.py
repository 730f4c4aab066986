"""What JAX prints for other platforms than CPUs means the same: compiled from there, compared with JAX here."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from jax import export, lax

RNG = np.random.default_rng(2)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def check(name: str, function: Callable[..., Any], *args: Any, cut: int | None = 0, rtol: float = 1e-4, platforms: tuple[str, ...] = ("cuda", "tpu")) -> None:
    """Compile for three ranks, the first argument cut along dim ``cut``; AssertionError where results differ."""
    want = jax.tree.leaves(jax.jit(function)(*args))
    for platform in platforms:
        lowered = jax.jit(function, keep_unused=True).trace(*args).lower(lowering_platforms=(platform,))
        shardings = None if cut is None else {0: shardc.split(cut, "d", sizes=[args[0].shape[cut] - 1, 0, 1])}
        program = shardc.compile(lowered, mesh={"d": 3}, in_shardings=shardings)
        for a, b in zip(jax.tree.leaves(program(*args)), want, strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol, err_msg=f"{name} for {platform}")
    print(name, "equal", flush=True)


def products(a: jax.Array, b: jax.Array, sizes: jax.Array) -> Any:
    loss = lambda a, b: (lax.ragged_dot(a, b, sizes) ** 2).sum()
    return lax.ragged_dot(a, b, sizes), jax.grad(loss, (0, 1))(a, b)


# Groups that are empty, and rows behind all groups.
sizes = np.array([3, 0, 4], np.int32)
check("ragged_dot", products, normal(9, 6), normal(3, 6, 5), sizes)
check("ragged_dot of a batch", jax.vmap(products), normal(2, 9, 6), normal(2, 3, 6, 5), np.array([[3, 0, 4], [1, 8, 0]], np.int32), cut=1)


def ends(kind: Any) -> np.ndarray:
    """Pairs of integers of a kind, its least and greatest among them."""
    info = np.iinfo(kind)
    values = RNG.integers(info.min, info.max, (2, 12), kind, endpoint=True)
    values[:, :4] = [[info.min, info.min, info.max, 0], [info.min, info.max, info.max, info.max]]
    return values


with jax.enable_x64(True):
    kinds = [ends(kind) for kind in (np.int64, np.uint64, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32)]
    check("mulhi", lambda *pairs: [lax.mulhi(*pair) for pair in pairs], *kinds, cut=1, rtol=0, platforms=("cuda",))

matrix = normal(5, 5) + 5 * np.eye(5, dtype=np.float32)
check("solves", lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.det(a)), matrix, normal(5, 2))
check("factors", lambda a: (jnp.linalg.cholesky(a @ a.T), jnp.linalg.qr(a), jnp.linalg.svd(a, compute_uv=False),
                            jnp.linalg.eigvalsh(a @ a.T)), matrix, rtol=1e-3)
check("top_k", lambda a: (lax.top_k(a, 3), jnp.sort(a, 0), jnp.argsort(a, 1)), normal(7, 6))
key = jax.random.key_data(jax.random.key(3))
check("random", lambda x, k: (x + jax.random.normal(k, x.shape), jax.random.bits(k, (5,)), jax.random.permutation(k, 7)), normal(6, 3), key)
check("special", lambda x: (jax.scipy.special.digamma(x), jax.scipy.special.gammainc(x, x), jax.scipy.special.zeta(x + 1, x),
                            jax.scipy.special.betainc(x, x, x / 9), lax.cumlogsumexp(x), jnp.nextafter(x, -x)), np.abs(normal(6, 3)) + 0.1)
# Several platforms in one export: the number of the one it runs on is an argument, which no user gives.
def place(x: jax.Array) -> jax.Array:
    return lax.platform_dependent(x, cpu=jnp.sin, cuda=lambda x: x + 1, default=lambda x: x + 2)


def exported(x: jax.Array) -> Any:
    square = x.T @ x + 9 * jnp.eye(x.shape[1])
    return place(x), jnp.linalg.cholesky(square), x + jax.random.normal(jax.random.key(2), x.shape)


def check_export(name: str, function: Callable[..., Any], platforms: tuple[str, ...], like: Any, want: Any) -> None:
    program = shardc.compile(export.export(jax.jit(function), platforms=platforms)(like), x, mesh={"d": 3},
                             in_shardings={0: shardc.split(0, "d", sizes=[4, 0, 3])})
    for a, b in zip(jax.tree.leaves(program(x)), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=name)
    print(name, "equal", flush=True)


x = normal(7, 4)
everywhere = ("cuda", "rocm", "cpu", "tpu")
symbolic = jax.ShapeDtypeStruct(export.symbolic_shape("n, 4"), np.float32)
check_export("export for all", exported, everywhere, x, exported(x))
check_export("symbolic export for all", exported, everywhere, symbolic, exported(x))
check_export("export for others", place, ("cuda", "tpu"), x, x + 1)
check_export("symbolic export for another", place, ("tpu",), symbolic, x + 2)
inner = export.export(jax.jit(exported), platforms=everywhere)(x)
check_export("export that calls one", lambda x: inner.call(x), ("cpu",), x, exported(x))
check("other factors", lambda a: (jnp.linalg.cholesky(a @ a.T), jnp.linalg.solve(a, a + 1), jnp.linalg.eigvalsh(a @ a.T)),
      matrix, rtol=1e-3, platforms=("rocm",))
def decomposed(a: jax.Array) -> Any:
    """U and V are known up to signs."""
    u, s, v = lax.linalg.svd(a, algorithm=lax.linalg.SvdAlgorithm.QR, full_matrices=False)
    return (u * s) @ v, s


# Of wide matrices, libraries of GPUs give V in the place of U.
check("svd by QR", decomposed, normal(3, 5), rtol=1e-3, platforms=("cpu", "cuda", "rocm"))
print("all good")

"""What JAX prints for other platforms than CPUs means the same: compiled from there, compared with JAX here."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import shardc

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
    loss = lambda a, b: (lax.ragged_dot(a, b, sizes) ** 2).sum()  # noqa: E731
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
print("all good")

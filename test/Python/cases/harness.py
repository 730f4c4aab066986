"""What programs are compared by, and what many of them are made of.

Each is a plain JAX function with arguments of its own. It runs on one rank, and on four with the arguments named in
``cut`` in uneven shards (one of them empty); every result must be what ``jax.jit`` computes on one device.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from jax import lax


@dataclasses.dataclass
class Case:
    """``make`` gives the function and its arguments; ``cut`` names dims by a part of the argument's path."""

    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
    cut: dict[str, int]
    rtol: float
    atol: float
    x64: bool


CASES: dict[str, Case] = {}


def model(cut: dict[str, int], rtol: float = 1e-4, atol: float = 1e-5, x64: bool = False) -> Callable[[Any], Any]:
    """Register a model; ``cut`` maps flat argument numbers (as text) or paths to the dim that is cut."""

    def store(make: Any) -> Any:
        CASES[make.__name__] = Case(make, cut, rtol, atol, x64)
        return make

    return store


RNG = np.random.default_rng(1)


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * RNG.standard_normal(shape)).astype(np.float32)


def dense(n: int, m: int) -> dict[str, np.ndarray]:
    return {"w": normal(n, m, scale=n**-0.5), "b": normal(m, scale=0.1)}


def affine(p: dict[str, Any], x: jax.Array) -> jax.Array:
    return x @ p["w"] + p["b"]


def mlp(ps: list[Any], x: jax.Array) -> jax.Array:
    for p in ps[:-1]:
        x = jax.nn.gelu(affine(p, x))
    return affine(ps[-1], x)


def norm(x: jax.Array) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def adamw(params: Any, grads: Any, state: Any, rate: float = 1e-3) -> tuple[Any, Any]:
    """AdamW with clipping by the global norm."""
    step, mu, nu = state
    size = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (size + 1e-6)), grads)
    step = step + 1
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
    nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, nu, grads)
    scale = jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    params = jax.tree.map(lambda p, m, v: p - rate * (scale * m / (jnp.sqrt(v) + 1e-4) + 1e-2 * p), params, mu, nu)
    return params, (step, mu, nu)


def training(loss: Callable[..., jax.Array], params: Any, *data: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A whole step: the loss, its gradient, the optimiser."""

    def step(params: Any, state: Any, *data: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, *data)
        params, state = adamw(params, grads, state)
        return value, params, state

    zeros = jax.tree.map(np.zeros_like, params)
    return step, (params, (np.float32(0), zeros, zeros), *data)


def conv(x: jax.Array, w: jax.Array, stride: int = 1) -> jax.Array:
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cuts_of(case: Case, args: tuple[Any, ...], axis: str) -> dict[int, shardc.Split]:
    """Uneven cuts of every array below the arguments that the case names; one shard is empty."""
    shardings = {}
    paths = jax.tree_util.tree_flatten_with_path(args)[0]
    for number, (path, leaf) in enumerate(paths):
        dim = case.cut.get(str(path[0].idx))
        if dim is None:
            continue
        size = leaf.shape[dim]
        parts = [size - 3 - size // 3, 3, 0, size // 3]
        shardings[number] = shardc.split(dim, axis, sizes=parts)
    return shardings


def numbers(value: Any) -> np.ndarray:
    """An array of a result; of a key, its bits."""
    return np.asarray(jax.random.key_data(value) if jnp.issubdtype(value.dtype, jax.dtypes.prng_key) else value)


def check(case: Case) -> None:
    """Raises: AssertionError where a result differs from JAX's, ShardcError where the model does not compile or run."""
    function, args = case.make()
    with jax.enable_x64(case.x64):
        want = jax.jit(function)(*args)
        for ranks in (1, 4):
            program = shardc.compile(function, *args, mesh={"d": ranks}, in_shardings=cuts_of(case, args, "d") if ranks > 1 else None)
            have = program(*args)
            flat = zip(jax.tree_util.tree_flatten_with_path(want)[0], jax.tree.leaves(have), strict=True)
            for (path, a), b in flat:
                where = f"{ranks} ranks, result {jax.tree_util.keystr(path)}"
                np.testing.assert_allclose(numbers(b), numbers(a), rtol=case.rtol, atol=case.atol, err_msg=where)


def main(names: list[str]) -> int:
    """Check the named programs, or all; 1 if one is wrong."""
    names = names or list(CASES)
    failed = []
    for name in names:
        begin = time.monotonic()
        try:
            check(CASES[name])
            print(f"{name}: equal, {time.monotonic() - begin:.1f} s", flush=True)
        except (shardc.ShardcError, AssertionError) as error:
            failed.append(name)
            print(f"{name}: WRONG: {error}", flush=True)
    print(f"{len(failed)} of {len(names)} wrong" if failed else "all equal")
    return 1 if failed else 0

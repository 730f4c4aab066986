"""What programs are compared by, and what many of them are made of.

Each is a plain JAX function with arguments of its own, and a ``PartitionSpec`` for each argument over up to three mesh axes.
It runs on a mesh and in uneven or empty shards that the hash of its name chooses, and on one rank; every result must be what
``jax.jit`` computes. Two ways to write one: ``model`` makes a whole training step, ``program`` takes a function, and adds
the gradient of a weighted sum of its results, and other types.
"""

import argparse
import contextlib
import dataclasses
import inspect
import itertools
import math
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import shardc
from jax import lax
from jax.sharding import PartitionSpec as P

Function = Callable[..., Any]


@dataclasses.dataclass
class Case:
    """``make`` gives the function and its arguments; ``specs`` has how each argument is cut, ``mesh`` where that is fixed."""

    make: Callable[[], tuple[Function, tuple[Any, ...]]]
    specs: dict[int, P]
    rtol: float
    atol: float
    x64: bool
    mesh: dict[str, int] | None = None


CASES: dict[str, Case] = {}


def register(name: str, case: Case) -> None:
    assert name not in CASES, f"two programs are called {name}"
    CASES[name] = case


def model(specs: dict[int, P], rtol: float = 1e-4, atol: float = 1e-5, x64: bool = False) -> Callable[[Any], Any]:
    """Register what makes a function and its arguments; ``specs`` maps numbers of arguments, whose leaves are all cut so."""

    def store(make: Any) -> Any:
        register(make.__name__, Case(make, specs, rtol, atol, x64))
        return make

    return store


@dataclasses.dataclass
class Argument:
    """How an argument is cut, and what it is, drawn from a generator."""

    spec: P
    draw: Callable[[np.random.Generator], np.ndarray]


def floats(spec: P, *shape: int, scale: float = 1.0, least: float | None = None, dtype: Any = np.float32) -> Argument:
    """Normal numbers; their magnitudes above ``least``, where that is given."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        values = scale * rng.standard_normal(shape)
        if np.dtype(dtype).kind == "c":
            values = values + 1j * scale * rng.standard_normal(shape)
        return np.asarray(values if least is None else np.abs(values) + least).astype(dtype)

    return Argument(spec, draw)


def integers(spec: P, low: int, high: int, *shape: int, dtype: Any = np.int32) -> Argument:
    return Argument(spec, lambda rng: rng.integers(low, high, shape).astype(dtype))


def given(spec: P, values: Any, dtype: Any = np.float32) -> Argument:
    return Argument(spec, lambda _: np.asarray(values, dtype))


def weighted(function: Function, names: Sequence[str]) -> Function:
    """The gradient, by the named arguments, of a sum of the results under fixed weights; and that sum."""
    numbers = [list(inspect.signature(function).parameters).index(name) for name in names]

    def loss(*args: Any) -> jax.Array:
        total = jnp.float32(0)
        for number, result in enumerate(jax.tree.leaves(function(*args))):
            if not jnp.issubdtype(result.dtype, jnp.inexact):
                continue
            weights = jnp.cos(0.7 * jnp.arange(result.size) + number).reshape(result.shape).astype(result.real.dtype)
            total = total + jnp.sum(result.real * weights)
            if jnp.iscomplexobj(result):
                total = total + jnp.sum(result.imag * jnp.sin(3 * weights))
        return total

    return jax.value_and_grad(loss, numbers)


def program(arguments: Sequence[Argument], gradient: Sequence[str] = (), types: Sequence[str] = ("",), rtol: float = 1e-3,
            atol: float = 1e-4, x64: bool = False, mesh: dict[str, int] | None = None) -> Callable[[Any], Any]:
    """Register a function: with its arguments' floats as each of ``types``, and once more with its ``gradient``.

    ``mesh``: the only one that it runs on, for what names axes itself.
    """

    def store(function: Any) -> Any:
        for kind, names in itertools.product(types, [(), gradient] if gradient else [()]):

            def make(kind: str = kind, names: Sequence[str] = names) -> tuple[Function, tuple[Any, ...]]:
                rng = np.random.default_rng(zlib.crc32(function.__name__.encode()))
                args = [argument.draw(rng) for argument in arguments]
                if kind:
                    args = [value.astype(jnp.dtype(kind)) if value.dtype.kind == "f" else value for value in args]
                return weighted(function, names) if names else function, tuple(args)

            name = "/".join(filter(None, (function.__name__, kind, "gradient" if names else "")))
            specs = {number: argument.spec for number, argument in enumerate(arguments)}
            register(name, Case(make, specs, rtol, atol, x64 or "64" in kind, mesh))
        return function

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


MESHES = ([{"x": n} for n in (3, 2, 4, 5)],
          [{"x": 2, "y": 3}, {"x": 3, "y": 2}, {"x": 1, "y": 4}, {"x": 5, "y": 1}, {"x": 2, "y": 2}],
          [{"x": 2, "y": 2, "z": 2}, {"x": 2, "y": 1, "z": 3}, {"x": 1, "y": 3, "z": 2}, {"x": 3, "y": 2, "z": 1}])


def axes_of(entry: Any) -> tuple[str, ...]:
    """Mesh axes that one entry of a spec names."""
    return (entry,) if isinstance(entry, str) else tuple(entry or ())


def shards(size: int, count: int, rng: np.random.Generator) -> list[int]:
    """Sizes that add up to ``size``: of four draws two without an empty shard by intent, one with one, one with a single full one."""
    share = rng.random(count) + 0.15
    kind = rng.integers(4)
    if kind == 2:
        share[rng.integers(count)] = 0
    if kind == 3:
        share = np.eye(count)[rng.integers(count)]
    ends = [round(size * part / share.sum()) for part in itertools.accumulate(share)]
    return [end - begin for begin, end in itertools.pairwise([0, *ends[:-1], size])]


@dataclasses.dataclass
class Layout:
    """A mesh, and sizes of shards by flat argument and dim."""

    mesh: dict[str, int]
    sizes: dict[tuple[int, int], list[int]]


def layouts(name: str, case: Case, args: tuple[Any, ...], count: int) -> list[Layout]:
    """The first ``count`` of: a mesh in uneven shards, one rank, a mesh in balanced shards, more meshes in uneven ones."""
    if case.mesh:
        return [Layout(case.mesh, {})]
    named = {axis for spec in case.specs.values() for entry in spec for axis in axes_of(entry)}
    if not named:
        return [Layout({"x": 1}, {})]
    meshes = MESHES["xyz".index(max(named))]
    first = zlib.crc32(name.encode())
    found = []
    for number in range(count):
        if number == 1:
            found.append(Layout(dict.fromkeys(meshes[0], 1), {}))
            continue
        mesh = meshes[(first + number) % len(meshes)]
        rng = np.random.default_rng((first, number))
        sizes = {}
        for flat, (path, leaf) in enumerate(jax.tree_util.tree_flatten_with_path(args)[0]):
            for dim, entry in enumerate(case.specs.get(path[0].idx, P())):
                count_of = math.prod(mesh[axis] for axis in axes_of(entry))
                if count_of > 1 and number != 2:
                    sizes[flat, dim] = shards(leaf.shape[dim], count_of, rng)
        found.append(Layout(mesh, sizes))
    return found


def numbers(value: Any) -> np.ndarray:
    """An array of a result; of a key, its bits; of narrow floats, wide ones."""
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    value = np.asarray(value)
    return value.astype(np.float64) if jnp.issubdtype(value.dtype, jnp.floating) else value


def check(name: str, case: Case, count: int, options: dict[str, Any]) -> None:
    """Raises: AssertionError where a result differs from JAX's, ShardcError where the model does not compile or run."""
    function, args = case.make()
    with jax.enable_x64(case.x64), jax.set_mesh(mesh_of(case.mesh)) if case.mesh else contextlib.nullcontext():
        want = jax.jit(function)(*args)
        specs = tuple(case.specs.get(number, P()) for number in range(len(args)))
        for layout in layouts(name, case, args, count):
            compiled = shardc.compile(function, *args, mesh=layout.mesh, in_shardings=specs, sizes=layout.sizes, **options)
            have = compiled(*args)
            flat = zip(jax.tree_util.tree_flatten_with_path(want)[0], jax.tree.leaves(have), strict=True)
            for (path, a), b in flat:
                where = f"mesh {layout.mesh}, sizes {layout.sizes}, result {jax.tree_util.keystr(path)}"
                assert a.dtype == b.dtype, f"{where}: {b.dtype}, expected {a.dtype}"
                is_exact = not jnp.issubdtype(a.dtype, jnp.inexact)
                np.testing.assert_allclose(numbers(b), numbers(a), rtol=0 if is_exact else case.rtol,
                                           atol=0 if is_exact else case.atol, err_msg=where)


def mesh_of(axes: dict[str, int]) -> jax.sharding.Mesh:
    """A mesh of JAX's own devices."""
    count = math.prod(axes.values())
    return jax.sharding.Mesh(np.array(jax.devices()[:count]).reshape(*axes.values()), tuple(axes))


def main() -> int:
    """Check the named programs, or all; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description="Whole programs beside JAX.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program, with its types and gradient, or NAME/TYPE/gradient")
    parser.add_argument("--meshes", type=int, default=2, help="on how many meshes, one rank the second of them (default 2)")
    parser.add_argument("--dynamic", action="store_true", help="compile for any sizes of shards")
    parser.add_argument("--reproducible", action="store_true", help="compile for the same bits on every mesh")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="one program of N, by the hash of its name")
    asked = parser.parse_args()
    names = [name for name in CASES if not asked.names or {name, name.split("/")[0]} & set(asked.names)]
    names = [name for name in names if zlib.crc32(name.encode()) % asked.share == 0]
    options = {"dynamic": "all"} if asked.dynamic else {}
    options |= {"reproducible": True} if asked.reproducible else {}
    failed = []
    for name in names:
        begin = time.monotonic()
        try:
            check(name, CASES[name], asked.meshes, options)
            print(f"{name}: equal, {time.monotonic() - begin:.1f} s", flush=True)
        except Exception as error:
            failed.append(name)
            print(f"{name}: WRONG: {type(error).__name__}: {error}", flush=True)
    print(f"{len(failed)} of {len(names)} wrong: {' '.join(failed)}" if failed else f"all {len(names)} equal")
    return 1 if failed or not names else 0

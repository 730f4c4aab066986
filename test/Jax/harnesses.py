"""JAX's harnesses of primitives on shardc's devices, beside JAX's own CPU device.

    harnesses.py [--every N[+K]] [--only TEXT]

A harness is a use of one primitive with arguments of one type: some 5,600 of them, in JAX's wheel, which tests its exports
with them. Each is run with 64-bit types, on one device and with its arguments cut over all. ``--every N`` keeps each Nth,
``--every N+K`` others; ``--only`` those whose names hold TEXT.

Elements must be as close as their type allows (integers equal). Factors and eigenvectors are not unique: they are
multiplied, and must give the matrix that they are of. Of equal elements JAX leaves open which one an approximate top_k
takes, and in which order a sort leaves them that is not stable: any will do. Of what argmax and top_k take the first comes first.

Prints what differs or is refused, then the counts. Ends with 0 if nothing does.
"""

import argparse
import os
import sys
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "shardc,cpu")

import jax
import numpy as np
from jax._src.internal_test_util import test_harnesses
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from suite import share

jax.config.update("jax_enable_x64", True)
CPU = jax.local_devices(backend="cpu")[0]
MESH = Mesh(np.array(jax.devices("shardc")), ("ranks",))
ROUNDINGS = 64
"""How many roundings of the largest element an element may be off by."""


def on_host(values: Any) -> list[np.ndarray[Any, Any]]:
    def read(value: Any) -> np.ndarray[Any, Any]:
        is_key = jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(value) if is_key else value)

    return [*map(read, jax.tree.leaves(values))]


def wide(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def difference(expected: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> str:
    """What is wrong with ``found``; nothing if nothing is."""
    if (expected.dtype, expected.shape) != (found.dtype, found.shape):
        return f"{found.dtype}{[*found.shape]} in place of {expected.dtype}{[*expected.shape]}"
    if expected.dtype.kind in "biu":
        equal = expected == found
    else:
        one, other = wide(expected), wide(found)
        with np.errstate(all="ignore"):
            size = np.max(np.abs(one), initial=0, where=np.isfinite(one))
            limit = ROUNDINGS * float(jax.numpy.finfo(expected.dtype).eps) * size
            equal = (one == other) | (np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= limit)
    wrong = ~equal
    if not wrong.any():
        return ""
    first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return f"{wrong.sum()} of {wrong.size} elements of {expected.dtype}, {found[first]} in place of {expected[first]} at {[*map(int, first)]}"


def adjoint(matrices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.conj(np.swapaxes(matrices, -1, -2))


def products(harness: Any, matrix: np.ndarray[Any, Any], results: list[np.ndarray[Any, Any]]) -> list[tuple[Any, Any]]:
    """Pairs that are equal where ``results`` are what the harness asks of ``matrix``; else elements say it."""
    kind, asked = harness.group_name, harness.params
    if kind == "svd" and asked["compute_uv"]:
        values, left, right = results
        return [((left[..., : values.shape[-1]] * values[..., None, :]) @ right[..., : values.shape[-1], :], matrix)]
    if kind == "cholesky":
        # What is in the other triangle is nobody's.
        factor = np.tril(results[0])
        return [(factor @ adjoint(factor), matrix)]
    if kind == "eigh":
        vectors, values = results
        half = np.tril(matrix) if asked["lower"] else np.triu(matrix)
        whole = half + adjoint(half) - np.eye(matrix.shape[-1]) * half
        return [(whole.astype(vectors.dtype) @ vectors, vectors * values[..., None, :].astype(vectors.dtype))]
    if kind == "eig":
        values, *vectors = results
        pairs = []
        if asked["compute_left_eigenvectors"]:
            left = adjoint(vectors.pop(0))
            pairs.append((left @ matrix.astype(left.dtype), values[..., :, None] * left))
        if asked["compute_right_eigenvectors"]:
            right = vectors.pop(0)
            pairs.append((matrix.astype(right.dtype) @ right, right * values[..., None, :]))
        return pairs
    return []


def in_order(results: list[np.ndarray[Any, Any]], dim: int) -> list[np.ndarray[Any, Any]]:
    """Elements of lines along ``dim`` in an order of all ``results``, the first of which counts most."""
    order = np.lexsort(results[::-1], axis=dim)
    return [np.take_along_axis(result, order, dim) for result in results]


def compare_choices(harness: Any, operand: np.ndarray[Any, Any], expected: list[Any], found: list[Any]) -> str:
    """Results of which equal elements may have been taken otherwise."""
    if harness.group_name == "sort":
        keys, dim = harness.params["num_keys"], harness.params["dimension"]
        wrong = next(filter(None, map(difference, expected[:keys], found[:keys])), "")
        return wrong or next(filter(None, map(difference, in_order(expected, dim), in_order(found, dim))), "")
    values, places = found
    if ((places < 0) | (places >= operand.shape[-1])).any() or (np.diff(np.sort(places), axis=-1) == 0).any():
        return f"places {places.tolist()} are not different ones of a line"
    return difference(*expected[:1], values) or difference(np.take_along_axis(operand, places, -1), values)


def compare(harness: Any, arguments: list[Any], expected: list[Any], found: list[Any]) -> str:
    kind = harness.group_name
    if kind == "approx_top_k" or (kind == "sort" and not harness.params["is_stable"]):
        return compare_choices(harness, np.asarray(arguments[0]), expected, found)
    if kind not in ("svd", "eig", "eigh", "cholesky"):
        return next(filter(None, map(difference, expected, found)), "")
    for one, other in products(harness, np.asarray(arguments[0]), found):
        if wrong := difference(other.astype(one.dtype), one):
            return f"factors: {wrong}"
    if kind in ("svd", "eigh"):
        at = 0 if kind == "svd" else 1
        return difference(np.sort(expected[at]), np.sort(found[at]))
    return ""


def cut(argument: Any, place: int) -> Any:
    """Cuts a dim that the devices divide; which one changes from harness to harness."""
    argument = np.asarray(argument) if not hasattr(argument, "ndim") else argument
    dims = [(dim + place) % argument.ndim for dim in range(argument.ndim)]
    fits = [dim for dim in dims if argument.shape[dim] and argument.shape[dim] % MESH.size == 0]
    spec = [None] * argument.ndim if not fits else ["ranks" if dim == fits[0] else None for dim in range(argument.ndim)]
    return jax.device_put(argument, NamedSharding(MESH, PartitionSpec(*spec)))


def main() -> int:
    parser = argparse.ArgumentParser(description="JAX's harnesses of primitives")
    parser.add_argument("--every", type=share, default="1", metavar="N[+K]")
    parser.add_argument("--only", default="", metavar="TEXT")
    options = parser.parse_args()
    count, _, offset = options.every.partition("+")
    same = wrong = unknown = 0
    for place, harness in enumerate(test_harnesses.all_harnesses):
        if place % int(count) != int(offset or 0) or options.only not in harness.fullname:
            continue
        arguments = harness.dyn_args_maker(np.random.RandomState(place))
        function = jax.jit(harness.dyn_fun)
        try:
            with jax.default_device(CPU):
                expected = on_host(function(*[jax.device_put(argument, CPU) for argument in arguments]))
        except (NotImplementedError, TypeError):
            unknown += 1
            continue
        for where in ("one device", f"{MESH.size} devices"):
            try:
                given = [jax.device_put(argument, jax.devices("shardc")[0]) if where == "one device" else cut(argument, place)
                         for argument in arguments]
                problem = compare(harness, arguments, expected, on_host(function(*given)))
            except jax.errors.JaxRuntimeError as error:
                problem = str(error).splitlines()[0]
            if problem:
                print(f"{harness.fullname} on {where}: {problem}", flush=True)
            wrong, same = wrong + bool(problem), same + (not problem)
    print(f"{same} as on JAX's CPU device, {wrong} not, {unknown} harnesses that it does not know itself")
    return int(wrong > 0 or same == 0)


if __name__ == "__main__":
    sys.exit(main())

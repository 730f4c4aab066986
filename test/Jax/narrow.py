"""Floats of one byte and less through JAX: an error function, which f64 has too, orders and sums of a type without a sign, and casts."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

assert jax.default_backend() == "shardc"
NAMES = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4", "float4_e2m1fn"]
for name in NAMES:
    x = jnp.asarray(np.array([-2, -0.5, 0, 0.25, 1, 2]).astype(jnp.dtype(name)))
    expected = np.asarray(lax.erf(x.astype(jnp.float32))).astype(jnp.dtype(name))
    for function in (lax.erf, jax.jit(jax.vmap(lax.erf))):
        got = np.asarray(function(x))
        assert got.dtype == x.dtype and np.array_equal(got.astype(np.float32), expected.astype(np.float32)), (name, got, expected)

with jax.enable_x64(True):
    x = np.linspace(-3, 3, 50)
    assert np.allclose(np.asarray(lax.erf(jnp.asarray(x))), [*map(math.erf, x)], rtol=1e-15), "the error function of f64"

powers = jnp.asarray(np.array([1, 2, 0.25, 4, 0.5]).astype(jnp.float8_e8m0fnu))
assert np.asarray(jnp.sort(powers)).astype(np.float32).tolist() == [0.25, 0.5, 1, 2, 4]
assert np.asarray(jnp.argsort(powers)).tolist() == [2, 4, 0, 1, 3]
values, places = lax.top_k(powers, 2)
assert np.asarray(values).astype(np.float32).tolist() == [4, 2] and places.tolist() == [3, 1]

# Sums into what is not zero, by indices that are cut: 1 + 1, 4 + 4 + 8.
rows = NamedSharding(jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)), P("x"))
begin, added = (jnp.asarray(np.array(v).astype(jnp.float8_e8m0fnu)) for v in ([1.0, 2, 4], [1.0, 4, 8, 16]))
sums = jax.jit(lambda x, i, u: x.at[i].add(u, mode="drop"))(begin, *(jax.device_put(v, rows) for v in (jnp.array([0, 2, 2, 7]), added)))
assert np.asarray(sums).astype(np.float32).tolist() == [2, 2, 16], sums

# Casts of numbers out of range, of ties and of what is no number, as ml_dtypes rounds; to integers the nearest that there is.
numbers = np.array([0, -0.0, 1, -1, 2.5, 0.3, 6, 7, 27, -28, 240, 248, 300, 464, 65519, 65520, 1e9, -3e38, 1e-7, 2.0**-10, np.inf, -np.inf, np.nan, 127.5], np.float32)
FLOATS = [*NAMES, "float8_e8m0fnu", "bfloat16", "float16"]
INTEGERS = ["int4", "uint4", "int8", "uint8", "int16", "uint32"]


@jax.jit
def casts(x):
    x = lax.with_sharding_constraint(x, rows)
    first = {name: x.astype(name) for name in FLOATS}
    return first, {name: {to: y.astype(to) for to in ("float32", *INTEGERS)} for name, y in first.items()}


first, second = casts(numbers)
for name in FLOATS:
    with np.errstate(all="ignore"):
        narrow = numbers.astype(jnp.dtype(name))
        exact = narrow.astype(np.float64)
        for to, found in ({name: first[name]} | second[name]).items():
            got, expected = np.asarray(found).astype(np.float64), exact
            if to in INTEGERS:
                limits = jnp.iinfo(to)
                expected = np.where(np.isnan(exact), 0, np.clip(np.trunc(exact), int(limits.min), int(limits.max)))
            assert np.array_equal(got, expected, equal_nan=True), (name, to, numbers[~np.isclose(got, expected, equal_nan=True)], got, expected)
print("narrow floats are as they should be")

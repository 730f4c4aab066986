"""Floats of one byte and less through JAX: an error function, which f64 has too, and orders of a type without a sign."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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
print("narrow floats are as they should be")

"""Where JAX has a rule by platform, shardc's devices take one that they can do, and the same one everywhere."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="2")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import sparse

x = jnp.arange(3.0)


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


branches()
sparse_products()

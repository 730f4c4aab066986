"""The emulated GPU under JAX: shards, collectives, gradients, state that is given up, callbacks."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="2", SHARDC_DEVICE="emulated-cuda")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("x"))
data = np.random.default_rng(0).normal(size=(8, 16)).astype("f4")


def programs() -> None:
    """Products, sums over devices, sorts along what is cut."""
    found = jax.jit(lambda a: (jnp.tanh(a @ a.T).sum(0), a.mean(), jnp.sort(a, 0)))(jax.device_put(data, rows))
    for ours, theirs in zip(found, (np.tanh(data @ data.T).sum(0), data.mean(), np.sort(data, 0)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    print("programs good")


def training() -> None:
    """Steps of descent on weights that are given up in each."""

    @jax.jit
    def loss(w, a):
        return jnp.mean((jnp.tanh(a @ w) - 1) ** 2)

    step = jax.jit(lambda w, a: w - 0.1 * jax.grad(loss)(w, a), donate_argnums=0)
    w, expected = jnp.zeros(16), np.zeros(16)
    for _ in range(3):
        w = step(w, jax.device_put(data, rows))
        t = np.tanh(data @ expected)
        expected = expected - 0.1 * (2 * (t - 1) * (1 - t**2)) @ data / 8
    np.testing.assert_allclose(w, expected, rtol=1e-4)
    print("training good")


def callbacks() -> None:
    """A function of the host in the middle."""
    shape = jax.ShapeDtypeStruct((3,), np.float32)
    doubled = jax.jit(lambda a: jax.pure_callback(lambda v: v * 2, shape, a + 1) + 1)
    np.testing.assert_array_equal(doubled(np.arange(3, dtype="f4")), [3, 5, 7])
    print("callbacks good")


programs()
training()
callbacks()

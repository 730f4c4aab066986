"""A Gaussian process of tinygp: its likelihood, the slope of it, predictions, and a quasiseparable kernel's scan."""
# needs: tinygp

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from tinygp import GaussianProcess, kernels

mesh = jax.make_mesh((len(jax.devices()),), ("rows",), axis_types=(AxisType.Auto,))
x = jax.device_put(jnp.linspace(0, 9, 60), NamedSharding(mesh, PartitionSpec("rows")))
y = jnp.sin(x) + 0.1 * jax.random.normal(jax.random.key(0), x.shape)


def process(params, kind):
    kernel = jnp.exp(params["size"]) * kind(scale=jnp.exp(params["scale"]))
    return GaussianProcess(kernel, x, diag=jnp.exp(params["noise"]))


params = {"size": jnp.float32(0.2), "scale": jnp.float32(0.1), "noise": jnp.float32(-2.0)}
for kind in (kernels.ExpSquared, kernels.Matern52, kernels.quasisep.Matern32):
    loss = jax.jit(jax.value_and_grad(lambda p, kind=kind: -process(p, kind).log_probability(y)))
    fitted = params
    for _ in range(5):
        value, slope = loss(fitted)
        fitted = jax.tree.map(lambda p, g: p - 0.005 * g, fitted, slope)
    _, given = process(fitted, kind).condition(y, jnp.array([0.5, 4.4, 10.0]))
    print(kind.__name__, float(value), *map(float, given.loc), *map(float, given.variance))

"""Array types of quax: low-rank weights in a network, units, structured matrices."""
# needs: quax equinox optax

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import quax
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from quax.examples import lora

mesh = jax.make_mesh((len(jax.devices()),), ("batch",), axis_types=(AxisType.Auto,))
x = jax.device_put(jax.random.normal(jax.random.key(0), (48, 6)), NamedSharding(mesh, PartitionSpec("batch")))
y = jnp.sin(x.sum(1, keepdims=True))
model = eqx.nn.MLP(6, 1, 16, 2, key=jax.random.key(1))
model = lora.loraify(model, rank=2, key=jax.random.key(2))
optimizer = optax.adam(1e-2)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(model, x, y):
    return jnp.square(jax.vmap(quax.quaxify(model))(x) - y).mean()


for _ in range(6):
    value, slopes = loss(model, x, y)
    updates, state = optimizer.update(slopes, state)
    model = eqx.apply_updates(model, updates)
    print("loss", float(value))

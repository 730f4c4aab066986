"""Explicit sharding: a mesh that is set, types that carry shardings, and reshards where the program says so."""
# needs: jax

import functools

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, auto_axes, reshard
from jax.sharding import PartitionSpec as P

count = len(jax.devices())
rows = {4: 2, 6: 2}.get(count, 1)
mesh = jax.make_mesh((rows, count // rows), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
jax.set_mesh(mesh)
keys = jax.random.split(jax.random.key(0), 6)
params = {
    "w1": jax.device_put(jax.random.normal(keys[0], (12, 24)) * 0.3, P(None, "y")),
    "b1": jax.device_put(jnp.zeros(24), P("y")),
    "w2": jax.device_put(jax.random.normal(keys[1], (24, 6)) * 0.3, P("y", None)),
    "b2": jax.device_put(jnp.zeros(6), P()),
}
x = jax.device_put(jax.random.normal(keys[2], (24, 12)), P("x", None))
labels = jax.device_put(jax.random.randint(keys[3], (24,), 0, 6), P("x"))
print(jax.typeof(x), jax.typeof(params["w1"]))


def loss(params, x, labels):
    hidden = jax.nn.gelu(jnp.einsum("bi,ih->bh", x, params["w1"]) + params["b1"])
    logits = jnp.einsum("bh,ho->bo", hidden, params["w2"], out_sharding=P("x", None)) + params["b2"]
    return -(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 6)).sum(-1).mean()


@functools.partial(jax.jit, donate_argnums=0)
def step(params, x, labels):
    value, slopes = jax.value_and_grad(loss)(params, x, labels)
    return jax.tree.map(lambda p, g: p - 0.3 * g, params, slopes), value


for _ in range(5):
    params, value = step(params, x, labels)
    print("loss", float(value))
print({name: str(value.sharding.spec) for name, value in params.items()})

table = jax.device_put(jax.random.normal(keys[4], (32, 12)), P("x", "y"))
places = jax.device_put(jax.random.randint(keys[5], (24,), 0, 32), P("x"))
taken = jax.jit(lambda t, i: reshard(t, P(None, "y")).at[i].get(out_sharding=P("x", "y")))(table, places)
print("taken", jax.typeof(taken), float(taken.sum()))


@functools.partial(auto_axes, axes=("x",), out_sharding=P("x", None))
def order(x):
    return jnp.sort(x, axis=0) * 2


print("sorted", float((order(x) * jnp.arange(24)[:, None]).sum()))
product = jax.shard_map(lambda x, w: x @ w, in_specs=(P("x", None), P(None, "y")), out_specs=P("x", "y"))
print("manual", float(product(x, params["w1"]).sum()))


def body(carry, weights):
    carry = jnp.tanh(jnp.einsum("bi,ij->bj", carry, weights, out_sharding=P("x", None)))
    return carry, carry.sum()


last, sums = jax.jit(lambda x, w: jax.lax.scan(body, x, w))(x, jnp.stack([jnp.eye(12) / 2, jnp.ones((12, 12)) / 9, jnp.eye(12)]))
print("scan", float(last.sum()), *(float(v) for v in sums))
slopes = jax.jit(jax.grad(lambda x, w: jnp.einsum("bi,ij->bj", x, w, out_sharding=P("x", "y")).sum(), argnums=(0, 1)))(x, params["w1"])
print("slopes", *(jax.typeof(t) for t in slopes), *(float(t.sum()) for t in slopes))
drawn = jax.random.normal(jax.random.key(3), (12, 3), out_sharding=P("y", None))
print("drawn", drawn.sharding.spec, float(drawn.sum()))
heads = jax.device_put(jax.random.normal(keys[5], (2 * rows, 6, 2 * (count // rows), 4)), P("x", None, "y", None))
mixed = jax.jit(functools.partial(jax.nn.dot_product_attention, is_causal=True))(heads, heads, heads)
print("attention", float(jnp.abs(mixed).max()), float(mixed.sum()))
try:
    x + jax.device_put(jnp.ones((24, 12)), P("y", None))
except Exception as error:
    print(type(error).__name__)

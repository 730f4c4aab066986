"""Gradients accumulated over four steps before an update, clipped, with weight decay and a warm-up; the batch is cut."""
# needs: optax

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))
rows, everywhere = NamedSharding(mesh, P("batch")), NamedSharding(mesh, P())


def init(key, sizes=(12, 32, 32, 3)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (a, b)) / np.sqrt(a), "b": jnp.zeros(b)} for k, a, b in zip(keys, sizes, sizes[1:])]


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_of(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(forward(params, x), y).mean()


schedule = optax.warmup_cosine_decay_schedule(0.0, 0.02, 5, 40)
optimizer = optax.MultiSteps(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule)), every_k_schedule=4)


@jax.jit
def step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


params = jax.device_put(init(jax.random.key(1)), everywhere)
state = jax.device_put(optimizer.init(params), everywhere)
data = np.random.default_rng(0)
centers = data.normal(size=(3, 12))
for i in range(80):
    y = data.integers(0, 3, 48)
    x = (centers[y] + data.normal(size=(48, 12))).astype("f4")
    params, state, loss = step(params, state, jax.device_put(x, rows), jax.device_put(y, rows))
    if i % 20 == 19:
        print("loss", i, float(loss), "updates", int(state.gradient_step))
print("norm", float(optax.global_norm(params)))

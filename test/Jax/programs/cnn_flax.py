"""A convolution net of Flax on images cut over devices, AdamW with gradients of two batches added up (Optax)."""
# needs: flax optax

import jax
import numpy as np
import optax
from flax import linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for features in (16, 32):
            x = nn.avg_pool(nn.relu(nn.Conv(features, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.relu(nn.Dense(64)(x.reshape((x.shape[0], -1))))
        return nn.Dense(10)(x)


mesh = Mesh(np.array(jax.devices()), ("batch",))
rng = np.random.default_rng(0)
images = rng.normal(size=(48, 28, 28, 1)).astype(np.float32)
labels = (images.mean((1, 2, 3)) * 200).astype(int) % 10
net = Net()
params = net.init(jax.random.key(0), images[:1])
optimiser = optax.MultiSteps(optax.adamw(1e-3), 2)
state = optimiser.init(params)
params, state = jax.device_put((params, state), NamedSharding(mesh, PartitionSpec()))
images, labels = jax.device_put((images, labels), NamedSharding(mesh, PartitionSpec("batch")))


@jax.jit
def step(params, state, images, labels):
    def loss(params):
        return optax.softmax_cross_entropy_with_integer_labels(net.apply(params, images), labels).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    updates, state = optimiser.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value


for number in range(6):
    params, state, value = step(params, state, images, labels)
    print(f"loss {number}", float(value))

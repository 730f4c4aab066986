"""A causal language model of Flax's NNX, its batch cut over devices, trained with AdamW."""
# needs: flax optax

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class Block(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.before = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(num_heads=heads, in_features=width, decode=False, rngs=rngs)
        self.between = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.before(x), mask=nnx.make_causal_mask(jnp.ones(x.shape[:2])))
        return x + self.down(jax.nn.gelu(self.up(self.between(x))))


class Model(nnx.Module):
    def __init__(self, words, width, rngs):
        self.embedding = nnx.Embed(words, width, rngs=rngs)
        self.first, self.second = Block(width, 4, rngs), Block(width, 4, rngs)
        self.head = nnx.Linear(width, words, rngs=rngs)

    def __call__(self, tokens):
        return self.head(self.second(self.first(self.embedding(tokens))))


model = Model(64, 32, nnx.Rngs(0))
optimiser = nnx.Optimizer(model, optax.adamw(3e-3), wrt=nnx.Param)
mesh = Mesh(np.array(jax.devices()), ("batch",))
tokens = jax.device_put(np.random.default_rng(0).integers(0, 64, (12, 33)), NamedSharding(mesh, PartitionSpec("batch")))


@nnx.jit
def step(model, optimiser, tokens):
    def loss(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(tokens[:, :-1]), tokens[:, 1:]).mean()

    value, gradients = nnx.value_and_grad(loss)(model)
    optimiser.update(model, gradients)
    return value


for number in range(4):
    print(f"loss {number}", float(step(model, optimiser, tokens)))

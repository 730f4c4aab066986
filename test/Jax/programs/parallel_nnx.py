"""A transformer of NNX whose weights are cut by annotation: heads and hidden units over one axis, rows over the other.

Layers are one scan, computed again for gradients but for what a policy keeps; products are of bf16, the loss is scaled,
and steps whose gradients are not finite are left out.
"""
# needs: flax optax
# tolerance: 0.02

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

count = len(jax.devices())
rows = {1: 1, 4: 2, 6: 3}.get(count, 1)
mesh = jax.make_mesh((rows, count // rows), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
words, width, heads, depth, length, batch = 32, 24, 2, 3, 12, 6


def cut(init, *dims):
    return nnx.with_partitioning(init, dims)


class Block(nnx.Module):
    def __init__(self, rngs):
        init = nnx.initializers.normal(0.1)
        self.norm = nnx.LayerNorm(width, rngs=rngs, dtype=jnp.float32)
        self.qkv = nnx.Linear(width, 3 * width, use_bias=False, dtype=jnp.bfloat16, rngs=rngs,
                              kernel_init=cut(init, "data", "model"))
        self.out = nnx.Linear(width, width, use_bias=False, dtype=jnp.bfloat16, rngs=rngs,
                              kernel_init=cut(init, "model", "data"))
        self.up = nnx.Linear(width, 4 * width, dtype=jnp.bfloat16, rngs=rngs, kernel_init=cut(init, "data", "model"))
        self.down = nnx.Linear(4 * width, width, dtype=jnp.bfloat16, rngs=rngs, kernel_init=cut(init, "model", "data"))

    def __call__(self, x):
        q, k, v = jnp.split(self.qkv(self.norm(x)), 3, -1)
        q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape)
        x = x + self.out(checkpoint_name(mixed, "mixed"))
        x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None, None)))
        return x + self.down(jax.nn.silu(self.up(x)))


class Model(nnx.Module):
    def __init__(self, rngs):
        init = nnx.initializers.normal(0.1)
        self.embedding = nnx.Param(cut(init, "model", "data")(rngs.params(), (words, width)))

        @nnx.split_rngs(splits=depth)
        @nnx.vmap(in_axes=(0,), out_axes=0, transform_metadata={nnx.PARTITION_NAME: None})
        def blocks(rngs):
            return Block(rngs)

        self.blocks = blocks(rngs)

    def __call__(self, tokens):
        policy = jax.checkpoint_policies.save_only_these_names("mixed")

        @nnx.scan(in_axes=(0, nnx.Carry), out_axes=nnx.Carry)
        @nnx.remat(policy=policy)
        def forward(block, x):
            return block(x)

        x = forward(self.blocks, self.embedding[...][tokens].astype(jnp.bfloat16))
        return (x @ self.embedding[...].T.astype(jnp.bfloat16)).astype(jnp.float32)


@nnx.jit
def make():
    model = Model(nnx.Rngs(0))
    state = nnx.state(model)
    nnx.update(model, jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))
    return model


@nnx.jit
def step(model, optimiser, scale, tokens):
    def loss(model):
        logits = model(tokens[:, :-1])
        value = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()
        return value * scale, value

    (_, value), gradients = nnx.value_and_grad(loss, has_aux=True)(model)
    gradients = jax.tree.map(lambda g: g / scale, gradients)
    finite = functools.reduce(jnp.logical_and, [jnp.isfinite(g).all() for g in jax.tree.leaves(gradients)])
    old = nnx.state((model, optimiser))
    optimiser.update(model, gradients)
    new = nnx.state((model, optimiser))
    nnx.update((model, optimiser), jax.tree.map(lambda n, o: jnp.where(finite, n, o), new, old))
    return value, jnp.where(finite, scale * 2, scale / 2), finite


with jax.set_mesh(mesh):
    model = make()
    optimiser = nnx.Optimizer(model, optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2)), wrt=nnx.Param)
    tokens = np.random.default_rng(0).integers(0, words, (batch, length + 1))
    tokens = jax.device_put(tokens, NamedSharding(mesh, P("data")))
    shape = model.blocks.up.kernel[...].addressable_shards[0].data.shape
    print("shard as cut:", shape == (depth, width // rows, 4 * width // (count // rows)))
    scale = jnp.float32(2.0**10)
    for number in range(5):
        value, scale, finite = step(model, optimiser, scale, tokens)
        print(f"step {number}: loss", float(value), "finite", int(finite))

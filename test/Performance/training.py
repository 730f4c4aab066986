"""Training steps of realistic networks, in plain JAX: what jax_loops.py times. Nothing here knows whose devices they run on.

``PROGRAMS`` maps a name to a function of a mesh of two axes, "data" and "model", that returns a ``Training``: the step, its state and its data.
A step takes about 20 to 500 ms on two cores of 2026.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

Tree = Any


@dataclass
class Training:
    """``step(*state, *data)`` returns the state after it and the loss; specs are prefixes of the trees that they are for."""

    step: Callable[..., tuple]
    state: tuple
    data: tuple
    state_specs: tuple
    data_specs: tuple

    def place(self, mesh: jax.sharding.Mesh) -> tuple[tuple, tuple]:
        """Return state and data as arrays on the mesh."""

        def put(spec: Tree, tree: Tree) -> Tree:
            spread = jax.tree.broadcast(spec, tree, is_leaf=lambda leaf: isinstance(leaf, P))
            return jax.tree.map(lambda s, a: jax.device_put(a, NamedSharding(mesh, s)), spread, tree, is_leaf=lambda leaf: isinstance(leaf, P))

        return put(self.state_specs, self.state), put(self.data_specs, self.data)

    def jitted(self, mesh: jax.sharding.Mesh) -> Callable[..., tuple]:
        """Return the step under jit: the state is given up, and comes back as it was cut."""
        named = jax.tree.map(lambda s: NamedSharding(mesh, s), (*self.state_specs, P()), is_leaf=lambda leaf: isinstance(leaf, P))
        return jax.jit(self.step, donate_argnums=tuple(range(len(self.state))), out_shardings=named)


# --- layers ---------------------------------------------------------------------------------------------------------


class Draw:
    """Random numbers, the same in each process."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def normal(self, *shape: int, scale: float = 1) -> np.ndarray:
        return (scale * self.rng.normal(size=shape)).astype(np.float32)

    def weight(self, *shape: int) -> np.ndarray:
        return self.normal(*shape, scale=float(np.prod(shape[:-1])) ** -0.5)

    def ints(self, *shape: int, below: int) -> np.ndarray:
        return self.rng.integers(0, below, size=shape).astype(np.int32)

    def dense(self, inputs: int, outputs: int) -> Tree:
        return {"w": self.weight(inputs, outputs), "b": np.zeros(outputs, np.float32)}

    def norm(self, features: int) -> Tree:
        return {"g": np.ones(features, np.float32), "b": np.zeros(features, np.float32)}


def dense(x, p):
    return x @ p["w"] + p["b"] if "b" in p else x @ p["w"]


def mlp(x, layers, act=jax.nn.gelu):
    for p in layers[:-1]:
        x = act(dense(x, p))
    return dense(x, layers[-1])


def layer_norm(x, p):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-5) * p["g"] + p["b"]


def group_norm(x, p, groups=4):
    batch, channels = x.shape[0], x.shape[-1]
    y = x.reshape(batch, -1, groups, channels // groups)
    mean, var = y.mean((1, 3), keepdims=True), y.var((1, 3), keepdims=True)
    return ((y - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape) * p["g"] + p["b"]


def conv(x, w, stride=1, padding="SAME"):
    return lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def attention(q, k, v, causal):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)


def block(x, p, heads, causal):
    """A pre-norm transformer block."""
    batch, tokens, features = x.shape
    h = layer_norm(x, p["ln1"])
    q, k, v = (dense(h, p[name]).reshape(batch, tokens, heads, -1).transpose(0, 2, 1, 3) for name in ("q", "k", "v"))
    x = x + dense(attention(q, k, v, causal).transpose(0, 2, 1, 3).reshape(batch, tokens, features), p["out"])
    return x + dense(jax.nn.gelu(dense(layer_norm(x, p["ln2"]), p["up"])), p["down"])


def block_parameters(draw, features):
    square = {name: draw.dense(features, features) for name in ("q", "k", "v", "out")}
    # Attention does not depend on a bias of all keys: its slope is rounding alone, and Adam would make steps of it.
    del square["k"]["b"]
    wide = {"up": draw.dense(features, 4 * features), "down": draw.dense(4 * features, features)}
    return square | wide | {"ln1": draw.norm(features), "ln2": draw.norm(features)}


WIDE, NARROW = {"w": P(None, "model"), "b": P("model")}, {"w": P("model"), "b": P()}
BLOCK = {name: WIDE for name in ("q", "v", "up")} | {"k": {"w": P(None, "model")}, "out": NARROW, "down": NARROW} | {name: {"g": P(), "b": P()} for name in ("ln1", "ln2")}


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()


# --- optimizers -----------------------------------------------------------------------------------------------------


def momentum(loss, rate):
    def step(params, speed, *data):
        value, slopes = jax.value_and_grad(loss)(params, *data)
        speed = jax.tree.map(lambda m, g: 0.9 * m + g, speed, slopes)
        return jax.tree.map(lambda p, m: p - rate * m, params, speed), speed, value

    return step


def adam(loss, rate):
    def step(params, first, second, count, *data):
        value, slopes = jax.value_and_grad(loss)(params, *data)
        count = count + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slopes)
        scale = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        params = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), params, first, second)
        return params, first, second, count, value

    return step


def with_momentum(loss, params, spec, data, data_specs, rate=0.01):
    return Training(momentum(loss, rate), (params, jax.tree.map(np.zeros_like, params)), data, (spec, spec), data_specs)


def with_adam(loss, params, spec, data, data_specs, rate=1e-3):
    zeros = jax.tree.map(np.zeros_like, params)
    return Training(adam(loss, rate), (params, zeros, jax.tree.map(np.copy, zeros), np.float32(0)), data, (spec, spec, spec, P()), data_specs)


# --- networks -------------------------------------------------------------------------------------------------------


def unet2d(batch=2, size=128, channels=16) -> Training:
    """A U-Net of two levels, rows of the images over all devices; momentum."""
    draw, rows = Draw(), P(None, ("data", "model"))

    def stage(inputs, outputs):
        return {"w": draw.weight(3, 3, inputs, outputs), **draw.norm(outputs)}

    c = channels
    params = {"in": stage(3, c), "down1": stage(c, 2 * c), "down2": stage(2 * c, 4 * c),
              "up2": stage(6 * c, 2 * c), "up1": stage(3 * c, c), "out": draw.weight(1, 1, c, 1)}

    def apply(p, x):
        def run(x, q):
            return jax.nn.silu(group_norm(conv(x, q["w"]), q))

        def pool(x):
            return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

        def up(x):
            return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)

        fine = run(x, p["in"])
        middle = run(pool(fine), p["down1"])
        coarse = run(pool(middle), p["down2"])
        middle = run(jnp.concatenate([up(coarse), middle], -1), p["up2"])
        fine = run(jnp.concatenate([up(middle), fine], -1), p["up1"])
        return conv(fine, p["out"])

    data = draw.normal(batch, size, size, 3), draw.normal(batch, size, size, 1)
    return with_momentum(lambda p, x, y: jnp.mean(jnp.square(apply(p, x) - y)), params, P(), data, (rows, rows))


def vit(batch=16, size=64, patch=8, features=128, heads=4, depth=4, classes=10) -> Training:
    """A vision transformer, batch over one axis, heads and hidden units over the other; Adam."""
    draw, tokens = Draw(), (size // patch) ** 2
    params = {"embed": draw.weight(patch, patch, 3, features), "position": draw.normal(tokens, features, scale=0.1),
              "blocks": [block_parameters(draw, features) for _ in range(depth)], "head": draw.dense(features, classes)}
    spec = {"embed": P(), "position": P(), "blocks": [BLOCK] * depth, "head": {"w": P(), "b": P()}}

    def apply(p, x):
        x = conv(x, p["embed"], stride=patch, padding="VALID").reshape(batch, tokens, features) + p["position"]
        for q in p["blocks"]:
            x = block(x, q, heads, causal=False)
        return dense(x.mean(1), p["head"])

    data = draw.normal(batch, size, size, 3), draw.ints(batch, below=classes)
    return with_adam(lambda p, x, y: cross_entropy(apply(p, x), y), params, spec, data, (P("data"), P("data")))


def transformer(batch=8, tokens=128, features=128, heads=4, depth=4, vocabulary=512) -> Training:
    """A causal language model, batch over one axis, heads and hidden units over the other; Adam."""
    draw = Draw()
    params = {"embed": draw.normal(vocabulary, features, scale=0.1), "position": draw.normal(tokens, features, scale=0.1),
              "blocks": [block_parameters(draw, features) for _ in range(depth)], "ln": draw.norm(features)}
    spec = {"embed": P(), "position": P(), "blocks": [BLOCK] * depth, "ln": {"g": P(), "b": P()}}

    def loss(p, words, following):
        x = p["embed"][words] + p["position"]
        for q in p["blocks"]:
            x = block(x, q, heads, causal=True)
        return cross_entropy(layer_norm(x, p["ln"]) @ p["embed"].T, following)

    data = draw.ints(batch, tokens, below=vocabulary), draw.ints(batch, tokens, below=vocabulary)
    return with_adam(loss, params, spec, data, (P("data"), P("data")))


def gnn_message_passing(nodes=4096, edges=16384, features=64, rounds=3) -> Training:
    """Message passing on a random graph, nodes and edges over all devices; momentum."""
    draw, cut = Draw(), P(("data", "model"))

    def layers(*widths):
        return [draw.dense(i, o) for i, o in itertools.pairwise(widths)]

    params = {"nodes": layers(4, features), "edges": layers(3, features), "out": layers(features, features, 2),
              "message": [layers(3 * features, features, features) for _ in range(rounds)],
              "update": [layers(2 * features, features, features) for _ in range(rounds)]}

    def loss(p, x, e, send, receive, target):
        h, m = mlp(x, p["nodes"]), mlp(e, p["edges"])
        for message, update in zip(p["message"], p["update"], strict=True):
            m = m + mlp(jnp.concatenate([m, h[send], h[receive]], -1), message, jax.nn.relu)
            total = jax.ops.segment_sum(m, receive, num_segments=nodes)
            h = h + mlp(jnp.concatenate([h, total], -1), update, jax.nn.relu)
        return jnp.mean(jnp.square(mlp(h, p["out"]) - target))

    data = (draw.normal(nodes, 4), draw.normal(edges, 3), draw.ints(edges, below=nodes), draw.ints(edges, below=nodes), draw.normal(nodes, 2))
    return with_momentum(loss, params, P(), data, (cut,) * 5, rate=1e-4)


PROGRAMS: dict[str, Callable[[], Training]] = {"unet2d": unet2d, "vit": vit, "gnn_message_passing": gnn_message_passing, "transformer": transformer}

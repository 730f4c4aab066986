"""Programs with symbolic extents in which each query looks at all keys."""

import jax
import jax.numpy as jnp
import numpy as np
from declared import F32, I32, program


@program(["n, 8", "m, 8", "m, 4"], [0, 0, 0])
def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / np.sqrt(8), axis=-1) @ v


@program(["n, 8", "n, 8", "n, 4"], [0, 0, 0])
def causal(q, k, v):
    n = q.shape[0]
    seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
    return jax.nn.softmax(jnp.where(seen, q @ k.T, -1e30), axis=-1) @ v


@program(["n, 8", "n, 8", "n, 4"], [0, 0, 0], zigzag=[0, 1, 2])
def zigzag_causal(q, k, v):
    """The output, and the gradient of all: in zigzag order from arguments to results."""
    n = q.shape[0]

    def attend(q, k, v):
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        return jax.nn.softmax(jnp.where(seen, q @ k.T / 3, -jnp.inf), axis=-1) @ v

    out, pull = jax.vjp(attend, q, k, v)
    return out, *pull(jnp.sin(out))


@program(["n, 8", "m, 8", "m, 4", "n"], [0, 0, 0, 0], zigzag=[0, 2])
def zigzag_of_two(q, k, v, x):
    """Queries and keys in orders of their own; what knows positions, and what reads neighbours."""
    seen = jnp.arange(q.shape[0])[:, None] >= jnp.arange(k.shape[0])[None, :] - 1
    out = jax.nn.softmax(jnp.where(seen, q @ k.T / 3, -jnp.inf), axis=-1) @ v
    return out * jnp.cos(x + jnp.arange(q.shape[0]))[:, None], jnp.pad(out, ((1, 0), (0, 0)))[:-1], jnp.cumsum(v, 0)


@program(["4, n", "6, n", "6, n"], [None, 0, 0])
def deep(q, k, v):
    return jax.nn.softmax(q @ k.T / 8, axis=-1) @ v


@program(["b, n, 8", "8, 8", "8, 8"], [1, None, None])
def block(x, w, o):
    h = x @ w
    scores = jnp.einsum("bqd,bkd->bqk", h, x) / np.sqrt(8)
    return x + jnp.tanh(jax.nn.softmax(scores, -1) @ x) @ o


@program(["n, 8", "8, 8", "8, 8", "8, 8", "8, 8", "n, 8"], [0, None, None, None, None, 0], tolerance=2e-4)
def transformer_train(x, q, k, v, o, y):
    n = x.shape[0]

    def loss(q, k, v, o):
        h = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        pos = jnp.sin(jnp.arange(n)[:, None] / 10.0 ** jnp.arange(8))
        h = h + pos
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        a = jax.nn.softmax(jnp.where(seen, (h @ q) @ (h @ k).T / np.sqrt(8), -1e30), -1)
        h = h + a @ (h @ v) @ o
        return ((h - y) ** 2).mean()

    val, g = jax.value_and_grad(loss, (0, 1, 2, 3))(q, k, v, o)
    return (val, *g)


@program(["b, n, 8", "b, m, 8", "8, 8"], [1, 1, None], tolerance=1e-4)
def cross_attention(x, y, w):
    def f(w):
        s = jnp.einsum("bqd,bkd->bqk", x @ w, y) / 3
        return (jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s, -1), y) ** 2).mean()

    return jax.value_and_grad(f)(w)


@program(["n, 8", "n, 8", "n, 8"], [0, 0, 0], tolerance=1e-4)
def windowed_attention(q, k, v):
    n = q.shape[0]
    d = jnp.arange(n)[:, None] - jnp.arange(n)[None, :]
    s = jnp.where((d >= 0) & (d < 5), q @ k.T / 3, -jnp.inf)
    return jax.nn.softmax(s, -1) @ v


@program(["b, h, n, 8", "b, h, n, 8", "b, h, n, 8"], [2, 2, 2], tolerance=1e-4, zigzag=[0, 1, 2])
def zigzag_heads(q, k, v):
    n = q.shape[2]
    s = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 3
    seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(seen, s, -jnp.inf), -1), v)


@program(["n, 8", "8, 8", "8, 8", "8, 8", "8, 8", "n, 8"], [0, None, None, None, None, 0], tolerance=2e-4, zigzag=[0, 5])
def zigzag_training(x, q, k, v, o, y):
    n = x.shape[0]
    q, k, v, o = (0.3 * w for w in (q, k, v, o))

    def loss(q, k, v, o):
        h = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        pos = jnp.sin(jnp.arange(n)[:, None] / 10.0 ** jnp.arange(8))
        h = h + pos
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        for _ in range(2):
            a = jax.nn.softmax(jnp.where(seen, (h @ q) @ (h @ k).T / np.sqrt(8), -1e30), -1)
            h = h + a @ (h @ v) @ o
        return ((h - y) ** 2).mean()

    val, g = jax.value_and_grad(loss, (0, 1, 2, 3))(q, k, v, o)
    return (val, *g)


@program(["n", "n, 8", "30, 8"], [0, 0, None], types=[I32, F32, F32], tolerance=2e-4, zigzag=[1])
def zigzag_tokens(t, y, e):
    n = t.shape[0]

    def loss(e):
        h = e[t % 30]
        seen = jnp.arange(n)[:, None] >= jnp.arange(n)[None, :]
        a = jax.nn.softmax(jnp.where(seen, h @ h.T / 3, -1e30), -1)
        return ((a @ h - y) ** 2).mean()

    return jax.value_and_grad(loss)(e)


@program(["n, 8", "m, 8"], [0, 0], constraints=["n >= 128", "m >= 64", "m <= 100"], tolerance=1e-4)
def bounded(x, y):
    """Extents of which neither is as small as most that are tried, and one is in a narrow range."""
    n, m = x.shape[0], y.shape[0]
    return x[:128].sum(0), x[n - 100 :] * 2, jax.nn.softmax(x @ y.T, -1) @ y, jnp.pad(y, ((0, 100 - m), (0, 0)))


@program(["b, h, w, 3", "3, 4", "3, 4"], [0, None, None], most=24)
def pixels(x, q, k):
    """Scores between all pixels of images: a tensor of five open extents."""
    b, h, w, c = x.shape
    y = x.reshape(b, h * w, c)
    scores = jnp.einsum("bpd,bqd->bpq", y @ q, y @ k) / 2
    return (jax.nn.softmax(scores, -1) @ y).reshape(b, h, w, c)


@program(["b, h, w, 3", "3, 8", "3, 8"], [1, None, None], most=16)
def pixels_of_heads(x, q, k):
    """The same of two heads, with gradients; rows of pixels are cut."""
    b, h, w, c = x.shape

    def loss(x, q, k):
        y = x.reshape(b, h * w, c)
        heads = [(y @ m).reshape(b, h * w, 2, 4) for m in (q, k)]
        scores = jnp.einsum("bphd,bqhd->bhpq", *heads) / 2
        return jnp.mean(jnp.einsum("bhpq,bqc->bphc", jax.nn.softmax(scores, -1), y) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(x, q, k)

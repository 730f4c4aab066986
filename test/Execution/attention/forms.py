"""Run the forms of attention that people write, forward and gradient, on four ranks, and compare with JAX.

    forms.py --tools DIR [NAME ...]

Each form says what is to become of it: one op on all pairs, forward and backward, with no number for each pair of tokens left; or, where it is no plain
attention, products as they are, and a remark that names the op that broke the pattern, at its line of this file. Tokens are cut evenly, and unevenly with an
empty shard. Prints a line for each form that fails, and a summary; exit code 1 if there is any. docs/Reference/attention-forms.md is the list.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
import runner
from check import annotate
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

jax.config.update("jax_enable_x64", False)
MESH = jax.make_mesh((4,), ("sp",), axis_types=(jax.sharding.AxisType.Auto,))
BATCH, TOKENS, HEADS, DEPTH, KEYS = 2, 23, 4, 8, 19
UNEVEN = {TOKENS: "9,0,3,11", KEYS: "1,10,8,0"}


@dataclass
class Form:
    """A function of arguments of ``shapes``: floats, but for ``integers`` below a number and ``booleans``. ``cut``: the dim of tokens of each argument that has one.

    ``why``: what the remark says, a pattern, where it is left as it is ("-": nothing); empty where it becomes an op. ``gradient``: the same of the gradient where that is
    otherwise ("none": not looked at). ``keeps``: a product of queries and positions is an operand of the op, or others are there that are of no pairs.
    """

    title: str
    function: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    cut: dict[int, int]
    why: str = ""
    gradient: str = ""
    keeps: bool = False
    integers: dict[int, int] = field(default_factory=dict)
    booleans: tuple[int, ...] = ()


FORMS: dict[str, Form] = {}
Q = (BATCH, TOKENS, HEADS, DEPTH)
QKV = [Q, Q, Q]


def form(title: str, *more: tuple[int, ...], shapes: list[tuple[int, ...]] | None = None, cut: dict[int, int] | None = None,
         **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the function below to the forms, under its name; ``more`` are shapes of arguments behind queries, keys and values."""
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        FORMS[function.__name__] = Form(title, function, [*(shapes or QKV), *more], cut if cut is not None else {0: 1, 1: 1, 2: 1}, **options)
        return function
    return add


def scores_of(q: jax.Array, k: jax.Array) -> jax.Array:
    return jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])


def mix(p: jax.Array, v: jax.Array) -> jax.Array:
    return jnp.einsum("bhqk,bkhd->bqhd", p, v)


def past(queries: int = TOKENS, keys: int = TOKENS) -> jax.Array:
    return jnp.arange(queries)[:, None] >= jnp.arange(keys)[None]


#===----------------------------------------------------------------------===#
# What is done to scores
#===----------------------------------------------------------------------===#


@form("`jax.nn.softmax(x, where=mask)`", (BATCH, 1, TOKENS, TOKENS), booleans=(3,))
def softmax_where(q, k, v, mask):
    return mix(jax.nn.softmax(scores_of(q, k), axis=-1, where=mask), v)


@form("`jax.nn.softmax(x, where=causal)`")
def softmax_where_causal(q, k, v):
    return mix(jax.nn.softmax(scores_of(q, k), axis=-1, where=past()), v)


@form("`jax.nn.softmax(x, where=lengths)`", (BATCH,), integers={3: KEYS})
def softmax_where_lengths(q, k, v, lengths):
    mask = (jnp.arange(TOKENS)[None] <= lengths[:, None])[:, None, None]
    return mix(jax.nn.softmax(scores_of(q, k), axis=-1, where=mask), v)


@form("`jax.nn.softmax(x, where=mask)`, rows without a key", (BATCH, 1, TOKENS, TOKENS), booleans=(3,))
def softmax_where_empty(q, k, v, mask):
    mask = jnp.logical_and(mask, (jnp.arange(TOKENS) % 5 != 1)[:, None])
    return mix(jax.nn.softmax(scores_of(q, k), axis=-1, where=mask), v)


@form("soft cap of scores (`logit_soft_cap`, Gemma)")
def soft_cap(q, k, v):
    return mix(jax.nn.softmax(jnp.tanh(scores_of(q, k) / 5.0) * 5.0, axis=-1), v)


@form("soft cap, then a causal mask (Gemma 2)")
def soft_cap_causal(q, k, v):
    logits = jnp.tanh(scores_of(q, k) / 5.0) * 5.0
    return mix(jax.nn.softmax(jnp.where(past(), logits, -2.3819763e38), axis=-1), v)


@form("scores clipped")
def clipped(q, k, v):
    return mix(jax.nn.softmax(jnp.clip(scores_of(q, k), -0.7, 0.7), axis=-1), v)


@form("ALiBi")
def alibi(q, k, v):
    slopes = 2.0 ** -(jnp.arange(HEADS) + 1.0)
    distance = jnp.arange(TOKENS)[None] - jnp.arange(TOKENS)[:, None]
    scores = scores_of(q, k) + slopes[:, None, None] * distance
    return mix(jax.nn.softmax(jnp.where(past(), scores, -jnp.inf), axis=-1), v)


@form("relative positions: a table's rows by index (Swin)", (2 * TOKENS - 1, HEADS))
def relative_table(q, k, v, table):
    places = jnp.arange(TOKENS)[:, None] - jnp.arange(TOKENS)[None] + TOKENS - 1
    bias = table[places.reshape(-1)].reshape(TOKENS, TOKENS, HEADS).transpose(2, 0, 1)
    return mix(jax.nn.softmax(scores_of(q, k) + bias, axis=-1), v)


@form("relative positions in buckets (T5)", (8, HEADS))
def t5_bias(q, k, v, table):
    relative = jnp.arange(TOKENS)[None] - jnp.arange(TOKENS)[:, None]
    bucket = (relative > 0).astype(jnp.int32) * 4
    near = jnp.abs(relative)
    far = 2 + (jnp.log(jnp.maximum(near, 1) / 2) / jnp.log(16 / 2) * 2).astype(jnp.int32)
    bucket = bucket + jnp.where(near < 2, near, jnp.minimum(far, 3))
    bias = table[bucket].transpose(2, 0, 1)[None]
    return mix(jax.nn.softmax(scores_of(q, k) + bias, axis=-1), v)


@form("relative keys: a product of queries with a table of distances (Transformer-XL)", (TOKENS, HEADS, DEPTH), keeps=True)
def relative_keys(q, k, v, r):
    more = jnp.einsum("bqhd,lhd->bhql", q, r)
    more = jnp.pad(more, ((0, 0), (0, 0), (0, 0), (1, 0))).reshape(BATCH, HEADS, TOKENS + 1, TOKENS)[:, :, 1:]
    return mix(jax.nn.softmax(jnp.where(past(), scores_of(q, k) + more, -1e9), axis=-1), v)


@form("a dense bias with batch dims", (BATCH, HEADS, TOKENS, TOKENS))
def dense_bias(q, k, v, bias):
    return mix(jax.nn.softmax(scores_of(q, k) + bias, axis=-1), v)


@form("a gate on scores, from queries", (BATCH, TOKENS, HEADS), cut={0: 1, 1: 1, 2: 1, 3: 1})
def temperature(q, k, v, tau):
    return mix(jax.nn.softmax(scores_of(q, k) * jnp.exp(tau).transpose(0, 2, 1)[..., None], axis=-1), v)


@form("forgetting: differences of running sums of gates (FoX)", (BATCH, TOKENS, HEADS), cut={0: 1, 1: 1, 2: 1, 3: 1})
def forgetting(q, k, v, gate):
    decay = jnp.cumsum(jax.nn.log_sigmoid(gate), axis=1).transpose(0, 2, 1)
    scores = scores_of(q, k) + decay[..., :, None] - decay[..., None, :]
    return mix(jax.nn.softmax(jnp.where(past(), scores, -1e30), axis=-1), v)


#===----------------------------------------------------------------------===#
# Queries, keys and values
#===----------------------------------------------------------------------===#


@form("cosine attention: queries and keys normalised (Swin 2)", (HEADS,))
def cosine(q, k, v, scale):
    q, k = (x / jnp.sqrt((x * x).sum(-1, keepdims=True) + 1e-6) for x in (q, k))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * jnp.exp(scale)[:, None, None]
    return mix(jax.nn.softmax(scores, axis=-1), v)


@form("normalised queries and keys, rotary positions (Gemma 3, Qwen 3)", (DEPTH,))
def qk_norm_rotary(q, k, v, g):
    def turn(x: jax.Array) -> jax.Array:
        x = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * (1 + g)
        angle = jnp.arange(TOKENS)[:, None] * 10.0 ** -(jnp.arange(DEPTH // 2) * 2 / DEPTH)
        sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
    return jax.nn.dot_product_attention(turn(q), turn(k), v, is_causal=True)


@form("cross attention", shapes=[Q, (BATCH, KEYS, HEADS, DEPTH), (BATCH, KEYS, HEADS, DEPTH)])
def cross(q, k, v):
    return jax.nn.dot_product_attention(q, k, v)


@form("cross attention of learned queries (Perceiver)", shapes=[(5, HEADS, DEPTH), (BATCH, KEYS, HEADS, DEPTH), (BATCH, KEYS, HEADS, DEPTH)], cut={1: 1, 2: 1})
def learned_queries(q, k, v):
    return mix(jax.nn.softmax(jnp.einsum("qhd,bkhd->bhqk", q, k), axis=-1), v)


@form("several queries a head, one key (multi-query)", shapes=[Q, (BATCH, TOKENS, DEPTH), (BATCH, TOKENS, DEPTH)])
def multi_query(q, k, v):
    return jnp.einsum("bhqk,bkd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkd->bhqk", q, k), axis=-1), v)


@form("latent keys and values (MLA)", (12, HEADS, DEPTH), (12, HEADS, DEPTH), (BATCH, TOKENS, HEADS, 4), (BATCH, TOKENS, 4),
      shapes=[Q, (BATCH, TOKENS, 12)], cut={0: 1, 1: 1, 4: 1, 5: 1})
def latent(q, c, up_k, up_v, q_rotary, k_rotary):
    k, v = jnp.einsum("bkc,chd->bkhd", c, up_k), jnp.einsum("bkc,chd->bkhd", c, up_v)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) + jnp.einsum("bqhd,bkd->bhqk", q_rotary, k_rotary)
    return mix(jax.nn.softmax(jnp.where(past(), scores * 0.3, -jnp.inf), axis=-1), v)


@form("latent keys and values, absorbed (MLA decode)", (12, HEADS, DEPTH), (12, HEADS, DEPTH), (BATCH, TOKENS, HEADS, 4), (BATCH, TOKENS, 4),
      shapes=[Q, (BATCH, TOKENS, 12)], cut={0: 1, 1: 1, 4: 1, 5: 1})
def latent_absorbed(q, c, up_k, up_v, q_rotary, k_rotary):
    scores = jnp.einsum("bqhc,bkc->bhqk", jnp.einsum("bqhd,chd->bqhc", q, up_k), c) + jnp.einsum("bqhd,bkd->bhqk", q_rotary, k_rotary)
    mixed = jnp.einsum("bhqk,bkc->bqhc", jax.nn.softmax(scores * 0.3, axis=-1), c)
    return jnp.einsum("bqhc,chd->bqhd", mixed, up_v)


@form("queries, keys and values of one product", (6, 3 * HEADS * DEPTH), shapes=[(BATCH, TOKENS, 6)], cut={0: 1})
def projected(x, w):
    q, k, v = jnp.split((x @ w).reshape(BATCH, TOKENS, 3 * HEADS, DEPTH), 3, axis=2)
    return mix(jax.nn.softmax(scores_of(q, k), axis=-1), v)


#===----------------------------------------------------------------------===#
# What probabilities are, and become
#===----------------------------------------------------------------------===#


@form("sigmoid attention", why="-")
def sigmoid(q, k, v):
    return mix(jax.nn.sigmoid(scores_of(q, k) - jnp.log(TOKENS)), v)


@form("sigmoid attention, causal", why="-")
def sigmoid_causal(q, k, v):
    return mix(jnp.where(past(), jax.nn.sigmoid(scores_of(q, k) - 3.0), 0.0), v)


@form("squared ReLU in place of softmax", why="-")
def squared_relu(q, k, v):
    return mix(jnp.square(jax.nn.relu(scores_of(q, k))) / TOKENS, v)


@form("one more than the sum (softmax1, off by one)", gradient=r"not one of attention that is raised")
def off_by_one(q, k, v):
    scores = scores_of(q, k)
    m = jnp.maximum(scores.max(-1, keepdims=True), 0.0)
    p = jnp.exp(scores - m)
    return mix(p / (p.sum(-1, keepdims=True) + jnp.exp(-m)), v)


@form("one more than the sum, its maximum no variable")
def off_by_one_stopped(q, k, v):
    scores = scores_of(q, k)
    m = lax.stop_gradient(jnp.maximum(scores.max(-1, keepdims=True), 0.0))
    p = jnp.exp(scores - m)
    return mix(p / (p.sum(-1, keepdims=True) + jnp.exp(-m)), v)


@form("sinks: a learned logit a head (gpt-oss)", (HEADS,))
def sinks_column(q, k, v, sink):
    scores = jnp.where(past(), scores_of(q, k), -jnp.inf)
    column = jnp.broadcast_to(sink[:, None, None], (BATCH, HEADS, TOKENS, 1))
    p = jax.nn.softmax(jnp.concatenate([scores, column], axis=-1), axis=-1)[..., :-1]
    return mix(p, v)


@form("sinks before the scores, grouped queries, a causal mask (gpt-oss)", (HEADS,), shapes=[Q, (BATCH, TOKENS, 2, DEPTH), (BATCH, TOKENS, 2, DEPTH)])
def sinks_first(q, k, v, sink):
    """The mask is added, the largest is taken off by hand, as gpt-oss has it."""
    scores = jnp.einsum("bqngd,bknd->bngqk", q.reshape(BATCH, TOKENS, 2, 2, DEPTH), k) / jnp.sqrt(DEPTH)
    scores = scores + jnp.where(past(), 0.0, -jnp.inf)
    column = jnp.broadcast_to(sink.reshape(2, 2, 1, 1), (BATCH, 2, 2, TOKENS, 1))
    both = jnp.concatenate([column, scores], axis=-1)
    p = jax.nn.softmax(both - lax.stop_gradient(both.max(-1, keepdims=True)), axis=-1)[..., 1:]
    return jnp.einsum("bngqk,bknd->bqngd", p, v).reshape(BATCH, TOKENS, HEADS, DEPTH)


@form("sinks in a scan over layers", (2, HEADS), shapes=[Q, (2, DEPTH, 3 * DEPTH)], cut={0: 1}, keeps=True)
def sinks_scan(x, weights, sinks):
    def layer(x, given):
        q, k, v = jnp.split(x @ given[0], 3, axis=-1)
        column = jnp.broadcast_to(given[1][:, None, None], (BATCH, HEADS, TOKENS, 1))
        scores = jnp.where(past(), scores_of(q, k), -1e30)
        return x + mix(jax.nn.softmax(jnp.concatenate([scores, column], axis=-1), axis=-1)[..., :-1], v), None
    return lax.scan(layer, x, (weights, sinks))[0]


@form("sinks, written as a sum", (HEADS,))
def sinks_sum(q, k, v, sink):
    scores = jnp.where(past(), scores_of(q, k), -jnp.inf)
    m = lax.stop_gradient(jnp.maximum(scores.max(-1, keepdims=True), sink[:, None, None]))
    p = jnp.exp(scores - m)
    return mix(p / (p.sum(-1, keepdims=True) + jnp.exp(sink[:, None, None] - m)), v)


@form("sliding window with the first tokens as sinks (StreamingLLM)")
def window_and_sinks(q, k, v):
    rows, columns = jnp.arange(TOKENS)[:, None], jnp.arange(TOKENS)[None]
    keep = (rows >= columns) & ((rows - columns < 6) | (columns < 2))
    return mix(jax.nn.softmax(jnp.where(keep, scores_of(q, k), -1e30), axis=-1), v)


@form("differential attention", (), shapes=[Q, Q, Q, Q, Q], cut=dict.fromkeys(range(5), 1), why=r"'stablehlo.subtract' adds something", gradient="-")
def differential(q, k, q2, k2, v, weight):
    first, second = (jax.nn.softmax(jnp.where(past(), scores_of(*x), -jnp.inf), axis=-1) for x in ((q, k), (q2, k2)))
    return mix(first - weight * second, v)  # breaks it


@form("differential attention, two products with values", (), shapes=[Q, Q, Q, Q, Q], cut=dict.fromkeys(range(5), 1))
def differential_products(q, k, q2, k2, v, weight):
    first, second = (mix(jax.nn.softmax(jnp.where(past(), scores_of(*x), -jnp.inf), axis=-1), v) for x in ((q, k), (q2, k2)))
    return first - weight * second


@form("differential attention, of halves of heads", (), shapes=[Q, Q, (BATCH, TOKENS, HEADS // 2, DEPTH)], why="-")
def differential_halves(q, k, v, weight):
    p = jax.nn.softmax(scores_of(q, k), axis=-1).reshape(BATCH, HEADS // 2, 2, TOKENS, TOKENS)
    return mix(p[:, :, 0] - weight * p[:, :, 1], v)


@form("dropout of probabilities, key given", (2,), integers={3: 1000})
def dropout(q, k, v, key):
    p = jax.nn.softmax(scores_of(q, k), axis=-1)
    keep = jax.random.bernoulli(jax.random.wrap_key_data(key.astype(jnp.uint32)), 0.8, p.shape)
    return mix(jnp.where(keep, p / 0.8, 0.0), v)


@form("dropout, its mask an argument", (BATCH, HEADS, TOKENS, TOKENS), booleans=(3,))
def dropout_mask(q, k, v, keep):
    return mix(jax.nn.softmax(scores_of(q, k), axis=-1) * keep / 0.8, v)


@form("probabilities rounded to bf16, values in bf16")
def low_precision(q, k, v):
    q, k, v = (x.astype(jnp.bfloat16) for x in (q, k, v))
    p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32), axis=-1)
    return mix(p.astype(jnp.bfloat16), v).astype(jnp.float32)


@form("a softmax over keys of two dims (a window of an image)", shapes=[(BATCH, 24, HEADS, DEPTH), (BATCH, 4, 6, HEADS, DEPTH), (BATCH, 4, 6, HEADS, DEPTH)], why=r"keys run along several dims|not divided", gradient="-")
def two_dims(q, k, v):
    p = jax.nn.softmax(jnp.einsum("bqhd,bxyhd->bhqxy", q, k), axis=(-2, -1))  # breaks it
    return jnp.einsum("bhqxy,bxyhd->bqhd", p, v)


@form("queries and keys of two dims (an image)", shapes=[(BATCH, 8, 3, HEADS, DEPTH)] * 3, why=r"keys run along several dims|not divided", gradient="-")
def image(q, k, v):
    p = jax.nn.softmax(jnp.einsum("buvhd,bxyhd->bhuvxy", q, k), axis=(-2, -1))  # breaks it
    return jnp.einsum("bhuvxy,bxyhd->buvhd", p, v)


@form("along one of two dims (axial)", shapes=[(BATCH, 8, 5, HEADS, DEPTH)] * 3)
def axial(q, k, v):
    p = jax.nn.softmax(jnp.einsum("bxyhd,bzyhd->bhyxz", q, k), axis=-1)
    return jnp.einsum("bhyxz,bzyhd->bxyhd", p, v)


@form("in windows of tokens (Swin)", shapes=[(BATCH, 24, HEADS, DEPTH)] * 3)
def windows(q, k, v):
    q, k, v = (x.reshape(BATCH * 4, 6, HEADS, DEPTH) for x in (q, k, v))
    return jax.nn.dot_product_attention(q, k, v).reshape(BATCH, 24, HEADS, DEPTH)


#===----------------------------------------------------------------------===#
# Caches
#===----------------------------------------------------------------------===#


@form("one new token, a cache of keys, a mask of lengths", (BATCH, 1, HEADS, DEPTH), (BATCH, 1, HEADS, DEPTH), (),
      shapes=[(BATCH, 1, HEADS, DEPTH), Q, Q], cut={1: 1, 2: 1}, integers={5: KEYS})
def decode(q, k, v, new_k, new_v, place):
    k, v = (lax.dynamic_update_slice(x, new, (0, place, 0, 0)) for x, new in ((k, new_k), (v, new_v)))
    scores = jnp.where(jnp.arange(TOKENS) <= place, scores_of(q, k), -1e30)
    return mix(jax.nn.softmax(scores, axis=-1), v), k, v


@form("several new tokens behind a cache", (), shapes=[(BATCH, 3, HEADS, DEPTH), Q, Q], cut={1: 1, 2: 1}, integers={3: KEYS})
def decode_several(q, k, v, place):
    keep = jnp.arange(TOKENS)[None] <= place + jnp.arange(3)[:, None]
    return mix(jax.nn.softmax(jnp.where(keep, scores_of(q, k), jnp.finfo(jnp.float32).min), axis=-1), v)


@form("lengths of queries and keys (`query_seq_lengths`)", (BATCH,), (BATCH,), integers={3: KEYS, 4: KEYS})
def lengths(q, k, v, queries, keys):
    return jax.nn.dot_product_attention(q, k, v, query_seq_lengths=queries + 1, key_value_seq_lengths=keys + 1)


#===----------------------------------------------------------------------===#
# No attention of one head each, or none of all keys
#===----------------------------------------------------------------------===#


@form("talking heads: scores mixed between heads", (HEADS, HEADS), why=r"'stablehlo.dot_general' takes scores", gradient="-")
def talking_scores(q, k, v, w):
    scores = jnp.einsum("bhqk,hg->bgqk", scores_of(q, k), w)  # breaks it
    return mix(jax.nn.softmax(scores, axis=-1), v)


@form("talking heads: probabilities mixed between heads", (HEADS, HEADS), why=r"'stablehlo.dot_general' mixes the probabilities", gradient="-")
def talking_probabilities(q, k, v, w):
    p = jax.nn.softmax(scores_of(q, k), axis=-1)
    p = jnp.einsum("bhqk,hg->bgqk", p, w)  # breaks it
    return mix(p, v)


@form("the largest scores alone (top-k)", why=r"'chlo.top_k' takes scores", gradient="-")
def top_scores(q, k, v):
    scores = scores_of(q, k)
    least = lax.top_k(scores, 4)[0][..., -1:]  # breaks it
    return mix(jax.nn.softmax(jnp.where(scores >= least, scores, -1e30), axis=-1), v)


@form("probabilities wanted as well", why=r"'func.return' needs the scores as well", gradient="-")
def weights_wanted(q, k, v):
    p = jax.nn.softmax(scores_of(q, k), axis=-1)  # breaks it
    return mix(p, v), p


@form("scores convolved with those of neighbours", (HEADS, 1, 3, 3), why=r"'stablehlo.convolution' takes scores", gradient="-")
def convolved(q, k, v, w):
    scores = lax.conv_general_dilated(scores_of(q, k), w, (1, 1), "SAME", feature_group_count=HEADS)  # breaks it
    return mix(jax.nn.softmax(scores, axis=-1), v)


@form("a softmax over queries (slots)", why=r"not divided by their sum alone", gradient="-")
def over_queries(q, k, v):
    p = jax.nn.softmax(scores_of(q, k), axis=-2)  # breaks it
    return mix(p, v)


@form("probabilities divided once more, by the sum of their queries (slot attention)", why="-")
def slots(q, k, v):
    p = jax.nn.softmax(scores_of(q, k), axis=-2)
    p = p / (p.sum(-1, keepdims=True) + 1e-6)
    return mix(p, v)


@form("scores sorted (sparsemax)", why="-")
def sparsemax(q, k, v):
    scores = scores_of(q, k)
    ordered = jnp.flip(jnp.sort(scores, axis=-1), -1)
    sums = jnp.cumsum(ordered, axis=-1)
    count = (1 + jnp.arange(1, TOKENS + 1) * ordered > sums).sum(-1, keepdims=True)
    least = (jnp.take_along_axis(sums, count - 1, axis=-1) - 1) / count
    return mix(jnp.maximum(scores - least, 0.0), v)


@form("linear attention", why="-")
def linear(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    return jnp.einsum("bqhd,bhde->bqhe", q, jnp.einsum("bkhd,bkhe->bhde", k, v)) / jnp.einsum("bqhd,bhd->bqh", q, k.sum(1))[..., None]


#===----------------------------------------------------------------------===#
# Running them
#===----------------------------------------------------------------------===#


def arguments_of(form: Form) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    values: list[np.ndarray] = []
    for i, shape in enumerate(form.shapes):
        if i in form.booleans:
            mask = rng.random(shape) < 0.7
            mask[..., 0] = True
            values.append(mask)
        elif i in form.integers:
            values.append(np.asarray(rng.integers(0, form.integers[i], shape), np.int32))
        else:
            values.append(np.asarray(rng.standard_normal(shape), np.float32))
    return values


def gradient_of(form: Form) -> Callable[..., Any]:
    """Output and gradients of all floats, for a cotangent that no symmetry helps."""
    floats = [i for i in range(len(form.shapes)) if i not in form.booleans and i not in form.integers]

    def both(*values: jax.Array) -> Any:
        def of(*some: jax.Array) -> Any:
            full = list(values)
            for i, value in zip(floats, some, strict=True):
                full[i] = value
            return form.function(*full)
        out, pull = jax.vjp(of, *(values[i] for i in floats))
        return out, pull(jax.tree.map(lambda x: jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape), out))

    return both


def expected_line(function: Callable[..., Any]) -> int:
    """The line of this file that breaks the pattern."""
    lines, first = inspect.getsourcelines(function)
    return first + next((i for i, line in enumerate(lines) if "# breaks it" in line), 0)


def pairs_left(form: Form, text: str) -> list[str]:
    """Ops whose floats have a number for each pair of tokens."""
    sizes = {TOKENS, KEYS, 24}
    found = []
    for line in text.splitlines():
        if re.search(r"= \"?(stablehlo|chlo)\.(exponential|logistic|dot_general|divide)", line):
            for dims in re.findall(r"tensor<((?:\d+x)+)f32>", line):
                numbers = [int(d) for d in dims.split("x")[:-1]]
                if len(numbers) > 2 and sum(n in sizes for n in numbers) >= 2:
                    found.append(line.strip()[:140])
                    break
    return found


def check(name: str, tools: Path, where: Path) -> str | None:
    """Return what is wrong with a form, forward or gradient; None if nothing is."""
    form = FORMS[name]
    wrong = [check_one(form, tools, where, gradient=False)]
    if form.gradient != "none":
        wrong.append(check_one(form, tools, where, gradient=True))
    return next((word for word in wrong if word), None)


def check_one(form: Form, tools: Path, where: Path, *, gradient: bool) -> str | None:
    what = "gradient" if gradient else "forward"
    arguments = arguments_of(form)
    function = gradient_of(form) if gradient else form.function
    shardings = tuple(NamedSharding(MESH, PartitionSpec(*([None] * form.cut[i]), "sp") if i in form.cut else PartitionSpec()) for i in range(len(arguments)))
    even = all(arguments[i].shape[dim] % 4 == 0 for i, dim in form.cut.items())
    lowered = jax.jit(function, in_shardings=shardings if even else None, keep_unused=True).lower(*arguments)
    wanted = [np.asarray(value) for value in jax.tree.leaves(jax.jit(function)(*arguments))]
    program = runner.Exported(lowered, arguments, where)
    text = lowered.as_text(debug_info=True)
    program.model.write_text(text if even else annotate(text, {"sp": 4}, {"sp": form.cut}, list(range(len(arguments)))))
    raised = subprocess.run([tools / "shard-opt", program.model, "--spmd-import", "--spmd-raise=explain"], capture_output=True, text=True, check=False)
    if raised.returncode != 0:
        return f"{what}: refused: {raised.stderr[:300]}"
    left = pairs_left(form, raised.stdout)
    remarks = [line for line in raised.stderr.splitlines() if "remark: looks like attention" in line]
    why = (form.gradient if gradient else "") or form.why
    if not why and ("pairs.all_pairs" not in raised.stdout or (left and not form.keeps)):
        return f"{what}: not raised: {left[:1]} {remarks[:2]}"
    if why and why != "-":
        # The line that breaks it, of the forward pass.
        place = rf"forms\.py:{expected_line(form.function)}:" if not gradient else ""
        if not any(re.search(place + ".*" + why, line) for line in remarks):
            return f"{what}: no remark says {why!r} at line {expected_line(form.function)}: {remarks[:3]}"
    tolerance = 3e-2 if "bf16" in form.title else 3e-5
    uneven = [f"--sizes={i}:{dim}={UNEVEN[arguments[i].shape[dim]]}" for i, dim in form.cut.items() if arguments[i].shape[dim] in UNEVEN]
    for options in [[], uneven] if uneven else [[]]:
        if wrong := program.compare(tools, wanted, tolerance, options):
            return f"{what}{' uneven' if options else ''}: {wrong}"
    return None


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, FORMS, check))

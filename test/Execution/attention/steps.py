"""Run attention that goes through its keys block by block, as people write it in shard_map, and its gradients, and compare with JAX.

    steps.py --tools DIR [NAME ...]

Each program keeps a running maximum, sum and output, or merges blocks by the logarithms of their sums, on four ranks whose keys
travel in a ring. Raised to one op on whole tensors, or to one a block, no rank may hold the exponentials of a block, and the results must be those of JAX. Prints a line for each
program that fails, and a summary; exit code 1 if there is any.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
import runner
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

RANKS, BATCH, HEADS, TOKENS, DEPTH, FEATURES = 4, 2, 3, 24, 8, 5
BLOCK = TOKENS // RANKS
MESH = jax.make_mesh((RANKS,), ("sp",), axis_types=(jax.sharding.AxisType.Auto,))
HEADS_FIRST, TOKENS_FIRST = PartitionSpec(None, None, "sp", None), PartitionSpec(None, "sp", None, None)
SCALE = 0.3
State = tuple[jax.Array, jax.Array, jax.Array]


@dataclass
class Program:
    """A function of queries, keys and values, and perhaps a cotangent; ``is_manual`` if of one rank's blocks, cut as ``spec`` says.

    ``derived``: the gradient that JAX derives is wanted as well.
    """

    function: Callable[..., Any]
    spec: PartitionSpec
    shapes: list[tuple[int, ...]]
    is_manual: bool
    derived: bool = False


PROGRAMS: dict[str, Program] = {}
SHAPES = [(BATCH, HEADS, TOKENS, DEPTH), (BATCH, HEADS, TOKENS, DEPTH), (BATCH, HEADS, TOKENS, FEATURES)]


def program(spec: PartitionSpec = HEADS_FIRST, shapes: list[tuple[int, ...]] = SHAPES,
            is_manual: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the function below to the programs, under its name."""
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = Program(function, spec, shapes, is_manual)
        return function
    return add


def shift(*blocks: jax.Array) -> list[jax.Array]:
    """Send blocks to the next rank."""
    return [lax.ppermute(x, "sp", [(i, (i + 1) % RANKS) for i in range(RANKS)]) for x in blocks]


def vary(*values: jax.Array) -> list[jax.Array]:
    """Say that values differ by rank, as a loop wants it of what it carries."""
    return [lax.pcast(x, ("sp",), to="varying") for x in values]


def begin(*dims: int, lowest: float = -np.inf) -> State:
    """The state before the first block."""
    return jnp.full(dims, lowest), jnp.zeros(dims), jnp.zeros((*dims, FEATURES))


def absorb(scores: jax.Array, v: jax.Array, m: jax.Array, l: jax.Array, acc: jax.Array) -> State:
    """One step of an online softmax."""
    new = jnp.maximum(m, scores.max(-1))
    p, correction = jnp.exp(scores - new[..., None]), jnp.exp(m - new)
    return new, l * correction + p.sum(-1), acc * correction[..., None] + p @ v


def dot(q: jax.Array, k: jax.Array) -> jax.Array:
    """Scores of (batch, heads, tokens, depth)."""
    return jnp.einsum("bhqd,bhkd->bhqk", q, k) * SCALE


def keep_past(step: int | jax.Array) -> jax.Array:
    """Which keys of a step's block are not after which queries."""
    me = lax.axis_index("sp")
    places = jnp.arange(BLOCK)
    return (me * BLOCK + places)[:, None] >= ((me - step) % RANKS * BLOCK + places)[None, :]


@program()
def unrolled(q, k, v):
    state = begin(BATCH, HEADS, BLOCK)
    for _ in range(RANKS):
        state = absorb(dot(q, k), v, *state)
        k, v = shift(k, v)
    return state[2] / state[1][..., None]


@program()
def looped(q, k, v):
    def step(_, carry):
        k, v, *state = carry
        state = absorb(dot(q, k), v, *state)
        return *shift(k, v), *state
    *_, l, acc = lax.fori_loop(0, RANKS, step, (k, v, *vary(*begin(BATCH, HEADS, BLOCK))))
    return acc / l[..., None]


@program()
def causal_infinite(q, k, v):
    """Blocks without a key to see: their maximum is -inf, which a guard keeps out of differences."""
    m, l, acc = begin(BATCH, HEADS, BLOCK)
    for step in range(RANKS):
        scores = jnp.where(keep_past(step), dot(q, k), -jnp.inf)
        new = jnp.maximum(m, scores.max(-1))
        base = jnp.where(jnp.isfinite(new), new, 0.0)
        p, correction = jnp.exp(scores - base[..., None]), jnp.exp(m - base)
        m, l, acc = new, l * correction + p.sum(-1), acc * correction[..., None] + p @ v
        k, v = shift(k, v)
    return acc / l[..., None]


@program()
def late_keys(q, k, v):
    """Queries whose first keys are in the last block."""
    m, l, acc = begin(BATCH, HEADS, BLOCK)
    for step in reversed(range(RANKS)):
        k, v = shift(k, v)
        scores = jnp.where(keep_past(RANKS - step), dot(q, k), -jnp.inf)
        new = jnp.maximum(m, scores.max(-1))
        base = jnp.where(jnp.isfinite(new), new, 0.0)
        p, correction = jnp.exp(scores - base[..., None]), jnp.exp(m - base)
        m, l, acc = new, l * correction + p.sum(-1), acc * correction[..., None] + p @ v
    return acc / l[..., None]


@program()
def masked_twice(q, k, v):
    """A finite number masks scores, and a condition the exponentials once more."""
    m, l, acc = begin(BATCH, HEADS, BLOCK, lowest=-1e30)
    for step in reversed(range(RANKS)):
        keep = keep_past(RANKS - 1 - step)
        scores = jnp.where(keep, dot(q, k), -1e30)
        new = jnp.maximum(m, scores.max(-1))
        p, correction = jnp.where(keep, jnp.exp(scores - new[..., None]), 0.0), jnp.exp(m - new)
        m, l, acc = new, l * correction + p.sum(-1), acc * correction[..., None] + p @ v
        k, v = shift(k, v)
    return acc / l[..., None]


def merge_logarithms(q, k, v, *, crosswise):
    """Blocks divided by their own sums; ``crosswise``: each has the weight of the other."""
    out = total = None
    for _ in range(RANKS):
        scores = dot(q, k)
        lse = jax.nn.logsumexp(scores, axis=-1)
        block = jnp.exp(scores - lse[..., None]) @ v
        if out is None:
            out, total = block, lse
        else:
            both = jnp.logaddexp(total, lse)
            mine, its = (lse, total) if crosswise else (total, lse)
            out = out * jnp.exp(mine - both)[..., None] + block * jnp.exp(its - both)[..., None]
            total = both
        k, v = shift(k, v)
    return out


@program()
def merged_logarithms(q, k, v):
    return merge_logarithms(q, k, v, crosswise=False)


@program()
def merged_softmax(q, k, v):
    out = lse = None
    for _ in range(RANKS):
        scores = dot(q, k)
        block, one = jax.nn.softmax(scores, axis=-1) @ v, jax.nn.logsumexp(scores, axis=-1)
        if out is None:
            out, lse = block, one
        else:
            out = out - jax.nn.sigmoid(one - lse)[..., None] * (out - block)
            lse = lse - jax.nn.log_sigmoid(lse - one)
        k, v = shift(k, v)
    return out


@program()
def merged_scan(q, k, v):
    """As the first, in a scan that begins with no sum."""
    def step(carry, _):
        out, total, k, v = carry
        scores = dot(q, k)
        lse = jax.nn.logsumexp(scores, axis=-1)
        both = jnp.logaddexp(total, lse)
        out = out * jnp.exp(total - both)[..., None] + (jnp.exp(scores - lse[..., None]) @ v) * jnp.exp(lse - both)[..., None]
        return (out, both, *shift(k, v)), None
    (out, *_), _ = lax.scan(step, (*vary(jnp.zeros((BATCH, HEADS, BLOCK, FEATURES)), jnp.full((BATCH, HEADS, BLOCK), -jnp.inf)), k, v), None, length=RANKS)
    return out


@program()
def merged_crosswise(q, k, v):
    return merge_logarithms(q, k, v, crosswise=True)


@program()
def maxima_of_blocks(q, k, v):
    m, l, acc = begin(BATCH, HEADS, BLOCK)
    for _ in range(RANKS):
        scores = dot(q, k)
        own = scores.max(-1, keepdims=True)
        p = jnp.exp(scores - own)
        new = jnp.maximum(m, own[..., 0])
        old, fresh = jnp.exp(m - new), jnp.exp(own[..., 0] - new)
        m, l, acc = new, l * old + p.sum(-1) * fresh, acc * old[..., None] + (p @ v) * fresh[..., None]
        k, v = shift(k, v)
    return acc / l[..., None]


@program(TOKENS_FIRST, [(BATCH, TOKENS, HEADS, DEPTH)] * 3)
def blockwise_bias(q, k, v):
    """Tokens before heads, a bias of the smallest number as the mask, in a scan."""
    start = vary(jnp.zeros((BATCH, BLOCK, HEADS, DEPTH)), jnp.zeros((BATCH, HEADS, BLOCK)), jnp.full((BATCH, HEADS, BLOCK), -jnp.inf))

    def step(carry, index):
        numerator, denominator, before, k, v = carry
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(DEPTH)
        scores = scores + jnp.where(keep_past(index), 0.0, jnp.finfo(jnp.float32).min)[None, None]
        new = lax.stop_gradient(jnp.maximum(before, jnp.max(scores, axis=-1)))
        weights = jnp.exp(scores - new[..., None])
        correction = jnp.exp(before - new)
        numerator = numerator * jnp.moveaxis(correction, 1, 2)[..., None] + jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return (numerator, denominator * correction + weights.sum(-1), new, *shift(k, v)), None

    (numerator, denominator, *_), _ = lax.scan(step, (*start, k, v), jnp.arange(RANKS))
    return numerator / jnp.moveaxis(denominator, 1, 2)[..., None]


@program()
def blocks_left_out(q, k, v):
    """A branch leaves out blocks that are all after the queries."""
    def step(carry, index):
        k, v, *state = carry
        scores = jnp.where(keep_past(index), dot(q, k), -1e9)
        state = lax.cond(index <= lax.axis_index("sp"), lambda *s: absorb(scores, v, *s), lambda *s: s, *state)
        return (*shift(k, v), *state), None
    (_, _, _, l, acc), _ = lax.scan(step, (k, v, *vary(*begin(BATCH, HEADS, BLOCK))), jnp.arange(RANKS))
    return acc / l[..., None]


def branch_by_place(q, k, v, branches):
    """Blocks before the queries, at them and after them take one branch each."""
    def step(carry, index):
        k, v, *state = carry
        me = lax.axis_index("sp")
        state = lax.switch(jnp.sign((me - index) % RANKS - me) + 1, branches, q, k, v, *state)
        return (*shift(k, v), *state), None
    (_, _, _, l, acc), _ = lax.scan(step, (k, v, *vary(*begin(BATCH, HEADS, BLOCK))), jnp.arange(RANKS))
    return acc / l[..., None]


def leave_out(q, k, v, *state):
    return state


def attend_whole(q, k, v, *state):
    return absorb(dot(q, k), v, *state)


def attend_in_place(q, k, v, *state):
    """Under a mask of places in the block."""
    return absorb(jnp.where(jnp.tril(jnp.ones((BLOCK, BLOCK), bool)), dot(q, k), -jnp.inf), v, *state)


@program()
def switched(q, k, v):
    """Only the block at the queries has a mask, by places in it."""
    return branch_by_place(q, k, v, [attend_whole, attend_in_place, leave_out])


@program()
def switched_wrongly(q, k, v):
    """Blocks that the mask keeps are left out."""
    return branch_by_place(q, k, v, [leave_out, attend_in_place, attend_whole])


@program()
def own_block_whole(q, k, v):
    """Blocks are left out, and no mask says so."""
    return branch_by_place(q, k, v, [attend_whole, attend_whole, leave_out])


@program()
def unrolled_branches(q, k, v):
    state = attend_in_place(q, k, v, *vary(*begin(BATCH, HEADS, BLOCK)))
    for step in range(1, RANKS):
        k, v = shift(k, v)
        state = lax.cond(lax.axis_index("sp") >= step, lambda *s, k=k, v=v: attend_whole(q, k, v, *s), lambda *s: s, *state)
    return state[2] / state[1][..., None]


@program()
def window_by_branches(q, k, v):
    """Each query sees eight keys: of all but two blocks none."""
    def step(carry, index):
        k, v, *state = carry
        me, places = lax.axis_index("sp"), jnp.arange(BLOCK)
        distance = (me * BLOCK + places)[:, None] - ((me - index) % RANKS * BLOCK + places)[None, :]
        scores = jnp.where((distance >= 0) & (distance < 7), dot(q, k), -1e9)
        state = lax.cond((index <= 1) & (index <= me), lambda *s: absorb(scores, v, *s), lambda *s: s, *state)
        return (*shift(k, v), *state), None
    (_, _, _, l, acc), _ = lax.scan(step, (k, v, *vary(*begin(BATCH, HEADS, BLOCK))), jnp.arange(RANKS))
    return acc / l[..., None]


@program(shapes=[(BATCH, 4, TOKENS, DEPTH), (BATCH, 2, TOKENS, DEPTH), (BATCH, 2, TOKENS, FEATURES)])
def grouped(q, k, v):
    state = begin(BATCH, 2, 2, BLOCK)
    for _ in range(RANKS):
        scores = jnp.einsum("bngqd,bnkd->bngqk", q.reshape(BATCH, 2, 2, BLOCK, DEPTH), k)
        state = absorb(scores, v[:, :, None], *state)
        k, v = shift(k, v)
    return (state[2] / state[1][..., None]).reshape(BATCH, 4, BLOCK, FEATURES)


@program()
def gathered(q, k, v):
    """All keys at once."""
    k, v = (lax.all_gather(x, "sp", axis=2, tiled=True) for x in (k, v))
    places = lax.axis_index("sp") * BLOCK + jnp.arange(BLOCK)
    scores = jnp.where(places[:, None] >= jnp.arange(TOKENS)[None], dot(q, k), -jnp.inf)
    return jax.nn.softmax(scores, axis=-1) @ v


@program()
def one_block_missing(q, k, v):
    """A ring that ends too early."""
    state = begin(BATCH, HEADS, BLOCK)
    for _ in range(RANKS - 1):
        state = absorb(dot(q, k), v, *state)
        k, v = shift(k, v)
    return state[2] / state[1][..., None]


@program()
def places_in_blocks(q, k, v):
    """A mask that each block has of its own."""
    state = begin(BATCH, HEADS, BLOCK)
    keep = jnp.arange(BLOCK)[:, None] >= jnp.arange(BLOCK)[None]
    for _ in range(RANKS):
        state = absorb(jnp.where(keep, dot(q, k), -1e9), v, *state)
        k, v = shift(k, v)
    return state[2] / state[1][..., None]


@program()
def other_way_round(q, k, v):
    """A mask for blocks that travel the other way: some are attended under the mask of others."""
    state = begin(BATCH, HEADS, BLOCK)
    for step in range(RANKS):
        state = absorb(jnp.where(keep_past(-step), dot(q, k), -1e9), v, *state)
        k, v = shift(k, v)
    return state[2] / state[1][..., None]


@program()
def values_stay_behind(q, k, v):
    """Values are those of the block before."""
    state = begin(BATCH, HEADS, BLOCK)
    late = v
    for _ in range(RANKS):
        state = absorb(dot(q, k), late, *state)
        late = v
        k, v = shift(k, v)
    return state[2] / state[1][..., None]


@program()
def rows_without_keys(q, k, v):
    """Queries before the fifth token see nothing, and are zero."""
    m, l, acc = begin(BATCH, HEADS, BLOCK)
    me, places = lax.axis_index("sp"), jnp.arange(BLOCK)
    for step in range(RANKS):
        keep = (me * BLOCK + places)[:, None] >= ((me - step) % RANKS * BLOCK + places)[None, :] + 5
        scores = jnp.where(keep, dot(q, k), -jnp.inf)
        new = jnp.maximum(m, scores.max(-1))
        base = jnp.where(jnp.isfinite(new), new, 0.0)
        p, correction = jnp.exp(scores - base[..., None]), jnp.exp(m - base)
        m, l, acc = new, l * correction + p.sum(-1), acc * correction[..., None] + p @ v
        k, v = shift(k, v)
    return jnp.where(jnp.isfinite(m)[..., None], acc / l[..., None], 0.0)


@program()
def guarded_sum(q, k, v):
    """As above, with another guard."""
    l, acc = jnp.zeros((BATCH, HEADS, BLOCK)), jnp.zeros((BATCH, HEADS, BLOCK, FEATURES))
    me, places = lax.axis_index("sp"), jnp.arange(BLOCK)
    for step in range(RANKS):
        keep = (me * BLOCK + places)[:, None] >= ((me - step) % RANKS * BLOCK + places)[None, :] + 5
        p = jnp.where(keep, jnp.exp(dot(q, k)), 0.0)
        l, acc = l + p.sum(-1), acc + p @ v
        k, v = shift(k, v)
    return acc / jnp.where(l == 0.0, 1.0, l)[..., None]


@program()
def with_a_sink(q, k, v):
    """One more in each sum."""
    m, l, acc = absorb(dot(q, k), v, *begin(BATCH, HEADS, BLOCK))
    for _ in range(RANKS - 1):
        k, v = shift(k, v)
        m, l, acc = absorb(dot(q, k), v, m, l, acc)
    return acc / (l + jnp.exp(-m))[..., None]


@program(is_manual=False)
def whole_scan(q, k, v):
    """One device's program, which goes through blocks of keys."""
    blocks = [x.reshape(BATCH, HEADS, RANKS, BLOCK, -1).transpose(2, 0, 1, 3, 4) for x in (k, v)]
    state, _ = lax.scan(lambda state, kv: (absorb(dot(q, kv[0]), kv[1], *state), None), begin(BATCH, HEADS, TOKENS), tuple(blocks))
    return state[2] / state[1][..., None]


@program(is_manual=False)
def one_more(q, k, v):
    """A softmax that may choose none: one is added to the sum."""
    scores = dot(q, k) * 100.0
    m = jnp.maximum(scores.max(-1, keepdims=True), 0.0)
    p = jnp.exp(scores - m)
    return (p / (p.sum(-1, keepdims=True) + jnp.exp(-m))) @ v


def gradient(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """A function of queries, keys, values and a cotangent that gives output and gradients, these by ``backward``."""
    attend = jax.custom_vjp(lambda q, k, v: forward(q, k, v)[0])
    attend.defvjp(forward, backward)

    def both(q, k, v, dout):
        out, pull = jax.vjp(attend, q, k, v)
        return out, *pull(dout)

    return both


def _save(q, k, v, state):
    """The output, and what the backward pass needs of the forward one."""
    m, l, acc = state
    out = acc / l[..., None]
    return out, (q, k, v, out, m + jnp.log(l))


def _block_gradients(q, k, v, dout, lse, delta, step, lowest):
    """What a block adds to dq, dk and dv, as flash attention has it: probabilities anew, from the logarithms of sums."""
    p = jnp.exp(jnp.where(keep_past(step), dot(q, k), lowest) - lse[..., None])
    ds = p * (jnp.einsum("bhqe,bhke->bhqk", dout, v) - delta[..., None]) * SCALE
    return jnp.einsum("bhqk,bhkd->bhqd", ds, k), jnp.einsum("bhqk,bhqd->bhkd", ds, q), jnp.einsum("bhqk,bhqe->bhke", p, dout)


def _causal_forward(q, k, v):
    state, (keys, values) = begin(BATCH, HEADS, BLOCK), (k, v)
    for step in range(RANKS):
        state = absorb(jnp.where(keep_past(step), dot(q, keys), -1e9), values, *state)
        keys, values = shift(keys, values)
    return _save(q, k, v, state)


def _causal_backward(saved, dout):
    q, k, v, out, lse = saved
    delta = (dout * out).sum(-1)
    dq, dk, dv = jnp.zeros_like(q), jnp.zeros_like(k), jnp.zeros_like(v)
    for step in range(RANKS):
        more = _block_gradients(q, k, v, dout, lse, delta, step, -1e9)
        dq, dk, dv = (total + part for total, part in zip((dq, dk, dv), more, strict=True))
        k, v, dk, dv = shift(k, v, dk, dv)
    return dq, dk, dv


def _scan_forward(q, k, v):
    numerator, denominator, m = vary(jnp.zeros((BATCH, BLOCK, HEADS, DEPTH)), jnp.zeros((BATCH, HEADS, BLOCK)),
                                     jnp.full((BATCH, HEADS, BLOCK), -jnp.inf))

    def step(carry, _):
        numerator, denominator, before, k, v = carry
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(DEPTH)
        new = jnp.maximum(before, jnp.max(scores, axis=-1))
        weights, correction = jnp.exp(scores - new[..., None]), jnp.exp(before - new)
        numerator = numerator * jnp.moveaxis(correction, 1, 2)[..., None] + jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return (numerator, denominator * correction + weights.sum(-1), new, *shift(k, v)), None

    (numerator, denominator, m, *_), _ = lax.scan(step, (numerator, denominator, m, k, v), None, length=RANKS)
    out = numerator / jnp.moveaxis(denominator, 1, 2)[..., None]
    return out, (out, q, k, v, denominator, m)


def _scan_backward(saved, dout):
    """Maximum and sum apart; delta anew in each step."""
    out, q, k, v, denominator, m = saved

    def step(carry, _):
        dq, dk, dv, k, v = carry
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(DEPTH)
        weights = jnp.exp(scores - m[..., None]) / denominator[..., None]
        delta = (dout * out).sum(-1)
        ds = weights * (jnp.einsum("bqhd,bkhd->bhqk", dout, v) - jnp.moveaxis(delta, 1, 2)[..., None])
        dq = dq + jnp.einsum("bhqk,bkhd->bqhd", ds, k) / jnp.sqrt(DEPTH)
        dk = dk + jnp.einsum("bqhd,bhqk->bkhd", q, ds) / jnp.sqrt(DEPTH)
        dv = dv + jnp.einsum("bhqk,bqhd->bkhd", weights, dout)
        return (dq, *shift(dk, dv, k, v)), None

    (dq, dk, dv, *_), _ = lax.scan(step, (jnp.zeros_like(q), jnp.zeros_like(k), jnp.zeros_like(v), k, v), None, length=RANKS)
    return dq, dk, dv


for _name, _case in list(PROGRAMS.items()):
    if _case.is_manual:
        batch, features = _case.shapes[0], _case.shapes[2][-1]
        PROGRAMS[f"{_name}_derived"] = Program(_case.function, _case.spec, [*_case.shapes, (*batch[:-1], features)], True, derived=True)


def _branching_forward(q, k, v):
    state, (keys, values) = vary(*begin(BATCH, HEADS, BLOCK, lowest=-1e30)), (k, v)
    for step in range(RANKS):
        state = lax.cond(lax.axis_index("sp") >= step, lambda *s, keys=keys, values=values, step=step:
                         absorb(jnp.where(keep_past(step), dot(q, keys), -1e30), values, *s), lambda *s: s, *state)
        keys, values = shift(keys, values)
    return _save(q, k, v, state)


def _branching_backward(saved, dout):
    """Blocks left out have no gradients."""
    q, k, v, out, lse = saved
    delta = (dout * out).sum(-1)

    def step(carry, index):
        k, v, dq, dk, dv = carry

        def block(*totals):
            more = _block_gradients(q, k, v, dout, lse, delta, index, -1e30)
            return tuple(total + part for total, part in zip(totals, more, strict=True))

        dq, dk, dv = lax.cond(lax.axis_index("sp") >= index, block, lambda *d: d, dq, dk, dv)
        k, v, dk, dv = shift(k, v, dk, dv)
        return (k, v, dq, dk, dv), None

    start = (k, v, jnp.zeros_like(q), jnp.zeros_like(k), jnp.zeros_like(v))
    (_, _, dq, dk, dv), _ = lax.scan(step, start, jnp.arange(RANKS))
    return dq, dk, dv


PROGRAMS["branching_gradient"] = Program(gradient(_branching_forward, _branching_backward), HEADS_FIRST,
                                         [*SHAPES, (BATCH, HEADS, TOKENS, FEATURES)], True)
PROGRAMS["causal_gradient"] = Program(gradient(_causal_forward, _causal_backward), HEADS_FIRST,
                                      [*SHAPES, (BATCH, HEADS, TOKENS, FEATURES)], True)
PROGRAMS["scan_gradient"] = Program(gradient(_scan_forward, _scan_backward), TOKENS_FIRST, [(BATCH, TOKENS, HEADS, DEPTH)] * 4, True)


# What becomes an op a block, as it is in the program.
BLOCK_BY_BLOCK = {"merged_crosswise", "switched_wrongly", "own_block_whole", "gathered", "whole_scan", "one_more", "one_block_missing", "places_in_blocks",
                  "other_way_round", "values_stay_behind", "rows_without_keys", "guarded_sum", "with_a_sink"}
# What JAX derives of these stays as it is.
for _name in list(PROGRAMS):
    if _name.removesuffix("_derived") in BLOCK_BY_BLOCK and _name.endswith("_derived"):
        del PROGRAMS[_name]


def check(name: str, tools: Path, where: Path) -> str | None:
    """Return what is wrong with a program, None if nothing is."""
    case = PROGRAMS[name]
    rng = np.random.default_rng(0)
    arguments = [rng.standard_normal(shape).astype(np.float32) for shape in case.shapes]
    function = case.function
    if case.is_manual:
        function = jax.shard_map(function, mesh=MESH, in_specs=case.spec, out_specs=case.spec)
    if case.derived:
        forward = function

        def function(q, k, v, dout):
            out, pull = jax.vjp(forward, q, k, v)
            return out, *pull(dout)

    sharding = NamedSharding(MESH, case.spec)
    lowered = jax.jit(function, in_shardings=sharding, out_shardings=sharding).lower(*arguments)
    wanted = [np.asarray(value) for value in jax.tree.leaves(lowered.compile()(*arguments))]
    program = runner.Exported(lowered, arguments, where)
    raised = program.raised(tools)
    if raised.returncode != 0:
        return f"refused: {raised.stderr[:300]}"
    is_whole = "spmd.manual" not in raised.stdout and "stablehlo.exponential" not in raised.stdout
    if is_whole == (name in BLOCK_BY_BLOCK):
        return f"is {'one op' if is_whole else 'not one op'} on whole tensors"
    # A product is left where blocks stay what they are, but for that of outputs and cotangents.
    if "pairs.all_pairs softmax" not in raised.stdout or ("stablehlo.dot_general" in raised.stdout and not is_whole):
        return "not raised"
    if len(case.shapes) == 4 and "pairs.attention_backward" not in raised.stdout:
        return "its gradient is not raised"
    return program.compare(tools, wanted, 2e-5)


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, PROGRAMS, check))

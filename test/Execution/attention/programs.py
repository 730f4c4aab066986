"""Random attention programs as people write them: spellings, masks, layouts, dtypes, gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

LAYOUTS = ["bhtd", "bthd", "tbhd", "htd", "thd", "td", "btd", "bcthd", "bhdt"]
SCALES = ["none", "query", "scores", "divide", "key"]
SOFTMAXES = ["jax", "max", "stop_gradient", "no_max", "log_softmax", "logsumexp", "after", "power"]
MASKS = ["none", "causal_tril", "causal_ge", "causal_lt", "causal_inf", "window", "shifted", "padding", "segments",
         "dense", "bias", "additive", "alibi", "softcap", "dropout", "padding_causal", "min",
         "bert", "where_added", "keep_times", "holes"]
DTYPES = ["float32"] * 5 + ["bfloat16", "float16", "float64"]
GROUPS = ["none"] * 3 + ["reshape", "repeat", "broadcast"]
MODES = ["forward", "forward", "vjp", "vjp", "remat", "loss"]


@dataclass
class Program:
    """One function and its arguments; ``sequence`` says which dims of which arguments are the tokens, ``batch`` which are
    of the batch, or else heads."""

    name: str
    function: Callable[..., Any]
    arguments: list[np.ndarray]
    sequence: dict[int, int] = field(default_factory=dict)
    batch: dict[int, int] = field(default_factory=dict)


def _behind(dims: dict[int, int]) -> dict[int, int]:
    """Dims of arguments behind a cotangent that lies as the first of them does."""
    return {number + 1: dim for number, dim in dims.items()} | ({0: dims[0]} if dims else {})


def _softmax(scores: jax.Array, how: str) -> jax.Array:
    if how == "jax":
        return jax.nn.softmax(scores, axis=-1)
    if how == "log_softmax":
        return jnp.exp(jax.nn.log_softmax(scores, axis=-1))
    if how == "logsumexp":
        return jnp.exp(scores - jax.nn.logsumexp(scores, axis=-1, keepdims=True))
    if how == "max":
        shifted = scores - jnp.max(scores, axis=-1, keepdims=True)
    elif how == "stop_gradient":
        shifted = scores - jax.lax.stop_gradient(scores.max(axis=-1)[..., None])
    else:
        shifted = scores
    weights = jnp.exp(shifted)
    if how == "power":
        return weights * (1.0 / weights.sum(-1, keepdims=True))
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def _mask(scores: jax.Array, how: str, extras: dict[str, jax.Array], heads: bool) -> jax.Array:
    """Scores (..., q, k) with a mask; ``heads`` if the dim before q is one of heads."""
    q, k = scores.shape[-2:]
    rows, columns = jnp.arange(q)[:, None], jnp.arange(k)[None, :]
    large = jnp.asarray(-1e9 if scores.dtype != jnp.float16 else -3e4, scores.dtype)
    if how == "causal_tril":
        return jnp.where(jnp.tril(jnp.ones((q, k), bool)), scores, large)
    if how == "causal_ge":
        return jnp.where(rows >= columns, scores, large)
    if how == "causal_lt":
        return jnp.where(columns > rows, large, scores)
    if how == "causal_inf":
        return jnp.where(jax.lax.broadcasted_iota(jnp.int32, (q, k), 1) <= jax.lax.broadcasted_iota(jnp.int32, (q, k), 0),
                         scores, -jnp.inf)
    if how == "window":
        return jnp.where((rows - columns < 5) & (columns - rows <= 3), scores, large)
    if how == "shifted":
        return jnp.where(columns <= rows + (k - q if k > q else 0), scores, -jnp.inf)
    if how == "min":
        return jnp.where(rows >= columns, scores, jnp.finfo(scores.dtype).min)
    if how == "padding":
        return jnp.where(extras["padding"], scores, large)
    if how == "padding_causal":
        return jnp.where(jnp.logical_and(rows >= columns, extras["padding"]), scores, large)
    if how == "segments":
        return jnp.where(extras["segment_q"][:, None] == extras["segment_k"][None, :], scores, large)
    if how in ("dense", "holes"):
        return jnp.where(extras["dense"], scores, large)
    if how == "bias":
        return scores + extras["bias"].astype(scores.dtype)
    if how == "additive":
        return scores + (1 - extras["padding"].astype(scores.dtype)) * large
    if how == "bert":
        return scores + (1.0 - extras["dense"].astype(scores.dtype)) * large
    if how == "where_added":
        return scores + jnp.where(rows >= columns, 0.0, large).astype(scores.dtype)
    if how == "alibi":
        slopes = 2.0 ** -(jnp.arange(scores.shape[-3] if heads else 1) + 1.0)
        bias = -slopes[:, None, None] * jnp.abs(rows - columns)
        return scores + (bias if heads else bias[0]).astype(scores.dtype)
    if how == "softcap":
        return 5.0 * jnp.tanh(scores / 5.0)
    return scores


def make(seed: int) -> Program:
    """The program of ``seed``; the same in every process."""
    rng = np.random.default_rng(seed)
    pick = lambda options: options[int(rng.integers(len(options)))]
    if rng.random() < 0.15:
        return _library(seed, rng)
    layout, scale, softmax, mask, mode = pick(LAYOUTS), pick(SCALES), pick(SOFTMAXES), pick(MASKS), pick(MODES)
    group, dtype = pick(GROUPS), pick(DTYPES)
    if "h" not in layout or layout == "bhdt":
        group = "none"
    if softmax == "after" and mode != "forward":
        softmax = "jax"
    if mask == "holes" and softmax == "logsumexp":
        softmax = "jax"  # such a row loses the logarithm of its sum in the program as well
    if softmax in ("power", "no_max") and dtype == "float16":
        softmax = "max"  # sums of exponentials, and their squares in gradients, leave the type's range in the program as well
    sizes = {"b": int(rng.integers(1, 4)), "c": 2, "h": int(rng.integers(1, 4)), "d": int(rng.integers(1, 9)),
             "t": int(rng.integers(4, 20)), "s": int(rng.integers(4, 20)), "e": int(rng.integers(1, 7))}
    if rng.random() < 0.6:
        sizes["s"] = sizes["t"]
    if mask in ("causal_inf", "shifted", "window") and sizes["s"] != sizes["t"]:
        sizes["s"] = sizes["t"] if mask != "shifted" else max(sizes["t"], sizes["s"])
    groups = int(rng.integers(2, 4)) if group != "none" else 1
    accumulate = bool(rng.random() < 0.7)
    swapped, late = bool(rng.random() < 0.3), bool(rng.random() < 0.3)

    def shape(letters: str, more: dict[str, int] | None = None) -> tuple[int, ...]:
        return tuple((sizes | (more or {}))[letter] for letter in letters)

    keys = layout.replace("t", "s")
    values = keys.replace("d", "e")
    queries = shape(layout, {"h": sizes["h"] * groups} if groups > 1 else None)
    draw = lambda s: rng.standard_normal(s).astype(np.float32)
    arguments = [draw(queries), draw(shape(keys)), draw(shape(values))]
    sequence = {0: layout.index("t"), 1: keys.index("s"), 2: values.index("s")}
    batched = [letter for letter in "bh" if letter in layout]
    batches = dict.fromkeys(range(3), layout.index(batched[seed % len(batched)])) if batched else {}
    names = []
    extra_arrays: list[np.ndarray] = []

    def add(name: str, array: np.ndarray) -> None:
        names.append(name)
        extra_arrays.append(array)

    heads = "h" in layout
    if mask in ("padding", "additive", "padding_causal"):
        padding = rng.random(sizes["s"]) < 0.8
        padding[0] = True
        add("padding", padding)
    if mask == "segments":
        segment = np.sort(rng.integers(0, 3, max(sizes["t"], sizes["s"]))).astype(np.int32)
        add("segment_q", segment[: sizes["t"]])
        add("segment_k", segment[: sizes["s"]])
    if mask in ("dense", "bert"):
        dense = rng.random((sizes["t"], sizes["s"])) < 0.7
        dense[:, 0] = True
        add("dense", dense)
    if mask == "holes":  # some queries see nothing: theirs is the average
        dense = rng.random((sizes["t"], sizes["s"])) < 0.7
        dense[::3] = False
        add("dense", dense)
    if mask == "bias":
        lead = (sizes["h"] * groups,) if heads and rng.random() < 0.7 else ()
        add("bias", draw((*lead, sizes["t"], sizes["s"])))
    if mask in ("dropout", "keep_times"):
        add("keep", rng.random((sizes["t"], sizes["s"])) < 0.8)
    # A second product in the score, of dims of their own, whose keys may be those of all heads. Drawn apart: other programs stay
    # what they were.
    second = np.random.default_rng([seed, 1])
    joint = groups == 1 and bool(second.random() < 0.25)
    joint_keys = keys.replace("d", "r")
    if joint:
        if second.random() < 0.5:
            joint_keys = joint_keys.replace("h", "")
        weight, sizes["r"] = float(second.choice([1.0, 0.5])), int(second.integers(2, 5))
        for place, letters in (("joint_q", layout.replace("d", "r")), ("joint_k", joint_keys)):
            sequence[3 + len(names)] = letters.index("t" if place == "joint_q" else "s")
            add(place, second.standard_normal(shape(letters)).astype(np.float32))

    batch = "".join(letter for letter in layout if letter not in "td")
    factor = 1.0 / np.sqrt(sizes["d"])

    def attention(q: jax.Array, k: jax.Array, v: jax.Array, *more: jax.Array) -> jax.Array:
        extras = dict(zip(names, more, strict=True))
        q, k, v = (x.astype(dtype) for x in (q, k, v))
        if scale == "query":
            q = q * jnp.asarray(factor, q.dtype)
        if scale == "key":
            k = k * jnp.asarray(factor, k.dtype)
        letters, q_letters, k_letters, v_letters = batch, layout, keys, values
        if groups > 1:
            place = layout.index("h")
            if group == "reshape":
                q = q.reshape(*q.shape[:place], sizes["h"], groups, *q.shape[place + 1:])
                q_letters, letters = layout.replace("h", "hg"), batch.replace("h", "hg")
            elif group == "repeat":
                k, v = (jnp.repeat(x, groups, axis=x_letters.index("h")) for x, x_letters in ((k, keys), (v, values)))
            else:
                def spread(x: jax.Array, at: int) -> jax.Array:
                    wide = jnp.broadcast_to(jnp.expand_dims(x, at + 1), (*x.shape[: at + 1], groups, *x.shape[at + 1:]))
                    return wide.reshape(*x.shape[:at], x.shape[at] * groups, *x.shape[at + 1:])
                k, v = spread(k, keys.index("h")), spread(v, values.index("h"))
        wide = {"preferred_element_type": jnp.promote_types(dtype, jnp.float32)} if accumulate else {}
        target = letters + "ts"
        if swapped:
            scores = jnp.einsum(f"{k_letters},{q_letters}->{letters}st", k, q, **wide)
            scores = jnp.swapaxes(scores, -1, -2)
        else:
            scores = jnp.einsum(f"{q_letters},{k_letters}->{target}", q, k, **wide)
        if joint:
            more_q, more_k = (extras[place].astype(dtype) for place in ("joint_q", "joint_k"))
            added = jnp.einsum(f"{layout.replace('d', 'r')},{joint_keys}->{target}", more_q, more_k, **wide)
            scores = scores + added * jnp.asarray(weight, added.dtype)
        if scale == "scores":
            scores = scores * jnp.asarray(factor, scores.dtype)
        if scale == "divide":
            scores = scores / jnp.asarray(1.0 / factor, scores.dtype)
        if group == "reshape" and groups > 1 and "bias" in extras and extras["bias"].ndim == 3:
            extras["bias"] = extras["bias"].reshape(sizes["h"], groups, *extras["bias"].shape[1:])
        scores = _mask(scores, mask, extras, heads and letters[-1] in "hg")
        out_letters = q_letters.replace("d", "e")
        if softmax == "after":
            weights = jnp.exp(scores - scores.max(-1, keepdims=True))
            mixed = jnp.einsum(f"{target},{v_letters}->{letters}te", weights.astype(dtype), v)
            mixed = mixed / weights.sum(-1)[..., None].astype(mixed.dtype)
            out = jnp.einsum(f"{letters}te->{out_letters}", mixed)
        else:
            weights = _softmax(scores, softmax)
            if mask == "keep_times":
                weights = weights * extras["keep"].astype(weights.dtype) * jnp.asarray(1.25, weights.dtype)
            if mask == "dropout":
                weights = jnp.where(extras["keep"], weights / 0.8, 0.0)
            weights = weights.astype(dtype)
            if late:
                out = jnp.einsum(f"{v_letters},{target}->{out_letters}", v, weights)
            else:
                out = jnp.einsum(f"{target},{v_letters}->{out_letters}", weights, v)
        if groups > 1 and group == "reshape":
            at = out_letters.index("g")
            out = out.reshape(*out.shape[: at - 1], out.shape[at - 1] * out.shape[at], *out.shape[at + 1:])
        return out.astype(jnp.promote_types(dtype, jnp.float32))

    if mode == "remat":
        attention = jax.checkpoint(attention)  # type: ignore[assignment]
    differentiable = [0, 1, 2] + [3 + i for i, name in enumerate(names) if name in ("bias", "joint_q", "joint_k")]
    name = f"{seed}: {layout} {scale} {softmax} {mask} {group} {dtype} {mode}{' swapped' if swapped else ''}{' late' if late else ''}{' joint' if joint and sizes['d'] > 1 else ''}"
    if mode == "forward":
        return Program(name, attention, arguments + extra_arrays, sequence, batches)
    if mode == "loss":
        def function(*everything: jax.Array) -> Any:
            return jax.value_and_grad(lambda *x: jnp.sum(jnp.sin(attention(*x))), argnums=tuple(differentiable))(*everything)
        return Program(name, function, arguments + extra_arrays, sequence, batches)
    out_shape = jax.eval_shape(attention, *arguments, *extra_arrays)
    cotangent = draw(out_shape.shape).astype(out_shape.dtype)

    def gradients(dout: jax.Array, *everything: jax.Array) -> Any:
        def of(*chosen: jax.Array) -> jax.Array:
            full = list(everything)
            for place, value in zip(differentiable, chosen, strict=True):
                full[place] = value
            return attention(*full)
        out, pull = jax.vjp(of, *(everything[place] for place in differentiable))
        return out, pull(dout)

    return Program(name, gradients, [cotangent, *arguments, *extra_arrays], _behind(sequence), _behind(batches))


def _library(seed: int, rng: np.random.Generator) -> Program:
    """``jax.nn.dot_product_attention`` with some of its options."""
    b, t, h, d = int(rng.integers(1, 3)), int(rng.integers(4, 20)), int(rng.integers(1, 3)), int(rng.integers(2, 9))
    s = t if rng.random() < 0.6 else int(rng.integers(t, 24))
    groups = int(rng.integers(1, 4))
    draw = lambda shape: rng.standard_normal(shape).astype(np.float32)
    arguments = [draw((b, t, h * groups, d)), draw((b, s, h, d)), draw((b, s, h, d))]
    options: dict[str, Any] = {}
    kind = ["plain", "causal", "mask", "bias", "window", "lengths"][int(rng.integers(6))]
    dtype = ["float32", "bfloat16"][int(rng.random() < 0.25)]
    extra: list[np.ndarray] = []
    if kind == "causal":
        options["is_causal"] = True
    if kind == "window":
        options["local_window_size"] = (3, 2)
        s = t
        arguments[1:] = [draw((b, s, h, d)), draw((b, s, h, d))]
    if kind == "mask":
        mask = rng.random((b, 1, t, s)) < 0.7
        mask[..., 0] = True
        extra.append(mask)
    if kind == "bias":
        extra.append(draw((1, h * groups, t, s)))
    if kind == "lengths":
        extra.append(rng.integers(1, s + 1, b).astype(np.int32))
    backward = bool(rng.random() < 0.5)

    def attention(q: jax.Array, k: jax.Array, v: jax.Array, *more: jax.Array) -> jax.Array:
        named = dict(zip({"mask": ["mask"], "bias": ["bias"], "lengths": ["key_value_seq_lengths"]}.get(kind, []), more, strict=True))
        q, k, v = (x.astype(dtype) for x in (q, k, v))
        if "bias" in named:
            named["bias"] = named["bias"].astype(dtype)
        return jax.nn.dot_product_attention(q, k, v, **named, **options).astype(jnp.float32)

    name = f"{seed}: dot_product_attention {kind} x{groups} {dtype} {'vjp' if backward else 'forward'}"
    sequence = {0: 1, 1: 1, 2: 1}
    batches = dict.fromkeys(range(3), (0, 2)[seed % 2])
    if not backward:
        return Program(name, attention, arguments + extra, sequence, batches)

    def gradients(dout: jax.Array, q: jax.Array, k: jax.Array, v: jax.Array, *more: jax.Array) -> Any:
        out, pull = jax.vjp(lambda *x: attention(*x, *more), q, k, v)
        return out, pull(dout)

    return Program(name, gradients, [draw((b, t, h * groups, d)), *arguments, *extra], _behind(sequence), _behind(batches))

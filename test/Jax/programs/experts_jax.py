"""Experts that devices own: tokens go to them and back by ragged_all_to_all, products are ragged_dot; the same on one array, with gradients."""
# needs: optax

import functools

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

count = len(jax.devices())
mesh = jax.make_mesh((count,), ("x",), axis_types=(AxisType.Auto,))
own, width, hidden = 2, 8, 16
experts = own * count
keys = jax.random.split(jax.random.key(0), 4)
rows = NamedSharding(mesh, P("x"))
tokens = jax.device_put(jax.random.normal(keys[0], (12 * count, width)), rows)
router = jax.random.normal(keys[1], (width, experts))
up = jax.device_put(jax.random.normal(keys[2], (experts, width, hidden)) * 0.3, rows)
down = jax.device_put(jax.random.normal(keys[3], (experts, hidden, width)) * 0.3, rows)


def route(tokens, router):
    gate = jax.nn.softmax(tokens @ router)
    chosen = jnp.argmax(gate, -1)
    return chosen, jnp.take_along_axis(gate, chosen[:, None], 1)


def work(tokens, chosen, up, down):
    """Do what the chosen experts do; those that are none of ``up`` come last and give zeros."""
    order = jnp.argsort(chosen, stable=True)
    sizes = jnp.bincount(chosen, length=up.shape[0]).astype(jnp.int32)
    done = lax.ragged_dot(jax.nn.silu(lax.ragged_dot(tokens[order], up, sizes)), down, sizes)
    return jnp.zeros_like(done).at[order].set(done)


def dense(tokens, router, up, down):
    chosen, gate = route(tokens, router)
    middle = jax.nn.silu(jnp.einsum("td,tdh->th", tokens, up[chosen]))
    return jnp.einsum("th,thd->td", middle, down[chosen]) * gate


def sorted_(tokens, router, up, down):
    chosen, gate = route(tokens, router)
    return work(tokens, chosen, up, down) * gate


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("x"), P(), P("x"), P("x")), out_specs=P("x"), check_vma=False)
def sent(tokens, router, up, down):
    chosen, gate = route(tokens, router)
    order = jnp.argsort(chosen, stable=True)
    send = jnp.bincount(chosen // own, length=count).astype(jnp.int32)
    table = lax.all_gather(send, "x")  # from, to
    me = lax.axis_index("x")
    received = table[:, me]
    there = functools.partial(lax.ragged_all_to_all, input_offsets=jnp.cumsum(send) - send, send_sizes=send,
                              output_offsets=(jnp.cumsum(table, 0) - table)[me], recv_sizes=received, axis_name="x")
    room = tokens.shape[0] * count
    come = there(tokens[order], jnp.zeros((room, width)))
    named = there(chosen[order], jnp.full((room,), experts + own * me, chosen.dtype)) - own * me
    done = work(come, named, up, down)
    back = lax.ragged_all_to_all(done, jnp.zeros_like(tokens), jnp.cumsum(received) - received, received,
                                 (jnp.cumsum(table, 1) - table)[:, me], send, axis_name="x")
    return jnp.zeros_like(tokens).at[order].set(back) * gate


expected = jax.jit(dense)(tokens, router, up, down)
print("dense", float(jnp.abs(expected).sum()))
print("sorted", float(jnp.abs(jax.jit(sorted_)(tokens, router, up, down)).sum()))
# JAX's CPU device does not know ragged_all_to_all.
exchanged = jax.jit(sent)(tokens, router, up, down) if jax.default_backend() != "cpu" else expected
print("sent", float(jnp.abs(exchanged).sum()), bool(jnp.abs(exchanged - expected).max() < 1e-4))

aim = jnp.sin(tokens)
optimizer = optax.adam(1e-2)


@jax.jit
def step(params, state):
    value, slopes = jax.value_and_grad(lambda p: jnp.mean((sorted_(tokens, *p) - aim) ** 2))(params)
    updates, state = optimizer.update(slopes, state)
    return optax.apply_updates(params, updates), state, value


params = (router, up, down)
state = optimizer.init(params)
for _ in range(4):
    params, state, value = step(params, state)
    print("loss", float(value))

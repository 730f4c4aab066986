"""Worlds of gymnax, many at once, cut over devices, with a policy of random numbers."""
# needs: gymnax

import functools

import gymnax
import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((len(jax.devices()),), ("worlds",), axis_types=(AxisType.Auto,))
cut = NamedSharding(mesh, PartitionSpec("worlds"))


@functools.partial(jax.jit, static_argnums=0)
def run(name, keys):
    env, params = gymnax.make(name)

    def step(state, key):
        act, go = jax.random.split(key)
        obs, state, reward, *done = env.step(go, state, env.action_space(params).sample(act), params)
        return state, (obs.mean(), reward, done[0])

    def one(key):
        first, key = jax.random.split(key)
        return jax.lax.scan(step, env.reset(first, params)[1], jax.random.split(key, 30))[1]

    return jax.vmap(one)(keys)


for name in ("CartPole-v1", "Pendulum-v1", "Acrobot-v1", "Breakout-MinAtar", "Catch-bsuite"):
    obs, reward, done = run(name, jax.device_put(jax.random.split(jax.random.key(0), 24), cut))
    print(name, float(obs.mean()), float(reward.mean()), int(done.sum()))

"""Losses and returns of rlax, with distributions of distrax, on trajectories cut over devices, and their slopes."""
# needs: rlax distrax

import distrax
import jax
import jax.numpy as jnp
import rlax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((len(jax.devices()),), ("batch",), axis_types=(AxisType.Auto,))
batch = NamedSharding(mesh, PartitionSpec("batch"))
keys = jax.random.split(jax.random.key(0), 8)
B, T, A = 24, 12, 5
logits, other = (jax.device_put(jax.random.normal(k, (B, T, A)), batch) for k in keys[:2])
rewards, values = (jax.device_put(jax.random.normal(k, (B, T)), batch) for k in keys[2:4])
actions = jax.device_put(jax.random.randint(keys[4], (B, T), 0, A), batch)
discounts = jax.device_put(0.9 * jax.random.bernoulli(keys[5], 0.9, (B, T)).astype(jnp.float32), batch)


@jax.jit
def losses(logits, values):
    found = {}
    found["lambda"] = jax.vmap(lambda r, d, v: rlax.lambda_returns(r, d, v, 0.95))(rewards, discounts, values).mean()
    found["gae"] = jax.vmap(lambda r, d, v: rlax.truncated_generalized_advantage_estimation(r[:-1], d[:-1], 0.9, v))(rewards, discounts, values).std()
    rho = jnp.exp(distrax.Categorical(logits).log_prob(actions) - distrax.Categorical(other).log_prob(actions))
    trace = jax.vmap(rlax.vtrace_td_error_and_advantage)(values[:, :-1], values[:, 1:], rewards[:, :-1], discounts[:, :-1], rho[:, :-1])
    found["vtrace"] = jnp.square(trace.errors).mean()
    found["policy"] = jax.vmap(rlax.policy_gradient_loss)(logits[:, :-1], actions[:, :-1], trace.pg_advantage, jnp.ones((B, T - 1))).mean()
    found["entropy"] = jax.vmap(rlax.entropy_loss)(logits, jnp.ones((B, T))).mean()
    found["q"] = jnp.square(jax.vmap(jax.vmap(rlax.q_learning))(logits[:, :-1], actions[:, :-1], rewards[:, :-1], discounts[:, :-1], logits[:, 1:])).mean()
    atoms = jnp.linspace(-2, 2, 7)
    wide = jnp.tile(logits[..., None], (1, 1, 1, 7)) * jnp.sin(atoms)
    found["categorical"] = jax.vmap(jax.vmap(lambda q, a, r, d, p: rlax.categorical_q_learning(atoms, q, a, r, d, atoms, p)))(
        wide[:, :-1], actions[:, :-1], rewards[:, :-1], discounts[:, :-1], wide[:, 1:]).mean()
    found["ppo"] = rlax.clipped_surrogate_pg_loss(rho.reshape(-1), values.reshape(-1), 0.2)
    normal = distrax.MultivariateNormalDiag(logits, jnp.exp(0.1 * other))
    found["normal"] = normal.log_prob(other).mean() + normal.entropy().mean() + normal.kl_divergence(distrax.MultivariateNormalDiag(other, jnp.ones_like(other))).mean()
    tanh = distrax.Transformed(distrax.Normal(values, 1.0), distrax.Tanh())
    found["tanh"] = tanh.log_prob(tanh.sample(seed=keys[6])).mean()
    return sum(found.values()), found


(_, found), slopes = jax.value_and_grad(losses, (0, 1), has_aux=True)(logits, values)
for name, value in found.items():
    print(name, float(value))
print("slopes", *(float(jnp.abs(s).sum()) for s in slopes))

"""Monte Carlo tree search of Mctx: Gumbel MuZero on a made-up game, batched over devices."""
# needs: mctx
import jax
import jax.numpy as jnp
import mctx
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

rng = np.random.default_rng(0)
BATCH, ACTIONS, WIDTH = 8, 6, 10
transition = jnp.asarray(rng.normal(size=(ACTIONS, WIDTH, WIDTH)) / 3, jnp.float32)
value_head = jnp.asarray(rng.normal(size=WIDTH), jnp.float32)
policy_head = jnp.asarray(rng.normal(size=(WIDTH, ACTIONS)), jnp.float32)


def recurrent(params, key, action, embedding):
    del params, key
    following = jnp.tanh(jnp.einsum("bij,bj->bi", transition[action], embedding))
    return mctx.RecurrentFnOutput(reward=following[:, 0], discount=jnp.full(len(action), 0.9),
                                  prior_logits=following @ policy_head, value=following @ value_head), following


mesh = Mesh(np.array(jax.devices()[:4]), ("games",))
embedding = jax.device_put(rng.normal(size=(BATCH, WIDTH)).astype(np.float32), NamedSharding(mesh, PartitionSpec("games")))


@jax.jit
def search(embedding):
    root = mctx.RootFnOutput(prior_logits=embedding @ policy_head, value=embedding @ value_head, embedding=embedding)
    gumbel = mctx.gumbel_muzero_policy((), jax.random.key(0), root, recurrent, num_simulations=32)
    plain = mctx.muzero_policy((), jax.random.key(1), root, recurrent, num_simulations=24, dirichlet_fraction=0.1)
    return gumbel.action, gumbel.action_weights, plain.action, plain.search_tree.summary()


action, weights, other, summary = search(embedding)
print("gumbel", [int(a) for a in action], "plain", [int(a) for a in other])
print("weights", [round(float(w), 4) for w in weights[0]])
print("visits", [int(v) for v in summary.visit_counts.reshape(-1)])
print("values", [round(float(v), 4) for v in summary.value])

"""Optimisers of optax.contrib, and a schedule free one, on a least squares problem whose rows are cut over devices."""
# needs: optax


import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((len(jax.devices()),), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
random = np.random.default_rng(0)
a = jax.device_put(random.normal(size=(48, 8)).astype("f"), NamedSharding(mesh, P("rows")))
b = a @ jnp.arange(8.0).reshape(8, 1) / 8 + 0.1
begin = {"w": jnp.zeros((8, 1)), "b": jnp.zeros((1,))}


def loss(p):
    return jnp.mean(optax.huber_loss(a @ p["w"] + p["b"], b))


optimisers = {
    "prodigy": optax.contrib.prodigy(), "dadapt": optax.contrib.dadapt_adamw(), "cocob": optax.contrib.cocob(),
    "mechanic": optax.contrib.mechanize(optax.sgd(0.1)), "momo": optax.contrib.momo(), "muon": optax.contrib.muon(0.05),
    "schedule free": optax.contrib.schedule_free_adamw(0.1), "dog": optax.contrib.dog(0.1), "lion": optax.lion(0.02),
    "ademamix": optax.contrib.ademamix(0.05), "adopt": optax.contrib.adopt(0.05), "sophia": optax.contrib.sophia(0.05),
    "plateau": optax.chain(optax.sgd(0.2), optax.contrib.reduce_on_plateau(patience=2, factor=0.5)),
    "adafactor": optax.adafactor(0.05), "split": optax.contrib.split_real_and_imaginary(optax.adam(0.05)),
}
for name, optimiser in optimisers.items():
    optimiser = optax.with_extra_args_support(optimiser)
    state = optimiser.init(begin)

    @jax.jit
    def step(p, state, optimiser=optimiser):
        value, gradients = jax.value_and_grad(loss)(p)
        updates, state = optimiser.update(gradients, state, p, value=value, grad=gradients, value_fn=loss, obj_fn=loss)
        return optax.apply_updates(p, updates), state, value

    p = begin
    for _ in range(8):
        p, state, value = step(p, state)
    print(name, float(value), float(jnp.abs(p["w"]).sum()))

# GaLore takes singular vectors of gradients, which are of rank one here, as a weight that is an outer product shrinks.
galore = optax.contrib.galore(0.1, rank=4, update_proj_gap=2, base_optimizer=optax.sgd(1.0))
weights = jax.device_put(jnp.outer(jnp.arange(16.0), jnp.arange(16.0)), NamedSharding(mesh, P("rows")))
state = galore.init(weights)


@jax.jit
def shrink(weights, state):
    updates, state = galore.update(weights, state, weights)
    return optax.apply_updates(weights, updates), state


for _ in range(6):
    weights, state = shrink(weights, state)
print("galore", float(jnp.linalg.norm(weights)))

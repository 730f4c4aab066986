"""A neural differential equation: Equinox, Diffrax with an adaptive step, gradients through the solver."""
# needs: equinox diffrax optax

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.mlp(y)


field = Field(eqx.nn.MLP(2, 2, 32, 2, activation=jnp.tanh, key=jax.random.key(0)))
times = jnp.linspace(0, 1, 8)
circle = jnp.stack([jnp.cos(times), jnp.sin(times)], -1)


@eqx.filter_value_and_grad
def loss(field):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, 0.1, circle[0], saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(1e-3, 1e-4))
    return jnp.mean((solution.ys - circle) ** 2)


optimiser = optax.adam(1e-3)
state = optimiser.init(eqx.filter(field, eqx.is_array))


@eqx.filter_jit
def step(field, state):
    value, gradients = loss(field)
    updates, state = optimiser.update(gradients, state, field)
    return eqx.apply_updates(field, updates), state, value


for number in range(4):
    field, state, value = step(field, state)
    print(f"loss {number}", float(value))

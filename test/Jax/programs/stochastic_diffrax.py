"""Diffrax: stiff and stochastic equations, events, adjoints, batches of solves cut over the devices; Lineax and Optimistix in one program."""
# needs: diffrax optax equinox lineax optimistix
# tolerance: 1e-3

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import lineax as lx
import optax
import optimistix as optx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
rows = NamedSharding(mesh, P("x"))
keys = jax.device_put(jr.split(jr.key(0), 12), rows)


@jax.jit
@jax.vmap
def paths(key):
    brownian = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-2, shape=(2,), key=key)
    terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, a: -y), diffrax.ControlTerm(lambda t, y, a: jnp.diag(0.1 + 0.2 * y**2), brownian))
    return diffrax.diffeqsolve(terms, diffrax.Heun(), 0.0, 1.0, 0.05, jnp.ones(2), saveat=diffrax.SaveAt(ts=jnp.linspace(0, 1, 5))).ys


print("stochastic", *(float(v) for v in paths(keys).mean((1, 2))))


def robertson(t, y, k):
    a = -k[0] * y[0] + k[2] * y[1] * y[2]
    c = k[1] * y[1] ** 2
    return jnp.stack([a, -a - c, c])


@jax.jit
def stiff(k):
    return diffrax.diffeqsolve(diffrax.ODETerm(robertson), diffrax.Kvaerno5(), 0.0, 10.0, 1e-4, jnp.array([1.0, 0, 0]), args=k,
                               stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-7), max_steps=500).ys[-1]


print("stiff", *(float(v) for v in stiff(jnp.array([0.04, 3e3, 1e2]))))
# As one program: in two the second takes up steps of the first from checkpoints, and an error estimate near the roundings may choose others.
print("its gradient", float(jax.jit(jax.grad(lambda k: stiff(k)[0]))(jnp.array([0.04, 3e3, 1e2]))[0]))


@jax.jit
@jax.vmap
def ball(height):
    event = diffrax.Event(lambda t, y, *_, **__: y[0], optx.Newton(1e-5, 1e-5))
    done = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, a: jnp.stack([y[1], -9.8])), diffrax.Tsit5(), 0.0, 10.0, 0.1,
                               jnp.stack([height, 0.0]), event=event)
    return done.ts[0]


print("falls", *(float(v) for v in ball(jax.device_put(jnp.linspace(1.0, 5.0, 12), rows))))


class Field(eqx.Module):
    net: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.net(y)


times = jnp.linspace(0, 1, 8)
begin = jax.device_put(jr.normal(jr.key(1), (12, 2)), rows)
aim = jax.vmap(lambda y: jax.vmap(lambda t: jax.scipy.linalg.expm(t * jnp.array([[0.0, 1], [-1, -0.1]])) @ y)(times))(begin)


def make(adjoint):
    @eqx.filter_jit
    def step(field, state, begin, aim):
        @eqx.filter_value_and_grad
        def loss(field):
            solve = lambda y: diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, 0.1, y, saveat=diffrax.SaveAt(ts=times), adjoint=adjoint).ys
            return jnp.mean((jax.vmap(solve)(begin) - aim) ** 2)

        value, slope = loss(field)
        updates, state = optimizer.update(slope, state)
        return eqx.apply_updates(field, updates), state, value

    return step


optimizer = optax.adabelief(3e-3)
for name, adjoint in (("recursive", diffrax.RecursiveCheckpointAdjoint()), ("backsolve", diffrax.BacksolveAdjoint()), ("forward", diffrax.DirectAdjoint())):
    field = Field(eqx.nn.MLP(2, 2, 16, 2, key=jr.key(2)))
    state, step = optimizer.init(eqx.filter(field, eqx.is_inexact_array)), make(adjoint)
    for _ in range(4):
        field, state, value = step(field, state, begin, aim)
    print(name, float(value))

matrix = jr.normal(jr.key(3), (12, 12)) / 4 + 2 * jnp.eye(12)
for name, solver in (("LU", lx.LU()), ("QR", lx.QR()), ("SVD", lx.SVD()), ("GMRES", lx.GMRES(1e-5, 1e-5))):
    found = jax.jit(lambda m, s=solver: lx.linear_solve(lx.MatrixLinearOperator(m), jnp.arange(12.0), solver=s).value)(jax.device_put(matrix, rows))
    print(name, float(jnp.abs(found).sum()))
root = jax.jit(lambda a: optx.root_find(lambda y, a: jnp.tanh(y) * 2 + y - a, optx.Dogleg(1e-5, 1e-5), jnp.zeros(6), a).value)(jnp.arange(6.0))
print("root", *(float(v) for v in root))

"""Evolution strategies of evosax, a population cut over devices. Those with eigenvectors follow signs of these, which nobody says, and are left out."""
# needs: evosax

import functools

import jax
import jax.numpy as jnp
from evosax.algorithms import SNES, Open_ES, Sep_CMA_ES
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((len(jax.devices()),), ("population",), axis_types=(AxisType.Auto,))
cut = NamedSharding(mesh, PartitionSpec("population"))


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def sphere(x):
    return (x**2).sum()


@functools.partial(jax.jit, static_argnums=(0, 1))
def search(kind, fitness, keys):
    strategy = kind(population_size=24, solution=jnp.zeros(4))
    params = strategy.default_params

    def generation(state, key):
        ask, tell = jax.random.split(key)
        population, state = strategy.ask(ask, state, params)
        population = jax.lax.with_sharding_constraint(population, cut)
        return strategy.tell(tell, population, jax.vmap(fitness)(population), state, params)[0], None

    start = strategy.init(jax.random.key(0), jnp.full(4, 0.8), params)
    return jax.lax.scan(generation, start, keys)[0].best_fitness


for kind in (Open_ES, Sep_CMA_ES, SNES):
    for fitness in (rosenbrock, sphere):
        print(kind.__name__, fitness.__name__, float(search(kind, fitness, jax.random.split(jax.random.key(1), 8))))

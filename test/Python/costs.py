"""The costs of a program, as JAX gets them."""

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(numpy.array(jax.devices()), ("x",))
x = jax.device_put(jnp.ones((8, 4)), NamedSharding(mesh, PartitionSpec("x")))
w = jax.device_put(jnp.ones((4, 16)), NamedSharding(mesh, PartitionSpec()))
compiled = jax.jit(lambda x, w: jnp.tanh(x @ w)).lower(x, w).compile()
costs, memory = compiled.cost_analysis(), compiled.memory_analysis()
for name in ("flops", "transcendentals", "bytes accessed"):
    print(name, int(costs[name]))
print("argument", memory.argument_size_in_bytes, "result", memory.output_size_in_bytes)

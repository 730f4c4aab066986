"""Ten steps of jax-cfd's semi-implicit Navier-Stokes on a periodic square."""
# needs: jax-cfd

import jax
import jax.numpy as jnp
import jax_cfd.base as cfd

grid = cfd.grids.Grid((32, 32), domain=((0, 2 * jnp.pi), (0, 2 * jnp.pi)))
velocity = cfd.initial_conditions.filtered_velocity_field(jax.random.PRNGKey(0), grid, maximum_velocity=3)
step = jax.jit(cfd.equations.semi_implicit_navier_stokes(density=1.0, viscosity=1e-2, dt=0.01, grid=grid))
for _ in range(10):
    velocity = step(velocity)
print("mean and largest", float(jnp.abs(velocity[0].data).mean()), float(jnp.abs(velocity[1].data).max()))

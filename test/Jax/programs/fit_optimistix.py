"""A curve fitted by Levenberg-Marquardt, a linear system by conjugate gradients, a minimum by BFGS."""
# needs: optimistix lineax

import jax
import jax.numpy as jnp
import lineax
import numpy as np
import optimistix
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("points",))
rows = NamedSharding(mesh, P("points"))
t = np.linspace(0, 4, 64).astype("f4")
y = (2.5 * np.exp(-1.3 * t) + 0.5).astype("f4")
t, y = jax.device_put((t, y), rows)


def residuals(p, given):
    t, y = given
    return p["a"] * jnp.exp(-p["k"] * t) + p["c"] - y


start = {"a": jnp.array(1.0), "k": jnp.array(1.0), "c": jnp.array(0.0)}
found = optimistix.least_squares(residuals, optimistix.LevenbergMarquardt(rtol=1e-5, atol=1e-5), start, args=(t, y))
print("curve", *(round(float(found.value[name]), 4) for name in "akc"))

matrix = np.eye(64, dtype="f4") * 4 + np.diag(np.ones(63, "f4"), 1) + np.diag(np.ones(63, "f4"), -1)
operator = lineax.MatrixLinearOperator(jax.device_put(matrix, rows), lineax.positive_semidefinite_tag)
solved = lineax.linear_solve(operator, y, lineax.CG(rtol=1e-6, atol=1e-6))
print("system", float(jnp.abs(jnp.asarray(matrix) @ solved.value - y).max()) < 1e-4, float(solved.value.sum()))

least = optimistix.minimise(lambda p, _: jnp.sum((1 - p[:-1]) ** 2 + 5 * (p[1:] - p[:-1] ** 2) ** 2),
                            optimistix.BFGS(rtol=1e-5, atol=1e-5), jnp.zeros(4), max_steps=512)
print("minimum", *(round(float(v), 3) for v in least.value))

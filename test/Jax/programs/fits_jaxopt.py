"""Solvers of JAXopt: L-BFGS with line searches, projections on a simplex, Anderson's acceleration, implicit derivatives."""
# needs: jaxopt
# tolerance: 0.02
import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

rng = np.random.default_rng(0)
mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
cut = NamedSharding(mesh, PartitionSpec("data"))
features, targets = jax.device_put((rng.normal(size=(64, 5)).astype(np.float32), rng.normal(size=64).astype(np.float32)), cut)


def ridge(weights, strength):
    return jnp.mean((features @ weights - targets) ** 2) + strength * jnp.sum(weights**2)


lbfgs = jaxopt.LBFGS(ridge, maxiter=30).run(jnp.zeros(5), 0.1)
print("lbfgs", [float(x) for x in lbfgs.params])
print("derivative", [float(x) for x in jax.jacobian(lambda s: jaxopt.LBFGS(ridge, maxiter=30, implicit_diff=True).run(jnp.zeros(5), s).params)(0.1)])
simplex = jaxopt.ProjectedGradient(lambda w: ridge(w, 0.1), jaxopt.projection.projection_simplex, maxiter=100).run(jnp.full(5, 0.2))
print("simplex", [round(float(x), 5) for x in simplex.params])
fixed = jaxopt.AndersonAcceleration(lambda x: jnp.cos(x) + 0.1 * x @ jnp.eye(5), maxiter=30).run(jnp.zeros(5))
print("fixed", [float(x) for x in fixed.params])
lasso = jaxopt.ProximalGradient(lambda w, d: jnp.mean((d[0] @ w - d[1]) ** 2), jaxopt.prox.prox_lasso, maxiter=100).run(jnp.zeros(5), 0.05, (features, targets))
print("lasso", [round(float(x), 5) for x in lasso.params])

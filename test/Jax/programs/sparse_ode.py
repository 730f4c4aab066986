"""Of jax.experimental: a sparse Laplacian, conjugate gradients with it, a heat equation solved by odeint, its gradient."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse
from jax.experimental.ode import odeint
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

n = 48
mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
over = NamedSharding(mesh, P("x"))
index = np.arange(n)
dense = 2.5 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
laplacian = sparse.BCOO.fromdense(jnp.float32(dense))
x = jax.device_put(jnp.sin(index / 5.0), over)
print("product", float(jnp.abs(laplacian @ x).sum()), float((laplacian @ laplacian).todense().sum()))
csr = sparse.BCSR.from_bcoo(laplacian)
print("csr", float(jnp.abs(jax.jit(lambda m, v: m @ v)(csr, x) - laplacian @ x).max() < 1e-5))
solution, _ = jax.jit(lambda m, b: jax.scipy.sparse.linalg.cg(lambda v: m @ v, b, tol=1e-6))(laplacian, x)
print("cg", float(solution.sum()), float(jnp.abs(laplacian @ solution - x).max()) < 1e-4)


@jax.jit
def heat(rate, x):
    return odeint(lambda x, t: -rate * (laplacian @ x), x, jnp.linspace(0.0, 1.0, 4), rtol=1e-5, atol=1e-5)


print("heat", *map(float, heat(0.7, x).sum(1)))
value, gradients = jax.value_and_grad(lambda rate, x: (heat(rate, x)[-1] ** 2).sum(), (0, 1))(0.7, x)
print("gradient", float(value), float(gradients[0]), float(gradients[1].sum()))
sparse_gradient = sparse.grad(lambda m: jnp.sin(m @ x).sum())(laplacian)
print("sparse gradient", sparse_gradient.nse, float(sparse_gradient.data.sum()))
sparsified = sparse.sparsify(lambda m, v: (m * 2.0).sum(0) @ v + (m.T @ v).sum())
print("sparsified", float(sparsified(laplacian, x)))

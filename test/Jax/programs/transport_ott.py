"""Optimal transport of ott-jax between clouds whose points are cut over devices: Sinkhorn's loop, its slope, and low-rank couplings."""
# needs: ott-jax

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn, sinkhorn_lr

mesh = jax.make_mesh((len(jax.devices()),), ("points",), axis_types=(AxisType.Auto,))
points = NamedSharding(mesh, PartitionSpec("points"))
x = jax.device_put(jax.random.normal(jax.random.key(0), (48, 2)), points)
y = jax.device_put(jax.random.normal(jax.random.key(1), (36, 2)) + 1, points)


@jax.jit
def cost(x, y):
    geometry = pointcloud.PointCloud(x, y, epsilon=0.1)
    return sinkhorn.Sinkhorn(threshold=1e-4)(linear_problem.LinearProblem(geometry)).reg_ot_cost


value, slope = jax.value_and_grad(cost)(x, y)
print("cost", float(value), "slope", float(jnp.abs(slope).sum()), float(slope[5, 1]))
low = sinkhorn_lr.LRSinkhorn(rank=4)
print("low rank", float(low(linear_problem.LinearProblem(pointcloud.PointCloud(x, y))).primal_cost))
for _ in range(5):
    x = x - 5 * jax.grad(cost)(x, y)
print("moved", float(cost(x, y)), *map(float, x.mean(0)))

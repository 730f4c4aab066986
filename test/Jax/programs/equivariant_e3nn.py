"""An equivariant layer of e3nn: spherical harmonics, tensor products and a gate over edges that devices share."""
# needs: e3nn-jax
import e3nn_jax as e3nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

rng = np.random.default_rng(0)
mesh = Mesh(np.array(jax.devices()[:4]), ("edges",))
cut = NamedSharding(mesh, PartitionSpec("edges"))
positions = jnp.asarray(rng.normal(size=(10, 3)), jnp.float32)
senders, receivers = (jax.device_put(rng.integers(0, 10, 40), cut) for _ in range(2))


@jax.jit
def energy(positions, rotation):
    places = e3nn.IrrepsArray("1o", positions @ rotation.T)
    edges = places[receivers] - places[senders]
    lengths = jnp.sqrt(jnp.sum(edges.array**2, -1) + 1e-6)
    harmonics = e3nn.spherical_harmonics([0, 1, 2, 3], edges, normalize=True, normalization="component")
    radial = e3nn.bessel(lengths, 4, 5.0) * e3nn.poly_envelope(3, 2)(lengths / 5.0)[:, None]
    product = e3nn.tensor_product(harmonics, harmonics).filter("4x0e + 4x1o + 4x2e")
    messages = product * (radial @ jnp.ones((4, 1)))
    nodes = e3nn.scatter_sum(messages, dst=receivers, output_size=10)
    gated = e3nn.norm(nodes)
    return jnp.sum(jnp.tanh(gated.array))


rotation = e3nn.rand_matrix(jax.random.key(3), ())
print("energy", float(energy(positions, jnp.eye(3))), "turned", float(energy(positions, rotation)))
print("forces", [round(float(x), 4) for x in jax.grad(energy)(positions, jnp.eye(3)).reshape(-1)[:9]])

"""A Fourier neural operator in Haiku, trained with Optax on random fields that devices share."""
# needs: dm-haiku optax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MODES, WIDTH = 6, 12


class Spectral(hk.Module):
    def __call__(self, x):
        shape = (2, MODES, MODES, WIDTH, WIDTH)
        real = hk.get_parameter("real", shape, init=hk.initializers.RandomNormal(0.1))
        imaginary = hk.get_parameter("imaginary", shape, init=hk.initializers.RandomNormal(0.1))
        weights = jax.lax.complex(real, imaginary)
        spectrum = jnp.fft.rfft2(x, axes=(1, 2))
        out = jnp.zeros_like(spectrum)
        out = out.at[:, :MODES, :MODES].set(jnp.einsum("bxyi,xyio->bxyo", spectrum[:, :MODES, :MODES], weights[0]))
        out = out.at[:, -MODES:, :MODES].set(jnp.einsum("bxyi,xyio->bxyo", spectrum[:, -MODES:, :MODES], weights[1]))
        return jnp.fft.irfft2(out, s=x.shape[1:3], axes=(1, 2))


@hk.without_apply_rng
@hk.transform
def network(x):
    x = hk.Linear(WIDTH)(x)
    for _ in range(3):
        x = jax.nn.gelu(hk.LayerNorm(-1, True, True)(Spectral()(x) + hk.Linear(WIDTH)(x)))
    return hk.Linear(1)(x)


rng = np.random.default_rng(0)
mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
cut, whole = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("data",), ()))
spectrum = np.fft.rfft2(rng.normal(size=(8, 24, 24)))
k = np.fft.fftfreq(24)[:, None] ** 2 + np.fft.rfftfreq(24)[None] ** 2
source = np.fft.irfft2(spectrum / (1 + 200 * k), s=(24, 24)).astype(np.float32)[..., None]
target = np.fft.irfft2(spectrum / (1 + 200 * k) / (1 + 50 * k), s=(24, 24)).astype(np.float32)[..., None]
source, target = jax.device_put((source, target), cut)
parameters = jax.device_put(network.init(jax.random.key(0), source), whole)
optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 3e-3, 5, 40)))
state = jax.device_put(optimiser.init(parameters), whole)


@jax.jit
def step(parameters, state):
    def loss(parameters):
        error = network.apply(parameters, source) - target
        return jnp.mean(jnp.sqrt(jnp.sum(error**2, (1, 2, 3)) / jnp.sum(target**2, (1, 2, 3))))

    value, gradients = jax.value_and_grad(loss)(parameters)
    updates, state = optimiser.update(gradients, state, parameters)
    return optax.apply_updates(parameters, updates), state, value


for number in range(40):
    parameters, state, value = step(parameters, state)
    if number % 8 == 7:
        print(number, float(value))

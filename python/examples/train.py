"""Train the U-Net of unet.py with its images cut over all devices, row by row: plain JAX.

    JAX_PLATFORMS=shardc SHARDC_DEVICES=4 SHARDC_REPORT=report.html python train.py

On one device it is an ordinary script. On several each holds a band of rows of every image and of every feature map;
the convolutions' halos, the sums of group norm and those of the gradients go between devices by themselves.
"""

import time

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from unet import Params, init, unet

ROWS, COLUMNS, BATCH, STEPS = 96, 48, 2, 20


def loss(params: Params, image: jax.Array, target: jax.Array) -> jax.Array:
    """Return the mean squared difference."""
    return jnp.mean(jnp.square(unet(params, image) - target))


@jax.jit
def step(params: Params, momentum: Params, image: jax.Array, target: jax.Array) -> tuple[Params, Params, jax.Array]:
    """One step of gradient descent with momentum: new weights, new momentum, the loss before."""
    value, gradients = jax.value_and_grad(loss)(params, image, target)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    params = jax.tree.map(lambda p, m: p - 0.02 * m, params, momentum)
    return params, momentum, value


def main() -> None:
    devices = jax.devices()
    mesh = Mesh(numpy.array(devices), ("rows",))
    whole, cut = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec(None, "rows"))
    print(f"{len(devices)} devices of '{devices[0].platform}', {BATCH} images of {ROWS} x {COLUMNS} in bands of rows")

    # What the net is to learn: the differences of an image along rows and columns.
    image = jax.random.normal(jax.random.key(0), (BATCH, ROWS, COLUMNS, 3))
    target = jnp.stack([image[..., 0] - jnp.roll(image[..., 0], 1, axis) for axis in (1, 2)], axis=-1)
    image, target = jax.device_put((image, target), cut)
    params = jax.device_put(init(jax.random.key(1)), whole)
    momentum = jax.tree.map(jnp.zeros_like, params)

    began = time.perf_counter()
    for number in range(STEPS):
        params, momentum, value = step(params, momentum, image, target)
        if number == 0:
            first = float(value)
            print(f"step  1: loss {first:.4f}, {time.perf_counter() - began:.1f} s with compilation")
            began = time.perf_counter()
    last = float(value)
    print(f"step {STEPS}: loss {last:.4f}, {1e3 * (time.perf_counter() - began) / (STEPS - 1):.0f} ms per step")
    if not last < 0.8 * first:
        raise SystemExit("the loss does not fall")


if __name__ == "__main__":
    main()

"""A small U-Net in plain JAX: nothing in it knows about sharding.

Images are ``(batch, rows, columns, channels)``. Two levels of 2x2 max-pooling, group norm and SiLU after each
convolution, a dilated 5x5 bottleneck, nearest-neighbour upsampling, skip connections by concatenation.
"""

import jax
import jax.numpy as jnp
from jax import lax

Params = dict[str, dict[str, jax.Array]]

LAYERS = {
    # name: (window, channels in, channels out)
    "down1": (3, 3, 16),
    "down2": (3, 16, 32),
    "middle": (5, 32, 48),
    "up2": (3, 48 + 32, 32),
    "up1": (3, 32 + 16, 16),
    "head": (1, 16, 2),
}


def init(key: jax.Array) -> Params:
    """Draw the weights: per layer ``w (k, k, in, out)``, ``scale (out,)`` and ``bias (out,)``."""
    params = {}
    for name, (window, inputs, outputs) in LAYERS.items():
        key, w_key, s_key, b_key = jax.random.split(key, 4)
        spread = (window * window * inputs) ** -0.5
        params[name] = {
            "w": spread * jax.random.normal(w_key, (window, window, inputs, outputs)),
            "scale": 1 + 0.1 * jax.random.normal(s_key, (outputs,)),
            "bias": 0.1 * jax.random.normal(b_key, (outputs,)),
        }
    return params


def conv(image: jax.Array, w: jax.Array, dilation: int = 1) -> jax.Array:
    """Convolve with zero padding that keeps rows and columns."""
    margin = dilation * (w.shape[0] // 2)
    return lax.conv_general_dilated(
        image, w, (1, 1), [(margin, margin)] * 2,
        rhs_dilation=(dilation, dilation), dimension_numbers=("NHWC", "HWIO", "NHWC"))


def group_norm(image: jax.Array, scale: jax.Array, bias: jax.Array, groups: int = 4) -> jax.Array:
    """Normalise over all pixels and the channels of a group."""
    batch, rows, columns, channels = image.shape
    grouped = image.reshape(batch, rows, columns, groups, channels // groups)
    mean = grouped.mean(axis=(1, 2, 4), keepdims=True)
    variance = jnp.square(grouped - mean).mean(axis=(1, 2, 4), keepdims=True)
    normal = (grouped - mean) * lax.rsqrt(variance + 1e-5)
    return normal.reshape(image.shape) * scale + bias


def block(image: jax.Array, layer: dict[str, jax.Array], dilation: int = 1) -> jax.Array:
    """Convolution, group norm, SiLU."""
    image = conv(image, layer["w"], dilation)
    return jax.nn.silu(group_norm(image, layer["scale"], layer["bias"]))


def pool(image: jax.Array) -> jax.Array:
    """Halve rows and columns by the maximum of 2x2 windows."""
    return lax.reduce_window(image, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def upsample(image: jax.Array) -> jax.Array:
    """Double rows and columns by repetition."""
    return jnp.repeat(jnp.repeat(image, 2, axis=1), 2, axis=2)


def unet(params: Params, image: jax.Array) -> jax.Array:
    """Return ``(batch, rows, columns, 2)`` for an image whose rows and columns divide by 4."""
    fine = block(image, params["down1"])
    middle = block(pool(fine), params["down2"])
    coarse = block(pool(middle), params["middle"], dilation=2)
    middle = block(jnp.concatenate([upsample(coarse), middle], axis=3), params["up2"])
    fine = block(jnp.concatenate([upsample(middle), fine], axis=3), params["up1"])
    head = params["head"]
    return conv(fine, head["w"]) * head["scale"] + head["bias"]

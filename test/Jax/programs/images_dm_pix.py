"""Augmentations of dm_pix on images that are cut over devices by rows."""
# needs: dm-pix

import dm_pix as pix
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((len(jax.devices()),), ("rows",), axis_types=(AxisType.Auto,))
images = jax.random.uniform(jax.random.key(0), (3, 24, 20, 3))
images = jax.device_put(images, NamedSharding(mesh, PartitionSpec(None, "rows")))


@jax.jit
def augment(key, images):
    keys = jax.random.split(key, 6)
    results = {
        "blur": pix.gaussian_blur(images, sigma=1.2, kernel_size=5),
        "flip": pix.random_flip_left_right(keys[0], images),
        "hue": pix.adjust_hue(images, 0.1),
        "saturation": pix.random_saturation(keys[1], images, lower=0.5, upper=1.5),
        "contrast": pix.random_contrast(keys[2], images, lower=0.5, upper=1.5),
        "gamma": pix.adjust_gamma(images, 1.3),
        "crop": jax.vmap(lambda image: pix.random_crop(keys[3], image, (15, 11, 3)))(images),
        "rotate": jax.vmap(lambda image: pix.rotate(image, 0.4))(images),
        "grey": pix.rgb_to_grayscale(images),
        "hsv": pix.rgb_to_hsv(images),
        "elastic": jax.vmap(lambda image: pix.elastic_deformation(keys[4], image, alpha=3.0, sigma=2.0))(images),
        "depth": pix.depth_to_space(images.reshape(3, 24, 5, 12), 2),
        "psnr": pix.psnr(images, images * 0.9),
        "ssim": pix.ssim(images, images * 0.9),
        "patches": pix.extract_patches(images, (1, 4, 4, 1), (1, 3, 3, 1), (1, 1, 1, 1), padding="VALID"),
    }
    return jax.tree.map(lambda v: (v.mean(), (v * jnp.cos(jnp.arange(v.size)).reshape(v.shape)).sum()), results)


for name, (mean, weighed) in augment(jax.random.key(1), images).items():
    print(name, float(mean), round(float(weighed), 3))

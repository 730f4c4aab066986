"""Loads a library whose names all others see, then computes with ``shardc`` or ``jax``."""

import ctypes
import os
import sys

import numpy as np

path, package = sys.argv[1:]
ctypes.CDLL(path, mode=os.RTLD_GLOBAL)
values = np.arange(6, dtype=np.float32)
if package == "shardc":
    import shardc

    text = "func.func @main(%a: tensor<6xf32>) -> tensor<6xf32> { %0 = stablehlo.add %a, %a : tensor<6xf32> return %0 : tensor<6xf32> }"
    result = shardc.compile(text)(values)
else:
    import jax

    result = jax.jit(lambda x: x + x)(values)
    assert jax.devices()[0].platform == "shardc", jax.devices()
np.testing.assert_array_equal(np.asarray(result), values + values)

"""What goes wrong is raised where JAX raises it, and what else there is stays usable."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="2")

import jax
import jax.numpy as jnp
import numpy as np


def of_a_callback() -> None:
    """A callback's exception reaches its caller, also where nobody reads the result."""
    shape = jax.ShapeDtypeStruct((1,), np.float32)
    wrong = jax.jit(lambda: jax.pure_callback(lambda: np.float32(1), shape))
    for _ in range(50):
        try:
            wrong()
            jax.effects_barrier()
        except jax.errors.JaxRuntimeError as error:
            assert "shape" in str(error), error
        else:
            raise AssertionError("a result of another shape was taken")
    right = jax.jit(lambda: jax.pure_callback(lambda: np.ones(1, np.float32), shape))
    np.testing.assert_array_equal(right(), [1])
    print("callbacks good")


def of_options() -> None:
    """Options that make no sense are refused by name."""
    lowered = jax.jit(jnp.sin).lower(1.0)
    for name, value, text in (("colour", "red", "No such compile option: 'colour'"),
                              ("xla_embed_ir_in_executable", "red", "'red' is not a valid bool value.")):
        try:
            lowered.compile(compiler_options={name: value})
        except jax.errors.JaxRuntimeError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{name}={value} was taken")
    lowered.compile(compiler_options={"xla_embed_ir_in_executable": False})
    print("options good")


def of_a_token() -> None:
    """A token has no value, nor does one that a program gave."""
    token = jax.lax.create_token()
    for one in (token, jax.jit(lambda a, given: (a + 1, given))(1, token)[1]):
        try:
            numbers = one._buf._value
        except RuntimeError as error:
            assert "token" in str(error), error
        else:
            raise AssertionError(f"a token was read: {numbers}")
    print("tokens good")


of_a_callback()
of_a_token()
of_options()

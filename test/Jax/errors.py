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


def of_guards() -> None:
    """What a transfer guard does not allow the host to read; what it asks for by name is allowed, and what it has read."""
    mesh = jax.make_mesh((2,), ("x",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    for make in (lambda: jnp.ones(4) + 1, lambda: jax.device_put(jnp.full(4, 2.0), rows)):
        array, other, read, looked_at = make(), make(), make(), make()
        np.asarray(jax.jit(jnp.sum)(array))
        np.asarray(looked_at)
        with jax.transfer_guard("allow"):
            str(read)
        for level, get in (("disallow", np.asarray), ("disallow", str), ("disallow_explicit", jax.device_get),
                           ("disallow", lambda array: array.copy_to_host_async())):
            with jax.transfer_guard_device_to_host(level):
                np.testing.assert_array_equal(read, np.full(4, 2))
                np.testing.assert_array_equal(looked_at, np.full(4, 2))
                try:
                    get(array)
                except jax.errors.JaxRuntimeError as error:
                    assert "Disallowed device-to-host transfer: shape=(" in str(error), error
                else:
                    raise AssertionError(f"{level}: {get} was allowed")
        with jax.transfer_guard_device_to_host("disallow"):
            np.testing.assert_array_equal(jax.device_get(other), np.full(4, 2))
        np.testing.assert_array_equal(array, np.full(4, 2))
    print("guards good")


of_a_callback()
of_guards()
of_a_token()
of_options()

"""What JAX's users do wrong raises the exception that JAX raises, and leaves the process and all other arrays as they were."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="2")

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
from jax.experimental import serialize_executable
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("x"))
kept = jax.device_put(np.arange(4, dtype="f4"), rows)
doubled = jax.jit(lambda a: a * 2)


def refused(name: str, kind: type[BaseException], text: str, call: Callable[[], Any]) -> None:
    """``call`` raises ``kind`` with ``text``; what is kept is there and can be computed with."""
    try:
        jax.block_until_ready(call())
    except kind as error:
        assert text in str(error), f"{name}: {error}"
    else:
        raise AssertionError(f"{name}: nothing was raised")
    np.testing.assert_array_equal(doubled(kept), np.arange(4) * 2)
    print(f"{name} good", flush=True)


def given_up() -> Any:
    given = jax.device_put(np.ones(4, "f4"), rows)
    jax.jit(lambda a: a + 1, donate_argnums=0)(given)
    return given + 1


def deleted() -> Any:
    given = kept + 1
    given.delete()
    return given + 1


def raises(_: Any) -> Any:
    raise LookupError("no such thing")


def interrupted() -> Any:
    """Ctrl-C while a step is under way."""
    steps = jax.jit(lambda a: jax.lax.fori_loop(0, 3000, lambda i, b: jnp.sin(b @ b), a))
    steps(jnp.zeros((64, 64))).block_until_ready()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    threading.Timer(0.05, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)).start()
    began = time.monotonic()
    while time.monotonic() < began + 200:
        steps(jnp.zeros((64, 64))).block_until_ready()
    return None


def interrupted_early() -> Any:
    """Ctrl-C while a program is compiled: at once, where compiling takes several seconds of processor time."""

    def long(a: Any) -> Any:
        for n in range(80):
            a = jnp.sin(a @ a.T) + jnp.cumsum(a, 0) * n
        return a

    lowered = jax.jit(long).lower(jnp.ones((8, 8)))
    spent = time.process_time()
    threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)).start()
    try:
        lowered.compile()
    finally:
        assert time.process_time() - spent < 2


def other_version() -> Any:
    """A saved program whose first bytes say something else."""
    saved, given, taken = serialize_executable.serialize(doubled.lower(kept).compile())
    at = saved.index(b"shardc")
    return serialize_executable.deserialize_and_load(saved[:at] + b"shardZ" + saved[at + 6:], given, taken)


def garbage() -> Any:
    backend: Any = jax.extend.backend.get_backend()
    devices = jax.devices()[:1]
    from jax._src import compiler

    return backend.compile_and_load(b"ML\xefRgarbage", devices, compiler.get_compile_options(num_replicas=1, num_partitions=1))


error = jax.errors.JaxRuntimeError
refused("shapes", ValueError, "evenly divide", lambda: jax.device_put(np.ones(5, "f4"), rows))
refused("donated", RuntimeError, "deleted", given_up)
# Memory that no result can take is not given up.
useless = jax.device_put(np.ones((8, 2), "f4"), rows)
jax.jit(lambda a: a @ a.T, donate_argnums=0)(useless)
np.testing.assert_array_equal(useless, np.ones((8, 2)))
refused("meshes", ValueError, "Number of devices 2", lambda: jax.make_mesh((9,), ("x",)))
refused("types", TypeError, "float32", lambda: doubled.lower(kept).compile()(np.arange(4)))
refused("deleted", RuntimeError, "deleted", deleted)
refused("callbacks", error, "no such thing", lambda: jax.jit(lambda a: jax.pure_callback(raises, a, a))(kept))
refused("interrupts", KeyboardInterrupt, "", interrupted)
refused("interrupted compilations", KeyboardInterrupt, "", interrupted_early)
refused("memory", error, "RESOURCE_EXHAUSTED", lambda: jnp.zeros((1 << 40, 32)))
grown = jax.device_put(np.ones(1 << 22, "f4"), rows)
outer = jax.jit(lambda a: jnp.sort(jnp.sort(a[:, None] * a[None, :], 0), 1).sum())  # 64 TiB in between
refused("memory of a step", error, "RESOURCE_EXHAUSTED", lambda: outer(grown))
for sizes, text in (("x=3,1,2", 'gives 3 sizes for axis "x", which has 2'), ("x=0,0", "nothing but zeros"), ("y=1,1", 'names axis "y"'),
                    ("many", "expected ARG:DIM=")):
    cut = jax.jit(jnp.cos, compiler_options={"shardc_sizes": sizes})
    refused(f"sizes {sizes}", error, text, lambda cut=cut: cut(kept))
refused("options", error, "there is no option 'colour'", lambda: jax.jit(jnp.sin, compiler_options={"shardc_colour": "red"})(1.0))
unknown = jax.jit(lambda a: jax.ffi.ffi_call("mine", jax.ShapeDtypeStruct(a.shape, a.dtype))(a))
refused("programs", error, "mistakes.py:", lambda: unknown(kept))
refused("saved", error, "no program saved by shardc of this version", other_version)
refused("garbage", error, "bytecode", garbage)

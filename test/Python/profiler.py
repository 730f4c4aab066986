"""What JAX's profiler shows of shardc's devices, as JAX reads it back."""

import glob
import tempfile

import jax
import jax.numpy as jnp
import numpy
from jax.profiler import ProfileData
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(numpy.array(jax.devices()), ("x",))
x = jax.device_put(numpy.ones((64, 32), numpy.float32), NamedSharding(mesh, PartitionSpec("x")))


@jax.jit
def step(x):
    return jnp.tanh(x.T @ x)


def planes_of(runs):
    """Of each device's plane its lines, by name, of a trace over this many steps."""
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(runs):
                step(x).block_until_ready()
        (file,) = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
        planes = [plane for plane in ProfileData.from_file(file).planes if "SHARDC" in plane.name]
        return {plane.name: {line.name: list(line.events) for line in plane.lines} for plane in planes}


step(x).block_until_ready()
for runs in (3, 1):  # a second trace begins anew
    planes = planes_of(runs)
    assert sorted(planes) == [f"/device:SHARDC:{i}" for i in range(4)], planes.keys()
    for lines in planes.values():
        programs, exchanges = lines["Programs"], lines["Communication"]
        assert [event.name for event in programs] == ["jit_step"] * runs, programs
        assert len(exchanges) == runs
        for program, exchange in zip(programs, exchanges, strict=True):
            assert exchange.name == "all_reduce"
            assert program.start_ns <= exchange.start_ns
            assert exchange.end_ns <= program.end_ns
            stats = dict(exchange.stats)
            # The parts of a 32x32 sum that three others have: at least what a reduce-scatter receives.
            assert stats["bytes"] >= 3 * 32 * 32 * 4 / 4, stats
            assert 0 <= stats["wait_ns"] <= exchange.duration_ns, stats
            assert stats["source"].endswith(f"profiler.py:{step.__wrapped__.__code__.co_firstlineno + 2}"), stats
print("passed")

"""An Orbax checkpoint of an array cut over all devices; restored by another process on three of them, or on all."""
# needs: orbax-checkpoint

import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint
from jax.sharding import Mesh, NamedSharding, PartitionSpec

values = np.arange(48.0, dtype=np.float32).reshape(24, 2)


def over_devices(*dims):
    return NamedSharding(Mesh(np.array(jax.devices()), ("x",)), PartitionSpec(*dims))


if len(sys.argv) > 1:
    like = {"x": jax.ShapeDtypeStruct(values.shape, np.float32, sharding=over_devices("x")),
            "n": jax.ShapeDtypeStruct((), np.int32, sharding=over_devices())}
    with orbax.checkpoint.StandardCheckpointer() as checkpointer:
        restored = checkpointer.restore(sys.argv[1], like)
    shards = {shard.data.shape[0] for shard in restored["x"].addressable_shards}
    assert shards == {24 // len(jax.devices())}, shards
    print("restored", float(abs(restored["x"] - values).max()), int(restored["n"]))
else:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "saved")
        with orbax.checkpoint.StandardCheckpointer() as checkpointer:
            checkpointer.save(path, {"x": jax.device_put(values, over_devices("x")), "n": jnp.int32(3)})
        environment = os.environ | {"SHARDC_DEVICES": "3", "XLA_FLAGS": "--xla_force_host_platform_device_count=3"}
        subprocess.run([sys.executable, __file__, path], check=True, env=environment)

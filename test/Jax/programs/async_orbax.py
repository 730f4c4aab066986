"""Asynchronous checkpoints of Orbax: saved while training goes on, the last two kept, one restored and gone on with."""
# needs: orbax-checkpoint

import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
over = NamedSharding(mesh, P("x"))
p = {"w": jax.device_put(jnp.ones((12, 5)), over), "key": jax.random.key_data(jax.random.key(7)), "step": jnp.int32(0)}
x = jax.device_put(np.random.default_rng(0).normal(size=(24, 12)).astype("f"), over)


@jax.jit
def step(p):
    value, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1) ** 2))(p["w"])
    return {"w": p["w"] - 0.1 * g, "key": p["key"], "step": p["step"] + 1}, value


with tempfile.TemporaryDirectory() as folder:
    options = ocp.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=True)
    with ocp.CheckpointManager(folder, options=options) as manager:
        for number in range(6):
            p, value = step(p)
            manager.save(number, args=ocp.args.StandardSave(p))
        manager.wait_until_finished()
        print("kept", *manager.all_steps(), "loss", float(value))
        like = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), p)
        again = manager.restore(manager.all_steps()[0], args=ocp.args.StandardRestore(like))
    assert again["w"].sharding == p["w"].sharding
    again, value = step(again)
    print("gone on", int(again["step"]), float(value), float(jnp.abs(again["w"] - p["w"]).max()))

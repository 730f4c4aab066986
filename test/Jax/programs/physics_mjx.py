"""A model of MuJoCo's MJX: worlds batched and cut over the devices, stepped, and the gradient of where a body ends."""
# needs: mujoco-mjx

import jax
import jax.numpy as jnp
import mujoco
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from mujoco import mjx

XML = """
<mujoco>
  <option timestep="0.005" iterations="4" ls_iterations="6" solver="Newton"><flag eulerdamp="disable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="0 0 0.6"><freejoint/><geom type="sphere" size="0.1" mass="1"/>
      <body pos="0.2 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.04" mass="0.3"/></body>
    </body>
    <body pos="0.5 0 0.3"><joint name="slide" type="slide" axis="1 0 0" damping="0.1"/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="slide" gear="2"/></actuator>
</mujoco>"""

model = mjx.put_model(mujoco.MjModel.from_xml_string(XML))
devices = len(jax.devices())
mesh = jax.make_mesh((devices,), ("world",), axis_types=(jax.sharding.AxisType.Auto,))
worlds = NamedSharding(mesh, P("world"))


def start(height, push):
    data = mjx.make_data(model)
    return data.replace(qpos=data.qpos.at[2].set(height), qvel=data.qvel.at[0].set(push))


@jax.jit
def roll(data, force):
    def step(data, _):
        data = mjx.step(model, data.replace(ctrl=force[None]))
        return data, data.qpos[:3]

    return jax.lax.scan(step, data, None, length=40)


heights = jax.device_put(jnp.linspace(0.15, 0.8, 12), worlds)
pushes = jax.device_put(jnp.linspace(-1.0, 1.0, 12), worlds)
data = jax.jit(jax.vmap(start))(heights, pushes)
data, path = jax.jit(jax.vmap(roll))(data, pushes)
for name, value in (("ends", path[:, -1]), ("velocities", data.qvel[:, :3]), ("slider", data.qpos[:, -1])):
    print(name, *(f"{v:.5f}" for v in jnp.abs(value).reshape(12, -1).mean(1)))

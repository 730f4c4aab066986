"""jax.distributed on shardc: processes that own some of the devices each, beside one process that owns them all.

Without arguments this starts the processes; with a role it is one of them and prints what it came to as JSON.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Inputs"))
from ports import free_port

PYTHON = [sys.executable, os.path.abspath(__file__)]
DEVICES = 4


def train() -> list[float]:
    """The losses of a small perceptron, rows over one axis of the mesh and features over the other."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = jax.make_mesh((2, 2), ("rows", "features"), devices=jax.devices(), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(16, 8)).astype(np.float32), rng.normal(size=(16, 4)).astype(np.float32)
    weights = [rng.normal(size=(8, 32)).astype(np.float32), rng.normal(size=(32, 4)).astype(np.float32)]

    def place(value: Any, *spec: Any) -> jax.Array:
        """The whole array is known to all; each device takes its part."""
        return jax.make_array_from_callback(value.shape, NamedSharding(mesh, P(*spec)), lambda index: value[index])

    state = [place(weights[0], None, "features"), place(weights[1], "features", None)]
    batch = place(x, "rows"), place(y, "rows")

    @jax.jit
    def step(state: list[jax.Array], batch: tuple[jax.Array, jax.Array]) -> tuple[list[jax.Array], jax.Array]:
        def loss(state: list[jax.Array]) -> jax.Array:
            return jnp.mean((jnp.tanh(batch[0] @ state[0]) @ state[1] - batch[1]) ** 2)

        value, gradient = jax.value_and_grad(loss)(state)
        return [w - 0.05 * g for w, g in zip(state, gradient, strict=True)], value

    losses = []
    for _ in range(5):
        state, value = step(state, batch)
        losses.append(float(value))
    return losses


def join(process: int, processes: int, port: int) -> None:
    import jax

    if processes > 1:
        jax.distributed.initialize(f"localhost:{port}", processes, process)
    assert jax.process_count() == processes
    assert jax.process_index() == process
    assert len(jax.devices()) == DEVICES
    mine = [d for d in jax.devices() if d.process_index == process]
    assert jax.local_devices() == mine
    assert len(mine) == DEVICES // processes
    assert [d.local_hardware_id for d in mine] == list(range(len(mine)))


def member(process: int, processes: int, port: int) -> dict[str, Any]:
    join(process, processes, port)
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    said: dict[str, Any] = {}
    mesh = Mesh(np.array(jax.devices()), ("x",))
    each = NamedSharding(mesh, P("x"))
    rows = DEVICES // processes * 2
    # Row i of the whole holds i.
    x = jax.make_array_from_process_local_data(each, np.arange(rows, dtype=np.float32)[:, None] + rows * process)
    assert x.shape == (2 * DEVICES, 1)
    assert len(x.addressable_shards) == DEVICES // processes
    for shard in x.addressable_shards:
        assert np.array_equal(np.asarray(shard.data)[:, 0], np.arange(2 * DEVICES)[shard.index[0]])
    said["sum"] = float(jax.jit(jnp.sum)(x))
    over = jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    said["psum"] = np.asarray(jax.jit(over)(x))[:, 0].tolist()
    turn = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
    around = jax.jit(jax.shard_map(lambda v: jax.lax.ppermute(v, "x", turn), mesh=mesh, in_specs=P("x"), out_specs=P("x")))
    moved = around(x)
    # What is of one process goes on beside that.
    said["own"] = (jnp.arange(3) * 2 + 1).tolist()
    whole = multihost_utils.process_allgather(moved, tiled=True)
    said["moved"] = np.asarray(whole)[:, 0].tolist()
    multihost_utils.sync_global_devices("half way")
    said["told"] = np.asarray(multihost_utils.broadcast_one_to_all(np.arange(3) + 10 * process)).tolist()
    # Some of the devices, of two processes, in another order.
    some = Mesh(np.array(jax.devices())[[DEVICES - 1, 0]], ("x",))
    y = jax.make_array_from_callback((4,), NamedSharding(some, P("x")), lambda index: np.arange(4.0, dtype=np.float32)[index])
    said["some"] = float(jax.jit(lambda v: (v * v).sum())(y))
    # Functions of Python have numbers of their process.
    shape = jax.ShapeDtypeStruct((), np.float32)
    ask = jax.jit(lambda v: jax.pure_callback(lambda total: np.float32(total) + 1, shape, v.sum()) + v)
    said["asked"] = np.asarray(multihost_utils.process_allgather(ask(x), tiled=True))[:, 0].tolist()
    # A program of which a process has nothing.
    first = Mesh(np.array(jax.devices()[:1]), ("x",))
    ones = jax.make_array_from_callback((2,), NamedSharding(first, P("x")), lambda _: np.ones(2, np.float32), dtype=np.float32)
    twice = jax.jit(lambda v: v * 2)(ones)
    assert len(twice.addressable_shards) == int(process == 0)
    said["losses"] = train()
    return said


def die(process: int, processes: int, port: int) -> dict[str, Any]:
    """The second process ends between two steps; the first is told."""
    join(process, processes, port)
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    each = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x"))
    x = jax.make_array_from_callback((DEVICES,), each, lambda index: np.arange(float(DEVICES), dtype=np.float32)[index])
    total = jax.jit(jnp.sum)
    assert float(total(x)) == 6
    if process == 1:
        os._exit(3)
    try:
        float(total(x))
    except jax.errors.JaxRuntimeError as error:
        print(json.dumps({"error": str(error), "own": float(jnp.ones(3).sum())}), flush=True)
    # JAX's own service would end this process for the other's sake.
    os._exit(0)


def fail(process: int, processes: int, port: int) -> dict[str, Any]:
    """What most failures look like: the second process raises; the first is told, though the other waits for its end."""
    join(process, processes, port)
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    each = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x"))
    x = jax.make_array_from_callback((DEVICES,), each, lambda index: np.arange(float(DEVICES), dtype=np.float32)[index])
    assert float(jax.jit(jnp.sum)(x)) == 6
    if process == 1:
        raise ValueError("on purpose")
    try:
        float(jax.jit(jnp.max)(x))
    except jax.errors.JaxRuntimeError as error:
        return {"error": str(error)}
    return {}


def start(role: str, processes: int) -> list[tuple[int, dict[str, Any]]]:
    """Exit status and words of each process."""
    port = free_port()
    environment = os.environ | {"JAX_PLATFORMS": "shardc", "SHARDC_DEVICES": str(DEVICES // processes)}
    children = [
        subprocess.Popen([*PYTHON, role, str(i), str(processes), str(port)], env=environment, stdout=subprocess.PIPE, text=True)
        for i in range(processes)
    ]
    said = []
    for child in children:
        text, _ = child.communicate(timeout=1200)
        said.append((child.returncode, json.loads(text) if text else {}))
    return said


def main() -> None:
    [(status, alone)] = start("member", 1)
    assert status == 0, status
    assert alone["sum"] == sum(range(8)), alone
    assert alone["psum"] == [0 + 2 + 4 + 6, 1 + 3 + 5 + 7], alone
    assert alone["moved"] == [6, 7, 0, 1, 2, 3, 4, 5], alone
    assert alone["some"] == 0 + 1 + 4 + 9, alone
    assert alone["asked"] == [sum(range(8)) + 1 + i for i in range(8)], alone
    assert alone["losses"][-1] < alone["losses"][0], alone
    for status, said in start("member", 2):
        assert status == 0, (status, said)
        assert said == alone, (said, alone)
    (status, first), (other, _) = start("die", 2)
    assert (status, other) == (0, 3), (status, other, first)
    # Not that it did not answer in time, which is what a process that waits says.
    assert "is gone" in first["error"], first
    assert first["own"] == 3, first
    (status, first), (other, _) = start("fail", 2)
    assert (status, other) == (0, 1), (status, other, first)
    assert "has left the job" in first["error"], first
    print("all good")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        act = {"member": member, "die": die, "fail": fail}[sys.argv[1]]
        print(json.dumps(act(*map(int, sys.argv[2:5]))), flush=True)

"""Several processes with ranks of their own: as launchers start them, and as they say themselves. No JAX."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import shardc
from shardc import _balance

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Inputs"))
from ports import free_port

CENTRED = """
module @centre {
  func.func @main(%x: tensor<7x2xf32>) -> (tensor<7x2xf32>, tensor<2xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<7x2xf32>, tensor<f32>) -> tensor<2xf32>
    %all = stablehlo.broadcast_in_dim %sum, dims = [1] : (tensor<2xf32>) -> tensor<7x2xf32>
    %0 = stablehlo.subtract %x, %all : tensor<7x2xf32>
    return %0, %sum : tensor<7x2xf32>, tensor<2xf32>
  }
}
"""
DOUBLE = """
module {
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""
X = np.arange(14, dtype=np.float32).reshape(7, 2)
SUM = X.sum(axis=0)


def fails(call: Callable[[], Any], *parts: str) -> None:
    try:
        call()
    except shardc.ShardcError as error:
        assert all(part in str(error) for part in parts), str(error)
        return
    raise AssertionError(f"did not fail with {parts}")


def uneven(job: shardc.Job) -> None:
    """Each process gives rows of its own number; three ranks over two processes, or two."""
    assert job.num_devices == 2
    assert list(job.local_devices) == [job.process]
    rows = X[:5] if job.process == 0 else X[5:]
    x = shardc.from_local(rows, shardc.split(0, "x"), mesh={"x": 2})
    assert x.shape == (7, 2)
    assert x.sharding.dims[0].sizes == (5, 2)
    assert not x.is_addressable
    assert [shard.rank for shard in x.shards] == [job.process]
    assert "1 of them here" in repr(x), repr(x)
    fails(lambda: np.asarray(x), "other processes have parts", "gather()")
    program = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[shardc.split(0, "x", sizes=[5, 2])])
    y, total = program(x)
    assert np.array_equal(np.asarray(total), SUM)
    [mine] = y.shards
    assert np.array_equal(mine.data, X[mine.index] - SUM)
    assert np.array_equal(np.asarray(y.gather()), X - SUM)
    # The same of an array that all have.
    y, total = program(X)
    assert np.array_equal(total, SUM)
    assert np.array_equal(np.asarray(y.gather()), X - SUM)
    gathered, _ = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[shardc.split(0, "x")], gather=True)(X)
    assert isinstance(gathered, np.ndarray)
    assert np.array_equal(gathered, X - SUM)
    # What a process can do alone, it does.
    own = shardc.compile(DOUBLE)
    mine = np.full(3, job.process + 1, np.float32)
    assert own(mine).tolist() == (2 * mine).tolist()
    kept = shardc.array(mine)
    assert own(kept).tolist() == (2 * mine).tolist()
    assert (kept.is_addressable, kept.tolist()) == (True, mine.tolist())
    # State that stays, and is waited for at the end.
    y, expected = x, SUM
    for _ in range(20):
        y, total = program(y)
    for _ in range(19):
        expected = expected - 7 * expected
    assert np.allclose(np.asarray(total), expected, rtol=1e-5)
    fails(lambda: shardc.compile(CENTRED, mesh={"x": 3}), "3", "2")
    fails(shardc.init_distributed, "before the first array")


def several(job: shardc.Job) -> None:
    """Two ranks each, on a mesh of two axes."""
    assert (job.num_devices, len(job.local_devices)) == (4, 2)
    mesh = {"a": 2, "b": 2}
    lies = [shardc.split(0, "a"), shardc.split(1, "b")]
    rows = slice(0, 3) if job.process == 0 else slice(3, 7)
    x = shardc.from_local([X[rows, :1], X[rows, 1:]], lies, mesh=mesh)
    assert x.sharding.dims[0].sizes == (3, 4)
    assert np.array_equal(np.asarray(x.gather()), X)
    program = shardc.compile(CENTRED, mesh=mesh, in_shardings=[lies])
    y, total = program(X)
    y = y if isinstance(y, shardc.Array) else shardc.array(y)
    assert np.array_equal(np.asarray(y.gather()), X - SUM)
    fails(lambda: shardc.from_local([X], lies, mesh=mesh), "1 shards are given", "2 of the 4")
    fails(lambda: shardc.from_local([X[:1], X], lies, mesh=mesh, shape=(7, 2)), "brings [1, 2]")
    # A mesh of this process alone.
    alone = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[shardc.split(0, "x")])
    y, total = alone(X * (job.process + 1))
    assert np.array_equal(total, SUM * (job.process + 1))
    assert np.array_equal(y, (X - SUM) * (job.process + 1))


def binds(job: shardc.Job) -> None:
    """One compilation for whatever sizes the processes have; where they do not agree, both say so, and go on."""
    cut = shardc.split(0, "x")
    program = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[cut], dynamic="all")
    try:
        shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[cut], dynamic="all", specialize=1)
        raise AssertionError("processes change over to a static program at different steps")
    except shardc.UnsupportedError as error:
        assert "unsupported: specialize: the program runs in several processes" in str(error), error
    for first in (5, 0, 7, 4, 5):
        rows = X[:first] if job.process == 0 else X[first:]
        y, total = program(shardc.from_local(rows, cut, mesh={"x": 2}))
        assert np.array_equal(np.asarray(total), SUM), first
        [mine] = y.shards
        assert len(mine.data) == len(rows)
        assert np.array_equal(mine.data, X[mine.index] - SUM), first
        assert np.array_equal(np.asarray(y.gather()), X - SUM), first
    for _ in range(2):
        sizes = [4, 3] if job.process == 0 else [5, 2]
        rows = X[:4] if job.process == 0 else X[5:]
        x = shardc.from_local(rows, shardc.split(0, "x", sizes=sizes), mesh={"x": 2}, shape=(7, 2))
        fails(program(x)[0].block_until_ready, "argument 0, dim 0: ranks bring different sizes",
              "rank 0: [4, 3]; rank 1: [5, 2]")
        y, total = program(X)
        assert np.array_equal(np.asarray(total), SUM)


def balances(job: shardc.Job) -> None:
    """All processes choose the same sizes, from what each has measured; state moves between them."""
    taken = calls = 0

    def own_ns(executable: Any) -> list[int]:
        # The second rank is three times as slow. Asked before and after each step.
        nonlocal taken, calls
        calls += 1
        if calls % 2 == 0:
            taken += int(1e8) * (1 + 2 * job.process) * executable.arguments[0].sharding.dims[0].sizes[job.process]
        return [taken]

    _balance._own_ns = own_ns
    program = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[shardc.split(0, "x")], dynamic="all")
    found = shardc.balance(program, X, steps=6, carry={0: 0})
    assert found.sizes == {(0, 0): (5, 2)}, found
    assert abs(found.first_imbalance - 9 / 6.5) < 1e-9, found
    assert abs(found.imbalance - 6 / 5.5) < 1e-9, found
    expected = X
    for _ in range(6):
        expected = expected - expected.sum(axis=0)
    [state] = found.arguments
    assert state.sharding.dims[0].sizes == (5, 2)
    assert np.array_equal(np.asarray(state.gather()), expected)
    y, _ = found.program(state)
    assert np.array_equal(np.asarray(y.gather()), expected - expected.sum(axis=0))


def dies(job: shardc.Job) -> None:
    program = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[shardc.split(0, "x")])
    program(X)
    if job.process == 1:
        os._exit(3)
    fails(lambda: program(X)[1], "rank 1", "is gone")


def raises(job: shardc.Job) -> None:
    """What most failures look like: an exception, and Python ends."""
    program = shardc.compile(CENTRED, mesh={"x": 2}, in_shardings=[shardc.split(0, "x")])
    program(X)
    if job.process == 1:
        sys.exit(4)
    fails(lambda: program(X)[1], "rank 1", "has left the job")


ROLES: Mapping[str, Callable[[shardc.Job], None]] = {
    "uneven": uneven, "several": several, "binds": binds, "balances": balances, "dies": dies, "raises": raises}


def variables(how: str, rank: int, port: int) -> dict[str, str]:
    """What a launcher says to process ``rank`` of two."""
    if how == "torchrun":
        return {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    if how == "mpirun":
        return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
                "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": f"test{port}"}
    if how == "srun":
        return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": str(rank), "SLURM_STEP_ID": "0",
                "SLURM_NTASKS_PER_NODE": "2", "SLURM_JOB_ID": str(port), "SLURM_STEP_NODELIST": "localhost"}
    return {}


def start(role: str, how: str, transport: str = "", devices: int = 1) -> list[int]:
    """Exit statuses of two processes."""
    port = free_port()
    children = [subprocess.Popen([sys.executable, __file__, role, how, str(rank), str(port), transport],
                                 env=os.environ | variables(how, rank, port) | {"SHARDC_DEVICES": str(devices)})
                for rank in range(2)]
    return [child.wait(timeout=250) for child in children]


def main() -> None:
    fails(lambda: shardc.init_distributed("localhost:1"), "together")
    fails(lambda: shardc.init_distributed("here", 2, 0), "HOST:PORT")
    fails(lambda: shardc.init_distributed("localhost:1", 2, 2), "process 2 of 2")
    for how in ("torchrun", "mpirun", "srun", "said"):
        assert start("uneven", how) == [0, 0], how
    assert start("uneven", "said", "tcp") == [0, 0]
    assert start("several", "torchrun", devices=2) == [0, 0]
    assert start("binds", "said") == [0, 0]
    assert start("binds", "torchrun", "tcp") == [0, 0]
    assert start("balances", "said") == [0, 0]
    assert start("dies", "said") == [0, 3]
    assert start("raises", "said") == [0, 4]
    assert start("raises", "said", "tcp") == [0, 4]
    # Nobody says anything: a process alone.
    job = shardc.init_distributed()
    assert (job.process, job.processes, job.num_devices) == (0, 1, 1)
    print("all good")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        role, how, rank, port, transport = sys.argv[1:]
        given = (f"127.0.0.1:{port}", 2, int(rank)) if how == "said" else ()
        ROLES[role](shardc.init_distributed(*given, transport=transport or None))

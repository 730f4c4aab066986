"""Several processes, each with some of the ranks: how they join, give their shards and gather them."""

import dataclasses
import functools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from shardc._array import Array, array, sharding_for
from shardc._engine import Engine, engine_for, join
from shardc._errors import UsageError
from shardc._native import JobOptions
from shardc._program import compile
from shardc._sharding import Dim, Sharding
from shardc._specs import axes_of, cuts_of_leaf, mesh_of
from shardc._types import DType, name_of


@dataclasses.dataclass(frozen=True)
class Job:
    """The result of init_distributed()."""

    process: int
    processes: int
    local_devices: range
    """Of this process, among those of all."""
    num_devices: int
    """Of all processes."""


def _number(what: str, text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise UsageError(2, f"{what}={text}: expected a number from {least} on")
    return int(text)


def init_distributed(address: str | None = None, processes: int | None = None, process: int | None = None, *,
                     devices: int | None = None, timeout: float = 120, transport: str | None = None) -> Job:
    """Make this process one of several that run programs together; before the first array and the first program.

    Without arguments the launcher says which process of how many this is (torchrun, mpirun, srun, and MASTER_ADDR and
    MASTER_PORT: docs/Reference/shard-run.md); where it says nothing, there is one.

    Args:
        address: "HOST:PORT" of the first process, the same for all.
        processes: how many there are.
        process: which of them this is, from 0 on.
        devices: of this process, the same number in all; None: SHARDC_DEVICES, or one.
        timeout: how many seconds to wait for processes that come late.
        transport: "shared": memory that processes of one host share; "tcp": sockets; None: the first where it can be.

    Raises: UsageError for numbers that make no sense, and where this process has devices already; RunError where the
    others do not come.
    """
    given = [value is not None for value in (address, processes, process)]
    if any(given) and not all(given):
        raise UsageError(2, "init_distributed() takes address, processes and process together, or none of them")
    options = JobOptions(timeout_ms=max(1, int(timeout * 1000)))
    options.transport = transport.encode() if transport else None
    if address is not None and processes is not None and process is not None:
        host, colon, port = address.rpartition(":")
        if not colon:
            raise UsageError(2, f"address {address!r}: expected HOST:PORT")
        options.host, options.port = (host or "127.0.0.1").encode(), _number("port", port, 1)
        options.processes, options.process = processes, process
    count = devices if devices is not None else _number("SHARDC_DEVICES", os.environ.get("SHARDC_DEVICES") or "1", 1)
    engine = join(count, options)
    return Job(engine.library.engine_process(engine.handle), engine.library.engine_num_processes(engine.handle),
               range(engine.first, engine.first + engine.num_local), engine.num_devices)


def from_local(shards: Any, sharding: Any, *, mesh: Any = None, shape: Sequence[int] | None = None) -> Array:
    """An array of which each process gives its shards; all processes of it call this.

    Args:
        shards: what the ranks of this process hold: an array, or, with several ranks, a list of them.
        sharding: as array() takes it. Sizes may differ from rank to rank.
        mesh: axes and sizes, where the sharding has none of its own.
        shape: of the whole array, whose shards have the sizes that ``sharding`` says, or balanced ones; None: the
            processes exchange the shapes of their shards.

    Raises: UsageError for shards that do not fit together.
    """
    axes = mesh_of(sharding) or axes_of(mesh) or {}
    ranks = math.prod(axes.values())
    engine = engine_for(ranks)
    here = [rank for rank, device in enumerate(engine.devices_of(ranks)) if engine.is_here(device)]
    parts = [numpy.asarray(part) for part in (shards if isinstance(shards, (list, tuple)) else [shards])]
    if len(parts) != len(here):
        raise UsageError(2, f"{len(parts)} shards are given, but this process has {len(here)} of the {ranks} ranks")
    kind, ndim = parts[0].dtype, parts[0].ndim
    if any(part.dtype != kind or part.ndim != ndim for part in parts):
        raise UsageError(2, "the shards of this process differ in type, or in the number of dims")
    if shape is None and not isinstance(sharding, Sharding):
        shapes = share_integers(engine, ranks, [part.shape for part in parts])
        lies = _fit(shapes, axes, cuts_of_leaf(sharding, ndim) or [])
    else:
        lies = sharding_for(tuple(shape) if shape is not None else sharding.shape, sharding, axes)
    layout = engine.layout_of(lies, kind)
    for rank, part in zip(here, parts):
        expected = tuple(end - begin for begin, end in layout.boxes[rank])
        if part.shape != expected:
            raise UsageError(2, f"rank {rank} brings {list(part.shape)}, but its shard is {list(expected)} of "
                                f"{list(lies.shape)}")
    handles: list[int | None] = [None] * ranks
    for rank, part in zip(here, parts):
        handles[rank] = engine.buffer_of(part, engine.devices_of(ranks)[rank], borrow=False)
    return Array._make(engine, lies, layout, handles, None)


def share_integers(engine: Engine, ranks: int, mine: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """What all ranks say: as many integers each. ``mine`` are those of the ranks of this process."""
    count = len(mine[0])
    if len(mine) == ranks or count == 0:
        return list(mine) if len(mine) == ranks else [()] * ranks
    lies = Sharding((("ranks", ranks),), (Dim(("ranks",), tuple(range(ranks + 1))), Dim((), (0, count))))
    layout = engine.layout_of(lies, numpy.dtype("int64"))
    rows = iter(mine)
    handles = [engine.buffer_of(numpy.array([next(rows)], "int64"), device, borrow=False)
               if engine.is_here(device) else None for device in engine.devices_of(ranks)]
    table = numpy.asarray(gather(Array._make(engine, lies, layout, handles, None)))
    return [tuple(map(int, row)) for row in table]


def _fit(shapes: Sequence[tuple[int, ...]], mesh: Mapping[str, int], cuts: Sequence[Any]) -> Sharding:
    """The sharding of an array whose shards have these shapes, by rank."""
    axes: list[list[str]] = [[] for _ in shapes[0]]
    for cut in cuts:
        axes[cut.dim].append(cut.axis)
    # Says what is wrong with the cuts themselves.
    plain = sharding_for(tuple(0 for _ in axes), [dataclasses.replace(cut, sizes=None) for cut in cuts] or None, mesh)
    dims = []
    for dim, names in enumerate(axes):
        sizes: dict[int, int] = {}
        for rank, extents in enumerate(shapes):
            shard = plain.coordinate(rank, names)
            if sizes.setdefault(shard, extents[dim]) != extents[dim]:
                raise UsageError(2, f"rank {rank} brings {list(extents)}: dim {dim} has {extents[dim]} elements there, "
                                    f"but {sizes[shard]} on a rank with the same part of it")
        boundaries = [0]
        for shard in sorted(sizes):
            boundaries.append(boundaries[-1] + sizes[shard])
        dims.append(Dim(tuple(names), tuple(boundaries)))
    return Sharding(tuple(mesh.items()), tuple(dims))


@functools.lru_cache(maxsize=64)
def _gatherer(mesh: tuple[tuple[str, int], ...], shape: tuple[int, ...], axes: tuple[tuple[str, ...], ...],
              kind: DType) -> Any:
    """A program that has all of its argument on each rank, in whatever sizes that is cut."""
    tensor = f"tensor<{''.join(f'{size}x' for size in shape)}{name_of(kind)}>"
    named = ", ".join(f'"{name}"={size}' for name, size in mesh)
    cut = ", ".join("{" + ", ".join(f'"{axis}"' for axis in names) + "}" for names in axes)
    whole_dims = ", ".join("{}" for _ in axes)
    text = (f"module @gather {{\n  sdy.mesh @mesh = <[{named}]>\n"
            f"  func.func @main(%x: {tensor} {{sdy.sharding = #sdy.sharding<@mesh, [{cut}]>}}) -> "
            f"({tensor} {{sdy.sharding = #sdy.sharding<@mesh, [{whole_dims}]>}}) {{\n"
            f"    return %x : {tensor}\n  }}\n}}\n")
    return compile(text, dynamic="all" if any(axes) else None, gather=False)


def gather(value: Array) -> Array:
    """All of it on each of its devices; called by all processes that have a part."""
    lies = value.sharding
    result = _gatherer(lies.mesh, lies.shape, tuple(dim.axes for dim in lies.dims), value.dtype)(value)
    if not isinstance(result, Array):
        return array(result)
    return result


Array._gatherer = gather

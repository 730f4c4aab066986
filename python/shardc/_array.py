"""Arrays that lie in shards on the devices of an engine."""

import ctypes
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy

from shardc._engine import Engine, Pending, check_process, engine_for, packed, unpacked
from shardc._errors import UsageError
from shardc._native import Handle
from shardc._sharding import Box, Layout, Sharding, describe_dims, whole
from shardc._specs import cuts_of_leaf, loaded_jax, mesh_of
from shardc._types import DType, describe

NDArray = numpy.ndarray[Any, Any]


def _shape_of(box: Box) -> tuple[int, ...]:
    return tuple(end - begin for begin, end in box)


def _within(box: Box, origin: Box) -> tuple[Any, ...]:
    """The index of a box in an array that holds ``origin``; gives an array also where there are no dims."""
    return (*(slice(begin - first, end - first) for (begin, end), (first, _) in zip(box, origin)), ...)


def _overlap(one: Box, other: Box) -> Box | None:
    box = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other))
    return None if any(begin >= end for begin, end in box) else box


Pieces = list[tuple[Box, NDArray]]
"""Parts of an array in host memory; together they are all of it."""


def cut_out(pieces: Pieces, box: Box) -> tuple[NDArray, bool]:
    """The elements of a box, and whether they are a copy: a view where one piece has all of them."""
    for held, data in pieces:
        if all(first <= begin and end <= last for (begin, end), (first, last) in zip(box, held)):
            return data[_within(box, held)], False
    result = numpy.empty(_shape_of(box), pieces[0][1].dtype)
    for held, data in pieces:
        if (both := _overlap(box, held)) is not None:
            result[_within(both, box)] = data[_within(both, held)]
    return result, True


class _View:
    """Memory of a buffer, for NumPy to look at: held, and not written over, until the last look."""

    def __init__(self, engine: Engine, buffer: Handle, shape: tuple[int, ...], dtype: DType, writable: bool) -> None:
        self._engine, self._buffer = engine, buffer
        engine.library.buffer_retain(buffer)
        engine.library.buffer_pin(buffer)
        kind = dtype.str if dtype.kind in "biufc" and dtype.isbuiltin == 1 else f"|V{dtype.itemsize}"
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": kind,
                                    "data": (engine.library.buffer_data(buffer), not writable)}

    def __del__(self) -> None:
        self._engine.library.buffer_unpin(self._buffer)
        self._engine.release([self._buffer])


def _view(engine: Engine, buffer: Handle, shape: tuple[int, ...], dtype: DType, writable: bool = False) -> NDArray:
    if 0 in shape:
        return numpy.empty(shape, dtype)
    if engine.library.buffer_is_deleted(buffer):
        raise UsageError(2, "the array was deleted: given up to a program that it was donated to, or by delete()")
    if engine.target == "cuda":
        result = numpy.empty(shape, dtype)
        engine.library.check(engine.library.buffer_to_host(buffer, result.__array_interface__["data"][0], None, None))
        return result
    view: NDArray = numpy.asarray(_View(engine, buffer, shape, dtype, writable))
    return view if view.dtype == dtype else view.view(dtype)


@dataclasses.dataclass(frozen=True)
class Shard:
    """What one rank holds of an array."""

    rank: int
    index: tuple[slice, ...]
    """Where it lies in the whole array."""
    data: NDArray
    """Its elements; a view that cannot be written to."""


_new: Any = object.__new__

Kind = tuple[Engine, Sharding, Callable[[bytes], None]]
"""What many arrays have in common: where they are, how they lie, and what takes their handles in the end."""


class Array:
    """An array that lies in shards on devices, and stays there until somebody looks at it.

    ``program(...)`` gives such arrays where it is given such; ``shardc.array()`` and ``program.put()`` make them.
    ``numpy.asarray(array)`` waits for it and gathers it: without a copy where one rank has all of it. It cannot be
    changed, but be given up: by ``delete()``, or to a program that its argument is donated to.
    """

    __slots__ = ("__weakref__", "_kind", "_layout", "_packed", "_pending")

    _kind: Kind
    _layout: Layout
    _packed: bytes
    """Handles by rank, as packed() makes them."""
    _pending: Pending | None

    _gatherer: ClassVar[Callable[["Array"], "Array"] | None] = None
    """What gather() does. That is a program, and programs have arrays: it is put here from above."""

    def __new__(cls, *_: Any) -> "Array":
        """Raises: TypeError."""
        raise TypeError("arrays are made by shardc.array(), Program.put() and programs")

    @staticmethod
    def _make(engine: Engine, sharding: Sharding, layout: Layout, handles: Sequence[Handle | None],
              pending: Pending | None) -> "Array":
        """Takes over the references in ``handles``, one for each rank."""
        array = _new(Array)
        array._kind = engine, sharding, engine.release_packed if pending is None else engine.taker_of(layout)
        array._layout = layout
        array._packed = packed(handles)
        array._pending = pending
        return array

    @staticmethod
    def _make_all(kinds: Sequence[Kind], layouts: Sequence[Layout], handles: Iterable[bytes],
                  pending: Pending | None) -> list["Array"]:
        """Make many at once: a call for each would be a tenth of what a call of a program takes."""
        array: Array
        if len(kinds) == 1:
            array = _new(Array)
            (array._kind,), (array._layout,), (array._packed,) = kinds, layouts, handles
            array._pending = pending
            return [array]
        made: list[Array] = list(map(_new, itertools.repeat(Array, len(kinds))))
        for array, array._kind, array._layout, array._packed in zip(made, kinds, layouts, handles):
            array._pending = pending
        return made

    def __del__(self) -> None:
        self._kind[2](self._packed)

    @property
    def _engine(self) -> Engine:
        return self._kind[0]

    @property
    def _sharding(self) -> Sharding:
        return self._kind[1]

    @property
    def _handles(self) -> list[Handle | None]:
        """By rank; None: of another process."""
        return unpacked(self._packed)

    # What it is.

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole array."""
        return self._layout.shape

    @property
    def dtype(self) -> DType:
        """Of its elements."""
        return self._layout.dtype

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """The number of elements of the whole array."""
        result = 1
        for extent in self._layout.shape:
            result *= extent
        return result

    @property
    def nbytes(self) -> int:
        """Of the whole array, once."""
        return self.size * self._layout.dtype.itemsize

    @property
    def sharding(self) -> Sharding:
        """The mesh, and the axes and boundaries of each dim."""
        return self._sharding

    @property
    def shards(self) -> list[Shard]:
        """What each rank of this process holds, as NumPy arrays on its memory. Waits, and raises, as
        block_until_ready().
        """
        self.block_until_ready()
        dtype = self._layout.dtype
        return [Shard(rank, tuple(slice(*extent) for extent in box),
                      _view(self._engine, handle, _shape_of(box), dtype))
                for rank, (box, handle) in enumerate(zip(self._layout.boxes, self._handles)) if handle is not None]

    @property
    def is_addressable(self) -> bool:
        """Whether this process has all of it: else ``numpy.asarray`` needs gather() first."""
        if None not in self._handles:
            return True
        here = {box for box, handle in zip(self._layout.boxes, self._handles) if handle is not None}
        return all(box in here or any(begin >= end for begin, end in box) for box in self._layout.boxes)

    def gather(self) -> "Array":
        """The same elements, all of them on each device; all processes that have a part of it call this."""
        # All processes must reach the same decision: one may have all elements, and another none.
        everything = whole(self._layout.shape)
        if None not in self._handles and self._layout.is_whole:
            return self
        if all(box == everything for box in self._layout.boxes):
            return self
        if Array._gatherer is None:
            raise NotImplementedError("arrays are gathered by a program: import shardc")
        return Array._gatherer(self)

    def _need_all(self) -> None:
        if None in self._handles and not self.is_addressable:
            raise UsageError(2, f"{self!r}: other processes have parts of it; array.gather(), called by all of them, "
                                "brings them here, array.shards has those of this one")

    def _first(self) -> Handle:
        """A buffer of this process."""
        return next((handle for handle in self._handles if handle is not None), 0)

    def _whole(self) -> NDArray | None:
        """A view of it, where a rank of this process has all of it."""
        everything = whole(self._layout.shape)
        for box, handle in zip(self._layout.boxes, self._handles):
            if box == everything and handle is not None:
                return _view(self._engine, handle, self._layout.shape, self._layout.dtype)
        return None

    def __repr__(self) -> str:
        kind = describe(self.dtype, self.shape)
        mesh = ", ".join(f"{name}={size}" for name, size in self._sharding.mesh)
        cut = f" {describe_dims(self._sharding.dims)}" if any(dim.axes for dim in self._sharding.dims) else ""
        ranks = f", {len(self._handles)} ranks" if len(self._handles) > 1 else ""
        if others := self._handles.count(None):
            ranks += f", {len(self._handles) - others} of them here"
        if self.is_deleted():
            state = ", deleted"
        elif not self.is_ready():
            state = ", being computed"
        elif self.size <= 8 and self.is_addressable and (self._pending is None or self._pending.is_done):
            state = f", {numpy.array2string(numpy.asarray(self), separator=', ')}"
        else:
            state = ""
        return f"shardc.Array({kind}{cut}{' on ' + mesh if mesh else ''}{ranks}{state})"

    # When it is there.

    def is_ready(self) -> bool:
        """Whether it is computed, or failed."""
        return self._pending is None or self._pending.is_ready()

    def block_until_ready(self) -> "Array":
        """Wait until it is computed; itself. Ctrl-C ends the wait, not the computation.

        Raises: RunError, each time, if the program that computes it failed.
        """
        check_process()
        if self._pending is not None:
            self._pending.wait()
        return self

    def delete(self) -> None:
        """Give its memory back as soon as nobody needs it who was given it before; what is done with it later fails."""
        check_process()
        for handle in self._handles:
            if handle is not None:
                self._engine.library.buffer_delete(handle)

    def is_deleted(self) -> bool:
        """Whether it was given up."""
        check_process()
        return bool(self._engine.library.buffer_is_deleted(self._first()))

    # As an array of the host.

    def _pieces(self) -> Pieces:
        """Its shards, each box once."""
        self._need_all()
        self.block_until_ready()
        seen: dict[Box, Handle] = {}
        for box, handle in zip(self._layout.boxes, self._handles):
            if handle is not None:
                seen.setdefault(box, handle)
        return [(box, _view(self._engine, handle, _shape_of(box), self._layout.dtype)) for box, handle in seen.items()]

    def _gather(self, out: NDArray) -> None:
        """Copy all elements into ``out``, each once."""
        self._need_all()
        self.block_until_ready()
        if self.is_deleted():
            raise UsageError(2, f"{self!r}: cannot be read")
        library, layout = self._engine.library, self._layout
        done: set[Box] = set()
        for box, handle in zip(layout.boxes, self._handles):
            if handle is None or box in done or any(begin >= end for begin, end in box):
                continue
            done.add(box)
            part = out[_within(box, whole(layout.shape))]
            strides = (ctypes.c_int64 * part.ndim)(*part.strides)
            library.check(library.buffer_to_host(handle, part.__array_interface__["data"][0],
                                                 ctypes.addressof(strides), None))

    def _to_numpy(self) -> NDArray:
        """A copy that is the caller's."""
        out = numpy.empty(self._layout.shape, self._layout.dtype)
        self._gather(out)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """All of it: a view that cannot be written to where one rank has it, else a copy."""
        layout = self._layout
        other = dtype is not None and numpy.dtype(dtype) != layout.dtype
        if copy is False and (other or not layout.is_whole):
            raise ValueError(f"{self!r} needs a copy to be {numpy.dtype(dtype or layout.dtype)} in one piece")
        result = None
        if not copy and layout.is_whole:
            self.block_until_ready()
            result = self._whole()
        if result is None:
            result = self._to_numpy()
        return result.astype(dtype) if other else result

    def __dlpack__(self, **options: Any) -> Any:
        """A capsule on its memory where one rank has all of it, else on a copy."""
        if self._layout.is_whole:
            self.block_until_ready()
            boxes = zip(self._layout.boxes, self._handles)
            everything = whole(self.shape)
            handle = next((handle for box, handle in boxes if handle is not None and box == everything), None)
            if handle is None:
                return self._to_numpy().__dlpack__(**options)
            # DLPack cannot say "not to be written to"; who takes it keeps to that.
            return _view(self._engine, handle, self.shape, self.dtype, writable=True).__dlpack__(**options)
        return self._to_numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The host."""
        return (1, 0)

    def __getitem__(self, index: Any) -> Any:
        """Of the whole array, as NumPy does."""
        return numpy.asarray(self)[index]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dims")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(numpy.asarray(self))

    def __float__(self) -> float:
        return float(numpy.asarray(self))

    def __int__(self) -> int:
        return int(numpy.asarray(self))

    def __bool__(self) -> bool:
        return bool(numpy.asarray(self))

    def __complex__(self) -> complex:
        return complex(numpy.asarray(self))

    def __format__(self, how: str) -> str:
        return format(numpy.asarray(self)[()], how) if how and not self.shape else str(self)

    def item(self) -> Any:
        """The only element, as a Python number."""
        return numpy.asarray(self).item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return numpy.asarray(self).tolist()

    def __copy__(self) -> "Array":
        return self

    def __deepcopy__(self, memory: Any) -> "Array":
        return self

    def __reduce__(self) -> Any:
        return (array, (self._to_numpy(), self._sharding))

    # As it lies elsewhere.

    def reshard(self, sharding: Any, mesh: Mapping[str, int] | None = None) -> "Array":
        """The same elements cut otherwise, as array() takes it; itself where ranks hold the same boxes.

        Shards that stay what they are, are not copied.
        """
        return array(self, sharding, mesh=mesh)


def _is_jax(value: Any) -> bool:
    jax = loaded_jax()
    return jax is not None and isinstance(value, jax.Array)


def _jax_pieces(value: Any) -> Pieces | None:
    """Of a JAX array over several devices; None for others."""
    if not _is_jax(value) or not hasattr(value, "addressable_shards"):
        return None
    if len(value.addressable_shards) < 2 or not value.is_fully_addressable:
        return None
    pieces: dict[Box, NDArray] = {}
    for shard in value.addressable_shards:
        box = tuple(part.indices(size)[:2] for part, size in zip(shard.index, value.shape))
        if box not in pieces:
            pieces[box] = numpy.asarray(shard.data)
    return list(pieces.items())


def host_array(value: Any) -> NDArray:
    """A value as NumPy has it: numbers, arrays, what speaks DLPack or ``__array__``; no copy where that can be."""
    if isinstance(value, numpy.ndarray):
        return value
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return numpy.from_dlpack(value)
    return numpy.asarray(value)


def pieces_of(value: Any) -> tuple[Pieces, bool]:
    """Parts that make up a value, and whether they can change while somebody looks."""
    if isinstance(value, Array):
        return value._pieces(), False
    if (pieces := _jax_pieces(value)) is not None:
        return pieces, False
    data = host_array(value)
    return [(whole(data.shape), data)], not _is_jax(value)


def place(engine: Engine, value: Any, layout: Layout, borrow: bool | None = None,
          own: bool = False) -> list[Handle | None]:
    """Buffers with the shards of ``value``, one for each rank of this process.

    Args:
        value: anything that array() takes, of the layout's shape and type.
        borrow: look into host memory that the caller does not change meanwhile; None: where it cannot change.
        own: no two ranks share memory, and none borrows: a program may write over it.
    """
    if isinstance(value, Array) and value._engine is engine:
        value.block_until_ready()
        given = {place: handle for place, handle in zip(enumerate(value._layout.boxes), value._handles)
                 if handle is not None}
        held: dict[tuple[int, Box], Handle] = \
            given if len(value._handles) == len(layout.boxes) or not engine.is_member else {}
        by_box = {box: handle for (_, box), handle in given.items()}
    else:
        held, by_box = {}, {}
    pieces: Pieces | None = None
    may_change = False
    handles: list[Handle | None] = []
    mine: dict[Box, Handle] = {}
    try:
        for rank, (box, device) in enumerate(zip(layout.boxes, engine.devices_of(len(layout.boxes)))):
            if engine.is_member and not engine.is_here(device):
                handles.append(None)
                continue
            if (handle := held.get((rank, box))) is not None:
                engine.library.buffer_retain(handle)
            elif (handle := by_box.get(box)) is not None or (not own and (handle := mine.get(box)) is not None):
                handle = engine.copy_to(handle, device)
            else:
                if pieces is None:
                    pieces, may_change = pieces_of(value)
                part, is_copy = cut_out(pieces, box)
                lend = is_copy or (not may_change if borrow is None else borrow)
                handle = mine[box] = engine.buffer_of(part, device, lend and not own)
            handles.append(handle)
    except BaseException:
        engine.release(handles)
        raise
    return handles


def array(value: Any, sharding: Any = None, *, mesh: Mapping[str, int] | None = None, dtype: Any = None,
          copy: bool | None = None) -> Array:
    """An array on devices of this process.

    Args:
        value: a number, nested lists, an array of NumPy or JAX, what speaks DLPack (torch), or a shardc.Array.
        sharding: a ``Sharding`` (``program.in_shardings`` has them), ``split()`` or a list of those, a
            ``jax.sharding.PartitionSpec`` or ``NamedSharding``; None: whole, on the first device, or on each of
            ``mesh``.
        mesh: axes and sizes, for shardings that have none of their own.
        dtype: convert elements to it; None: as they are.
        copy: True: always; False: look into the value's own memory, which nobody may change then (where alignment, 64
            bytes, and layout allow; it is copied elsewhere); None: look into what cannot change, JAX's arrays and
            shardc's.

    Raises: UsageError for a sharding that the value cannot have, or types that programs do not have.
    """
    if isinstance(value, Array):
        shape, kind = value.shape, value.dtype
    else:
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            value = numpy.asarray(value)
        elif not isinstance(value, numpy.ndarray) and _jax_pieces(value) is None:
            copy = False if _is_jax(value) and copy is None else copy
            value = host_array(value)
        shape, kind = tuple(value.shape), numpy.dtype(value.dtype)
    if dtype is not None and numpy.dtype(dtype) != kind:
        value, kind, copy = numpy.asarray(value).astype(dtype), numpy.dtype(dtype), False
    if not kind.isnative:
        kind = kind.newbyteorder("=")
        value, copy = numpy.asarray(value).astype(kind), False
    lies = sharding_for(shape, sharding, mesh)
    if isinstance(value, Array) and value._sharding == lies and not copy:
        return value
    engine = engine_for(lies.num_ranks)
    if isinstance(value, Array) and value._engine.num_devices >= lies.num_ranks:
        engine = value._engine
    layout = engine.layout_of(lies, kind)
    handles = place(engine, value, layout, None if copy is None else not copy, own=bool(copy))
    return Array._make(engine, lies, layout, handles, None)


def sharding_for(shape: tuple[int, ...], sharding: Any, mesh: Mapping[str, int] | None) -> Sharding:
    """What a user means by a sharding for an array of ``shape``."""
    if isinstance(sharding, Sharding):
        if sharding.shape != shape:
            raise UsageError(2, f"{sharding!r} is of an array of shape {list(sharding.shape)}, not {list(shape)}")
        return sharding
    axes = mesh_of(sharding)
    if axes is not None and mesh is not None and dict(axes) != dict(mesh):
        raise UsageError(2, f"the sharding is of mesh {dict(axes)}, but mesh={dict(mesh)}")
    axes = axes if axes is not None else dict(mesh or {})
    cuts = None if sharding is None else cuts_of_leaf(sharding, len(shape))
    return Sharding.of(shape, axes, cuts or ())

"""A compiled program in this process: what it takes and gives, and how it is run."""

import ctypes
import dataclasses
import enum
import functools
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy

from shardc._annotate import donated_arguments
from shardc._array import Array
from shardc._engine import HANDLE_BYTES, MOST_DEAD, Engine, Pending, check_process, engine_for, is_child
from shardc._errors import UsageError
from shardc._host import HostContext, host_fn
from shardc._native import (
    Binding,
    Bytes,
    ExecuteOptions,
    GivenSizes,
    Handle,
    Option,
    ProgramCosts,
    SiteStats,
    json_of,
)
from shardc._sharding import Layout, Sharding, describe_dim
from shardc._types import DType, describe, extended_type, type_of

MOST_RANKS = 65536
"""No mesh has more."""
_NEUTRAL: dict[str, Any] = {"sum": 0, "product": 1, "xor": 0}
"""Of what is given in parts: the value of all parts but the first. Where it is not named, all parts are alike."""


class Unsaid(enum.Enum):
    """What a binding says of a dim that is not known before."""

    NOTHING = enum.auto()
    SIZES = enum.auto()
    EXTENT = enum.auto()


@dataclasses.dataclass(frozen=True)
class Place:
    """An argument or result of a program."""

    name: str
    """As the model's author calls it; may be empty."""
    sharding: Sharding
    layout: Layout
    donated: bool
    """Given up by a call, if it is an argument."""
    neutral: tuple[Any, ...] | None
    """Of an argument that arrives in parts: by rank, None where the rank gives its own, else the value it gives."""
    unsaid: tuple[Unsaid, ...] = ()
    """What is still open of each dim."""

    def __str__(self) -> str:
        """``f32[8,4] [x 5|3, :]``; ``f32[?,4] [x ?, :]`` of what nothing is bound to yet."""
        open_of = self.unsaid or (Unsaid.NOTHING,) * len(self.shape)
        shape = ["?" if open_ is Unsaid.EXTENT else size for size, open_ in zip(self.shape, open_of)]
        text = describe(self.dtype, shape)
        if not any(dim.axes for dim in self.sharding.dims):
            return text
        cut = [describe_dim(dim.axes, ["?"] if open_ is not Unsaid.NOTHING else dim.sizes)
               for dim, open_ in zip(self.sharding.dims, open_of)]
        return f"{text} [{', '.join(cut)}]"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole array."""
        return self.layout.shape

    @property
    def dtype(self) -> DType:
        """Of its elements."""
        return self.layout.dtype


class _Frame:
    """Memory for the arguments of one call of shardc_execute, used again."""

    __slots__ = ("by_argument", "by_result", "done", "done_at", "inputs", "outputs", "results", "start")

    def __init__(self, ranks: int, num_arguments: int, num_results: int) -> None:
        arguments = numpy.zeros((ranks, num_arguments), numpy.uint64)
        self.results = numpy.zeros((ranks, num_results), numpy.uint64)
        self.by_argument, self.by_result = arguments.T, self.results.T
        # Where a table has one row or column, either order is the other one.
        self.start = arguments.ctypes.data if min(arguments.shape) == 1 else None
        self.inputs, self.outputs = _rows(arguments), _rows(self.results)
        self.done = ctypes.c_void_p()
        self.done_at = ctypes.addressof(self.done)

    def fill(self, arguments: Iterable[bytes]) -> None:
        """Take the shards of each argument, packed."""
        table = self.by_argument
        if self.start is not None:
            packed = b"".join(arguments)
            ctypes.memmove(self.start, packed, len(packed))
        elif table.size:
            table[...] = numpy.frombuffer(b"".join(arguments), numpy.uint64).reshape(table.shape)


def _rows(table: Any) -> Any:
    """Where the rows of a table begin, for C."""
    start, step = table.ctypes.data, table.strides[0]
    return (ctypes.c_void_p * len(table))(*(start + rank * step for rank in range(len(table))))


class Executable:
    """A program on an engine."""

    def __init__(self, engine: Engine, handle: Handle, donated: Sequence[bool], is_bound: bool = False) -> None:
        """Takes over the handle; ``donated``: which arguments a call gives up."""
        self.engine = engine
        self.is_bound = is_bound
        self._library = library = engine.library
        self.handle = handle
        self.metadata: dict[str, Any] = json_of(library.program_metadata(handle))
        self.num_ranks: int = library.program_num_ranks(handle)
        count = len(self.metadata["arguments"])
        self._donated = given_up = [*donated[:count], *[False] * (count - len(donated))]
        self.arguments = [self._place(value, is_given) for value, is_given in zip(self.metadata["arguments"], given_up)]
        self.results = [self._place(value, False) for value in self.metadata["results"]]
        self._flags = (ctypes.c_uint8 * count)(*given_up)
        self._devices = (ctypes.c_int64 * self.num_ranks)(*engine.devices_of(self.num_ranks))
        self._options = ExecuteOptions(donated=ctypes.addressof(self._flags), host=host_fn, omit_done=True)
        self._nothing = (ctypes.c_uint8 * count)()
        self._lending = ExecuteOptions(donated=ctypes.addressof(self._nothing), host=host_fn, omit_done=True)
        if engine.is_member:
            self._options.devices = self._lending.devices = ctypes.addressof(self._devices)
        self._options_at, self._lending_at = ctypes.byref(self._options), ctypes.byref(self._lending)
        self.layouts = [place.layout for place in self.arguments]
        self._kinds = [(engine, place.sharding, engine.taker_of(place.layout)) for place in self.results]
        self._layouts = [place.layout for place in self.results]
        self._cut = struct.Struct(f"{HANDLE_BYTES * self.num_ranks}s" * len(self.results)).unpack
        """From a table of all results' handles to those of each."""
        self._frames: list[_Frame] = []
        self._elsewhere: dict[int, Executable] = {}
        """The same on engines of more devices, by how many ranks asked for them."""
        self.open_dims = [(number, dim) for number, value in enumerate(self.metadata["arguments"])
                          for dim, lies in enumerate(value["dims"]) if lies.get("dynamic") or lies.get("open")]
        """Arguments and dims whose sizes were left open."""
        self.open_extents = {(number, dim) for number, value in enumerate(self.metadata["arguments"])
                             for dim, lies in enumerate(value["dims"]) if lies.get("open")}
        """Those of which it was left open how many elements there are."""

    @staticmethod
    def compile(text: str, options: Sequence[tuple[str, str]], num_ranks: int) -> "Executable":
        """Compile for an engine of as many devices as it needs; ``num_ranks`` is a guess.

        Raises: RefusedError, UnsupportedError, UsageError with the compiler's diagnostic; what handlers of signals
        raise, while it is compiled.
        """
        model = text.encode()
        # Ordered effects are JAX's affair: nobody gives or gets their tokens here.
        options = [*options, ("drop-tokens", "true")]
        given = (Option * len(options))()
        for place, (name, value) in zip(given, options):
            place.name, place.value = name.encode(), value.encode()

        return Executable._made(lambda engine, program: engine.compile(model, given, program), num_ranks,
                                donated_arguments(text))

    @staticmethod
    def load(artifact: bytes) -> "Executable":
        """Load what serialize() gave. Raises: RefusedError for what is damaged."""
        # The metadata in it say how many devices it needs; what they are not is refused by the engine.
        found = re.search(rb'"mesh":\[((?:\{"name":"[^"\0]*","size":\d+\},?)*)\]', artifact)
        sizes = re.findall(rb'"size":(\d+)', found.group(1)) if found else []
        return Executable._made(lambda engine, program: engine.library.program_load(
            engine.handle, artifact, len(artifact), program), math.prod(map(int, sizes)), [])

    @staticmethod
    def _made(make: Callable[[Engine, Any], Handle | None], num_ranks: int, donated: Sequence[bool]) -> "Executable":
        engine = engine_for(num_ranks)
        while True:
            program = ctypes.c_void_p()
            engine.library.check(make(engine, ctypes.byref(program)))
            made = Executable(engine, program.value or 0, donated)
            if made.num_ranks <= engine.num_devices:
                return made
            engine = engine_for(made.num_ranks)

    def bind(self, sizes: Mapping[tuple[int, int], Sequence[int]],
             mesh: Mapping[str, int] | None = None) -> "Executable":
        """The same for these sizes, by argument and dim, of dims that were left open; balanced ones for the others.

        ``mesh`` has sizes of axes, which may be others than those of the program where they were left open.

        Raises: UsageError with argument, dim and sizes, or with the axis.
        """
        axes = {axis["name"]: axis["size"] for axis in self.metadata["mesh"]}
        if unknown := [axis for axis in mesh or {} if axis not in axes]:
            raise UsageError(2, f"the program's mesh is {axes}, and has no axis {unknown[0]!r}")
        axes.update(mesh or {})
        for axis, size in axes.items():
            if not 1 <= size <= MOST_RANKS:
                raise UsageError(2, f"axis {axis!r}: {size} ranks, expected 1 to {MOST_RANKS}")
        if (ranks := math.prod(axes.values())) > MOST_RANKS:
            raise UsageError(2, f"mesh {axes}: {ranks} ranks, expected at most {MOST_RANKS}")
        if ranks > self.engine.num_devices:
            return self._on_more(ranks).bind(sizes, mesh)
        along = (ctypes.c_int64 * len(axes))(*axes.values())
        given = (GivenSizes * len(sizes))()
        kept = []
        for place, ((argument, dim), values) in zip(given, sizes.items()):
            numbers = (ctypes.c_int64 * len(values))(*values)
            kept.append(numbers)
            place.argument, place.dim = argument, dim
            place.num_shards, place.sizes = len(values), ctypes.addressof(numbers)
        bound = ctypes.c_void_p()
        binding = Binding(given, len(sizes), ctypes.addressof(along), len(along))
        self._library.check(self._library.program_bind(self.handle, ctypes.byref(binding), ctypes.byref(bound)))
        return Executable(self.engine, bound.value or 0, self._donated, is_bound=True)

    def _on_more(self, ranks: int) -> "Executable":
        """The same on an engine of this many devices, to which its code goes the first time."""
        if (known := self._elsewhere.get(ranks)) is None:
            artifact = self.serialize()
            known = self._elsewhere[ranks] = Executable._made(lambda engine, program: engine.library.program_load(
                engine.handle, artifact, len(artifact), program), ranks, self._donated)
        return known

    def serialize(self) -> bytes:
        """The artifact."""
        artifact = Bytes()
        self._library.check(self._library.program_serialize(self.handle, ctypes.byref(artifact)))
        try:
            return ctypes.string_at(artifact.data, artifact.size)
        finally:
            self._library.bytes_free(ctypes.byref(artifact))

    def __del__(self) -> None:
        if not is_child() and "_library" in self.__dict__:
            self._library.program_destroy(self.handle)

    def _place(self, value: dict[str, Any], donated: bool) -> Place:
        sharding = Sharding.of_metadata(self.metadata["mesh"], value)
        dtype = _dtype(value["type"])
        neutral = None
        if partial := value.get("partial"):
            neutral = tuple(self._neutral(sharding, partial, rank) for rank in range(sharding.num_ranks))
        unsaid = () if self.is_bound else tuple(
            Unsaid.EXTENT if lies.get("open") else Unsaid.SIZES if lies.get("dynamic") else Unsaid.NOTHING
            for lies in value["dims"])
        return Place(value["name"], sharding, self.engine.layout_of(sharding, dtype),
                     donated, neutral, unsaid)

    @staticmethod
    def _neutral(sharding: Sharding, partial: list[dict[str, Any]], rank: int) -> Any:
        for part in partial:
            axis = sharding.mesh[part["axis"]][0]
            if part["kind"] in _NEUTRAL and sharding.coordinate(rank, (axis,)):
                return _NEUTRAL[part["kind"]]
        return None

    def run(self, arguments: Iterable[bytes], host: HostContext | None = None, lends: bool = False) -> list[Array]:
        """Run once: the shards of each argument, packed, in; arrays that may still be computed out.

        With ``lends`` no argument is given up.

        Raises: ShardcError for what is wrong before it begins.
        """
        check_process()
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _Frame(self.num_ranks, len(self.arguments), len(self.results))
        frame.fill(arguments)
        options = self._lending if lends else self._options
        given = self._lending_at if lends else self._options_at
        if host is not None:
            given = ctypes.byref(ExecuteOptions(devices=options.devices, donated=options.donated, host=host_fn,
                                                host_user=host.number))
        library = self._library
        error = library.execute(self.handle, given, frame.inputs, frame.outputs, frame.done_at)
        if error:
            self._frames.append(frame)
            raise library.take_error(error)
        handles = frame.by_result.tobytes()
        done = frame.done.value
        pending = Pending(library, done) if done else None
        self._frames.append(frame)
        if host is not None:
            host.pending = pending
        if len(self.engine.dead) >= MOST_DEAD:
            self.engine.release_dead()
        results = Array._make_all(self._kinds, self._layouts, self._cut(handles), pending)
        if not results and pending is not None:
            # Somebody has to see what failed.
            pending.wait()
        return results

    @functools.cached_property
    def remarks(self) -> list[str]:
        """What the compiler said, a line each."""
        return _text(self._library.program_remarks(self.handle)).splitlines()

    @property
    def local_text(self) -> str:
        """What each rank does, as StableHLO with its communication; empty where that is not known."""
        return _text(self._library.program_local_text(self.handle))

    def costs(self) -> dict[str, Any]:
        """Estimates for a step, by the names of shardc_program_costs."""
        costs = ProgramCosts()
        self._library.check(self._library.program_get_costs(self.handle, ctypes.byref(costs)))
        return {name: getattr(costs, name) for name, *_ in ProgramCosts._fields_ if name != "size"}

    def sites(self) -> list[dict[str, Any]]:
        """Counts of communication since the program was made, site by site."""
        found = []
        for number in range(self._library.program_num_sites(self.handle)):
            stats = SiteStats()
            self._library.check(self._library.program_site_stats(self.handle, number, ctypes.byref(stats)))
            found.append({name: value.decode() if isinstance(value := getattr(stats, name), bytes) else value
                          for name, *_ in SiteStats._fields_ if name != "size"})
        return found


def _text(text: bytes | None) -> str:
    return (text or b"").decode(errors="replace")


def _dtype(name: str) -> DType:
    """Where ml_dtypes is not installed, its types are seen as their bits."""
    try:
        return type_of(name)
    except TypeError:
        if extended_type(name) is None:
            return numpy.dtype("uint16" if name == "bf16" else "uint8")
        raise

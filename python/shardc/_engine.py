"""Engines: devices of this process, which live as long as it does, and what is waited for on them."""

import array
import atexit
import ctypes
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from shardc._errors import ShardcError, UsageError, error_for
from shardc._native import (
    BORROW,
    COPY,
    RELEASED_FN,
    EngineOptions,
    Handle,
    HostData,
    JobOptions,
    Library,
    library,
)
from shardc._sharding import Layout, Sharding
from shardc._types import NAMES, DType, type_of

MOST_DEAD = 16
"""So many small results that nobody holds any more are given back together."""
_SLICE_NS = 50_000_000
"""How long a wait lasts before Python may look at signals."""

_engines: list["Engine"] = []
_lock = threading.Lock()
_is_child = False

_kept: dict[int, Any] = {}
"""What the engine looks into, by number, until it says that it does not any more."""
_numbers = itertools.count(1)


@RELEASED_FN
def _release(number: int) -> None:
    _kept.pop(number, None)


def _after_fork() -> None:
    global _is_child
    _is_child = bool(_engines)


def is_child() -> bool:
    """Whether this process was forked from one with an engine."""
    return _is_child


def check_process() -> None:
    """Raise UsageError in a child that was forked from a process with an engine: threads are not inherited."""
    if _is_child:
        raise UsageError(2, "this process was forked from one that uses shardc, and has none of its devices; start it "
                            'with multiprocessing.get_context("spawn"), or fork before the first use of shardc')


def engine_for(num_devices: int, target: str | None = None) -> "Engine":
    """An engine of this process with at least this many devices; made at the first use.

    ``SHARDC_DEVICES`` says how many devices the first one has at least, ``SHARDC_DEVICE`` what they are.
    """
    check_process()
    target = target or os.environ.get("SHARDC_DEVICE") or "cpu"
    for engine in _engines:
        if engine.num_devices >= num_devices and engine.target == target:
            return engine
    with _lock:
        for engine in _engines:
            if engine.num_devices >= num_devices and engine.target == target:
                return engine
            if engine.is_member:
                raise UsageError(2, f"{num_devices} devices of target {target} are needed, but the processes have "
                                    f"{engine.num_devices} of target {engine.target} together")
        asked = os.environ.get("SHARDC_DEVICES") or "1"
        if not asked.isdecimal() or not int(asked):
            raise UsageError(2, f"SHARDC_DEVICES={asked}: expected a number of devices")
        engine = Engine(max(num_devices, int(asked)), target)
        _keep(engine)
        return engine


def _keep(engine: "Engine") -> None:
    if not _engines:
        os.register_at_fork(after_in_child=_after_fork)
        atexit.register(_close_all)
    _engines.append(engine)
    _engines.sort(key=lambda engine: engine.num_devices)


def join(devices: int, job: JobOptions) -> "Engine":
    """The engine of this process, as one member of a job: the only one that it ever has.

    Raises: UsageError where there is one already; ShardcError where the others do not come.
    """
    check_process()
    with _lock:
        if _engines:
            raise UsageError(2, "this process has devices already: shardc.init_distributed() comes before the first "
                                "array and the first program")
        engine = Engine(devices, "cpu", job)
        _keep(engine)
        return engine


def _close_all() -> None:
    if not _is_child:
        for engine in _engines:
            engine.close()


class Engine:
    """N devices, each a thread with memory of its own."""

    def __init__(self, num_devices: int, target: str, job: JobOptions | None = None) -> None:
        """With ``job`` these are the devices of this process, and ``num_devices`` becomes that of all processes."""
        self.library: Library = library()
        self.target = target
        options = EngineOptions(devices=num_devices, target=target.encode())
        if job is not None:
            options.job = ctypes.pointer(job)
        handle = ctypes.c_void_p()
        self.library.check(self.library.engine_create(ctypes.byref(options), ctypes.byref(handle)))
        self.handle: Handle = handle.value or 0
        first = ctypes.c_int64()
        self.num_devices: int = self.library.engine_num_devices(self.handle)
        self.num_local: int = self.library.engine_num_local_devices(self.handle, ctypes.byref(first))
        self.first: int = first.value
        """The first device of this process; the others have those before and behind."""
        self.is_member = job is not None and self.library.engine_num_processes(self.handle) > 1
        self.is_open = True
        # Sizes that are never seen again leave nothing behind.
        self._layouts: weakref.WeakValueDictionary[Any, Layout] = weakref.WeakValueDictionary()
        self.dead: list[bytes] = []
        """Buffers of small results that nobody holds any more: each would cost a call of its own. A program that runs
        gives them back where they are MOST_DEAD."""
        self._releasing = threading.Lock()
        self._codes: dict[DType, int] = {}
        for name in NAMES:
            code = self.library.element_type_named(name.encode())
            try:
                kind = type_of(name)
            except TypeError:
                continue
            if code:
                self._codes[kind] = code

    def compile(self, model: bytes, options: Any, program: Any) -> Handle | None:
        """Compile; the error, if any. Signals are handled meanwhile, and what their handlers raise ends the wait."""
        begun = ctypes.c_void_p()
        error: Handle | None = self.library.compile_start(self.handle, model, len(model), b"program.mlir", options,
                                                          len(options), ctypes.byref(begun))
        if error:
            return error
        try:
            while not self.library.compilation_wait_for(begun, _SLICE_NS):
                pass
            error = self.library.compilation_finish(begun, program)
            return error
        finally:
            self.library.compilation_destroy(begun)

    def devices_of(self, num_ranks: int) -> range:
        """The device of each rank: what this process can run alone, it does, on its own; else from device 0 on."""
        first = self.first if num_ranks <= self.num_local else 0
        return range(first, first + num_ranks)

    def is_here(self, device: int) -> bool:
        """Whether a device is of this process."""
        return self.first <= device < self.first + self.num_local

    def close(self) -> None:
        """Wait for what is under way, and end the devices."""
        if self.is_open:
            self.is_open = False
            self.library.engine_destroy(self.handle)

    def code_of(self, kind: DType) -> int:
        """The code of a type of elements. Raises: UsageError for one that programs do not have."""
        code = self._codes.get(kind)
        if code is None:
            raise UsageError(2, f"elements of type {kind} are none that a program has")
        return code

    def layout_of(self, sharding: Sharding, dtype: DType) -> Layout:
        """The one object for a sharding and a type."""
        key = (sharding.shape, dtype, sharding.boxes)
        found = self._layouts.get(key)
        return found or self._layouts.setdefault(key, Layout(*key))

    def buffer_of(self, array: "numpy.ndarray[Any, Any]", device: int, borrow: bool) -> Handle:
        """A buffer with the elements of ``array``, or, to ``borrow``, on its memory where that is aligned and dense.

        What is borrowed must not be changed while the buffer lives; it is kept until then.
        """
        check_process()
        if not array.dtype.isnative:
            array, borrow = array.astype(array.dtype.newbyteorder("=")), True
        # Types of ml_dtypes have no buffer interface; the address is what counts.
        address: int = array.__array_interface__["data"][0]
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        data = HostData(address, self.code_of(array.dtype), array.ndim, ctypes.addressof(dims))
        if not array.flags.c_contiguous:
            strides = (ctypes.c_int64 * array.ndim)(*array.strides)
            data.byte_strides = ctypes.addressof(strides)
        data.semantics = COPY
        if borrow:
            data.semantics = BORROW
            data.released = _release
            data.user = number = next(_numbers)
            _kept[number] = array
        buffer = ctypes.c_void_p()
        self.library.check(self.library.buffer_from_host(self.handle, device, ctypes.byref(data), ctypes.byref(buffer)))
        return buffer.value or 0

    def copy_to(self, buffer: Handle, device: int) -> Handle:
        """The same elements on another device; the same memory where devices share it."""
        copy = ctypes.c_void_p()
        self.library.check(self.library.buffer_to_device(buffer, device, ctypes.byref(copy)))
        return copy.value or 0

    def release(self, buffers: Sequence[Handle | None]) -> None:
        """Give one reference of each back; None is passed over. Nothing happens in a forked child."""
        self.release_packed(packed(buffers))

    def release_packed(self, buffers: bytes) -> None:
        """As release(), of packed() ones."""
        if not _is_child:
            self.library.buffers_release(buffers, len(buffers) // HANDLE_BYTES)

    def taker_of(self, layout: Layout) -> Callable[[bytes], None]:
        """What takes the buffers of a result that nobody holds any more, packed: where it is small, with others, when
        a later program runs."""
        return self.dead.append if layout.is_small else self.release_packed

    def release_dead(self) -> None:
        """Give back what was put to ``dead``: small results, all of them at once."""
        if self._releasing.acquire(blocking=False):
            try:
                count = len(self.dead)
                buffers = self.dead[:count]
                del self.dead[:count]
                self.release_packed(b"".join(buffers))
            finally:
                self._releasing.release()


HANDLE_BYTES = ctypes.sizeof(ctypes.c_void_p)


def packed(handles: Sequence[Handle | None]) -> bytes:
    """Handles as C has them in a table: one object for many, which is joined and cut at a tenth of the cost."""
    return array.array("Q", [handle or 0 for handle in handles]).tobytes()


def unpacked(handles: bytes) -> list[Handle | None]:
    """The way back."""
    return [handle or None for handle in memoryview(handles).cast("Q")]


class Pending:
    """What is going to have happened on an engine: an execution, with its error."""

    __slots__ = ("_error", "_event", "_library", "cause", "is_done")

    def __init__(self, library: Library, event: Handle) -> None:
        self._library = library
        self._event = event
        self._error: tuple[int, str] | None = None
        self.cause: BaseException | None = None
        """What a callback raised, which is why it failed."""
        self.is_done = False

    def is_ready(self) -> bool:
        """Whether wait() returns, or raises, at once."""
        return self.is_done or bool(self._library.event_is_ready(self._event))

    def wait(self) -> None:
        """Wait; signals are handled meanwhile.

        Raises: ShardcError if it failed, each time; KeyboardInterrupt, and what else handlers of signals raise: it goes
        on then.
        """
        if not self.is_done:
            check_process()
            while not self._library.event_wait_for(self._event, _SLICE_NS):
                pass
            if error := self._library.event_await(self._event):
                raised: ShardcError = self._library.take_error(error)
                self._error = (raised.code, raised.diagnostic)
            self.is_done = True
        if self._error:
            raise error_for(*self._error) from self.cause

    def __del__(self) -> None:
        if not _is_child:
            self._library.event_destroy(self._event)

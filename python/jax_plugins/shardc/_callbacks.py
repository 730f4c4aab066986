"""Functions of this process that programs on shardc's devices call: JAX's callbacks."""

import atexit
import collections
import ctypes
import itertools
import secrets
import threading
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy

from shardc._native import load_library

_NAMES = {"i1": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "complex<f32>": "complex64",
          "complex<f64>": "complex128",
          **{f"{sign}i{bits}": f"{'u' if sign else ''}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}
_EXTENDED = {"bf16": "bfloat16", "i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4",
             "f4E2M1FN": "float4_e2m1fn", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2",
             "f8E4M3": "float8_e4m3", "f8E3M4": "float8_e3m4", "f8E4M3FNUZ": "float8_e4m3fnuz",
             "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E8M0FNU": "float8_e8m0fnu"}


class _Array(ctypes.Structure):
    """shardc_host_array of include/shardc-c/shardc.h."""

    _fields_ = [("data", ctypes.c_void_p), ("element_type", ctypes.c_int32), ("num_dims", ctypes.c_int64),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_int64)]


class _Call(ctypes.Structure):
    """shardc_host_call."""

    _fields_ = [("size", ctypes.c_size_t), ("rank", ctypes.c_int64), ("index", ctypes.c_int64),
                ("ordered", ctypes.c_int), ("location", ctypes.c_char_p),
                ("num_operands", ctypes.c_int64), ("operands", ctypes.POINTER(_Array)),
                ("num_results", ctypes.c_int64), ("results", ctypes.POINTER(_Array))]


_HostFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Call), ctypes.c_void_p,
                                 ctypes.c_size_t)
_FAILED = 4
"""SHARDC_LOST: the function raised."""


class Table:
    """Numbers functions, for as long as somebody keeps what :meth:`add` returns, and calls them by number."""

    def __init__(self) -> None:
        self._functions: dict[int, Callable[..., Any]] = {}
        # A compiled program may outlive its process in a cache: no other process has these numbers.
        self._numbers = itertools.count(secrets.randbits(30) << 24)
        self._lock = threading.Lock()
        # A program may go while its last call still runs: what it called is let go of later.
        self._retired: collections.deque[Any] = collections.deque(maxlen=256)
        self._kinds: dict[int, numpy.dtype[Any]] = {}
        self._entry: Any = None
        self.leave: Callable[[], Any] = lambda: None
        """Tells other processes of jax.distributed that this one runs nothing with them any more."""
        self.copy_reads: Callable[[bool, bool], Any] = lambda everywhere, yes: None
        """Whether JAX copies what it reads of arrays, ``everywhere`` or on this thread."""

    def add(self, function: Callable[..., Any]) -> tuple[int, object]:
        """Give ``function`` a number. Returns it, and an object whose end ends the number."""

        class Keeper:
            pass

        with self._lock:
            number = next(self._numbers)
            self._functions[number] = function
        keeper = Keeper()
        weakref.finalize(keeper, self._retire, number).atexit = False
        return number, keeper

    def _retire(self, number: int) -> None:
        oldest = self._retired[0] if len(self._retired) == self._retired.maxlen else None
        self._retired.append(number)
        if oldest is not None:
            self._functions.pop(oldest, None)

    def connect(self, path: Path) -> None:
        """Tell the plugin at ``path``, whose types and calls are those of the library beside it."""
        plugin = load_library(str(path))
        # Types are numbered by the engine, which the plugin has loaded already.
        named = load_library(str(path.with_name("libshardc.so"))).shardc_element_type_named
        named.argtypes, named.restype = [ctypes.c_char_p], ctypes.c_int32
        for name, kind in {**_NAMES, **_EXTENDED}.items():
            if code := named(name.encode()):
                self._kinds[code] = numpy.dtype(getattr(ml_dtypes, kind) if name in _EXTENDED else kind)
        self._entry = _HostFunction(self._enter)
        self.leave = plugin.shardc_pjrt_leave
        # JAX leaves a compilation to a thread of its own when the wait is interrupted, and waits for it at the end.
        atexit.register(plugin.shardc_pjrt_cancel_compilations)
        plugin.shardc_pjrt_copy_reads.argtypes = [ctypes.c_bool, ctypes.c_bool]
        plugin.shardc_pjrt_copy_reads.restype = None
        self.copy_reads = plugin.shardc_pjrt_copy_reads
        plugin.shardc_pjrt_set_host.argtypes = [_HostFunction]
        plugin.shardc_pjrt_set_host.restype = None
        plugin.shardc_pjrt_set_host(self._entry)

    def _enter(self, _user: int, call: Any, message: int, size: int) -> int:
        """Answer one call; whatever the function raises is told as text."""
        try:
            self._answer(call.contents)
            return 0
        except BaseException:
            text = "CpuCallback error calling callback: " + traceback.format_exc()
            data = text.encode()[: max(size - 1, 0)] + b"\0"
            if size:
                ctypes.memmove(message, data, len(data))
            return _FAILED

    def _view(self, array: Any, writable: bool) -> "numpy.ndarray[Any, Any]":
        kind = self._kinds[array.element_type]
        shape = tuple(array.dims[: array.num_dims])
        if not array.bytes:
            return numpy.empty(shape, kind)
        memory = (ctypes.c_char * array.bytes).from_address(array.data)
        view = numpy.frombuffer(memory, kind).reshape(shape)
        view.flags.writeable = writable
        return view

    def _answer(self, call: _Call) -> None:
        function = self._functions.get(call.index)
        if function is None:
            raise LookupError(f"the program calls function {call.index} of the process that traced it, which is not "
                              "known here: it was compiled in another process, or was let go")
        # Operands are copied: they are gone when the call is, and functions may keep them.
        operands = [self._view(call.operands[i], False).copy() for i in range(call.num_operands)]
        if call.ordered:
            _, *values = function(None, *operands)
        else:
            values = function(*operands)
        for i in range(call.num_results):
            result = self._view(call.results[i], True)
            if result.size:
                numpy.copyto(result, numpy.asarray(values[i]).reshape(result.shape))


table = Table()

"""The engine's C API: include/shardc-c/shardc.h, declared for ctypes.

Nothing is loaded before library() is called. Handles are plain integers, as void pointers come out of ctypes; each
has one owner, an object of this package, which gives it back.
"""

import ctypes
import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shardc._errors import ShardcError, UsageError, error_for

API_VERSION = 8
"""The SHARDC_API_VERSION that is declared here; a library of a later one has all of it."""

Handle = int
_pointer = ctypes.c_void_p
_pointers = ctypes.c_void_p
_int64 = ctypes.c_int64
_int64s = ctypes.c_void_p
_size = ctypes.c_size_t
_string = ctypes.c_char_p
_type = ctypes.c_int32
_flag = ctypes.c_bool


class Sized(ctypes.Structure):
    """A struct that begins with its size; made with that set, and the rest 0."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(ctypes.sizeof(self), *arguments, **named)


class Option(ctypes.Structure):
    _fields_ = [("name", _string), ("value", _string)]


class HostArray(ctypes.Structure):
    _fields_ = [("data", _pointer), ("element_type", _type), ("num_dims", _int64),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("bytes", _int64)]


class HostCall(Sized):
    _fields_ = [("size", _size), ("rank", _int64), ("index", _int64), ("ordered", ctypes.c_int), ("location", _string),
                ("num_operands", _int64), ("operands", ctypes.POINTER(HostArray)), ("num_results", _int64),
                ("results", ctypes.POINTER(HostArray))]


HOST_FN = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, ctypes.POINTER(HostCall), _pointer, _size)
EVENT_FN = ctypes.CFUNCTYPE(None, _pointer, _pointer)
TRACE_FN = ctypes.CFUNCTYPE(None, _pointer, _pointer)
RELEASED_FN = ctypes.CFUNCTYPE(None, _pointer)


PUT_FN = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _string, _string)
GET_FN = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _string, _int64, _pointer, _size)


class KeyValues(Sized):
    _fields_ = [("size", _size), ("put", PUT_FN), ("get", GET_FN), ("user", _pointer)]


class JobOptions(Sized):
    _fields_ = [("size", _size), ("processes", _int64), ("process", _int64), ("host", _string), ("port", _int64),
                ("name", _string), ("key_values", ctypes.POINTER(KeyValues)), ("timeout_ms", _int64),
                ("transport", _string)]


class Tiling(ctypes.Structure):
    _fields_ = [("num_dims", _int64), ("tiles", _int64s), ("copies", _int64), ("ranks", _int64s)]


class TiledValue(ctypes.Structure):
    _fields_ = [("element_type", ctypes.c_int32), ("num_dims", _int64), ("dims", _int64s), ("tiling", Tiling)]


class PartitionCall(Sized):
    _fields_ = [("size", _size), ("config", _string), ("config_size", _size), ("num_ranks", _int64),
                ("num_operands", _int64), ("operands", _pointer), ("num_results", _int64), ("results", _pointer),
                ("answer", _pointer), ("answer_user", _pointer)]


class EngineOptions(Sized):
    _fields_ = [("size", _size), ("devices", _int64), ("target", _string), ("threads", _int64), ("timeout_ms", _int64),
                ("host", HOST_FN), ("host_user", _pointer), ("cache_directory", _string),
                ("job", ctypes.POINTER(JobOptions)), ("partition", _pointer), ("partition_user", _pointer)]


class MemoryStats(Sized):
    _fields_ = [("size", _size), ("bytes_in_use", _int64), ("peak_bytes_in_use", _int64), ("num_allocs", _int64),
                ("bytes_limit", _int64)]


class TraceEvent(Sized):
    _fields_ = [("size", _size), ("device", _int64), ("is_exchange", ctypes.c_int32), ("name", _string),
                ("location", _string), ("begin_ns", _int64), ("end_ns", _int64), ("wait_ns", _int64),
                ("bytes", _int64)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", _pointer), ("size", _size)]


class GivenSizes(ctypes.Structure):
    _fields_ = [("argument", _int64), ("dim", _int64), ("num_shards", _int64), ("sizes", _int64s)]


class Binding(Sized):
    _fields_ = [("size", _size), ("sizes", ctypes.POINTER(GivenSizes)), ("num_sizes", _size), ("mesh", _int64s),
                ("num_axes", _size)]


class Value(Sized):
    _fields_ = [("size", _size), ("name", _string), ("location", _string), ("element_type", _type),
                ("num_dims", _int64), ("dims", ctypes.POINTER(ctypes.c_int64)), ("donated", _int64)]


class ProgramCosts(Sized):
    _fields_ = [("size", _size), ("flops", ctypes.c_double), ("bytes_accessed", ctypes.c_double),
                ("transcendentals", ctypes.c_double), ("bytes_moved", ctypes.c_double), ("code_bytes", _int64),
                ("argument_bytes", _int64), ("result_bytes", _int64), ("temporary_bytes", _int64)]


class HostData(Sized):
    _fields_ = [("size", _size), ("data", _pointer), ("element_type", _type), ("num_dims", _int64), ("dims", _int64s),
                ("byte_strides", _int64s), ("semantics", ctypes.c_int), ("released", RELEASED_FN), ("user", _pointer)]


class ExecuteOptions(Sized):
    _fields_ = [("size", _size), ("devices", _int64s), ("donated", _pointer), ("host", HOST_FN),
                ("host_user", _pointer), ("omit_done", _flag)]


class SiteStats(Sized):
    _fields_ = [("size", _size), ("kind", _string), ("axes", _string), ("name", _string), ("location", _string),
                ("count", _int64), ("bytes_received", _int64), ("total_ns", _int64), ("wait_ns", _int64)]


class RankStats(Sized):
    _fields_ = [("size", _size), ("steps", _int64), ("total_ns", _int64), ("wait_ns", _int64)]


class BalanceState(Sized):
    _fields_ = [("size", _size), ("moves", _int64), ("settled", _flag), ("refused", _flag),
                ("first_imbalance", ctypes.c_double), ("imbalance", ctypes.c_double)]


STRUCTS: dict[str, type[ctypes.Structure]] = {
    "shardc_option": Option, "shardc_host_array": HostArray, "shardc_host_call": HostCall,
    "shardc_tiling": Tiling, "shardc_tiled_value": TiledValue, "shardc_partition_call": PartitionCall,
    "shardc_engine_options": EngineOptions, "shardc_key_values": KeyValues, "shardc_job_options": JobOptions,
    "shardc_memory_stats": MemoryStats, "shardc_trace_event": TraceEvent, "shardc_bytes": Bytes,
    "shardc_sizes": GivenSizes, "shardc_binding": Binding, "shardc_value": Value,
    "shardc_program_costs": ProgramCosts, "shardc_host_data": HostData,
    "shardc_execute_options": ExecuteOptions, "shardc_site_stats": SiteStats, "shardc_rank_stats": RankStats,
    "shardc_balance_state": BalanceState,
}

COPY, BORROW = 0, 1
"""shardc_host_semantics."""

_error = _pointer
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "shardc_api_version": (ctypes.c_int, []),
    "shardc_version": (_string, []),
    "shardc_error_destroy": (None, [_error]),
    "shardc_error_status": (ctypes.c_int, [_error]),
    "shardc_error_message": (_string, [_error]),
    "shardc_error_location": (_string, [_error]),
    "shardc_error_create": (_error, [ctypes.c_int, _string]),
    "shardc_element_type_named": (_type, [_string]),
    "shardc_element_type_name": (_string, [_type]),
    "shardc_element_type_bytes": (_int64, [_type]),
    "shardc_engine_create": (_error, [ctypes.POINTER(EngineOptions), _pointers]),
    "shardc_engine_destroy": (None, [_pointer]),
    "shardc_engine_leave": (None, [_pointer]),
    "shardc_engine_cancel_compilations": (None, [_pointer]),
    "shardc_engine_num_devices": (_int64, [_pointer]),
    "shardc_engine_num_local_devices": (_int64, [_pointer, ctypes.POINTER(ctypes.c_int64)]),
    "shardc_engine_process": (_int64, [_pointer]),
    "shardc_engine_num_processes": (_int64, [_pointer]),
    "shardc_engine_device_process": (_int64, [_pointer, _int64]),
    "shardc_engine_memory_stats": (_error, [_pointer, _int64, ctypes.POINTER(MemoryStats)]),
    "shardc_engine_trace_start": (_error, [_pointer]),
    "shardc_engine_trace_stop": (_error, [_pointer, TRACE_FN, _pointer, ctypes.POINTER(ctypes.c_int64)]),
    "shardc_compile": (_error, [_pointer, _string, _size, _string, ctypes.POINTER(Option), _size, _pointers]),
    "shardc_compile_start": (_error, [_pointer, _string, _size, _string, ctypes.POINTER(Option), _size, _pointers]),
    "shardc_compilation_wait_for": (_flag, [_pointer, _int64]),
    "shardc_compilation_finish": (_error, [_pointer, _pointers]),
    "shardc_compilation_destroy": (None, [_pointer]),
    "shardc_program_destroy": (None, [_pointer]),
    "shardc_bytes_free": (None, [ctypes.POINTER(Bytes)]),
    "shardc_program_serialize": (_error, [_pointer, ctypes.POINTER(Bytes)]),
    "shardc_program_load": (_error, [_pointer, _string, _size, _pointers]),
    "shardc_program_bind": (_error, [_pointer, ctypes.POINTER(Binding), _pointers]),
    "shardc_program_name": (_string, [_pointer]),
    "shardc_program_num_ranks": (_int64, [_pointer]),
    "shardc_program_num_arguments": (_int64, [_pointer]),
    "shardc_program_num_results": (_int64, [_pointer]),
    "shardc_program_calls_host": (_flag, [_pointer]),
    "shardc_program_argument": (_error, [_pointer, _int64, ctypes.POINTER(Value)]),
    "shardc_program_result": (_error, [_pointer, _int64, ctypes.POINTER(Value)]),
    "shardc_program_argument_box": (_error, [_pointer, _int64, _int64, _int64s, _int64s]),
    "shardc_program_result_box": (_error, [_pointer, _int64, _int64, _int64s, _int64s]),
    "shardc_program_metadata": (_string, [_pointer]),
    "shardc_program_local_text": (_string, [_pointer]),
    "shardc_program_remarks": (_string, [_pointer]),
    "shardc_program_get_costs": (_error, [_pointer, ctypes.POINTER(ProgramCosts)]),
    "shardc_program_num_sites": (_int64, [_pointer]),
    "shardc_program_site_stats": (_error, [_pointer, _int64, ctypes.POINTER(SiteStats)]),
    "shardc_program_rank_stats": (_error, [_pointer, _int64, ctypes.POINTER(RankStats)]),
    "shardc_balance_create": (_error, [_pointer, _pointers]),
    "shardc_balance_destroy": (None, [_pointer]),
    "shardc_balance_add": (_error, [_pointer, _pointer, _int64, _pointer]),
    "shardc_balance_refuse": (None, [_pointer]),
    "shardc_balance_settle": (None, [_pointer, _pointer]),
    "shardc_balance_num_sizes": (_int64, [_pointer]),
    "shardc_balance_sizes": (_error, [_pointer, _int64, ctypes.POINTER(GivenSizes)]),
    "shardc_balance_get_state": (_error, [_pointer, ctypes.POINTER(BalanceState)]),
    "shardc_event_destroy": (None, [_pointer]),
    "shardc_event_is_ready": (_flag, [_pointer]),
    "shardc_event_await": (_error, [_pointer]),
    "shardc_event_wait_for": (_flag, [_pointer, _int64]),
    "shardc_event_on_ready": (None, [_pointer, EVENT_FN, _pointer]),
    "shardc_event_create": (_error, [_pointers]),
    "shardc_event_set": (None, [_pointer, _error]),
    "shardc_buffer_retain": (None, [_pointer]),
    "shardc_buffer_release": (None, [_pointer]),
    "shardc_buffers_release": (None, [_pointers, _size]),
    "shardc_buffer_from_host": (_error, [_pointer, _int64, ctypes.POINTER(HostData), _pointers]),
    "shardc_buffer_create": (_error, [_pointer, _int64, _type, _int64, _int64s, _pointers]),
    "shardc_buffer_create_later": (_error, [_pointer, _int64, _type, _int64, _int64s, _pointer, _pointers]),
    "shardc_buffer_device": (_int64, [_pointer]),
    "shardc_buffer_element_type": (_type, [_pointer]),
    "shardc_buffer_num_dims": (_int64, [_pointer]),
    "shardc_buffer_dims": (ctypes.POINTER(ctypes.c_int64), [_pointer]),
    "shardc_buffer_bytes": (_int64, [_pointer]),
    "shardc_buffer_data": (_pointer, [_pointer]),
    "shardc_buffer_ready": (_pointer, [_pointer]),
    "shardc_buffer_delete": (None, [_pointer]),
    "shardc_buffer_is_deleted": (_flag, [_pointer]),
    "shardc_buffer_pin": (None, [_pointer]),
    "shardc_buffer_unpin": (None, [_pointer]),
    "shardc_buffer_to_host": (_error, [_pointer, _pointer, _int64s, _pointers]),
    "shardc_buffer_bytes_to_host": (_error, [_pointer, _pointer, _int64, _int64, _pointers]),
    "shardc_buffer_to_device": (_error, [_pointer, _int64, _pointers]),
    "shardc_execute": (_error, [_pointer, ctypes.POINTER(ExecuteOptions), _pointers, _pointers, _pointers]),
}


class Library:
    """The functions under their names without ``shardc_``; none is called with the interpreter's lock held."""

    def __init__(self, path: str) -> None:
        """Load it. Raises: OSError where that fails; UsageError for one of another version."""
        self.path = path
        self._loaded = load_library(path)
        if self.api_version() < API_VERSION:
            raise UsageError(2, f"{path}: API version {self.api_version()}, expected {API_VERSION} or later")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Declares a function at its first use."""
        try:
            result, arguments = FUNCTIONS["shardc_" + name]
        except KeyError:
            raise AttributeError(name) from None
        try:
            function: Any = getattr(self._loaded, "shardc_" + name)
        except AttributeError as error:
            raise UsageError(2, f"{self.path}: no library of this package's version: {error}") from None
        function.restype, function.argtypes = result, arguments
        setattr(self, name, function)
        declared: Callable[..., Any] = function
        return declared

    def take_error(self, error: Handle) -> ShardcError:
        """The exception for an error, which is destroyed."""
        status = self.error_status(error)
        message = (self.error_message(error) or b"").decode(errors="replace")
        location = (self.error_location(error) or b"").decode(errors="replace")
        self.error_destroy(error)
        return error_for(status, f"{location}: error: {message}" if location else message)

    def check(self, error: Handle | None) -> None:
        """Raise what a function returned, if that is an error."""
        if error:
            raise self.take_error(error)


def load_library(path: str) -> ctypes.CDLL:
    """Load a library that has the compiler in it, or needs one that has.

    Another LLVM whose names are the whole process's, as TensorFlow's are, would stand in for the one that the compiler
    was built with: then the library's own come first.

    Raises: OSError.
    """
    is_other = hasattr(ctypes.CDLL(None), "_ZN4llvm12PassRegistry15getPassRegistryEv")
    return ctypes.CDLL(path, mode=os.RTLD_DEEPBIND if is_other else ctypes.DEFAULT_MODE)


def native_folders() -> list[Path]:
    """Where ``bin`` and ``lib`` of shardc may be: what SHARDC_TOOLS names, this package, and its tree's build."""
    folders = []
    if tools := os.environ.get("SHARDC_TOOLS"):
        folders.append(Path(tools).absolute().parent)
    here = Path(__file__).resolve()
    build = os.environ.get("SHARDC_BUILD_DIR") or "build"
    return [*folders, here.parent, here.parents[2] / build]


def find_native_library(name: str, variable: str) -> str:
    """The path of a library: named by an environment variable, or in one of native_folders().

    Raises: FileNotFoundError with what was looked at.
    """
    if given := os.environ.get(variable):
        return given
    places = [folder / part / name for folder in native_folders() for part in ("lib", "bin")]
    for place in places:
        if place.exists():
            return str(place)
    looked = ", ".join(map(str, places[::2]))
    raise FileNotFoundError(f"{name} is neither {looked}; build it with ./run build, or name it in {variable}")


@functools.cache
def library() -> Library:
    """The engine's library, loaded once: ``$SHARDC_LIBRARY``, or what is found beside the tools.

    Raises: FileNotFoundError, OSError or UsageError where there is none that fits.
    """
    return Library(find_native_library("libshardc.so", "SHARDC_LIBRARY"))


def options_of(options: "list[tuple[str, str]]") -> Any:
    """An array of options: names as on the tools' command lines, and their values."""
    array = (Option * len(options))()
    for place, (name, value) in zip(array, options, strict=True):
        place.name, place.value = name.encode(), value.encode()
    return array


def json_of(text: bytes | None) -> Any:
    """What a JSON text says."""
    return json.loads(text or b"null")

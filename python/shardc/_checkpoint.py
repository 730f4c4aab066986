"""Checkpoints: what ``shard-run --checkpoint`` saves and resumes from, read and written here by the same library."""

import ctypes
import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy

from shardc._errors import error_for
from shardc._tools import find_library
from shardc._types import name_of, type_of

_PROBLEM_BYTES = 4096


class _Value(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("element_type", ctypes.c_char_p), ("num_dims", ctypes.c_int64),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("boxes", ctypes.POINTER(ctypes.c_int64))]


class _Info(ctypes.Structure):
    _fields_ = [("step", ctypes.c_int64), ("seed", ctypes.c_int64), ("ranks", ctypes.c_int64),
                ("mesh", ctypes.c_char_p), ("program", ctypes.c_char_p)]


class _Runtime:
    """The library, and calls that raise what they say."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(find_library())

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call ``shardrt_<name>``, whose last arguments are a place for an error's text.

        Raises: ShardcError with that text.
        """
        problem = ctypes.create_string_buffer(_PROBLEM_BYTES)
        function = getattr(self._library, "shardrt_" + name)
        status = function(*arguments, problem, ctypes.c_size_t(_PROBLEM_BYTES))
        if status:
            raise error_for(status, problem.value.decode(errors="replace"))

    def plain(self, name: str, *arguments: Any) -> int:
        """Call ``shardrt_<name>``, which cannot fail."""
        function = getattr(self._library, "shardrt_" + name)
        function.restype = ctypes.c_int64
        result: int = function(*arguments)
        return result


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds: ``values`` by name, whole, and what was going on when it was saved."""

    step: int
    values: dict[str, Any]
    seed: int
    ranks: int
    mesh: str
    program: str


def save(directory: "str | os.PathLike[str]", values: Any, *, step: int, seed: int = 0, keep: int = 0) -> Path:
    """Save arrays as the checkpoint of ``step``, from which ``shard-run --resume`` goes on as from its own.

    Args:
        directory: of checkpoints; made if it is not there.
        values: arrays by name, or any tree that JAX knows: leaves are called as ``jax.tree_util.keystr`` calls them.
        step: how many steps are done.
        seed: of random inputs, for the record.
        keep: the number of checkpoints to leave; 0: all.

    Returns: the folder of the checkpoint, which is whole and on the disk.
    Raises: RunError where it cannot be written, is there already, or another job saves there.
    """
    arrays = {name: numpy.ascontiguousarray(array).reshape(numpy.shape(array)) for name, array in _leaves(values)}
    described = (_Value * len(arrays))()
    kept = []
    for place, (name, array) in zip(described, arrays.items(), strict=True):
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        boxes = (ctypes.c_int64 * (2 * array.ndim))(*(bound for size in array.shape for bound in (0, size)))
        kept.append((shape, boxes))
        place.name, place.element_type = name.encode(), name_of(array.dtype).encode()
        place.num_dims, place.shape, place.boxes = array.ndim, shape, boxes
    info = _Info(step, seed, 1, b"", b"")
    call = _Runtime()
    checkpoints, saving = ctypes.c_void_p(), ctypes.c_void_p()
    call("checkpoints_open", os.fsencode(directory), 1, ctypes.byref(checkpoints))
    try:
        call("save_begin", checkpoints, ctypes.byref(info), described, ctypes.c_int64(len(arrays)),
             ctypes.byref(saving))
        data = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays.values()))
        call("save_create", saving)
        call("save_write", saving, ctypes.c_int64(0), data)
        call("save_commit", saving, ctypes.c_int64(keep))
    finally:
        call.plain("save_end", saving)
        call.plain("checkpoints_close", checkpoints)
    return Path(directory) / f"step-{step:08}"


def restore(directory: "str | os.PathLike[str]", step: int | None = None, like: Any = None) -> Checkpoint:
    """Read a checkpoint: whole arrays, whatever mesh has saved it.

    Args:
        directory: of checkpoints, as ``save`` and ``--checkpoint`` name it.
        step: of which; None: the last one.
        like: a tree whose leaves are called as the values: ``values`` of the result is such a tree then.

    Raises: RunError where there is none, or something of it is missing or damaged; KeyError where ``like`` has a leaf
    that the checkpoint lacks.
    """
    call = _Runtime()
    checkpoints, restoring = ctypes.c_void_p(), ctypes.c_void_p()
    call("checkpoints_open", os.fsencode(directory), 0, ctypes.byref(checkpoints))
    try:
        if step is None:
            step = _last_step(call, checkpoints, directory)
        call("restore_begin", checkpoints, ctypes.c_int64(step), ctypes.byref(restoring))
        call("restore_verify", restoring, ctypes.c_int64(0), ctypes.c_int64(1))
        values = {}
        for number in range(call.plain("restore_num_values", restoring)):
            described = _Value()
            call.plain("restore_value", restoring, ctypes.c_int64(number), ctypes.byref(described))
            array = numpy.empty(described.shape[:described.num_dims], type_of(described.element_type.decode()))
            box = (ctypes.c_int64 * (2 * array.ndim))(*(bound for size in array.shape for bound in (0, size)))
            call("restore_box", restoring, ctypes.c_int64(number), box, ctypes.c_void_p(array.ctypes.data))
            values[described.name.decode()] = array
        info = _Info()
        call.plain("restore_info", restoring, ctypes.byref(info))
        return Checkpoint(info.step, _shaped(values, like), info.seed, info.ranks, info.mesh.decode(),
                          info.program.decode())
    finally:
        call.plain("restore_end", restoring)
        call.plain("checkpoints_close", checkpoints)


def _last_step(call: _Runtime, checkpoints: ctypes.c_void_p, directory: "str | os.PathLike[str]") -> int:
    problem = ctypes.create_string_buffer(_PROBLEM_BYTES)
    size = ctypes.c_size_t(_PROBLEM_BYTES)
    count = call.plain("checkpoints_steps", checkpoints, None, ctypes.c_int64(0), problem, size)
    if count < 0:
        raise error_for(7, problem.value.decode(errors="replace"))
    steps = (ctypes.c_int64 * count)()
    found = call.plain("checkpoints_steps", checkpoints, steps, ctypes.c_int64(count), problem, size)
    if min(count, found) <= 0:
        raise error_for(7, f"{os.fspath(directory)}: holds no checkpoint")
    return steps[min(count, found) - 1]


def _leaves(values: Any) -> list[tuple[str, Any]]:
    if isinstance(values, Mapping) and all(isinstance(name, str) and hasattr(array, "dtype")
                                           for name, array in values.items()):
        return list(values.items())
    import jax

    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_flatten_with_path(values)[0]]


def _shaped(values: dict[str, Any], like: Any) -> Any:
    if like is None:
        return values
    names = [name for name, _ in _leaves(like)]
    if missing := [name for name in names if name not in values]:
        raise KeyError(f"the checkpoint has no value {missing[0]!r}; it has {', '.join(values) or 'none'}")
    if isinstance(like, Mapping) and names == list(like):
        return {name: values[name] for name in names}
    import jax

    return jax.tree.unflatten(jax.tree.structure(like), [values[name] for name in names])

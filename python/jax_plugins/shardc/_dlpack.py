"""DLPack for arrays on shardc's devices. JAX itself exports those of platforms ``cpu`` and ``gpu`` alone."""

import ctypes
from typing import Any

import numpy

KDL_CPU = 1
"""kDLCPU of dlpack.h: memory that the host reads and writes."""
_KDL_BFLOAT = 4
_TYPE_CODE = 20
"""Where DLTensor has its type's code: behind a pointer, the device's two numbers, and the number of dims."""


class _Memory:
    """An array's memory as NumPy takes it, writable as consumers of DLPack expect; holds what keeps it."""

    def __init__(self, held: numpy.ndarray[Any, Any], dtype: Any) -> None:
        self.held = held
        pointer = held.__array_interface__["data"][0]
        self.__array_interface__ = {
            "version": 3, "shape": held.shape, "typestr": numpy.dtype(dtype).str, "data": (pointer, False),
            "strides": held.strides}  # fmt: skip


def export(array: Any, *, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
    """A DLPack capsule of an array on one device, sharing its memory unless `copy` is true.

    The array stays where it is as long as the capsule's consumer lives, donated or not.
    BufferError: for another device than the host's, or a type that DLPack or NumPy does not have.
    """
    if dl_device is not None and (int(dl_device[0]), dl_device[1]) != (KDL_CPU, 0):
        raise BufferError(f"arrays on shardc are exported to the host (1, 0), not to DLPack's device {dl_device}")
    host = numpy.asarray(array)
    if copy:
        host = host.copy()
    if host.dtype.name != "bfloat16":
        return numpy.asarray(_Memory(host, host.dtype)).__dlpack__()
    capsule = numpy.asarray(_Memory(host, numpy.uint16)).__dlpack__()
    tensor = ctypes.pythonapi.PyCapsule_GetPointer
    tensor.restype, tensor.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    ctypes.c_uint8.from_address(tensor(capsule, b"dltensor") + _TYPE_CODE).value = _KDL_BFLOAT
    return capsule

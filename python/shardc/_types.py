"""Types of elements, as MLIR spells them and as NumPy has them."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy

DType = numpy.dtype[Any]

_PLAIN = {"i1": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "complex<f32>": "complex64",
          "complex<f64>": "complex128",
          **{f"{sign}i{bits}": f"{'u' if sign else ''}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}
_EXTENDED = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3": "float8_e4m3",
             "f8E3M4": "float8_e3m4", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz",
             "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E8M0FNU": "float8_e8m0fnu", "f4E2M1FN": "float4_e2m1fn",
             "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn",
             "i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4"}
_NAMES = {numpy_name: name for name, numpy_name in {**_PLAIN, **_EXTENDED}.items()}
NAMES = tuple(_NAMES.values())
"""All of them, as MLIR spells them."""


@functools.cache
def extended_type(name: str) -> DType | None:
    """The type of elements ``name`` ("bf16") that NumPy itself lacks; None where it has one, or none is installed."""
    if name not in _EXTENDED:
        return None
    try:
        import ml_dtypes
    except ImportError:
        return None
    kind = getattr(ml_dtypes, _EXTENDED[name], None)
    return None if kind is None else numpy.dtype(kind)


@functools.cache
def type_of(name: str) -> DType:
    """The NumPy type of elements that MLIR spells ``name``.

    Raises: TypeError where there is none, or ml_dtypes has it and is not installed.
    """
    kind = numpy.dtype(_PLAIN[name]) if name in _PLAIN else extended_type(name)
    if kind is None:
        raise TypeError(f"no NumPy type for elements of type {name}; install ml_dtypes")
    return kind


@functools.cache
def name_of(kind: DType) -> str:
    """How MLIR spells a NumPy type of elements. Raises: TypeError for one that it has no word for."""
    name = _NAMES.get(kind.name)
    if name is None:
        raise TypeError(f"no program has elements of type {kind}")
    return name


def describe(kind: DType, shape: Sequence[object]) -> str:
    """As JAX prints a type: ``f32[8,4]``."""
    name = _NAMES.get(kind.name, kind.name)
    name = {"complex<f32>": "c64", "complex<f64>": "c128", "i1": "bool"}.get(name, name)
    return f"{name}[{','.join(map(str, shape))}]"

"""What one call of a program costs, over its step, through the C API.

    call_cost.py [--library PATH] [--arguments 1,10,100] [--devices 1,2,4] [--calls N] [--json FILE]

The program adds 1 to each of its arguments, 8 numbers each, whole on every device. Prints for each number of arguments and devices the time of a call and the
processor time of the process in a call, in ns: the least of 5 rounds of N calls, each of which is waited for. Python's own part of it is about 1 µs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from pathlib import Path


class EngineOptions(ctypes.Structure):
    """shardc_engine_options of shardc-c/shardc.h."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("devices", ctypes.c_int64),
        ("target", ctypes.c_char_p),
        ("threads", ctypes.c_int64),
        ("timeout_ms", ctypes.c_int64),
        ("host", ctypes.c_void_p),
        ("host_user", ctypes.c_void_p),
        ("cache_directory", ctypes.c_char_p),
    )


class Option(ctypes.Structure):
    """shardc_option."""

    _fields_ = (("name", ctypes.c_char_p), ("value", ctypes.c_char_p))


class HostData(ctypes.Structure):
    """shardc_host_data."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("element_type", ctypes.c_int32),
        ("num_dims", ctypes.c_int64),
        ("dims", ctypes.c_void_p),
        ("byte_strides", ctypes.c_void_p),
        ("semantics", ctypes.c_int),
        ("released", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
    )


def open_library(path: Path) -> ctypes.CDLL:
    """The library, with results that are addresses declared so."""
    library = ctypes.CDLL(str(path))
    for name in ("engine_create", "compile", "buffer_from_host", "execute", "event_await"):
        getattr(library, f"shardc_{name}").restype = ctypes.c_void_p
    library.shardc_error_message.restype = ctypes.c_char_p
    return library


def check(library: ctypes.CDLL, error: int | None) -> None:
    """Raise RuntimeError for an error."""
    if error:
        raise RuntimeError(library.shardc_error_message(ctypes.c_void_p(error)).decode())


def model(arguments: int) -> bytes:
    """A program that adds 1 to each argument."""
    kind = "tensor<8xf32>"
    takes = ", ".join(f"%a{i}: {kind}" for i in range(arguments))
    gives = ", ".join([kind] * arguments)
    body = "".join(f"  %r{i} = stablehlo.add %a{i}, %one : {kind}\n" for i in range(arguments))
    values = ", ".join(f"%r{i}" for i in range(arguments))
    return f"func.func @main({takes}) -> ({gives}) {{\n  %one = stablehlo.constant dense<1.0> : {kind}\n{body}  return {values} : {gives}\n}}\n".encode()


def measure(library: ctypes.CDLL, arguments: int, devices: int, calls: int) -> tuple[float, float]:
    """Time and processor time of a call, in ns."""
    options = EngineOptions(size=ctypes.sizeof(EngineOptions), devices=devices, threads=1, cache_directory=b"")
    engine, program = ctypes.c_void_p(), ctypes.c_void_p()
    check(library, library.shardc_engine_create(ctypes.byref(options), ctypes.byref(engine)))
    text, ranks = model(arguments), Option(b"ranks", str(devices).encode())
    check(
        library,
        library.shardc_compile(
            engine,
            text,
            ctypes.c_size_t(len(text)),
            b"m.mlir",
            ctypes.byref(ranks),
            ctypes.c_size_t(1),
            ctypes.byref(program),
        ),
    )
    values, dims = (ctypes.c_float * 8)(*range(8)), (ctypes.c_int64 * 1)(8)
    data = HostData(
        size=ctypes.sizeof(HostData),
        data=ctypes.addressof(values),
        element_type=library.shardc_element_type_named(b"f32"),
        num_dims=1,
        dims=ctypes.addressof(dims),
    )
    pointers = ctypes.c_void_p * arguments
    inputs, outputs = [pointers() for _ in range(devices)], [pointers() for _ in range(devices)]
    for device, row in enumerate(inputs):
        for i in range(arguments):
            made = ctypes.c_void_p()
            check(
                library,
                library.shardc_buffer_from_host(engine, ctypes.c_int64(device), ctypes.byref(data), ctypes.byref(made)),
            )
            row[i] = made.value
    rows = ctypes.c_void_p * devices
    inputs_of = rows(*(ctypes.addressof(row) for row in inputs))
    outputs_of = rows(*(ctypes.addressof(row) for row in outputs))
    event = ctypes.c_void_p()
    execute, await_event, destroy, release = (
        library[f"shardc_{name}"] for name in ("execute", "event_await", "event_destroy", "buffers_release")
    )
    for function in (execute, await_event):
        function.restype = ctypes.c_void_p
    best = [float("inf"), float("inf")]
    for _ in range(5):
        began, used = time.perf_counter(), time.process_time()
        for _ in range(calls):
            if execute(program, None, inputs_of, outputs_of, ctypes.byref(event)) or await_event(event):
                raise RuntimeError("a call failed")
            destroy(event)
            for row in outputs:
                release(row, ctypes.c_size_t(arguments))
        best = [min(best[0], time.perf_counter() - began), min(best[1], time.process_time() - used)]
    for row in inputs:
        release(row, ctypes.c_size_t(arguments))
    library.shardc_program_destroy(program)
    library.shardc_engine_destroy(engine)
    return best[0] / calls * 1e9, best[1] / calls * 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    root = Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--library", type=Path, default=root / "build/lib/libshardc.so")
    parser.add_argument("--arguments", default="1,3,10,100")
    parser.add_argument("--devices", default="1,2,4")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    library = open_library(options.library)
    report = []
    print(f"{'arguments':>9} {'devices':>7} {'ns a call':>10} {'of processor':>12}")
    for devices in map(int, options.devices.split(",")):
        for arguments in map(int, options.arguments.split(",")):
            wall, processor = measure(library, arguments, devices, options.calls)
            report.append(
                {"arguments": arguments, "devices": devices, "ns": round(wall), "processor_ns": round(processor)}
            )
            print(f"{arguments:>9} {devices:>7} {wall:>10.0f} {processor:>12.0f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

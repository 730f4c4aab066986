"""What a call of shardc.Program costs above its step, from Python on arrays that stay on the devices.

    calls.py [--arguments 1,10,100] [--devices 1,2,4] [--calls 2000] [--gigabytes 1]

Programs add 1 to each of so many small arrays, donated and cut over the devices. ``step``: shardc_execute and the wait for it,
through ctypes, with everything made before. ``call``: program(...) and the wait. ``above``: their difference, the least of
several rounds that take turns; wall time and processor time of the calling thread. The last table is a training loop's
state that goes round: bytes in use before and after, and time of a step, for small steps on large state.
"""

import argparse
import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import shardc
from shardc._native import MemoryStats


def adder(count: int, shape: tuple[int, ...], donated: bool) -> str:
    kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
    given = [f"%a{i}: {kind}" + (f" {{tf.aliasing_output = {i} : i32}}" if donated else "") for i in range(count)]
    lines = [f"func.func @main({', '.join(given)}) -> ({', '.join([kind] * count)}) {{",
             f"  %one = stablehlo.constant dense<1.0> : {kind}"]
    lines += [f"  %r{i} = stablehlo.add %a{i}, %one : {kind}" for i in range(count)]
    results = ", ".join(f"%r{i}" for i in range(count))
    return "\n".join([*lines, f"  return {results} : {', '.join([kind] * count)}", "}"])


def least(calls: int, rounds: int, *bodies: Callable[[], None]) -> list[tuple[float, float]]:
    """Wall and processor time of a call of each, in microseconds."""
    best = [(float("inf"), float("inf"))] * len(bodies)
    for _ in range(rounds):
        for number, body in enumerate(bodies):
            wall, used = time.perf_counter(), time.thread_time()
            for _ in range(calls):
                body()
            took = (time.perf_counter() - wall) / calls * 1e6, (time.thread_time() - used) / calls * 1e6
            best[number] = min(best[number][0], took[0]), min(best[number][1], took[1])
    return best


def overhead(count: int, devices: int, calls: int) -> None:
    program = shardc.compile(adder(count, (devices, 4), donated=False), mesh={"d": devices},
                             in_shardings=[shardc.split(0, "d")] * count)
    held = program.put(*[numpy.zeros((devices, 4), numpy.float32)] * count)
    held = [held] if count == 1 else list(held)
    executable = program._variants[0].executable
    library, frame = executable.engine.library, None
    program(*held)
    frame = executable._frames[0]
    frame.fill([array._packed for array in held])
    results, total = frame.results.ctypes.data, frame.results.size

    def step() -> None:
        assert not library.execute(executable.handle, ctypes.byref(executable._options), frame.inputs, frame.outputs, frame.done_at)
        library.event_wait_for(frame.done.value, 10**9)
        library.event_destroy(frame.done.value)
        library.buffers_release(results, total)

    def call() -> None:
        results = program(*held)
        (results if count == 1 else results[0]).block_until_ready()

    (step_wall, step_cpu), (call_wall, call_cpu) = least(calls, 5, step, call)
    print(f"{count:9} {devices:8} {step_wall:9.1f} {call_wall:9.1f} {call_wall - step_wall:9.1f} {step_cpu:9.1f} "
          f"{call_cpu:9.1f} {call_cpu - step_cpu:9.1f}", flush=True)


def in_use(program: shardc.Program) -> int:
    engine, total = program._variants[0].executable.engine, 0
    for device in range(engine.num_devices):
        stats = MemoryStats()
        engine.library.check(engine.library.engine_memory_stats(engine.handle, device, ctypes.byref(stats)))
        total += stats.bytes_in_use
    return total


def state(gigabytes: float, devices: int, steps: int) -> None:
    """Large parameters of which a step changes one row."""
    rows = max(devices, int(gigabytes * 2**30 / 4 / 1024 / 8))
    kind = f"tensor<{rows}x1024xf32>"
    given = ", ".join(f"%p{i}: {kind} {{tf.aliasing_output = {i} : i32}}" for i in range(8))
    lines = [f"func.func @main({given}, %x: tensor<1x1024xf32>) -> ({', '.join([kind] * 8)}) {{",
             "  %zero = stablehlo.constant dense<0> : tensor<i32>"]
    lines += [f"  %r{i} = stablehlo.dynamic_update_slice %p{i}, %x, %zero, %zero : ({kind}, tensor<1x1024xf32>, "
              f"tensor<i32>, tensor<i32>) -> {kind}" for i in range(8)]
    results = ", ".join(f"%r{i}" for i in range(8))
    text = "\n".join([*lines, f"  return {results} : {', '.join([kind] * 8)}", "}"])
    splits = [shardc.split(1, "d")] * 8 + [shardc.split(1, "d")]
    program = shardc.compile(text, mesh={"d": devices}, in_shardings=splits, out_shardings=splits[:8])
    zeros = numpy.zeros((rows, 1024), numpy.float32)
    *params, row = program.put(*[zeros] * 8, numpy.ones((1, 1024), numpy.float32))
    del zeros
    before = in_use(program)
    for _ in range(3):
        params = program(*params, row)
    params[0].block_until_ready()
    began = time.perf_counter()
    for _ in range(steps):
        params = program(*params, row)
    params[0].block_until_ready()
    took = (time.perf_counter() - began) / steps
    assert params[3][0, 5] == 1 and params[3][rows - 1, 5] == 0
    print(f"{8 * rows * 4096 / 2**30:9.2f} {devices:8} {before / 2**30:9.2f} {in_use(program) / 2**30:9.2f} "
          f"{took * 1e3:9.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arguments", default="1,10,100")
    parser.add_argument("--devices", default="1,2,4")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--gigabytes", type=float, default=1)
    options = parser.parse_args()
    devices = [int(number) for number in options.devices.split(",")]
    print("arguments  devices  step µs   call µs  above µs  step cpu  call cpu above cpu")
    for count in map(int, options.arguments.split(",")):
        for number in devices:
            overhead(count, number, max(10, options.calls // count))
    if options.gigabytes:
        print("\nGiB state  devices  GiB used   later   ms a step")
        for number in devices:
            state(options.gigabytes, number, 50)


if __name__ == "__main__":
    main()

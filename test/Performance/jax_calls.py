"""What calls and first calls cost through JAX on shardc, beside JAX's CPU client with as many virtual devices.

    jax_calls.py [--tables eager,arguments,ops,cache] [--rounds 3] [--calls 1000] [--arguments 1,10,100,1000] [--devices 1,2,4,8] [--json FILE]

eager       `x + 1`, a small jitted function and a few of them in a row, on one device and cut over 4; each waited for, or only the last of all
arguments   a jitted function of so many small arrays cut over so many devices, and as many results; each call waited for
ops         the first call of 1,000 different operations outside of jit, 40 kinds at 25 shapes: processor time of one, by kind
cache       those 1,000 again in a second process, which finds what the first one compiled

Each side has a process of its own on the same cores, and sides take turns by round. A figure is the median of rounds; within a round a call's time is the
least of 5 series. `cpu` is processor time of all threads of the process: other work on the machine is not in it, though it disturbs caches.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SIDES = ("shardc", "jax")


# --- one side, in a process of its own --------------------------------------------------------------------------------


def least(calls: int, call: Callable[[], Any]) -> dict[str, float]:
    """Return microseconds of processor and wall time of a call, in the best of 5 series."""
    for _ in range(20):
        last = call()
    last.block_until_ready()
    best = (float("inf"), float("inf"))
    for _ in range(5):
        wall, used = time.perf_counter(), time.process_time()
        for _ in range(calls):
            last = call()
        last.block_until_ready()
        best = min(best, ((time.process_time() - used) / calls * 1e6, (time.perf_counter() - wall) / calls * 1e6))
    return {"cpu": best[0], "wall": best[1]}


def sharding(devices: int) -> Any:
    import jax
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    return NamedSharding(jax.make_mesh((devices,), ("x",), axis_types=(AxisType.Auto,)), PartitionSpec("x"))


def time_eager(devices: int, calls: int) -> dict[str, dict[str, float]]:
    """Time calls on one array."""
    import jax
    import jax.numpy as jnp

    x = jax.device_put(jnp.ones((8, 16)), sharding(devices))
    small = jax.jit(lambda a: jnp.tanh(a) * 2 + 1)
    total = jax.jit(lambda a: a - a.sum())
    found = {
        "x + 1": least(calls, lambda: x + 1),
        "x + 1, waited": least(calls, lambda: (x + 1).block_until_ready()),
        "jit": least(calls, lambda: small(x)),
        "jit, waited": least(calls, lambda: small(x).block_until_ready()),
        "jit, 4 in a row": least(calls, lambda: small(small(small(small(x)))).block_until_ready()),
    }
    if devices > 1:
        found["jit with a sum, waited"] = least(calls, lambda: total(x).block_until_ready())
    return found


def time_arguments(devices: int, count: int, calls: int) -> dict[str, float]:
    """Time a call of this many arguments."""
    import jax
    import jax.numpy as jnp

    place = sharding(devices)
    held = [jax.device_put(jnp.full((devices, 4), float(i)), place) for i in range(count)]
    step = jax.jit(lambda *given: [a + 1 for a in given])
    return least(max(5, calls // count), lambda: jax.block_until_ready(step(*held))[-1])


def kinds() -> dict[str, Callable[..., Any]]:
    """Forty kinds of operations on a matrix `a`, a square `s` as wide, and a vector `i` of indices."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    return {
        "add": lambda a, s, i: a + a, "multiply": lambda a, s, i: a * a, "divide": lambda a, s, i: a / a,
        "power": lambda a, s, i: lax.pow(a, a), "maximum": lambda a, s, i: lax.max(a, a), "compare": lambda a, s, i: a > a,
        "exp": lambda a, s, i: lax.exp(a), "log": lambda a, s, i: lax.log(a), "tanh": lambda a, s, i: lax.tanh(a),
        "sin": lambda a, s, i: lax.sin(a), "erf": lambda a, s, i: lax.erf(a), "sqrt": lambda a, s, i: lax.sqrt(a),
        "negate": lambda a, s, i: lax.neg(a), "floor": lambda a, s, i: lax.floor(a),
        "convert": lambda a, s, i: lax.convert_element_type(a, jnp.int32), "select": lambda a, s, i: jnp.where(a > 0, a, 0),
        "clip": lambda a, s, i: jnp.clip(a, 0, 1), "reshape": lambda a, s, i: lax.reshape(a, (a.size,)),
        "transpose": lambda a, s, i: lax.transpose(a, (1, 0)), "broadcast": lambda a, s, i: lax.broadcast(a, (2,)),
        "slice": lambda a, s, i: lax.slice(a, (0, 1), a.shape), "pad": lambda a, s, i: lax.pad(a, 0.0, ((1, 1, 0), (0, 2, 0))),
        "concatenate": lambda a, s, i: lax.concatenate([a, a], 0), "reverse": lambda a, s, i: lax.rev(a, (1,)),
        "iota": lambda a, s, i: lax.iota(jnp.int32, a.size), "sum": lambda a, s, i: jnp.sum(a), "sum of rows": lambda a, s, i: jnp.sum(a, 1),
        "max": lambda a, s, i: jnp.max(a, 0), "argmax": lambda a, s, i: jnp.argmax(a, 1), "cumsum": lambda a, s, i: jnp.cumsum(a, 0),
        "sort": lambda a, s, i: lax.sort(a), "top_k": lambda a, s, i: lax.top_k(a, 2), "product": lambda a, s, i: lax.dot(a, s),
        "product with transpose": lambda a, s, i: jnp.einsum("ij,kj->ik", a, a), "gather": lambda a, s, i: a[i],
        "scatter": lambda a, s, i: a.at[i].add(1.0), "dynamic slice": lambda a, s, i: lax.dynamic_slice(a, (1, 1), (2, 2)),
        "softmax": lambda a, s, i: jax.nn.softmax(a), "random bits": lambda a, s, i: jax.random.bits(jax.random.key(0), a.shape),
        "normal": lambda a, s, i: jax.random.normal(jax.random.key(0), a.shape),
    }


def time_ops(shapes: int) -> dict[str, Any]:
    """Return milliseconds of processor time of a first call, by kind, and of all together."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    places = [(4 + 3 * k, 5 + k) for k in range(shapes)]
    given = [jax.device_put((np.ones((r, c), np.float32), np.ones((c, c), np.float32), np.arange(3, dtype=np.int32))) for r, c in places]
    jax.block_until_ready((given, jnp.ones(3) + 1, jax.random.key(0)))
    by_kind, began, processor = {}, time.perf_counter(), time.process_time()
    for name, call in kinds().items():
        times = []
        for arguments in given:
            before = time.process_time()
            jax.block_until_ready(call(*arguments))
            times.append((time.process_time() - before) * 1e3)
        by_kind[name] = statistics.median(times)
    return {"kinds": by_kind, "cpu_s": time.process_time() - processor, "wall_s": time.perf_counter() - began, "count": len(by_kind) * shapes}


def child(what: str, *numbers: str) -> dict[str, Any]:
    return {"eager": time_eager, "arguments": time_arguments, "ops": time_ops}[what](*map(int, numbers))


# --- the tables -------------------------------------------------------------------------------------------------------


def ask(side: str, devices: int, *arguments: object, cache: str = "") -> Any:
    """Return what a process of this side prints; with `cache`, its programs are kept in that folder."""
    given = {"SHARDC_CACHE_DIR": cache, "JAX_ENABLE_COMPILATION_CACHE": "false", "JAX_PLATFORMS": "cpu"}
    if side == "shardc":
        path = f"{ROOT / 'python'}:{os.environ.get('PYTHONPATH', '')}"
        given |= {"JAX_PLATFORMS": "shardc", "SHARDC_DEVICES": str(devices), "PYTHONPATH": path}
    else:
        given["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
        if cache:
            given |= {"JAX_ENABLE_COMPILATION_CACHE": "true", "JAX_COMPILATION_CACHE_DIR": cache}
            given |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | given)
    if run.returncode != 0:
        sys.exit(f"jax_calls: {side} failed on {arguments}:\n{run.stderr[-4000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def interleaved(rounds: int, devices: int, *arguments: object) -> dict[str, list[Any]]:
    """Return what each side prints, by round."""
    found: dict[str, list[Any]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            found[side].append(ask(side, devices, *arguments))
    return found


def cells(ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> str:
    """Medians and spread of microseconds, and the ratio of processor times."""
    texts, medians = [], []
    for rows in (ours, theirs):
        used = [row["cpu"] for row in rows]
        medians.append(statistics.median(used))
        wall = statistics.median(row["wall"] for row in rows)
        texts.append(f"{medians[-1]:.1f} ({min(used):.1f}-{max(used):.1f}) | {wall:.1f}")
    return f"{texts[0]} | {texts[1]} | {medians[0] / medians[1]:.2f}"


def print_eager(options: argparse.Namespace) -> Any:
    print("\n| devices | call | cpu µs (spread) | wall | JAX cpu µs | wall | ratio |\n|---|---|---|---|---|---|---|")
    report = {}
    for devices in (1, 4):
        found = report[devices] = interleaved(options.rounds, devices, "eager", devices, options.calls)
        for name in found["jax"][0]:
            print(f"| {devices} | {name} | {cells(*([row[name] for row in found[side]] for side in SIDES))} |", flush=True)
    return report


def print_arguments(options: argparse.Namespace) -> Any:
    print("\n| arguments | devices | cpu µs (spread) | wall | JAX cpu µs | wall | ratio |\n|---|---|---|---|---|---|---|")
    report = []
    for count in map(int, options.arguments.split(",")):
        for devices in map(int, options.devices.split(",")):
            found = interleaved(options.rounds, devices, "arguments", devices, count, options.calls)
            report.append({"arguments": count, "devices": devices, **found})
            print(f"| {count} | {devices} | {cells(found['shardc'], found['jax'])} |", flush=True)
    return report


def print_ops(options: argparse.Namespace) -> Any:
    found = interleaved(1, 1, "ops", 25)
    ours, theirs = found["shardc"][0], found["jax"][0]
    print("\n| first call of | cpu ms | JAX cpu ms | ratio |\n|---|---|---|---|")
    for name, spent in theirs["kinds"].items():
        mine = ours["kinds"][name]
        print(f"| {name} | {mine:.1f} | {spent:.1f} | {mine / spent:.2f} |")
    print(f"| all {ours['count']}, s | {ours['cpu_s']:.1f} | {theirs['cpu_s']:.1f} | {ours['cpu_s'] / theirs['cpu_s']:.2f} |", flush=True)
    return found


def print_cache(options: argparse.Namespace) -> Any:
    print("\n| 1,000 first calls, s | cpu | wall |\n|---|---|---|")
    report = {}
    for side in SIDES:
        with tempfile.TemporaryDirectory() as folder:
            for turn in ("first", "second"):
                found = report[side, turn] = ask(side, 1, "ops", 25, cache=folder)
                print(f"| {side}, {turn} process | {found['cpu_s']:.1f} | {found['wall_s']:.1f} |", flush=True)
    return [{"side": side, "process": turn, **found} for (side, turn), found in report.items()]


TABLES = {"eager": print_eager, "arguments": print_arguments, "ops": print_ops, "cache": print_cache}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(*sys.argv[2:])))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--arguments", default="1,10,100,1000")
    parser.add_argument("--devices", default="1,2,4,8")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} cores")
    report = {name: TABLES[name](options) for name in options.tables.split(",")}
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

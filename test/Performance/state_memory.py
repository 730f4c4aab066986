"""What a training step takes of memory beside its parameters, through JAX on shardc and on JAX's CPU client.

    state_memory.py [--megabytes 1024] [--devices 1] [--steps 5] [--model sgd|adam] [--json FILE]

A network of products of 16 MB each is trained with its gradient; all its parameters (and Adam's moments) are donated. Each side has a process of its own.
Columns: MB of the state; the most memory of the process over what it held before the state was made, while steps run and while the first one is compiled as
well; how many arrays of the state moved to other memory in a step (by their addresses); processor time of a step in s. Losses of both must agree.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WIDTH = 2048  # 16 MB a product


def memory_mb(field: str) -> float:
    """Return a field of /proc/self/status in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def forget_peak() -> None:
    """Let the most memory that there was count from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def measure(megabytes: int, devices: int, steps: int, model: str) -> dict[str, Any]:
    """Train in this process."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    arrays = 3 if model == "adam" else 1
    layers = max(megabytes // (arrays * WIDTH * WIDTH * 4 >> 20), 1)
    jax.block_until_ready(jax.jit(lambda x: x + 1)(jnp.zeros(8)))
    before = memory_mb("VmRSS")
    mesh = jax.make_mesh((devices,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rows, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())

    def loss_of(weights: list, x: Any) -> Any:
        for w in weights:
            x = x + jnp.tanh(x @ w)
        return jnp.mean(x * x)

    def step(state: list, x: Any) -> tuple:
        loss, gradients = jax.value_and_grad(loss_of)([layer[0] for layer in state], x)
        new = []
        for (w, *moments), g in zip(state, gradients, strict=True):
            if moments:
                m, v = 0.9 * moments[0] + 0.1 * g, 0.99 * moments[1] + 0.01 * g * g
                new.append((w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v))
            else:
                new.append((w - 0.1 * g,))
        return new, loss

    x = jax.device_put(jnp.linspace(-1, 1, 8 * WIDTH).reshape(8, WIDTH), whole)
    first = jax.jit(
        lambda i: jnp.sin(i + jnp.arange(WIDTH * WIDTH, dtype=jnp.float32)).reshape(WIDTH, WIDTH) * (0.5 / WIDTH**0.5),
        out_shardings=rows,
    )
    zeros = jax.jit(lambda: jnp.zeros((WIDTH, WIDTH)), out_shardings=rows)
    state = [(first(float(i)), *(zeros() for _ in range(arrays - 1))) for i in range(layers)]
    jax.block_until_ready(state)
    held = sum(a.nbytes for a in jax.tree.leaves(state)) / 2**20
    run = jax.jit(step, donate_argnums=0, out_shardings=([(rows,) * arrays] * layers, whole))

    def places() -> list[int]:
        return [s.data.unsafe_buffer_pointer() for a in jax.tree.leaves(state) for s in a.addressable_shards]

    forget_peak()
    state, loss = run(state, x)
    jax.block_until_ready(loss)
    with_compilation = memory_mb("VmHWM") - before
    moved, seconds = 0, 0.0
    forget_peak()
    for _ in range(steps):
        old, began = places(), time.process_time()
        state, loss = run(state, x)
        jax.block_until_ready((state, loss))
        seconds += time.process_time() - began
        moved += sum(a != b for a, b in zip(old, places(), strict=True))
    return {
        "state_mb": held,
        "peak_mb": memory_mb("VmHWM") - before,
        "peak_with_compilation_mb": with_compilation,
        "moved": moved / steps,
        "seconds": seconds / steps,
        "loss": float(loss),
    }


def main() -> int:
    """Run both sides and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--model", choices=("sgd", "adam"), default="sgd")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(options.megabytes, options.devices, options.steps, options.model)))
        return 0
    figures = {}
    print(f"{'':8}{'state':>8}{'steps':>9}{'compiled':>10}{'moved':>7}{'s/step':>8}{'loss':>12}")
    for side in ("cpu", "shardc"):
        environment = dict(
            os.environ,
            JAX_PLATFORMS=side,
            SHARDC_DEVICES=str(options.devices),
            SHARDC_CACHE_DIR="",
            XLA_FLAGS=f"--xla_force_host_platform_device_count={options.devices}",
        )
        command = [
            sys.executable,
            __file__,
            "--side",
            side,
            "--megabytes",
            str(options.megabytes),
            "--devices",
            str(options.devices),
            "--steps",
            str(options.steps),
            "--model",
            options.model,
        ]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
        row = figures[side] = json.loads(done.stdout.splitlines()[-1])
        print(
            f"{side:8}{row['state_mb']:8.0f}{row['peak_mb']:9.0f}{row['peak_with_compilation_mb']:10.0f}{row['moved']:7.1f}{row['seconds']:8.2f}{row['loss']:12.6f}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    if abs(figures["cpu"]["loss"] - figures["shardc"]["loss"]) > 1e-4 * abs(figures["cpu"]["loss"]):
        print("losses differ", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

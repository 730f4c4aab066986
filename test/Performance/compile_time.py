"""What compilation takes, beside JAX's own of the same text on its CPU client, in the same run.

    compile_time.py [--tool PATH] [--peer PYTHON] [--eager N] [--layers KIND:N,...] [FILE.mlir ...]

Rows: what JAX compiles for single operations outside of jit (in one process, which is warm; the median of N compilations each, N of --eager, 0 for none), unrolled layers (`mlp`, `mlp_train`,
`transformer`, `transformer_train`, by number of layers), and files, such as the corpus'. Layers and files have a process each, which
has compiled a small program before: what a process pays once, for its first program, is in no figure. Columns: milliseconds of processor time of both, their ratio (above 1:
shardc takes longer), and for those with a process of their own the megabytes that it held at most. JAX starts from the parsed text: tracing is no part of its figure, while ours has parsing in it. The
figures of JAX are without its cache of compiled programs. PYTHON has jax; TOOL is the target `compile-time` (`ninja compile-time`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
LAYERS = "mlp_train:1,mlp_train:10,mlp_train:100,transformer_train:1,transformer_train:12"


# --- programs, written by JAX -----------------------------------------------------------------------------------------


def eager_programs() -> dict[str, str]:
    """Return the texts of single operations as JAX lowers them."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    x, square, key = jnp.ones((8, 16)), jnp.ones((64, 64)), jax.random.key(0)
    wide, image, filters = jnp.ones((512, 512)), jnp.ones((2, 16, 16, 8)), jnp.ones((3, 3, 8, 16))
    batch, indices = jnp.ones((4, 32, 32)), jnp.arange(8)

    def convolve(a, b):
        return lax.conv_general_dilated(a, b, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def convolve_first(a, b):
        return lax.conv_general_dilated(a, b, (1, 1), "SAME")

    calls = {
        "x + 1": (lambda a: a + 1, x),
        "exp": (jnp.exp, x),
        "where": (lambda a: jnp.where(a > 0, a, 0), x),
        "convert": (lambda a: a.astype(jnp.int32), x),
        "iota": (lambda: jnp.arange(100),),
        "sum": (jnp.sum, x),
        "cumsum": (lambda a: jnp.cumsum(a, axis=0), x),
        "softmax": (jax.nn.softmax, x),
        "dot 64": (lambda a, b: a @ b, square, square),
        "dot 512": (lambda a, b: a @ b, wide, wide),
        "dot of vectors": (jnp.dot, jnp.ones(1000), jnp.ones(1000)),
        "dot matrix vector": (jnp.dot, wide, jnp.ones(512)),
        "dot batched": (lambda a, b: a @ b, batch, batch),
        "conv": (convolve_first, jnp.ones((2, 8, 16, 16)), jnp.ones((16, 8, 3, 3))),
        "conv channels last": (convolve, image, filters),
        "conv gradient": (jax.grad(lambda b, a: convolve(a, b).sum()), filters, image),
        "max over rows": (lambda a: a.max(1), wide),
        "sum over columns": (lambda a: a.sum(0), wide),
        "argmax": (lambda a: jnp.argmax(a, 1), x),
        "tanh": (jnp.tanh, x),
        "power": (jnp.power, x, x),
        "gelu": (jax.nn.gelu, x),
        "layer norm": (jax.nn.standardize, x),
        "max pool": (lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), image),
        "scatter add": (lambda a, i: a.at[i].add(1.0), x, indices),
        "pad": (lambda a: jnp.pad(a, 1), x),
        "slice": (lambda a: a[2:4, 3:], x),
        "fft": (jnp.fft.fft, jnp.ones((8, 64))),
        "transpose": (lambda a: a.T, x),
        "concatenate": (lambda a: jnp.concatenate([a, a]), x),
        "gather": (lambda a, i: a[i], x, jnp.array([1, 2, 3])),
        "dynamic_update_slice": (lambda a, i: lax.dynamic_update_slice(a, jnp.zeros((1, 16)), (i, 0)), x, 3),
        "sort": (jnp.sort, x),
        "random bits": (lambda k: jax.random.bits(k, (128,)), key),
        "normal": (lambda k: jax.random.normal(k, (128,)), key),
        "scan": (lambda a: lax.scan(lambda c, _: (c * 2 + 1, c.sum()), a, None, length=5), x),
    }
    return {name: jax.jit(call).lower(*arguments).as_text() for name, (call, *arguments) in calls.items()}


def layers(kind: str, count: int) -> str:
    """Return the text of `count` unrolled layers of 64 features on a mesh of 2 by 2: batch along one axis, features along the other."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *spec: str | None):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    def norm(x, scale):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale

    def block(p, x):
        batch, tokens, features = x.shape
        h = norm(x, p["g1"])
        q, k, v = ((h @ p[name]).reshape(batch, tokens, 4, features // 4).transpose(0, 2, 1, 3) for name in ("wq", "wk", "wv"))
        weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / (features // 4) ** 0.5, -1)
        x = x + jnp.einsum("bhqk,bhkd->bhqd", weights, v).transpose(0, 2, 1, 3).reshape(x.shape) @ p["wo"]
        return x + jax.nn.gelu(norm(x, p["g2"]) @ p["w1"]) @ p["w2"]

    def model(parameters, x):
        for p in parameters:
            x = block(p, x) if kind.startswith("transformer") else jax.nn.relu(x @ p["w"] + p["b"])
        return x

    def step(parameters, x, y):
        loss, slopes = jax.value_and_grad(lambda p: jnp.mean((model(p, x) - y) ** 2))(parameters)
        return loss, jax.tree.map(lambda p, g: p - 0.01 * g, parameters, slopes)

    if kind.startswith("transformer"):
        one = {name: array((64, 64), None, "model") for name in ("wq", "wk", "wv", "wo")}
        one |= {"w1": array((64, 256), None, "model"), "w2": array((256, 64), "model", None), "g1": array((64,)), "g2": array((64,))}
        x = array((4, 32, 64), "data")
    else:
        one, x = {"w": array((64, 64), None, "model"), "b": array((64,), "model")}, array((32, 64), "data", None)
    parameters = [one] * count
    lowered = jax.jit(step).lower(parameters, x, x) if kind.endswith("_train") else jax.jit(model).lower(parameters, x)
    return lowered.as_text()


# --- the peer: runs in a process of its own ---------------------------------------------------------------------------


def write_programs(folder: Path, eager: bool, wanted: list[str]) -> None:
    """Write the texts of all programs into `folder`."""
    if eager:
        for name, text in eager_programs().items():
            (folder / f"{name}.mlir").write_text(text)
    for spec in wanted:
        kind, count = spec.split(":")
        (folder / f"{spec}.mlir").write_text(layers(kind, int(count)))


def compile_with_jax(files: list[str], repeat: int) -> None:
    """Compile each file `repeat` times and print a line for it as the tool does."""
    import resource

    import jax
    import jaxlib._jax
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    jax.jit(lambda x: x * 3).lower(1.0).compile()
    for file in files:
        text = Path(file).read_text()
        found = re.search(r"num_partitions = (\d+)", text)
        count = int(found.group(1)) if found else 1
        options = compiler.get_compile_options(num_replicas=1, num_partitions=count, device_assignment=np.arange(count).reshape(1, count))
        options.executable_build_options.use_spmd_partitioning = count > 1
        options.executable_build_options.use_shardy_partitioner = True
        devices = jaxlib._jax.DeviceList(tuple(jax.devices()[:count]))
        times = []
        for _ in range(repeat):
            with mlir.make_ir_context():
                module = ir.Module.parse(text)
                start = time.process_time()
                compiler.backend_compile_and_load(jax.devices()[0].client, module, devices, options, [])
                times.append((time.process_time() - start) * 1e3)
        print(json.dumps({"file": file, "median": statistics.median(times[1:] or times), "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)


# --- the table --------------------------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Return that of processes with JAX: its CPU client, enough devices, nothing compiled before."""
    given = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=16",
        "JAX_ENABLE_COMPILATION_CACHE": "false",
    }
    return os.environ | given


def lines_of(command: list[str]) -> dict[str, dict[str, float]]:
    """Return what a process prints for each file; it may die on the way."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        print(f"{command[-1]}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return {line["file"]: line for line in lines}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--tool", default=str(ROOT / "build" / "bin" / "compile-time"))
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--eager", type=int, default=11)
    parser.add_argument("--layers", default=LAYERS)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--compile-with-jax", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = [spec for spec in options.layers.split(",") if spec]
    if options.write:
        write_programs(Path(options.write), options.eager > 0, wanted)
        return 0
    if options.compile_with_jax:
        compile_with_jax(options.files, options.compile_with_jax)
        return 0

    def row(name: str, ours: dict[str, float] | None, theirs: dict[str, float] | None, alone: bool) -> None:
        times = [line["median"] if line else float("nan") for line in (ours, theirs)]
        peaks = [f"{line['peak'] / 1024:.0f}" if line and alone else "" for line in (ours, theirs)]
        print(f"| {name} | {times[0]:.1f} | {times[1]:.1f} | {times[0] / times[1]:.2f} | {peaks[0]} | {peaks[1]} |", flush=True)

    print("| program | ms | JAX ms | ratio | MB | JAX MB |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        this = [options.peer, __file__]
        written = [*this, "--eager", str(options.eager), "--layers", options.layers, "--write", folder]
        subprocess.run(written, env=environment(), check=True)
        singles = [] if options.eager == 0 else sorted(str(path) for path in Path(folder).iterdir() if ":" not in path.name)
        if singles:
            ours = lines_of([options.tool, f"--repeat={options.eager}", *singles])
            theirs = lines_of([*this, "--compile-with-jax", str(options.eager), *singles])
            for file in singles:
                row(Path(file).stem, ours.get(file), theirs.get(file), alone=False)
        for file in [f"{folder}/{spec}.mlir" for spec in wanted] + options.files:
            ours = lines_of([options.tool, "--repeat=1", "--warm", file])
            theirs = lines_of([*this, "--compile-with-jax", "1", file])
            row(Path(file).stem, ours.get(file), theirs.get(file), alone=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

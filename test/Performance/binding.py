"""Time how long binding a program to sizes takes, beside compiling it for them.

    binding.py [NAME...] [--bindings N] [--mesh x=1024] [--shard-translate PATH]

Compiles programs of the corpus with all sizes left open, on their mesh or on one with other sizes, loads each into this
process, and binds it to N vectors of random sizes. Prints microseconds of a binding in the runtime, of one in the engine
the first time and when it is known (as processor time), how much memory N bindings of the runtime leave behind, and
milliseconds that shard-translate takes for one vector of sizes.
"""

import argparse
import ctypes
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "Execution" / "corpus"), str(ROOT / "python")]
from binding import random_sizes
from check import read_manifest
from shardc._executable import Executable
from shardc._native import Binding, GivenSizes

NAMES = ["conv_halo", "unet2d_train", "gnn_message_passing_train", "vit_train", "attn_causal_vjp"]


class Given(ctypes.Structure):
    """shardrt_given."""

    _fields_ = (("argument", ctypes.c_int64), ("dim", ctypes.c_int64), ("shards", ctypes.c_int64),
                ("sizes", ctypes.POINTER(ctypes.c_int64)))


def draw(entry: dict, mesh: dict[str, int], source: random.Random) -> list[Given]:
    """Sizes for every argument dim that is cut."""
    given = []
    for number, arg in enumerate(entry["args"]):
        for dim, axes in enumerate(arg.get("spec") or []):
            shards = 1
            for axis in [axes] if isinstance(axes, str) else axes or []:
                shards *= mesh[axis]
            if shards > 1:
                sizes = random_sizes(source, arg["shape"][dim], shards)
                given.append(Given(number, dim, shards, (ctypes.c_int64 * shards)(*sizes)))
    return given


def in_engine(artifact: Path, vectors: list[list[Given]]) -> tuple[float, float]:
    """Seconds of processor time for the first binding to each of some sizes, and for one that is known."""
    program = Executable.load(artifact.read_bytes())
    library, took = program.engine.library, []
    for vector in vectors:
        given = (GivenSizes * max(1, len(vector)))(*[(g.argument, g.dim, g.shards, ctypes.addressof(g.sizes.contents)) for g in vector])
        binding, bound = Binding(given, len(vector)), ctypes.c_void_p()
        times = []
        for _ in range(2):
            begin = time.process_time()
            error = library.program_bind(program.handle, ctypes.byref(binding), ctypes.byref(bound))
            times.append(time.process_time() - begin)
            library.check(error)
            library.program_destroy(bound)
        took.append(times)
    first, known = zip(*took, strict=True)
    return median(first), median(known)


def median(times: Iterable[float]) -> float:
    ordered = sorted(times)
    return ordered[len(ordered) // 2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--bindings", type=int, default=1000)
    parser.add_argument("--mesh", default="", help="other sizes of axes, as shard-translate takes them")
    parser.add_argument("--shard-translate", default=str(ROOT / "build" / "bin" / "shard-translate"))
    options = parser.parse_args()
    # Artifacts find the runtime among the symbols of the process.
    library = ctypes.CDLL(str(ROOT / "build" / "lib" / "libshardrt.so"), mode=ctypes.RTLD_GLOBAL)
    corpus = ROOT / "test" / "Execution" / "corpus"
    entries = {entry["name"]: entry for entry in read_manifest(corpus)}
    resized = {axis: int(size) for axis, size in (part.split("=") for part in options.mesh.split(",") if part)}
    meshed = [f"--mesh={options.mesh}"] if resized else []
    print(f"{'program':28} {'runtime, us':>12} {'engine, us':>11} {'known, us':>10} {'compiling, ms':>14} {'KB left':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or NAMES:
            entry, artifact = entries[name], f"{folder}/{name}.so"
            model = str(corpus / entry["file"])
            subprocess.run([options.shard_translate, model, "--dynamic=all", *meshed, "-o", artifact], check=True)
            begin = time.perf_counter()
            subprocess.run([options.shard_translate, model, "--no-cache", *meshed, "-o", f"{folder}/static.so"], check=True)
            compiling = time.perf_counter() - begin
            error = ctypes.create_string_buffer(1024)
            program = ctypes.c_void_p()
            if library.shardrt_program_load_trusted(artifact.encode(), ctypes.byref(program), error, ctypes.c_size_t(1024)):
                raise SystemExit(f"{name}: {error.value.decode()}")
            source = random.Random(name)
            mesh = {**dict(map(tuple, entry["mesh"])), **resized}
            times, before = [], 0
            for i in range(options.bindings):
                given = draw(entry, mesh, source)
                bound = ctypes.c_void_p()
                array = (Given * max(1, len(given)))(*given)
                begin = time.process_time()
                status = library.shardrt_program_bind(program, array, ctypes.c_int64(len(given)), ctypes.byref(bound), error,
                                                      ctypes.c_size_t(1024))
                times.append(time.process_time() - begin)
                if status:
                    raise SystemExit(f"{name}: {error.value.decode()}")
                library.shardrt_program_destroy(bound)
                if i == options.bindings // 10:
                    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            left = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            library.shardrt_program_destroy(program)
            first, known = in_engine(Path(artifact), [draw(entry, mesh, source) for _ in range(50)])
            print(
                f"{name:28} {median(times) * 1e6:12.0f} {first * 1e6:11.0f} {known * 1e6:10.1f} {compiling * 1e3:14.0f} {left:8}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())

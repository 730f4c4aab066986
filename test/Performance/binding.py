"""Time how long binding a program to sizes takes, beside compiling it for them.

    binding.py [NAME...] [--bindings N] [--shard-translate PATH]

Compiles programs of the corpus with all sizes left open, loads each into this process, and binds it to N vectors of
random sizes. Prints microseconds of a binding, how many formulas there are, how much memory a thousand bindings leave
behind, and milliseconds that shard-translate takes for one vector of sizes.
"""

import argparse
import ctypes
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Execution" / "corpus"))
from binding import random_sizes
from check import read_manifest

NAMES = ["conv_halo", "unet2d_train", "gnn_message_passing_train", "vit_train", "attn_causal_vjp"]


class Given(ctypes.Structure):
    """shardrt_given."""

    _fields_ = (("argument", ctypes.c_int64), ("dim", ctypes.c_int64), ("shards", ctypes.c_int64),
                ("sizes", ctypes.POINTER(ctypes.c_int64)))


def draw(entry: dict, source: random.Random) -> list[Given]:
    """Sizes for every argument dim that is cut, on the mesh of the file."""
    mesh = dict(map(tuple, entry["mesh"]))
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--bindings", type=int, default=1000)
    parser.add_argument("--shard-translate", default=str(ROOT / "build" / "bin" / "shard-translate"))
    options = parser.parse_args()
    # Artifacts find the runtime among the symbols of the process.
    library = ctypes.CDLL(str(ROOT / "build" / "lib" / "libshardrt.so"), mode=ctypes.RTLD_GLOBAL)
    corpus = ROOT / "test" / "Execution" / "corpus"
    entries = {entry["name"]: entry for entry in read_manifest(corpus)}
    print(f"{'program':28} {'binding, us':>12} {'compiling, ms':>14} {'KB left':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or NAMES:
            entry, artifact = entries[name], f"{folder}/{name}.so"
            model = str(corpus / entry["file"])
            subprocess.run([options.shard_translate, model, "--dynamic=all", "-o", artifact], check=True)
            begin = time.perf_counter()
            subprocess.run([options.shard_translate, model, "-o", f"{folder}/static.so"], check=True)
            compiling = time.perf_counter() - begin
            error = ctypes.create_string_buffer(1024)
            program = ctypes.c_void_p()
            if library.shardrt_program_load_trusted(artifact.encode(), ctypes.byref(program), error, ctypes.c_size_t(1024)):
                raise SystemExit(f"{name}: {error.value.decode()}")
            source = random.Random(name)
            times, before = [], 0
            for i in range(options.bindings):
                given = draw(entry, source)
                bound = ctypes.c_void_p()
                array = (Given * max(1, len(given)))(*given)
                begin = time.perf_counter()
                status = library.shardrt_program_bind(program, array, ctypes.c_int64(len(given)), ctypes.byref(bound), error,
                                                      ctypes.c_size_t(1024))
                times.append(time.perf_counter() - begin)
                if status:
                    raise SystemExit(f"{name}: {error.value.decode()}")
                library.shardrt_program_destroy(bound)
                if i == options.bindings // 10:
                    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            left = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            library.shardrt_program_destroy(program)
            median = sorted(times)[len(times) // 2]
            print(f"{name:28} {median * 1e6:12.0f} {compiling * 1e3:14.0f} {left:8}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compile programs of the corpus for a GPU machine that has nothing but a driver.

    prepare.py OUT [NAME...] [--target cuda|emulated-cuda] [--arch sm_90a] [--tools DIR] [--runs ranks|own] [--jobs N] [--timings]

Writes to OUT, for each program on its own mesh and on one rank: an artifact, and a case file (every rank's shards of
the inputs and of the outputs that JAX computed; the format is in Runner.cpp). Also what runs them: the runner, what times peers, the
runtime, the C++ library, ``run.sh``, and ``index.tsv``, a line a case: program, ranks, mesh, artifact, case. Carry OUT
to the machine and run ``bash OUT/run.sh`` there.

``--timings``: also the programs of timings.py, by our kernels and, where a library may do them, as calls of that
(timings.tsv: name, unit, work, goal, artifact, artifact with calls, case, library, floor), what runs the same by others
(peers.py, timings.json), and the corpus for JAX (programs/).
"""

import argparse
import concurrent.futures
import json
import math
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Execution" / "corpus"))
sys.path.insert(0, str(Path(__file__).parent))
import check
from timings import Timing, timings

MAGIC = 0x3145534143445253


def element_types() -> dict[str, tuple[int, int]]:
    """Code and bytes of every element type, by its name in metadata."""
    text = (ROOT / "runtime/include/shardrt/ElementType.h").read_text()
    found = re.findall(r'X\(\w+, (\d+), "([^"]+)", (\d+)\)', text)
    return {name: (int(code), int(size)) for code, name, size in found}


TYPES = element_types()


def read_metadata(runtime: Path, artifact: Path) -> dict:
    """The JSON that an artifact holds about itself.

    Another process loads it: libraries that were loaded stay, and there are many.
    """
    program = ("import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); "
               "l = ctypes.CDLL(sys.argv[2]); print(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(l, "
               "'shardc_metadata'))).decode())")
    result = subprocess.run([sys.executable, "-c", program, runtime, artifact.resolve()],
                            capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def shard_of(array: np.ndarray, value: dict, mesh: list[int], rank: int) -> bytes:
    """One rank's block of ``array``, dense and row-major, as ``value`` of the metadata cuts it."""
    coordinates = np.unravel_index(rank, mesh) if mesh else ()
    block = []
    for dim in value["dims"]:
        at = 0
        for axis in dim["axes"]:
            at = at * mesh[axis] + int(coordinates[axis])
        block.append(slice(dim["boundaries"][at], dim["boundaries"][at + 1]))
    return np.ascontiguousarray(array[tuple(block)]).tobytes()


def write_case(path: Path, metadata: dict, data: Path, relative: float, absolute: float) -> int:
    """Write every rank's shards; returns the number of ranks."""
    arrays = np.load(data)
    mesh = [axis["size"] for axis in metadata["mesh"]]
    ranks = math.prod(mesh)
    parts = [struct.pack("<5q2d", MAGIC, 1, ranks, len(metadata["arguments"]), len(metadata["results"]), relative,
                         absolute)]

    def add(prefix: str, number: int, value: dict) -> None:
        array = arrays[f"{prefix}{number}"]
        if list(array.shape) != value["shape"] or array.itemsize != TYPES[value["type"]][1]:
            raise ValueError(f"{prefix}{number} is {array.dtype} {array.shape}, expected {value['type']} {value['shape']}")
        for rank in range(ranks):
            block = shard_of(array, value, mesh, rank)
            parts.append(struct.pack("<q", len(block)) + block + bytes(-len(block) % 8))

    for number, value in enumerate(metadata["arguments"]):
        add("in", number, value)
    for number, value in enumerate(metadata["results"]):
        parts.append(struct.pack("<q", TYPES[value["type"]][0]))
        add("out", number, value)
    path.write_bytes(b"".join(parts))
    return ranks


def prepare(options: argparse.Namespace, entry: dict, run: check.Run) -> tuple[str, str]:
    """One case: its line of the index, or an empty one and what went wrong."""
    name = f"{entry['name']}.{run.mesh.replace('=', '').replace(',', '_')}"
    artifact = options.out / f"{name}.so"
    command = [options.tools / "shard-translate", check.HERE / entry["file"], f"--target={options.target}", "--precision=highest",
               *run.flags, "-o", artifact]
    if options.target == "cuda":
        command.append(f"--arch={options.arch}")
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if result.returncode:
        return "", f"{name}: {(result.stderr.splitlines() or ['failed'])[0]}"
    try:
        metadata = read_metadata(options.runtime, artifact)
        ranks = write_case(options.out / f"{name}.case", metadata, check.HERE / entry["data"], entry["rtol"],
                           entry["atol"])
    except (ValueError, KeyError, subprocess.CalledProcessError) as error:
        return "", f"{name}: {error}"
    return "\t".join([entry["name"], str(ranks), run.mesh, f"{name}.so", f"{name}.case"]), ""


def write_timed_case(path: Path, metadata: dict) -> int:
    """A case without data: the runner makes it up. Returns the number of ranks."""
    mesh = [axis["size"] for axis in metadata["mesh"]]
    ranks = math.prod(mesh)
    parts = [struct.pack("<5q2d", MAGIC, 2, ranks, len(metadata["arguments"]), len(metadata["results"]), 0.0, 0.0)]
    for value in [*metadata["arguments"], *metadata["results"]]:
        code, size = TYPES[value["type"]]
        parts.append(struct.pack("<q", code))
        for rank in range(ranks):
            coordinates = np.unravel_index(rank, mesh) if mesh else ()
            count = 1
            for dim in value["dims"]:
                at = 0
                for axis in dim["axes"]:
                    at = at * mesh[axis] + int(coordinates[axis])
                count *= dim["boundaries"][at + 1] - dim["boundaries"][at]
            parts.append(struct.pack("<q", count * size))
    path.write_bytes(b"".join(parts))
    return ranks


def prepare_timing(options: argparse.Namespace, number: int, timing: Timing) -> tuple[str, str]:
    """One timing: its line of timings.tsv, or an empty one and what went wrong."""
    model = options.out / f"timing{number}.mlir"
    model.write_text(timing.text)
    artifacts = []
    for kernels in ["generated"] + ["library"] * bool(timing.library):
        artifact = options.out / f"timing{number}.{kernels}.so"
        command = [options.tools / "shard-translate", model, f"--target={options.target}", f"--kernels={kernels}",
                   "--precision=highest", *timing.flags, "-o", artifact]
        if options.target == "cuda":
            command.append(f"--arch={options.arch}")
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if result.returncode:
            return "", f"{timing.name}: {(result.stderr.splitlines() or ['failed'])[0]}"
        artifacts.append(artifact)
    model.unlink()
    write_timed_case(options.out / f"timing{number}.case", read_metadata(options.runtime, artifacts[0]))
    fields = [timing.name, timing.unit, f"{timing.work:.0f}", f"{timing.goal:g}", artifacts[0].name,
              artifacts[1].name if timing.library else "-", f"timing{number}.case", timing.library or "-",
              timing.floor or "-"]
    return "\t".join(fields), ""


def prepare_timings(options: argparse.Namespace) -> list[str]:
    """All timings, and what others need; returns what went wrong."""
    wanted = timings(tiny=options.target != "cuda")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda pair: prepare_timing(options, *pair), enumerate(wanted)))
    (options.out / "timings.tsv").write_text("".join(f"{line}\n" for line, _ in done if line))
    (options.out / "timings.json").write_text(json.dumps([{"name": t.name, "shape": t.shape} for t in wanted]))
    programs = options.out / "programs"
    programs.mkdir(exist_ok=True)
    for entry in check.read_manifest(check.HERE):
        if "data" in entry and (not options.names or entry["name"] in options.names):
            shutil.copy2(check.HERE / entry["file"], programs)
    shutil.copy2(Path(__file__).with_name("peers.py"), options.out)
    return [problem for _, problem in done if problem]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all that have stored outputs)")
    parser.add_argument("--target", choices=("cuda", "emulated-cuda"), default="cuda")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin", help="where shard-translate is built")
    parser.add_argument("--runs", choices=("ranks", "own"), default="ranks", help="ranks: on one rank as well")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timings", action="store_true", help="also what is timed beside others")
    options = parser.parse_args()
    options.tools = options.tools.resolve()
    options.runtime = options.tools.parent / "lib" / "libshardrt.so"
    options.out.mkdir(parents=True, exist_ok=True)

    entries = [entry for entry in check.read_manifest(check.HERE)
               if "data" in entry and (not options.names or entry["name"] in options.names)]
    runs = [(entry, run) for entry in entries for run in check.variants(entry, options.runs)
            if "--check" not in run.flags]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda pair: prepare(options, *pair), runs))
    (options.out / "index.tsv").write_text("".join(f"{line}\n" for line, _ in done if line))
    problems = [problem for _, problem in done if problem]
    if options.timings:
        problems += prepare_timings(options)
    (options.out / "target").write_text(f"{options.target}\n")
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)

    runner = options.tools / "gpu-runner"
    for file in (runner, runner.with_name("gpu-peers"), options.runtime, Path(__file__).with_name("run.sh")):
        shutil.copy2(file, options.out)
    # What the runner needs beyond libc.
    needed = subprocess.run(["ldd", runner], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"=> (/\S*/lib(?:stdc\+\+|gcc_s)\.so\.\d+)", needed):
        shutil.copy2(library, options.out)
    size = sum(file.stat().st_size for file in options.out.iterdir() if file.is_file())
    print(f"{sum(bool(line) for line, _ in done)} cases, {len(problems)} left out, {size / 2**20:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compile programs with symbolic extents once, and run each of them on many extents.

    symbolic.py [NAME...] [--list] [--ranks 1,2,4] [--symbolic-mesh] [--reproducible] [--without-gathers] [--draws N] [--seed N] [--keep DIR]

Each program is exported by jax.export with symbolic shapes, cut over a mesh of 1, 2 and 4 ranks, and compiled once with
``--dynamic=all``. Programs with a manual region (``shard_map``) have a mesh of their own, of all ranks along "x" or of two along "y". The artifact runs on N drawn extents, in balanced shards and in uneven ones, empty among them, and
is compared with what JAX computes for the same arrays. Nothing is compiled between two runs. With ``--symbolic-mesh``
the number of ranks is left open too: there is one artifact, which runs on all of ``--ranks``. With ``--reproducible``
results are also compared by their bytes, on all numbers of ranks, balanced and uneven. With ``--without-gathers`` a
program fails that gathers a cut dim, or asks for rows of it; with ``--draws 0`` nothing else is asked.

Prints a line for each program and number of ranks; at the end how many passed, failed and were refused (code 77). Exits
1 if one failed, or one that was named was refused.
"""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # of what JAX computes here
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
import programs_arrays  # noqa: F401 (adds its programs)
import programs_attention  # noqa: F401
import programs_regions  # noqa: F401
import programs_windows  # noqa: F401
from declared import I32, PROGRAMS
from jax import export
from jax.sharding import NamedSharding

UNSUPPORTED = 77


def numbered_axes(shape, counts):
    """A shape with numbers in the place of the names of axes."""
    return re.sub(r"\b[xy]\b", lambda name: str(counts[name.group()]), shape) if counts else shape


def exported_region(chosen, ranks):
    """The text of a program with a mesh of its own."""
    function, counts = chosen.bound(ranks)
    scope = export.SymbolicScope([numbered_axes(text, counts) for text in chosen.constraints])
    specs = [
        jax.ShapeDtypeStruct(
            export.symbolic_shape(numbered_axes(shape, counts), scope=scope), kind, sharding=NamedSharding(chosen.mesh(ranks), spec)
        )
        for shape, kind, spec in zip(chosen.shapes, chosen.types, chosen.specs, strict=True)
    ]
    return export.export(function)(*specs).mlir_module()


def exported(chosen, ranks, annotates_one=False):
    """The text of a program with symbolic shapes, cut over ``ranks`` ranks; of one only if told so."""
    if chosen.specs is not None:
        return exported_region(chosen, ranks)
    scope = export.SymbolicScope(chosen.constraints)
    specs = [
        jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), kind)
        for shape, kind in zip(chosen.shapes, chosen.types, strict=True)
    ]
    text = export.export(jax.jit(chosen.function))(*specs).mlir_module()
    head = text.index("func.func public @main(")
    begin = head + len("func.func public @main(")
    end = text.index(") ->", begin)
    arguments = text[begin:end].split(", %arg")
    out = []
    for number, argument in enumerate(arguments):
        argument = argument if number == 0 else "%arg" + argument
        kind = re.search(r"tensor<[^>]*>", argument)
        cut = chosen.cuts[number]
        dims = ["{}"] * (kind.group().count("x"))
        if cut is not None and (ranks > 1 or annotates_one):
            dims[cut] = '{"x"}'
        order = f', spmd.order = "{cut}=zigzag"' if number in chosen.zigzag and cut is not None else ""
        attribute = f" {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>{order}}}"
        out.append(argument[: kind.end()] + attribute + argument[kind.end() :])
    mesh = f'  sdy.mesh @mesh = <["x"={ranks}]>\n'
    line = text.rindex("\n", 0, head) + 1
    return text[:line] + mesh + text[line:begin] + ", ".join(out) + text[end:]


def drawn_extents(chosen, source, counts):
    """An extent for each symbol, a multiple of what constraints say."""
    axes = chosen.axes if chosen.specs is not None else ""
    symbols = sorted({name for shape in chosen.shapes for name in re.findall(r"[a-z]+", shape) if name not in axes})
    extents = {
        name: min(chosen.most, max(chosen.least, source.choice([1, 2, 3, source.randint(1, 9), source.randint(1, 70), source.randint(30, 300)])))
        for name in symbols
    }
    for text in chosen.constraints:
        if found := re.fullmatch(r"([a-z]+) ([<>])= (\d+)", text):
            extents[found[1]] = (max if found[2] == ">" else min)(extents[found[1]], int(found[3]))
        if found := re.fullmatch(r"mod\((\w+), (\d+)\) == 0", numbered_axes(text, counts)):
            extents[found[1]] *= int(found[2])
    # The last first: what is at least another one comes before it.
    for text in reversed(chosen.constraints):
        if found := re.fullmatch(r"([a-z]+) >= ([a-z]+)( \+ \d+)?", text):
            extents[found[1]] = max(extents[found[1]], extents[found[2]] + int((found[3] or "+ 0").split()[1]))
    return extents


def arrays_for(chosen, extents, seed):
    random_numbers = np.random.default_rng(seed)
    arrays = []
    for shape, kind in zip(chosen.shapes, chosen.types, strict=True):
        sizes = [eval(part, {}, dict(extents)) for part in shape.split(",")]
        if kind == I32:
            arrays.append(random_numbers.integers(0, 1000, sizes).astype(np.int32))
        else:
            arrays.append(random_numbers.standard_normal(sizes).astype(np.float32))
    return arrays


def uneven(size, ranks, source):
    cuts = sorted(source.randint(0, size) for _ in range(ranks - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def says(result):
    lines = result.stderr.splitlines()
    return next((line for line in lines if "error:" in line or "differs" in line), (lines or ["nothing"])[0])


def uneven_sizes(chosen, arrays, ranks, source):
    """Options that cut each argument somewhere."""
    sizes = []
    for number, cut in enumerate(chosen.cuts):
        if cut is not None and ranks > 1:
            parts = uneven(arrays[number].shape[cut], ranks, source)
            sizes.append(f"--sizes={number}:{cut}={','.join(map(str, parts))}")
    return sizes


def write_arrays(chosen, ranks, source, draw, data):
    """Draws extents, and writes arguments of these and the results that JAX has for them; returns extents and arguments."""
    function, counts = chosen.bound(ranks)
    extents = drawn_extents(chosen, source, counts)
    arrays = arrays_for(chosen, extents | counts, draw)
    expected = jax.tree.leaves(jax.jit(function)(*map(jnp.asarray, arrays)))
    members = {f"in{i}": array for i, array in enumerate(arrays)}
    members |= {f"out{i}": np.asarray(array) for i, array in enumerate(expected)}
    np.savez(data, **members)
    return extents, arrays


def check_bytes(options, name, counts):
    """Compiles a program for each number of ranks, or once, with --reproducible, and compares bytes of results."""
    chosen = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        data, results = folder / f"{name}.npz", folder / "results.npz"
        artifacts = {}
        for ranks in [2] if options.symbolic_mesh else counts:
            model, artifact = folder / f"{name}-{ranks}.mlir", folder / f"{name}-{ranks}.so"
            model.write_text(exported(chosen, ranks, annotates_one=True))
            left_open = ["--dynamic=all", *(["--symbolic-mesh=x"] if options.symbolic_mesh else [])]
            compiled = run([options.shard_translate, str(model), *left_open, "--reproducible", "-o", str(artifact)])
            if compiled.returncode:
                return ("refused" if compiled.returncode == UNSUPPORTED else "FAILED"), says(compiled)
            artifacts |= dict.fromkeys(counts, artifact) if options.symbolic_mesh else {ranks: artifact}
        source = random.Random(f"{options.seed} {name} {','.join(map(str, counts))}")
        for draw in range(options.draws):
            extents, arrays = write_arrays(chosen, counts[0], source, draw, data)
            first = None
            for ranks, is_cut in itertools.product(counts, (False, True)):
                sizes = uneven_sizes(chosen, arrays, ranks, source) if is_cut else []
                sizes += [f"--ranks={ranks}"] if options.symbolic_mesh else []
                tolerance = [f"--rtol={chosen.tolerance}", f"--atol={chosen.tolerance}"]
                result = run([options.shard_run, str(artifacts[ranks]), f"--inputs=@{data}", f"--expect=@{data}",
                              f"--outputs=@{results}", *tolerance, *sizes])
                where = f"{extents} on {ranks} ranks {' '.join(sizes)}"
                if result.returncode:
                    return "FAILED", f"{where}: code {result.returncode}: {says(result)}"
                with np.load(results) as arrays_of:
                    bytes_of = {key: arrays_of[key].tobytes() for key in arrays_of.files}
                first = first or bytes_of
                if bytes_of != first:
                    return "FAILED", f"{where}: other bytes in {[key for key in first if first[key] != bytes_of[key]]}"
    return "passed", f"{options.draws} extents, the same bytes"


def gathers_in(options, model):
    """Ops of the program for one rank that take more of a cut dim than what is beside a block; or what is wrong with it."""
    passes = ["--spmd-import=dynamic=all", "--spmd-raise", "--spmd-propagate", "--spmd-partition"]
    local = run([options.shard_opt, str(model), *passes])
    if local.returncode:
        return says(local)
    return ", ".join(sorted(set(re.findall(r"local\.(?:all_gather|all_to_all|row_plan)\b", local.stdout))))


def check(options, name, counts):
    """Compiles a program once and runs it on each number of ranks; where the mesh is closed there is one number."""
    chosen = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        model, artifact, data = (folder / f"{name}{ending}" for ending in (".mlir", ".so", ".npz"))
        model.write_text(exported(chosen, 2 if options.symbolic_mesh else counts[0]))
        if options.without_gathers and (found := gathers_in(options, model)):
            return "FAILED", found
        if options.draws == 0:
            return "passed", "no extents"
        left_open = ["--dynamic=all", *(["--symbolic-mesh=x"] if options.symbolic_mesh else [])]
        quick = ["--quick"] if options.quick else []
        compiled = run([options.shard_translate, str(model), *left_open, *quick, "-o", str(artifact)])
        if compiled.returncode:
            return ("refused" if compiled.returncode == UNSUPPORTED else "FAILED"), says(compiled)
        source = random.Random(f"{options.seed} {name} {','.join(map(str, counts))}")
        for ranks, draw in itertools.product(counts, range(options.draws)):
            extents, arrays = write_arrays(chosen, ranks, source, draw, data)
            sizes = uneven_sizes(chosen, arrays, ranks, source) if draw % 2 else []
            tolerance = [f"--rtol={chosen.tolerance}", f"--atol={chosen.tolerance}"]
            sizes += [f"--ranks={ranks}"] if options.symbolic_mesh else []
            command = [options.shard_run, str(artifact), f"--inputs=@{data}", f"--expect=@{data}", *tolerance, *sizes]
            result = run(command)
            if result.returncode:
                return "FAILED", f"{extents} {' '.join(sizes)}: code {result.returncode}: {says(result)}"
    return "passed", f"{options.draws} extents"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--symbolic-mesh", action="store_true", help="one artifact for all numbers of ranks")
    parser.add_argument("--reproducible", action="store_true", help="compare bytes between numbers of ranks and cuts")
    parser.add_argument("--without-gathers", action="store_true", help="a program that gathers a cut dim, or asks for rows, fails")
    parser.add_argument("--quick", action="store_true", help="compile without LLVM's optimisations")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="keeps the last model, artifact and arrays here")
    parser.add_argument("--shard-translate", default="shard-translate")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--shard-opt", default="shard-opt")
    options = parser.parse_args()
    if options.list:
        print("\n".join(PROGRAMS))
        return 0
    counts = {"passed": 0, "FAILED": 0, "refused": 0}
    numbers = [int(ranks) for ranks in options.ranks.split(",")]
    alone = options.symbolic_mesh or options.reproducible
    for name in options.names or [name for name, chosen in PROGRAMS.items() if not (alone and chosen.specs is not None)]:
        for ranks in [numbers] if alone else [[number] for number in numbers]:
            if len(PROGRAMS[name].axes) == 2 and ranks[0] % 4:
                continue
            status, line = (check_bytes if options.reproducible else check)(options, name, ranks)
            counts[status] += 1
            print(f"{name}, {','.join(map(str, ranks))} ranks: {status}: {line}", flush=True)
    print(f"{counts['passed']} passed, {counts['FAILED']} failed, {counts['refused']} refused")
    return int(counts["FAILED"] > 0 or bool(options.names and counts["refused"]))


if __name__ == "__main__":
    sys.exit(main())

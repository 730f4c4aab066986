"""Print what grows with the number of ranks: compile time, IR, artifact, memory of the compiler.

    growth.py [--tools DIR] [--ranks 4,16,64,256,1024,4096] [--programs NAME,...] [--rows N] [--limit SECONDS] [--check]

A table a program, one line for each number of ranks:

    cpu s      processor time of shard-translate
    IR lines   of the local view, when communication has been optimised; IR KiB: its bytes, tables among them
    KiB        of the artifact
    B/rank     bytes of the artifact beyond that of the line before, over the ranks it has more
    MB         that the compiler held at most

Programs are written here, so nothing but the tools is needed. --check ends with 1 where the longest ring's IR has not the length that the
shortest of 16 ranks or more has (of programs that go one way on all these ranks).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FLAGS = ["--spmd-import", "--spmd-raise", "--spmd-propagate", "--spmd-partition", "--spmd-communicate"]


def sharding(*dims: str) -> str:
    """Return the attribute of an argument or result; each dim: axes, "x" or "x,y", or "" for none."""
    cuts = ", ".join("{" + ", ".join(f'"{axis}"' for axis in dim.split(",") if axis) + "}" for dim in dims)
    return "{spmd.sharding = #spmd.sharding<@mesh, [" + cuts + "]>}"


def attention(rows: int, *, causal: bool = False, gradient: bool = False) -> str:
    """Return attention of four heads as one op, perhaps with the gradients of queries, keys and values."""
    q, cut = f"tensor<4x{rows}x32xf32>", sharding("", "x", "")
    row = f"tensor<4x{rows}xf32>"
    band = "{band_upper = 0 : i64}" if causal else ""
    score = """score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    spmd.yield %raw : tensor<f32>
  }"""
    if causal:
        score = """score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    spmd.yield %2 : tensor<f32>
  }"""
    maps = "".join(
        f"#{name} = affine_map<(h, q, k, d, e) -> ({dims})>\n"
        for name, dims in {"q": "h, q, d", "k": "h, k, d", "v": "h, k, e", "o": "h, q, e", "r": "h, q"}.items()
    )
    body = f"""  %0:3 = spmd.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band} {score}
      : ({q}, {q}, {q}) -> ({q}, {row}, {row})
"""
    if not gradient:
        return maps + f"func.func @main(%q: {q} {cut}, %k: {q} {cut}, %v: {q} {cut}) -> ({q} {cut}) {{\n{body}  return %0#0 : {q}\n}}\n"
    return maps + f"""func.func @main(%q: {q} {cut}, %k: {q} {cut}, %v: {q} {cut}, %g: {q} {cut}) -> ({q} {cut}, {q} {cut}, {q} {cut}) {{
{body}  %rows = stablehlo.broadcast_in_dim %0#2, dims = [0, 1] : ({row}) -> {q}
  %part = stablehlo.divide %g, %rows : {q}
  %og = stablehlo.multiply %0#0, %part : {q}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %delta = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : ({q}, tensor<f32>) -> {row}
  %d:3 = spmd.attention_backward %q, %k, %v, %0#1, %delta, %part maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] {band} {score} slope {{
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    spmd.yield %ds : tensor<f32>
  }} : ({q}, {q}, {q}, {row}, {row}, {q}) -> ({q}, {q}, {q})
  return %d#0, %d#1, %d#2 : {q}, {q}, {q}
}}
"""


def neighbours(rows: int) -> str:
    """Return the five nearest of each of a cloud's points."""
    points, best, places, cut = f"tensor<{rows}x3xf32>", f"tensor<{rows}x5xf32>", f"tensor<{rows}x5xi32>", sharding("x", "")
    return f"""#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#o = affine_map<(q, k, d, e) -> (q, e)>
func.func @main(%q: {points} {cut}, %k: {points} {cut}) -> ({best} {cut}, {places} {cut}) {{
  %0:2 = spmd.all_pairs top_k %q, %k maps [#q, #k, #o, #o] pair {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    %2 = stablehlo.multiply %1, %1 : tensor<f32>
    spmd.yield %2 : tensor<f32>
  }} score {{
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.negate %raw : tensor<f32>
    spmd.yield %1 : tensor<f32>
  }} : ({points}, {points}) -> ({best}, {places})
  return %0#0, %0#1 : {best}, {places}
}}
"""


def product(rows: int, *, scattered: bool) -> str:
    """Return a product of which one operand is gathered, or whose partial sums are scattered."""
    a, b, c = f"tensor<{rows}x{rows}xf32>", f"tensor<{rows}x4096xf32>", f"tensor<{rows}x4096xf32>"
    left = sharding("", "x") if scattered else sharding("x", "")
    return f"""func.func @main(%a: {a} {left}, %b: {b} {sharding("x", "")}) -> ({c} {sharding("x", "")}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
  return %0 : {c}
}}
"""


def sort(rows: int) -> str:
    """Return a sort of one line."""
    line, cut = f"tensor<{rows}xf32>", sharding("x")
    return f"""func.func @main(%a: {line} {cut}) -> ({line} {cut}) {{
  %0 = "stablehlo.sort"(%a) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }}) : ({line}) -> {line}
  return %0 : {line}
}}
"""


def halo(rows: int, *, axes: int) -> str:
    """Return a step of diffusion with walls, on a field cut along one axis or two."""
    cut = sharding("x", "y") if axes == 2 else sharding("x", "")
    columns = rows if axes == 2 else 64
    field, wide = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows + 2}x{columns + 2}xf32>"
    slices = "".join(
        f"  %{name} = stablehlo.slice %wide [{i}:{rows + i}, {j}:{columns + j}] : ({wide}) -> {field}\n"
        for name, i, j in (("n", 0, 1), ("s", 2, 1), ("w", 1, 0), ("e", 1, 2))
    )
    return f"""func.func @main(%a: {field} {cut}) -> ({field} {cut}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.pad %a, %zero, low = [1, 1], high = [1, 1], interior = [0, 0] : ({field}, tensor<f32>) -> {wide}
{slices}  %1 = stablehlo.add %n, %s : {field}
  %2 = stablehlo.add %w, %e : {field}
  %3 = stablehlo.add %1, %2 : {field}
  return %3 : {field}
}}
"""


def transpose(rows: int) -> str:
    """Return the transpose of a matrix, cut in rows before and after."""
    square, cut = f"tensor<{rows}x{rows}xf32>", sharding("x", "")
    return f"""func.func @main(%a: {square} {cut}) -> ({square} {cut}) {{
  %0 = stablehlo.transpose %a, dims = [1, 0] : ({square}) -> {square}
  return %0 : {square}
}}
"""


def cumulative(rows: int) -> str:
    """Return the sums of all rows up to each."""
    line, cut = f"tensor<{rows}x8xf32>", sharding("x", "")
    return f"""func.func @main(%a: {line} {cut}) -> ({line} {cut}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{{padding = dense<[[{rows - 1}, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: {rows}, 1>}}> ({{
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : ({line}, tensor<f32>) -> {line}
  return %0 : {line}
}}
"""


def programs(rows: int) -> dict[str, str]:
    """Return all programs, of so many rows or keys."""
    return {
        "attention": attention(rows),
        "attention, uneven": attention(rows - 3),
        "causal attention": attention(rows, causal=True),
        "gradient of causal attention": attention(rows, causal=True, gradient=True),
        "nearest neighbours": neighbours(rows),
        "product of what is gathered": product(rows, scattered=False),
        "product that is scattered": product(rows, scattered=True),
        "sort": sort(rows),
        "halo": halo(rows, axes=1),
        "halo, uneven": halo(rows - 3, axes=1),
        "halo on two axes": halo(rows, axes=2),
        "transpose": transpose(rows),
        "cumulative sum": cumulative(rows),
    }


RINGS = ("attention", "attention, uneven", "nearest neighbours", "product of what is gathered", "product that is scattered")


def mesh_of(name: str, ranks: int) -> str:
    """Return the line of the mesh; of two axes as square as `ranks`, a power of four, allows."""
    if "two axes" in name:
        side = 1 << (ranks.bit_length() - 1) // 2
        return f'spmd.mesh @mesh = <["x"={side}, "y"={ranks // side}]>\n'
    return f'spmd.mesh @mesh = <["x"={ranks}]>\n'


def run(command: list[str], limit: int) -> tuple[str, float, int] | None:
    """Return what a tool prints, its processor time and the kilobytes it held at most; None if it takes too long."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    timer = threading.Timer(limit, process.kill)
    timer.start()
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == -9:
        return None
    if process.returncode:
        sys.exit(f"{' '.join(command)}: {text.strip()[-2000:]}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("--ranks", default="4,16,64,256,1024,4096")
    parser.add_argument("--programs", default="")
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    grown = []
    for name, text in programs(options.rows).items():
        if options.programs and name not in re.split(r",(?! )", options.programs):
            continue
        print(f"{name}\n{'ranks':>8}{'cpu s':>9}{'IR lines':>10}{'IR KiB':>9}{'KiB':>8}{'B/rank':>8}{'MB':>6}")
        before, lengths = None, {}
        for ranks in map(int, options.ranks.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                model, artifact = Path(folder) / "program.mlir", Path(folder) / "program.so"
                model.write_text(mesh_of(name, ranks) + text)
                ir = run([str(options.tools / "shard-opt"), str(model), *FLAGS], options.limit)
                made = run([str(options.tools / "shard-translate"), str(model), "-o", str(artifact)], options.limit)
                if not ir or not made:
                    print(f"{ranks:>8}  more than {options.limit} s")
                    continue
                size = artifact.stat().st_size
                each = f"{(size - before[1]) / (ranks - before[0]):8.1f}" if before else " " * 8
                before, lengths[ranks] = (ranks, size), ir[0].count("\n")
                print(f"{ranks:>8}{made[1]:9.2f}{lengths[ranks]:>10}{len(ir[0]) / 1024:9.1f}{size / 1024:8.0f}{each}{made[2] / 1024:6.0f}", flush=True)
        long = [length for ranks, length in lengths.items() if ranks >= 16]
        if name in RINGS and long and long[0] != long[-1]:
            grown.append(name)
    if options.check and grown:
        print(f"the IR grows with the ranks: {', '.join(grown)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

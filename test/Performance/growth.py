"""Print what grows with the number of ranks: compile time, IR, artifact, memory of the compiler.

    growth.py [--tools DIR] [--ranks 4,16,64,256,1024,4096] [--programs NAME,...] [--rows N] [--runs N] [--limit SECONDS] [--check]
    growth.py --corpus [--tools DIR] [--ranks 4,1024,4096] [--programs NAME,...] [--runs N] [--limit SECONDS] [--check]
    growth.py --manual [the same]

A table a program, one line for each number of ranks:

    cpu s      processor time of shard-translate, the least of --runs
    IR lines   of the local view, when communication has been optimised; IR KiB: its bytes, tables among them
    KiB        of the artifact
    B/rank     bytes of the artifact beyond that of the line before, over the ranks it has more
    sites      bytes of the table of sites, which each rank reads whole when it loads the program: rules, and boundaries where there
               is no rule; of the tables in its code a rank reads its own entry
    metadata   bytes of the metadata, with the boundaries of arguments and results
    MB         that the compiler held at most

Programs are written here, so nothing but the tools is needed. --check ends with 1 where the longest ring's IR has not the length that the
shortest of 16 ranks or more has (of programs that go one way on all these ranks), or where its table of sites is longer.

--corpus compiles the programs of test/Execution/corpus for meshes of their own axes, with the dims that are cut enlarged for
the largest of 1,024 ranks or 64 x 64 (shard-opt --spmd-enlarge; a program whose text binds them stays as it is, and has a
star): all ranks along the only axis, and along two as equal as can be (4,096: 64 x 64). A row a program: processor seconds and KiB for each number
of ranks; then the bytes that a rank more takes, over all sites and all arguments and results that are cut. What is more than the limits below is
marked, with the numbers of ranks that take more time, of one axis up to 1,024. A starred program has even blocks on 4 ranks and uneven ones, other code, on
most others: its time is compared with that on 5 ranks an axis too, which stands in the same cell as that of 4. Programs with
manual regions hold the sizes of their mesh: they are counted, not compiled. --check ends with 1 where bytes are marked (times are not its business).

--manual compiles programs with manual regions, which JAX prints for each mesh (growth_manual.py; needs a Python with JAX).
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
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
    pairs.yield %raw : tensor<f32>
  }"""
    if causal:
        score = """score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  }"""
    maps = "".join(
        f"#{name} = affine_map<(h, q, k, d, e) -> ({dims})>\n"
        for name, dims in {"q": "h, q, d", "k": "h, k, d", "v": "h, k, e", "o": "h, q, e", "r": "h, q"}.items()
    )
    body = f"""  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band} {score}
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
  %d:3 = pairs.attention_backward %q, %k, %v, %0#1, %delta, %part maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] {band} {score} slope {{
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
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
  %0:2 = pairs.all_pairs top_k %q, %k maps [#q, #k, #o, #o] pair {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    %2 = stablehlo.multiply %1, %1 : tensor<f32>
    pairs.yield %2 : tensor<f32>
  }} score {{
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.negate %raw : tensor<f32>
    pairs.yield %1 : tensor<f32>
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


def run(command: list[str], limit: int, allowed: frozenset[int] | set[int] = frozenset({0})) -> tuple[str, float, int] | None:
    """Return what a tool prints, its processor time and the kilobytes it held at most; None if it takes too long."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    timer = threading.Timer(limit, process.kill)
    timer.start()
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == -9:
        return None
    if process.returncode not in allowed:
        sys.exit(f"{' '.join(command)}: {text.strip()[-2000:]}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def compile_model(options: argparse.Namespace, model: Path, artifact: Path, *flags: str, allowed: frozenset[int] | set[int] = frozenset({0})) -> tuple[float, int] | None:
    """Write an artifact. Return the least processor time of so many runs, and the kilobytes held; None if one takes too long."""
    command = [str(options.tools / "shard-translate"), str(model), *flags, "--no-cache", "-o", str(artifact)]
    made = [run(command, options.limit, allowed) for _ in range(options.runs)]
    return None if None in made else (min(one[1] for one in made if one), min(one[2] for one in made if one))


CORPUS = ROOT / "test" / "Execution" / "corpus"
# Of the largest mesh beside the smallest: processor time, the longer of both; bytes of an artifact.
MOST_TIMES, MOST_SECONDS_MORE, MOST_BYTES = 1.5, 0.2, 2 << 20
# What a rank more takes of an artifact, over sites and over arguments and results that are cut.
MOST_BYTES_A_RANK = 64
UNEVEN = 5


def spread(ranks: int, axes: int) -> list[int]:
    """Return sizes of so many axes, powers of two as equal as can be, of a power of two."""
    sizes, axis = [1] * axes, 0
    while ranks > 1:
        sizes[axis % axes] *= 2
        ranks //= 2
        axis += 1
    return sizes


def enlarged(tools: Path, path: Path, times: int, limit: int) -> tuple[str, bool]:
    """Return a program whose cut dims are so many times as large, and whether any is."""
    texts = []
    for factor in (1, times):
        made = run([str(tools / "shard-opt"), str(path), f"--spmd-enlarge=times={factor}"], limit)
        texts.append(made[0] if made else "")
    return (texts[1], True) if texts[1] and texts[0] != texts[1] else (path.read_text(encoding="utf-8"), False)


def read_tables(artifact: Path) -> tuple[int, int, str]:
    """Return of an artifact how many sites it has, the words of their table, and its metadata (docs/Reference/artifact.md)."""
    data = artifact.read_bytes()
    _, _, words, _, sites = struct.unpack_from("<5q", data, data.index(b"SRDSITES"))
    return sites, words, data[data.index(b'{"format":'):].partition(b"\0")[0].decode()


def count_tables(artifact: Path) -> int:
    """Return how many sites an artifact has, and arguments and results that are cut."""
    sites, _, text = read_tables(artifact)
    metadata, _ = json.JSONDecoder().raw_decode(text)
    values = metadata["arguments"] + metadata["results"]
    return sites + sum(any(dim["axes"] for dim in value["dims"]) for value in values)


class Table:
    """A row a program; what is more than the limits is marked."""

    def __init__(self, options: argparse.Namespace, ranks: list[int]) -> None:
        self.options, self.ranks = options, ranks
        self.slow: list[str] = []
        self.large: list[str] = []
        print("| program | " + " | ".join(map(str, ranks)) + " | B/rank | |\n|---" + "|---" * len(ranks) + "|---|---|")

    def compile(self, text: str, axes: list[str], sizes: list[int]) -> tuple[float, int, int] | None:
        """Return seconds, bytes and tables; None if it is for another mesh."""
        mesh = ",".join(f"{axis}={size}" for axis, size in zip(axes, sizes, strict=True))
        with tempfile.TemporaryDirectory() as folder:
            artifact, model = Path(folder) / "program.so", Path(folder) / "program.mlir"
            model.write_text(text, encoding="utf-8")
            made = compile_model(self.options, model, artifact, f"--mesh={mesh}", allowed={0, 77})
            if made and not artifact.exists():
                return None
            return (made[0], artifact.stat().st_size, count_tables(artifact)) if made else (float("inf"), 0, 1)

    def add(self, name: str, texts: list[str], axes: list[str], *, is_larger: bool) -> bool:
        """Print the row of a program, of a text for each number of ranks; False if it is for another mesh."""
        found = [self.compile(text, axes, spread(count, len(axes))) for text, count in zip(texts, self.ranks, strict=True)]
        made = [one for one in found if one]
        if len(made) < len(found):
            return False
        cells = [f"{seconds:.2f} / {size / 1024:.0f}" for seconds, size, _ in made]
        base = made[0][0]
        if not is_larger and (uneven := self.compile(texts[0], axes, [UNEVEN] * len(axes))):
            base = max(base, uneven[0])
            cells[0] = f"{made[0][0]:.2f}, {uneven[0]:.2f} / {made[0][1] / 1024:.0f}"
        judged = [(*one, count) for one, count in zip(made, self.ranks, strict=True) if count <= 1024 or len(axes) > 1]
        _, size, tables, most = judged[-1]
        each = (size - made[0][1]) / max(1, most - self.ranks[0]) / max(1, tables)
        marks = []
        if slow := [str(one[3]) for one in judged if one[0] > max(MOST_TIMES * base, base + MOST_SECONDS_MORE)]:
            self.slow.append(name)
            marks.append(f"time of {', '.join(slow)}")
        if max(one[1] for one in judged) > MOST_BYTES or each > MOST_BYTES_A_RANK:
            self.large.append(name)
            marks.append("bytes")
        print(f"| {name}{'' if is_larger else ' *'} | {' | '.join(cells)} | {each:.1f} | {', '.join(marks)} |", flush=True)
        return True

    def end(self) -> int:
        """Say what was marked; 1 if an artifact is too large and that is to be checked."""
        print(f"\nmore time than is allowed: {', '.join(self.slow) or 'none'}")
        print(f"more bytes than is allowed: {', '.join(self.large) or 'none'}")
        return 1 if self.options.check and self.large else 0


def corpus_table(options: argparse.Namespace) -> int:
    """Print the table of --corpus."""
    ranks = [int(text) for text in (options.ranks or "4,1024,4096").split(",")]
    table = Table(options, ranks)
    manual = []
    for entry in json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8")):
        name, axes = entry["name"], [axis for axis, _ in entry["mesh"]]
        path = CORPUS / "Inputs" / f"{name}.mlir"
        if not path.exists() or not axes or (options.programs and name not in options.programs.split(",")):
            continue
        wanted = spread(max(count for count in ranks if count <= 1024 or len(axes) > 1), len(axes))
        times = max(1, *(new // old for new, (_, old) in zip(wanted, entry["mesh"], strict=True)))
        text, is_larger = enlarged(options.tools, path, times, options.limit)
        if not table.add(name, [text] * len(ranks), axes, is_larger=is_larger):
            manual.append(name)
    status = table.end()
    print(f"for the sizes of their own mesh alone: {', '.join(manual) or 'none'}")
    return status


def manual_table(options: argparse.Namespace) -> int:
    """Print the table of --manual."""
    ranks = [int(text) for text in (options.ranks or "4,1024,4096").split(",")]
    texts: dict[str, list[str]] = {}
    axes: dict[str, list[str]] = {}
    for count in ranks:
        with tempfile.TemporaryDirectory() as folder:
            printer = [sys.executable, str(Path(__file__).parent / "growth_manual.py"), str(count), folder]
            made = subprocess.run(printer, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True).stdout
            for name, mesh in (line.split() for line in made.splitlines()):
                axes[name] = [axis.partition("=")[0] for axis in mesh.split(",")]
                texts.setdefault(name, []).append((Path(folder) / f"{name}.mlir").read_text(encoding="utf-8"))
    table = Table(options, ranks)
    for name in texts:
        if (not options.programs or name in options.programs.split(",")) and not table.add(name, texts[name], axes[name], is_larger=True):
            sys.exit(f"{name} is refused")
    return table.end()


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("--ranks")
    parser.add_argument("--programs", default="")
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("--manual", action="store_true")
    options = parser.parse_args()
    if options.corpus:
        return corpus_table(options)
    if options.manual:
        return manual_table(options)
    grown, longer = [], []
    for name, text in programs(options.rows).items():
        if options.programs and name not in re.split(r",(?! )", options.programs):
            continue
        print(f"{name}\n{'ranks':>8}{'cpu s':>9}{'IR lines':>10}{'IR KiB':>9}{'KiB':>8}{'B/rank':>8}{'sites':>8}{'metadata':>9}{'MB':>6}")
        before, lengths, sites = None, {}, {}
        for ranks in map(int, (options.ranks or "4,16,64,256,1024,4096").split(",")):
            with tempfile.TemporaryDirectory() as folder:
                model, artifact = Path(folder) / "program.mlir", Path(folder) / "program.so"
                model.write_text(mesh_of(name, ranks) + text)
                ir = run([str(options.tools / "shard-opt"), str(model), *FLAGS], options.limit)
                made = compile_model(options, model, artifact)
                if not ir or not made:
                    print(f"{ranks:>8}  more than {options.limit} s")
                    continue
                size = artifact.stat().st_size
                _, sites[ranks], metadata = read_tables(artifact)
                each = f"{(size - before[1]) / (ranks - before[0]):8.1f}" if before else " " * 8
                before, lengths[ranks] = (ranks, size), ir[0].count("\n")
                print(f"{ranks:>8}{made[0]:9.2f}{lengths[ranks]:>10}{len(ir[0]) / 1024:9.1f}{size / 1024:8.0f}{each}{8 * sites[ranks]:>8}{len(metadata):>9}{made[1] / 1024:6.0f}", flush=True)
        long = [length for ranks, length in lengths.items() if ranks >= 16]
        if name in RINGS and long and long[0] != long[-1]:
            grown.append(name)
        words = [count for ranks, count in sites.items() if ranks >= 16]
        if name in RINGS and words and words[0] < words[-1]:
            longer.append(name)
    if options.check and (grown or longer):
        print(f"the IR grows with the ranks: {', '.join(grown) or 'none'}; the table of sites: {', '.join(longer) or 'none'}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

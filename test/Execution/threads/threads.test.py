"""Check that threads change no bit: threads.test.py SHARD_RUN FOLDER.

Programs large enough for nests to be cut run with one thread and with two, five or eight on one rank and on several, with shards that are
uneven, empty, or known at run time only, and the outputs' bits are compared. FOLDER has the programs of the corpus, which are small: with them
no nest may be cut, and nothing may go wrong.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

MESH = 'spmd.mesh @mesh = <["x"=2]>\n'


def sharding(dims: str) -> str:
    return f"{{spmd.sharding = #spmd.sharding<@mesh, [{dims}]>}}"


# Products with a packed operand and an epilogue, elementwise work with odd sizes, sums of rows and of columns.
LAYERS = MESH + f"""
func.func @main(%x: tensor<517x260xf32> {sharding('{"x"}, {}')}, %w: tensor<260x301xf32>, %v: tensor<301x260xf32>)
    -> (tensor<517x260xf32>, tensor<517xf32>, tensor<260xf32>, tensor<260x301xf32>) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<517x260xf32>, tensor<260x301xf32>) -> tensor<517x301xf32>
  %1 = stablehlo.tanh %0 : tensor<517x301xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<517x301xf32>, tensor<301x260xf32>) -> tensor<517x260xf32>
  %3 = stablehlo.add %2, %x : tensor<517x260xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<517x260xf32>, tensor<f32>) -> tensor<517xf32>
  %5 = stablehlo.reduce(%3 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<517x260xf32>, tensor<f32>) -> tensor<260xf32>
  %6 = stablehlo.dot_general %3, %1, contracting_dims = [0] x [0] : (tensor<517x260xf32>, tensor<517x301xf32>) -> tensor<260x301xf32>
  %7 = stablehlo.transpose %w, dims = [1, 0] : (tensor<260x301xf32>) -> tensor<301x260xf32>
  %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0] : (tensor<260x301xf32>, tensor<301x260xf32>) -> tensor<260x260xf32>
  %9 = stablehlo.dot_general %8, %w, contracting_dims = [1] x [0] : (tensor<260x260xf32>, tensor<260x301xf32>) -> tensor<260x301xf32>
  return %3, %4, %5, %9 : tensor<517x260xf32>, tensor<517xf32>, tensor<260xf32>, tensor<260x301xf32>
}}
"""

IMAGE = MESH + f"""
func.func @main(%x: tensor<1x8x131x97xf32> {sharding('{}, {}, {"x"}, {}')}, %w: tensor<12x8x3x3xf32>, %g: tensor<1x12x131x97xf32> {sharding('{}, {}, {"x"}, {}')})
    -> (tensor<1x12x131x97xf32>, tensor<12x8x3x3xf32>) {{
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{pad = [[1, 1], [1, 1]]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x8x131x97xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x131x97xf32>
  %1 = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {{pad = [[1, 1], [1, 1]]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x8x131x97xf32>, tensor<1x12x131x97xf32>) -> tensor<12x8x3x3xf32>
  return %0, %1 : tensor<1x12x131x97xf32>, tensor<12x8x3x3xf32>
}}
"""

# A softmax, and sums of its rows, columns and of everything: rows that are done block by block.
ROWS = MESH + f"""
func.func @main(%x: tensor<611x1031xf32> {sharding('{"x"}, {}')}, %dy: tensor<611x1031xf32> {sharding('{"x"}, {}')})
    -> (tensor<611x1031xf32>, tensor<1031xf32>, tensor<f32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<611x1031xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<611x1031xf32>, tensor<f32>) -> tensor<611xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<611xf32>) -> tensor<611x1031xf32>
  %3 = stablehlo.divide %0, %2 : tensor<611x1031xf32>
  %4 = stablehlo.multiply %3, %dy : tensor<611x1031xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<611x1031xf32>, tensor<f32>) -> tensor<1031xf32>
  %6 = stablehlo.reduce(%dy init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<611x1031xf32>, tensor<f32>) -> tensor<f32>
  return %3, %5, %6 : tensor<611x1031xf32>, tensor<1031xf32>, tensor<f32>
}}
"""


def add_rows(index: str) -> str:
    """A scatter that adds the rows of %u to the rows `index` of %none."""
    return f"""\"stablehlo.scatter\"(%none, {index}, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }}) : (tensor<129x100xf32>, tensor<20011x1xi32>, tensor<20011x100xf32>) -> tensor<129x100xf32>"""


# Loops of single elements: sums along rows, rows added to where an index says (of 131 the last two nowhere), what a maximum came from.
LOOPS = MESH + f"""
func.func @main(%x: tensor<611x1031xf32> {sharding('{"x"}, {}')}, %u: tensor<20011x100xf32> {sharding('{"x"}, {}')}, %i: tensor<3x5x120x90xf32>, %dy: tensor<3x5x60x45xf32>)
    -> (tensor<611x1031xf32>, tensor<129x100xf32>, tensor<3x5x120x90xf32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{{padding = dense<[[0, 0], [1030, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1031>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }}) : (tensor<611x1031xf32>, tensor<f32>) -> tensor<611x1031xf32>
  %n = stablehlo.iota dim = 0 : tensor<20011x1xi32>
  %step = stablehlo.constant dense<7919> : tensor<20011x1xi32>
  %rows = stablehlo.constant dense<131> : tensor<20011x1xi32>
  %far = stablehlo.multiply %n, %step : tensor<20011x1xi32>
  %at = stablehlo.remainder %far, %rows : tensor<20011x1xi32>
  %none = stablehlo.constant dense<0.0> : tensor<129x100xf32>
  %1 = {add_rows('%at')}
  %2 = "stablehlo.select_and_scatter"(%i, %dy, %zero) <{{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %more = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }}) : (tensor<3x5x120x90xf32>, tensor<3x5x60x45xf32>, tensor<f32>) -> tensor<3x5x120x90xf32>
  return %0, %1, %2 : tensor<611x1031xf32>, tensor<129x100xf32>, tensor<3x5x120x90xf32>
}}
"""

# Columns that are cut: their number, of which threads have shares, differs by rank.
COLUMNS = MESH + f"""
func.func @main(%u: tensor<20011x100xf32> {sharding('{}, {"x"}')}) -> tensor<129x100xf32> {{
  %rows = stablehlo.constant dense<131> : tensor<20011x1xi32>
  %n = stablehlo.iota dim = 0 : tensor<20011x1xi32>
  %row = stablehlo.remainder %n, %rows : tensor<20011x1xi32>
  %none = stablehlo.constant dense<0.0> : tensor<129x100xf32>
  %0 = {add_rows('%row')}
  return %0 : tensor<129x100xf32>
}}
"""


def attention(heads: int, groups: int, causal: bool) -> str:
    """Attention of `heads` heads, `groups` of which share keys, and its gradient, all on 521 tokens."""
    q, k = f"tensor<{heads // groups}x{groups}x521x24xf32>", f"tensor<{heads // groups}x521x24xf32>"
    rows = f"tensor<{heads // groups}x{groups}x521xf32>"
    band = "{band_upper = 0 : i64} " if causal else ""
    mask = """
    %in = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %score = stablehlo.select %in, %raw, %low : tensor<i1>, tensor<f32>""" if causal else """
    %score = stablehlo.add %raw, %raw : tensor<f32>"""
    slope = """
    %in = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %zero1 = stablehlo.constant dense<0.0> : tensor<f32>
    %slope = stablehlo.select %in, %ds, %zero1 : tensor<i1>, tensor<f32>""" if causal else """
    %slope = stablehlo.add %ds, %ds : tensor<f32>"""
    cut, cut_k = sharding('{}, {}, {"x"}, {}'), sharding('{}, {"x"}, {}')
    return MESH + f"""
#q = affine_map<(h, g, q, k, d, e) -> (h, g, q, d)>
#k = affine_map<(h, g, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, g, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, g, q, k, d, e) -> (h, g, q, e)>
#r = affine_map<(h, g, q, k, d, e) -> (h, g, q)>
func.func @main(%q: {q} {cut}, %k: {k} {cut_k}, %v: {k} {cut_k}, %g: {q} {cut}) -> ({q}, {q}, {k}, {k}) {{
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band}score {{
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %n: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):{mask}
    pairs.yield %score : tensor<f32>
  }} : ({q}, {k}, {k}) -> ({q}, {rows}, {rows})
  %all = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : ({rows}) -> {q}
  %part = stablehlo.divide %g, %all : {q}
  %og = stablehlo.multiply %o, %part : {q}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %delta = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [3] : ({q}, tensor<f32>) -> {rows}
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %max, %delta, %part maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] {band}score {{
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %n: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):{mask}
    pairs.yield %score : tensor<f32>
  }} slope {{
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %n: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):{slope}
    pairs.yield %slope : tensor<f32>
  }} : ({q}, {k}, {k}, {rows}, {rows}, {q}) -> ({q}, {k}, {k})
  return %o, %dq, %dk, %dv : {q}, {q}, {k}, {k}
}}
"""


def outputs(shard_run: str, model: Path, threads: int, options: list[str]) -> list[bytes]:
    """Return the bits of all outputs."""
    file = model.with_suffix(".npz")
    command = [shard_run, str(model), "--seed=3", f"--threads={threads}", f"--outputs=@{file}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"threads: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    with numpy.load(file) as archive:
        return [archive[name].tobytes() for name in archive.files]


def main() -> int:
    shard_run, corpus = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        cases = [("layers", LAYERS, [[], ["--ranks=1"], ["--sizes=0:0=500,17"], ["--sizes=0:0=0,517"]]),
                 ("rows", ROWS, [["--ranks=1"], [], ["--sizes=0:0=0,611", "--sizes=1:0=0,611"], ["--ranks=3"]]),
                 ("loops", LOOPS, [["--ranks=1"], [], ["--sizes=0:0=0,611", "--sizes=1:0=20000,11"]]),
                 ("columns", COLUMNS, [["--sizes=0:1=70,30"], ["--sizes=0:1=100,0"]]),
                 ("image", IMAGE, [["--ranks=1"], ["--sizes=0:2=100,31"]]),
                 ("attention", attention(4, 1, False), [["--ranks=1"], ["--ranks=3"], ["--sizes=0:2=0,521"]]),
                 ("one head", attention(1, 1, False), [["--ranks=1"], []]),
                 ("one causal head", attention(1, 1, True), [["--ranks=1"], ["--sizes=0:2=200,321"]]),
                 ("groups", attention(6, 3, True), [["--ranks=1"], ["--ranks=2"]])]
        number = 0
        for name, text, runs in cases:
            model = Path(folder) / "model.mlir"
            model.write_text(text)
            for options in runs:
                alone = outputs(shard_run, model, 1, options)
                threads = 2 + number % 3 * 3
                number += 1
                if outputs(shard_run, model, threads, options) != alone:
                    sys.exit(f"threads: {name} {options}: {threads} threads give other bits than one")
        for name in ("transformer_remat_bf16_train", "cg_poisson", "knn_interpolate"):
            model = Path(folder) / "model.mlir"
            model.write_text((corpus / f"{name}.mlir").read_text())
            if outputs(shard_run, model, 1, []) != outputs(shard_run, model, 4, []):
                sys.exit(f"threads: {name}: 4 threads give other bits than one")
    return 0


if __name__ == "__main__":
    sys.exit(main())

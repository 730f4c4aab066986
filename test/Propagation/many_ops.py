"""Propagation of large programs: growth that is near linear, from 1,000 to 8,000 ops.

    many_ops.py SHARD_OPT

Programs are layers as networks have them (products, windows, reductions and broadcasts, transpositions, slices and concatenations)
with annotations that contradict one another on the way. Ends with 1 where time grows faster than halfway between n log n and n².
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Inputs"))
from growth_of_time import growth, processor_time

X = "tensor<64x32xf32>"
HEAD = """spmd.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a0: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}]>}, %zero: tensor<f32>) -> tensor<64x32xf32> {
"""
LAYER = """  %d{i} = stablehlo.dot_general %a{i}, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %t{i} = stablehlo.transpose %d{i}, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %e{i} = stablehlo.tanh %t{i} : tensor<32x64xf32>
  %u{i} = stablehlo.transpose %e{i}, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %s{i} = stablehlo.reduce(%u{i} init: %zero) applies stablehlo.add across dimensions = [{dim}] : (tensor<64x32xf32>, tensor<f32>) -> tensor<{kept}xf32>
  %b{i} = stablehlo.broadcast_in_dim %s{i}, dims = [{other}] : (tensor<{kept}xf32>) -> tensor<64x32xf32>
  %l{i} = stablehlo.slice %u{i} [1:64, 0:32] : (tensor<64x32xf32>) -> tensor<63x32xf32>
  %f{i} = stablehlo.slice %b{i} [0:1, 0:32] : (tensor<64x32xf32>) -> tensor<1x32xf32>
  %c{i} = stablehlo.concatenate %l{i}, %f{i}, dim = 0 : (tensor<63x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  %r{i} = stablehlo.reshape %c{i} : (tensor<64x32xf32>) -> tensor<8x8x32xf32>
  %q{i} = stablehlo.reshape %r{i} : (tensor<8x8x32xf32>) -> tensor<64x32xf32>
  %a{next} = stablehlo.add %q{i}, %a{back} : tensor<64x32xf32>
"""
CONSTRAINT = """  %k{i} = spmd.constrain %a{i} <@mesh, [{{}}, {{"x"}}]> : tensor<64x32xf32>
"""
LAYER_OPS = LAYER.count(" = stablehlo.")


def program(ops):
    layers = ops // LAYER_OPS
    text = [HEAD]
    for i in range(layers):
        layer = LAYER.format(i=i, next=i + 1, back=max(0, i - 2), dim=i % 2, other=1 - i % 2, kept=(32, 64)[i % 2])
        if i % 50 == 49:
            text.append(CONSTRAINT.format(i=i))
            layer = layer.replace(f"%a{i},", f"%k{i},")
        text.append(layer)
    return "".join(text) + f"  return %a{layers} : {X}\n}}\n"


def propagation_time(shard_opt, ops):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(program(ops))
        file.flush()
        return processor_time([shard_opt, file.name, "--spmd-import", "--spmd-propagate", "-o", "/dev/null"])


def main():
    found = growth(lambda ops: propagation_time(sys.argv[1], ops), 1000, 8000)
    print(found)
    return int(found.is_fast)


if __name__ == "__main__":
    sys.exit(main())

// RUN: shard-opt %s --spmd-propagate --explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=GLOBAL --match-full-lines --strict-whitespace
// RUN: shard-opt %s --spmd-propagate --spmd-partition --spmd-communicate --explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOCAL --match-full-lines --strict-whitespace

//      GLOBAL:model.py:1: argument 0 "image" tensor<1x2x16x4xf32>
// GLOBAL-NEXT:  dim 2 is cut along "x", from argument 0 "image"
// GLOBAL-NEXT:  dim 2 has shards of [10, 6], from argument 0 "image"
// GLOBAL-NEXT:model.py:7: 'stablehlo.convolution' tensor<1x3x16x4xf32>
// GLOBAL-NEXT:  dim 2 is cut along "x", from argument 0 "image"
// GLOBAL-NEXT:  dim 2 has shards of [10, 6], from argument 0 "image"
// GLOBAL-NEXT:model.py:8: 'stablehlo.negate' tensor<1x3x16x4xf32>
// GLOBAL-NEXT:  dim 2 is cut along "x", from argument 0 "image"
// GLOBAL-NEXT:  dim 2 has shards of [10, 6], from argument 0 "image"
// GLOBAL-NEXT:model.py:10: moved
// GLOBAL-NEXT:  needed: result 0 of @main is cut along "x" in dim 2, but is needed whole at model.py:10
// GLOBAL-NEXT:  value: 'stablehlo.negate' at model.py:8
// GLOBAL-NEXT:  avoid: leave "x" out of argument 0 "image", or ask for "x" in dim 2 of result 0

//      LOCAL:model.py:7: halo_exchange along "x", 64 bytes
// LOCAL-NEXT:  needed: operand 0 of 'stablehlo.convolution' reads past its block of dim 2 at model.py:7
// LOCAL-NEXT:  value: argument 0 "image"
// LOCAL-NEXT:  rule: ([a, b, d + e - 1, f + g - 1], [c, b, e, g]) -> ([a, c, d, f]) {a=1, b=2 sum, c=3, d=16, e=3 sum, f=4, g=3 sum}
// LOCAL-NEXT:  avoid: leave "x" out of argument 0 "image"
// LOCAL-NEXT:model.py:9: all_reduce along "x", 8 bytes
// LOCAL-NEXT:  needed: 'stablehlo.reduce' reduces a dim that is cut at model.py:9
// LOCAL-NEXT:  rule: ([a, b, c, d], []) -> ([]) {a=1 sum, b=3 sum, c=16 sum, d=4 sum}
// LOCAL-NEXT:  avoid: leave "x" out of argument 0 "image"
// LOCAL-NEXT:model.py:10: all_gather along "x", 768 bytes
// LOCAL-NEXT:  needed: result 0 of @main is cut along "x" in dim 2, but is needed whole at model.py:10
// LOCAL-NEXT:  value: 'stablehlo.negate' at model.py:8
// LOCAL-NEXT:  avoid: leave "x" out of argument 0 "image", or ask for "x" in dim 2 of result 0
// LOCAL-NEXT:@main has 3 communication ops; those outside loops move 840 bytes

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1x2x16x4xf32> {spmd.name = "image", spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x" sizes [10, 6]}, {}]>} loc("model.py":1:0),
                %k: tensor<3x2x3x3xf32> loc("model.py":2:0))
    -> (tensor<1x3x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x16x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x16x4xf32> loc("model.py":7:4)
  %1 = stablehlo.negate %0 : tensor<1x3x16x4xf32> loc("model.py":8:4)
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x3x16x4xf32>, tensor<f32>) -> tensor<f32> loc("model.py":9:4)
  return %1, %2 : tensor<1x3x16x4xf32>, tensor<f32> loc("model.py":10:4)
}

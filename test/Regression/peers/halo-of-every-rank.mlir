// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=1
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=2
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=3
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=4
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=5
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=6
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=7
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=8
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=4 --sizes=0:1=0,6,0,3
// Elsewhere (TensorRT-LLM 17001, vllm-omni 5940) hand-written halos came from the wrong peer. Windows here are up to nine
// rows wide: wider than a shard on 3 ranks and more.
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x9x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %three: tensor<3x2x2xf32>, %even: tensor<4x2x2xf32>,
                %nine: tensor<9x2x2xf32>) -> (tensor<1x9x2xf32>, tensor<1x9x2xf32>, tensor<1x9x2xf32>) {
  %0 = stablehlo.convolution(%a, %three) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x2xf32>, tensor<3x2x2xf32>) -> tensor<1x9x2xf32>
  %1 = stablehlo.convolution(%a, %even) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[3, 0]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x2xf32>, tensor<4x2x2xf32>) -> tensor<1x9x2xf32>
  %2 = stablehlo.convolution(%a, %nine) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[4, 4]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x2xf32>, tensor<9x2x2xf32>) -> tensor<1x9x2xf32>
  return %0, %1, %2 : tensor<1x9x2xf32>, tensor<1x9x2xf32>, tensor<1x9x2xf32>
}

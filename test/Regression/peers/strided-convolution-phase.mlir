// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:1=8,8
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:1=0,16
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=3 --sizes=0:1=5,4,7
// Elsewhere (ShardTensor) each rank began its windows anew at its own first row: kernel 3, stride 2 on 9 and 7 rows;
// kernel 3, stride 3 on 8 and 8.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1x16x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %w: tensor<3x2x3xf32>)
    -> (tensor<1x8x3xf32>, tensor<1x5x3xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<3x2x3xf32>) -> tensor<1x8x3xf32>
  %1 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<3x2x3xf32>) -> tensor<1x5x3xf32>
  return %0, %1 : tensor<1x8x3xf32>, tensor<1x5x3xf32>
}

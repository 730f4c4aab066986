// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=7
// 3, 5 and 14 rows on 4 ranks, and fewer rows than the window has. Elsewhere (ShardTensor, MLIR's shard dialect) rows were
// lost, or the ranks waited for each other forever.
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x3x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<1x5x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %c: tensor<14xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, %w: tensor<5x2x2xf32>)
    -> (tensor<1x3x2xf32>, tensor<1x5x2xf32>, tensor<14xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[2, 2]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x2xf32>, tensor<5x2x2xf32>) -> tensor<1x3x2xf32>
  %1 = stablehlo.convolution(%b, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[2, 2]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xf32>, tensor<5x2x2xf32>) -> tensor<1x5x2xf32>
  %2 = stablehlo.abs %c : tensor<14xf32>
  return %0, %1, %2 : tensor<1x3x2xf32>, tensor<1x5x2xf32>, tensor<14xf32>
}

// Transposed convolutions whose window is narrower than the elements stand apart: some phases read none of it.
// RUN: shard-run %s --check=interpreter
// RUN: shard-run %s --check=interpreter --mesh=x=3 --sizes=0:3=1,0,2
sdy.mesh @mesh = <["x"=2]>
func.func @main(%image: tensor<5x3x5x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}, %narrow: tensor<1x3x6x1xf32>, %wider: tensor<2x3x2x2xf32>) -> (tensor<5x1x4x8xf32>, tensor<5x2x4x12xf32>) {
  %0 = stablehlo.convolution(%image, %narrow) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 4], [2, -1]], lhs_dilate = [1, 3]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x3x5x3xf32>, tensor<1x3x6x1xf32>) -> tensor<5x1x4x8xf32>
  %1 = stablehlo.convolution(%image, %wider) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0], [2, 2]], lhs_dilate = [1, 4]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x3x5x3xf32>, tensor<2x3x2x2xf32>) -> tensor<5x2x4x12xf32>
  return %0, %1 : tensor<5x1x4x8xf32>, tensor<5x2x4x12xf32>
}

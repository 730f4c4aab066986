// RUN: shard-run %s --check --seed=1 --rtol=1e-5 --atol=1e-5
// RUN: shard-run %s --check --seed=2 --rtol=1e-5 --atol=1e-5 --mesh=a=3,b=1,c=2
// Three axes: a batch, rows (uneven) and a contraction; corners, a filter gradient and partial sums at once.
sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<3x13x9x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}, {}]>},
                %w: tensor<3x3x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"c"}]>},
                %d: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>})
    -> (tensor<3x13x9x5xf32>, tensor<3x3x4x6xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x13x9x4xf32>, tensor<3x3x4x6xf32>) -> tensor<3x13x9x6xf32>
  %1 = stablehlo.dot_general %0, %d, contracting_dims = [3] x [0] : (tensor<3x13x9x6xf32>, tensor<6x5xf32>) -> tensor<3x13x9x5xf32>
  %2 = stablehlo.convolution(%x, %0) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x13x9x4xf32>, tensor<3x13x9x6xf32>) -> tensor<3x3x4x6xf32>
  return %1, %2 : tensor<3x13x9x5xf32>, tensor<3x3x4x6xf32>
}

// RUN: shard-run %s --seed=3 --check
// RUN: shard-run %s --seed=3 --check --reproducible --rtol=0 --atol=0
// Two sums over slices that are cut along both axes: the second is summed
// along "a", of sizes that differ along "b" alone. A check of sizes took those
// of the operand's dims for those of the result's, and refused the program.
sdy.mesh @mesh = <["a"=2, "b"=3]>
func.func @main(%indices: tensor<5x1xui32>, %operand: tensor<2x5x7xf32>)
    -> (tensor<2x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>},
        tensor<2x5x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {"a", ?}]>},
        tensor<5x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %slices = "stablehlo.gather"(%operand, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 2, 5, 1>}> : (tensor<2x5x7xf32>, tensor<5x1xui32>) -> tensor<5x2x5xf32>
  %a = stablehlo.reduce(%slices init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x2x5xf32>, tensor<f32>) -> tensor<2x5xf32>
  %b = stablehlo.reduce(%slices init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5x2x5xf32>, tensor<f32>) -> tensor<5x2xf32>
  return %a, %operand, %b : tensor<2x5xf32>, tensor<2x5x7xf32>, tensor<5x2xf32>
}

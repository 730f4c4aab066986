// RUN: shard-run %s --seed=3 --check=interpreter
// Indices beyond 2^63 are behind the last row, not before the first: gather and dynamic_slice clamp them to the last, scatter drops them, also
// where a window of theirs would reach row 0 once more.
spmd.mesh @mesh = <["x"=3]>
func.func @main(%rows: tensor<7x5xf32>, %cut: tensor<7x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %news: tensor<3x2x5xf32>, %at: tensor<3x1xui64>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>) {
  %far = stablehlo.constant dense<[[18446744073709551615], [9223372036854775808], [3]]> : tensor<3x1xui64>
  %zero = stablehlo.constant dense<0> : tensor<ui64>
  %zeros = stablehlo.constant dense<0> : tensor<3x1xui64>
  %nothing = stablehlo.minimum %at, %zeros : tensor<3x1xui64>
  %index = stablehlo.add %nothing, %far : tensor<3x1xui64>
  %0 = "stablehlo.gather"(%rows, %index) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<7x5xf32>, tensor<3x1xui64>) -> tensor<3x5xf32>
  %1 = "stablehlo.gather"(%cut, %index) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<7x5xf32>, tensor<3x1xui64>) -> tensor<3x5xf32>
  %first = stablehlo.slice %index [0:1, 0:1] : (tensor<3x1xui64>) -> tensor<1x1xui64>
  %start = stablehlo.reshape %first : (tensor<1x1xui64>) -> tensor<ui64>
  %2 = stablehlo.dynamic_slice %rows, %start, %zero, sizes = [2, 5] : (tensor<7x5xf32>, tensor<ui64>, tensor<ui64>) -> tensor<2x5xf32>
  %3 = stablehlo.dynamic_slice %cut, %start, %zero, sizes = [2, 5] : (tensor<7x5xf32>, tensor<ui64>, tensor<ui64>) -> tensor<2x5xf32>
  %4 = "stablehlo.scatter"(%rows, %index, %news) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<7x5xf32>, tensor<3x1xui64>, tensor<3x2x5xf32>) -> tensor<7x5xf32>
  %5 = "stablehlo.scatter"(%cut, %index, %news) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<7x5xf32>, tensor<3x1xui64>, tensor<3x2x5xf32>) -> tensor<7x5xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>
}

// RUN: shard-opt %s --spmd-propagate=explain 2>&1 | FileCheck %s
// Asking for rows against gathering what they are rows of.
spmd.mesh @mesh = <["x"=4]>
// CHECK: remark: operand 0 of 'stablehlo.gather' is addressed along dim 0, which is cut: its rows are asked for, at most about {{[0-9]+}} bytes; gathering it moves 3072000
// CHECK: remark: operand 0 of 'stablehlo.gather' is addressed along dim 0, which is cut: gathered, 6144 bytes; asking for rows counts {{[0-9]+}}
// CHECK: remark: moves 6144 bytes: operand 0 of 'stablehlo.gather' is cut along "x" in dim 0, but is needed whole
// Two rows that all ranks ask for: each knows what the others want, so they need not synchronise.
// CHECK: remark: operand 0 of 'stablehlo.gather' is addressed along dim 0, which is cut: its rows are asked for, at most about {{[0-9]+}} bytes; gathering it moves 6144
func.func @main(%large: tensor<4000x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %small: tensor<8x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %indices: tensor<400x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %same: tensor<2x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>})
    -> (tensor<400x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, tensor<400x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, tensor<2x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) {
  %0 = "stablehlo.gather"(%large, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4000x64xf32>, tensor<400x1xi32>) -> tensor<400x64xf32>
  %1 = "stablehlo.gather"(%small, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<8x64xf32>, tensor<400x1xi32>) -> tensor<400x64xf32>
  %2 = "stablehlo.gather"(%small, %same) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<8x64xf32>, tensor<2x1xi32>) -> tensor<2x64xf32>
  return %0, %1, %2 : tensor<400x64xf32>, tensor<400x64xf32>, tensor<2x64xf32>
}

// RUN: shard-run %s --check=interpreter 2>&1 | FileCheck %s
// RUN: shard-run %s --check=interpreter --ranks=3 --sizes=0:1=5,0,2 --verify-partition 2>&1 | FileCheck %s
// RUN: shard-run %s --check=interpreter --ranks=4 --reproducible 2>&1 | FileCheck %s
// Gathers by known indices are copies, of cut rows too, in uneven and empty shards: each of two rows, every second one, and all backwards.
// CHECK: output 0: f32 [3, 14, 5] {{.*}}bitwise equal
// CHECK: output 1: f32 [3, 3, 5] {{.*}}bitwise equal
// CHECK: output 2: f32 [3, 7, 5] {{.*}}bitwise equal
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<3x7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<3x14x5xf32>, tensor<3x3x5xf32>, tensor<3x7x5xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<14xi32>
  %two = stablehlo.constant dense<2> : tensor<14xi32>
  %nearest = stablehlo.divide %i, %two : tensor<14xi32>
  %0 = "stablehlo.gather"(%x, %nearest) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 3, 1, 5>}> : (tensor<3x7x5xf32>, tensor<14xi32>) -> tensor<3x14x5xf32>
  %second = stablehlo.constant dense<[1, 3, 5]> : tensor<3xi32>
  %1 = "stablehlo.gather"(%x, %second) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 3, 1, 5>}> : (tensor<3x7x5xf32>, tensor<3xi32>) -> tensor<3x3x5xf32>
  %back = stablehlo.constant dense<[6, 5, 4, 3, 2, 1, 0]> : tensor<7xi32>
  %2 = "stablehlo.gather"(%x, %back) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 3, 1, 5>}> : (tensor<3x7x5xf32>, tensor<7xi32>) -> tensor<3x7x5xf32>
  return %0, %1, %2 : tensor<3x14x5xf32>, tensor<3x3x5xf32>, tensor<3x7x5xf32>
}

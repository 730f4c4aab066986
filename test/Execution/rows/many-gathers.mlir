// RUN: shard-run %s --seed=1 --check
// RUN: shard-translate %s -o %t.so && shard-run %t.so --seed=1

// Twenty gathers ask for the same rows. All their reasons together would be longer than an artifact may say.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%t0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<6x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %s0 = stablehlo.constant dense<0.0> : tensor<6x4xf32>
  %g0 = "stablehlo.gather"(%t0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s1 = stablehlo.add %s0, %g0 : tensor<6x4xf32>
  %t1 = stablehlo.tanh %t0 : tensor<8x4xf32>
  %g1 = "stablehlo.gather"(%t1, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s2 = stablehlo.add %s1, %g1 : tensor<6x4xf32>
  %t2 = stablehlo.tanh %t1 : tensor<8x4xf32>
  %g2 = "stablehlo.gather"(%t2, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s3 = stablehlo.add %s2, %g2 : tensor<6x4xf32>
  %t3 = stablehlo.tanh %t2 : tensor<8x4xf32>
  %g3 = "stablehlo.gather"(%t3, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s4 = stablehlo.add %s3, %g3 : tensor<6x4xf32>
  %t4 = stablehlo.tanh %t3 : tensor<8x4xf32>
  %g4 = "stablehlo.gather"(%t4, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s5 = stablehlo.add %s4, %g4 : tensor<6x4xf32>
  %t5 = stablehlo.tanh %t4 : tensor<8x4xf32>
  %g5 = "stablehlo.gather"(%t5, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s6 = stablehlo.add %s5, %g5 : tensor<6x4xf32>
  %t6 = stablehlo.tanh %t5 : tensor<8x4xf32>
  %g6 = "stablehlo.gather"(%t6, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s7 = stablehlo.add %s6, %g6 : tensor<6x4xf32>
  %t7 = stablehlo.tanh %t6 : tensor<8x4xf32>
  %g7 = "stablehlo.gather"(%t7, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s8 = stablehlo.add %s7, %g7 : tensor<6x4xf32>
  %t8 = stablehlo.tanh %t7 : tensor<8x4xf32>
  %g8 = "stablehlo.gather"(%t8, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s9 = stablehlo.add %s8, %g8 : tensor<6x4xf32>
  %t9 = stablehlo.tanh %t8 : tensor<8x4xf32>
  %g9 = "stablehlo.gather"(%t9, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s10 = stablehlo.add %s9, %g9 : tensor<6x4xf32>
  %t10 = stablehlo.tanh %t9 : tensor<8x4xf32>
  %g10 = "stablehlo.gather"(%t10, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s11 = stablehlo.add %s10, %g10 : tensor<6x4xf32>
  %t11 = stablehlo.tanh %t10 : tensor<8x4xf32>
  %g11 = "stablehlo.gather"(%t11, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s12 = stablehlo.add %s11, %g11 : tensor<6x4xf32>
  %t12 = stablehlo.tanh %t11 : tensor<8x4xf32>
  %g12 = "stablehlo.gather"(%t12, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s13 = stablehlo.add %s12, %g12 : tensor<6x4xf32>
  %t13 = stablehlo.tanh %t12 : tensor<8x4xf32>
  %g13 = "stablehlo.gather"(%t13, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s14 = stablehlo.add %s13, %g13 : tensor<6x4xf32>
  %t14 = stablehlo.tanh %t13 : tensor<8x4xf32>
  %g14 = "stablehlo.gather"(%t14, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s15 = stablehlo.add %s14, %g14 : tensor<6x4xf32>
  %t15 = stablehlo.tanh %t14 : tensor<8x4xf32>
  %g15 = "stablehlo.gather"(%t15, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s16 = stablehlo.add %s15, %g15 : tensor<6x4xf32>
  %t16 = stablehlo.tanh %t15 : tensor<8x4xf32>
  %g16 = "stablehlo.gather"(%t16, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s17 = stablehlo.add %s16, %g16 : tensor<6x4xf32>
  %t17 = stablehlo.tanh %t16 : tensor<8x4xf32>
  %g17 = "stablehlo.gather"(%t17, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s18 = stablehlo.add %s17, %g17 : tensor<6x4xf32>
  %t18 = stablehlo.tanh %t17 : tensor<8x4xf32>
  %g18 = "stablehlo.gather"(%t18, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s19 = stablehlo.add %s18, %g18 : tensor<6x4xf32>
  %t19 = stablehlo.tanh %t18 : tensor<8x4xf32>
  %g19 = "stablehlo.gather"(%t19, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %s20 = stablehlo.add %s19, %g19 : tensor<6x4xf32>
  %t20 = stablehlo.tanh %t19 : tensor<8x4xf32>
  return %s20 : tensor<6x4xf32>
}

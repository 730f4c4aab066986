// RUN: shard-run %s --seed=1 --check 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=1 --check --mesh=x=1 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=1 --check --mesh=x=3 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=1 --check --mesh=x=7 --sizes=0:0=0,300,3,0,50,40,10 2>&1 | FileCheck %s
// Rows of a cut table, by indices that repeat and lie outside: clamped.
// CHECK-COUNT-3: bitwise equal
sdy.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<403x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<257x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<100x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<90x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %n_i = stablehlo.iota dim = 0 : tensor<257xi32>
  %k_i = stablehlo.constant dense<37> : tensor<257xi32>
  %m_i = stablehlo.constant dense<423> : tensor<257xi32>
  %o_i = stablehlo.constant dense<10> : tensor<257xi32>
  %p_i = stablehlo.multiply %n_i, %k_i : tensor<257xi32>
  %r_i = stablehlo.remainder %p_i, %m_i : tensor<257xi32>
  %d_i = stablehlo.subtract %r_i, %o_i : tensor<257xi32>
  %i = stablehlo.reshape %d_i : (tensor<257xi32>) -> tensor<257x1xi32>
  %n_j = stablehlo.iota dim = 0 : tensor<100xi64>
  %k_j = stablehlo.constant dense<37> : tensor<100xi64>
  %m_j = stablehlo.constant dense<423> : tensor<100xi64>
  %o_j = stablehlo.constant dense<10> : tensor<100xi64>
  %p_j = stablehlo.multiply %n_j, %k_j : tensor<100xi64>
  %r_j = stablehlo.remainder %p_j, %m_j : tensor<100xi64>
  %d_j = stablehlo.subtract %r_j, %o_j : tensor<100xi64>
  %j = stablehlo.reshape %d_j : (tensor<100xi64>) -> tensor<100x1xi64>
  %n_u = stablehlo.iota dim = 0 : tensor<90xui16>
  %k_u = stablehlo.constant dense<37> : tensor<90xui16>
  %m_u = stablehlo.constant dense<403> : tensor<90xui16>
  %o_u = stablehlo.constant dense<0> : tensor<90xui16>
  %p_u = stablehlo.multiply %n_u, %k_u : tensor<90xui16>
  %r_u = stablehlo.remainder %p_u, %m_u : tensor<90xui16>
  %d_u = stablehlo.subtract %r_u, %o_u : tensor<90xui16>
  %u = stablehlo.reshape %d_u : (tensor<90xui16>) -> tensor<90x1xui16>
  %a = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<403x32xf32>, tensor<257x1xi32>) -> tensor<257x32xf32>
  %b = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<403x32xf32>, tensor<100x1xi64>) -> tensor<100x32xf32>
  %c = "stablehlo.gather"(%t, %u) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<403x32xf32>, tensor<90x1xui16>) -> tensor<90x32xf32>
  return %a, %b, %c : tensor<257x32xf32>, tensor<100x32xf32>, tensor<90x32xf32>
}

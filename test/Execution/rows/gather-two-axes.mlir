// RUN: shard-run %s --seed=1 --check
// RUN: shard-run %s --seed=1 --check --mesh=x=3,y=2
// RUN: shard-run %s --seed=1 --check --mesh=x=3,y=2 --sizes=0:0=0,25,16 --sizes=0:2=33,34
// Two addressed dims, cut along two axes, with a dim between them that is not.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%t: tensor<41x9x67xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>})
    -> (tensor<333x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<9x333x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %n_i = stablehlo.iota dim = 0 : tensor<333xi32>
  %k_i = stablehlo.constant dense<37> : tensor<333xi32>
  %m_i = stablehlo.constant dense<61> : tensor<333xi32>
  %o_i = stablehlo.constant dense<10> : tensor<333xi32>
  %p_i = stablehlo.multiply %n_i, %k_i : tensor<333xi32>
  %r_i = stablehlo.remainder %p_i, %m_i : tensor<333xi32>
  %d_i = stablehlo.subtract %r_i, %o_i : tensor<333xi32>
  %i = stablehlo.reshape %d_i : (tensor<333xi32>) -> tensor<333x1xi32>
  %n_j = stablehlo.iota dim = 0 : tensor<333xi32>
  %k_j = stablehlo.constant dense<37> : tensor<333xi32>
  %m_j = stablehlo.constant dense<87> : tensor<333xi32>
  %o_j = stablehlo.constant dense<10> : tensor<333xi32>
  %p_j = stablehlo.multiply %n_j, %k_j : tensor<333xi32>
  %r_j = stablehlo.remainder %p_j, %m_j : tensor<333xi32>
  %d_j = stablehlo.subtract %r_j, %o_j : tensor<333xi32>
  %j = stablehlo.reshape %d_j : (tensor<333xi32>) -> tensor<333x1xi32>
  %ij = stablehlo.concatenate %i, %j, dim = 1 : (tensor<333x1xi32>, tensor<333x1xi32>) -> tensor<333x2xi32>
  %a = "stablehlo.gather"(%t, %ij) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9, 1>}> : (tensor<41x9x67xf32>, tensor<333x2xi32>) -> tensor<333x9xf32>
  %b = "stablehlo.gather"(%t, %ij) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [0], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9, 4>}> : (tensor<41x9x67xf32>, tensor<333x2xi32>) -> tensor<9x333x4xf32>
  return %a, %b : tensor<333x9xf32>, tensor<9x333x4xf32>
}

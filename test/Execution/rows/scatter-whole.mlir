// RUN: shard-run %s --seed=1 --check
// RUN: shard-run %s --seed=1 --check --mesh=x=1
// RUN: shard-run %s --seed=1 --check --mesh=x=3
// RUN: shard-run %s --seed=1 --check --mesh=x=7 --sizes=0:0=0,300,3,0,50,40,10
// Updates that all ranks have, and inputs that all have.
sdy.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<403x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %u: tensor<100x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<403x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<403x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<403x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %n_i = stablehlo.iota dim = 0 : tensor<100xi32>
  %k_i = stablehlo.constant dense<37> : tensor<100xi32>
  %m_i = stablehlo.constant dense<423> : tensor<100xi32>
  %o_i = stablehlo.constant dense<10> : tensor<100xi32>
  %p_i = stablehlo.multiply %n_i, %k_i : tensor<100xi32>
  %r_i = stablehlo.remainder %p_i, %m_i : tensor<100xi32>
  %d_i = stablehlo.subtract %r_i, %o_i : tensor<100xi32>
  %i = stablehlo.reshape %d_i : (tensor<100xi32>) -> tensor<100x1xi32>
  %a = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %s = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<403x32xf32>, tensor<100x1xi32>, tensor<100x32xf32>) -> tensor<403x32xf32>
  %b = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<403x32xf32>, tensor<100x1xi32>, tensor<100x32xf32>) -> tensor<403x32xf32>
  %c = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %h = stablehlo.tanh %old : tensor<f32>
    %s = stablehlo.add %h, %new : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<403x32xf32>, tensor<100x1xi32>, tensor<100x32xf32>) -> tensor<403x32xf32>
  return %a, %b, %c : tensor<403x32xf32>, tensor<403x32xf32>, tensor<403x32xf32>
}

// RUN: shard-run %s --check --rtol=0 --atol=0
// Updates of a scatter in uneven shards were refused: the verifier took their dims for those of the rows.
spmd.mesh @mesh = <["model"=2]>
func.func @main(%a: tensor<11x15xf32>, %i: tensor<11x5x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model" sizes [1, 4]}, {}]>},
                %u: tensor<11x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model" sizes [2, 3]}]>}) -> tensor<11x15xf32> {
  %4 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%p_4: tensor<f32>, %q_4: tensor<f32>):
  %r_4 = stablehlo.add %p_4, %q_4 : tensor<f32>
  stablehlo.return %r_4 : tensor<f32>
  }) : (tensor<11x15xf32>, tensor<11x5x1xi32>, tensor<11x5xf32>) -> tensor<11x15xf32>
  return %4 : tensor<11x15xf32>
}

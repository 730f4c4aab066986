// RUN: shard-run %s --seed=756783 --check
// What peers read between the start and the wait of an exchange stays as it is.
// rank 0: all_gather #2 along "y,batch" for operand 0 of 'stablehlo.scatter' is cut along "y", "batch" in dim 1, but is needed whole at -:7: source and destination overlap
spmd.mesh @mesh = <["y"=2, "batch"=2]>
func.func @main(%arg0: tensor<1x8xi8>,
                %arg1: tensor<2x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"batch", "y", ?}, {}]>},
                %arg2: tensor<2x1xi8> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y", "batch", ?}]>})
    -> (tensor<1x1xi8>) {
  %0 = stablehlo.slice %arg0 [0:1, 4:6:2] : (tensor<1x8xi8>) -> tensor<1x1xi8>
  %1 = "stablehlo.scatter"(%0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_1: tensor<i8>, %q_1: tensor<i8>):
  %r_1 = stablehlo.add %p_1, %q_1 : tensor<i8>
  stablehlo.return %r_1 : tensor<i8>
  }) : (tensor<1x1xi8>, tensor<2x1xi32>, tensor<2x1xi8>) -> tensor<1x1xi8>
  return %1 : tensor<1x1xi8>
}

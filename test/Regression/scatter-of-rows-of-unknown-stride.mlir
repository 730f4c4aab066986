// RUN: shard-run %s --seed=868063 --check --rtol=0 --atol=0.000000e+00
// Rows of a scatter into one of nine, of blocks whose size is known at run time alone: strides too, and with dims of one element
// left out and kept the rows were read along the wrong ones.
spmd.mesh @mesh = <["i0"=2]>
func.func @main(%arg0: tensor<1x1xi32>,
                %arg1: tensor<1x1x2x2xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {"i0" sizes [0, 2]}]>},
                %arg2: tensor<1x2x9x2xi32>)
    -> (tensor<1x2x9x2xi32>) {
  %0 = "stablehlo.scatter"(%arg2, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({
  ^bb0(%p_0: tensor<i32>, %q_0: tensor<i32>):
  %r_0 = stablehlo.add %p_0, %q_0 : tensor<i32>
  stablehlo.return %r_0 : tensor<i32>
  }) : (tensor<1x2x9x2xi32>, tensor<1x1xi32>, tensor<1x1x2x2xi32>) -> tensor<1x2x9x2xi32>
  return %0 : tensor<1x2x9x2xi32>
}

// RUN: shard-run %s --seed=137160 --check
// An intermediate value that lay in output 0 was read after the scatter had changed it.
spmd.mesh @mesh = <["model"=2]>
func.func @main(%arg0: tensor<2xi64>,
                %arg1: tensor<2xi64>,
                %arg2: tensor<3x1xi32>,
                %arg3: tensor<3xi64>)
    -> (tensor<2xi64> {spmd.sharding = #spmd.sharding<@mesh, [{"model", ?}]>},
        tensor<1x2x1xi64>) {
  %k_0 = stablehlo.constant dense<7> : tensor<2xi64>
  %s_0 = stablehlo.and %arg1, %k_0 : tensor<2xi64>
  %0 = stablehlo.shift_right_arithmetic %arg0, %s_0 : tensor<2xi64>
  %1 = "stablehlo.scatter"(%0, %arg2, %arg3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_1: tensor<i64>, %q_1: tensor<i64>):
  %r_1 = stablehlo.minimum %p_1, %q_1 : tensor<i64>
  stablehlo.return %r_1 : tensor<i64>
  }) : (tensor<2xi64>, tensor<3x1xi32>, tensor<3xi64>) -> tensor<2xi64>
  %2 = stablehlo.reshape %0 : (tensor<2xi64>) -> tensor<1x2x1xi64>
  return %1, %2 : tensor<2xi64>, tensor<1x2x1xi64>
}

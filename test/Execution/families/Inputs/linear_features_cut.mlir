module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x12xf32>, %arg1: tensor<12x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<2x6x8xf32>) -> (tensor<2x6x8xf32> {jax.result_info = "result[0]"}, tensor<2x6x12xf32> {jax.result_info = "result[1]"}, tensor<12x8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x12xf32>, tensor<12x8xf32>) -> tensor<2x6x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x6x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%arg3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %7 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<2x6x12xf32>) -> tensor<8x12xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %9 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<12x8xf32>) -> tensor<2x6x12xf32>
    return %3, %9, %8, %6 : tensor<2x6x8xf32>, tensor<2x6x12xf32>, tensor<12x8xf32>, tensor<8xf32>
  }
}

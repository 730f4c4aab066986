module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x8xf32>, %arg1: tensor<f32>, %arg2: tensor<2x8xf32>, %arg3: tensor<12xf32>, %arg4: tensor<1x12x8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2x8xf32> {jax.result_info = "result[1]"}, tensor<12xf32> {jax.result_info = "result[2]"}, tensor<1x12x8xf32> {jax.result_info = "result[3]"}, tensor<2x12x8xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1, 2] : (tensor<12x8xf32>) -> tensor<1x12x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%arg4 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<1x12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1, 2] : (tensor<12x8xf32>) -> tensor<2x12x8xf32>
    %7 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<12xf32>) -> tensor<2x12x8xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x12x8xf32>
    %9 = stablehlo.broadcast_in_dim %arg2, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x12x8xf32>
    %10 = stablehlo.add %8, %9 : tensor<2x12x8xf32>
    %11 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x12x8xf32>
    %12 = stablehlo.add %10, %11 : tensor<2x12x8xf32>
    return %0, %1, %2, %4, %12 : tensor<f32>, tensor<2x8xf32>, tensor<12xf32>, tensor<1x12x8xf32>, tensor<2x12x8xf32>
  }
}

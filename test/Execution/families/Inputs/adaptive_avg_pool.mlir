module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<1x4x3x2xf32>) -> (tensor<1x4x3x2xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<1x12x12x2xf32>) -> tensor<1x4x3x3x4x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2, 4] : (tensor<1x4x3x3x4x2xf32>, tensor<f32>) -> tensor<1x4x3x2xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4x3x2xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x4x3x2xf32>
    %cst_1 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x4x3x2xf32>
    %5 = stablehlo.divide %arg1, %4 : tensor<1x4x3x2xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 3, 5] : (tensor<1x4x3x2xf32>) -> tensor<1x4x3x3x4x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x4x3x3x4x2xf32>) -> tensor<1x12x12x2xf32>
    return %3, %7 : tensor<1x4x3x2xf32>, tensor<1x12x12x2xf32>
  }
}

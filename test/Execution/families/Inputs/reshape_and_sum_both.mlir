module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x6xf32>, %arg1: tensor<2x4x18xf32>, %arg2: tensor<2x6xf32>, %arg3: tensor<2x12x6xf32>) -> (tensor<2x4x18xf32> {jax.result_info = "result[0]"}, tensor<2x6xf32> {jax.result_info = "result[1]"}, tensor<2x12x6xf32> {jax.result_info = "result[2]"}, tensor<2x12x6xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x12x6xf32>) -> tensor<2x4x18xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x12x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x6xf32>
    %4 = call @_flip(%arg0) : (tensor<2x12x6xf32>) -> tensor<2x12x6xf32>
    %5 = call @_flip_0(%arg3) : (tensor<2x12x6xf32>) -> tensor<2x12x6xf32>
    %cst_1 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %7 = stablehlo.divide %arg2, %6 : tensor<2x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<2x6xf32>) -> tensor<2x12x6xf32>
    %9 = stablehlo.add %5, %8 : tensor<2x12x6xf32>
    %10 = stablehlo.reshape %arg1 : (tensor<2x4x18xf32>) -> tensor<2x12x6xf32>
    %11 = stablehlo.add %9, %10 : tensor<2x12x6xf32>
    return %0, %3, %4, %11 : tensor<2x4x18xf32>, tensor<2x6xf32>, tensor<2x12x6xf32>, tensor<2x12x6xf32>
  }
  func.func private @_flip(%arg0: tensor<2x12x6xf32>) -> tensor<2x12x6xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<2x12x6xf32>
    return %0 : tensor<2x12x6xf32>
  }
  func.func private @_flip_0(%arg0: tensor<2x12x6xf32>) -> tensor<2x12x6xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<2x12x6xf32>
    return %0 : tensor<2x12x6xf32>
  }
}

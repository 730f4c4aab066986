module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x12xf32>, %arg1: tensor<2x11x10xf32>) -> (tensor<2x11x10xf32> {jax.result_info = "result[0]"}, tensor<2x12x12xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [0, -2, 1], high = [0, 1, -3], interior = [0, 0, 0] : (tensor<2x12x12xf32>, tensor<f32>) -> tensor<2x11x10xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg1, %cst_0, low = [0, 2, -1], high = [0, -1, 3], interior = [0, 0, 0] : (tensor<2x11x10xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %2 = stablehlo.slice %1 [0:2, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    return %0, %2 : tensor<2x11x10xf32>, tensor<2x12x12xf32>
  }
}

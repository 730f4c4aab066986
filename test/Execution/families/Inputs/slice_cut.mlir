module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<4x4x12xf32>) -> (tensor<4x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [1:11:3, 0:4, 0:12] : (tensor<12x4x12xf32>) -> tensor<4x4x12xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg1, %cst, low = [1, 0, 0], high = [1, 0, 0], interior = [2, 0, 0] : (tensor<4x4x12xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    return %0, %1 : tensor<4x4x12xf32>, tensor<12x4x12xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x4xf32>) -> (tensor<12x4x4xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:12, 0:4, 1:11:3] : (tensor<12x4x12xf32>) -> tensor<12x4x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg1, %cst, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 2] : (tensor<12x4x4xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    return %0, %1 : tensor<12x4x4xf32>, tensor<12x4x12xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x11xf32>) -> (tensor<12x4x11xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = call @diff(%arg0) : (tensor<12x4x12xf32>) -> tensor<12x4x11xf32>
    %1 = call @diff_0(%arg1) : (tensor<12x4x11xf32>) -> tensor<12x4x12xf32>
    return %0, %1 : tensor<12x4x11xf32>, tensor<12x4x12xf32>
  }
  func.func private @diff(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x11xf32> {
    %0 = stablehlo.slice %arg0 [0:12, 0:4, 1:12] : (tensor<12x4x12xf32>) -> tensor<12x4x11xf32>
    %1 = stablehlo.slice %arg0 [0:12, 0:4, 0:11] : (tensor<12x4x12xf32>) -> tensor<12x4x11xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<12x4x11xf32>
    return %2 : tensor<12x4x11xf32>
  }
  func.func private @diff_0(%arg0: tensor<12x4x11xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.negate %arg0 : tensor<12x4x11xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %0, %cst, low = [0, 0, 0], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<12x4x11xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %arg0, %cst_0, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<12x4x11xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %3 = stablehlo.add %1, %2 : tensor<12x4x12xf32>
    return %3 : tensor<12x4x12xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = call @_roll_static(%arg0) : (tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    %1 = call @_roll_static_0(%arg0) : (tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    %2 = stablehlo.add %0, %1 : tensor<12x4x12xf32>
    %3 = call @_roll_static_1(%arg1) : (tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    %4 = call @_roll_static_2(%arg1) : (tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    %5 = stablehlo.add %3, %4 : tensor<12x4x12xf32>
    return %2, %5 : tensor<12x4x12xf32>, tensor<12x4x12xf32>
  }
  func.func private @_roll_static(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.slice %arg0 [0:12, 0:4, 7:12] : (tensor<12x4x12xf32>) -> tensor<12x4x5xf32>
    %1 = stablehlo.slice %arg0 [0:12, 0:4, 0:7] : (tensor<12x4x12xf32>) -> tensor<12x4x7xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<12x4x5xf32>, tensor<12x4x7xf32>) -> tensor<12x4x12xf32>
    return %2 : tensor<12x4x12xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.slice %arg0 [0:12, 0:4, 1:12] : (tensor<12x4x12xf32>) -> tensor<12x4x11xf32>
    %1 = stablehlo.slice %arg0 [0:12, 0:4, 0:1] : (tensor<12x4x12xf32>) -> tensor<12x4x1xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<12x4x11xf32>, tensor<12x4x1xf32>) -> tensor<12x4x12xf32>
    return %2 : tensor<12x4x12xf32>
  }
  func.func private @_roll_static_1(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.slice %arg0 [0:12, 0:4, 0:11] : (tensor<12x4x12xf32>) -> tensor<12x4x11xf32>
    %1 = stablehlo.slice %arg0 [0:12, 0:4, 11:12] : (tensor<12x4x12xf32>) -> tensor<12x4x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %1, %cst, low = [0, 0, 0], high = [0, 0, 11], interior = [0, 0, 0] : (tensor<12x4x1xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %0, %cst_0, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<12x4x11xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %4 = stablehlo.add %2, %3 : tensor<12x4x12xf32>
    return %4 : tensor<12x4x12xf32>
  }
  func.func private @_roll_static_2(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.slice %arg0 [0:12, 0:4, 0:5] : (tensor<12x4x12xf32>) -> tensor<12x4x5xf32>
    %1 = stablehlo.slice %arg0 [0:12, 0:4, 5:12] : (tensor<12x4x12xf32>) -> tensor<12x4x7xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %1, %cst, low = [0, 0, 0], high = [0, 0, 5], interior = [0, 0, 0] : (tensor<12x4x7xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %0, %cst_0, low = [0, 0, 7], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<12x4x5xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %4 = stablehlo.add %2, %3 : tensor<12x4x12xf32>
    return %4 : tensor<12x4x12xf32>
  }
}

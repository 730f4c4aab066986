module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x12xf32>, %arg1: tensor<2x16x15xf32>) -> (tensor<2x16x15xf32> {jax.result_info = "result[0]"}, tensor<2x12x12xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.234000e+00> : tensor<f32>
    %0:2 = call @_pad(%arg0, %cst) : (tensor<2x12x12xf32>, tensor<f32>) -> (tensor<2x16x15xf32>, tensor<f32>)
    %1 = call @_pad_0(%0#1, %arg1) : (tensor<f32>, tensor<2x16x15xf32>) -> tensor<2x12x12xf32>
    return %0#0, %1 : tensor<2x16x15xf32>, tensor<2x12x12xf32>
  }
  func.func private @_pad(%arg0: tensor<2x12x12xf32>, %arg1: tensor<f32>) -> (tensor<2x16x15xf32>, tensor<f32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 2, 1], high = [0, 2, 2], interior = [0, 0, 0] : (tensor<2x12x12xf32>, tensor<f32>) -> tensor<2x16x15xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    return %1, %cst : tensor<2x16x15xf32>, tensor<f32>
  }
  func.func private @_pad_0(%arg0: tensor<f32>, %arg1: tensor<2x16x15xf32>) -> tensor<2x12x12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg1, %cst, low = [0, -2, -1], high = [0, -2, -2], interior = [0, 0, 0] : (tensor<2x16x15xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %1 = stablehlo.slice %0 [0:2, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    return %1 : tensor<2x12x12xf32>
  }
}

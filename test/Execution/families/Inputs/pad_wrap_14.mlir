module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x12xf32>, %arg1: tensor<2x17x15xf32>) -> (tensor<2x17x15xf32> {jax.result_info = "result[0]"}, tensor<2x12x12xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<2x12x12xf32>, tensor<i32>) -> tensor<2x17x15xf32>
    %1 = call @_pad_0(%arg1) : (tensor<2x17x15xf32>) -> tensor<2x12x12xf32>
    return %0, %1 : tensor<2x17x15xf32>, tensor<2x12x12xf32>
  }
  func.func private @_pad(%arg0: tensor<2x12x12xf32>, %arg1: tensor<i32>) -> tensor<2x17x15xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 11:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x1x12xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:4, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x4x12xf32>
    %2 = stablehlo.concatenate %0, %arg0, %1, dim = 1 : (tensor<2x1x12xf32>, tensor<2x12x12xf32>, tensor<2x4x12xf32>) -> tensor<2x17x12xf32>
    %3 = stablehlo.slice %2 [0:2, 0:17, 11:12] : (tensor<2x17x12xf32>) -> tensor<2x17x1xf32>
    %4 = stablehlo.slice %2 [0:2, 0:17, 0:2] : (tensor<2x17x12xf32>) -> tensor<2x17x2xf32>
    %5 = stablehlo.concatenate %3, %2, %4, dim = 2 : (tensor<2x17x1xf32>, tensor<2x17x12xf32>, tensor<2x17x2xf32>) -> tensor<2x17x15xf32>
    return %5 : tensor<2x17x15xf32>
  }
  func.func private @_pad_0(%arg0: tensor<2x17x15xf32>) -> tensor<2x12x12xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:17, 0:1] : (tensor<2x17x15xf32>) -> tensor<2x17x1xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:17, 1:13] : (tensor<2x17x15xf32>) -> tensor<2x17x12xf32>
    %2 = stablehlo.slice %arg0 [0:2, 0:17, 13:15] : (tensor<2x17x15xf32>) -> tensor<2x17x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %2, %cst, low = [0, 0, 0], high = [0, 0, 10], interior = [0, 0, 0] : (tensor<2x17x2xf32>, tensor<f32>) -> tensor<2x17x12xf32>
    %4 = stablehlo.add %1, %3 : tensor<2x17x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.pad %0, %cst_0, low = [0, 0, 11], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x17x1xf32>, tensor<f32>) -> tensor<2x17x12xf32>
    %6 = stablehlo.add %4, %5 : tensor<2x17x12xf32>
    %7 = stablehlo.slice %6 [0:2, 0:1, 0:12] : (tensor<2x17x12xf32>) -> tensor<2x1x12xf32>
    %8 = stablehlo.slice %6 [0:2, 1:13, 0:12] : (tensor<2x17x12xf32>) -> tensor<2x12x12xf32>
    %9 = stablehlo.slice %6 [0:2, 13:17, 0:12] : (tensor<2x17x12xf32>) -> tensor<2x4x12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.pad %9, %cst_1, low = [0, 0, 0], high = [0, 8, 0], interior = [0, 0, 0] : (tensor<2x4x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %11 = stablehlo.add %8, %10 : tensor<2x12x12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.pad %7, %cst_2, low = [0, 11, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x1x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %13 = stablehlo.add %11, %12 : tensor<2x12x12xf32>
    return %13 : tensor<2x12x12xf32>
  }
}

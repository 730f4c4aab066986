module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x4x4xf32>, %arg1: tensor<24x4x4xf32>, %arg2: tensor<2x12x16xf32>, %arg3: tensor<2x3x4x4x4xf32>, %arg4: tensor<384xf32>, %arg5: tensor<2x6x2x2x2x4xf32>) -> (tensor<24x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x12x16xf32> {jax.result_info = "result[1]"}, tensor<2x3x4x4x4xf32> {jax.result_info = "result[2]"}, tensor<384xf32> {jax.result_info = "result[3]"}, tensor<2x6x2x2x2x4xf32> {jax.result_info = "result[4]"}, tensor<2x12x4x4xf32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x12x4x4xf32>) -> tensor<24x4x4xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<2x12x4x4xf32>) -> tensor<2x12x16xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<2x12x4x4xf32>) -> tensor<2x3x4x4x4xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<2x12x4x4xf32>) -> tensor<384xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<2x12x4x4xf32>) -> tensor<2x6x2x2x2x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x2x2x2x4xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<2x6x2x2x2x4xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6x2x2x2x4xf32>
    %8 = stablehlo.multiply %arg5, %7 : tensor<2x6x2x2x2x4xf32>
    %9 = stablehlo.reshape %8 : (tensor<2x6x2x2x2x4xf32>) -> tensor<2x12x4x4xf32>
    %10 = stablehlo.reshape %arg4 : (tensor<384xf32>) -> tensor<2x12x4x4xf32>
    %11 = stablehlo.add %9, %10 : tensor<2x12x4x4xf32>
    %12 = stablehlo.reshape %arg3 : (tensor<2x3x4x4x4xf32>) -> tensor<2x12x4x4xf32>
    %13 = stablehlo.add %11, %12 : tensor<2x12x4x4xf32>
    %14 = stablehlo.reshape %arg2 : (tensor<2x12x16xf32>) -> tensor<2x12x4x4xf32>
    %15 = stablehlo.add %13, %14 : tensor<2x12x4x4xf32>
    %16 = stablehlo.reshape %arg1 : (tensor<24x4x4xf32>) -> tensor<2x12x4x4xf32>
    %17 = stablehlo.add %15, %16 : tensor<2x12x4x4xf32>
    return %0, %1, %2, %3, %6, %17 : tensor<24x4x4xf32>, tensor<2x12x16xf32>, tensor<2x3x4x4x4xf32>, tensor<384xf32>, tensor<2x6x2x2x2x4xf32>, tensor<2x12x4x4xf32>
  }
}

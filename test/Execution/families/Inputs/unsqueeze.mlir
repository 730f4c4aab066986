module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<1x12x8xf32>, %arg2: tensor<12x1x8xf32>, %arg3: tensor<12x8x1xf32>, %arg4: tensor<12x8xf32>) -> (tensor<1x12x8xf32> {jax.result_info = "result[0]"}, tensor<12x1x8xf32> {jax.result_info = "result[1]"}, tensor<12x8x1xf32> {jax.result_info = "result[2]"}, tensor<12x8xf32> {jax.result_info = "result[3]"}, tensor<12x8xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<12x8xf32>) -> tensor<1x12x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<12x8xf32>) -> tensor<12x1x8xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<12x8xf32>) -> tensor<12x8x1xf32>
    %3 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<12x8xf32>) -> tensor<12x1x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x1x8xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<12x1x8xf32>
    %6 = stablehlo.reshape %5 : (tensor<12x1x8xf32>) -> tensor<12x8xf32>
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [0, 2] : (tensor<12x8xf32>) -> tensor<12x1x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x1x8xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<12x1x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<12x1x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%arg3 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<12x8x1xf32>, tensor<f32>) -> tensor<12x8xf32>
    %12 = stablehlo.add %10, %11 : tensor<12x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%arg2 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<12x1x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %14 = stablehlo.add %12, %13 : tensor<12x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%arg1 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<1x12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %16 = stablehlo.add %14, %15 : tensor<12x8xf32>
    return %0, %1, %2, %6, %16 : tensor<1x12x8xf32>, tensor<12x1x8xf32>, tensor<12x8x1xf32>, tensor<12x8xf32>, tensor<12x8xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x8xf32>, %arg1: tensor<f32>, %arg2: tensor<2x1x8xf32>, %arg3: tensor<1x12x8xf32>, %arg4: tensor<2xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2x1x8xf32> {jax.result_info = "result[1]"}, tensor<1x12x8xf32> {jax.result_info = "result[2]"}, tensor<2xf32> {jax.result_info = "result[3]"}, tensor<2x12x8xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.920000e+02> : tensor<f32>
    %1 = stablehlo.divide %0, %cst_0 : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
    %cst_2 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x1x8xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2x1x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<12x8xf32>) -> tensor<1x12x8xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x12x8xf32>
    %9 = stablehlo.divide %7, %8 : tensor<1x12x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x12x8xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_6 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2xf32>
    %cst_7 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %14 = stablehlo.divide %arg4, %13 : tensor<2xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<2xf32>) -> tensor<2x12x8xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x12x8xf32>
    %17 = stablehlo.divide %arg3, %16 : tensor<1x12x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [1, 2] : (tensor<12x8xf32>) -> tensor<2x12x8xf32>
    %20 = stablehlo.add %15, %19 : tensor<2x12x8xf32>
    %cst_10 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x1x8xf32>
    %22 = stablehlo.divide %arg2, %21 : tensor<2x1x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_11) applies stablehlo.add across dimensions = [1] : (tensor<2x1x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x12x8xf32>
    %25 = stablehlo.add %20, %24 : tensor<2x12x8xf32>
    %cst_12 = stablehlo.constant dense<1.920000e+02> : tensor<f32>
    %26 = stablehlo.divide %arg1, %cst_12 : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<2x12x8xf32>
    %28 = stablehlo.add %25, %27 : tensor<2x12x8xf32>
    return %1, %5, %9, %12, %28 : tensor<f32>, tensor<2x1x8xf32>, tensor<1x12x8xf32>, tensor<2xf32>, tensor<2x12x8xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x16x12xf32>, %arg1: tensor<12xf32>, %arg2: tensor<2x16x12xf32>) -> (tensor<2x16x12xf32> {jax.result_info = "result[0]"}, tensor<2x16x12xf32> {jax.result_info = "result[1]"}, tensor<12xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x16x12xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x16x12xf32>, tensor<f32>) -> tensor<2x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x16x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<2x16x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<2x16x1xf32>
    %8 = stablehlo.divide %7, %6 : tensor<2x16x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<2x16x1xf32>
    %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x12xf32>
    %12 = stablehlo.multiply %arg0, %11 : tensor<2x16x12xf32>
    %13 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<2x16x12xf32>
    %15 = stablehlo.multiply %12, %14 : tensor<2x16x12xf32>
    %16 = stablehlo.multiply %12, %arg2 : tensor<2x16x12xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x16x12xf32>, tensor<f32>) -> tensor<12xf32>
    %18 = stablehlo.reshape %17 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %19 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<2x16x12xf32>
    %20 = stablehlo.multiply %arg2, %19 : tensor<2x16x12xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%18 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x12xf32>, tensor<f32>) -> tensor<12xf32>
    %22 = stablehlo.multiply %arg0, %20 : tensor<2x16x12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_5) applies stablehlo.add across dimensions = [2] : (tensor<2x16x12xf32>, tensor<f32>) -> tensor<2x16xf32>
    %24 = stablehlo.reshape %23 : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %25 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x12xf32>
    %26 = stablehlo.multiply %20, %25 : tensor<2x16x12xf32>
    %27 = stablehlo.multiply %24, %10 : tensor<2x16x1xf32>
    %cst_6 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %29 = stablehlo.divide %27, %28 : tensor<2x16x1xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x12xf32>
    %32 = stablehlo.multiply %arg0, %31 : tensor<2x16x12xf32>
    %33 = stablehlo.add %26, %32 : tensor<2x16x12xf32>
    %34 = stablehlo.multiply %31, %arg0 : tensor<2x16x12xf32>
    %35 = stablehlo.add %33, %34 : tensor<2x16x12xf32>
    return %15, %35, %21 : tensor<2x16x12xf32>, tensor<2x16x12xf32>, tensor<12xf32>
  }
}

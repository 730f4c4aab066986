module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x12x8x3xf32>, %arg1: tensor<4x12x8x3xf32>) -> (tensor<4x12x8x3xf32> {jax.result_info = "result[0]"}, tensor<4x12x8x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x12x8x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 3] : (tensor<4x3xf32>) -> tensor<4x1x1x3xf32>
    %cst_0 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1x1x3xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x1x1x3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<4x1x1x3xf32>) -> tensor<4x12x8x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x12x8x3xf32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<4x1x1x3xf32>) -> tensor<4x12x8x3xf32>
    %7 = stablehlo.subtract %arg0, %6 : tensor<4x12x8x3xf32>
    %8 = stablehlo.multiply %7, %7 : tensor<4x12x8x3xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x12x8x3xf32>
    %10 = stablehlo.multiply %9, %7 : tensor<4x12x8x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x12x8x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 3] : (tensor<4x3xf32>) -> tensor<4x1x1x3xf32>
    %cst_3 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x1x1x3xf32>
    %14 = stablehlo.divide %12, %13 : tensor<4x1x1x3xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x1x1x3xf32>
    %16 = stablehlo.add %14, %15 : tensor<4x1x1x3xf32>
    %17 = stablehlo.rsqrt %16 : tensor<4x1x1x3xf32>
    %18 = stablehlo.divide %17, %16 : tensor<4x1x1x3xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x1x1x3xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<4x1x1x3xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<4x1x1x3xf32>) -> tensor<4x12x8x3xf32>
    %22 = stablehlo.multiply %5, %21 : tensor<4x12x8x3xf32>
    %23 = stablehlo.multiply %5, %arg1 : tensor<4x12x8x3xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_6) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x12x8x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %25 = stablehlo.reshape %24 : (tensor<4x3xf32>) -> tensor<4x1x1x3xf32>
    %26 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<4x1x1x3xf32>) -> tensor<4x12x8x3xf32>
    %27 = stablehlo.multiply %arg1, %26 : tensor<4x12x8x3xf32>
    %28 = stablehlo.multiply %25, %20 : tensor<4x1x1x3xf32>
    %cst_7 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x1x1x3xf32>
    %30 = stablehlo.divide %28, %29 : tensor<4x1x1x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_8) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x1x1x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 3] : (tensor<4x3xf32>) -> tensor<4x12x8x3xf32>
    %33 = stablehlo.multiply %32, %10 : tensor<4x12x8x3xf32>
    %34 = stablehlo.negate %33 : tensor<4x12x8x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x12x8x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %36 = stablehlo.reshape %35 : (tensor<4x3xf32>) -> tensor<4x1x1x3xf32>
    %37 = stablehlo.negate %27 : tensor<4x12x8x3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_10) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x12x8x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %39 = stablehlo.reshape %38 : (tensor<4x3xf32>) -> tensor<4x1x1x3xf32>
    %40 = stablehlo.add %33, %27 : tensor<4x12x8x3xf32>
    %41 = stablehlo.add %36, %39 : tensor<4x1x1x3xf32>
    %cst_11 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x1x1x3xf32>
    %43 = stablehlo.divide %41, %42 : tensor<4x1x1x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_12) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x1x1x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 3] : (tensor<4x3xf32>) -> tensor<4x12x8x3xf32>
    %46 = stablehlo.add %40, %45 : tensor<4x12x8x3xf32>
    return %22, %46 : tensor<4x12x8x3xf32>, tensor<4x12x8x3xf32>
  }
}

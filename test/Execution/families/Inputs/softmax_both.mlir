module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x6xf32>, %arg1: tensor<2x12x6xf32>) -> (tensor<2x12x6xf32> {jax.result_info = "result[0]"}, tensor<2x12x6xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x12x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x6xf32>) -> tensor<2x1x6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<2x1x6xf32>) -> tensor<2x12x6xf32>
    %3 = stablehlo.compare EQ, %arg0, %2, FLOAT : (tensor<2x12x6xf32>, tensor<2x12x6xf32>) -> tensor<2x12x6xi1>
    %4 = stablehlo.convert %3 : (tensor<2x12x6xi1>) -> tensor<2x12x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<2x12x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %7 = stablehlo.maximum %6, %0 : tensor<2x6xf32>
    %8 = stablehlo.compare EQ, %0, %7, FLOAT : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %11 = stablehlo.select %8, %9, %10 : tensor<2x6xi1>, tensor<2x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %13 = stablehlo.compare EQ, %12, %7, FLOAT : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %16 = stablehlo.select %13, %14, %15 : tensor<2x6xi1>, tensor<2x6xf32>
    %17 = stablehlo.divide %11, %16 : tensor<2x6xf32>
    %18 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<2x6xf32>) -> tensor<2x1x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<2x1x6xf32>) -> tensor<2x12x6xf32>
    %20 = stablehlo.subtract %arg0, %19 : tensor<2x12x6xf32>
    %21 = stablehlo.exponential %20 : tensor<2x12x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<2x12x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 2] : (tensor<2x6xf32>) -> tensor<2x1x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x1x6xf32>) -> tensor<2x12x6xf32>
    %25 = stablehlo.divide %21, %24 : tensor<2x12x6xf32>
    %26 = stablehlo.multiply %23, %23 : tensor<2x1x6xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x1x6xf32>
    %28 = stablehlo.divide %27, %26 : tensor<2x1x6xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x1x6xf32>) -> tensor<2x12x6xf32>
    %30 = stablehlo.multiply %arg1, %29 : tensor<2x12x6xf32>
    %31 = stablehlo.multiply %30, %21 : tensor<2x12x6xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<2x12x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %33 = stablehlo.reshape %32 : (tensor<2x6xf32>) -> tensor<2x1x6xf32>
    %34 = stablehlo.negate %33 : tensor<2x1x6xf32>
    %35 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x1x6xf32>) -> tensor<2x12x6xf32>
    %36 = stablehlo.divide %arg1, %35 : tensor<2x12x6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%34 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<2x1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 2] : (tensor<2x6xf32>) -> tensor<2x12x6xf32>
    %39 = stablehlo.add %36, %38 : tensor<2x12x6xf32>
    %40 = stablehlo.multiply %39, %21 : tensor<2x12x6xf32>
    return %25, %40 : tensor<2x12x6xf32>, tensor<2x12x6xf32>
  }
}

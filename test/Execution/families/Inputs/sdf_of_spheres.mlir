module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x3xf32>, %arg1: tensor<8x3xf32>, %arg2: tensor<12xf32>) -> (tensor<12xf32> {jax.result_info = "result[0]"}, tensor<12x3xf32> {jax.result_info = "result[1]"}, tensor<8x3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x3xf32>) -> tensor<1x8x3xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<12x1x3xf32>) -> tensor<12x8x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x8x3xf32>) -> tensor<12x8x3xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<12x8x3xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<12x8x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8x3xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<12x8x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<12x8x3xf32>, tensor<f32>) -> tensor<12x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %10 = stablehlo.add %8, %9 : tensor<12x8xf32>
    %11 = stablehlo.sqrt %10 : tensor<12x8xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %13 = stablehlo.divide %12, %11 : tensor<12x8xf32>
    %cst_3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %14 = stablehlo.reduce(%11 init: %cst_3) applies stablehlo.minimum across dimensions = [1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<12xf32>
    %15 = stablehlo.reshape %14 : (tensor<12xf32>) -> tensor<12x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x8xf32>
    %17 = stablehlo.compare EQ, %11, %16, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %18 = stablehlo.convert %17 : (tensor<12x8xi1>) -> tensor<12x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<12xf32>
    %cst_5 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %21 = stablehlo.subtract %14, %20 : tensor<12xf32>
    %22 = stablehlo.divide %arg2, %19 : tensor<12xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<12xf32>) -> tensor<12x8xf32>
    %24 = stablehlo.multiply %23, %18 : tensor<12x8xf32>
    %25 = stablehlo.multiply %24, %13 : tensor<12x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<12x8xf32>) -> tensor<12x8x3xf32>
    %27 = stablehlo.multiply %26, %7 : tensor<12x8x3xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<12x8x3xf32>, tensor<f32>) -> tensor<12x3xf32>
    %29 = stablehlo.reshape %28 : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %30 = stablehlo.negate %27 : tensor<12x8x3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<12x8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
    %32 = stablehlo.reshape %31 : (tensor<8x3xf32>) -> tensor<1x8x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%29 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<12x1x3xf32>, tensor<f32>) -> tensor<12x3xf32>
    return %21, %34, %33 : tensor<12xf32>, tensor<12x3xf32>, tensor<8x3xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x12xf32>, %arg1: tensor<2x16x15xf32>) -> (tensor<2x16x15xf32> {jax.result_info = "result[0]"}, tensor<2x12x12xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<2x12x12xf32>, tensor<i32>) -> tensor<2x16x15xf32>
    %1 = call @_pad_0(%arg1) : (tensor<2x16x15xf32>) -> tensor<2x12x12xf32>
    return %0, %1 : tensor<2x16x15xf32>, tensor<2x12x12xf32>
  }
  func.func private @_pad(%arg0: tensor<2x12x12xf32>, %arg1: tensor<i32>) -> tensor<2x16x15xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<1x12x12xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2, 3] : (tensor<1x12x12xf32>) -> tensor<1x0x12x12xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x0x12x12xf32>) -> tensor<0x12x12xf32>
    %3 = stablehlo.slice %arg0 [1:2, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<1x12x12xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2, 3] : (tensor<1x12x12xf32>) -> tensor<1x0x12x12xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x0x12x12xf32>) -> tensor<0x12x12xf32>
    %6 = stablehlo.concatenate %2, %arg0, %5, dim = 0 : (tensor<0x12x12xf32>, tensor<2x12x12xf32>, tensor<0x12x12xf32>) -> tensor<2x12x12xf32>
    %7 = stablehlo.slice %6 [0:2, 0:1, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x1x12xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 3] : (tensor<2x1x12xf32>) -> tensor<2x1x3x12xf32>
    %9 = stablehlo.reshape %8 : (tensor<2x1x3x12xf32>) -> tensor<2x3x12xf32>
    %10 = stablehlo.slice %6 [0:2, 11:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x1x12xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 3] : (tensor<2x1x12xf32>) -> tensor<2x1x1x12xf32>
    %12 = stablehlo.reshape %11 : (tensor<2x1x1x12xf32>) -> tensor<2x1x12xf32>
    %13 = stablehlo.concatenate %9, %6, %12, dim = 1 : (tensor<2x3x12xf32>, tensor<2x12x12xf32>, tensor<2x1x12xf32>) -> tensor<2x16x12xf32>
    %14 = stablehlo.slice %13 [0:2, 0:16, 0:1] : (tensor<2x16x12xf32>) -> tensor<2x16x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x1x1xf32>
    %16 = stablehlo.reshape %15 : (tensor<2x16x1x1xf32>) -> tensor<2x16x1xf32>
    %17 = stablehlo.slice %13 [0:2, 0:16, 11:12] : (tensor<2x16x12xf32>) -> tensor<2x16x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x1x2xf32>
    %19 = stablehlo.reshape %18 : (tensor<2x16x1x2xf32>) -> tensor<2x16x2xf32>
    %20 = stablehlo.concatenate %16, %13, %19, dim = 2 : (tensor<2x16x1xf32>, tensor<2x16x12xf32>, tensor<2x16x2xf32>) -> tensor<2x16x15xf32>
    return %20 : tensor<2x16x15xf32>
  }
  func.func private @_pad_0(%arg0: tensor<2x16x15xf32>) -> tensor<2x12x12xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:16, 0:1] : (tensor<2x16x15xf32>) -> tensor<2x16x1xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:16, 1:13] : (tensor<2x16x15xf32>) -> tensor<2x16x12xf32>
    %2 = stablehlo.slice %arg0 [0:2, 0:16, 13:15] : (tensor<2x16x15xf32>) -> tensor<2x16x2xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x16x2xf32>) -> tensor<2x16x1x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x16x1x2xf32>, tensor<f32>) -> tensor<2x16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %5, %cst_0, low = [0, 0, 11], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x12xf32>
    %7 = stablehlo.add %1, %6 : tensor<2x16x12xf32>
    %8 = stablehlo.reshape %0 : (tensor<2x16x1xf32>) -> tensor<2x16x1x1xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x16x1x1xf32>, tensor<f32>) -> tensor<2x16xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.pad %10, %cst_2, low = [0, 0, 0], high = [0, 0, 11], interior = [0, 0, 0] : (tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x12xf32>
    %12 = stablehlo.add %7, %11 : tensor<2x16x12xf32>
    %13 = stablehlo.slice %12 [0:2, 0:3, 0:12] : (tensor<2x16x12xf32>) -> tensor<2x3x12xf32>
    %14 = stablehlo.slice %12 [0:2, 3:15, 0:12] : (tensor<2x16x12xf32>) -> tensor<2x12x12xf32>
    %15 = stablehlo.slice %12 [0:2, 15:16, 0:12] : (tensor<2x16x12xf32>) -> tensor<2x1x12xf32>
    %16 = stablehlo.reshape %15 : (tensor<2x1x12xf32>) -> tensor<2x1x1x12xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x1x1x12xf32>, tensor<f32>) -> tensor<2x12xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 2] : (tensor<2x12xf32>) -> tensor<2x1x12xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.pad %18, %cst_4, low = [0, 11, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x1x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %20 = stablehlo.add %14, %19 : tensor<2x12x12xf32>
    %21 = stablehlo.reshape %13 : (tensor<2x3x12xf32>) -> tensor<2x1x3x12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_5) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x1x3x12xf32>, tensor<f32>) -> tensor<2x12xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 2] : (tensor<2x12xf32>) -> tensor<2x1x12xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.pad %23, %cst_6, low = [0, 0, 0], high = [0, 11, 0], interior = [0, 0, 0] : (tensor<2x1x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %25 = stablehlo.add %20, %24 : tensor<2x12x12xf32>
    %26 = stablehlo.slice %25 [0:0, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<0x12x12xf32>
    %27 = stablehlo.slice %25 [0:2, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %28 = stablehlo.slice %25 [2:2, 0:12, 0:12] : (tensor<2x12x12xf32>) -> tensor<0x12x12xf32>
    %29 = stablehlo.reshape %28 : (tensor<0x12x12xf32>) -> tensor<1x0x12x12xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x0x12x12xf32>, tensor<f32>) -> tensor<12x12xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [1, 2] : (tensor<12x12xf32>) -> tensor<1x12x12xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.pad %31, %cst_8, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x12x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %33 = stablehlo.add %27, %32 : tensor<2x12x12xf32>
    %34 = stablehlo.reshape %26 : (tensor<0x12x12xf32>) -> tensor<1x0x12x12xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x0x12x12xf32>, tensor<f32>) -> tensor<12x12xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [1, 2] : (tensor<12x12xf32>) -> tensor<1x12x12xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.pad %36, %cst_10, low = [0, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x12x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %38 = stablehlo.add %33, %37 : tensor<2x12x12xf32>
    return %38 : tensor<2x12x12xf32>
  }
}

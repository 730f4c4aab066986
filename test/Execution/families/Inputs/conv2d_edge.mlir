module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<3x3x2x2xf32>, %arg2: tensor<1x14x14x2xf32>) -> (tensor<1x14x14x2xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}, tensor<3x3x2x2xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<1x12x12x2xf32>, tensor<i32>) -> tensor<1x16x16x2xf32>
    %1 = stablehlo.convolution(%0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x16x16x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x14x14x2xf32>
    %2 = stablehlo.convolution(%0, %arg2) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x16x16x2xf32>, tensor<1x14x14x2xf32>) -> tensor<3x3x2x2xf32>
    %3 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x2x2xf32>
    %4 = stablehlo.convolution(%arg2, %3) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x16x16x2xf32>
    %5 = call @_pad_0(%4) : (tensor<1x16x16x2xf32>) -> tensor<1x12x12x2xf32>
    return %1, %5, %2 : tensor<1x14x14x2xf32>, tensor<1x12x12x2xf32>, tensor<3x3x2x2xf32>
  }
  func.func private @_pad(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<i32>) -> tensor<1x16x16x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:12, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<1x12x12x2xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2, 3, 4] : (tensor<1x12x12x2xf32>) -> tensor<1x0x12x12x2xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x0x12x12x2xf32>) -> tensor<0x12x12x2xf32>
    %3 = stablehlo.slice %arg0 [0:1, 0:12, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<1x12x12x2xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2, 3, 4] : (tensor<1x12x12x2xf32>) -> tensor<1x0x12x12x2xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x0x12x12x2xf32>) -> tensor<0x12x12x2xf32>
    %6 = stablehlo.concatenate %2, %arg0, %5, dim = 0 : (tensor<0x12x12x2xf32>, tensor<1x12x12x2xf32>, tensor<0x12x12x2xf32>) -> tensor<1x12x12x2xf32>
    %7 = stablehlo.slice %6 [0:1, 0:1, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<1x1x12x2xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 3, 4] : (tensor<1x1x12x2xf32>) -> tensor<1x1x2x12x2xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x1x2x12x2xf32>) -> tensor<1x2x12x2xf32>
    %10 = stablehlo.slice %6 [0:1, 11:12, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<1x1x12x2xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 3, 4] : (tensor<1x1x12x2xf32>) -> tensor<1x1x2x12x2xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x1x2x12x2xf32>) -> tensor<1x2x12x2xf32>
    %13 = stablehlo.concatenate %9, %6, %12, dim = 1 : (tensor<1x2x12x2xf32>, tensor<1x12x12x2xf32>, tensor<1x2x12x2xf32>) -> tensor<1x16x12x2xf32>
    %14 = stablehlo.slice %13 [0:1, 0:16, 0:1, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x16x1x2xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 4] : (tensor<1x16x1x2xf32>) -> tensor<1x16x1x2x2xf32>
    %16 = stablehlo.reshape %15 : (tensor<1x16x1x2x2xf32>) -> tensor<1x16x2x2xf32>
    %17 = stablehlo.slice %13 [0:1, 0:16, 11:12, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x16x1x2xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 4] : (tensor<1x16x1x2xf32>) -> tensor<1x16x1x2x2xf32>
    %19 = stablehlo.reshape %18 : (tensor<1x16x1x2x2xf32>) -> tensor<1x16x2x2xf32>
    %20 = stablehlo.concatenate %16, %13, %19, dim = 2 : (tensor<1x16x2x2xf32>, tensor<1x16x12x2xf32>, tensor<1x16x2x2xf32>) -> tensor<1x16x16x2xf32>
    %21 = stablehlo.slice %20 [0:1, 0:16, 0:16, 0:1] : (tensor<1x16x16x2xf32>) -> tensor<1x16x16x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<1x16x16x1xf32>) -> tensor<1x16x16x1x0xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x16x16x1x0xf32>) -> tensor<1x16x16x0xf32>
    %24 = stablehlo.slice %20 [0:1, 0:16, 0:16, 1:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x16x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x16x16x1xf32>) -> tensor<1x16x16x1x0xf32>
    %26 = stablehlo.reshape %25 : (tensor<1x16x16x1x0xf32>) -> tensor<1x16x16x0xf32>
    %27 = stablehlo.concatenate %23, %20, %26, dim = 3 : (tensor<1x16x16x0xf32>, tensor<1x16x16x2xf32>, tensor<1x16x16x0xf32>) -> tensor<1x16x16x2xf32>
    return %27 : tensor<1x16x16x2xf32>
  }
  func.func private @_pad_0(%arg0: tensor<1x16x16x2xf32>) -> tensor<1x12x12x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:16, 0:16, 0:0] : (tensor<1x16x16x2xf32>) -> tensor<1x16x16x0xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:16, 0:16, 0:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x16x2xf32>
    %2 = stablehlo.slice %arg0 [0:1, 0:16, 0:16, 2:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x16x0xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x16x16x0xf32>) -> tensor<1x16x16x1x0xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 3, 4] : (tensor<1x16x16x1x0xf32>, tensor<f32>) -> tensor<16x16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %5, %cst_0, low = [0, 0, 0, 1], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x16x16x1xf32>, tensor<f32>) -> tensor<1x16x16x2xf32>
    %7 = stablehlo.add %1, %6 : tensor<1x16x16x2xf32>
    %8 = stablehlo.reshape %0 : (tensor<1x16x16x0xf32>) -> tensor<1x16x16x1x0xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [0, 3, 4] : (tensor<1x16x16x1x0xf32>, tensor<f32>) -> tensor<16x16xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.pad %10, %cst_2, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<1x16x16x1xf32>, tensor<f32>) -> tensor<1x16x16x2xf32>
    %12 = stablehlo.add %7, %11 : tensor<1x16x16x2xf32>
    %13 = stablehlo.slice %12 [0:1, 0:16, 0:2, 0:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x2x2xf32>
    %14 = stablehlo.slice %12 [0:1, 0:16, 2:14, 0:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x12x2xf32>
    %15 = stablehlo.slice %12 [0:1, 0:16, 14:16, 0:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x2x2xf32>
    %16 = stablehlo.reshape %15 : (tensor<1x16x2x2xf32>) -> tensor<1x16x1x2x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x16x1x2x2xf32>, tensor<f32>) -> tensor<16x2xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1, 3] : (tensor<16x2xf32>) -> tensor<1x16x1x2xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.pad %18, %cst_4, low = [0, 0, 11, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x16x1x2xf32>, tensor<f32>) -> tensor<1x16x12x2xf32>
    %20 = stablehlo.add %14, %19 : tensor<1x16x12x2xf32>
    %21 = stablehlo.reshape %13 : (tensor<1x16x2x2xf32>) -> tensor<1x16x1x2x2xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_5) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x16x1x2x2xf32>, tensor<f32>) -> tensor<16x2xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1, 3] : (tensor<16x2xf32>) -> tensor<1x16x1x2xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.pad %23, %cst_6, low = [0, 0, 0, 0], high = [0, 0, 11, 0], interior = [0, 0, 0, 0] : (tensor<1x16x1x2xf32>, tensor<f32>) -> tensor<1x16x12x2xf32>
    %25 = stablehlo.add %20, %24 : tensor<1x16x12x2xf32>
    %26 = stablehlo.slice %25 [0:1, 0:2, 0:12, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x2x12x2xf32>
    %27 = stablehlo.slice %25 [0:1, 2:14, 0:12, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x12x12x2xf32>
    %28 = stablehlo.slice %25 [0:1, 14:16, 0:12, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x2x12x2xf32>
    %29 = stablehlo.reshape %28 : (tensor<1x2x12x2xf32>) -> tensor<1x1x2x12x2xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x2x12x2xf32>, tensor<f32>) -> tensor<12x2xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [2, 3] : (tensor<12x2xf32>) -> tensor<1x1x12x2xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.pad %31, %cst_8, low = [0, 11, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x1x12x2xf32>, tensor<f32>) -> tensor<1x12x12x2xf32>
    %33 = stablehlo.add %27, %32 : tensor<1x12x12x2xf32>
    %34 = stablehlo.reshape %26 : (tensor<1x2x12x2xf32>) -> tensor<1x1x2x12x2xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x2x12x2xf32>, tensor<f32>) -> tensor<12x2xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [2, 3] : (tensor<12x2xf32>) -> tensor<1x1x12x2xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.pad %36, %cst_10, low = [0, 0, 0, 0], high = [0, 11, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x1x12x2xf32>, tensor<f32>) -> tensor<1x12x12x2xf32>
    %38 = stablehlo.add %33, %37 : tensor<1x12x12x2xf32>
    %39 = stablehlo.slice %38 [0:0, 0:12, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<0x12x12x2xf32>
    %40 = stablehlo.slice %38 [0:1, 0:12, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<1x12x12x2xf32>
    %41 = stablehlo.slice %38 [1:1, 0:12, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<0x12x12x2xf32>
    %42 = stablehlo.reshape %41 : (tensor<0x12x12x2xf32>) -> tensor<1x0x12x12x2xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x0x12x12x2xf32>, tensor<f32>) -> tensor<12x12x2xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [1, 2, 3] : (tensor<12x12x2xf32>) -> tensor<1x12x12x2xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.pad %44, %cst_12, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x12x12x2xf32>, tensor<f32>) -> tensor<1x12x12x2xf32>
    %46 = stablehlo.add %40, %45 : tensor<1x12x12x2xf32>
    %47 = stablehlo.reshape %39 : (tensor<0x12x12x2xf32>) -> tensor<1x0x12x12x2xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_13) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x0x12x12x2xf32>, tensor<f32>) -> tensor<12x12x2xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [1, 2, 3] : (tensor<12x12x2xf32>) -> tensor<1x12x12x2xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.pad %49, %cst_14, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x12x12x2xf32>, tensor<f32>) -> tensor<1x12x12x2xf32>
    %51 = stablehlo.add %46, %50 : tensor<1x12x12x2xf32>
    return %51 : tensor<1x12x12x2xf32>
  }
}

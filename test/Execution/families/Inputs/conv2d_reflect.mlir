module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<3x3x2x2xf32>, %arg2: tensor<1x14x14x2xf32>) -> (tensor<1x14x14x2xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}, tensor<3x3x2x2xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<1x12x12x2xf32>, tensor<i32>) -> tensor<1x16x16x2xf32>
    %1 = stablehlo.convolution(%0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x16x16x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x14x14x2xf32>
    %2 = stablehlo.convolution(%0, %arg2) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x16x16x2xf32>, tensor<1x14x14x2xf32>) -> tensor<3x3x2x2xf32>
    %3 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x2x2xf32>
    %4 = stablehlo.convolution(%arg2, %3) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x16x16x2xf32>
    %5 = call @_pad_1(%4) : (tensor<1x16x16x2xf32>) -> tensor<1x12x12x2xf32>
    return %1, %5, %2 : tensor<1x14x14x2xf32>, tensor<1x12x12x2xf32>, tensor<3x3x2x2xf32>
  }
  func.func private @_pad(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<i32>) -> tensor<1x16x16x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 1:3, 0:12, 0:2] : (tensor<1x12x12x2xf32>) -> tensor<1x2x12x2xf32>
    %1 = call @_flip(%0) : (tensor<1x2x12x2xf32>) -> tensor<1x2x12x2xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 1 : (tensor<1x2x12x2xf32>, tensor<1x12x12x2xf32>) -> tensor<1x14x12x2xf32>
    %3 = stablehlo.slice %2 [0:1, 11:13, 0:12, 0:2] : (tensor<1x14x12x2xf32>) -> tensor<1x2x12x2xf32>
    %4 = call @_flip(%3) : (tensor<1x2x12x2xf32>) -> tensor<1x2x12x2xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 1 : (tensor<1x14x12x2xf32>, tensor<1x2x12x2xf32>) -> tensor<1x16x12x2xf32>
    %6 = stablehlo.slice %5 [0:1, 0:16, 1:3, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x16x2x2xf32>
    %7 = call @_flip_0(%6) : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
    %8 = stablehlo.concatenate %7, %5, dim = 2 : (tensor<1x16x2x2xf32>, tensor<1x16x12x2xf32>) -> tensor<1x16x14x2xf32>
    %9 = stablehlo.slice %8 [0:1, 0:16, 11:13, 0:2] : (tensor<1x16x14x2xf32>) -> tensor<1x16x2x2xf32>
    %10 = call @_flip_0(%9) : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
    %11 = stablehlo.concatenate %8, %10, dim = 2 : (tensor<1x16x14x2xf32>, tensor<1x16x2x2xf32>) -> tensor<1x16x16x2xf32>
    return %11 : tensor<1x16x16x2xf32>
  }
  func.func private @_flip(%arg0: tensor<1x2x12x2xf32>) -> tensor<1x2x12x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<1x2x12x2xf32>
    return %0 : tensor<1x2x12x2xf32>
  }
  func.func private @_flip_0(%arg0: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<1x16x2x2xf32>
    return %0 : tensor<1x16x2x2xf32>
  }
  func.func private @_pad_1(%arg0: tensor<1x16x16x2xf32>) -> tensor<1x12x12x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:16, 0:14, 0:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x14x2xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:16, 14:16, 0:2] : (tensor<1x16x16x2xf32>) -> tensor<1x16x2x2xf32>
    %2 = call @_flip_2(%1) : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %2, %cst, low = [0, 0, 11, 0], high = [0, 0, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x14x2xf32>
    %4 = stablehlo.add %0, %3 : tensor<1x16x14x2xf32>
    %5 = stablehlo.slice %4 [0:1, 0:16, 0:2, 0:2] : (tensor<1x16x14x2xf32>) -> tensor<1x16x2x2xf32>
    %6 = stablehlo.slice %4 [0:1, 0:16, 2:14, 0:2] : (tensor<1x16x14x2xf32>) -> tensor<1x16x12x2xf32>
    %7 = call @_flip_2(%5) : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %7, %cst_0, low = [0, 0, 1, 0], high = [0, 0, 9, 0], interior = [0, 0, 0, 0] : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x12x2xf32>
    %9 = stablehlo.add %6, %8 : tensor<1x16x12x2xf32>
    %10 = stablehlo.slice %9 [0:1, 0:14, 0:12, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x14x12x2xf32>
    %11 = stablehlo.slice %9 [0:1, 14:16, 0:12, 0:2] : (tensor<1x16x12x2xf32>) -> tensor<1x2x12x2xf32>
    %12 = call @_flip_3(%11) : (tensor<1x2x12x2xf32>) -> tensor<1x2x12x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.pad %12, %cst_1, low = [0, 11, 0, 0], high = [0, 1, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x12x2xf32>, tensor<f32>) -> tensor<1x14x12x2xf32>
    %14 = stablehlo.add %10, %13 : tensor<1x14x12x2xf32>
    %15 = stablehlo.slice %14 [0:1, 0:2, 0:12, 0:2] : (tensor<1x14x12x2xf32>) -> tensor<1x2x12x2xf32>
    %16 = stablehlo.slice %14 [0:1, 2:14, 0:12, 0:2] : (tensor<1x14x12x2xf32>) -> tensor<1x12x12x2xf32>
    %17 = call @_flip_3(%15) : (tensor<1x2x12x2xf32>) -> tensor<1x2x12x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.pad %17, %cst_2, low = [0, 1, 0, 0], high = [0, 9, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x2x12x2xf32>, tensor<f32>) -> tensor<1x12x12x2xf32>
    %19 = stablehlo.add %16, %18 : tensor<1x12x12x2xf32>
    return %19 : tensor<1x12x12x2xf32>
  }
  func.func private @_flip_2(%arg0: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<1x16x2x2xf32>
    return %0 : tensor<1x16x2x2xf32>
  }
  func.func private @_flip_3(%arg0: tensor<1x2x12x2xf32>) -> tensor<1x2x12x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<1x2x12x2xf32>
    return %0 : tensor<1x2x12x2xf32>
  }
}

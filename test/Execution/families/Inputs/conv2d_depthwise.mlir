module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x4xf32>, %arg1: tensor<3x3x1x4xf32>, %arg2: tensor<1x12x12x4xf32>) -> (tensor<1x12x12x4xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x4xf32> {jax.result_info = "result[1]"}, tensor<3x3x1x4xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x12x12x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x12x12x4xf32>
    %1 = stablehlo.convolution(%arg0, %arg2) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x12x12x4xf32>, tensor<1x12x12x4xf32>) -> tensor<3x3x1x4xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<3x3x1x4xf32>) -> tensor<3x3x1x4x1xf32>
    %3 = stablehlo.transpose %2, dims = [0, 1, 3, 2, 4] : (tensor<3x3x1x4x1xf32>) -> tensor<3x3x4x1x1xf32>
    %4 = stablehlo.reshape %3 : (tensor<3x3x4x1x1xf32>) -> tensor<3x3x4x1xf32>
    %5 = stablehlo.reverse %4, dims = [0, 1] : tensor<3x3x4x1xf32>
    %6 = stablehlo.convolution(%arg2, %5) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x12x12x4xf32>, tensor<3x3x4x1xf32>) -> tensor<1x12x12x4xf32>
    return %0, %6, %1 : tensor<1x12x12x4xf32>, tensor<1x12x12x4xf32>, tensor<3x3x1x4xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x24x3xf32>, %arg1: tensor<3x3x4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<2x24x4xf32>) -> (tensor<2x24x4xf32> {jax.result_info = "result[0]"}, tensor<2x24x3xf32> {jax.result_info = "result[1]"}, tensor<3x3x4xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x24x3xf32>, tensor<3x3x4xf32>) -> tensor<2x24x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<2x24x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x24x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%arg3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x24x4xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.convolution(%arg0, %arg3) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x24x3xf32>, tensor<2x24x4xf32>) -> tensor<3x3x4xf32>
    %8 = stablehlo.reverse %arg1, dims = [0] : tensor<3x3x4xf32>
    %9 = stablehlo.convolution(%arg3, %8) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x24x4xf32>, tensor<3x3x4xf32>) -> tensor<2x24x3xf32>
    return %3, %9, %7, %6 : tensor<2x24x4xf32>, tensor<2x24x3xf32>, tensor<3x3x4xf32>, tensor<4xf32>
  }
}

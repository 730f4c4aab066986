module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<1x12x12x18xf32>) -> (tensor<1x12x12x18xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x9xi32>
    %2 = stablehlo.add %0, %1 : tensor<9x9xi32>
    %3 = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %5 = stablehlo.convert %4 : (tensor<9x9xi1>) -> tensor<9x9xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1, 2] : (tensor<9x9xf32>) -> tensor<2x9x9xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x9x9xf32>) -> tensor<18x1x3x3xf32>
    %8 = stablehlo.transpose %7, dims = [2, 3, 1, 0] : (tensor<18x1x3x3xf32>) -> tensor<3x3x1x18xf32>
    %9 = stablehlo.convolution(%arg0, %8) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x12x12x2xf32>, tensor<3x3x1x18xf32>) -> tensor<1x12x12x18xf32>
    %10 = stablehlo.reshape %8 : (tensor<3x3x1x18xf32>) -> tensor<3x3x1x2x9xf32>
    %11 = stablehlo.transpose %10, dims = [0, 1, 3, 2, 4] : (tensor<3x3x1x2x9xf32>) -> tensor<3x3x2x1x9xf32>
    %12 = stablehlo.reshape %11 : (tensor<3x3x2x1x9xf32>) -> tensor<3x3x2x9xf32>
    %13 = stablehlo.reverse %12, dims = [0, 1] : tensor<3x3x2x9xf32>
    %14 = stablehlo.convolution(%arg1, %13) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x12x12x18xf32>, tensor<3x3x2x9xf32>) -> tensor<1x12x12x2xf32>
    return %9, %14 : tensor<1x12x12x18xf32>, tensor<1x12x12x2xf32>
  }
}

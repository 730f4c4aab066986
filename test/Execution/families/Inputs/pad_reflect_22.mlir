module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x12x12xf32>, %arg1: tensor<2x16x15xf32>) -> (tensor<2x16x15xf32> {jax.result_info = "result[0]"}, tensor<2x12x12xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<2x12x12xf32>, tensor<i32>) -> tensor<2x16x15xf32>
    %1 = call @_pad_2(%arg1) : (tensor<2x16x15xf32>) -> tensor<2x12x12xf32>
    return %0, %1 : tensor<2x16x15xf32>, tensor<2x12x12xf32>
  }
  func.func private @_pad(%arg0: tensor<2x12x12xf32>, %arg1: tensor<i32>) -> tensor<2x16x15xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 1:3, 0:12] : (tensor<2x12x12xf32>) -> tensor<2x2x12xf32>
    %1 = call @_flip(%0) : (tensor<2x2x12xf32>) -> tensor<2x2x12xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 1 : (tensor<2x2x12xf32>, tensor<2x12x12xf32>) -> tensor<2x14x12xf32>
    %3 = stablehlo.slice %2 [0:2, 11:13, 0:12] : (tensor<2x14x12xf32>) -> tensor<2x2x12xf32>
    %4 = call @_flip(%3) : (tensor<2x2x12xf32>) -> tensor<2x2x12xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 1 : (tensor<2x14x12xf32>, tensor<2x2x12xf32>) -> tensor<2x16x12xf32>
    %6 = stablehlo.slice %5 [0:2, 0:16, 1:2] : (tensor<2x16x12xf32>) -> tensor<2x16x1xf32>
    %7 = call @_flip_0(%6) : (tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
    %8 = stablehlo.concatenate %7, %5, dim = 2 : (tensor<2x16x1xf32>, tensor<2x16x12xf32>) -> tensor<2x16x13xf32>
    %9 = stablehlo.slice %8 [0:2, 0:16, 10:12] : (tensor<2x16x13xf32>) -> tensor<2x16x2xf32>
    %10 = call @_flip_1(%9) : (tensor<2x16x2xf32>) -> tensor<2x16x2xf32>
    %11 = stablehlo.concatenate %8, %10, dim = 2 : (tensor<2x16x13xf32>, tensor<2x16x2xf32>) -> tensor<2x16x15xf32>
    return %11 : tensor<2x16x15xf32>
  }
  func.func private @_flip(%arg0: tensor<2x2x12xf32>) -> tensor<2x2x12xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<2x2x12xf32>
    return %0 : tensor<2x2x12xf32>
  }
  func.func private @_flip_0(%arg0: tensor<2x16x1xf32>) -> tensor<2x16x1xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<2x16x1xf32>
    return %0 : tensor<2x16x1xf32>
  }
  func.func private @_flip_1(%arg0: tensor<2x16x2xf32>) -> tensor<2x16x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<2x16x2xf32>
    return %0 : tensor<2x16x2xf32>
  }
  func.func private @_pad_2(%arg0: tensor<2x16x15xf32>) -> tensor<2x12x12xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:16, 0:13] : (tensor<2x16x15xf32>) -> tensor<2x16x13xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:16, 13:15] : (tensor<2x16x15xf32>) -> tensor<2x16x2xf32>
    %2 = call @_flip_3(%1) : (tensor<2x16x2xf32>) -> tensor<2x16x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %2, %cst, low = [0, 0, 10], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<2x16x2xf32>, tensor<f32>) -> tensor<2x16x13xf32>
    %4 = stablehlo.add %0, %3 : tensor<2x16x13xf32>
    %5 = stablehlo.slice %4 [0:2, 0:16, 0:1] : (tensor<2x16x13xf32>) -> tensor<2x16x1xf32>
    %6 = stablehlo.slice %4 [0:2, 0:16, 1:13] : (tensor<2x16x13xf32>) -> tensor<2x16x12xf32>
    %7 = call @_flip_4(%5) : (tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %7, %cst_0, low = [0, 0, 1], high = [0, 0, 10], interior = [0, 0, 0] : (tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x12xf32>
    %9 = stablehlo.add %6, %8 : tensor<2x16x12xf32>
    %10 = stablehlo.slice %9 [0:2, 0:14, 0:12] : (tensor<2x16x12xf32>) -> tensor<2x14x12xf32>
    %11 = stablehlo.slice %9 [0:2, 14:16, 0:12] : (tensor<2x16x12xf32>) -> tensor<2x2x12xf32>
    %12 = call @_flip_5(%11) : (tensor<2x2x12xf32>) -> tensor<2x2x12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.pad %12, %cst_1, low = [0, 11, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<2x2x12xf32>, tensor<f32>) -> tensor<2x14x12xf32>
    %14 = stablehlo.add %10, %13 : tensor<2x14x12xf32>
    %15 = stablehlo.slice %14 [0:2, 0:2, 0:12] : (tensor<2x14x12xf32>) -> tensor<2x2x12xf32>
    %16 = stablehlo.slice %14 [0:2, 2:14, 0:12] : (tensor<2x14x12xf32>) -> tensor<2x12x12xf32>
    %17 = call @_flip_5(%15) : (tensor<2x2x12xf32>) -> tensor<2x2x12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.pad %17, %cst_2, low = [0, 1, 0], high = [0, 9, 0], interior = [0, 0, 0] : (tensor<2x2x12xf32>, tensor<f32>) -> tensor<2x12x12xf32>
    %19 = stablehlo.add %16, %18 : tensor<2x12x12xf32>
    return %19 : tensor<2x12x12xf32>
  }
  func.func private @_flip_3(%arg0: tensor<2x16x2xf32>) -> tensor<2x16x2xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<2x16x2xf32>
    return %0 : tensor<2x16x2xf32>
  }
  func.func private @_flip_4(%arg0: tensor<2x16x1xf32>) -> tensor<2x16x1xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<2x16x1xf32>
    return %0 : tensor<2x16x1xf32>
  }
  func.func private @_flip_5(%arg0: tensor<2x2x12xf32>) -> tensor<2x2x12xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<2x2x12xf32>
    return %0 : tensor<2x2x12xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8x6xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<12x6xf32>, %arg3: tensor<12x8xf32>) -> (tensor<8x6xf32> {jax.result_info = "result[0]"}, tensor<12x6xf32> {jax.result_info = "result[1]"}, tensor<12x8xf32> {jax.result_info = "result[2]"}, tensor<12x8x6xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.slice %arg0 [5:6, 0:8, 0:6] : (tensor<12x8x6xf32>) -> tensor<1x8x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x6xf32>) -> tensor<8x6xf32>
    %2 = stablehlo.slice %arg0 [0:12, 3:4, 0:6] : (tensor<12x8x6xf32>) -> tensor<12x1x6xf32>
    %3 = stablehlo.reshape %2 : (tensor<12x1x6xf32>) -> tensor<12x6xf32>
    %4 = stablehlo.slice %arg0 [0:12, 0:8, 5:6] : (tensor<12x8x6xf32>) -> tensor<12x8x1xf32>
    %5 = stablehlo.reshape %4 : (tensor<12x8x1xf32>) -> tensor<12x8xf32>
    %6 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1] : (tensor<12x8xf32>) -> tensor<12x8x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %6, %cst, low = [0, 0, 5], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<12x8x1xf32>, tensor<f32>) -> tensor<12x8x6xf32>
    %8 = stablehlo.broadcast_in_dim %arg2, dims = [0, 2] : (tensor<12x6xf32>) -> tensor<12x1x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.pad %8, %cst_0, low = [0, 3, 0], high = [0, 4, 0], interior = [0, 0, 0] : (tensor<12x1x6xf32>, tensor<f32>) -> tensor<12x8x6xf32>
    %10 = stablehlo.add %7, %9 : tensor<12x8x6xf32>
    %11 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x6xf32>) -> tensor<1x8x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.pad %11, %cst_1, low = [5, 0, 0], high = [6, 0, 0], interior = [0, 0, 0] : (tensor<1x8x6xf32>, tensor<f32>) -> tensor<12x8x6xf32>
    %13 = stablehlo.add %10, %12 : tensor<12x8x6xf32>
    return %1, %3, %5, %13 : tensor<8x6xf32>, tensor<12x6xf32>, tensor<12x8xf32>, tensor<12x8x6xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<29x4x12xf32>) -> (tensor<29x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<12x4x12xf32>
    %2 = stablehlo.slice %arg0 [0:5, 0:4, 0:12] : (tensor<12x4x12xf32>) -> tensor<5x4x12xf32>
    %3 = stablehlo.concatenate %arg0, %1, %2, dim = 0 : (tensor<12x4x12xf32>, tensor<12x4x12xf32>, tensor<5x4x12xf32>) -> tensor<29x4x12xf32>
    %4 = stablehlo.slice %arg1 [0:12, 0:4, 0:12] : (tensor<29x4x12xf32>) -> tensor<12x4x12xf32>
    %5 = stablehlo.slice %arg1 [12:24, 0:4, 0:12] : (tensor<29x4x12xf32>) -> tensor<12x4x12xf32>
    %6 = stablehlo.slice %arg1 [24:29, 0:4, 0:12] : (tensor<29x4x12xf32>) -> tensor<5x4x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %6, %cst_0, low = [0, 0, 0], high = [7, 0, 0], interior = [0, 0, 0] : (tensor<5x4x12xf32>, tensor<f32>) -> tensor<12x4x12xf32>
    %8 = stablehlo.add %4, %7 : tensor<12x4x12xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %10 = stablehlo.multiply %5, %9 : tensor<12x4x12xf32>
    %11 = stablehlo.add %8, %10 : tensor<12x4x12xf32>
    return %3, %11 : tensor<29x4x12xf32>, tensor<12x4x12xf32>
  }
}

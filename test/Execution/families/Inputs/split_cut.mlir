module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<5x4x12xf32>, %arg2: tensor<1x4x12xf32>, %arg3: tensor<6x4x12xf32>) -> (tensor<5x4x12xf32> {jax.result_info = "result[0]"}, tensor<1x4x12xf32> {jax.result_info = "result[1]"}, tensor<6x4x12xf32> {jax.result_info = "result[2]"}, tensor<12x4x12xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.slice %arg0 [0:5, 0:4, 0:12] : (tensor<12x4x12xf32>) -> tensor<5x4x12xf32>
    %1 = stablehlo.slice %arg0 [5:6, 0:4, 0:12] : (tensor<12x4x12xf32>) -> tensor<1x4x12xf32>
    %2 = stablehlo.slice %arg0 [6:12, 0:4, 0:12] : (tensor<12x4x12xf32>) -> tensor<6x4x12xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x4x12xf32>
    %4 = stablehlo.multiply %0, %3 : tensor<5x4x12xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4x12xf32>
    %6 = stablehlo.multiply %1, %5 : tensor<1x4x12xf32>
    %cst_1 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x4x12xf32>
    %8 = stablehlo.multiply %2, %7 : tensor<6x4x12xf32>
    %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x4x12xf32>
    %10 = stablehlo.multiply %arg3, %9 : tensor<6x4x12xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x4x12xf32>
    %12 = stablehlo.multiply %arg2, %11 : tensor<1x4x12xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5x4x12xf32>
    %14 = stablehlo.multiply %arg1, %13 : tensor<5x4x12xf32>
    %15 = stablehlo.concatenate %14, %12, %10, dim = 0 : (tensor<5x4x12xf32>, tensor<1x4x12xf32>, tensor<6x4x12xf32>) -> tensor<12x4x12xf32>
    return %4, %6, %8, %15 : tensor<5x4x12xf32>, tensor<1x4x12xf32>, tensor<6x4x12xf32>, tensor<12x4x12xf32>
  }
}

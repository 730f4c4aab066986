module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x3xf32>, %arg1: tensor<12x3xf32>) -> (tensor<12x4xf32> {jax.result_info = "result[0]"}, tensor<12x4xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<16x3xf32>) -> tensor<1x16x3xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<12x1x3xf32>) -> tensor<12x16x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x16x3xf32>) -> tensor<12x16x3xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<12x16x3xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<12x16x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<12x16x3xf32>, tensor<f32>) -> tensor<12x16xf32>
    %7 = stablehlo.negate %6 : tensor<12x16xf32>
    %values, %indices = chlo.top_k(%7, k = 4) : tensor<12x16xf32> -> (tensor<12x4xf32>, tensor<12x4xi32>)
    %8 = stablehlo.negate %values : tensor<12x4xf32>
    return %8, %indices : tensor<12x4xf32>, tensor<12x4xi32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x12x3xf32>, %arg1: tensor<12x5x3xf32>, %arg2: tensor<4x5x3xf32>) -> (tensor<4x5x3xf32> {jax.result_info = "result[0]"}, tensor<4x12x3xf32> {jax.result_info = "result[1]"}, tensor<12x5x3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [2] x [2], contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x5x3xf32>, tensor<4x12x3xf32>) -> tensor<3x5x4xf32>
    %1 = stablehlo.transpose %0, dims = [2, 1, 0] : (tensor<3x5x4xf32>) -> tensor<4x5x3xf32>
    %2 = stablehlo.transpose %arg2, dims = [2, 1, 0] : (tensor<4x5x3xf32>) -> tensor<3x5x4xf32>
    %3 = stablehlo.dot_general %2, %arg1, batching_dims = [0] x [2], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x5x4xf32>, tensor<12x5x3xf32>) -> tensor<3x4x12xf32>
    %4 = stablehlo.transpose %3, dims = [1, 2, 0] : (tensor<3x4x12xf32>) -> tensor<4x12x3xf32>
    %5 = stablehlo.dot_general %2, %arg0, batching_dims = [0] x [2], contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5x4xf32>, tensor<4x12x3xf32>) -> tensor<3x5x12xf32>
    %6 = stablehlo.transpose %5, dims = [2, 1, 0] : (tensor<3x5x12xf32>) -> tensor<12x5x3xf32>
    return %1, %4, %6 : tensor<4x5x3xf32>, tensor<4x12x3xf32>, tensor<12x5x3xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x6x4xf32>, %arg1: tensor<8x4x5xf32>, %arg2: tensor<8x6x5xf32>) -> (tensor<8x6x5xf32> {jax.result_info = "result[0]"}, tensor<8x6x4xf32> {jax.result_info = "result[1]"}, tensor<8x4x5xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x6x4xf32>, tensor<8x4x5xf32>) -> tensor<8x6x5xf32>
    %1 = stablehlo.dot_general %arg2, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x6x5xf32>, tensor<8x6x4xf32>) -> tensor<8x5x4xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<8x5x4xf32>) -> tensor<8x4x5xf32>
    %3 = stablehlo.dot_general %arg2, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x6x5xf32>, tensor<8x4x5xf32>) -> tensor<8x6x4xf32>
    return %0, %3, %2 : tensor<8x6x5xf32>, tensor<8x6x4xf32>, tensor<8x4x5xf32>
  }
}

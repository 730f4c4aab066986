module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x4x8xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<1x12x4x6xf32>) -> (tensor<1x12x4x6xf32> {jax.result_info = "result[0]"}, tensor<1x12x4x8xf32> {jax.result_info = "result[1]"}, tensor<8x6xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [3] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x12x4x8xf32>, tensor<8x6xf32>) -> tensor<1x12x4x6xf32>
    %1 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0, 1, 2] x [0, 1, 2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x4x6xf32>, tensor<1x12x4x8xf32>) -> tensor<6x8xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %3 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x12x4x6xf32>, tensor<8x6xf32>) -> tensor<1x12x4x8xf32>
    return %0, %3, %2 : tensor<1x12x4x6xf32>, tensor<1x12x4x8xf32>, tensor<8x6xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<2x12x4x12xf32>) -> (tensor<2x12x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<12x4x12xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<12x4x12xf32>) -> tensor<1x12x4x12xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3] : (tensor<12x4x12xf32>) -> tensor<1x12x4x12xf32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1x12x4x12xf32>, tensor<1x12x4x12xf32>) -> tensor<2x12x4x12xf32>
    %4 = stablehlo.slice %arg1 [0:1, 0:12, 0:4, 0:12] : (tensor<2x12x4x12xf32>) -> tensor<1x12x4x12xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x12x4x12xf32>) -> tensor<12x4x12xf32>
    %6 = stablehlo.slice %arg1 [1:2, 0:12, 0:4, 0:12] : (tensor<2x12x4x12xf32>) -> tensor<1x12x4x12xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x12x4x12xf32>) -> tensor<12x4x12xf32>
    %8 = stablehlo.multiply %arg0, %7 : tensor<12x4x12xf32>
    %9 = stablehlo.add %5, %8 : tensor<12x4x12xf32>
    %10 = stablehlo.multiply %7, %arg0 : tensor<12x4x12xf32>
    %11 = stablehlo.add %9, %10 : tensor<12x4x12xf32>
    return %3, %11 : tensor<2x12x4x12xf32>, tensor<12x4x12xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<12x8xf32>, %arg2: tensor<12x8xf32>) -> (tensor<12x8xf32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}, tensor<12x8xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<12x8xf32>
    %1 = stablehlo.add %0, %arg0 : tensor<12x8xf32>
    %2 = stablehlo.multiply %arg0, %arg2 : tensor<12x8xf32>
    %3 = stablehlo.multiply %arg2, %arg1 : tensor<12x8xf32>
    %4 = stablehlo.add %arg2, %3 : tensor<12x8xf32>
    return %1, %4, %2 : tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>
  }
}

module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xi32>) -> (tensor<96xui32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<12x8xi32>) -> tensor<12x8xui32>
    %1 = stablehlo.reshape %0 : (tensor<12x8xui32>) -> tensor<96xui32>
    return %1 : tensor<96xui32>
  }
}

// Two arguments, cut in rows over x; a module as JAX 0.10 prints it.
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x3xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<8x3xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<8x3xf32>
    return %1 : tensor<8x3xf32>
  }
}

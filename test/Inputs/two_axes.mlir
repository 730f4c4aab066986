// A mesh of two axes, and an unsigned, a boolean and a bfloat16 argument.
module @jit_g attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<6x4xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<6x4xbf16>) -> (tensor<6x4xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<6x4xbf16>
    return %0 : tensor<6x4xbf16>
  }
}

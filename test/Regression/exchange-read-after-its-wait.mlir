// RUN: shard-run %s --seed=321014 --check --rtol=0 --atol=0
// A block was reversed in place while others read it.
spmd.mesh @mesh = <["z"=2, "B"=2]>
func.func @main(%arg0: tensor<2x2x2xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>})
    -> (tensor<2x2x2xf64>,
        tensor<2x2x2xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = spmd.constrain %arg0 <@mesh, [{?}, {?}, {"B"}]> : tensor<2x2x2xf64>
  %1 = stablehlo.reverse %0, dims = [0, 1, 2] : tensor<2x2x2xf64>
  return %1, %0 : tensor<2x2x2xf64>, tensor<2x2x2xf64>
}

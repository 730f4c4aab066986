// RUN: shard-run %s --seed=321014 --check
// What peers read between the start and the wait of an exchange stays as it is.
spmd.mesh @mesh = <["z"=2, "B"=2]>
func.func @main(%arg0: tensor<2x2x2xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>})
    -> (tensor<2x2x2xf64>,
        tensor<2x2x2xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = spmd.constrain %arg0 <@mesh, [{?}, {?}, {"B"}]> : tensor<2x2x2xf64>
  %1 = stablehlo.reverse %0, dims = [0, 1, 2] : tensor<2x2x2xf64>
  return %1, %0 : tensor<2x2x2xf64>, tensor<2x2x2xf64>
}

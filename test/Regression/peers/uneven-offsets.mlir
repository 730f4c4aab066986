// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: %npz write %t.npz 'in0=<i4:14:0' 'out0=<i4:14:0,1,2,3,4,5,6,7,8,9,10,11,12,13'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
// Elsewhere (pytorch 161368; boundaries 0, 2, 5, 9, 14 in MLIR's shard dialect) the offsets of uneven shards were wrong.
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<14xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 3, 4, 5]}]>}) -> tensor<14xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<14xi32>
  %1 = stablehlo.add %a, %0 : tensor<14xi32>
  return %1 : tensor<14xi32>
}

// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=2,y=3
// RUN: %npz write %t.npz 'in0=<i4:11:0,1,2,3,4,5,6,7,8,9,10' 'out0=<i4:11:10,9,8,7,6,5,4,3,2,1,0' 'out1=<i4:11:0,1,2,3,4,5,6,7,8,9,10'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
// Elsewhere (pytorch 168134, ShardTensor) a dim cut by two axes in uneven shards came out in another order.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<11xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}]>})
    -> (tensor<11xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}]>}, tensor<11xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<11xi32>
  return %0, %a : tensor<11xi32>, tensor<11xi32>
}

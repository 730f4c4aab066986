// RUN: %npz write %t.npz 'in0=<f4:13:-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6' 'out0=<f4:13:-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6' 'out1=<f4:13:-12,-10,-8,-6,-4,-2,0,2,4,6,8,10,12' 'out2=<f4:13:-18,-15,-12,-9,-6,-3,0,3,6,9,12,15,18'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --sizes=0:0=1,7,0,2,0,3
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=3,y=4
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=2,y=2
// A dim of 13 along two axes, the minor one first, to the other order and to one of the axes alone. Elsewhere (PyTorch's
// _StridedShard) the pieces of uneven shards came back in the wrong places.
spmd.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a: tensor<13xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}]>})
    -> (tensor<13xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}]>}, tensor<13xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
        tensor<13xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}]>}) {
  %two = stablehlo.constant dense<2.0> : tensor<13xf32>
  %three = stablehlo.constant dense<3.0> : tensor<13xf32>
  %0 = stablehlo.multiply %a, %two : tensor<13xf32>
  %1 = stablehlo.multiply %a, %three : tensor<13xf32>
  return %a, %0, %1 : tensor<13xf32>, tensor<13xf32>, tensor<13xf32>
}

// RUN: %npz write %t.npz 'in0=<f4:11:1,2,3,4,5,6,7,8,9,10,11' 'out0=<f4:11:8,9,10,11,1,2,3,4,5,6,7' 'out1=<f4:11:11,10,9,8,7,6,5,4,3,2,1' 'out2=<f4:11:5,4,3,2,1,11,10,9,8,7,6'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --sizes=0:0=2,9
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=3 --sizes=0:0=1,10,0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=8
// Elsewhere (ShardTensor, SongUNet) roll and flip over a cut dim gathered everything, and failed or were wrong where shards
// are not even.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<11xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<11xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, tensor<11xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
        tensor<11xf32>) {
  %0 = stablehlo.slice %a [7:11] : (tensor<11xf32>) -> tensor<4xf32>
  %1 = stablehlo.slice %a [0:7] : (tensor<11xf32>) -> tensor<7xf32>
  %roll = stablehlo.concatenate %0, %1, dim = 0 : (tensor<4xf32>, tensor<7xf32>) -> tensor<11xf32>
  %flip = stablehlo.reverse %a, dims = [0] : tensor<11xf32>
  %2 = stablehlo.slice %a [5:11] : (tensor<11xf32>) -> tensor<6xf32>
  %3 = stablehlo.slice %a [0:5] : (tensor<11xf32>) -> tensor<5xf32>
  %back = stablehlo.concatenate %2, %3, dim = 0 : (tensor<6xf32>, tensor<5xf32>) -> tensor<11xf32>
  %both = stablehlo.reverse %back, dims = [0] : tensor<11xf32>
  return %roll, %flip, %both : tensor<11xf32>, tensor<11xf32>, tensor<11xf32>
}

// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: %npz write %t.npz 'in0=<f4:10:0,1,2,3,4,5,6,7,8,9' 'in1=<f4:10:0,10,20,30,40,50,60,70,80,90' 'out0=<f4:10:0,11,22,33,44,55,66,77,88,99'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// Elsewhere (physicsnemo 1943) shards with other boundaries were added row by row.
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [4, 1, 5, 0]}]>},
                %b: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [1, 6, 0, 3]}]>}) -> tensor<10xf32> {
  %0 = stablehlo.add %a, %b : tensor<10xf32>
  return %0 : tensor<10xf32>
}

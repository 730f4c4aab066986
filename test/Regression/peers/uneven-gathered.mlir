// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:0=0,0,7,0
// RUN: shard-run %s --input=7xi32=3,1,4,1,5,9,2 | FileCheck %s
// Elsewhere (pytorch 144109, 103306, 118836) putting uneven shards together gave other elements.
// CHECK: 3 1 4 1 5 9 2
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [0, 5, 0, 2]}]>})
    -> (tensor<7xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  return %a : tensor<7xi32>
}

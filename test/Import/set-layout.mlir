// RUN: shard-opt %s --spmd-set-layout="mesh=x=3" | FileCheck %s --check-prefix=MESH
// RUN: shard-opt %s --spmd-set-layout="sizes=0:0=5,0,2,1;w:1=4,0,0,4" | FileCheck %s --check-prefix=SIZES
// RUN: shard-opt %s --spmd-set-layout="mesh=x=2,y=1 sizes=image:0=6,2" | FileCheck %s --check-prefix=BOTH
// RUN: shard-opt %s --spmd-set-layout="unsharded" | FileCheck %s --check-prefix=ONE

// MESH: spmd.mesh @mesh = <["x"=3, "y"=2]>
// MESH: #spmd.sharding<@mesh, [{"x"}]>

// SIZES: spmd.mesh @mesh = <["x"=4, "y"=2]>
// SIZES: #spmd.sharding<@mesh, [{"x" sizes [5, 0, 2, 1]}]>
// SIZES: #spmd.sharding<@mesh, [{}, {"x" sizes [4, 0, 0, 4]}]>

// BOTH: spmd.mesh @mesh = <["x"=2, "y"=1]>
// BOTH: #spmd.sharding<@mesh, [{"x" sizes [6, 2]}]>

// ONE: spmd.mesh @mesh = <[]>
// ONE-NOT: #spmd.sharding
// ONE-NOT: constrain
spmd.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%x: tensor<8xf32> {spmd.name = "image", spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                %w: tensor<8x8xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8xf32> {
  %0 = spmd.constrain %x <@mesh, [{"y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: not shard-opt %s --spmd-set-layout="mesh=z=3" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not shard-opt %s --spmd-set-layout="mesh=x=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not shard-opt %s --spmd-set-layout="mesh=x=2,x=3" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not shard-opt %s --spmd-set-layout="mesh=x=99999999" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not shard-opt %s --spmd-set-layout="mesh=x=3" 2>&1 | FileCheck %s --check-prefix=EXPLICIT
// RUN: not shard-opt %s --spmd-set-layout="sizes=0:0=3,5" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not shard-opt %s --spmd-set-layout="sizes=0:0=1,1,1,1" 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not shard-opt %s --spmd-set-layout="sizes=0:0=9,-1,0,0" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not shard-opt %s --spmd-set-layout="sizes=1:0=1,1" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not shard-opt %s --spmd-set-layout="sizes=7:0=1,1" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not shard-opt %s --spmd-set-layout="sizes=photo:0=1,1" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not shard-opt %s --spmd-set-layout="sizes=0:3=1,1" 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not shard-opt %s --spmd-set-layout="sizes=0=1,1" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: echo "func.func @main() { return }" | not shard-opt --spmd-set-layout="mesh=x=2" 2>&1 | FileCheck %s --check-prefix=MESH

// MESH: error: has no spmd.mesh or no @main; run --spmd-import
// AXIS: error: mesh option names axis "z", but mesh @mesh has "x"=4, "y"=2
// SIZE: error: mesh option has 'x=0', expected an axis and a size of at least 1, such as x=3
// TWICE: error: mesh option gives axis "x" twice
// RANKS: error: mesh option: mesh has more than 65536 ranks
// EXPLICIT: error: argument 2 has 4 sizes in dim 0, but with mesh option 'x=3' it has 3 shards; give sizes that fit with the sizes option
// COUNT: error: argument 0: sharding gives 2 sizes for dim 0, but "x" has 4 shards
// SUM: error: argument 0: sizes along "x" add up to 4, but dim 0 has 8 elements
// NEGATIVE: error: argument 0: sharding gives a negative size for dim 0: [9, -1, 0, 0]
// WHOLE: error: sizes option gives sizes for dim 0 of argument 1, which is not sharded there
// NUMBER: error: sizes option names argument 7, but @main has 3
// NAME: error: sizes option names argument 'photo', but no argument of @main has that name
// DIM: error: sizes option names dim 3 of argument 0, which has 1 dims
// SYNTAX: error: sizes option has '0=1,1', expected ARGUMENT:DIM=SIZE,SIZE,..
spmd.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%x: tensor<8xf32> {spmd.name = "image", spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                %w: tensor<8xf32>,
                %u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 1, 1, 1]}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// RUN: shard-opt %s --spmd-import=dynamic=all | FileCheck %s --check-prefix=IMPORT
// RUN: shard-run %s --seed=3 --check --dynamic=all --sizes=0:0=1,2

// Whoever gives the sizes of a dim gives them along the axes that it names: no other is added, though the program leaves it open.
// IMPORT: %arg0: tensor<3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes dynamic}]>}
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, %b: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>})
    -> (tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// RUN: shard-opt %s --spmd-import | FileCheck %s
// RUN: shard-run %s --check
// A region that knows its rank keeps it, whichever dialect names the mesh: only a
// module for one device has no other rank than 0.
// CHECK-LABEL: func.func @main(
//       CHECK:   spmd.manual
//       CHECK:     stablehlo.partition_id
spmd.mesh @mesh = <["x"=3]>
func.func @main(%arg0: tensor<3xi32>) -> tensor<3xi32> {
  %0 = spmd.manual(%arg0) in [#spmd.sharding<@mesh, [{"x", ?}]>] out [#spmd.sharding<@mesh, [{"x", ?}]>] along ["x"] {
  ^bb0(%block: tensor<1xi32>):
    %rank = stablehlo.partition_id : tensor<ui32>
    %number = stablehlo.convert %rank : (tensor<ui32>) -> tensor<i32>
    %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %sum = stablehlo.add %block, %numbers : tensor<1xi32>
    spmd.return %sum : tensor<1xi32>
  } : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// RUN: shard-opt %s --spmd-expand-unreduced | FileCheck %s

spmd.mesh @mesh = <["x"=2, "y"=3]>

// The coordinate along "y" of rank r is r mod 3; only 0 keeps the operand.
// CHECK-LABEL: func @first_coordinate_keeps(
//       CHECK: spmd.manual(%{{.*}}) in [#spmd.sharding<@mesh, [{}]>] out [#spmd.sharding<@mesh, [{}]>]
//       CHECK:   ^bb0(%[[WHOLE:.*]]: tensor<4xf32>):
//       CHECK:   %[[RANK:.*]] = stablehlo.partition_id
//       CHECK:   %[[SIZE:.*]] = stablehlo.constant dense<3> : tensor<ui32>
//       CHECK:   %[[PLACE:.*]] = stablehlo.remainder %{{.*}}, %[[SIZE]]
//       CHECK:   %[[FIRST:.*]] = stablehlo.compare EQ, %[[PLACE]], %{{.*}}
//       CHECK:   %[[KEPT:.*]] = stablehlo.select %[[FIRST]], %[[WHOLE]], %{{.*}}
//       CHECK:   stablehlo.negate %[[KEPT]]
func.func @first_coordinate_keeps(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{}], partial = {"y" = sum}>] out [#spmd.sharding<@mesh, [{}]>] along ["y"] {
  ^bb0(%v: tensor<4xf32>):
    %1 = stablehlo.negate %v : tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @result_is_combined(
//       CHECK: spmd.manual(%{{.*}}) in [#spmd.sharding<@mesh, [{}]>] out [#spmd.sharding<@mesh, [{}]>]
//       CHECK: "stablehlo.all_reduce"(%{{.*}})
//  CHECK-SAME: replica_groups = dense<{{\[\[}}0, 3], [1, 4], [2, 5]]>
//       CHECK: stablehlo.maximum
func.func @result_is_combined(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{}]>] out [#spmd.sharding<@mesh, [{}], partial = {"x" = max}>] along ["x"] {
  ^bb0(%v: tensor<4xf32>):
    spmd.return %v : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

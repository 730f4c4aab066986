// RUN: shard-opt %s --split-input-file --spmd-convert-sdy=device-order | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-convert-sdy | FileCheck %s --check-prefix=POSITIONS
// An argument comes to the devices that its mesh names, and goes to its positions; a result goes back. Who places shards by
// positions is spared both.

// Position 0 is device 2, 1 is 0, 2 is 3, 3 is 1.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:.*]]: tensor<8x2xi32> {spmd.ranks = array<i64: 2, 0, 3, 1>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}
//  CHECK-SAME:   -> (tensor<8x2xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}
//  CHECK-SAME:   tensor<8x2xi32> {spmd.ranks = array<i64: 2, 0, 3, 1>, spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {}]>}
//       CHECK:   %[[IN:.*]] = spmd.manual(%[[A]]) in [#spmd.sharding<@mesh, [{"x"}, {"y"}]>] out [#spmd.sharding<@mesh, [{"x"}, {"y"}]>] along ["x", "y"]
//       CHECK:     ^bb0(%[[SHARD:.*]]: tensor<4x1xi32>):
//       CHECK:     "stablehlo.collective_permute"(%[[SHARD]])
//  CHECK-SAME:     source_target_pairs = dense<{{\[\[}}2, 0], [0, 1], [3, 2], [1, 3]]>
//       CHECK:   %[[OUT:.*]] = spmd.manual(%[[IN]]) in [#spmd.sharding<@mesh, [{"y"}, {}]>]
//       CHECK:     source_target_pairs = dense<{{\[\[}}0, 2], [1, 0], [2, 3], [3, 1]]>
//       CHECK:   return %[[IN]], %[[OUT]]
// POSITIONS-LABEL: func.func @main(
//   POSITIONS-NOT:   spmd.ranks
//   POSITIONS-NOT:   spmd.manual
//       POSITIONS:   return
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @moved = <["x"=2, "y"=2], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@moved, [{"x"}, {"y"}]>})
    -> (tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@moved, [{"y"}, {}]>}) {
  return %a, %a : tensor<8x2xi32>, tensor<8x2xi32>
}

// -----

// Other axes in another order; what all have alike stays.
// CHECK: {{^// -+$}}
//       CHECK: spmd.mesh @mesh = <["a.0"=2, "a.1"=2]>
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:.*]]: tensor<8xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"a.0", "a.1"}]>}
//  CHECK-SAME:   %{{.*}}: tensor<8xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}
//  CHECK-SAME:   -> (tensor<8xi32> {spmd.ranks = array<i64: 0, 2, 1, 3>, spmd.sharding = #spmd.sharding<@mesh, [{"a.0"}]>}
//       CHECK:   spmd.manual(%[[A]]) in [#spmd.sharding<@mesh, [{"a.0"}]>] out [#spmd.sharding<@mesh, [{"a.0"}]>] along ["a.0", "a.1"]
sdy.mesh @mesh = <["a"=4]>
sdy.mesh @moved = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
func.func @main(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %b: tensor<8xi32> {sdy.sharding = #sdy.sharding<@moved, [{}]>})
    -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@moved, [{"x"}]>}) {
  return %a : tensor<8xi32>
}

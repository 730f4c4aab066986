// RUN: shard-opt %s --spmd-import --spmd-propagate --split-input-file | FileCheck %s

// The values of a group are cut alike, wherever the axes come from: here a constraint behind one of them cuts
// the other, which has no op in common with it.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.cosine
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{"x"}, {}]>]
//       CHECK:   stablehlo.sine
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{"x"}, {}]>]
//   CHECK-NOT:   spmd.constrain
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>},
                                                              tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
  %0 = stablehlo.cosine %a : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=7 : tensor<8x4xf32>
  %1 = stablehlo.sine %b : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=7 : tensor<8x4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Groups with a common member are one.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}
//       CHECK:   stablehlo.sine %{{.*}} {spmd.factors = {{.*}}, spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]}
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>, %c: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = stablehlo.cosine %b : tensor<8xf32>
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  sdy.sharding_group %0 group_id=1 : tensor<8xf32>
  sdy.sharding_group %0 group_id=2 : tensor<8xf32>
  %1 = stablehlo.sine %c : tensor<8xf32>
  sdy.sharding_group %1 group_id=2 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Forward: what comes before is not asked to be cut as what comes after.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[A:.*]] = stablehlo.cosine
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{}]>]
//       CHECK:   %[[MOVED:.*]] = spmd.reshard %[[A]] <@mesh, [{}]> -> <@mesh, [{"x"}]>
//       CHECK:   stablehlo.sine %[[MOVED]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.cosine %a : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>
  %2 = stablehlo.sine %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Backward: what comes after does not follow.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.cosine
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]
//       CHECK:   stablehlo.sine
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{}]>]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = stablehlo.cosine %a : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8xf32>
  %2 = stablehlo.sine %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// None: either side is on its own; data flows all the same.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[A:.*]] = stablehlo.cosine
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{"x"}, {}]>]
//       CHECK:   %[[MOVED:.*]] = spmd.reshard %[[A]] <@mesh, [{"x"}, {}]> -> <@mesh, [{}, {"x"}]>
//       CHECK:   stablehlo.sine %[[MOVED]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.cosine %a : tensor<8x4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x4xf32>
  %2 = stablehlo.sine %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// RUN: shard-opt %s --spmd-propagate="partial-results even-borders" --spmd-verify-propagated --spmd-partition-to-local --canonicalize --cse | FileCheck %s
// What enters or leaves a manual region unreduced is each rank's own part of a sum.

spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @parts_leave(
//  CHECK-SAME:   %[[A:.*]]: tensor<2xf32>
//  CHECK-NEXT:   return %[[A]]
func.func @parts_leave(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] along ["x"] {
  ^bb0(%v: tensor<2xf32>):
    spmd.return %v : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func @parts_enter(
//  CHECK-SAME:   %[[A:.*]]: tensor<2xf32>
//  CHECK-NEXT:   return %[[A]]
func.func @parts_enter(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%v: tensor<2xf32>):
    spmd.return %v : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Two readers: in parts for the region, combined for the other.
// CHECK-LABEL: func @parts_between_regions(
//  CHECK-SAME:   %[[A:.*]]: tensor<2xf32>
//       CHECK:   %[[OUT:.*]] = stablehlo.negate %[[A]]
//       CHECK:   %[[SUM:.*]] = local.all_reduce sum %[[OUT]] along ["x"]
//       CHECK:   %[[OWN:.*]] = stablehlo.abs %[[OUT]]
//       CHECK:   return %[[OWN]], %[[SUM]]
func.func @parts_between_regions(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] along ["x"] {
  ^bb0(%v: tensor<2xf32>):
    %n = stablehlo.negate %v : tensor<2xf32>
    spmd.return %n : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<2xf32>
  %1 = spmd.manual(%0) in [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%v: tensor<2xf32>):
    %n = stablehlo.abs %v : tensor<2xf32>
    spmd.return %n : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<2xf32>
}

// Of a whole value the first rank gets all, the other nothing.
// CHECK-LABEL: func @whole_enters(
//  CHECK-SAME:   %[[A:.*]]: tensor<2xf32>
//   CHECK-DAG:   %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
//   CHECK-DAG:   local.lookup [1, 0] along ["x"]
//       CHECK:   %[[PART:.*]] = stablehlo.select %{{.*}}, %[[A]], %[[ZERO]]
//       CHECK:   return %[[PART]]
func.func @whole_enters(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%v: tensor<2xf32>):
    spmd.return %v : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What is summed and cut again is scattered while it is summed.
// CHECK-LABEL: func @parts_are_cut(
//  CHECK-SAME:   %[[A:.*]]: tensor<2xf32>
//       CHECK:   %[[SUM:.*]] = local.reduce_scatter sum %[[A]] along ["x"]
//       CHECK:   return %[[SUM]]
func.func @parts_are_cut(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] along ["x"] {
  ^bb0(%v: tensor<2xf32>):
    spmd.return %v : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A rank's part of a scatter that leaves in parts is what the rank scatters.
// CHECK-LABEL: func @scatter_leaves_in_parts(
//       CHECK:   stablehlo.constant
//   CHECK-NOT:   {{(spmd|local)[.]}}
//       CHECK:   %[[PART:.*]] = "stablehlo.scatter"
//   CHECK-NOT:   {{(spmd|local)[.]}}
//       CHECK:   return %[[PART]]
func.func @scatter_leaves_in_parts(%i: tensor<4x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// RUN: shard-opt %s --spmd-propagate=partial-results --spmd-partition-to-local --canonicalize --cse | FileCheck %s
// RUN: shard-opt %s --spmd-propagate="partial-results even-borders" --spmd-partition-to-local | FileCheck %s --check-prefix=EVEN
// RUN: shard-opt %s --spmd-propagate --spmd-partition-to-local --canonicalize | FileCheck %s --check-prefix=WHOLE
// A result that is asked for unreduced leaves as each rank's own part; without the option it is combined.

spmd.mesh @mesh = <["x"=2, "y"=2]>

// What was to be combined for it alone is not.
// CHECK-LABEL: func @sums_stay_parts(
//  CHECK-SAME:   -> (tensor<4x4xf32> {{{.*}}partial = {"x" = sum}>})
//   CHECK-NOT:   local.all_reduce
//       CHECK:   %[[PART:.*]] = stablehlo.dot_general
//       CHECK:   return %[[PART]]
// WHOLE-LABEL: func @sums_stay_parts(
//   WHOLE-NOT:   partial =
//       WHOLE:   local.all_reduce sum
func.func @sums_stay_parts(%a: tensor<4x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<2x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}], partial = {"x" = sum}>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Of a value that all ranks have, one gives it and the others zeros; "y" is no matter of the sum.
// CHECK-LABEL: func @first_rank_gives(
//  CHECK-SAME:   %[[A:.*]]: tensor<4xf32>
//   CHECK-DAG:   %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
//   CHECK-DAG:   %[[FIRST:.*]] = local.lookup [1, 0] along ["x"]
//       CHECK:   %[[GIVES:.*]] = stablehlo.convert %{{.*}} : (tensor<i64>) -> tensor<i1>
//       CHECK:   stablehlo.select %[[GIVES]], %[[A]], %[[ZERO]]
func.func @first_rank_gives(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) {
  return %a : tensor<4xf32>
}

// Of what is combined along both axes, parts along one are left to give.
// CHECK-LABEL: func @one_of_two_axes(
//       CHECK:   %[[SUM:.*]] = local.all_reduce sum %{{.*}} along ["x", "y"]
//       CHECK:   stablehlo.select %{{.*}}, %[[SUM]], %{{.*}}
func.func @one_of_two_axes(%a: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}], partial = {"x" = sum}>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// Of blocks each rank gives its own, with zeros around it.
// CHECK-LABEL: func @own_block(
//  CHECK-SAME:   %[[A:.*]]: tensor<2x3xf32>
//   CHECK-DAG:   %[[LOW:.*]] = local.lookup [0, 2] along ["x"]
//   CHECK-DAG:   %[[HIGH:.*]] = local.lookup [2, 0] along ["x"]
//   CHECK-NOT:   local.all_gather
//       CHECK:   tensor.pad %[[A]] low[%[[LOW]], 0] high[%[[HIGH]], 0]
func.func @own_block(%a: tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}], partial = {"x" = sum}>}) {
  return %a : tensor<4x3xf32>
}

// The greatest of equal values is the value.
// CHECK-LABEL: func @greatest(
//  CHECK-SAME:   %[[A:.*]]: tensor<4xf32>
//       CHECK:   return %[[A]]
func.func @greatest(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = max}>}) {
  return %a : tensor<4xf32>
}

// Blocks that are not of one size; in equal shards they leave whole.
// CHECK-LABEL: func @uneven_blocks(
//  CHECK-SAME:   %[[A:.*]]: tensor<?xf32>
//       CHECK:   %[[SAME:.*]] = stablehlo.compare EQ, %[[A]], %[[A]]
//       CHECK:   %[[NONE:.*]] = stablehlo.xor %[[SAME]], %[[SAME]]
//       CHECK:   %[[ZERO:.*]] = stablehlo.convert %[[NONE]]
//       CHECK:   stablehlo.select %{{.*}}, %[[A]], %[[ZERO]]
//  EVEN-LABEL: func @uneven_blocks(
//   EVEN-SAME:   -> (tensor<5xf32> {{{.*}}#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>})
//        EVEN:   %[[GATHERED:.*]] = local.all_gather
//        EVEN:   stablehlo.select %{{.*}}, %[[GATHERED]], %{{.*}} : tensor<i1>, tensor<5xf32>
func.func @uneven_blocks(%a: tensor<5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}]>}) -> (tensor<5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}], partial = {"x" = sum}>}) {
  return %a : tensor<5xf32>
}

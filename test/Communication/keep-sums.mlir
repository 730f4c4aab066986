// RUN: shard-opt %s --spmd-sink-reductions=keep-sums --split-input-file | FileCheck %s

spmd.mesh @mesh = <["x"=2]>

// Exact sums are combined before they are added: their sum is rounded.
// CHECK-LABEL: func @sum_of_two(
//  CHECK-SAME:   %[[A:.*]]: tensor<4xf64>, %[[B:.*]]: tensor<4xf64>
//       CHECK:   %[[FIRST:.*]] = local.all_reduce sum %[[A]]
//       CHECK:   %[[SECOND:.*]] = local.all_reduce sum %[[B]]
//       CHECK:   stablehlo.add %[[FIRST]], %[[SECOND]]
func.func @sum_of_two(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf64>
  %1 = local.all_reduce sum %b along ["x"] on @mesh : tensor<4xf64>
  %2 = stablehlo.add %0, %1 : tensor<4xf64>
  return %2 : tensor<4xf64>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// A part that differs by rank is taken before the sum is rounded to what it was, so
// that each rank combines its part alone.
// CHECK-LABEL: func @part(
//  CHECK-SAME:   %[[A:.*]]: tensor<4xf64>
//       CHECK:   %[[MINE:.*]] = local.reduce_scatter sum %[[A]] along ["x"]
//       CHECK:   %[[ROUNDED:.*]] = stablehlo.convert %[[MINE]] : (tensor<2xf64>) -> tensor<2xf32>
//       CHECK:   return %[[ROUNDED]]
func.func @part(%a: tensor<4xf64>) -> tensor<2xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf64>
  %1 = stablehlo.convert %0 : (tensor<4xf64>) -> tensor<4xf32>
  %offset = local.lookup [0, 2] along ["x"] on @mesh
  %2 = tensor.extract_slice %1[%offset] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %2 : tensor<2xf32>
}

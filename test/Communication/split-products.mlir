// RUN: shard-opt %s --pass-pipeline='builtin.module(func.func(spmd-split-products{least-block=0}))' --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-split-products --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: shard-opt %s --pass-pipeline='builtin.module(func.func(spmd-split-products{least-block=0}),spmd-verify-communication)' --split-input-file
// SMALL-NOT: rebalance

spmd.mesh @mesh = <["x"=3]>

// Each rank multiplies its own block first; columns of the other operand go with it.
// CHECK-LABEL: func @contracted(
//  CHECK-SAME:   %[[A:.*]]: tensor<4x9xf32>, %[[B:.*]]: tensor<3x5xf32>
//       CHECK:   %[[OWN:.*]] = local.lookup [0, 3, 6]
//       CHECK:   %[[A0:.*]] = tensor.extract_slice %[[A]][0, %[[OWN]]] [4, 3]
//       CHECK:   %[[P0:.*]] = stablehlo.dot_general %[[A0]], %[[B]]
//       CHECK:   %[[B1:.*]] = local.rebalance %[[B]] [<dim 0 along ["x"] : [0:3, 3:6, 6:9] -> [3:6, 6:9, 0:3]>] reason "gathers; meets block 1 of 3 while the one before is multiplied"
//       CHECK:   %[[NEXT:.*]] = local.lookup [3, 6, 0]
//       CHECK:   %[[A1:.*]] = tensor.extract_slice %[[A]][0, %[[NEXT]]] [4, 3]
//       CHECK:   %[[P1:.*]] = stablehlo.dot_general %[[A1]], %[[B1]]
//       CHECK:   %[[S1:.*]] = local.accumulate %[[P1]] into %[[P0]]
//       CHECK:   -> [6:9, 0:3, 3:6]>]
//       CHECK:   %[[S2:.*]] = local.accumulate %{{.*}} into %[[S1]]
//       CHECK:   return %[[S2]]
func.func @contracted(%a: tensor<4x9xf32>, %b: tensor<3x5xf32>) -> tensor<4x5xf32> attributes {spmd.local_view} {
  %0 = local.all_gather %b [<dim 0 along ["x"] : [0:3, 3:6, 6:9] -> [0:9, 0:9, 0:9]>] reason "gathers" on @mesh : tensor<3x5xf32> -> tensor<9x5xf32>
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<4x9xf32>, tensor<9x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Uneven blocks of rows of the first operand, in a product with a batching dim: blocks of rows of the result.
// CHECK-LABEL: func @free(
//       CHECK:   %[[EMPTY:.*]] = tensor.empty() : tensor<2x5x4xbf16>
//       CHECK:   stablehlo.dot_general %arg0, %arg1, {{.*}} -> tensor<2x?x4xbf16>
//       CHECK:   tensor.insert_slice {{.*}} into %[[EMPTY]][0, %{{.*}}, 0] [2, %{{.*}}, 4]
//       CHECK:   [<dim 2 along ["x"] : [0:1, 1:5] -> [1:5, 0:1]>]
//       CHECK:   tensor.insert_slice
//       CHECK:   return
func.func @free(%a: tensor<2x3x?xbf16>, %b: tensor<2x3x4xbf16>) -> tensor<2x5x4xbf16> attributes {spmd.local_view} {
  %0 = local.all_gather %a [<dim 2 along ["x"] : [0:1, 1:5] -> [0:5, 0:5]>] on @mesh : tensor<2x3x?xbf16> -> tensor<2x3x5xbf16>
  %1 = stablehlo.dot_general %0, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x5xbf16>, tensor<2x3x4xbf16>) -> tensor<2x5x4xbf16>
  return %1 : tensor<2x5x4xbf16>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// The block of the other rank first, which is on its way while this rank's own is multiplied.
// CHECK-LABEL: func @scattered(
//  CHECK-SAME:   %[[A:.*]]: tensor<4x9xf32>, %[[B:.*]]: tensor<9x6xf32>
//       CHECK:   %[[THERE:.*]] = local.lookup [3, 0]
//       CHECK:   tensor.extract_slice %[[B]][0, %[[THERE]]] [9, 3]
//       CHECK:   %[[P1:.*]] = stablehlo.dot_general
//       CHECK:   %[[R1:.*]] = local.rebalance %[[P1]] [<dim 1 along ["x"] : [3:6, 0:3] -> [0:3, 3:6]>]
//       CHECK:   %[[P0:.*]] = stablehlo.dot_general
//       CHECK:   local.accumulate %[[R1]] into %[[P0]] : tensor<4x3xf32>
//   CHECK-NOT:   reduce_scatter
func.func @scattered(%a: tensor<4x9xf32>, %b: tensor<9x6xf32>) -> tensor<4x3xf32> attributes {spmd.local_view} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x9xf32>, tensor<9x6xf32>) -> tensor<4x6xf32>
  %1 = local.reduce_scatter sum %0 along ["x"] [<dim 1 along ["x"] : [0:6, 0:6] -> [0:3, 3:6]>] on @mesh : tensor<4x6xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Two readers have the whole one anyway; a product of truth values is not added up.
// CHECK-LABEL: func @whole(
//       CHECK:   local.all_gather
//       CHECK:   local.all_gather
//   CHECK-NOT:   rebalance
func.func @whole(%a: tensor<4x6xf32>, %b: tensor<3x5xf32>, %c: tensor<4x6xi1>, %d: tensor<3x5xi1>)
    -> (tensor<4x5xf32>, tensor<6x5xf32>, tensor<4x5xi1>) attributes {spmd.local_view} {
  %0 = local.all_gather %b [<dim 0 along ["x"] : [0:3, 3:6] -> [0:6, 0:6]>] on @mesh : tensor<3x5xf32> -> tensor<6x5xf32>
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %2 = local.all_gather %d [<dim 0 along ["x"] : [0:3, 3:6] -> [0:6, 0:6]>] on @mesh : tensor<3x5xi1> -> tensor<6x5xi1>
  %3 = stablehlo.dot_general %c, %2, contracting_dims = [1] x [0] : (tensor<4x6xi1>, tensor<6x5xi1>) -> tensor<4x5xi1>
  return %1, %0, %3 : tensor<4x5xf32>, tensor<6x5xf32>, tensor<4x5xi1>
}

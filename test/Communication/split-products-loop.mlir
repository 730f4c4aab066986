// Products over many ranks: blocks, and sums of blocks, are passed on in a loop. Blocks are uneven, and of seven rows or columns four of eleven ranks have none.
// The interpreter compares what comes of it with the products of whole tensors.
// RUN: shard-opt %s --pass-pipeline='builtin.module(func.func(spmd-split-products{least-block=0},spmd-split-exchanges),spmd-verify-communication)' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: shard-opt %t.mlir --spmd-verify-partition=global=%S/Inputs/products.mlir -o %t.same.mlir
// RUN: sed 's/arith.remui/arith.divui/' %t.mlir > %t.wrong.mlir
// RUN: not shard-opt %t.wrong.mlir --spmd-verify-partition=global=%S/Inputs/products.mlir -o /dev/null
spmd.mesh @mesh = <["x"=11]>
// Of a contracted dim: this rank's own block first, while the next is on its way.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[PLACE:.*]] = local.lookup [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
//       CHECK:   stablehlo.while
//       CHECK:   } do {
//       CHECK:     local.exchange_start
//       CHECK:     tensor.extract_slice
//       CHECK:     stablehlo.dot_general
//       CHECK:     local.accumulate
//       CHECK:     [<dim 0 along ["x"] : [0:3, 3:6, 6:9, {{.*}}, 30:33] -> [3:6, 6:9, {{.*}}, 30:33, 0:3]>] reason "passes blocks round a ring of 11 while they are multiplied"
//       CHECK:     stablehlo.return
// Rows that some ranks have none of.
//       CHECK:   stablehlo.while
//       CHECK:     [0:1, 1:2, {{.*}}, 10:11] -> [1:2, {{.*}}, 10:11, 0:1]
// Of a free dim: parts of the result, side by side.
//       CHECK:   stablehlo.while
//       CHECK:     stablehlo.dot_general
//       CHECK:     tensor.insert_slice
//       CHECK:     stablehlo.return
// Scattered: sums travel, a rank's own block comes last.
//       CHECK:   stablehlo.while
//       CHECK:     stablehlo.dot_general
//       CHECK:     local.accumulate
//       CHECK:     stablehlo.return
//   CHECK-NOT:   all_gather
//   CHECK-NOT:   reduce_scatter
//       CHECK:   return
func.func @main(%a: tensor<5x29xf32> {spmd.global_type = tensor<5x29xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, %w: tensor<?x6xf32> {spmd.global_type = tensor<29x6xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<4x7xf32> {spmd.global_type = tensor<4x7xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, %u: tensor<?x9xf32> {spmd.global_type = tensor<7x9xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<?x9xf32> {spmd.global_type = tensor<29x9xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %d: tensor<3x8xf32> {spmd.global_type = tensor<33x8xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %e: tensor<3x7xf32> {spmd.global_type = tensor<33x7xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<5x6xf32> {spmd.global_type = tensor<5x6xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, tensor<4x9xf32> {spmd.global_type = tensor<4x9xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, tensor<4x29xf32> {spmd.global_type = tensor<4x29xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>},
        tensor<8x?xf32> {spmd.global_type = tensor<8x7xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) attributes {spmd.local_view} {
  %0 = local.all_gather %w [<dim 0 along ["x"] : [0:3, 3:6, 6:9, 9:12, 12:15, 15:18, 18:21, 21:23, 23:25, 25:27, 27:29] -> [0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29]>] on @mesh : tensor<?x6xf32> -> tensor<29x6xf32>
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<5x29xf32>, tensor<29x6xf32>) -> tensor<5x6xf32>
  %2 = local.all_gather %u [<dim 0 along ["x"] : [0:1, 1:2, 2:3, 3:4, 4:5, 5:6, 6:7, 7:7, 7:7, 7:7, 7:7] -> [0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7]>] on @mesh : tensor<?x9xf32> -> tensor<7x9xf32>
  %3 = stablehlo.dot_general %b, %2, contracting_dims = [1] x [0] : (tensor<4x7xf32>, tensor<7x9xf32>) -> tensor<4x9xf32>
  %4 = local.all_gather %c [<dim 0 along ["x"] : [0:3, 3:6, 6:9, 9:12, 12:15, 15:18, 18:21, 21:23, 23:25, 25:27, 27:29] -> [0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29, 0:29]>] on @mesh : tensor<?x9xf32> -> tensor<29x9xf32>
  %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [1] : (tensor<4x9xf32>, tensor<29x9xf32>) -> tensor<4x29xf32>
  %6 = stablehlo.dot_general %d, %e, contracting_dims = [0] x [0] : (tensor<3x8xf32>, tensor<3x7xf32>) -> tensor<8x7xf32>
  %7 = local.reduce_scatter sum %6 along ["x"] [<dim 1 along ["x"] : [0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7, 0:7] -> [0:1, 1:2, 2:3, 3:4, 4:5, 5:6, 6:7, 7:7, 7:7, 7:7, 7:7]>] on @mesh : tensor<8x7xf32> -> tensor<8x?xf32>
  return %1, %3, %5, %7 : tensor<5x6xf32>, tensor<4x9xf32>, tensor<4x29xf32>, tensor<8x?xf32>
}

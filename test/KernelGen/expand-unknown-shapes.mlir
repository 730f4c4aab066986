// RUN: shard-opt %s --spmd-expand-unknown-shapes --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @two_unknown(
//  CHECK-SAME:   %[[X:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[M:.*]]: index
//       CHECK:   %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %[[STRIDE:.*]] = memref.extract_strided_metadata %[[X]]
//       CHECK:   %[[ROW:.*]] = arith.muli %[[STRIDE]], %[[M]]
//       CHECK:   memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[N]], %[[M]]], strides: [%[[ROW]], 1]
//  CHECK-SAME:     to memref<?x?xf32>
func.func @two_unknown(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

// -----

// Strides and an offset of its own: a group's innermost dim keeps the source's stride.
// CHECK-LABEL: func.func @of_a_part(
//  CHECK-SAME:   %[[X:.*]]: memref<4x?xf32, strided<[?, 3], offset: ?>>, %[[N:.*]]: index, %[[M:.*]]: index
//       CHECK:   %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
//       CHECK:   %[[FIVE:.*]] = arith.constant 5
//       CHECK:   %[[MIDDLE:.*]] = arith.muli %[[STRIDES]]#1, %[[FIVE]]
//       CHECK:   %[[ROW:.*]] = arith.muli %{{.*}}, %[[M]]
//       CHECK:   memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [4, %[[N]], %[[M]], 5], strides: [%[[STRIDES]]#0, %[[ROW]], 15, 3]
func.func @of_a_part(%x: memref<4x?xf32, strided<[?, 3], offset: ?>>, %n: index, %m: index)
    -> memref<4x?x?x5xf32, strided<[?, ?, 15, 3], offset: ?>> {
  %0 = memref.expand_shape %x [[0], [1, 2, 3]] output_shape [4, %n, %m, 5]
    : memref<4x?xf32, strided<[?, 3], offset: ?>> into memref<4x?x?x5xf32, strided<[?, ?, 15, 3], offset: ?>>
  return %0 : memref<4x?x?x5xf32, strided<[?, ?, 15, 3], offset: ?>>
}

// -----

// CHECK-LABEL: func.func @one_unknown(
//       CHECK:   memref.expand_shape
//   CHECK-NOT:   memref.reinterpret_cast
func.func @one_unknown(%x: memref<?xf32>, %n: index) -> memref<?x4xf32> {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [%n, 4] : memref<?xf32> into memref<?x4xf32>
  return %0 : memref<?x4xf32>
}

// RUN: shard-opt %s --spmd-generalize-buffer-ops | FileCheck %s

// CHECK: #[[LENGTHS:.*]] = affine_map<()[s0] -> (s0 * 8 + 5)>

// What an allocation of a strided type holds lies as far apart as its strides say.
// CHECK-LABEL: func.func @strided(
//       CHECK:   %[[WHOLE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<41xf32>
//       CHECK:   %[[PART:.*]] = memref.reinterpret_cast %[[WHOLE]] to offset: [4], sizes: [4, 4], strides: [8, 1] : memref<41xf32> to memref<4x4xf32, strided<[8, 1], offset: 4>>
//       CHECK:   linalg.generic {{.*}} outs(%[[PART]] :
func.func @strided(%from: memref<4x4xf32>) -> memref<4x4xf32, strided<[8, 1], offset: 4>> {
  %0 = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32, strided<[8, 1], offset: 4>>
  memref.copy %from, %0 : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1], offset: 4>>
  return %0 : memref<4x4xf32, strided<[8, 1], offset: 4>>
}

// As many rows as there are.
// CHECK-LABEL: func.func @strided_rows(
//  CHECK-SAME:   %[[ROWS:.*]]: index
//       CHECK:   %[[LENGTH:.*]] = affine.apply #[[LENGTHS]]()[%[[ROWS]]]
//       CHECK:   %[[WHOLE:.*]] = memref.alloc(%[[LENGTH]]) : memref<?xf32>
//       CHECK:   memref.reinterpret_cast %[[WHOLE]] to offset: [0], sizes: [%[[ROWS]], 4], strides: [8, 1]
func.func @strided_rows(%rows: index) -> memref<?x4xf32, strided<[8, 1]>> {
  %0 = memref.alloc(%rows) : memref<?x4xf32, strided<[8, 1]>>
  return %0 : memref<?x4xf32, strided<[8, 1]>>
}

// A dense one is as it was.
// CHECK-LABEL: func.func @dense(
//       CHECK:   memref.alloc() : memref<4x4xf32>
//   CHECK-NOT:   reinterpret_cast
func.func @dense() -> memref<4x4xf32> {
  %0 = memref.alloc() : memref<4x4xf32>
  return %0 : memref<4x4xf32>
}

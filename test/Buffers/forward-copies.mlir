// RUN: shard-opt %s --spmd-forward-copies --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @last_use(
//  CHECK-SAME:   %[[OUT:.*]]: memref<4xf32>
//       CHECK:   "test.compute"(%[[OUT]])
//   CHECK-NOT:   memref.copy
func.func @last_use(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  return
}

// The argument under the buffer's type.
// CHECK-LABEL: func.func @reshaped(
//  CHECK-SAME:   %[[OUT:.*]]: memref<12xf32>
//       CHECK:   %[[VIEW:.*]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1]] output_shape [4, 3]
//       CHECK:   "test.compute"(%[[VIEW]])
//   CHECK-NOT:   memref.copy
func.func @reshaped(%out: memref<12xf32>) {
  %a = memref.alloc() : memref<4x3xf32>
  "test.compute"(%a) : (memref<4x3xf32>) -> ()
  %flat = memref.collapse_shape %a [[0, 1]] : memref<4x3xf32> into memref<12xf32>
  memref.copy %flat, %out : memref<12xf32> to memref<12xf32>
  return
}

// CHECK-LABEL: func.func @used_later(
//       CHECK:   memref.copy
func.func @used_later(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  return
}

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

// CHECK-LABEL: func.func @used_later(
//       CHECK:   memref.copy
func.func @used_later(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  return
}

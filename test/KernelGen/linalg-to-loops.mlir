// RUN: shard-opt %s --spmd-linalg-to-loops | FileCheck %s
// Ops on buffers become loops, a dim each, in the order of the iterators; ops on tensors are none of this pass.

// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[A:.*]]: memref<3x?xf32>, %[[B:.*]]: memref<?x5xf32>, %[[C:.*]]: memref<3x5xf32>)
// CHECK: %[[DEPTH:.*]] = memref.dim %[[A]], %{{.*}} : memref<3x?xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[DEPTH]] step
// CHECK: %[[X:.*]] = memref.load %[[A]]
// CHECK: %[[Y:.*]] = memref.load %[[B]]
// CHECK: %[[SUM:.*]] = memref.load %[[C]]
// CHECK: %[[TERM:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TERM]]
// CHECK: memref.store %[[NEXT]], %[[C]]
// CHECK-NOT: linalg
func.func @product(%a: memref<3x?xf32>, %b: memref<?x5xf32>, %c: memref<3x5xf32>) {
  linalg.matmul ins(%a, %b : memref<3x?xf32>, memref<?x5xf32>) outs(%c : memref<3x5xf32>)
  return
}

// A scalar takes no loop, and no dim but its own is asked for.
// CHECK-LABEL: func.func @scalar
// CHECK-NOT: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[] : memref<f32>
func.func @scalar(%x: memref<f32>, %value: f32) {
  linalg.fill ins(%value : f32) outs(%x : memref<f32>)
  return
}

// Within a loop that is there.
// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: memref.subview
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: linalg
func.func @nested(%x: memref<8x4xf32>, %value: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %row = memref.subview %x[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.fill ins(%value : f32) outs(%row : memref<4xf32, strided<[1], offset: ?>>)
  }
  return
}

// CHECK-LABEL: func.func @tensors
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<8xf32>)
func.func @tensors(%x: tensor<8xf32>, %value: f32) -> tensor<8xf32> {
  %0 = linalg.fill ins(%value : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

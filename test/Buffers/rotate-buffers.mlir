// RUN: shard-opt %s --spmd-rotate-buffers --allow-unregistered-dialect | FileCheck %s

// The buffer that was computed takes the place of the one that was read.
// CHECK-LABEL: func.func @step(
//       CHECK:   %[[A:.*]] = memref.alloc
//       CHECK:   %[[B:.*]] = memref.alloc
//       CHECK:   %[[LAST:.*]]:2 = scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[A]], %[[NEXT:.*]] = %[[B]])
//       CHECK:     "test.compute"(%[[NOW]], %[[NEXT]])
//   CHECK-NOT:     memref.copy
//       CHECK:     scf.yield %[[NEXT]], %[[NOW]]
//       CHECK:   memref.copy %[[LAST]]#0, %{{.*}}

func.func @step(%x: memref<4xf32>, %out: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<4xf32>
    "test.compute"(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  }
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  return
}

// So too in a loop whose end is found as it goes.
// CHECK-LABEL: func.func @until(
//       CHECK:   %[[A:.*]] = memref.alloc
//       CHECK:   %[[B:.*]] = memref.alloc
//       CHECK:   scf.while (%[[OLD:.*]] = %[[A]], %[[SPARE:.*]] = %[[B]])
//       CHECK:     "test.more"(%[[OLD]])
//       CHECK:     scf.condition(%{{.*}}) %[[OLD]], %[[SPARE]]
//       CHECK:   ^bb0(%[[NOW:.*]]: {{.*}}, %[[NEXT:.*]]: {{.*}}):
//       CHECK:     "test.compute"(%[[NOW]], %[[NEXT]])
//   CHECK-NOT:     memref.copy
//       CHECK:     scf.yield %[[NEXT]], %[[NOW]]
//       CHECK:   attributes {kernel.rotated}

func.func @until(%x: memref<4xf32>, %out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  scf.while : () -> () {
    %more = "test.more"(%a) : (memref<4xf32>) -> i1
    scf.condition(%more)
  } do {
    %b = memref.alloc() : memref<4xf32>
    "test.compute"(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
    scf.yield
  }
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  return
}

// Buffers of the same unknown size change places, too.
// CHECK-LABEL: func.func @same_size(
//       CHECK:   %[[A:.*]] = memref.alloc(%[[SIZE:.*]])
//       CHECK:   %[[B:.*]] = memref.alloc(%[[SIZE]])
//       CHECK:   scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[A]], %[[NEXT:.*]] = %[[B]])
//   CHECK-NOT:     memref.copy
//       CHECK:     scf.yield %[[NEXT]], %[[NOW]]

func.func @same_size(%x: memref<?xf32>, %out: memref<?xf32>, %n: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%size) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc(%size) : memref<?xf32>
    "test.compute"(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    memref.copy %b, %a : memref<?xf32> to memref<?xf32>
  }
  memref.copy %a, %out : memref<?xf32> to memref<?xf32>
  return
}

// Those of sizes that may differ do not, nor does one whose size the loop computes.
// CHECK-LABEL: func.func @other_size(
//       CHECK:   scf.for
//       CHECK:     memref.copy
// CHECK-LABEL: func.func @size_of_the_loop(
//       CHECK:   scf.for
//       CHECK:     memref.copy

func.func @other_size(%x: memref<?xf32>, %out: memref<?xf32>, %n: index, %size: index, %other: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%size) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc(%other) : memref<?xf32>
    "test.compute"(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    memref.copy %b, %a : memref<?xf32> to memref<?xf32>
  }
  memref.copy %a, %out : memref<?xf32> to memref<?xf32>
  return
}

func.func @size_of_the_loop(%x: memref<?xf32>, %out: memref<?xf32>, %n: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%size) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %here = "test.size"() : () -> index
    %b = memref.alloc(%here) : memref<?xf32>
    "test.compute"(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    memref.copy %b, %a : memref<?xf32> to memref<?xf32>
  }
  memref.copy %a, %out : memref<?xf32> to memref<?xf32>
  return
}

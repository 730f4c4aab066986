// RUN: shard-opt %s --spmd-know-sizes --allow-unregistered-dialect --split-input-file | FileCheck %s

// What is looked up twice, asked of a buffer or computed of look-ups is looked up once, before everything else.
// CHECK-LABEL: func.func @equal_sizes(
//   CHECK-DAG:   %[[ROWS:.*]] = spmd.lookup [5, 3]
//   CHECK-DAG:   %[[TWICE:.*]] = spmd.lookup [10, 6]
//       CHECK:   scf.for
//       CHECK:     %[[A:.*]] = memref.alloc(%[[ROWS]])
//       CHECK:     %[[B:.*]] = memref.alloc(%[[ROWS]])
//       CHECK:     %[[C:.*]] = memref.alloc(%[[TWICE]])
//       CHECK:     "test.use"(%[[A]], %[[B]], %[[C]])
spmd.mesh @mesh = <["x"=2]>
func.func @equal_sizes(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = spmd.lookup [5, 3] along ["x"] on @mesh
    %1 = spmd.lookup [5, 3] along ["x"] on @mesh
    %a = memref.alloc(%0) : memref<?x4xf32>
    %b = memref.alloc(%1) : memref<?x4xf32>
    %part = memref.subview %b[0, 0] [%1, 2] [1, 1] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
    %2 = memref.dim %part, %c0 : memref<?x2xf32, strided<[4, 1]>>
    %3 = arith.addi %2, %0 : index
    %c = memref.alloc(%3) : memref<?xf32>
    "test.use"(%a, %b, %c) : (memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>) -> ()
  }
  return
}

// -----

// Sizes along other axes are other values, and a sum of both stays a sum.
// CHECK-LABEL: func.func @other_axes(
//   CHECK-DAG:   %[[X:.*]] = spmd.lookup [5, 3] along ["x"]
//   CHECK-DAG:   %[[Y:.*]] = spmd.lookup [5, 3] along ["y"]
//       CHECK:   %[[SUM:.*]] = arith.addi %[[X]], %[[Y]]
//       CHECK:   memref.alloc(%[[SUM]])
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @other_axes() -> memref<?xf32> {
  %0 = spmd.lookup [5, 3] along ["x"] on @mesh
  %1 = spmd.lookup [5, 3] along ["y"] on @mesh
  %2 = arith.addi %0, %1 : index
  %a = memref.alloc(%2) : memref<?xf32>
  return %a : memref<?xf32>
}

// -----

// An argument's size follows from how it is cut, as a destination's does.
// CHECK-LABEL: func.func @arguments(
//       CHECK:   %[[ROWS:.*]] = spmd.lookup [5, 4]
//   CHECK-NOT:   memref.dim
//       CHECK:   memref.alloc(%[[ROWS]])
//       CHECK:   memref.alloc(%[[ROWS]])
#cut = #spmd.sharding<@mesh, [{"x"}]>
module attributes {spmd.entry_inputs = [{spmd.global_type = tensor<9xf32>, spmd.sharding = #cut}],
                   spmd.entry_outputs = [{spmd.global_type = tensor<9xf32>, spmd.sharding = #cut}]} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @arguments(%x: memref<?xf32>, %out: memref<?xf32>) attributes {spmd.local_view} {
    %c0 = arith.constant 0 : index
    %0 = memref.dim %x, %c0 : memref<?xf32>
    %a = memref.alloc(%0) : memref<?xf32>
    %1 = memref.dim %out, %c0 : memref<?xf32>
    %b = memref.alloc(%1) : memref<?xf32>
    "test.use"(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    return
  }
}

// -----

// What a loop carries has the size with which it begins, unless another size is yielded.
// CHECK-LABEL: func.func @carried(
//       CHECK:   %[[ROWS:.*]] = spmd.lookup [5, 3]
//       CHECK:   scf.for {{.*}} iter_args(%[[SAME:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}})
//       CHECK:     %[[DIM:.*]] = memref.dim %[[OTHER]]
//       CHECK:     "test.use"(%[[ROWS]], %[[DIM]])
spmd.mesh @mesh = <["x"=2]>
func.func @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = spmd.lookup [5, 3] along ["x"] on @mesh
  %1 = spmd.lookup [4, 3] along ["x"] on @mesh
  %a = memref.alloc(%0) : memref<?xf32>
  %b = memref.alloc(%0) : memref<?xf32>
  %c = memref.alloc(%0) : memref<?xf32>
  %d = memref.alloc(%1) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 iter_args(%same = %a, %other = %b) -> (memref<?xf32>, memref<?xf32>) {
    %2 = memref.dim %same, %c0 : memref<?xf32>
    %3 = memref.dim %other, %c0 : memref<?xf32>
    "test.use"(%2, %3) : (index, index) -> ()
    scf.yield %c, %d : memref<?xf32>, memref<?xf32>
  }
  return
}

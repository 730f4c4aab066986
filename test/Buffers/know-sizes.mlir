// RUN: shard-opt %s --spmd-know-sizes --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-know-sizes=allocated --allow-unregistered-dialect --split-input-file | FileCheck %s --check-prefix=ALLOCATED

// What is looked up twice, asked of a buffer or computed of look-ups is looked up once, before everything else.
// CHECK-LABEL: func.func @equal_sizes(
//   CHECK-DAG:   %[[ROWS:.*]] = local.lookup [5, 3]
//   CHECK-DAG:   %[[TWICE:.*]] = local.lookup [10, 6]
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
    %0 = local.lookup [5, 3] along ["x"] on @mesh
    %1 = local.lookup [5, 3] along ["x"] on @mesh
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
//   CHECK-DAG:   %[[X:.*]] = local.lookup [5, 3] along ["x"]
//   CHECK-DAG:   %[[Y:.*]] = local.lookup [5, 3] along ["y"]
//       CHECK:   %[[SUM:.*]] = arith.addi %[[X]], %[[Y]]
//       CHECK:   memref.alloc(%[[SUM]])
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @other_axes() -> memref<?xf32> {
  %0 = local.lookup [5, 3] along ["x"] on @mesh
  %1 = local.lookup [5, 3] along ["y"] on @mesh
  %2 = arith.addi %0, %1 : index
  %a = memref.alloc(%2) : memref<?xf32>
  return %a : memref<?xf32>
}

// -----

// An argument's size follows from how it is cut, as a destination's does.
// CHECK-LABEL: func.func @arguments(
//       CHECK:   %[[ROWS:.*]] = local.lookup [5, 4]
//   CHECK-NOT:   memref.dim
//       CHECK:   memref.alloc(%[[ROWS]])
//       CHECK:   memref.alloc(%[[ROWS]])
#cut = #spmd.sharding<@mesh, [{"x"}]>
module attributes {kernel.entry_inputs = [{spmd.global_type = tensor<9xf32>, spmd.sharding = #cut}],
                   kernel.entry_outputs = [{spmd.global_type = tensor<9xf32>, spmd.sharding = #cut}]} {
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
//       CHECK:   %[[ROWS:.*]] = local.lookup [5, 3]
//       CHECK:   scf.for {{.*}} iter_args(%[[SAME:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}})
//       CHECK:     %[[DIM:.*]] = memref.dim %[[OTHER]]
//       CHECK:     "test.use"(%[[ROWS]], %[[DIM]])
spmd.mesh @mesh = <["x"=2]>
func.func @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = local.lookup [5, 3] along ["x"] on @mesh
  %1 = local.lookup [4, 3] along ["x"] on @mesh
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

// -----

// Rows with one of a neighbour on each side, of which windows of three rows read all: as many windows as rows. Two apart
// likewise, with the quotient rounded down for numbers of either sign; and what is no less than 0 already.
// CHECK-LABEL: func.func @windows(
//   CHECK-DAG:   %[[ROWS:.*]] = local.lookup [5, 3] along ["x"] on @mesh by <size (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>)>
//   CHECK-DAG:   %[[READ:.*]] = local.lookup [7, 5] along ["x"] on @mesh by <size (#spmd.formula<positions [-1, 1, 1]
//   CHECK-DAG:   %[[APART:.*]] = local.lookup [11, 7] along ["x"] on @mesh by <size (#spmd.formula<positions [-1, 2, 1]
//   CHECK-DAG:   memref.alloc(%[[READ]]) : memref<?x1xf32>
//   CHECK-DAG:   memref.alloc(%[[ROWS]]) : memref<?x2xf32>
//   CHECK-DAG:   memref.alloc(%[[ROWS]]) : memref<?x3xf32>
//   CHECK-DAG:   memref.alloc(%[[APART]]) : memref<?x4xf32>
//       CHECK:   return
#rows = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>
#three = #spmd.formula<same [0, 3]>
spmd.mesh @mesh = <["x"=2]>
func.func @windows() -> (memref<?x1xf32>, memref<?x2xf32>, memref<?x3xf32>, memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %minus = arith.constant -1 : index
  %read = local.lookup [7, 5] along ["x"] on @mesh by <size (#spmd.formula<positions [-1, 1, 1] (#rows, #three)>)>
  %whole = arith.maxsi %read, %c0 : index
  %a = memref.alloc(%whole) : memref<?x1xf32>
  %less = arith.subi %read, %c2 : index
  %windows = arith.maxsi %less, %c0 : index
  %b = memref.alloc(%windows) : memref<?x2xf32>
  %apart = local.lookup [11, 7] along ["x"] on @mesh by <size (#spmd.formula<positions [-1, 2, 1] (#rows, #three)>)>
  %0 = arith.subi %apart, %c3 : index
  %1 = arith.cmpi slt, %0, %c0 : index
  %2 = arith.subi %minus, %0 : index
  %3 = arith.select %1, %2, %0 : index
  %4 = arith.divsi %3, %c2 : index
  %5 = arith.subi %minus, %4 : index
  %6 = arith.select %1, %5, %4 : index
  %7 = arith.addi %6, %c1 : index
  %8 = arith.maxsi %7, %c0 : index
  %c = memref.alloc(%8) : memref<?x3xf32>
  %d = memref.alloc(%apart) : memref<?x4xf32>
  return %a, %b, %c, %d : memref<?x1xf32>, memref<?x2xf32>, memref<?x3xf32>, memref<?x4xf32>
}

// -----

// One row less than windows need; and windows of three where four were read: neither is the rows' number for all sizes.
// CHECK-LABEL: func.func @other_numbers(
//       CHECK:   %[[LESS:.*]] = arith.subi
//       CHECK:   memref.alloc(%[[LESS]]) : memref<?x2xf32>
//       CHECK:   %[[MORE:.*]] = arith.maxsi
//       CHECK:   memref.alloc(%[[MORE]]) : memref<?x3xf32>
//       CHECK:   return
#rows = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>
spmd.mesh @mesh = <["x"=2]>
func.func @other_numbers() -> (memref<?x2xf32>, memref<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %read = local.lookup [7, 5] along ["x"] on @mesh by <size (#spmd.formula<positions [-1, 1, 1] (#rows, #spmd.formula<same [0, 3]>)>)>
  %less = arith.subi %read, %c2 : index
  %a = memref.alloc(%less) : memref<?x2xf32>
  %more = local.lookup [8, 6] along ["x"] on @mesh by <size (#spmd.formula<positions [-1, 1, 1] (#rows, #spmd.formula<same [0, 4]>)>)>
  %0 = arith.subi %more, %c2 : index
  %1 = arith.maxsi %0, %c0 : index
  %b = memref.alloc(%1) : memref<?x3xf32>
  return %a, %b : memref<?x2xf32>, memref<?x3xf32>
}

// -----

// Asked for sizes of buffers alone, what code computes of the same sizes stays as it is.
// CHECK-LABEL: func.func @scratch(
//   CHECK-NOT:   memref.dim
// ALLOCATED-LABEL: func.func @scratch(
//       ALLOCATED:   %[[ROWS:.*]] = local.lookup [5, 4]
//       ALLOCATED:   memref.alloc(%[[ROWS]])
//       ALLOCATED:   %[[DIM:.*]] = memref.dim
//       ALLOCATED:   "test.count"(%[[DIM]])
#cut = #spmd.sharding<@mesh, [{"x"}]>
module attributes {kernel.entry_inputs = [{spmd.global_type = tensor<9xf32>, spmd.sharding = #cut}], kernel.entry_outputs = []} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @scratch(%x: memref<?xf32>) attributes {spmd.local_view} {
    %c0 = arith.constant 0 : index
    %0 = memref.dim %x, %c0 : memref<?xf32>
    %a = memref.alloc(%0) : memref<?xf32>
    %1 = memref.dim %x, %c0 : memref<?xf32>
    "test.count"(%1) : (index) -> ()
    "test.use"(%a) : (memref<?xf32>) -> ()
    return
  }
}

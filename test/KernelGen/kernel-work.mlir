// RUN: shard-opt %s --spmd-name-locations --spmd-mark-kernels --canonicalize --split-input-file | FileCheck %s

// A product by pointers: 2 * 8 * 16 * 32 operations; three buffers, once each.
// What only the kernel uses is not counted.
// CHECK-LABEL: func.func @main(
//   CHECK-DAG:   %[[BYTES:.*]] = arith.constant 3584 : i64
//   CHECK-DAG:   %[[OPERATIONS:.*]] = arith.constant 8192 : i64
//       CHECK:   call @shardc_mark_end(%[[BYTES]], %[[OPERATIONS]])
func.func @main(%a: memref<8x32xf32>, %b: memref<32x16xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %one = arith.constant 1.0 : f32
  %panel = memref.alloc() : memref<1024xf32>
  %address = memref.extract_aligned_pointer_as_index %b : memref<32x16xf32> -> index
  %number = arith.index_cast %address : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr
  scf.for %i = %c0 to %c8 step %c1 {
    %row = memref.subview %a[%i, 0] [1, 32] [1, 1] : memref<8x32xf32> to memref<32xf32, strided<[1], offset: ?>>
    memref.store %one, %panel[%i] : memref<1024xf32>
    %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%before = %zero) -> vector<16xf32> {
      %k64 = arith.index_cast %k : index to i64
      %line = llvm.getelementptr %pointer[%k64] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<16 x f32>
      %y = llvm.load %line : !llvm.ptr -> vector<16xf32>
      %x = memref.load %row[%k] : memref<32xf32, strided<[1], offset: ?>>
      %xs = vector.broadcast %x : f32 to vector<16xf32>
      %after = vector.fma %xs, %y, %before : vector<16xf32>
      scf.yield %after : vector<16xf32>
    }
    vector.store %sum, %c[%i, %c0] : memref<8x16xf32>, vector<16xf32>
  } loc("model.py":1:1)
  return
}

// -----

// Sizes that the program has when it runs; the last tile is taken for a whole one.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:[a-z0-9]*]]: memref<?x4xf32>
//       CHECK:   scf.for
//       CHECK:   %[[TILES:.*]] = arith.ceildivsi
//       CHECK:   %[[SOME:.*]] = arith.maxsi %[[TILES]]
//       CHECK:   %[[SUMS:.*]] = arith.muli %[[SOME]], %c16
//       CHECK:   %[[N:.*]] = memref.dim %[[A]], %c0
//       CHECK:   call @shardc_mark_end(
func.func @main(%a: memref<?x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c4 {
    %rest = arith.subi %n, %i : index
    %size = arith.minsi %rest, %c4 : index
    scf.for %j = %c0 to %size step %c1 {
      %row = arith.addi %i, %j : index
      %x = vector.load %a[%row, %c0] : memref<?x4xf32>, vector<4xf32>
      %y = arith.addf %x, %x : vector<4xf32>
      vector.store %y, %a[%row, %c0] : memref<?x4xf32>, vector<4xf32>
    }
  } loc("model.py":1:1)
  return
}

// -----

// How often a loop adds is in the data; views of one buffer are no more than
// it: 64 bytes are read, 32 written.
// CHECK-LABEL: func.func @main(
//   CHECK-DAG:   %[[BYTES:.*]] = arith.constant 96 : i64
//   CHECK-DAG:   %[[UNKNOWN:.*]] = arith.constant -1 : i64
//       CHECK:   call @shardc_mark_end(%[[BYTES]], %[[UNKNOWN]])
func.func @main(%a: memref<16xf32>, %b: memref<8xf32>, %count: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %front = memref.subview %a[0] [12] [1] : memref<16xf32> to memref<12xf32, strided<[1]>>
  %back = memref.subview %a[4] [12] [1] : memref<16xf32> to memref<12xf32, strided<[1], offset: 4>>
  %n = memref.load %count[%c0] : memref<1xindex>
  scf.for %i = %c0 to %c1 step %c1 {
    %m = arith.addi %n, %i : index
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %front[%j] : memref<12xf32, strided<[1]>>
      %y = memref.load %back[%j] : memref<12xf32, strided<[1], offset: 4>>
      %z = arith.addf %x, %y : f32
      memref.store %z, %b[%j] : memref<8xf32>
    }
  } loc("model.py":1:1)
  return
}

// -----

// Masked accesses, which do not say that they read or write.
// CHECK-LABEL: func.func @main(
//   CHECK-DAG:   %[[BYTES:.*]] = arith.constant 48 : i64
//       CHECK:   call @shardc_mark_end(%[[BYTES]], %
func.func @main(%a: memref<6xf32>, %b: memref<6xf32>) {
  %c6 = arith.constant 6 : index
  %mask = vector.create_mask %c6 : vector<8xi1>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %from = memref.extract_aligned_pointer_as_index %a : memref<6xf32> -> index
  %from64 = arith.index_cast %from : index to i64
  %source = llvm.inttoptr %from64 : i64 to !llvm.ptr
  %to = memref.extract_aligned_pointer_as_index %b : memref<6xf32> -> index
  %to64 = arith.index_cast %to : index to i64
  %target = llvm.inttoptr %to64 : i64 to !llvm.ptr
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %x = llvm.intr.masked.load %source, %mask, %zero {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    %y = arith.addf %x, %x : vector<8xf32>
    llvm.intr.masked.store %y, %target, %mask {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  } loc("model.py":1:1)
  return
}

// RUN: shard-opt %s --split-input-file --spmd-fold-addresses | FileCheck %s

// A part of the arena is so many bytes behind its beginning, and what shows it
// otherwise has the same address.
// CHECK-LABEL: func.func @part(
//  CHECK-SAME:   %[[ARENA:[^:]*]]: !llvm.ptr
//   CHECK-DAG:   %[[BYTES:.*]] = arith.constant 128
//       CHECK:   %[[AT:.*]] = arith.index_cast %[[BYTES]] : index to i64
//       CHECK:   %[[PART:.*]] = llvm.getelementptr %[[ARENA]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//   CHECK-NOT:   memref
//   CHECK-NOT:   insertvalue
//       CHECK:   llvm.call @take(%[[PART]])
//       CHECK:   llvm.call @take(%[[PART]])
llvm.func @take(!llvm.ptr)
func.func @part(%arena: !llvm.ptr, %empty: !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>) {
  %bytes = arith.constant 128 : index
  %0 = llvm.insertvalue %arena, %empty[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = llvm.insertvalue %arena, %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %2 = builtin.unrealized_conversion_cast %1 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xi8>
  %view = memref.view %2[%bytes][] : memref<?xi8> to memref<4x8xf32>
  %3 = memref.extract_aligned_pointer_as_index %view : memref<4x8xf32> -> index
  %4 = arith.index_cast %3 : index to i64
  %5 = llvm.inttoptr %4 : i64 to !llvm.ptr
  llvm.call @take(%5) : (!llvm.ptr) -> ()
  %row = memref.subview %view[2, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: 16>>
  %line = memref.collapse_shape %row [[0, 1]] : memref<1x8xf32, strided<[8, 1], offset: 16>> into memref<8xf32, strided<[1], offset: 16>>
  %6 = memref.extract_aligned_pointer_as_index %line : memref<8xf32, strided<[1], offset: 16>> -> index
  %7 = arith.index_cast %6 : index to i64
  %8 = llvm.inttoptr %7 : i64 to !llvm.ptr
  llvm.call @take(%8) : (!llvm.ptr) -> ()
  return
}

// -----

// What is read as a number is made one once.
// CHECK-LABEL: func.func @number(
//  CHECK-SAME:   %[[ARENA:[^:]*]]: !llvm.ptr
//       CHECK:   %[[BITS:.*]] = llvm.ptrtoint %[[ARENA]]
//       CHECK:   %[[NUMBER:.*]] = arith.index_cast %[[BITS]] : i64 to index
//   CHECK-NOT:   ptrtoint
//       CHECK:   call @take(%[[NUMBER]], %[[NUMBER]])
func.func private @take(index, index)
func.func @number(%arena: !llvm.ptr, %empty: !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>) {
  %0 = llvm.insertvalue %arena, %empty[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = builtin.unrealized_conversion_cast %0 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<8xf32>
  %2 = memref.extract_aligned_pointer_as_index %1 : memref<8xf32> -> index
  %part = memref.subview %1[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %3 = memref.extract_aligned_pointer_as_index %part : memref<4xf32, strided<[1], offset: 4>> -> index
  func.call @take(%2, %3) : (index, index) -> ()
  return
}

// -----

// A buffer that is used by itself stays, and so does the address of one that
// another function gives.
// CHECK-LABEL: func.func @stays(
//  CHECK-SAME:   %[[ARENA:[^:]*]]: !llvm.ptr, %{{[^:]*}}: {{[^,]*}}, ptr, i64, array<1 x i64>, array<1 x i64>)>, %[[GIVEN:[^:]*]]: memref<8xf32>
//       CHECK:   %[[BUFFER:.*]] = builtin.unrealized_conversion_cast
//       CHECK:   memref.load %[[BUFFER]]
//       CHECK:   memref.extract_aligned_pointer_as_index %[[GIVEN]]
func.func @stays(%arena: !llvm.ptr, %empty: !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, %given: memref<8xf32>) -> (f32, index) {
  %at = arith.constant 0 : index
  %0 = llvm.insertvalue %arena, %empty[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = builtin.unrealized_conversion_cast %0 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<8xf32>
  %2 = memref.load %1[%at] : memref<8xf32>
  %3 = memref.extract_aligned_pointer_as_index %given : memref<8xf32> -> index
  return %2, %3 : f32, index
}

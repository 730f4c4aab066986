// RUN: shard-opt %s --spmd-share-loops --spmd-call-marks --split-input-file | FileCheck %s

// What the body reads crosses in slots of 8 bytes; constants are repeated. Who is called gets the context.
// CHECK-LABEL: func.func private @__shardc_shared_0(
//  CHECK-SAME:   %[[ENV:.*]]: !llvm.ptr, %[[PART:.*]]: i64)
//   CHECK-DAG:   %[[SLOT:.*]] = llvm.getelementptr %[[ENV]][{{[0-9]}}]
//   CHECK-DAG:   arith.index_cast %[[PART]] : i64 to index
//       CHECK:   memref.store
//       CHECK:   return
// CHECK-LABEL: func.func private @kernel(
//  CHECK-SAME:   %[[CONTEXT:[^:]*]]: !llvm.ptr, %{{[^:]*}}: memref<?xf32, strided<[?], offset: ?>>, %{{[^:]*}}: f32)
//       CHECK:   %[[PLACE:.*]] = llvm.alloca
//       CHECK:   %[[BODY:.*]] = builtin.unrealized_conversion_cast %{{.*}} : (!llvm.ptr, i64) -> () to !llvm.ptr
//       CHECK:   call @shardrt_share(%[[CONTEXT]], %[[BODY]], %[[PLACE]], %{{.*}})
//   CHECK-NOT:   scf.for
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[STEP:[^:]*]]: !llvm.ptr
//       CHECK:   call @kernel(%[[STEP]], %{{.*}}, %{{.*}})
func.func private @kernel(%a: memref<?xf32, strided<[?], offset: ?>>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %part = %c0 to %c4 step %c1 {
    memref.store %x, %a[%part] : memref<?xf32, strided<[?], offset: ?>>
  } {kernel.parts = 4 : i64}
  return
}
func.func private @shardc_step(%context: !llvm.ptr, %a: memref<?xf32, strided<[?], offset: ?>>, %x: f32) {
  call @kernel(%a, %x) : (memref<?xf32, strided<[?], offset: ?>>, f32) -> ()
  return
}

// -----

// A vector cannot cross: the loop stays.
// CHECK-LABEL: func.func private @shardc_step(
//   CHECK-NOT:   shardrt_share
//       CHECK:   scf.for
//   CHECK-NOT:   @__shardc_shared
func.func private @shardc_step(%context: !llvm.ptr, %a: memref<4xvector<4xf32>>, %x: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %part = %c0 to %c4 step %c1 {
    memref.store %x, %a[%part] : memref<4xvector<4xf32>>
  } {kernel.parts = 4 : i64}
  return
}

// -----

// CHECK: llvm.mlir.global external constant @shardc_traced_kernels("add\00model.py:7\00dot_general\00\00")
// CHECK: llvm.mlir.global external constant @shardc_traced_kernels_length(2 : i64)
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CONTEXT:.*]]: !llvm.ptr)
//       CHECK:   %[[NUMBER:.*]] = arith.constant 1 : i64
//       CHECK:   call @shardrt_mark(%[[CONTEXT]], %[[NUMBER]])
//       CHECK:   %[[BYTES:.*]] = arith.constant 64 : i64
//       CHECK:   call @shardrt_mark_end(%[[CONTEXT]], %[[BYTES]], %[[NUMBER]])
//   CHECK-NOT:   @shardc_mark
module attributes {kernel.kernels = [["add", "model.py:7"], ["dot_general", ""]]} {
  func.func private @shardc_mark(i64)
  func.func private @shardc_mark_end(i64, i64)
  func.func private @shardc_step(%context: !llvm.ptr) {
    %1 = arith.constant 1 : i64
    call @shardc_mark(%1) : (i64) -> ()
    %bytes = arith.constant 64 : i64
    call @shardc_mark_end(%bytes, %1) : (i64, i64) -> ()
    return
  }
}

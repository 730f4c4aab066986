// RUN: shard-opt %s --spmd-merge-step --split-input-file | FileCheck %s

// What the step does stands where it was called.
// CHECK-LABEL: func.func @shardc_main(
//  CHECK-SAME:   %[[CONTEXT:[^:]*]]: !llvm.ptr, %[[INPUTS:[^:]*]]: !llvm.ptr
//       CHECK:   %[[A:.*]] = builtin.unrealized_conversion_cast %[[INPUTS]]
//       CHECK:   %[[STATUS:.*]] = llvm.call @shardrt_work(%[[CONTEXT]])
//       CHECK:   memref.store %{{.*}}, %[[A]][]
//       CHECK:   return %[[STATUS]] : i32
//   CHECK-NOT: @shardc_step
llvm.func @shardrt_work(!llvm.ptr) -> i32
func.func @shardc_main(%context: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
  %a = builtin.unrealized_conversion_cast %inputs : !llvm.ptr to memref<f32>
  %0 = call @shardc_step(%context, %a) : (!llvm.ptr, memref<f32>) -> i32
  return %0 : i32
}
func.func private @shardc_step(%context: !llvm.ptr, %a: memref<f32>) -> i32 {
  %x = arith.constant 1.0 : f32
  %status = llvm.call @shardrt_work(%context) : (!llvm.ptr) -> i32
  memref.store %x, %a[] : memref<f32>
  return %status : i32
}

// -----

// A step of several blocks stays.
// CHECK-LABEL: func.func @shardc_main(
//       CHECK:   call @shardc_step(
//       CHECK: func.func private @shardc_step(
func.func @shardc_main(%context: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
  %0 = call @shardc_step(%context) : (!llvm.ptr) -> i32
  return %0 : i32
}
func.func private @shardc_step(%context: !llvm.ptr) -> i32 {
  %fine = arith.constant 0 : i32
  cf.br ^next
^next:
  return %fine : i32
}

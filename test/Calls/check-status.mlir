// RUN: shard-opt %s --spmd-check-status | FileCheck %s

// A status that is not zero is returned; where there is no memory, the status for that.
// CHECK-LABEL: llvm.func @shardc_step(
//       CHECK:   %[[STATUS:.*]] = llvm.call @shardrt_all_reduce
//       CHECK:   %[[ZERO:.*]] = llvm.mlir.zero : i32
//       CHECK:   %[[FINE:.*]] = llvm.icmp "eq" %[[STATUS]], %[[ZERO]] : i32
//       CHECK:   llvm.cond_br %[[FINE]], ^[[NEXT:.*]], ^[[FAILED:.*]](%[[STATUS]] : i32)
//       CHECK: ^[[NEXT]]:
//       CHECK:   %[[BUFFER:.*]] = llvm.call @shardrt_alloc
//       CHECK:   %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
//       CHECK:   %[[MEMORY:.*]] = llvm.mlir.constant(9 : i32) : i32
//       CHECK:   %[[GOT:.*]] = llvm.icmp "ne" %[[BUFFER]], %[[NONE]] : !llvm.ptr
//       CHECK:   llvm.cond_br %[[GOT]], ^[[REST:.*]], ^[[FAILED]](%[[MEMORY]] : i32)
//       CHECK: ^[[REST]]:
//       CHECK:   llvm.store
//       CHECK: ^[[FAILED]](%[[CODE:.*]]: i32):
//       CHECK:   llvm.return %[[CODE]] : i32
llvm.func @shardrt_all_reduce(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64) -> i32
llvm.func @shardrt_alloc(!llvm.ptr, i64) -> !llvm.ptr
llvm.func @shardc_step(%context: !llvm.ptr, %buffer: !llvm.ptr, %number: i64, %ok: i32) -> i32 {
  %0 = llvm.call @shardrt_all_reduce(%context, %number, %buffer, %buffer, %number)
      : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64) -> i32
  %1 = llvm.call @shardrt_alloc(%context, %number) : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.store %number, %1 : i64, !llvm.ptr
  llvm.return %ok : i32
}

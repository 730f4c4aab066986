// RUN: shard-opt %s --spmd-emulate-nvvm | FileCheck %s
// RUN: shard-opt %s --spmd-emulate-nvvm=check=true | FileCheck %s --check-prefix=CHECKED

// Who a thread is comes from the thread, arguments from their slots; a barrier is a call. Addresses lose their tag.
// CHECK-LABEL: llvm.func internal @__shardc_kernel_shift(
//  CHECK-SAME:   %[[THREAD:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr)
//       CHECK:   %[[SLOT:.*]] = llvm.getelementptr %[[ARGS]][0]
//       CHECK:   %[[X:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
//       CHECK:   %[[SHARED:.*]] = llvm.getelementptr %[[THREAD]][48]
//       CHECK:   %[[BASE:.*]] = llvm.load %[[SHARED]]
//       CHECK:   %[[ID:.*]] = llvm.getelementptr %[[THREAD]][0]
//       CHECK:   llvm.load %[[ID]] : !llvm.ptr -> i32
//       CHECK:   %[[FROM:.*]] = llvm.getelementptr %[[X]]
//       CHECK:   %[[BITS:.*]] = llvm.ptrtoint %[[FROM]]
//       CHECK:   %[[HOST:.*]] = llvm.xor %[[BITS]], %{{.*}} : i64
//       CHECK:   %[[ADDRESS:.*]] = llvm.inttoptr %[[HOST]]
//       CHECK:   llvm.load %[[ADDRESS]]
//       CHECK:   llvm.call @shardrt_emulated_barrier(%[[THREAD]],
//   CHECK-NOT:   nvvm
// Votes are calls as well.
// CHECK-LABEL: llvm.func internal @__shardc_kernel_votes(
//       CHECK:   %[[YES:.*]] = llvm.zext %{{.*}} : i1 to i32
//       CHECK:   %[[ANY:.*]] = llvm.call @shardrt_emulated_vote(%{{.*}}, %{{.*}}, %[[YES]],
//       CHECK:   llvm.trunc %[[ANY]] : i32 to i1
//       CHECK:   llvm.call @shardrt_emulated_vote(
// 256 bytes of shared memory, and none; threads meet.
//       CHECK: llvm.mlir.global external constant @shardc_kernel_traits(dense<[256, 1, 0, 1]> : tensor<4xi64>)
//       CHECK: llvm.mlir.global external constant @shardc_kernel_functions()
//   CHECK-NOT: gpu.module

// CHECKED-LABEL: @__shardc_kernel_shift(
//       CHECKED:   %[[HOST:.*]] = llvm.call @shardrt_emulated_global(
//       CHECKED:   llvm.load %[[HOST]]
//       CHECKED:   llvm.call @shardrt_emulated_shared(
//       CHECKED:   llvm.store
module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<64 x i32>
    llvm.func @shift(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %from = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      %v = llvm.load %from : !llvm.ptr -> i32
      %to = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %v, %to : i32, !llvm.ptr<3>
      nvvm.barrier0
      llvm.return
    }
    llvm.func @votes(%x: !llvm.ptr, %mask: i32, %yes: i1) attributes {gpu.kernel, nvvm.kernel} {
      %any = nvvm.vote.sync any %mask, %yes -> i1
      %who = nvvm.vote.sync ballot %mask, %any -> i32
      llvm.store %who, %x : i32, !llvm.ptr
      llvm.return
    }
  }
}

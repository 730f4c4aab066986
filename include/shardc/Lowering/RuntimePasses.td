//===- RuntimePasses.td - Communication to runtime calls ---*- tablegen -*-===//
#ifndef SHARDC_LOWERING_RUNTIMEPASSES_TD
#define SHARDC_LOWERING_RUNTIMEPASSES_TD

include "mlir/Pass/PassBase.td"

def LowerCommunicationPass : Pass<"spmd-lower-communication", "::mlir::ModuleOp"> {
  let summary = "Number the communication sites and give each a destination.";
  let description = [{
    Before: communication ops of the local view. After: `spmd.run_site` into a tensor of its own, one
    number an op, with the tables of all sites as module attributes (`spmd.site_words`,
    `spmd.site_strings`: runtime/include/shardrt/Sites.h); `spmd.dilate` is an insertion with a
    stride; `tensor.dim` of what the function or a loop is given is `spmd.lookup` where its
    sharding says it.
    ```mlir
    %1 = spmd.all_reduce sum %0 along ["x"] on @mesh : tensor<8xf32>
    // becomes
    %e = bufferization.alloc_tensor() : tensor<8xf32>
    %1 = spmd.run_site 0 ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def MarginsInPlacePass : Pass<"spmd-margins-in-place", "::mlir::ModuleOp"> {
  let summary = "Let blocks lie where their margins are added.";
  let description = [{
    Before: buffers, with loop-carried ones in turns. An exchange that keeps the own block copies it into
    its result. After: where nothing forbids it, the block is a part of the result from the beginning, and the exchange
    fills the margins alone (`inPlace` in the site table). A buffer that a loop carries gets margins as well;
    one that a loop exchanges and then writes over gets a twin first, and the loop carries both in turns.
    ```mlir
    %x = memref.alloc() : memref<8x4xf32>
    linalg.generic ... outs(%x : memref<8x4xf32>)
    %h = memref.alloc() : memref<10x4xf32>
    spmd.run_site 0 ins(%x : memref<8x4xf32>) outs(%h : memref<10x4xf32>)
    // becomes
    %h = memref.alloc() : memref<10x4xf32>
    %x = memref.subview %h[1, 0] [8, 4] [1, 1] : memref<10x4xf32> to memref<8x4xf32, strided<[4, 1], offset: 4>>
    linalg.generic ... outs(%x : memref<8x4xf32, strided<[4, 1], offset: 4>>)
    spmd.run_site 0 ins(%h : memref<10x4xf32>) outs(%h : memref<10x4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::shardc::spmd::SpmdDialect"];
}

def ReleaseLatePass : Pass<"spmd-release-late", "::mlir::ModuleOp"> {
  let summary = "Wait for the readers of an exchange when its source changes.";
  let description = [{
    Before: buffers. `spmd.run_site` returns when nobody reads its source any more. After: where work stands between it and what
    writes to the source (or the end of the block), it returns when its own result is complete (`releasedLater` in the site table), and
    `spmd.release_site` before that writer waits for the readers. `--spmd-plan-arena` brings releases forward that would make the arena larger.
    ```mlir
    spmd.run_site 0 ins(%x : memref<8x4xf32>) outs(%h : memref<10x4xf32>)
    linalg.generic ins(%h ...) outs(%y ...)
    spmd.release_site 0 of %x : memref<8x4xf32>
    linalg.generic ins(%y ...) outs(%x ...)
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def CallRuntimePass : Pass<"spmd-call-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn sites and lookups on buffers into calls of the runtime.";
  let description = [{
    Before: `@main` on memrefs (inputs, then results, then the arena), with `spmd.run_site` and
    `spmd.lookup`. After: `@shardc_main(ctx, inputs, outputs) -> i32` builds the memrefs from
    pointers and calls `@shardc_step`; every site is a call of an entry point of
    shardrt/EntryPoints.def; tables are constants read by rank; buffers without a bound come
    from the rank's pool. Refuses: a site on a buffer that is not dense (bufferisation makes it so).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def ShareLoopsPass : Pass<"spmd-share-loops", "::mlir::ModuleOp"> {
  let summary = "Let the threads of a rank share parallel loops.";
  let description = [{
    Before: `@shardc_step`, and functions that it calls, with loops marked `spmd.parts`. After: the body of each is a function of an
    environment (what it reads from outside, in slots of 8 bytes) and the number of a part, and `shardrt_share` calls it for all
    parts. Functions that hold such loops get the runtime's context as their first argument. A loop that reads what cannot be passed so
    (a vector) stays as it is, and runs on one thread.
    ```mlir
    scf.for %part = %c0 to %c2 step %c1 {
      memref.store %x, %buffer[%part] : memref<2xf32>
    } {spmd.parts = 2 : i64}
    // becomes
    call @shardrt_share(%ctx, %function, %env, %c2) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def CallMarksPass : Pass<"spmd-call-marks", "::mlir::ModuleOp"> {
  let summary = "Turn marks of kernels into calls of the runtime, and export their names.";
  let description = [{
    Before: `@shardc_step` with calls of `@shardc_mark` (spmd-mark-kernels). After: calls of `shardrt_mark`, and constants
    `shardc_traced_kernels` (for each number a name and a source line, each ended by NUL) and `shardc_traced_kernels_length`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def CallDevicePass : Pass<"spmd-call-device", "::mlir::ModuleOp"> {
  let summary = "Turn launches and device memory into calls of the runtime.";
  let description = [{
    Before: `@shardc_step` with `gpu.launch` on buffers that are the device's. After: each launch is a kernel in `gpu.module
    @shardc_kernels` and a call of `shardrt_launch` with arguments of 8 bytes; loads on the host read one element
    back; constants, arguments and results get places on the device.
    Kernels that the runtime launches at sites (shardrt/CommunicationKernels.h) are added.
    Tables `shardc_kernel_table` and `shardc_kernel_names` describe the kernels. Refuses: a kernel that takes more than 512
    arguments, or a value that is neither a scalar nor a memref.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
}

def CheckStatusPass : Pass<"spmd-check-status", "::mlir::ModuleOp"> {
  let summary = "Return at once where the runtime reports a failure; write the site tables.";
  let description = [{
    Before: the LLVM dialect with calls of entry points whose i32 result is a status, or whose result
    is memory. After: each such call is followed by a branch to a return of that status where it is not
    zero, or of the one for memory where there is none, so that no rank goes on with data it did not
    receive or memory it did not get. The site tables are constants (`shardc_sites`,
    `shardc_strings`).

    ```mlir
    // before
    llvm.func @shardrt_alloc(!llvm.ptr, i64) -> !llvm.ptr
    llvm.func @shardc_step(%context: !llvm.ptr, %bytes: i64, %ok: i32) -> i32 {
      %0 = llvm.call @shardrt_alloc(%context, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
      llvm.store %bytes, %0 : i64, !llvm.ptr
      llvm.return %ok : i32
    }
    // after
    llvm.func @shardrt_alloc(!llvm.ptr, i64) -> !llvm.ptr
    llvm.func @shardc_step(%context: !llvm.ptr, %bytes: i64, %ok: i32) -> i32 {
      %0 = llvm.call @shardrt_alloc(%context, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
      %1 = llvm.mlir.zero : !llvm.ptr
      %2 = llvm.mlir.constant(9 : i32) : i32
      %3 = llvm.icmp "ne" %0, %1 : !llvm.ptr
      llvm.cond_br %3, ^bb1, ^bb2(%2 : i32)
    ^bb1:  // pred: ^bb0
      llvm.store %bytes, %0 : i64, !llvm.ptr
      llvm.return %ok : i32
    ^bb2(%4: i32):  // pred: ^bb0
      llvm.return %4 : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // SHARDC_LOWERING_RUNTIMEPASSES_TD

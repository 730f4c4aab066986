//===- Passes.td - Communication to runtime calls ----------*- tablegen -*-===//
#ifndef SHARDC_CALLS_PASSES_TD
#define SHARDC_CALLS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerCommunicationPass : Pass<"spmd-lower-communication", "::mlir::ModuleOp"> {
  let summary = "Number the communication sites and give each a destination.";
  let description = [{
    Before: communication ops of the local view. After: `kernel.run_site` into a tensor of its own, one
    number an op; the module's `kernel.sites` holds what each site is (`#kernel.site`); `local.dilate` is an insertion with a
    stride; `tensor.dim` of what the function or a loop is given is `local.lookup` where its
    sharding says it.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after, among others
    %0 = bufferization.alloc_tensor() : tensor<4xf32>
    %1 = kernel.run_site 0 ins(%arg0 : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::shardc::spmd::KernelDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def CallRuntimePass : Pass<"spmd-call-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn sites and lookups on buffers into calls of the runtime.";
  let description = [{
    Before: `@main` on memrefs (inputs, then results, then the arena), with `kernel.run_site` and
    `local.lookup`. After: `@shardc_main(ctx, inputs, outputs) -> i32` builds the memrefs from
    pointers and calls `@shardc_step`; every site is a call of an entry point of
    shardrt/EntryPoints.def, as are sorts (`kernel.lines` with a `kernel.line_order`); tables are
    constants read by rank; buffers without a bound come from the rank's pool. Refuses: a site on a buffer that is not dense (bufferisation makes it so).

    ```mlir
    // before
    module attributes {kernel.entry_inputs = [{} ], kernel.entry_outputs = [],
                       kernel.sites = #kernel.site_table<<["x"=2]>, []>} {
      func.func @main(%n: memref<1xindex>, %arena: memref<?xi8>) {
        %c0 = arith.constant 0 : index
        %size = memref.load %n[%c0] : memref<1xindex>
        %buffer = memref.alloc(%size) : memref<?xf32>
        memref.dealloc %buffer : memref<?xf32>
        return
      }
    }
    // after, among others
    func.func private @shardc_step(%arg0: !llvm.ptr, %arg1: memref<1xindex>, %arg2: memref<?xi8>) -> i32 attributes {llvm.linkage = #llvm.linkage<internal>} {
    ...
    %0 = memref.load %arg1[%c0] : memref<1xindex>
    ...
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.muli %c4_i64, %1 : i64
    %4 = call @shardrt_alloc(%arg0, %2, %3) : (!llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
    ...
    call @shardrt_free(%arg0, %16) : (!llvm.ptr, !llvm.ptr) -> ()
    ...
    return %c0_i32 : i32
    ...
    func.func @shardc_main(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr) -> i32 {
    ...
    %14 = call @shardrt_arena(%arg0, %13) : (!llvm.ptr, i64) -> !llvm.ptr
    ...
    %25 = call @shardc_step(%arg0, %12, %24) : (!llvm.ptr, memref<1xindex>, memref<?xi8>) -> i32
    return %25 : i32
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads of a rank that share what the runtime does.">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def ShareLoopsPass : Pass<"spmd-share-loops", "::mlir::ModuleOp"> {
  let summary = "Let the threads of a rank share parallel loops.";
  let description = [{
    Before: `@shardc_step`, and functions that it calls, with loops marked `kernel.parts`. After: the body of each is a function of an
    environment (what it reads from outside, in slots of 8 bytes) and the number of a part, and `shardrt_share` calls it for all
    parts. Functions that hold such loops get the runtime's context as their first argument. A loop that reads what cannot be passed so
    (a vector) stays as it is, and runs on one thread.

    ```mlir
    // before
    func.func private @shardc_step(%context: !llvm.ptr, %a: memref<?xf32>, %x: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %part = %c0 to %c4 step %c1 {
        memref.store %x, %a[%part] : memref<?xf32>
      } {kernel.parts = 4 : i64}
      return
    }
    // after, among others
    func.func private @__shardc_shared_0(%arg0: !llvm.ptr, %arg1: i64) attributes {llvm.linkage = #llvm.linkage<internal>} {
    ...
    memref.store %3, %17[%18] : memref<?xf32>
    ...
    func.func private @shardc_step(%arg0: !llvm.ptr, %arg1: memref<?xf32>, %arg2: f32) {
    ...
    call @shardrt_share(%arg0, %10, %1, %c4_i64) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def CallMarksPass : Pass<"spmd-call-marks", "::mlir::ModuleOp"> {
  let summary = "Turn marks of kernels into calls of the runtime, and export their names.";
  let description = [{
    Before: `@shardc_step` with calls of `@shardc_mark` and `@shardc_mark_end` (spmd-mark-kernels). After: calls of `shardrt_mark` and
    `shardrt_mark_end`, and constants
    `shardc_traced_kernels` (for each number a name and a source line, each ended by NUL) and `shardc_traced_kernels_length`.

    ```mlir
    // before
    module attributes {kernel.kernels = [["add", "model.py:7"], ["dot_general", ""]]} {
      func.func private @shardc_mark(i64)
      func.func private @shardc_step(%context: !llvm.ptr) {
        %1 = arith.constant 1 : i64
        call @shardc_mark(%1) : (i64) -> ()
        return
      }
    }
    // after
    llvm.mlir.global external constant @shardc_traced_kernels("add\00model.py:7\00dot_general\00\00") {addr_space = 0 : i32}
    llvm.mlir.global external constant @shardc_traced_kernels_length(2 : i64) {addr_space = 0 : i32} : i64
    func.func private @shardc_step(%arg0: !llvm.ptr) {
      %c1_i64 = arith.constant 1 : i64
      call @shardrt_mark(%arg0, %c1_i64) : (!llvm.ptr, i64) -> ()
      return
    }
    func.func private @shardrt_mark(!llvm.ptr, i64)
    ```
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

    ```mlir
    // before
    module attributes {kernel.entry_inputs = [], kernel.entry_outputs = [{} ]} {
      func.func private @shardc_step(%ctx: !llvm.ptr, %x: memref<?xf32>) -> i32 {
        %c1 = arith.constant 1 : index
        %c32 = arith.constant 32 : index
        %ok = arith.constant 0 : i32
        gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%t, %u, %w) in (%g = %c32, %h = %c1, %i = %c1) {
          %one = arith.constant 1.0 : f32
          memref.store %one, %x[%t] : memref<?xf32>
          gpu.terminator
        }
        return %ok : i32
      }
      func.func @shardc_main(%ctx: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
        %x = builtin.unrealized_conversion_cast %outputs : !llvm.ptr to memref<?xf32>
        %s = call @shardc_step(%ctx, %x) : (!llvm.ptr, memref<?xf32>) -> i32
        return %s : i32
      }
    }
    // after, among others
    llvm.mlir.global external constant @shardc_kernel_table(dense<[2, 1, 32, 0, 0, 0]> : tensor<6xi64>) {addr_space = 0 : i32, alignment = 8 : i64} : !llvm.array<6 x i64>
    llvm.mlir.global external constant @shardc_kernel_names("points_0\00<stdin>:6\00\00") {addr_space = 0 : i32}
    func.func private @shardc_step(%arg0: !llvm.ptr, %arg1: memref<?xf32>) -> i32 {
    ...
    llvm.store %4, %6 : !llvm.ptr, !llvm.ptr
    ...
    llvm.store %5, %7 : i64, !llvm.ptr
    ...
    %11 = call @shardrt_launch(%arg0, %c0_i64, %8, %9, %10, %2, %c2_i64) : (!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, i64) -> i32
    ...
    %5 = call @shardrt_stage_output(%arg0, %4, %2) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
    ...
    %16 = call @shardc_step(%arg0, %15) : (!llvm.ptr, memref<?xf32>) -> i32
    %17 = call @shardrt_stage_results(%arg0, %16) : (!llvm.ptr, i32) -> i32
    ...
    gpu.module @shardc_kernels {
    gpu.func @points_0(%arg0: !llvm.ptr, %arg1: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    ...
    memref.store %cst, %9[%thread_id_x] : memref<?xf32>
    gpu.return
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
}

def MergeStepPass : Pass<"spmd-merge-step", "::mlir::ModuleOp"> {
  let summary = "Make one function of the artifact's entry and the step that it calls.";
  let description = [{
    Before: `@shardc_main` calls `@shardc_step`, once. After: its ops are where the call was. Does nothing where one of them has
    several blocks.

    ```mlir
    // before
    func.func @shardc_main(%context: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
      %a = builtin.unrealized_conversion_cast %inputs : !llvm.ptr to memref<f32>
      %0 = call @shardc_step(%context, %a) : (!llvm.ptr, memref<f32>) -> i32
      return %0 : i32
    }
    func.func private @shardc_step(%context: !llvm.ptr, %a: memref<f32>) -> i32 {
      %x = arith.constant 1.0 : f32
      %fine = arith.constant 0 : i32
      memref.store %x, %a[] : memref<f32>
      return %fine : i32
    }
    // after
    func.func @shardc_main(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr) -> i32 {
      %0 = builtin.unrealized_conversion_cast %arg1 : !llvm.ptr to memref<f32>
      %cst = arith.constant 1.000000e+00 : f32
      %c0_i32 = arith.constant 0 : i32
      memref.store %cst, %0[] : memref<f32>
      return %c0_i32 : i32
    }
    ```
  }];
}

def FoldAddressesPass : Pass<"spmd-fold-addresses", "::mlir::func::FuncOp"> {
  let summary = "Read the address of a buffer where it comes from.";
  let description = [{
    Before: `memref.extract_aligned_pointer_as_index` of views of a buffer whose descriptor was put together here. After: the
    pointer that was put in, and that of a `memref.view` so many bytes behind it; views and descriptors that nothing else reads are
    gone. Other buffers stay as they are.

    ```mlir
    // before
    func.func @f(%arena: !llvm.ptr, %empty: !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, %at: index) -> index {
      %0 = llvm.insertvalue %arena, %empty[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
      %1 = builtin.unrealized_conversion_cast %0 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xi8>
      %2 = memref.view %1[%at][] : memref<?xi8> to memref<8xf32>
      %3 = memref.extract_aligned_pointer_as_index %2 : memref<8xf32> -> index
      return %3 : index
    }
    // after
    func.func @f(%arg0: !llvm.ptr, %arg1: !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, %arg2: index) -> index {
      %0 = arith.index_cast %arg2 : index to i64
      %1 = llvm.getelementptr %arg0[%0] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %2 = llvm.ptrtoint %1 : !llvm.ptr to i64
      %3 = arith.index_cast %2 : i64 to index
      return %3 : index
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def LowerControlFlowPass : Pass<"spmd-lower-control-flow"> {
  let summary = "Turn structured loops and conditionals into branches, from the last to the first.";
  let description = [{
    MLIR's patterns of `convert-scf-to-cf`, in another order. What is behind a loop moves to a block of
    its own; from the last one on each op moves once, from the first one on once for each loop before it.

    ```mlir
    // before
    func.func @main(%c: i1, %x: memref<f32>, %v: f32) {
      scf.if %c {
        memref.store %v, %x[] : memref<f32>
      }
      return
    }
    // after
    func.func @main(%c: i1, %x: memref<f32>, %v: f32) {
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      memref.store %v, %x[] : memref<f32>
      cf.br ^bb2
    ^bb2:  // 2 preds: ^bb0, ^bb1
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
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

def VerifyLoweredPass : Pass<"spmd-verify-lowered", "::mlir::ModuleOp"> {
  let summary = "Check what translation relies on.";
  let description = [{
    Functions are of the LLVM dialect, and so is all that they hold; kernels have ops of NVVM as well.

    ```mlir
    // before
    llvm.func @main(%x: !llvm.ptr) {
      llvm.return
    }
    // after
    llvm.func @main(%x: !llvm.ptr) {
      llvm.return
    }
    ```
  }];
}

#endif // SHARDC_CALLS_PASSES_TD

//===- GpuPasses.td - Passes of the kernel generator for GPUs ---*- tablegen -*-===//
#ifndef SHARDC_KERNELGEN_GPUPASSES_TD
#define SHARDC_KERNELGEN_GPUPASSES_TD

include "mlir/Pass/PassBase.td"

def FuseProloguesPass : Pass<"spmd-fuse-prologues", "mlir::func::FuncOp"> {
  let summary = "Compute operands of products where these read them.";
  let description = [{
    Before: `linalg.generic` on tensors, fused. After: elementwise work whose one consumer is a product is part of it, where few
    blocks of the product read each of its elements (the other operand has 16 to 128 lines). Contractions so far had operands that are
    read as they are, or cast. Adds work: an element is computed by each block that reads it, one or two.

    ```mlir
    // before
    #rows = affine_map<(d0, d1) -> (d0, d1)>
    #columns = affine_map<(d0, d1) -> (d1)>
    #left = affine_map<(i, j, k) -> (i, k)>
    #right = affine_map<(i, j, k) -> (k, j)>
    #out = affine_map<(i, j, k) -> (i, j)>
    func.func @main(%a: tensor<512x256xf32>, %scale: tensor<256xf32>, %b: tensor<256x64xf32>, %e: tensor<512x256xf32>, %c: tensor<512x64xf32>) -> tensor<512x64xf32> {
      %0 = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
          ins(%a, %scale : tensor<512x256xf32>, tensor<256xf32>) outs(%e : tensor<512x256xf32>) {
      ^bb0(%x: f32, %s: f32, %o: f32):
        %1 = arith.mulf %x, %s : f32
        linalg.yield %1 : f32
      } -> tensor<512x256xf32>
      %2 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%0, %b : tensor<512x256xf32>, tensor<256x64xf32>) outs(%c : tensor<512x64xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %3 = arith.mulf %x, %y : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      } -> tensor<512x64xf32>
      return %2 : tensor<512x64xf32>
    }
    // after
    #map = affine_map<(d0, d1, d2) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2) -> (d2)>
    #map2 = affine_map<(d0, d1, d2) -> (d2, d1)>
    #map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @main(%arg0: tensor<512x256xf32>, %arg1: tensor<256xf32>, %arg2: tensor<256x64xf32>, %arg3: tensor<512x256xf32>, %arg4: tensor<512x64xf32>) -> tensor<512x64xf32> {
      %0 = linalg.generic {indexing_maps = [#map, #map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1, %arg2 : tensor<512x256xf32>, tensor<256xf32>, tensor<256x64xf32>) outs(%arg4 : tensor<512x64xf32>) {
      ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
        %1 = arith.mulf %in, %in_0 : f32
        %2 = arith.mulf %1, %in_1 : f32
        %3 = arith.addf %out, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<512x64xf32>
      return %0 : tensor<512x64xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def RoundCotangentsPass : Pass<"spmd-round-cotangents", "mlir::func::FuncOp"> {
  let summary = "Round gradients of outputs of attention to the 16 bits that tensor cores multiply.";
  let description = [{
    Before: `pairs.pair_step backward` on tensors, whose query, key and value are bf16 and whose gradient of outputs is f32. After: that one
    is rounded to bf16 where it is made, so that fusion makes it so at once, and kernels copy it as it is. Steps that have gradients of
    extras, which are no products, keep it. Programs that want f32 (`--precision=highest`) are compiled without this pass.

    ```mlir
    // before
    #q = affine_map<(q, k, d, e) -> (q, d)>
    #k = affine_map<(q, k, d, e) -> (k, d)>
    #v = affine_map<(q, k, d, e) -> (k, e)>
    #r = affine_map<(q, k, d, e) -> (q)>
    #o = affine_map<(q, k, d, e) -> (q, e)>
    func.func @main(%q: tensor<64x16xbf16>, %k: tensor<64x16xbf16>, %v: tensor<64x16xbf16>, %most: tensor<64xf32>, %delta: tensor<64xf32>, %dout: tensor<64x16xf32>,
                    %dq: tensor<64x16xf32>, %dk: tensor<64x16xf32>, %dv: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
      %c0 = arith.constant 0 : index
      %0:3 = pairs.pair_step softmax backward ins(%q, %k, %v : tensor<64x16xbf16>, tensor<64x16xbf16>, tensor<64x16xbf16>)
          rows(%most, %delta, %dout : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) at (%c0, %c0)
          outs(%dq, %dk, %dv : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>)
          maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
          score {
          ^bb0(%raw: f32, %i: i32, %j: i32):
            pairs.yield %raw : f32
          } slope {
          ^bb0(%ds: f32, %raw: f32, %i: i32, %j: i32):
            pairs.yield %ds : f32
          } -> tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
      return %0#0, %0#1, %0#2 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
    }
    // after, among others
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<64x16xf32>) outs(%0 : tensor<64x16xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %3 = arith.truncf %in : f32 to bf16
      linalg.yield %3 : bf16
    } -> tensor<64x16xbf16>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def FormGpuKernelsPass : Pass<"spmd-form-gpu-kernels", "mlir::func::FuncOp"> {
  let summary = "Put work on buffers into gpu.launch.";
  let description = [{
    Before: `linalg.generic` on memrefs, loops and single loads and stores. After: each generic is a `gpu.launch` with a
    thread for each point of its parallel dims (or a block, where few results come of long reductions); loops that
    store single elements are a launch as a whole; a `pairs.pair_step` is one forward, and backward one for each
    gradient. On the host stay loops and branches that launch or communicate,
    and loads of single elements.

    ```mlir
    // before
    #same = affine_map<(d0) -> (d0)>
    func.func @main(%x: memref<1000xf32>, %y: memref<1000xf32>) {
      linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {
      ^bb0(%a: f32, %b: f32):
        %0 = arith.negf %a : f32
        linalg.yield %0 : f32
      }
      return
    }
    // after, among others
    gpu.launch blocks(%arg2, %arg3, %arg4) in (%arg8 = %2, %arg9 = %c1_1, %arg10 = %c1_1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c256_2, %arg12 = %c1_1, %arg13 = %c1_1) {
    %3 = arith.muli %arg2, %c256 : index
    %4 = arith.addi %3, %arg5 : index
    %5 = arith.cmpi ult, %4, %1 : index
    scf.if %5 {
    ...
    %7 = vector.load %arg0[%6] {alignment = 16 : i64} : memref<1000xf32>, vector<4xf32>
    ...
    %10 = arith.negf %9 : f32
    ...
    vector.store %20, %arg1[%6] {alignment = 16 : i64} : memref<1000xf32>, vector<4xf32>
    ...
    gpu.terminator
    ```
  }];
  let options = [
    Option<"warpgroups", "warpgroups", "bool", /*default=*/"false",
           "Beside the kernels that all GPUs run, make those for sm_90a of products and steps of attention that fit it.">,
    Option<"tensorMemory", "tensor-memory", "bool", /*default=*/"false",
           "Also those for sm_100a, of products and attention.">,
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "Products of f32 that ask for no more than the default precision may round their factors to tf32.">,
    Option<"libraries", "libraries", "std::string", /*default=*/"\"generated\"",
           "Who does products, convolutions and steps of attention: generated, tcgen05, auto or library (docs/Rationale/GPU.md).">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect",
                           "::shardc::spmd::KernelDialect"];
}

def MergeLaunchesPass : Pass<"spmd-merge-launches", "mlir::func::FuncOp"> {
  let summary = "Make one launch of several that do not depend on one another.";
  let description = [{
    Before: several `gpu.launch`. After: one for those of which none touches what another one writes, with as many blocks as these have; a
    block finds by its number whose work is its own. A launch goes to the place of an earlier one, over whatever has nothing to do with it;
    if it is the first to write more than 1 MiB, over such launches alone. Launches whose threads synchronise are one with others only where
    all of them together leave multiprocessors idle. Launches of one block that follow one another are one, with a barrier between them. At
    most 128 launches, and 480 words of arguments, are one.

    ```mlir
    // before
    func.func @main(%x: memref<1xf32>, %y: memref<1xf32>, %a: f32) {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
                 threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
        memref.store %a, %x[%c0] : memref<1xf32>
        gpu.terminator
      }
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
                 threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
        memref.store %a, %y[%c0] : memref<1xf32>
        gpu.terminator
      }
      return
    }
    // after, among others
    gpu.launch blocks(%arg3, %arg4, %arg5) in (%arg9 = %c2, %arg10 = %c1_2, %arg11 = %c1_2) threads(%arg6, %arg7, %arg8) in (%arg12 = %c1_3, %arg13 = %c1_2, %arg14 = %c1_2) {
    %0 = arith.cmpi ult, %arg3, %c1_1 : index
    scf.if %0 {
    ...
    memref.store %arg2, %arg0[%c0] : memref<1xf32>
    } else {
    ...
    memref.store %arg2, %arg1[%c0] : memref<1xf32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::scf::SCFDialect"];
}

def ConvertGpuKernelsPass : Pass<"spmd-convert-gpu-kernels", "mlir::gpu::GPUModuleOp"> {
  let summary = "Convert kernels to the NVVM and LLVM dialects.";
  let description = [{
    Before: `gpu.func` with arith, math, memref, cf and complex. After: `llvm.func`. Square roots, roundings, fused
    multiply-adds and operations on bits are LLVM's intrinsics, for which GPUs have instructions; other functions are calls
    of libdevice, so that a kernel which needs none of these can be made without CUDA.

    ```mlir
    // before: --pass-pipeline=builtin.module(gpu.module(spmd-convert-gpu-kernels))
    gpu.module @shardc_kernels {
      gpu.func @root(%x: !llvm.ptr, %y: f32) kernel {
        %0 = math.sqrt %y : f32
        llvm.store %0, %x : f32, !llvm.ptr
        gpu.return
      }
    }
    // after
    gpu.module @shardc_kernels {
      llvm.func @root(%arg0: !llvm.ptr, %arg1: f32) attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 1 : i32} {
        %0 = llvm.intr.sqrt(%arg1) : (f32) -> f32
        llvm.store %0, %arg0 : f32, !llvm.ptr
        llvm.return
      }
    }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def ExpandFragmentProductsPass : Pass<"spmd-expand-fragment-products", "mlir::gpu::GPUModuleOp"> {
  let summary = "Say in PTX what products of fragments are, and when loads are done.";
  let description = [{
    Before: `llvm.inline_asm` named as a product of warpgroups whose left matrix is in registers, on a struct of sums. After:
    the same on single sums, as assembly takes them, with its text. The emulator knows the form before. What `nvvm.tcgen05.wait`
    waits for is passed through assembly behind it, since nothing else says that it is not there before.

    ```mlir
    // before: --pass-pipeline=builtin.module(gpu.module(spmd-expand-fragment-products))
    gpu.module @shardc_kernels {
      llvm.func @product(%sums: !llvm.struct<(f32, f32, f32, f32)>, %a: i32, %b: i32, %c: i32, %d: i32, %right: i64) -> !llvm.struct<(f32, f32, f32, f32)> {
        %0 = llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", "" %sums, %a, %b, %c, %d, %right : (!llvm.struct<(f32, f32, f32, f32)>, i32, i32, i32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
        llvm.return %0 : !llvm.struct<(f32, f32, f32, f32)>
      }
    }
    // after, among others
    %0 = llvm.extractvalue %arg0[0] : !llvm.struct<(f32, f32, f32, f32)>
    ...
    %4 = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 1; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l" %0, %1, %2, %3, %arg1, %arg2, %arg3, %arg4, %arg5 : (f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def UseGpuFunctionsPass : Pass<"spmd-use-gpu-functions", "mlir::func::FuncOp"> {
  let summary = "Compute functions in kernels with the units that GPUs have for them.";
  let description = [{
    Before: `math.exp`, `math.log` and `math.tanh` of f32, f16 and bf16 in `gpu.launch`. After: exp is 2 to the power of a reduced
    argument, by the unit for that (`llvm.intr.exp2` that may be approximate), without the reduction where the op says that it
    may be approximate, or where its result is rounded to 16 bits at once; tanh is a quotient of such a power, and a polynomial
    below 5/4; log is a polynomial. All are within 2 units in the last place.

    ```mlir
    // before
    func.func @main(%x: f32, %one: index) {
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
                 threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
        %0 = math.exp %x fastmath<afn> : f32
        gpu.printf "%f", %0 : f32
        gpu.terminator
      }
      return
    }
    // after, among others
    %0 = arith.mulf %arg0, %cst : f32
    %1 = llvm.intr.exp2(%0) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::math::MathDialect", "mlir::arith::ArithDialect"];
}

def SelectGpuInstructionsPass : Pass<"spmd-select-gpu-instructions", "mlir::gpu::GPUModuleOp"> {
  let summary = "Take PTX's approximate instructions where two units in the last place are allowed.";
  let description = [{
    Before: kernels in the LLVM and NVVM dialects, on their way to PTX. After: powers of two that may be approximate are
    `ex2.approx`, quotients of f32 are `div.full`, those of one that may be approximate `rcp.approx`, by a square root `rsqrt.approx`. What is divided by a
    constant is left to LLVM. Emulated kernels stay as they are, and exact.

    ```mlir
    // before: --pass-pipeline=builtin.module(gpu.module(spmd-select-gpu-instructions))
    gpu.module @shardc_kernels {
      llvm.func @divide(%x: f32, %y: f32) -> f32 {
        %0 = llvm.fdiv %x, %y : f32
        llvm.return %0 : f32
      }
    }
    // after
    gpu.module @shardc_kernels {
      llvm.func @divide(%arg0: f32, %arg1: f32) -> f32 {
        %0 = llvm.call_intrinsic "llvm.nvvm.div.full"(%arg0, %arg1) : (f32, f32) -> f32
        llvm.return %0 : f32
      }
    }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def EmulateNvvmPass : Pass<"spmd-emulate-nvvm", "mlir::ModuleOp"> {
  let summary = "Turn kernels in the NVVM dialect into functions of the host.";
  let description = [{
    Before: a `gpu.module` in the LLVM and NVVM dialects, as it would go to PTX. After: for each kernel a function
    `(thread, arguments)` that does what one CUDA thread does: identifiers are read from the thread, shared memory is the
    block's, barriers and shuffles are calls of the emulator (shardrt/Emulated.h). Tables `shardc_kernel_functions` and
    `shardc_kernel_traits` name them. Refuses: an NVVM op that the emulator does not know.

    ```mlir
    // before
    module attributes {gpu.container_module} {
      gpu.module @shardc_kernels {
        llvm.func @store(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
          %t = nvvm.read.ptx.sreg.tid.x : i32
          %to = llvm.getelementptr %x[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %t, %to : i32, !llvm.ptr
          nvvm.barrier0
          llvm.return
        }
      }
    }
    // after, among others
    llvm.func internal @__shardc_kernel_store(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
    ...
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    ...
    %5 = llvm.load %4 : !llvm.ptr -> i32
    ...
    %9 = llvm.xor %7, %8 : i64
    ...
    llvm.store %5, %10 : i32, !llvm.ptr
    ...
    llvm.call @shardrt_emulated_barrier(%arg0, %11, %12) : (!llvm.ptr, i32, !llvm.ptr) -> ()
    ...
    llvm.mlir.global external constant @shardc_kernel_traits(dense<[0, 1]> : tensor<2xi64>) {addr_space = 0 : i32} : !llvm.array<2 x i64>
    llvm.mlir.global external constant @shardc_kernel_functions() {addr_space = 0 : i32} : !llvm.array<1 x ptr> {
    ```
  }];
  let options = [
    Option<"check", "check", "bool", /*default=*/"false",
           "Look at every access: bounds of device memory, races on shared memory.">,
    Option<"gpu", "gpu", "std::string", /*default=*/"\"sm_90a\"",
           "The GPU that is emulated: kernels for others alone are left out.">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

#endif // SHARDC_KERNELGEN_GPUPASSES_TD

//===- GpuPasses.td - Passes of the kernel generator for GPUs -*- tablegen -*-===//
#ifndef SHARDC_KERNELGEN_GPUPASSES_TD
#define SHARDC_KERNELGEN_GPUPASSES_TD

include "mlir/Pass/PassBase.td"

def FuseProloguesPass : Pass<"spmd-fuse-prologues", "mlir::func::FuncOp"> {
  let summary = "Compute operands of products where these read them.";
  let description = [{
    Before: `linalg.generic` on tensors, fused. After: elementwise work whose one consumer is a product is part of it, where few
    blocks of the product meet each of its elements (the other operand has 16 to 128 lines). Contractions so far had operands that are
    read as they are, or cast. Adds work: an element is computed by each block that meets it, one or two.
    ```mlir
    %1 = linalg.generic ... ins(%a, %scale : tensor<512x256xf32>, tensor<256xf32>) {... arith.mulf ...}
    %2 = linalg.generic ... ins(%1, %b : tensor<512x256xf32>, tensor<256x64xf32>) {... arith.mulf ... arith.addf ...}
    // becomes
    %2 = linalg.generic ... ins(%a, %scale, %b) {... arith.mulf ... arith.mulf ... arith.addf ...}
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def FormGpuKernelsPass : Pass<"spmd-form-gpu-kernels", "mlir::func::FuncOp"> {
  let summary = "Put work on buffers into gpu.launch.";
  let description = [{
    Before: `linalg.generic` on memrefs, loops and single loads and stores. After: each generic is a `gpu.launch` with a
    thread for each point of its parallel dims (or a block, where few results come of long reductions); loops that
    store single elements are a launch as a whole; a `spmd.pair_step` is one forward, and backward one for each
    gradient. On the host stay loops and branches that launch or communicate,
    and loads of single elements.
    ```mlir
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                    iterator_types = ["parallel"]} ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {...}
    // becomes
    gpu.launch blocks(%b, ...) in (%n = %c4, ...) threads(%t, ...) in (%m = %c256, ...) {
      // %i = %b * 256 + %t
      scf.if (%i < 1000) {...}
      gpu.terminator
    }
    ```
  }];
  let options = [
    Option<"warpgroups", "warpgroups", "bool", /*default=*/"false",
           "Beside the kernels that all GPUs run, make those for sm_90a of products and steps of attention that fit it.">,
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "Products of f32 that ask for no more than the default precision may round their factors to tf32.">,
    Option<"libraries", "libraries", "std::string", /*default=*/"\"generated\"",
           "Who does products, convolutions and steps of attention: generated, auto or library (docs/Rationale/GPU.md).">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect",
                           "shardc::spmd::SpmdDialect"];
}

def ConvertGpuKernelsPass : Pass<"spmd-convert-gpu-kernels", "mlir::gpu::GPUModuleOp"> {
  let summary = "Convert kernels to the NVVM and LLVM dialects.";
  let description = [{
    Before: `gpu.func` with arith, math, memref, cf and complex. After: `llvm.func`. Square roots, roundings, fused
    multiply-adds and operations on bits are LLVM's intrinsics, for which GPUs have instructions; other functions are calls
    of libdevice, so that a kernel which needs none of these can be made without CUDA.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def ExpandFragmentProductsPass : Pass<"spmd-expand-fragment-products", "mlir::gpu::GPUModuleOp"> {
  let summary = "Say in PTX what products of fragments are.";
  let description = [{
    Before: `llvm.inline_asm` named as a product of warpgroups whose left matrix is in registers, on a struct of sums. After:
    the same on single sums, as assembly takes them, with its text. The emulator knows the form before.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def PlantFaultPass : Pass<"spmd-plant-fault", "mlir::ModuleOp"> {
  let summary = "Make a kernel wrong, to see whether that is found.";
  let description = [{
    Before: kernels in the NVVM dialect. After: one place of them is what somebody might have written by mistake: a barrier
    is missing, a wait comes too late, an edge is not looked at. For tests of the emulator. Refuses: a kind of fault that
    does not exist, or that has no such place in the module.
  }];
  let options = [
    Option<"fault", "fault", "std::string", /*default=*/"",
           "KIND or KIND:NUMBER, the places of a kind counted from 0.">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def EmulateNvvmPass : Pass<"spmd-emulate-nvvm", "mlir::ModuleOp"> {
  let summary = "Turn kernels in the NVVM dialect into functions of the host.";
  let description = [{
    Before: a `gpu.module` in the LLVM and NVVM dialects, as it would go to PTX. After: for each kernel a function
    `(thread, arguments)` that does what one CUDA thread does: identifiers are read from the thread, shared memory is the
    block's, barriers and shuffles are calls of the emulator (shardrt/Emulated.h). Tables `shardc_kernel_functions` and
    `shardc_kernel_traits` name them. Refuses: an NVVM op that the emulator does not know.
  }];
  let options = [
    Option<"check", "check", "bool", /*default=*/"false",
           "Look at every access: bounds of device memory, races on shared memory.">,
    Option<"gpu", "gpu", "std::string", /*default=*/"\"sm_90a\"",
           "The GPU that is emulated: kernels for others alone are left out.">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

#endif // SHARDC_KERNELGEN_GPUPASSES_TD

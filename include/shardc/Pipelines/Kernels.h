//===- Kernels.h - From linalg on tensors to kernels ------------*- C++ -*-===//
//
// What the stages that lower are made of: tensors to buffers, which all targets
// share; then loops and vectors, or kernels for GPUs; then the LLVM dialect.
// Ops of other dialects between them (rank tables, communication sites) are
// lowered by whoever knows them, when all is on buffers.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PIPELINES_KERNELS_H
#define SHARDC_PIPELINES_KERNELS_H

#include "shardc/KernelGen/GPU.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace shardc {

/// What kernels are generated for.
struct CpuKernelOptions {
  /// Bits of a vector register: 128, 256 or 512; 0 takes those of `arch`.
  unsigned vectorBits = 0;
  /// As in ObjectFile.h: "native", "x86-64-v3", "x86-64-v4", a CPU's name, ...
  std::string arch = "native";
  /// The function whose buffers live in the arena.
  std::string entry = "main";
  /// Fusion, arena and generated loop nests; without, every op is lowered by
  /// upstream's plain loops (the reference that tests compare with).
  bool optimize = true;
  /// Threads that share a parallel loop: kernels are cut into this many parts
  /// (`kernel.parts` on a loop), which whoever knows the runtime lets run at
  /// the same time.
  int64_t threads = 1;
  /// An element's bits do not depend on where in a kernel's loops it is
  /// computed: products and sums are rounded one by one, but where the product
  /// is exact.
  bool exact = false;
  /// Calls of @shardc_mark around kernels (spmd-mark-kernels).
  bool marks = false;
  /// Note which tiles products have, and others that they could have.
  bool listTiles = false;
  /// False where kernels are made elsewhere, so that there is nothing to lower
  /// but scalars.
  bool vectors = true;
};

/// What kernels for GPUs are made.
struct GpuKernelOptions {
  /// Also those that only sm_90a runs.
  bool warpgroups = false;
  /// Also those that only sm_100a runs.
  bool tensorMemory = false;
  /// Products of f32 whose program asks for the default precision may round
  /// their factors to tf32.
  bool tf32 = false;
  LibraryUse libraries = LibraryUse::Generated;
};

/// What is said of the local view before anything of it is a buffer.
struct LinalgOptions {
  /// Names of ops into their locations, for traces and errors of GPUs.
  bool names = false;
  bool blockTransforms = false;
  bool manyThreads = false;
  bool roundEachOp = false;
  bool fixedLevel = false;
  std::string libraries = "generated";
};

/// What every target begins with: communication as sites, the rest as linalg.
void buildLinalgPipeline(mlir::OpPassManager &pm, const LinalgOptions &options);

/// Tensors to buffers: fused `linalg.generic` on memrefs. In: linalg, tensor,
/// scf, bufferization on tensors, and destination-style ops with external
/// bufferization models. Results of `entry` become memref arguments. With
/// `gpu`, for kernels of GPUs.
void buildBufferPipeline(mlir::OpPassManager &pm,
                         const CpuKernelOptions &options,
                         const GpuKernelOptions *gpu = nullptr);

/// Tensors to buffers, loops and vectors. In: as above. Out: memref, scf,
/// vector, arith, math, func. The arena is the last argument of `entry` where
/// the module holds `kernel.arena_bytes`.
void buildCpuBufferPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// What the former leaves, to the LLVM dialect. `func.func`s marked
/// `llvm.emit_c_interface` get their wrapper.
void buildCpuToLLVMPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// Both halves.
void buildCpuKernelPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// Tensors to buffers and gpu.launch, with the arena planned. In: as
/// buildBufferPipeline. Out: host code in memref, scf, arith, func, and
/// gpu.launch.
void buildGpuBufferPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options,
                            const GpuKernelOptions &gpu);

/// Kernels in `gpu.module @shardc_kernels` to the NVVM dialect; with `forPtx`
/// as LLVM's NVPTX takes them, where some ops are inline assembly.
void buildGpuToNVVMPipeline(mlir::OpPassManager &pm, bool forPtx);

/// Makes `--spmd-cpu-buffers` and `--spmd-cpu-kernels` known to the command
/// line, and `--spmd-gpu-buffers` and `--spmd-gpu-to-nvvm`.
void registerCpuKernelPipelines();
void registerGpuKernelPipelines();

} // namespace shardc

#endif // SHARDC_PIPELINES_KERNELS_H

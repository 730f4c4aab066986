//===- GPU.h - Kernels for NVIDIA GPUs --------------------------*- C++ -*-===//
//
// docs/Rationale/GPU.md is the contract. Host code between kernels is lowered
// as the CPU's is.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_GPU_H
#define SHARDC_KERNELGEN_GPU_H

#include "mlir/Pass/Pass.h"
#include "shardc/KernelGen/CPU.h"
#include "shardc/Support/KernelAttributes.h"

namespace mlir {
namespace affine {
class AffineDialect;
} // namespace affine
namespace arith {
class ArithDialect;
} // namespace arith
namespace gpu {
class GPUDialect;
class GPUModuleOp;
} // namespace gpu
namespace linalg {
class LinalgDialect;
} // namespace linalg
namespace memref {
class MemRefDialect;
} // namespace memref
namespace scf {
class SCFDialect;
} // namespace scf
namespace tensor {
class TensorDialect;
} // namespace tensor
namespace LLVM {
class LLVMDialect;
} // namespace LLVM
namespace NVVM {
class NVVMDialect;
} // namespace NVVM
} // namespace mlir

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/KernelGen/GpuPasses.h.inc"

/// Who does products, convolutions and transforms: our kernels; a library of
/// the device's vendor where that pays and it is there; such a library wherever
/// it can, and without it nothing runs.
enum class LibraryUse { Generated, Auto, Library };

/// What kernels are made.
struct GpuKernelOptions {
  /// Also those that only sm_90a runs.
  bool warpgroups = false;
  /// Products of f32 whose program asks for the default precision may round
  /// their factors to tf32.
  bool tf32 = false;
  LibraryUse libraries = LibraryUse::Generated;
};

/// Tensors to buffers and gpu.launch, with the arena planned. In: as
/// buildCpuBufferPipeline. Out: host code in memref, scf, arith, func, and
/// gpu.launch.
void buildGpuBufferPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options,
                            const GpuKernelOptions &gpu);

/// Kernels in `gpu.module @shardc_kernels` to the NVVM dialect; with `forPtx`
/// as LLVM's NVPTX takes them, where some ops are inline assembly.
void buildGpuToNVVMPipeline(mlir::OpPassManager &pm, bool forPtx);

/// Lets bufferization take `spmd.library_call`; part of the below.
void registerLibraryCallModel(mlir::DialectRegistry &registry);

/// Dialects and interfaces that the pipelines need.
void registerGpuKernelDialects(mlir::DialectRegistry &registry);

/// Makes `--spmd-gpu-buffers` and `--spmd-gpu-to-nvvm` known.
void registerGpuKernelPipelines();

} // namespace shardc

#endif // SHARDC_KERNELGEN_GPU_H

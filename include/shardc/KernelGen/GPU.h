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
namespace memref {
class MemRefDialect;
} // namespace memref
namespace scf {
class SCFDialect;
} // namespace scf
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

/// The symbol of the gpu.module that holds a program's kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "shardc_kernels";

/// Tensors to buffers and gpu.launch, with the arena planned. In: as
/// buildCpuBufferPipeline. Out: host code in memref, scf, arith, func, and
/// gpu.launch.
void buildGpuBufferPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// Kernels in `gpu.module @shardc_kernels` to the NVVM dialect.
void buildGpuToNVVMPipeline(mlir::OpPassManager &pm);

/// Dialects and interfaces that the pipelines need.
void registerGpuKernelDialects(mlir::DialectRegistry &registry);

/// Makes `--spmd-gpu-buffers` and `--spmd-gpu-to-nvvm` known.
void registerGpuKernelPipelines();

} // namespace shardc

#endif // SHARDC_KERNELGEN_GPU_H

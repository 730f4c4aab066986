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

/// The symbol of the gpu.module that holds a program's kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "shardc_kernels";

// What launches and kernels say of themselves (docs/Rationale/GPU.md section
// 3).
/// The GPU whose instructions a kernel needs; images for others lack it.
inline constexpr llvm::StringLiteral kOfGpuAttrName = "spmd.gpu";
/// Done only where the launch before, of another kernel, could not be.
inline constexpr llvm::StringLiteral kOtherwiseAttrName = "spmd.otherwise";
/// A grid of any size does the work.
inline constexpr llvm::StringLiteral kPersistentAttrName = "spmd.persistent";
/// On a cast of a memref to a pointer: it is described to bulk copies, fastest
/// dim first, each dim by those of the memref that it runs over.
inline constexpr llvm::StringLiteral kTensorMapAttrName = "spmd.tensor_map";
inline constexpr llvm::StringLiteral kTensorBoxAttrName = "spmd.tensor_box";
/// On a multiplication of f32, what its program asks for: "default" and "high"
/// (which
/// --precision=tf32 lets be one or three products of tf32), "tf32" or "tf32x3".
inline constexpr llvm::StringLiteral kTensorFloatAttrName = "spmd.tensor_float";
/// How many such descriptions come before a kernel's other arguments.
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "spmd.tensor_maps";

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

//===- GPU.h - Kernels for NVIDIA GPUs --------------------------*- C++ -*-===//
//
// docs/Rationale/GPU.md is the contract.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_GPU_H
#define SHARDC_KERNELGEN_GPU_H

#include "mlir/Pass/Pass.h"
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

/// Who does products, convolutions and steps of attention: our kernels; a
/// library of the device's vendor where that pays and it is there, on GPUs with
/// tcgen05 (for which there are no kernels) or on all; such a library wherever
/// it can, and without it nothing runs.
enum class LibraryUse { Generated, OnTcgen05, Auto, Library };

} // namespace shardc

#endif // SHARDC_KERNELGEN_GPU_H

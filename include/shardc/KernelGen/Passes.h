//===- Passes.h - Passes of the kernel generator ----------------*- C++ -*-===//
//
// From linalg to loops and vectors. None of them knows a mesh or a
// rank.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_PASSES_H
#define SHARDC_KERNELGEN_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir::linalg {
class LinalgDialect;
} // namespace mlir::linalg

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/KernelGen/Passes.h.inc"

/// Makes loops of scf of the linalg ops on buffers that no kernel was made of.
/// As MLIR's pass does, but it looks at these ops alone, not at all others of
/// the function again and again.
std::unique_ptr<mlir::Pass> createLinalgToLoopsPass();

/// In the LLVM dialect, once conversions are integer arithmetic: whatever
/// loads, stores, selects or moves bf16 does so with words of 16 bits, in the
/// functions of a module. Else LLVM keeps such elements as f32 on hosts and
/// makes bf16 of them again: by a function of compilers' libraries, or by an
/// instruction that turns subnormal numbers into zero.
std::unique_ptr<mlir::Pass> createBFloatBitsPass();

} // namespace shardc

#endif // SHARDC_KERNELGEN_PASSES_H

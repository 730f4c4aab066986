//===- Passes.h - Passes of the kernel generator ----------------*- C++ -*-===//
//
// From linalg to loops and vectors. None of them knows a mesh or a
// rank.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_PASSES_H
#define SHARDC_KERNELGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::linalg {
class LinalgDialect;
} // namespace mlir::linalg

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/KernelGen/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_KERNELGEN_PASSES_H

//===- LinalgToLoops.h - Structured ops as plain loops ----------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_COMMON_LINALGTOLOOPS_H
#define SHARDC_LIB_KERNELGEN_COMMON_LINALGTOLOOPS_H

#include "mlir/Pass/Pass.h"

namespace shardc {

/// Makes loops of scf of the linalg ops on buffers that no kernel was made of.
/// As MLIR's pass does, but it looks at these ops alone, not at all others of
/// the function again and again.
std::unique_ptr<mlir::Pass> createLinalgToLoopsPass();

} // namespace shardc

#endif // SHARDC_LIB_KERNELGEN_COMMON_LINALGTOLOOPS_H

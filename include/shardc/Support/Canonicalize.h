//===- Canonicalize.h - Canonical forms of the same numbers -----*- C++ -*-===//
#ifndef SHARDC_SUPPORT_CANONICALIZE_H
#define SHARDC_SUPPORT_CANONICALIZE_H

#include "mlir/Pass/Pass.h"

namespace shardc {

/// MLIR's canonicalizer without the patterns that change numbers: those that
/// make one rounding of two. Of code whose regions have one block each: blocks
/// stay as they are.
std::unique_ptr<mlir::Pass> createCanonicalizePass();

} // namespace shardc

#endif // SHARDC_SUPPORT_CANONICALIZE_H

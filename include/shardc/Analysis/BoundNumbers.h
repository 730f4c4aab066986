//===- BoundNumbers.h - What code computes of bound sizes -------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_BOUNDNUMBERS_H
#define SHARDC_ANALYSIS_BOUNDNUMBERS_H

#include "mlir/IR/Value.h"
#include "shardc/Layout/Formula.h"
#include "llvm/ADT/SmallVector.h"

namespace shardc {

/// A number that is known when a program is bound.
struct BoundNumber {
  Formula formula;
  /// What it is in the binding by which costs are estimated: of each rank, or
  /// one number of all.
  llvm::SmallVector<int64_t> byRank;
};

/// What `number` is, if it is computed of constants and of look-ups by formulas
/// alone: sizes of buffers, and arithmetic on indices.
std::optional<BoundNumber> boundNumber(mlir::Value number);

} // namespace shardc

#endif // SHARDC_ANALYSIS_BOUNDNUMBERS_H

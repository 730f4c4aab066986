//===- SplitPairs.h - Sums of pairs in parts that are ops -------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_SPLITPAIRS_H
#define SHARDC_LIB_RAISE_SPLITPAIRS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardc::raise {

/// Writes sums of pairs that hold a product as sums with values, and sums over
/// both points of pairs as two; true if there were any.
bool splitPairs(mlir::func::FuncOp func);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_SPLITPAIRS_H

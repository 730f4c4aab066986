//===- MergeSums.h - Ops on the same elements in one pass -------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_ROWS_MERGESUMS_H
#define SHARDC_LIB_KERNELGEN_CPU_ROWS_MERGESUMS_H

#include "../Nests/Nest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardc::cpu {

/// Makes one op of sums in `function` whose loops are alike and that read an
/// array in common.
void mergeSums(mlir::func::FuncOp function);

/// The same of elementwise ops, where that array is large.
void mergePoints(mlir::func::FuncOp function, ShardSizes &sizes);

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_ROWS_MERGESUMS_H

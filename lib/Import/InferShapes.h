//===- InferShapes.h - Shapes of results from operands ----------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_INFERSHAPES_H
#define SHARDC_LIB_IMPORT_INFERSHAPES_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace shardc::import {

/// Gives results of `op` that have `?` dims the shapes that its operands, all
/// static, lead to. An error on `op` where it does not know how. Ops with
/// regions that carry values (while, case) are the caller's.
mlir::LogicalResult inferResultShapes(mlir::Operation *op);

/// Positions of a window over one dim: elements, all but padding at least one.
int64_t windowPositions(int64_t size, int64_t window, int64_t stride,
                        int64_t low, int64_t high, int64_t baseDilation,
                        int64_t windowDilation);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_INFERSHAPES_H

//===- Border.h - What callers know arguments and results as ----*- C++ -*-===//
#ifndef SHARDC_LIB_DRIVER_BORDER_H
#define SHARDC_LIB_DRIVER_BORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardc {

/// Makes tokens at the border of `main`, which may be null, arrays of no
/// elements.
void makeTokensArrays(mlir::func::FuncOp main);

/// Turns arguments and results of `main`, which may be null, whose
/// `mhlo.layout_mode` is another order of dims than row-major: they come and
/// leave with their dims in that order. Of a result whose layout is "auto" it
/// is the order in which it is made. Refuses layouts in tiles.
mlir::LogicalResult keepLayouts(mlir::func::FuncOp main);

} // namespace shardc

#endif // SHARDC_LIB_DRIVER_BORDER_H

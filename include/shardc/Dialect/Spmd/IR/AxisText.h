//===- AxisText.h - Mesh axes as text ---------------------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_AXISTEXT_H
#define SHARDC_DIALECT_SPMD_IR_AXISTEXT_H

#include "mlir/IR/OpImplementation.h"

namespace shardc::spmd {

/// Reads `"x"`.
mlir::ParseResult parseAxisName(mlir::AsmParser &parser,
                                mlir::StringAttr &name);
/// Writes `"x", "y"`.
void printAxes(mlir::AsmPrinter &printer,
               llvm::ArrayRef<mlir::StringAttr> axes);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_AXISTEXT_H

//===- SpmdViews.h - Global view or local view ------------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDVIEWS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDVIEWS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace shardc::spmd {

/// Refuses a function in the global view: its shapes are those of whole
/// tensors, though shardings cut them, or ops are left that partition replaces.
/// A function that says nothing of shardings is the same in both views.
llvm::LogicalResult verifyLocalView(mlir::FunctionOpInterface function);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDVIEWS_H

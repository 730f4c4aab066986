//===- OpenExtents.h - The same program with other placeholders -*- C++ -*-===//
#ifndef SHARDC_LIB_PIPELINES_OPENEXTENTS_H
#define SHARDC_LIB_PIPELINES_OPENEXTENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace shardc {

/// Refuses `module`, in the local view, where a number in it follows from open
/// extents and does not say how: `twin` is the same program with other
/// placeholders, as far.
llvm::LogicalResult checkOpenExtents(mlir::ModuleOp module,
                                     mlir::ModuleOp twin);

} // namespace shardc

#endif // SHARDC_LIB_PIPELINES_OPENEXTENTS_H

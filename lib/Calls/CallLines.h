//===- CallLines.h - Calls of the runtime for lines and matrices -*- C++
//-*-===//
#ifndef SHARDC_LIB_CALLS_CALLLINES_H
#define SHARDC_LIB_CALLS_CALLLINES_H

#include "RuntimeCalls.h"

namespace shardc {

/// Calls the runtime for all transforms of `function`. Those that follow one
/// another are one call: from the first dim to the last or the other way round,
/// one of them at most from buffer to buffer. (A plane's results could else
/// take the place of what another plane is made of.)
void lowerTransforms(mlir::func::FuncOp function, mlir::Value context,
                     int64_t threads, EntryPoints &entries);

/// Calls the runtime in place of `op`, if it sorts lines or decomposes
/// matrices; other ops stay.
mlir::LogicalResult lowerAlgorithm(mlir::Operation *op, mlir::Value context,
                                   int64_t threads, EntryPoints &entries);

} // namespace shardc

#endif // SHARDC_LIB_CALLS_CALLLINES_H

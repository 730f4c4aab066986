//===- CallLibraries.h - kernel.library_call to a runtime call ----*- C++
//-*-===//
#ifndef SHARDC_LIB_CALLS_CALLLIBRARIES_H
#define SHARDC_LIB_CALLS_CALLLIBRARIES_H

#include "RuntimeCalls.h"

namespace shardc {

/// Writes down what shardrt_call_library reads (shardrt/LibraryCall.h), for
/// every `kernel.library_call` of `step`.
mlir::LogicalResult lowerLibraryCalls(mlir::func::FuncOp step,
                                      mlir::Value context,
                                      EntryPoints &entries);

} // namespace shardc

#endif // SHARDC_LIB_CALLS_CALLLIBRARIES_H

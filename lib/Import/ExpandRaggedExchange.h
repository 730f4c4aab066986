//===- ExpandRaggedExchange.h - Exchanges of any sizes as ops ---*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_EXPANDRAGGEDEXCHANGE_H
#define SHARDC_LIB_IMPORT_EXPANDRAGGEDEXCHANGE_H

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc {

/// Replaces `call`, of @ragged_all_to_all in a manual region, by collectives of
/// known sizes. Fails with a diagnostic where it is malformed.
llvm::LogicalResult expandRaggedAllToAll(stablehlo::CustomCallOp call,
                                         mlir::DictionaryAttr config);

} // namespace shardc

#endif // SHARDC_LIB_IMPORT_EXPANDRAGGEDEXCHANGE_H

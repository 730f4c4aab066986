//===- Collectives.h - StableHLO's own communication, local -----*- C++ -*-===//
#ifndef SHARDC_LIB_PARTITION_COLLECTIVES_H
#define SHARDC_LIB_PARTITION_COLLECTIVES_H

#include "OpLocalizer.h"
#include "shardc/Analysis/ReplicaGroups.h"

namespace shardc {

/// Builds what a collective of a manual region does out of spmd's communication
/// ops; `localization` has its local operands. Returns the local results; emits
/// an error for groups that cannot be.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
localizeCollective(mlir::Operation *op, Localization &localization,
                   RankTables &tables);

} // namespace shardc

#endif // SHARDC_LIB_PARTITION_COLLECTIVES_H

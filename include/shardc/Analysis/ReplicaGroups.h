//===- ReplicaGroups.h - Who takes part in a collective ---------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_REPLICAGROUPS_H
#define SHARDC_ANALYSIS_REPLICAGROUPS_H

#include "mlir/IR/Operation.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"

namespace shardc {

/// True for the ops of StableHLO by which the ranks of a manual region
/// communicate.
bool isCollective(mlir::Operation *op);

/// The members of each group of `op`, a collective with replica groups, in
/// their order. Every rank of `mesh` is in one group, and all groups have one
/// size, but those of an all_reduce. Without a channel, groups are of replicas,
/// and each partition is alone. Fails with a diagnostic for any other groups.
llvm::FailureOr<llvm::SmallVector<llvm::SmallVector<int64_t>>>
readReplicaGroups(mlir::Operation *op, spmd::MeshAttr mesh);

/// For each rank, the rank whose value it is given by a collective_permute or
/// a collective_broadcast; -1 where nothing arrives: zeros.
llvm::FailureOr<llvm::SmallVector<int64_t>> readSources(mlir::Operation *op,
                                                        spmd::MeshAttr mesh);

} // namespace shardc

#endif // SHARDC_ANALYSIS_REPLICAGROUPS_H

//===- Sinks.h - Custom calls that stay in programs -------------*- C++ -*-===//
//
// `dce_sink` says that a value is used. `InspectSharding` asks how it is
// sharded; the answer is a remark, once that is decided. Neither computes
// anything: both take values where they are, and give none.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_SINKS_H
#define SHARDC_DIALECT_STABLEHLO_SINKS_H

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::stablehlo {

constexpr llvm::StringLiteral kUsedSink = "dce_sink";
constexpr llvm::StringLiteral kInspectSink = "InspectSharding";

/// Whether `call` is to one of these, and as it should be.
inline bool isSink(CustomCallOp call) {
  llvm::StringRef target = call.getCallTargetName();
  return (target == kUsedSink || target == kInspectSink) &&
         call.getNumResults() == 0;
}

/// A function that its author cuts; with `sdy.sharding_rule`, which says how
/// its dims go together. It is gone before anything is partitioned.
constexpr llvm::StringLiteral kPartitionedCall = "CustomSPMDPartitioning";

inline bool isPartitioned(CustomCallOp call) {
  return call.getCallTargetName() == kPartitionedCall;
}

} // namespace shardc::stablehlo

#endif // SHARDC_DIALECT_STABLEHLO_SINKS_H

//===- ExpandFusedAttention.h - cuDNN's attention as ops --------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_EXPANDFUSEDATTENTION_H
#define SHARDC_LIB_IMPORT_EXPANDFUSEDATTENTION_H

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc {

/// True if `name` is one of cuDNN's attention calls, `__cudnn$fmha...`.
bool isFusedAttention(llvm::StringRef name);

/// Replaces `call`, one of these, by pairs.all_pairs or
/// pairs.attention_backward. Fails with a diagnostic where it is malformed, or
/// unsupported: dropout, whose random numbers are cuDNN's own, eight-bit
/// floats, paged or packed sequences.
llvm::LogicalResult expandFusedAttention(stablehlo::CustomCallOp call);

} // namespace shardc

#endif // SHARDC_LIB_IMPORT_EXPANDFUSEDATTENTION_H

//===- Emit.h - Ops on all pairs from what was matched ----------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_EMIT_H
#define SHARDC_LIB_RAISE_EMIT_H

#include "Match.h"
#include "shardc/Dialect/Pairs/IR/PairsForward.h"

namespace shardc::raise {

/// What stands for values that are replaced.
using Replacements = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Makes the op of `forward` and replaces its outputs.
spmd::AllPairsOp emitForward(Forward &forward, Replacements &replacements);

/// The first op that is replaced: the new one is there.
mlir::Operation *placeOf(const Forward &forward);
mlir::Operation *placeOf(const Backward &backward);

/// Makes the op of `backward`, a gradient of `made`, and replaces what it
/// gives. `forward` is what `backward` was matched with; `made` may be of an
/// equal one, `makes`.
void emitBackward(Forward &forward, Backward &backward, spmd::AllPairsOp made,
                  const Forward &makes, Replacements &replacements);

/// Makes the op of `backward` from the scores of `forward`, where there is no
/// forward pass.
void emitOpenBackward(Forward &forward, Backward &backward,
                      Replacements &replacements);

/// Makes the op of `pairs` and replaces its outputs.
void emitPairs(Pairs &pairs, Replacements &replacements);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_EMIT_H

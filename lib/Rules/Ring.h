//===- Ring.h - Every rank uses every block ---------------------*- C++ -*-===//
//
// The local forms of ops on all pairs: docs/Rationale/Ring.md.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_RING_H
#define SHARDC_LIB_RULES_RING_H

#include "RuleUtils.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

namespace shardc::rules {

/// Steps on this rank's queries and one block of keys after another, its own
/// first; the next block travels meanwhile.
LocalResults localizeAllPairs(spmd::AllPairsOp op, Localization &localization);
/// The same for the gradient; what a step adds to the gradients of a block
/// travels back to the block's owner during the next.
LocalResults localizeAttentionBackward(spmd::AttentionBackwardOp op,
                                       Localization &localization);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_RING_H

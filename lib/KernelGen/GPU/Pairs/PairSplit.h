//===- PairSplit.h - Few queries, keys divided among blocks -----*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSPLIT_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSPLIT_H

#include "PairStep.h"

namespace shardc::gpukernels::pairs {

/// `step`, forward, with its keys in parts, and states of each part's own;
/// nothing where blocks are enough without it, or keys are few.
std::optional<Step> splitKeys(OpBuilder &b, Operation *op, const Step &step);

/// Combines the states of all parts of `split`, in their order, with those of
/// `step`.
void launchCombine(OpBuilder &b, const Step &step, const Step &split);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSPLIT_H

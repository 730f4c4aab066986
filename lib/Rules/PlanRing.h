//===- PlanRing.h - The schedule of an op on all pairs ----------*- C++ -*-===//
#ifndef SHARDC_LIB_RULES_PLANRING_H
#define SHARDC_LIB_RULES_PLANRING_H

#include "RingPlan.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

namespace shardc::rules {

PairBand bandOf(spmd::AllPairsOpInterface op);

/// Plans `op` as its operands are cut: the way that takes least time by
/// estimate, or that the op's attribute `pairs.way` names. Fails, with a
/// diagnostic, where it names one that the op cannot go.
llvm::FailureOr<RingPlan> planRing(spmd::AllPairsOpInterface op,
                                   Localization &localization);

/// Milliseconds that the busiest rank takes by estimate, in the best way;
/// nullopt where there is no choice. See OrderCostOpInterface.
std::optional<double> estimateRing(spmd::AllPairsOpInterface op,
                                   llvm::ArrayRef<IntervalTable> cuts,
                                   llvm::ArrayRef<int64_t> meshSizes,
                                   llvm::ArrayRef<int64_t> queryOrder,
                                   llvm::ArrayRef<int64_t> keyOrder);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_PLANRING_H

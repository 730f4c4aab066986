//===- Reasons.h - Why a value must move ------------------------*- C++ -*-===//
#ifndef SHARDC_LIB_PROPAGATION_REASONS_H
#define SHARDC_LIB_PROPAGATION_REASONS_H

#include "shardc/Propagation/Projection.h"

namespace shardc::propagation {

/// What stands after "argument 2 of 'op' ": how `from` differs from what is
/// needed, in the first dim that does; empty if no dim differs. `rule` and
/// `dims` may be null: there is none then, and everything is needed whole.
std::string describeDifference(const Projection &projection,
                               const TensorState &from, const TensorState &to,
                               const ShardingRule *rule,
                               llvm::ArrayRef<RuleView::Dim> dims);

} // namespace shardc::propagation

#endif // SHARDC_LIB_PROPAGATION_REASONS_H

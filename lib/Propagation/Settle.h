//===- Settle.h - What is decided once all is known -------------*- C++ -*-===//
#ifndef SHARDC_LIB_PROPAGATION_SETTLE_H
#define SHARDC_LIB_PROPAGATION_SETTLE_H

#include "shardc/Propagation/Problem.h"

namespace shardc::propagation {

/// What an op may count on whose results are free to be in any layout.
struct Leeway {
  /// For each operand, layouts in which other ops have it as well.
  std::vector<std::vector<TensorState>> held;
};

/// As decideFactors of Problem.h: the least time where results stay as they are
/// computed.
llvm::SmallVector<FactorState, 8>
decideFactors(const Problem &problem, const OpNode &op, const Leeway &leeway);
/// As decideFactors of Problem.h, for an op that alone reads its operands: it
/// may have them cut along what it sums over.
llvm::SmallVector<FactorState, 8> decideFactorsOfOnly(const Problem &problem,
                                                      const OpNode &op);
/// Seconds of `op` run so, summed over ranks, of which none are for its
/// results.
double secondsOf(const Problem &problem, const OpNode &op,
                 llvm::ArrayRef<FactorState> factors, const Leeway &leeway);

/// Lays `state` out as `layout`: each axis is asked for by whom one of
/// `tensors` has it from. False, and a part is laid out, where none of them has
/// it.
bool layOut(const Problem &problem, TensorState &state,
            const TensorState &layout, llvm::ArrayRef<int64_t> tensors);

/// Gives results of the program of which nobody said how they leave, those of
/// `free`, the layouts in which their ops compute them in the least time, where
/// operands of these ops disagree.
void settleResults(Problem &problem, llvm::ArrayRef<int64_t> free);

} // namespace shardc::propagation

#endif // SHARDC_LIB_PROPAGATION_SETTLE_H

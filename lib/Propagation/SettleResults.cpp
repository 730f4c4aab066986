//===- SettleResults.cpp - How results leave that nobody cut --------------===//
//
// An op whose operands disagree gives its result the layout that arrived first.
// Where the result leaves, and nobody said how, any other will do: the one that
// takes the least time, if other ops have an operand as this one needs it then.
//
//   %y = dot_general %a, %b       (%b is whole for it)
//   %z = dot_general %y, %b       (so it may be for this)
//
//===----------------------------------------------------------------------===//
#include "Settle.h"

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Which ops read and make each tensor.
struct Uses {
  explicit Uses(const Problem &problem)
      : readers(problem.tensors.size()), makers(problem.tensors.size(), -1) {
    for (auto [number, op] : llvm::enumerate(problem.ops)) {
      for (int64_t tensor : op.operands)
        if (tensor >= 0 && !llvm::is_contained(readers[tensor], number))
          readers[tensor].push_back(number);
      for (int64_t tensor : op.results)
        if (tensor >= 0)
          makers[tensor] = number;
    }
  }
  std::vector<SmallVector<int64_t, 2>> readers;
  std::vector<int64_t> makers;
};
} // namespace

/// The layouts in which ops but `reader` have the operands of that op.
static Leeway leewayOf(const Problem &problem, const Uses &uses,
                       int64_t reader) {
  Leeway leeway;
  for (int64_t tensor : problem.ops[reader].operands) {
    std::vector<TensorState> &held = leeway.held.emplace_back();
    if (tensor < 0)
      continue;
    for (int64_t other : uses.readers[tensor]) {
      const OpNode &op = problem.ops[other];
      if (other == reader || op.isEdge)
        continue;
      RuleView view = viewOf(problem, op);
      SmallVector<FactorState, 8> factors = decideFactors(problem, op);
      for (auto [i, operand] : llvm::enumerate(op.operands))
        if (operand == tensor)
          held.push_back(impliedOperand(problem, view, factors, i,
                                        problem.tensors[tensor]));
    }
  }
  return leeway;
}

/// True if both are cut along the same axes.
static bool haveSameAxes(const TensorState &a, const TensorState &b) {
  auto axesOf = [](const TensorState &state) {
    SmallVector<int64_t, 4> axes;
    for (const DimState &dim : state.dims)
      axes.append(dim.axes.begin(), dim.axes.end());
    llvm::sort(axes);
    return axes;
  };
  return axesOf(a) == axesOf(b);
}

void propagation::settleResults(Problem &problem, ArrayRef<int64_t> free) {
  Uses uses(problem);
  for (int64_t result : free) {
    // The value that leaves, and nothing else reads.
    int64_t edge = uses.makers[result];
    if (edge < 0 || !problem.ops[edge].isEdge)
      continue;
    int64_t value = problem.ops[edge].operands[0];
    if (value < 0 || uses.readers[value].size() != 1 || uses.makers[value] < 0)
      continue;
    const OpNode &op = problem.ops[uses.makers[value]];
    if (op.isEdge || op.results.size() != 1 ||
        !problem.tensors[value].locked.empty())
      continue;
    Leeway leeway = leewayOf(problem, uses, uses.makers[value]);
    SmallVector<FactorState, 8> now = decideFactors(problem, op),
                                best = decideFactors(problem, op, leeway);
    RuleView view = viewOf(problem, op);
    const TensorState &state = problem.tensors[value];
    TensorState layout = impliedResult(problem, view, best, 0, state);
    double before =
        secondsOf(problem, op, now, leeway) +
        secondsMoved(problem, impliedResult(problem, view, now, 0, state),
                     state);
    if (sameLayout(layout, state) || !haveSameAxes(layout, state) ||
        secondsOf(problem, op, best, leeway) >= before)
      continue;
    TensorState settled = state;
    if (!layOut(problem, settled, layout, op.operands))
      continue;
    problem.tensors[value] = settled;
    problem.tensors[result].dims = settled.dims;
  }
}

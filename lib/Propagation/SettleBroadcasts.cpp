//===- SettleBroadcasts.cpp - Move what is spread before it is ------------===//
//
// A broadcast passes on how its operand is cut when nothing else says how its
// result is. Where all that reads the result needs it cut in another way, as
// in a product of each row with each row,
//
//   %x = broadcast %a    (cut along rows)
//   %y = broadcast %b    (cut along columns, by the same axis)
//   %z = multiply %x, %y (along rows)
//
// the result would be moved, which is as large as `%z`. It takes the layout
// that is needed instead, and the operand is moved, if that takes less time.
//
//===----------------------------------------------------------------------===//
#include "Settle.h"

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;

/// An operand of an op.
struct Read {
  int64_t op, operand;
};
using Reads = std::vector<SmallVector<Read, 2>>; // by tensor

static Reads readsOf(const Problem &problem) {
  Reads reads(problem.tensors.size());
  for (auto [op, node] : llvm::enumerate(problem.ops))
    for (auto [operand, tensor] : llvm::enumerate(node.operands))
      if (tensor >= 0)
        reads[tensor].push_back({int64_t(op), int64_t(operand)});
  return reads;
}

/// The one layout in which all `reads` need tensor `number`, or none.
static std::optional<TensorState>
neededLayout(const Problem &problem, int64_t number, ArrayRef<Read> reads) {
  const TensorState &state = problem.tensors[number];
  std::optional<TensorState> needed;
  for (auto [op, operand] : reads) {
    const OpNode &node = problem.ops[op];
    TensorState layout =
        impliedOperand(problem, viewOf(problem, node),
                       decideFactors(problem, node), operand, state);
    if (needed && !sameLayout(*needed, layout))
      return std::nullopt;
    needed = std::move(layout);
  }
  return needed;
}

/// Seconds to move what `op` reads, and its result, which is tensor `number`.
static double secondsAround(const Problem &problem, const OpNode &op,
                            int64_t number) {
  RuleView view = viewOf(problem, op);
  SmallVector<FactorState, 8> factors = decideFactors(problem, op);
  const TensorState &result = problem.tensors[number];
  double seconds = secondsMoved(
      problem, impliedResult(problem, view, factors, 0, result), result);
  for (auto [i, operand] : llvm::enumerate(op.operands))
    if (operand >= 0) {
      const TensorState &state = problem.tensors[operand];
      seconds += secondsMoved(problem, state,
                              impliedOperand(problem, view, factors, i, state));
    }
  return seconds;
}

void propagation::settleBroadcasts(Problem &problem) {
  std::optional<Reads> allReads;
  // Who reads comes first: a broadcast of a broadcast knows what is needed.
  for (const OpNode &op : llvm::reverse(problem.ops)) {
    if (op.isEdge || op.results.size() != 1 || op.results[0] < 0)
      continue;
    int64_t number = op.results[0];
    TensorState &state = problem.tensors[number];
    // What is whole on each rank is moved nowhere.
    auto isCut = [](const DimState &dim) { return !dim.axes.empty(); };
    auto isPinned = [](const DimState &dim) { return dim.pinned; };
    if (llvm::none_of(state.dims, isCut) || !state.locked.empty() ||
        llvm::any_of(state.dims, isPinned) || !viewOf(problem, op).isBroadcast)
      continue;
    if (!allReads)
      allReads = readsOf(problem);
    ArrayRef<Read> reads = (*allReads)[number];
    std::optional<TensorState> needed = neededLayout(problem, number, reads);
    if (!needed || sameLayout(*needed, state))
      continue;
    double moved = secondsMoved(problem, state, *needed);
    if (moved <= 0)
      continue;
    TensorState before = state;
    SmallVector<int64_t> around;
    for (const Read &read : reads) {
      llvm::append_range(around, problem.ops[read.op].results);
      llvm::append_range(around, problem.ops[read.op].operands);
    }
    bool isKnown = layOut(problem, state, *needed, around);
    if (!isKnown || secondsAround(problem, op, number) >= moved)
      state = std::move(before);
  }
}

//===- MatchUtils.cpp - What matches of attention and pairs share ---------===//
#include "Match.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Support/ElementwiseTrait.h"
#include <map>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

bool raise::isBefore(Value value, size_t limit,
                     llvm::function_ref<bool(Operation *)> isWanted) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty() && seen.size() < limit) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isWanted(op))
      return true;
    if (op->hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
        isa<stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::ReshapeOp,
            stablehlo::BroadcastInDimOp>(op))
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

SmallVector<unsigned> raise::flatten(const Layout &layout) {
  SmallVector<unsigned> dims;
  for (const auto &dim : layout)
    dims.append(dim.begin(), dim.end());
  return dims;
}

stablehlo::DotGeneralOp raise::findDot(const Term &raw) {
  return raw.tensor ? raw.tensor.getDefiningOp<stablehlo::DotGeneralOp>()
                    : nullptr;
}

std::pair<Root, Root> raise::rootsOf(stablehlo::DotGeneralOp dot,
                                     const Layout &layout, unsigned key,
                                     Reader &reader) {
  auto [lhs, rhs] = reader.operandLayouts(dot, layout);
  Root first = reader.rootOf(dot.getLhs(), lhs),
       second = reader.rootOf(dot.getRhs(), rhs);
  if (dimsIn(first.layout) & bit(key))
    std::swap(first, second);
  return {first, second};
}

unsigned raise::longestOf(DimSet dims, const Reader &reader) {
  unsigned best = kNoQuery;
  int64_t longest = 0;
  for (unsigned dim = 0; dim < kFirstFeature; ++dim)
    if ((dims & bit(dim)) && reader.sizeOf(dim) >= longest) {
      longest = reader.sizeOf(dim);
      best = dim;
    }
  return best;
}

void raise::followMoves(Value &value, Layout &layout, Reader &reader) {
  while (value && value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(user)) {
      Layout moved;
      for (int64_t dim : transpose.getPermutation())
        moved.push_back(layout[dim]);
      layout = moved;
    } else if (isa<stablehlo::ReshapeOp>(user)) {
      std::optional<Layout> moved =
          reader.regroup(layout, typeOf(user->getResult(0)).getShape());
      reader.split.reset();
      if (!moved)
        return;
      layout = *moved;
    } else {
      return;
    }
    value = user->getResult(0);
  }
}

/// Adds the layout of the result of `op`, if that follows from its operands and
/// is not known; whether it is added.
static bool addLayout(Operation &op, Forward &f, const Numbering &numbering,
                      llvm::DenseMap<unsigned, Layout> &layouts) {
  if (op.getNumResults() != 1 ||
      !isa<RankedTensorType>(op.getResult(0).getType()))
    return false;
  Value result = op.getResult(0);
  if (layouts.contains(numbering.of(result)))
    return false;
  std::optional<Layout> layout;
  if (op.hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
      isa<stablehlo::ConvertOp>(op)) {
    for (Value operand : op.getOperands())
      if (auto it = layouts.find(numbering.of(operand));
          it != layouts.end() &&
          typeOf(operand).getRank() == typeOf(result).getRank())
        layout = it->second;
  } else if (op.getNumOperands() > 0) {
    auto it = layouts.find(numbering.of(op.getOperand(0)));
    if (it == layouts.end())
      return false;
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      layout.emplace();
      for (int64_t dim : transpose.getPermutation())
        layout->push_back(it->second[dim]);
    } else if (isa<stablehlo::ReshapeOp>(op)) {
      layout = f.reader->regroup(it->second, typeOf(result).getShape());
      f.reader->split.reset();
    } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
               broadcast && typeOf(result).getNumElements() ==
                                typeOf(op.getOperand(0)).getNumElements()) {
      layout.emplace(typeOf(result).getRank());
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        (*layout)[dim] = it->second[i];
    }
  }
  if (layout)
    layouts[numbering.of(result)] = *layout;
  return layout.has_value();
}

ScoreLayouts raise::findLayouts(Forward &f, const Numbering &numbering) {
  ScoreLayouts layouts;
  Value raw = f.algebra->getTerm(f.raw).tensor;
  Block *here = f.dot->getBlock();
  // Scores may be made outside the branch or loop that goes on with them.
  SmallVector<Block *> blocks = {here};
  while (blocks.back() != raw.getParentBlock() &&
         !isa<FunctionOpInterface>(blocks.back()->getParentOp()))
    blocks.push_back(blocks.back()->getParentOp()->getBlock());
  // The outermost first, each in order; only what reads a known layout is
  // looked at, or each score would be compared with the whole program.
  using Key = std::pair<size_t, unsigned>;
  std::map<Key, Operation *> waiting;
  auto wait = [&](unsigned number, std::optional<Key> after) {
    for (const Numbering::Place &place : numbering.readersOf(number)) {
      auto block = llvm::find(blocks, place.block);
      Key key(blocks.end() - block, place.order);
      if (block != blocks.end() && (!after || key > *after))
        waiting.emplace(key, place.op);
    }
  };
  layouts.byNumber[numbering.of(raw)] = f.algebra->getTerm(f.raw).tensorLayout;
  wait(numbering.of(raw), std::nullopt);
  while (!waiting.empty()) {
    auto [key, op] = *waiting.begin();
    waiting.erase(waiting.begin());
    if (addLayout(*op, f, numbering, layouts.byNumber))
      wait(numbering.of(op->getResult(0)), key);
  }
  std::map<unsigned, Operation *> readers;
  for (const auto &entry : layouts.byNumber)
    for (const Numbering::Place &place : numbering.readersOf(entry.first))
      if (place.block == here)
        readers.emplace(place.order, place.op);
  for (auto [order, op] : readers)
    layouts.readers.push_back(op);
  return layouts;
}

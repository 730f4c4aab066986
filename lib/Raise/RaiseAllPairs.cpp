//===- RaiseAllPairs.cpp - Find attention, forward and backward -----------===//
#include "shardc/Raise/Passes.h"
#include "Emit.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_RAISEALLPAIRSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// The first op that still uses `value`, or what is made of it, once `replaced` values
/// have no users; null if none does.
static Operation *findSurvivor(Value value, const DenseSet<Value> &replaced, DenseSet<Value> &seen) {
  if (replaced.contains(value) || !seen.insert(value).second)
    return nullptr;
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != value.getParentBlock() || user->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(user))
      return user;
    for (Value result : user->getResults())
      if (Operation *survivor = findSurvivor(result, replaced, seen))
        return survivor;
  }
  return nullptr;
}

namespace {
/// Forwards on the same raw scores, and the gradients.
struct Group {
  std::vector<Forward> forwards;
  std::vector<Backward> backwards;
};
} // namespace

namespace {
/// Why the contraction `dot`, which looks like one of attention, stays as it is.
struct Miss {
  Operation *dot;
  Location place;
  std::string why;
};
} // namespace

/// True if both compute the same: one is the other again, under a checkpoint.
static bool isEqual(const Forward &a, const Forward &b, const Numbering &numbering) {
  stablehlo::DotGeneralOp one = a.dot, other = b.dot;
  return numbering.of(one.getResult()) == numbering.of(other.getResult());
}

/// Finds the gradients of `group`; true if all of it can be replaced.
static bool isWhole(Group &group, const Numbering &numbering, std::vector<Miss> &misses) {
  Forward &first = group.forwards.front();
  group.backwards = matchBackward(first, numbering);
  if (first.mayMaskRows && !group.backwards.empty()) {
    misses.push_back({first.dot, first.dot.getLoc(), "a finite number masks scores, maybe all of a row, and the gradient of such a row needs more than "
                                                     "the logarithm of its sum; mask with -inf, or by a band that leaves each row a key"});
    return false;
  }
  DenseSet<Value> replaced;
  for (Forward &f : group.forwards)
    replaced.insert(f.output);
  for (Backward &b : group.backwards) {
    for (Value value : {b.dquery, b.dkey, b.dvalue})
      if (value)
        replaced.insert(value);
    for (ExtraGradient &extra : b.extras)
      replaced.insert(extra.value);
  }
  unsigned raw = numbering.of(first.algebra->getTerm(first.raw).tensor);
  DenseSet<Value> seen;
  for (Operation &op : *first.dot->getBlock()) {
    if (op.getNumResults() != 1 || numbering.of(op.getResult(0)) != raw)
      continue;
    if (Operation *survivor = findSurvivor(op.getResult(0), replaced, seen)) {
      misses.push_back({first.dot, survivor->getLoc(), ("'" + survivor->getName().getStringRef() + "' needs the scores as well").str()});
      return false;
    }
  }
  for (Backward &b : group.backwards) {
    Operation *place = placeOf(b);
    Forward *made = nullptr;
    for (Forward &f : group.forwards)
      if (isEqual(f, first, numbering) && f.dot->isBeforeInBlock(place))
        made = &f;
    bool isThere = made != nullptr;
    for (Value value : {b.queryRoot.value, b.keyRoot.value, b.valueRoot.value, b.dout.value})
      if (value && value.getDefiningOp() && value.getDefiningOp()->getBlock() == place->getBlock())
        isThere &= value.getDefiningOp()->isBeforeInBlock(place);
    if (!isThere) {
      misses.push_back({first.dot, place->getLoc(), "its gradient is needed before what it is made of"});
      return false;
    }
  }
  return true;
}

/// Replaces `group`, all of it. Values that are gone are in `replacements`.
static void raiseGroup(Group &group, const Numbering &numbering, Replacements &replacements) {
  SmallVector<spmd::AllPairsOp> made;
  SmallVector<Operation *> places;
  for (Backward &b : group.backwards)
    places.push_back(placeOf(b));
  for (Forward &f : group.forwards)
    made.push_back(emitForward(f, replacements));
  for (auto [b, place] : llvm::zip(group.backwards, places)) {
    size_t nearest = 0;
    for (size_t i = 0; i < made.size(); ++i)
      if (isEqual(group.forwards[i], group.forwards.front(), numbering) && made[i]->isBeforeInBlock(place))
        nearest = i;
    emitBackward(group.forwards.front(), b, made[nearest], group.forwards[nearest], replacements);
  }
}

/// Erases what has no users, last first. What is missed in what is gone is no miss.
static void eraseDead(Block &block, std::vector<Miss> &misses) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(&op)) {
      llvm::erase_if(misses, [&](const Miss &miss) { return miss.dot == &op; });
      op.erase();
    }
}

/// Ops on all pairs of `block` that leave nothing of their scores over.
static std::vector<Pairs> findPairs(Block &block, const Numbering &numbering) {
  std::vector<std::vector<Pairs>> groups;
  auto rawOf = [&](const Pairs &pairs) { return numbering.of(pairs.algebra->getTerm(pairs.raw).tensor); };
  for (Operation &op : block) {
    if (!isa<chlo::TopKOp, stablehlo::SortOp, stablehlo::ReduceOp>(op))
      continue;
    std::optional<Pairs> match = matchPairs(&op, numbering);
    if (!match)
      continue;
    auto it = llvm::find_if(groups, [&](auto &group) { return rawOf(group.front()) == rawOf(*match); });
    if (it == groups.end())
      it = groups.emplace(groups.end());
    it->push_back(std::move(*match));
  }
  std::vector<Pairs> found;
  for (std::vector<Pairs> &group : groups) {
    DenseSet<Value> replaced, seen;
    for (Pairs &pairs : group)
      replaced.insert(pairs.outputs.begin(), pairs.outputs.end());
    if (!findSurvivor(group.front().algebra->getTerm(group.front().raw).tensor, replaced, seen))
      llvm::move(group, std::back_inserter(found));
  }
  return found;
}

static bool raiseBlock(Block &block, const Numbering &numbering, std::vector<Miss> &misses) {
  std::vector<Group> groups;
  for (auto dot : block.getOps<stablehlo::DotGeneralOp>()) {
    for (bool side : {false, true}) {
      std::pair<Operation *, std::string> nearMiss = {nullptr, ""};
      std::optional<Forward> match = matchForward(dot, side, numbering, nearMiss);
      if (!match) {
        if (nearMiss.first)
          misses.push_back({dot, nearMiss.first->getLoc(), nearMiss.second});
        continue;
      }
      unsigned raw = numbering.of(match->algebra->getTerm(match->raw).tensor);
      Group *group = nullptr;
      for (Group &other : groups) {
        Forward &f = other.forwards.front();
        if (numbering.of(f.algebra->getTerm(f.raw).tensor) == raw)
          group = &other;
      }
      if (!group)
        group = &groups.emplace_back();
      group->forwards.push_back(std::move(*match));
      break;
    }
  }
  // Numbers are of the program as it was: match all of it first.
  llvm::erase_if(groups, [&](Group &group) { return !isWhole(group, numbering, misses); });
  std::vector<Pairs> pairs = findPairs(block, numbering);
  Replacements replacements;
  for (Group &group : groups)
    raiseGroup(group, numbering, replacements);
  for (Pairs &one : pairs)
    emitPairs(one, replacements);
  return !groups.empty() || !pairs.empty();
}

namespace {
struct RaiseAllPairsPass final : shardc::impl::RaiseAllPairsPassBase<RaiseAllPairsPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([&](func::FuncOp func) {
      if (func.isExternal())
        return;
      Numbering numbering(func);
      SmallVector<Block *> blocks;
      func.walk([&](Block *block) {
        if (llvm::any_of(*block, llvm::IsaPred<stablehlo::DotGeneralOp, stablehlo::ReduceOp>))
          blocks.push_back(block);
      });
      std::vector<Miss> misses;
      for (Block *block : blocks)
        if (raiseBlock(*block, numbering, misses))
          eraseDead(*block, misses);
      if (explain)
        for (const Miss &miss : misses)
          emitRemark(miss.place) << "looks like attention, but is left as it is: " << miss.why;
    });
  }
};
} // namespace

void shardc::buildRaisePipeline(OpPassManager &pm) {
  pm.addPass(createRaiseAllPairsPass());
  // Reshapes of what was cut differently, and what is left over.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

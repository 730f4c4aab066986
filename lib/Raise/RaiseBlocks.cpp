//===- RaiseBlocks.cpp - Attention and pairs of a block -------------------===//
#include "RaiseBlocks.h"
#include "Emit.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// The first op that still uses `value`, or what is made of it, once `replaced`
/// values have no users; null if none does. What is in another block than
/// `block` and the value's uses it.
static Operation *findSurvivor(Value value, Block *block,
                               const DenseSet<Value> &replaced,
                               DenseSet<Value> &seen) {
  if (replaced.contains(value) || !seen.insert(value).second)
    return nullptr;
  for (Operation *user : value.getUsers()) {
    // What is kept of scores is what keeps them, not the end of the block.
    Operation *maker = value.getDefiningOp();
    if (user->hasTrait<OpTrait::IsTerminator>() &&
        isa_and_nonnull<stablehlo::DynamicUpdateSliceOp>(maker))
      return maker;
    bool isHere =
        user->getBlock() == value.getParentBlock() || user->getBlock() == block;
    if (!isHere || user->hasTrait<OpTrait::IsTerminator>() ||
        !isMemoryEffectFree(user))
      return user;
    for (Value result : user->getResults())
      if (Operation *survivor = findSurvivor(result, block, replaced, seen))
        return survivor;
  }
  return nullptr;
}

namespace {
/// Forwards on the same raw scores, and the gradients; one may have no forward
/// pass but what its scores are.
struct Group {
  std::vector<Forward> forwards;
  std::vector<Backward> backwards;
  std::optional<std::pair<Forward, Backward>> gradient;

  Forward &any() {
    return forwards.empty() ? gradient->first : forwards.front();
  }
};
} // namespace

/// True if both compute the same: one is the other again, under a checkpoint.
static bool isEqual(const Forward &a, const Forward &b,
                    const Numbering &numbering) {
  stablehlo::DotGeneralOp one = a.dot, other = b.dot;
  return numbering.of(one.getResult()) == numbering.of(other.getResult());
}

/// True if `value` is there before `place`.
static bool isThere(Value value, Operation *place) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return !op || op->getBlock() != place->getBlock() ||
         op->isBeforeInBlock(place);
}

/// The tensors that `monomial` is made of are there before `place`.
static bool isThere(const Monomial &monomial, Forward &f, Operation *place) {
  return llvm::all_of(monomial.factors, [&](auto &factor) {
    const Term &term = f.algebra->getTerm(factor.first);
    if (factor.first == f.sum)
      return true;
    if (term.tensor)
      return isThere(term.tensor, place);
    bool isOp = term.kind == TermKind::Exp || term.kind == TermKind::Log ||
                term.kind == TermKind::Inverse ||
                term.kind == TermKind::Function;
    return isOp && llvm::all_of(term.arguments, [&](PolyId argument) {
             return llvm::all_of(
                 f.algebra->get(argument),
                 [&](const Monomial &part) { return isThere(part, f, place); });
           });
  });
}

/// True if all that the scores of `f` are made of is there before `place`.
static bool isThere(Forward &f, Operation *place) {
  for (Value value : {f.queryRoot.value, f.keyRoot.value, f.valueRoot.value})
    if (!isThere(value, place))
      return false;
  for (const MoreProducts &part : f.more)
    if (!isThere(part.query.value, place) || !isThere(part.key.value, place))
      return false;
  SmallVector<TermId> terms;
  f.algebra->collectTerms(f.opScore, terms);
  f.algebra->collectTerms(f.weight, terms);
  for (TermId id : terms)
    if (const Term &term = f.algebra->getTerm(id);
        !f.isRaw(id) && term.arguments.empty() && !isThere(term.tensor, place))
      return false;
  return true;
}

/// True if all that `f` is made of dominates the place where it is to be.
static bool isThere(Forward &f) {
  if (!isThere(f, placeOf(f)))
    return false;
  for (const RowOutput &row : f.rowOutputs)
    if (!isThere(row.factor, f, row.value.getDefiningOp()))
      return false;
  return !f.isOpen || isThere(f.factor, f, f.output.getDefiningOp());
}

/// True if all that `b`, which has no forward pass, is made of is there where
/// it is to stand.
static bool isThere(Forward &f, Backward &b) {
  Operation *place = placeOf(b);
  return isThere(f, place) && isThere(b.dout.value, place) &&
         isThere(b.row, f, place) &&
         llvm::all_of(f.algebra->get(b.delta), [&](const Monomial &part) {
           return isThere(part, f, place);
         });
}

/// Finds the gradient that one of the contractions of `group` is of; leaves
/// forwards that take the same for queries.
static void findOpenGradient(Group &group, const Numbering &numbering) {
  for (Forward &f : group.forwards) {
    if (!f.isGradient || group.gradient)
      continue;
    if (std::optional<Backward> backward = matchOpenBackward(f, numbering))
      group.gradient.emplace(std::move(f), std::move(*backward));
  }
  llvm::erase_if(group.forwards, [&](const Forward &f) {
    return !f.algebra || f.isGradient ||
           (group.gradient &&
            numbering.of(f.queryRoot.value) !=
                numbering.of(group.gradient->first.queryRoot.value));
  });
}

/// A tensor that scores or weights of `f` read, and that is among `values`;
/// null if there is none.
static Value findMadeOf(Forward &f, const DenseSet<Value> &values) {
  SmallVector<TermId> terms;
  f.algebra->collectTerms(f.opScore, terms);
  f.algebra->collectTerms(f.weight, terms);
  for (TermId id : terms)
    if (const Term &term = f.algebra->getTerm(id);
        !f.isRaw(id) && term.arguments.empty() && term.tensor &&
        values.contains(term.tensor))
      return term.tensor;
  return Value();
}

/// The op that makes the elements of `value`.
static Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (
      isa<stablehlo::SliceOp, stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
          stablehlo::TransposeOp, stablehlo::ConvertOp>(op) &&
      op->getOperand(0).getDefiningOp())
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// Finds the gradients of `group` and what else its rows give; true if all of
/// it can be replaced.
static bool isWhole(Group &group, const Numbering &numbering,
                    std::vector<Miss> &misses) {
  findOpenGradient(group, numbering);
  if (group.forwards.empty() && !group.gradient)
    return false;
  Forward &first = group.any();
  // The end of a function has no place: what it takes of `values` has.
  auto placeOfUse = [](Operation *user, const DenseSet<Value> &values) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      for (Value operand : user->getOperands())
        if (values.contains(operand) && operand.getDefiningOp())
          return operand.getDefiningOp();
    return user;
  };
  auto miss = [&](Operation *place, StringRef why) {
    llvm::erase_if(misses,
                   [&](const Miss &other) { return other.dot == first.dot; });
    misses.push_back({first.dot, place->getLoc(), why.str()});
    return false;
  };
  if (!first.isOpen)
    group.backwards = matchBackward(first, numbering);
  DenseSet<Value> replaced;
  for (Forward &f : group.forwards)
    replaced.insert(f.output);
  auto replaceGradients = [&](const Backward &b) {
    for (Value value : b.replaced())
      replaced.insert(value);
  };
  llvm::for_each(group.backwards, replaceGradients);
  if (group.gradient)
    replaceGradients(group.gradient->second);
  std::vector<RowOutput> rows;
  if (!first.isGradient)
    rows = matchRowOutputs(first, numbering);
  // Exponentials that are not even summed up are no softmax.
  if (first.isOpen && !first.isGradient &&
      llvm::all_of(rows, [](const RowOutput &row) { return row.isMax; }))
    return false;
  DenseSet<Value> seen;
  for (RowOutput &row : rows)
    if (first.isOpen ||
        findSurvivor(row.value, first.dot->getBlock(), replaced, seen = {}))
      first.rowOutputs.push_back(row);
  for (RowOutput &row : rows)
    replaced.insert(row.value);
  seen.clear();
  SmallVector<Value> scores = {first.algebra->getTerm(first.raw).tensor};
  for (const MoreProducts &part : first.more)
    scores.push_back(first.algebra->getTerm(part.raw).tensor);
  SmallVector<unsigned> raw = llvm::map_to_vector(
      scores, [&](Value value) { return numbering.of(value); });
  for (unsigned number : raw)
    for (const Numbering::Place &maker : numbering.makersOf(number))
      if (maker.block == first.dot->getBlock() &&
          maker.op->getNumResults() == 1 &&
          !llvm::is_contained(scores, maker.op->getResult(0)))
        scores.push_back(maker.op->getResult(0));
  for (Value value : scores) {
    if (Operation *survivor =
            findSurvivor(value, first.dot->getBlock(), replaced, seen))
      return miss(placeOfUse(survivor, seen),
                  ("'" + survivor->getName().getStringRef() +
                   "' needs the scores as well")
                      .str());
  }
  // What a score is compared with must not be made of scores that are computed
  // elsewhere, and rounded otherwise.
  for (Forward &f : group.forwards)
    if (Value made = findMadeOf(f, seen))
      return miss(
          makerOf(made),
          ("'" + makerOf(made)->getName().getStringRef() +
           "' takes scores of several pairs together before their softmax")
              .str());
  if (group.gradient && !isThere(group.gradient->first, group.gradient->second))
    return miss(placeOf(group.gradient->second),
                "it is needed before what it is made of");
  for (Forward &f : group.forwards)
    if (!isThere(f))
      return miss(placeOf(f), "it is needed before what it is made of");
  for (Backward &b : group.backwards) {
    Operation *place = placeOf(b);
    bool isReady = llvm::any_of(group.forwards, [&](Forward &f) {
      return isEqual(f, first, numbering) && f.dot->isBeforeInBlock(place);
    });
    for (Value value :
         {b.queryRoot.value, b.keyRoot.value, b.valueRoot.value, b.dout.value})
      isReady &= isThere(value, place);
    if (!isReady)
      return miss(place, "its gradient is needed before what it is made of");
  }
  return true;
}

/// Replaces `group`, all of it. Values that are gone are in `replacements`.
static void raiseGroup(Group &group, const Numbering &numbering,
                       Replacements &replacements) {
  SmallVector<spmd::AllPairsOp> made;
  SmallVector<Operation *> places;
  for (Backward &b : group.backwards)
    places.push_back(placeOf(b));
  for (Forward &f : group.forwards)
    made.push_back(emitForward(f, replacements));
  for (auto [b, place] : llvm::zip(group.backwards, places)) {
    size_t nearest = 0;
    for (size_t i = 0; i < made.size(); ++i)
      if (isEqual(group.forwards[i], group.forwards.front(), numbering) &&
          made[i]->isBeforeInBlock(place))
        nearest = i;
    emitBackward(group.forwards.front(), b, made[nearest],
                 group.forwards[nearest], replacements);
  }
  if (group.gradient)
    emitOpenBackward(group.gradient->first, group.gradient->second,
                     replacements);
}

void raise::eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
        isMemoryEffectFree(&op))
      op.erase();
}

/// Ops on all pairs of `block` that leave nothing of their scores over.
static std::vector<Pairs> findPairs(Block &block, const Numbering &numbering) {
  std::vector<std::vector<Pairs>> groups;
  auto rawOf = [&](const Pairs &pairs) {
    return numbering.of(pairs.algebra->getTerm(pairs.raw).tensor);
  };
  for (Operation &op : block) {
    if (!isa<chlo::TopKOp, stablehlo::SortOp, stablehlo::ReduceOp,
             stablehlo::DotGeneralOp>(op))
      continue;
    std::optional<Pairs> match = matchPairs(&op, numbering);
    if (!match && isa<stablehlo::DotGeneralOp>(op))
      match = matchPairs(&op, numbering, /*scoreSide=*/true);
    if (!match)
      continue;
    auto it = llvm::find_if(groups, [&](auto &group) {
      return rawOf(group.front()) == rawOf(*match);
    });
    if (it == groups.end())
      it = groups.emplace(groups.end());
    it->push_back(std::move(*match));
  }
  std::vector<Pairs> found;
  for (std::vector<Pairs> &group : groups) {
    DenseSet<Value> replaced, seen;
    for (Pairs &pairs : group)
      replaced.insert(pairs.outputs.begin(), pairs.outputs.end());
    if (!findSurvivor(group.front().algebra->getTerm(group.front().raw).tensor,
                      &block, replaced, seen))
      llvm::move(group, std::back_inserter(found));
  }
  return found;
}

/// The number of the scores of `f`.
static unsigned rawOf(const Forward &f, const Numbering &numbering) {
  return numbering.of(f.algebra->getTerm(f.raw).tensor);
}

/// Finds attention in `block`, if `open` that of one block of keys among
/// others. Scores that are found, or are found to be none, are added to
/// `known`; those that are in it are not looked at.
static void findGroups(Block &block, bool open, const Numbering &numbering,
                       std::vector<Group> &groups, DenseSet<unsigned> &known,
                       std::vector<Miss> &misses) {
  std::vector<Group> found;
  llvm::DenseMap<unsigned, size_t> places;
  for (auto dot : block.getOps<stablehlo::DotGeneralOp>()) {
    for (bool side : {false, true}) {
      std::pair<Operation *, std::string> nearMiss = {nullptr, ""};
      std::optional<Forward> match =
          matchForward(dot, side, open, numbering, nearMiss);
      if (!match) {
        if (nearMiss.first && !open)
          misses.push_back({dot, nearMiss.first->getLoc(), nearMiss.second});
        continue;
      }
      unsigned raw = rawOf(*match, numbering);
      if (known.contains(raw))
        continue;
      size_t place = places.try_emplace(raw, found.size()).first->second;
      if (place == found.size())
        found.emplace_back();
      found[place].forwards.push_back(std::move(*match));
      break;
    }
  }
  for (Group &group : found) {
    known.insert(rawOf(group.forwards.front(), numbering));
    if (isWhole(group, numbering, misses))
      groups.push_back(std::move(group));
  }
}

static bool raiseBlock(Block &block, const Numbering &numbering) {
  // Numbers are of the program as it was: match all of it first.
  std::vector<Group> groups;
  std::vector<Miss> misses;
  DenseSet<unsigned> known;
  for (bool open : {false, true})
    findGroups(block, open, numbering, groups, known, misses);
  std::vector<Pairs> pairs = findPairs(block, numbering);
  // Products that attention is made of are its own.
  DenseSet<unsigned> taken;
  for (Group &group : groups)
    taken.insert(rawOf(group.any(), numbering));
  llvm::erase_if(pairs, [&](const Pairs &one) {
    return taken.contains(numbering.of(one.algebra->getTerm(one.raw).tensor));
  });
  Replacements replacements;
  for (Group &group : groups)
    raiseGroup(group, numbering, replacements);
  for (Pairs &one : pairs)
    emitPairs(one, replacements);
  return !groups.empty() || !pairs.empty();
}

/// The blocks of `func` that may have attention, or sums of pairs.
static SmallVector<Block *> blocksOf(func::FuncOp func) {
  SmallVector<Block *> blocks;
  func.walk([&](Block *block) {
    if (llvm::any_of(
            *block,
            llvm::IsaPred<stablehlo::DotGeneralOp, stablehlo::ReduceOp>))
      blocks.push_back(block);
  });
  return blocks;
}

void raise::raiseBlocks(func::FuncOp func) {
  Numbering numbering(func);
  for (Block *block : blocksOf(func))
    if (raiseBlock(*block, numbering))
      eraseDead(*block);
}

std::vector<Miss> raise::findMisses(func::FuncOp func) {
  Numbering numbering(func);
  std::vector<Miss> misses;
  for (Block *block : blocksOf(func)) {
    std::vector<Group> groups;
    DenseSet<unsigned> known;
    for (bool open : {false, true})
      findGroups(*block, open, numbering, groups, known, misses);
  }
  return misses;
}

//===- AlignedDims.cpp - Which dims ops cut alike -------------------------===//
//
// Dims of tensors that ops cut alike, by sets: what one factor of an op
// indexes, if it is all of them. Of a set some dims have as many elements: they
// may be cut alike. Others are reached by strides and reshapes, each of which
// says how one side is cut by how the other is.
//
//===----------------------------------------------------------------------===//
#include "AlignedDims.h"

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;

/// True if a dim of `size` elements, which `map` indexes by `factor`, is cut
/// where the factor is: it has one element, or so many, for each of its
/// iterations, and hardly more than those.
static bool followsFactor(const ShardingRule &rule, const IndexMap &map,
                          int64_t factor, int64_t size) {
  int64_t step = 0, around = 0;
  for (const IndexTerm &term : map.terms)
    if (term.factor == factor)
      step = std::abs(term.coefficient);
    else
      around +=
          std::abs(term.coefficient) * (rule.factors[term.factor].size - 1);
  int64_t read = step * rule.factors[factor].size,
          there = (size - 1) * map.baseDilation + 1;
  return std::abs(read - there) < step + map.baseDilation + around;
}

namespace {
/// A dim of an operand or result that follows a factor.
struct Follower {
  int64_t tensor, dim, factor;
  const IndexMap *map;
};
} // namespace

static SmallVector<Follower> followersOf(const Problem &problem,
                                         const OpNode &op) {
  SmallVector<Follower> found;
  auto add = [&](ArrayRef<TensorRule> rules, ArrayRef<int64_t> tensors) {
    for (auto [rule, tensor] : llvm::zip(rules, tensors)) {
      if (tensor < 0)
        continue;
      for (auto [dim, map] : llvm::enumerate(rule.dims))
        if (std::optional<int64_t> factor = shardingFactorOf(op.rule, map);
            factor && followsFactor(op.rule, map, *factor,
                                    problem.tensors[tensor].shape[dim]))
          found.push_back({tensor, static_cast<int64_t>(dim), *factor, &map});
    }
  };
  add(op.rule.operands, op.operands);
  add(op.rule.results, op.results);
  return found;
}

AlignedDims::AlignedDims(const Problem &problem) : problem(problem) {
  firstPlaces.push_back(0);
  for (const TensorState &tensor : problem.tensors)
    firstPlaces.push_back(firstPlaces.back() + tensor.shape.size());
  opsOf.resize(problem.tensors.size());
  sets.grow(firstPlaces.back());
  for (const OpNode &op : problem.ops) {
    SmallVector<int64_t> known(op.rule.factors.size(), -1);
    for (const Follower &follower : followersOf(problem, op)) {
      unsigned place = placeOf(follower.tensor, follower.dim);
      if (known[follower.factor] >= 0)
        sets.join(known[follower.factor], place);
      known[follower.factor] = place;
      std::vector<const OpNode *> &ops = opsOf[follower.tensor];
      if (ops.empty() || ops.back() != &op)
        ops.push_back(&op);
    }
  }
  sets.compress();
}

void AlignedDims::spread(int64_t tensor, int64_t dim, const Boundaries &bounds,
                         Places &known) const {
  SmallVector<std::pair<int64_t, int64_t>> work{{tensor, dim}};
  known[placeOf(tensor, dim)] = bounds;
  for (size_t next = 0; next < work.size(); ++next) {
    auto [fromTensor, fromDim] = work[next];
    const Boundaries from = *known[placeOf(fromTensor, fromDim)];
    for (const OpNode *op : opsOf[fromTensor]) {
      RuleView view = viewOf(problem, *op);
      SmallVector<Follower> followers = followersOf(problem, *op);
      for (const Follower &source : followers) {
        if (source.tensor != fromTensor || source.dim != fromDim)
          continue;
        Boundaries factor = factorFromDim(
            view, *source.map, kindOf(op->rule, *source.map, from.size()),
            source.factor, from);
        for (const Follower &target : followers) {
          std::optional<Boundaries> &found =
              known[placeOf(target.tensor, target.dim)];
          if (target.factor != source.factor || found || !factor.formula())
            continue;
          int64_t size = problem.tensors[target.tensor].shape[target.dim];
          Boundaries derived = dimFromFactor(
              view, *target.map, kindOf(op->rule, *target.map, size),
              target.factor, factor, size);
          if (!derived.formula().isOpen())
            continue;
          found = derived;
          work.push_back({target.tensor, target.dim});
        }
      }
    }
  }
}

Boundaries AlignedDims::lie(int64_t tensor, int64_t dim,
                            const std::vector<llvm::StringRef> &axes,
                            const Boundaries &given) {
  unsigned place = placeOf(tensor, dim);
  auto [first, isNew] =
      firsts.try_emplace({sets[place], given.size(), axes}, given);
  if (!isNew)
    return first->second;
  if (auto asked = preferred.find({sets[place], given.size()});
      asked != preferred.end() &&
      asked->second.numShards() == given.numShards()) {
    first->second = asked->second;
    return first->second;
  }
  Places &known = followers[axes];
  known.resize(firstPlaces.back());
  const std::optional<Boundaries> &derived = known[place];
  if (derived && derived->size() == given.size() &&
      derived->numShards() == given.numShards())
    first->second = *derived;
  else
    spread(tensor, dim, given, known);
  return first->second;
}

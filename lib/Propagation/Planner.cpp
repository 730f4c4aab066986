//===- Planner.cpp - Several layouts of one value at the least cost -------===//
//
// Going from one layout to another at once moves what each rank needs and has
// not, which nothing can undercut. But a value that is needed in several
// layouts may be gathered once and then sliced, or go through one that nobody
// asked for. So: the cheapest tree that reaches all of them from the one there
// is.
//
//===----------------------------------------------------------------------===//
#include "shardc/Propagation/Problem.h"

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;
/// Of plans that move as many bytes the one with the fewest steps wins: this is
/// less than any byte. A step is no synchronisation of its own: exchanges that
/// are ready together become one (spmd-bucket-exchanges). [maths]
static constexpr double kStep = 1.0 / 1024;
/// Of more layouts than this no pair is looked at for one that leads to both.
/// [limit]
static constexpr size_t kMaxTargets = 8;

namespace {
/// The costs of all steps, in bytes along the machine's plain link: entry (i,
/// j) leads from place i to place j; place 0 is the source, place i + 1 layout
/// i.
using Costs = std::vector<std::vector<double>>;
/// For each place the one that it comes from; -1 for the source.
using Tree = std::vector<int64_t>;
} // namespace

static Costs costsOf(const Problem &problem, const TensorState &source,
                     ArrayRef<TensorState> layouts) {
  Costs costs;
  for (size_t i = 0; i <= layouts.size(); ++i) {
    costs.emplace_back(1, 0);
    for (const TensorState &to : layouts) {
      const TensorState &from = i == 0 ? source : layouts[i - 1];
      double bytes = bytesMoved(problem, from, to);
      costs.back().push_back(
          bytes > 0
              ? bytes * problem.cost.slowdown(axesCrossed(from, to)) + kStep
              : 0);
    }
  }
  return costs;
}

/// The places on a cycle of `tree`; none if all come from the source.
static std::vector<bool> findCycle(const Tree &tree) {
  for (size_t start = 1; start < tree.size(); ++start) {
    std::vector<bool> seen(tree.size(), false);
    int64_t at = start;
    while (at > 0 && !seen[at]) {
      seen[at] = true;
      at = tree[at];
    }
    if (at <= 0)
      continue;
    std::vector<bool> cycle(tree.size(), false);
    for (int64_t place = at; !cycle[place]; place = tree[place])
      cycle[place] = true;
    return cycle;
  }
  return {};
}

/// The cheapest tree that reaches every place from the source (Chu and Liu;
/// Edmonds): each takes its cheapest step; a cycle becomes one place, and opens
/// where entering it costs least. Of steps that cost the same the one from the
/// source, then the first.
static Tree cheapestTree(const Costs &costs) {
  size_t count = costs.size();
  Tree tree(count, -1);
  for (size_t to = 1; to < count; ++to)
    for (size_t from = 0; from < count; ++from)
      if (from != to && (tree[to] < 0 || costs[from][to] < costs[tree[to]][to]))
        tree[to] = from;
  std::vector<bool> cycle = findCycle(tree);
  if (cycle.empty())
    return tree;

  std::vector<size_t> old; // of each place but the cycle, which comes last
  for (size_t place = 0; place < count; ++place)
    if (!cycle[place])
      old.push_back(place);
  size_t joined = old.size();
  Costs less(joined + 1, std::vector<double>(joined + 1, 0));
  std::vector<size_t> entry(joined, 0), exit(joined, 0);
  for (size_t i = 0; i < joined; ++i) {
    for (size_t j = 0; j < joined; ++j)
      less[i][j] = costs[old[i]][old[j]];
    for (size_t place = 0; place < count; ++place) {
      if (!cycle[place])
        continue;
      double in = costs[old[i]][place] - costs[tree[place]][place],
             out = costs[place][old[i]];
      if (!entry[i] || in < less[i][joined]) {
        less[i][joined] = in;
        entry[i] = place;
      }
      if (!exit[i] || out < less[joined][i]) {
        less[joined][i] = out;
        exit[i] = place;
      }
    }
  }
  Tree outer = cheapestTree(less);
  for (size_t i = 1; i < joined; ++i)
    tree[old[i]] = outer[i] == int64_t(joined) ? exit[i] : old[outer[i]];
  tree[entry[outer[joined]]] = old[outer[joined]];
  return tree;
}

static double costOf(const Costs &costs, const Tree &tree) {
  double sum = 0;
  for (size_t to = 1; to < tree.size(); ++to)
    sum += costs[tree[to]][to];
  return sum;
}

/// The layout that has what either needs: of each dim the axes with which both
/// begin.
static TensorState meet(const Problem &problem, const TensorState &a,
                        const TensorState &b) {
  TensorState result = a;
  for (auto [dim, other] : llvm::zip_equal(result.dims, b.dims)) {
    size_t common = 0;
    while (common < std::min(dim.axes.size(), other.axes.size()) &&
           dim.axes[common] == other.axes[common])
      ++common;
    Boundaries mine = dim.bounds.coarsen(
        problem.shards(ArrayRef(dim.axes).drop_front(common)));
    if (mine != other.bounds.coarsen(
                    problem.shards(ArrayRef(other.axes).drop_front(common)))) {
      common = 0;
      mine = Boundaries::whole(dim.bounds.size());
    }
    dim.axes.truncate(common);
    dim.origins.truncate(std::min(common, dim.origins.size()));
    dim.bounds = mine;
  }
  return result;
}

ReshardPlan propagation::planReshards(const Problem &problem,
                                      const TensorState &source,
                                      ArrayRef<TensorState> targets) {
  ReshardPlan plan;
  double cost = -1;
  auto consider = [&](std::vector<TensorState> layouts) {
    Costs costs = costsOf(problem, source, layouts);
    Tree tree = cheapestTree(costs);
    double total = costOf(costs, tree);
    if (cost >= 0 && total >= cost)
      return;
    cost = total;
    plan.layouts = std::move(layouts);
    plan.from.clear();
    for (int64_t parent : llvm::drop_begin(tree))
      plan.from.push_back(parent - 1);
  };
  consider(targets.vec());
  if (targets.size() > kMaxTargets)
    return plan;
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      std::vector<TensorState> layouts = targets.vec();
      layouts.push_back(meet(problem, targets[i], targets[j]));
      if (llvm::none_of(targets, [&](const TensorState &target) {
            return sameLayout(target, layouts.back());
          }))
        consider(std::move(layouts));
    }
  return plan;
}

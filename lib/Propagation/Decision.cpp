//===- Decision.cpp - How one op runs -------------------------------------===//
//
// Once every tensor has its layout, each op decides how its factors are cut.
// Where the tensors agree there is nothing to decide. Where they do not, every
// way to give each axis to at most one factor is priced: the time that bytes
// travel before and after, and the memory that each rank goes through.
//
//===----------------------------------------------------------------------===//
#include "Followed.h"
#include "Settle.h"
#include <cmath>

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// More ways than this and factors are decided one after another. [limit]
static constexpr int64_t kMaxWays = 512;

static DimState impliedDim(const RuleView &view, ArrayRef<FactorState> factors,
                           const IndexMap &map, RuleView::Dim dim, int64_t size,
                           const DimState &current, bool mayKeepBounds) {
  DimState implied;
  implied.bounds = Boundaries::whole(size);
  if (dim.factor < 0 || factors[dim.factor].axes.empty())
    return implied;
  const FactorState &factor = factors[dim.factor];
  implied.axes = factor.axes;
  if (mayKeepBounds && dim.kind == MapKind::Window &&
      current.axes == factor.axes)
    implied.bounds = current.bounds;
  else
    implied.bounds =
        dimFromFactor(view, map, dim.kind, dim.factor, factor.bounds, size);
  return implied;
}

static TensorState
impliedTensor(const RuleView &view, ArrayRef<FactorState> factors,
              const TensorRule &rule, ArrayRef<RuleView::Dim> dims,
              const TensorState &current, bool mayKeepBounds) {
  TensorState implied = TensorState::open(current.shape, current.elementBytes);
  for (auto [i, dim] : llvm::enumerate(dims))
    implied.dims[i] =
        impliedDim(view, factors, rule.dims[i], dim, current.shape[i],
                   current.dims[i], mayKeepBounds);
  return implied;
}

TensorState propagation::impliedOperand(const Problem &problem,
                                        const RuleView &view,
                                        ArrayRef<FactorState> factors,
                                        int64_t operand,
                                        const TensorState &current) {
  return impliedTensor(view, factors, view.rule->operands[operand],
                       view.operands[operand], current, /*mayKeepBounds=*/true);
}

TensorState propagation::impliedResult(const Problem &problem,
                                       const RuleView &view,
                                       ArrayRef<FactorState> factors,
                                       int64_t result,
                                       const TensorState &current) {
  return impliedTensor(view, factors, view.rule->results[result],
                       view.results[result], current, /*mayKeepBounds=*/false);
}

namespace {

/// One way to cut a factor.
struct Option {
  FactorState state;
  bool isExact = false; ///< a dim asks for it as it is
};

class Decider {
public:
  Decider(const Problem &problem, const OpNode &op, const Leeway *leeway = {})
      : problem(problem), op(op), view(viewOf(problem, op)), leeway(leeway) {}

  SmallVector<FactorState, 8> run();
  /// Nothing but the op reads its operands.
  bool readsAlone = false;
  /// See propagation::bytesAsked; of a rank that has `share` of the op.
  double bytesAsked(ArrayRef<FactorState> factors, int64_t factor,
                    double share) const;
  double bytesHeld(ArrayRef<FactorState> factors, int64_t factor) const;
  /// True if ranks publish which rows they ask for: they synchronise
  /// once more than for a gather.
  bool asksFirst(ArrayRef<FactorState> factors, int64_t factor) const;
  /// Bytes that arrive at all ranks together when the local form communicates
  /// along `factor`, which is cut.
  double bytesOfLocalForm(ArrayRef<FactorState> factors, int64_t factor) const;
  /// True if rows are picked along `factor` out of one operand.
  bool isGathered(int64_t factor) const;
  /// The part of the op that one rank computes.
  double shareOf(ArrayRef<FactorState> factors) const;
  /// Seconds, summed over ranks.
  double costOf(ArrayRef<FactorState> factors) const;

private:
  /// Seconds to have operand `number` as `layout` says.
  double secondsToRead(int64_t number, const TensorState &layout) const;
  void collectOptions();
  void addSums();
  bool mayTake(int64_t factor, ArrayRef<int64_t> axes,
               ArrayRef<FactorState> factors) const;
  void addOption(int64_t factor, ArrayRef<int64_t> axes, Boundaries bounds,
                 bool isExact);
  bool isUnanimous() const;
  /// True if rows are picked along `factor`: those that indices name.
  bool isPicked(int64_t factor) const {
    return factor >= 0 &&
           view.rule->factors[factor].kind == FactorKind::Distributed &&
           view.rule->factors[factor].askedBytes > 0;
  }
  /// True if `factor` travels in parts that are sent to whoever asks or owns.
  bool isAsked(ArrayRef<FactorState> factors, int64_t factor) const;
  void enumerate(size_t next, SmallVectorImpl<FactorState> &factors,
                 SmallVectorImpl<FactorState> &best, double &bestCost) const;

  const Problem &problem;
  const OpNode &op;
  RuleView view;
  const Leeway *leeway; ///< null where there is none
  SmallVector<SmallVector<Option, 4>, 8> options;
  /// For each factor: a dim could be cut along it and is not.
  SmallVector<bool, 8> someDimIsWhole;
};

} // namespace

void Decider::addOption(int64_t factor, ArrayRef<int64_t> axes,
                        Boundaries bounds, bool isExact) {
  for (Option &option : options[factor])
    if (ArrayRef(option.state.axes) == axes && option.state.bounds == bounds) {
      option.isExact |= isExact;
      return;
    }
  options[factor].push_back(
      {{SmallVector<int64_t, 2>(axes), std::move(bounds)}, isExact});
}

void Decider::collectOptions() {
  options.resize(view.sizes.size());
  someDimIsWhole.assign(view.sizes.size(), false);
  auto collect = [&](ArrayRef<int64_t> tensors, ArrayRef<TensorRule> rules,
                     ArrayRef<SmallVector<RuleView::Dim, 4>> dims) {
    for (auto [number, rule, dimViews] :
         llvm::zip_equal(tensors, rules, dims)) {
      if (number < 0)
        continue;
      const TensorState &tensor = problem.tensors[number];
      for (auto [i, dim] : llvm::enumerate(dimViews)) {
        if (dim.factor < 0 || !view.canCut[dim.factor])
          continue;
        const DimState &state = tensor.dims[i];
        if (state.axes.empty()) {
          someDimIsWhole[dim.factor] |= tensor.shape[i] > 1;
          continue;
        }
        addOption(dim.factor, state.axes,
                  factorFromDim(view, rule.dims[i], dim.kind, dim.factor,
                                state.bounds),
                  dim.kind != MapKind::Window);
      }
    }
  };
  // Results first: they win ties.
  if (!leeway)
    collect(op.results, op.rule.results, ArrayRef(view.results));
  collect(op.operands, op.rule.operands, ArrayRef(view.operands));

  for (auto [factor, list] : llvm::enumerate(options)) {
    // A window takes any boundaries, so it does not ask for its own where
    // another dim asks for the same axes.
    SmallVector<Option, 4> kept;
    for (const Option &option : list)
      if (option.isExact || llvm::none_of(list, [&](const Option &other) {
            return other.isExact && other.state.axes == option.state.axes;
          }))
        kept.push_back(option);
    if (view.rule->factors[factor].evenOnly)
      llvm::erase_if(kept, [](const Option &option) {
        return !option.state.bounds.uniformShardSize();
      });
    list = std::move(kept);
  }
}

/// Whether `factor` may be cut along `axes` beside the first factors, which are
/// cut as `factors` says: an axis once, but for factors whose blocks travel.
bool Decider::mayTake(int64_t factor, ArrayRef<int64_t> axes,
                      ArrayRef<FactorState> factors) const {
  for (auto [number, other] : llvm::enumerate(factors)) {
    if (int64_t(number) == factor || view.mayShareAxis(factor, number))
      continue;
    if (llvm::any_of(axes, [&](int64_t axis) {
          return llvm::is_contained(other.axes, axis);
        }))
      return false;
  }
  return true;
}

/// An axis that cuts two factors may cut what is summed over instead: then both
/// operands are transposed, and parts of the result are summed, which is less
/// than to gather an operand where the sum is long, and nobody else needs it
/// gathered.
void Decider::addSums() {
  SmallVector<int64_t> once, twice;
  for (const auto &list : options) {
    SmallVector<int64_t> axes;
    for (const Option &option : list)
      for (int64_t axis : option.state.axes)
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
    for (int64_t axis : axes)
      (llvm::is_contained(once, axis) ? twice : once).push_back(axis);
  }
  auto isWindow = [&](int64_t factor) {
    return llvm::any_of(view.operands, [&](ArrayRef<RuleView::Dim> dims) {
      return llvm::any_of(dims, [&](const RuleView::Dim &dim) {
        return dim.factor == factor && dim.kind != MapKind::Identity;
      });
    });
  };
  for (auto [number, factor] : llvm::enumerate(view.rule->factors))
    if (factor.kind == FactorKind::Reduction && !factor.evenOnly &&
        factor.askedBytes == 0 && view.canCut[number] && !isWindow(number))
      for (int64_t axis : twice)
        if (problem.shards(axis) <= view.sizes[number])
          addOption(number, axis,
                    balancedOver(view.extents, view.sizes[number],
                                 problem.shards(axis)),
                    /*isExact=*/false);
}

bool Decider::isUnanimous() const {
  SmallVector<FactorState, 8> factors;
  for (auto [factor, list] : llvm::enumerate(options)) {
    if (list.size() > 1 || (!list.empty() && someDimIsWhole[factor]))
      return false;
    if (!list.empty() && !mayTake(factor, list.front().state.axes, factors))
      return false;
    // A small operand is better gathered than asked for rows.
    if (!list.empty() && isPicked(factor))
      return false;
    factors.push_back(list.empty() ? FactorState() : list.front().state);
  }
  return true;
}

bool Decider::isAsked(ArrayRef<FactorState> factors, int64_t factor) const {
  const Factor &asked = view.rule->factors[factor];
  if (asked.askedBytes <= 0 || factors[factor].axes.empty())
    return false;
  // Partial results are combined as ever where their result is whole.
  return asked.kind != FactorKind::Reduction ||
         llvm::any_of(
             llvm::zip_equal(view.rule->factors, factors), [](auto it) {
               return std::get<0>(it).kind == FactorKind::Distributed &&
                      !std::get<0>(it).travels && !std::get<1>(it).axes.empty();
             });
}

/// True if tensor `number`, an operand with these dims, has a dim along
/// `factor`.
static bool holds(int64_t number, ArrayRef<RuleView::Dim> dims,
                  int64_t factor) {
  return number >= 0 && llvm::any_of(dims, [&](const RuleView::Dim &dim) {
           return dim.factor == factor;
         });
}

bool Decider::isGathered(int64_t factor) const {
  return isPicked(factor) &&
         llvm::count_if(
             llvm::zip_equal(op.operands, view.operands), [&](auto it) {
               return holds(std::get<0>(it), std::get<1>(it), factor);
             }) == 1;
}

/// Bytes of the operand that has `factor`, of which a rank has what it does of
/// other factors.
double Decider::bytesHeld(ArrayRef<FactorState> factors, int64_t factor) const {
  double held = 0;
  for (auto [number, dims] : llvm::zip_equal(op.operands, view.operands)) {
    if (!holds(number, dims, factor))
      continue;
    held = double(problem.tensors[number].bytes());
    for (const RuleView::Dim &dim : dims)
      if (dim.factor >= 0 && dim.factor != factor &&
          !factors[dim.factor].axes.empty())
        held /= double(problem.shards(factors[dim.factor].axes));
  }
  return held;
}

/// Bytes that arrive at all ranks together, each of which computes `share` of
/// the op, when rows travel along `factor`. Of rows that are asked for at
/// random out of an operand, a rank gets each once.
double Decider::bytesAsked(ArrayRef<FactorState> factors, int64_t factor,
                           double share) const {
  double wanted = view.rule->factors[factor].askedBytes * share,
         held = bytesHeld(factors, factor);
  if (isGathered(factor) && held > 0)
    wanted = held * (1 - std::exp(-wanted / held));
  return double(problem.numRanks()) * wanted *
         (1 - 1 / double(problem.shards(factors[factor].axes)));
}

bool Decider::asksFirst(ArrayRef<FactorState> factors, int64_t factor) const {
  // Ranks that hold the same indices need not publish what they ask
  // for.
  return !isGathered(factor) ||
         llvm::any_of(llvm::enumerate(factors), [&](auto it) {
           return int64_t(it.index()) != factor &&
                  llvm::any_of(it.value().axes, [&](int64_t axis) {
                    return llvm::is_contained(factors[factor].axes, axis);
                  });
         });
}

/// The part of a factor that the longest shard has.
static double longestPart(const Boundaries &bounds, int64_t size) {
  double longest = double(bounds.maxShardSize());
  double even = double(bounds.size()) / double(bounds.numShards());
  if (bounds.formula() && longest <= even + double(mostRounded))
    longest = even;
  return longest / double(std::max<int64_t>(1, size));
}

double Decider::shareOf(ArrayRef<FactorState> factors) const {
  double share = 1;
  for (auto [factor, state] : llvm::zip_equal(view.rule->factors, factors)) {
    if (state.axes.empty())
      continue;
    // What travels to where it is combined divides the work, but not once more.
    bool divides = !factor.travels;
    if (factor.travels && factor.kind == FactorKind::Reduction)
      divides = llvm::none_of(
          llvm::zip_equal(view.rule->factors, factors), [&](auto it) {
            return !std::get<0>(it).travels &&
                   llvm::any_of(std::get<1>(it).axes, [&](int64_t axis) {
                     return llvm::is_contained(state.axes, axis);
                   });
          });
    if (divides)
      share *= longestPart(state.bounds, factor.size);
  }
  return share;
}

double Decider::bytesOfLocalForm(ArrayRef<FactorState> factors,
                                 int64_t factor) const {
  const Factor &moved = view.rule->factors[factor];
  int64_t followed = followedBy(*view.rule, moved);
  if (followed < 0 || factors[followed].axes == factors[factor].axes)
    return moved.movedBytes;
  return bytesHeld(factors, factor) *
         (double(problem.numRanks()) -
          double(problem.numRanks()) /
              double(problem.shards(factors[factor].axes)));
}

double Decider::secondsToRead(int64_t number, const TensorState &layout) const {
  double seconds =
      secondsMoved(problem, problem.tensors[op.operands[number]], layout);
  if (leeway)
    for (const TensorState &held : leeway->held[number])
      seconds = std::min(seconds, secondsMoved(problem, held, layout));
  return seconds;
}

double Decider::costOf(ArrayRef<FactorState> factors) const {
  const Cost &price = problem.cost;
  double cost = 0, bytes = 0, share = shareOf(factors), partial = 1,
         ranks = double(problem.numRanks());
  SmallVector<int64_t, 4> reduced;
  for (auto [factor, state] : llvm::zip_equal(view.rule->factors, factors)) {
    if (state.axes.empty())
      continue;
    cost += price.move(
        bytesOfLocalForm(factors, &factor - view.rule->factors.begin()),
        state.axes);
    if (factor.kind == FactorKind::Reduction &&
        !isAsked(factors, &factor - view.rule->factors.begin())) {
      partial *= double(problem.shards(state.axes));
      reduced.append(state.axes.begin(), state.axes.end());
    }
  }
  for (size_t i = 0; i < factors.size(); ++i)
    if (isAsked(factors, i)) {
      cost += price.move(bytesAsked(factors, i, share), factors[i].axes);
      if (asksFirst(factors, i))
        cost += ranks * price.synchronize(factors[i].axes);
    }
  for (auto [i, number] : llvm::enumerate(op.operands)) {
    if (number < 0)
      continue;
    const TensorState &tensor = problem.tensors[number];
    // Where rows are picked, the work is in those that are.
    if (llvm::none_of(view.operands[i], [&](const RuleView::Dim &dim) {
          return isPicked(dim.factor);
        }))
      bytes += double(tensor.bytes());
    cost += secondsToRead(i, impliedOperand(problem, view, factors, i, tensor));
  }
  for (auto [i, number] : llvm::enumerate(op.results)) {
    if (number < 0)
      continue;
    const TensorState &tensor = problem.tensors[number];
    bytes += double(tensor.bytes());
    TensorState computed = impliedResult(problem, view, factors, i, tensor);
    if (!leeway)
      cost += secondsMoved(problem, computed, tensor);
    if (partial > 1) {
      double local = double(tensor.elementBytes) * ranks;
      for (const DimState &dim : computed.dims)
        local *= double(dim.bounds.size()) / double(dim.bounds.numShards());
      // A result that is cut along the same axes is scattered, not repeated.
      bool scattered = !leeway && llvm::any_of(reduced, [&](int64_t axis) {
        return tensor.dimOfAxis(axis) >= 0;
      });
      cost +=
          price.move((scattered ? 1 : 2) * local * (1 - 1 / partial), reduced);
    }
  }
  return cost + price.access(share * bytes * ranks);
}

void Decider::enumerate(size_t next, SmallVectorImpl<FactorState> &factors,
                        SmallVectorImpl<FactorState> &best,
                        double &bestCost) const {
  if (next == options.size()) {
    double cost = costOf(factors);
    if (bestCost >= 0 && cost >= bestCost)
      return;
    bestCost = cost;
    best.assign(factors.begin(), factors.end());
    return;
  }
  FactorState whole = {{}, Boundaries::whole(view.sizes[next])};
  for (const Option &option : options[next]) {
    if (!mayTake(next, option.state.axes, factors))
      continue;
    factors[next] = option.state;
    enumerate(next + 1, factors, best, bestCost);
    factors[next] = whole;
  }
  enumerate(next + 1, factors, best, bestCost);
}

SmallVector<FactorState, 8> Decider::run() {
  SmallVector<FactorState, 8> factors;
  for (int64_t size : view.sizes)
    factors.push_back({{}, Boundaries::whole(size)});
  collectOptions();
  if (isUnanimous()) {
    for (auto [factor, list] : llvm::zip_equal(factors, options))
      if (!list.empty())
        factor = list.front().state;
    return factors;
  }

  if (readsAlone)
    addSums();
  // Shorter lists of axes are options too: an axis may be wanted elsewhere.
  int64_t ways = 1;
  for (auto [factor, list] : llvm::enumerate(options)) {
    bool evenOnly = view.rule->factors[factor].evenOnly;
    for (size_t i = 0; i < list.size(); ++i) {
      FactorState state = list[i].state;
      if (state.axes.size() < 2)
        continue;
      Boundaries coarser =
          state.bounds.coarsen(problem.shards(state.axes.back()));
      state.axes.pop_back();
      if (!evenOnly || coarser.uniformShardSize())
        addOption(factor, state.axes, coarser, list[i].isExact);
    }
    ways = std::min<int64_t>(kMaxWays + 1, ways * (list.size() + 1));
  }
  if (ways <= kMaxWays) {
    SmallVector<FactorState, 8> best;
    double bestCost = -1;
    enumerate(0, factors, best, bestCost);
    return best;
  }
  for (auto [i, list] : llvm::enumerate(options)) {
    FactorState best = factors[i];
    double bestCost = costOf(factors);
    for (const Option &option : list) {
      if (!mayTake(i, option.state.axes, factors))
        continue;
      factors[i] = option.state;
      if (double cost = costOf(factors); cost < bestCost) {
        bestCost = cost;
        best = option.state;
      }
      factors[i] = {{}, Boundaries::whole(view.sizes[i])};
    }
    factors[i] = best;
  }
  return factors;
}

double propagation::bytesAsked(const Problem &problem, const OpNode &op,
                               ArrayRef<FactorState> factors, int64_t factor) {
  Decider decider(problem, op);
  return decider.bytesAsked(factors, factor, decider.shareOf(factors));
}

SmallVector<FactorState, 8> propagation::decideFactors(const Problem &problem,
                                                       const OpNode &op) {
  return Decider(problem, op).run();
}

SmallVector<FactorState, 8> propagation::decideFactors(const Problem &problem,
                                                       const OpNode &op,
                                                       const Leeway &leeway) {
  return Decider(problem, op, &leeway).run();
}

SmallVector<FactorState, 8>
propagation::decideFactorsOfOnly(const Problem &problem, const OpNode &op) {
  Decider decider(problem, op);
  decider.readsAlone = true;
  return decider.run();
}

double propagation::secondsOf(const Problem &problem, const OpNode &op,
                              ArrayRef<FactorState> factors,
                              const Leeway &leeway) {
  return Decider(problem, op, &leeway).costOf(factors);
}

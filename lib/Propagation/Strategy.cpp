//===- Strategy.cpp - Spreading shardings to a fix point ------------------===//
//
// One op at a time: its rule projects the dims of its tensors onto factors; the
// tensors that have a factor agree on its axes and boundaries; what they agree
// on goes back to their dims. Which ops and factors take part, and whether a
// disagreement is decided or left alone, is the strategy: user priorities
// outermost, then five stages of ops, then basic before aggressive.
//
// It ends: a dim only ever gains axes, gains strength, or has one conflict of
// boundaries settled.
//
//===----------------------------------------------------------------------===//
#include "Followed.h"
#include <cmath>
#include <deque>

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Op priorities. Each stage includes the ones before it.
enum Stage {
  SingleUsePassThrough,
  PassThrough,
  PassThroughFactors, ///< of all ops; broadcasts pass backwards only
  AllFactors,         ///< broadcasts still pass backwards only
  Everything
};

static SizeStrength weaken(SizeStrength strength) {
  return strength >= SizeStrength::DerivedExplicit
             ? SizeStrength::DerivedExplicit
             : SizeStrength::Derived;
}

static bool isPrefix(ArrayRef<int64_t> prefix, ArrayRef<int64_t> axes) {
  return prefix.size() <= axes.size() &&
         axes.take_front(prefix.size()) == prefix;
}

namespace {

/// A dim of an operand or result of the op that is visited.
struct Slot {
  int64_t tensor;
  int64_t dim;
  const IndexMap *map;
  RuleView::Dim view;
  bool isResult;
};

/// What one dim has to say about a factor.
struct Source {
  const DimState *state;
  SmallVector<int64_t, 2> axes; ///< maybe fewer than the dim has
  Boundaries bounds;            ///< of the factor, over `axes`
  SizeStrength strength;
  bool isExact;
  int64_t bytes;
  size_t number; ///< its place among the sources
};

/// What the tensors of an op agree on for a factor.
struct Agreement {
  SmallVector<int64_t, 2> axes;
  SmallVector<int64_t, 2> origins;
  Boundaries bounds;
  SizeStrength strength;
  int64_t sizeOrigin;
};

class Propagator {
public:
  explicit Propagator(Problem &problem);
  int64_t run();

private:
  bool takesPart(int64_t op) const;
  void runToFixPoint();
  void visit(int64_t op);
  void visitFactor(int64_t op, int64_t factor);
  /// Keeps axes that would be lost across `op` along the carriers of its
  /// factors.
  void carry(int64_t op);
  /// Cuts one more dim of one side of `op`, the best of the carriers of
  /// `factor`, along `axis`, which cuts `lost`.
  void carryAxis(int64_t op, const Factor &factor, bool toResults,
                 const DimState &lost, int64_t axis, int64_t origin);
  SmallVector<Source, 4> sourcesOf(int64_t op, int64_t factor) const;
  bool isUsedElsewhere(int64_t op, int64_t factor, int64_t axis) const;
  SmallVector<int64_t, 2> agreeOnAxes(int64_t op, int64_t factor,
                                      ArrayRef<Source> sources) const;
  std::optional<Agreement> agree(int64_t op, int64_t factor,
                                 ArrayRef<Source> sources) const;
  bool update(const RuleView &view, const Slot &slot, const Agreement &agreed);
  /// Broadcasts pass backwards only, until the last stage.
  Flow flowOf(int64_t op) const {
    return views[op].isBroadcast && stage < Everything ? Flow::Backward
                                                       : problem.ops[op].flow;
  }
  bool isVisible(const DimState &dim) const { return dim.priority <= round; }
  void enqueue(int64_t op);

  Problem &problem;
  std::vector<RuleView> views;
  std::vector<SmallVector<Slot, 8>> slots;
  std::vector<SmallVector<int64_t, 4>> usersOf;
  int64_t round = 0;
  int stage = 0;
  bool aggressive = false;
  std::deque<int64_t> queue;
  std::vector<bool> isQueued;
  int64_t visits = 0;
};

} // namespace

Propagator::Propagator(Problem &problem)
    : problem(problem), usersOf(problem.tensors.size()) {
  views.reserve(problem.ops.size());
  slots.resize(problem.ops.size());
  for (auto [i, op] : llvm::enumerate(problem.ops)) {
    const RuleView &view = views.emplace_back(viewOf(problem, op));
    auto addSlots = [&, i = i](ArrayRef<int64_t> tensors,
                               ArrayRef<TensorRule> rules,
                               ArrayRef<SmallVector<RuleView::Dim, 4>> dims,
                               bool isResult) {
      for (auto [tensor, rule, dimViews] :
           llvm::zip_equal(tensors, rules, dims)) {
        if (tensor < 0)
          continue;
        for (size_t d = 0; d < rule.dims.size(); ++d)
          slots[i].push_back(
              {tensor, int64_t(d), &rule.dims[d], dimViews[d], isResult});
        if (!llvm::is_contained(usersOf[tensor], int64_t(i)))
          usersOf[tensor].push_back(i);
      }
    };
    addSlots(op.operands, op.rule.operands, ArrayRef(view.operands), false);
    addSlots(op.results, op.rule.results, ArrayRef(view.results), true);
  }
  isQueued.assign(problem.ops.size(), false);
}

int64_t Propagator::run() {
  SmallVector<int64_t> rounds = {0};
  for (const TensorState &tensor : problem.tensors)
    for (const DimState &dim : tensor.dims)
      if (!dim.axes.empty() && !llvm::is_contained(rounds, dim.priority))
        rounds.push_back(dim.priority);
  llvm::sort(rounds);
  for (int64_t priority : rounds) {
    round = priority;
    for (stage = SingleUsePassThrough; stage <= Everything; ++stage)
      for (bool decide : {false, true}) {
        aggressive = decide;
        runToFixPoint();
      }
  }
  return visits;
}

bool Propagator::takesPart(int64_t op) const {
  const OpNode &node = problem.ops[op];
  if (slots[op].empty())
    return false;
  if (node.isEdge || stage >= PassThroughFactors)
    return true;
  return views[op].isPassThrough && (stage == PassThrough || node.hasSingleUse);
}

void Propagator::enqueue(int64_t op) {
  if (isQueued[op] || !takesPart(op))
    return;
  isQueued[op] = true;
  queue.push_back(op);
}

void Propagator::runToFixPoint() {
  for (int64_t op = 0, e = problem.ops.size(); op < e; ++op)
    enqueue(op);
  while (!queue.empty()) {
    int64_t op = queue.front();
    queue.pop_front();
    isQueued[op] = false;
    visit(op);
  }
}

void Propagator::visit(int64_t op) {
  ++visits;
  // Factors in the order in which they may take an axis that several want: the
  // one with the largest tensor behind it first.
  const RuleView &view = views[op];
  SmallVector<int64_t, 8> bytes(view.sizes.size(), -1);
  for (const Slot &slot : slots[op]) {
    const TensorState &tensor = problem.tensors[slot.tensor];
    if (slot.view.factor >= 0 && !tensor.dims[slot.dim].axes.empty())
      bytes[slot.view.factor] =
          std::max(bytes[slot.view.factor], tensor.bytes());
  }
  SmallVector<int64_t, 8> order;
  for (auto [factor, canCut] : llvm::enumerate(view.canCut))
    if (canCut && bytes[factor] >= 0 &&
        (stage >= AllFactors ||
         view.rule->factors[factor].kind == FactorKind::PassThrough))
      order.push_back(factor);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::pair(-bytes[a], a) < std::pair(-bytes[b], b);
  });
  for (int64_t factor : order)
    visitFactor(op, factor);
  if (stage == Everything)
    carry(op);
}

void Propagator::carry(int64_t op) {
  const RuleView &view = views[op];
  for (auto [number, factor] : llvm::enumerate(view.rule->factors))
    for (bool ofResults : {false, true}) {
      // Of the axes on one side, those that the other has not.
      if (factor.carriers.empty())
        continue;
      SmallVector<std::tuple<DimState, int64_t, int64_t>, 2> lost;
      for (const Slot &slot : slots[op]) {
        const DimState &dim = problem.tensors[slot.tensor].dims[slot.dim];
        if (slot.view.factor == int64_t(number) && slot.isResult == ofResults &&
            isVisible(dim))
          for (auto [axis, origin] : llvm::zip(dim.axes, dim.origins))
            lost.push_back({dim, axis, origin});
      }
      for (const auto &[dim, axis, origin] : lost)
        if (llvm::none_of(slots[op], [&, axis = axis](const Slot &slot) {
              return slot.isResult != ofResults &&
                     problem.tensors[slot.tensor].dimOfAxis(axis) >= 0;
            }))
          carryAxis(op, factor, !ofResults, dim, axis, origin);
    }
}

/// Blocks of `size` elements that are to their dim what those of `bounds` are
/// to theirs.
static Boundaries inProportion(const Boundaries &bounds, int64_t size) {
  std::vector<int64_t> places;
  for (int64_t place : bounds.indices())
    places.push_back(static_cast<int64_t>(std::llround(
        static_cast<double>(place) * static_cast<double>(size) /
        static_cast<double>(std::max<int64_t>(1, bounds.size())))));
  return *Boundaries::fromBounds(places);
}

void Propagator::carryAxis(int64_t op, const Factor &factor, bool toResults,
                           const DimState &lost, int64_t axis, int64_t origin) {
  const RuleView &view = views[op];
  ShardCount ranks = problem.shards(axis);
  // The first dim that gives every rank something; else the one that gives
  // most.
  const Slot *best = nullptr;
  int64_t bestLength = 1;
  for (int64_t carrier : factor.carriers)
    for (const Slot &slot : slots[op]) {
      const TensorState &tensor = problem.tensors[slot.tensor];
      const DimState &dim = tensor.dims[slot.dim];
      if (slot.view.factor != carrier || slot.isResult != toResults ||
          !dim.open || !isVisible(dim) || dim.pinned ||
          slot.view.kind == MapKind::Window ||
          llvm::is_contained(tensor.locked, axis))
        continue;
      int64_t length = std::min<int64_t>(
          ranks,
          view.sizes[carrier] / std::max<int64_t>(1, dim.bounds.numShards()));
      if (length > bestLength) {
        best = &slot;
        bestLength = length;
      }
    }
  if (!best)
    return;
  TensorState &tensor = problem.tensors[best->tensor];
  DimState &dim = tensor.dims[best->dim];
  Boundaries whole = dim.axes.empty()
                         ? balancedOver(view.extents, dim.bounds.size(), 1)
                         : dim.bounds;
  Boundaries blocks =
      factorFromDim(view, *best->map, best->view.kind, best->view.factor, whole)
          .refine(ranks);
  // What reads rows nearby is cut where they are.
  if (followedBy(*view.rule, factor) == best->view.factor && dim.axes.empty() &&
      lost.axes.size() == 1 && !lost.bounds.formula())
    blocks = inProportion(lost.bounds, blocks.size());
  dim.axes.push_back(axis);
  dim.origins.push_back(origin);
  dim.bounds =
      dimFromFactor(view, *best->map, best->view.kind, best->view.factor,
                    blocks, tensor.shape[best->dim]);
  for (int64_t user : usersOf[best->tensor])
    enqueue(user);
}

SmallVector<Source, 4> Propagator::sourcesOf(int64_t op, int64_t factor) const {
  const RuleView &view = views[op];
  Flow flow = flowOf(op);
  SmallVector<Source, 4> sources;
  for (const Slot &slot : slots[op]) {
    if (slot.view.factor != factor ||
        flow == (slot.isResult ? Flow::Forward : Flow::Backward))
      continue;
    const TensorState &tensor = problem.tensors[slot.tensor];
    const DimState &dim = tensor.dims[slot.dim];
    if (dim.axes.empty() || !isVisible(dim))
      continue;
    ArrayRef<int64_t> axes = dim.axes;
    Boundaries bounds = dim.bounds;
    bool isExact = slot.view.kind == MapKind::Identity;
    if (slot.view.kind == MapKind::Merge) {
      // Blocks stay together: as many axes as there are blocks to give out.
      while (true) {
        Boundaries blocks =
            factorFromDim(view, *slot.map, slot.view.kind, factor, bounds);
        isExact = dimFromFactor(view, *slot.map, slot.view.kind, factor, blocks,
                                bounds.size()) == bounds;
        if (isExact || view.sizes[factor] >= bounds.numShards())
          break;
        bounds = bounds.coarsen(problem.shards(axes.back()));
        axes = axes.drop_back();
      }
      if (axes.empty())
        continue;
    }
    sources.push_back(
        {&dim, SmallVector<int64_t, 2>(axes),
         factorFromDim(view, *slot.map, slot.view.kind, factor, bounds),
         isExact ? dim.strength : weaken(dim.strength), isExact, tensor.bytes(),
         sources.size()});
  }
  return sources;
}

bool Propagator::isUsedElsewhere(int64_t op, int64_t factor,
                                 int64_t axis) const {
  return llvm::any_of(slots[op], [&](const Slot &slot) {
    return slot.view.factor != factor &&
           (slot.view.factor < 0 ||
            !views[op].mayShareAxis(factor, slot.view.factor)) &&
           llvm::is_contained(problem.tensors[slot.tensor].dims[slot.dim].axes,
                              axis);
  });
}

SmallVector<int64_t, 2>
Propagator::agreeOnAxes(int64_t op, int64_t factor,
                        ArrayRef<Source> sources) const {
  SmallVector<int64_t, 2> axes;
  if (aggressive) {
    // The largest tensor decides, then the first; others may extend it.
    const Source *best = &sources.front();
    for (const Source &source : sources.drop_front())
      if (source.bytes > best->bytes)
        best = &source;
    axes = best->axes;
    for (const Source &source : sources)
      if (isPrefix(axes, source.axes))
        axes = source.axes;
    return axes;
  }
  while (true) {
    int64_t next = -1;
    for (const Source &source : sources) {
      if (source.axes.size() <= axes.size())
        continue;
      if (next >= 0 && source.axes[axes.size()] != next)
        return axes;
      next = source.axes[axes.size()];
    }
    if (next < 0 || isUsedElsewhere(op, factor, next))
      return axes;
    axes.push_back(next);
  }
}

std::optional<Agreement> Propagator::agree(int64_t op, int64_t factor,
                                           ArrayRef<Source> sources) const {
  Agreement agreed;
  agreed.axes = agreeOnAxes(op, factor, sources);
  if (agreed.axes.empty())
    return std::nullopt;

  // Sources over a common prefix of the axes, the one that counts most first.
  SmallVector<Source, 4> fitting;
  for (const Source &source : sources) {
    Source &fit = fitting.emplace_back(source);
    if (isPrefix(source.axes, agreed.axes))
      continue;
    if (!isPrefix(agreed.axes, source.axes)) {
      fitting.pop_back();
      continue;
    }
    ArrayRef<int64_t> rest =
        ArrayRef(source.axes).drop_front(agreed.axes.size());
    fit.bounds = source.bounds.coarsen(problem.shards(rest));
    fit.axes = agreed.axes;
  }
  llvm::sort(fitting, [](const Source &a, const Source &b) {
    return std::tuple(b.strength, b.isExact, b.bytes, a.number) <
           std::tuple(a.strength, a.isExact, a.bytes, b.number);
  });
  auto over = [&](const Source &source, size_t numAxes) {
    return source.bounds.coarsen(
        problem.shards(ArrayRef(source.axes).drop_front(numAxes)));
  };
  const Source &best = fitting.front();
  for (const Source &other : ArrayRef(fitting).drop_front()) {
    size_t common = std::min(best.axes.size(), other.axes.size());
    if (!aggressive && best.isExact && other.isExact &&
        other.strength == best.strength &&
        over(best, common) != over(other, common))
      return std::nullopt;
  }

  // Minor axes take their boundaries from a source that agrees so far.
  agreed.bounds = best.bounds;
  agreed.strength = best.strength;
  agreed.sizeOrigin = best.state->sizeOrigin;
  size_t known = best.axes.size();
  for (const Source &other : fitting)
    if (other.axes.size() > known && over(other, known) == agreed.bounds) {
      agreed.bounds = other.bounds;
      known = other.axes.size();
    }
  if (known == 0 && !agreed.axes.empty())
    agreed.bounds = balancedOver(&problem.extents, agreed.bounds.size(), 1);
  if (known < agreed.axes.size())
    agreed.bounds = agreed.bounds.refine(
        problem.shards(ArrayRef(agreed.axes).drop_front(known)));

  for (size_t i = 0; i < agreed.axes.size(); ++i)
    for (const Source &source : fitting)
      if (source.axes.size() > i) {
        agreed.origins.push_back(source.state->origins[i]);
        break;
      }
  if (views[op].rule->factors[factor].evenOnly &&
      !agreed.bounds.uniformShardSize())
    return std::nullopt;
  return agreed;
}

bool Propagator::update(const RuleView &view, const Slot &slot,
                        const Agreement &agreed) {
  TensorState &tensor = problem.tensors[slot.tensor];
  DimState &dim = tensor.dims[slot.dim];
  // One element is cut only where the op works on just that one: a row taken
  // out of a field stays with its rank, but a field is not put on one rank for
  // a row.
  if (!isVisible(dim) ||
      (tensor.shape[slot.dim] <= 1 && view.sizes[slot.view.factor] > 1))
    return false;
  if (!isPrefix(dim.axes, agreed.axes) && !isPrefix(agreed.axes, dim.axes))
    return false;

  size_t old = dim.axes.size(), length = std::min(old, agreed.axes.size());
  int64_t factor = slot.view.factor;
  if (dim.open)
    while (length < agreed.axes.size() && old <= length) {
      int64_t axis = agreed.axes[length];
      if (tensor.dimOfAxis(axis) >= 0 ||
          llvm::is_contained(tensor.locked, axis))
        break;
      if (slot.view.kind == MapKind::Merge &&
          problem.shards(ArrayRef(agreed.axes).take_front(length + 1)) >
              view.sizes[factor])
        break;
      ++length;
    }
  if (length == 0)
    return false;

  Boundaries bounds = agreed.bounds.coarsen(
      problem.shards(ArrayRef(agreed.axes).drop_front(length)));
  bounds = dimFromFactor(view, *slot.map, slot.view.kind, factor, bounds,
                         tensor.shape[slot.dim]);
  SizeStrength strength = slot.view.kind == MapKind::Window
                              ? weaken(agreed.strength)
                              : agreed.strength;

  if (length > old) {
    ShardCount parts =
        problem.shards(ArrayRef(agreed.axes).slice(old, length - old));
    if (old > 0 && dim.strength > strength &&
        bounds.coarsen(parts) != dim.bounds)
      bounds = dim.bounds.refine(parts);
    dim.axes.assign(agreed.axes.begin(), agreed.axes.begin() + length);
    for (size_t i = old; i < length; ++i)
      dim.origins.push_back(agreed.origins[i]);
    if (old == 0 || strength > dim.strength)
      dim.sizeOrigin = agreed.sizeOrigin;
    dim.bounds = bounds;
    dim.strength = old > 0 ? std::max(dim.strength, strength) : strength;
    return true;
  }

  // The axes are there already: only the boundaries may change.
  if (dim.pinned)
    return false;
  ArrayRef<int64_t> minor = ArrayRef(dim.axes).drop_front(length);
  bool agrees = dim.bounds.coarsen(problem.shards(minor)) == bounds;
  if (strength > dim.strength) {
    if (!agrees)
      dim.bounds = bounds.refine(problem.shards(minor));
    dim.strength = strength;
    dim.sizeOrigin = agreed.sizeOrigin;
    return true;
  }
  bool isDerived = dim.strength == SizeStrength::Derived ||
                   dim.strength == SizeStrength::DerivedExplicit;
  bool isExact = slot.view.kind == MapKind::Identity;
  if (agrees || !aggressive || !isExact || !isDerived || dim.settled ||
      strength < dim.strength || !minor.empty())
    return false;
  dim.bounds = bounds;
  dim.sizeOrigin = agreed.sizeOrigin;
  dim.settled = true;
  return true;
}

void Propagator::visitFactor(int64_t op, int64_t factor) {
  SmallVector<Source, 4> sources = sourcesOf(op, factor);
  if (sources.empty())
    return;
  std::optional<Agreement> agreed = agree(op, factor, sources);
  if (!agreed)
    return;
  const RuleView &view = views[op];
  Flow flow = flowOf(op);
  for (const Slot &slot : slots[op]) {
    if (slot.view.factor != factor ||
        flow == (slot.isResult ? Flow::Backward : Flow::Forward))
      continue;
    if (update(view, slot, *agreed))
      for (int64_t user : usersOf[slot.tensor])
        enqueue(user);
  }
}

int64_t propagation::propagate(Problem &problem) {
  return Propagator(problem).run();
}

//===- Problem.cpp - Propagation as plain data ----------------------------===//
#include "shardc/Propagation/Problem.h"
#include "llvm/Support/MathExtras.h"

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;
using llvm::SmallVector;

TensorState TensorState::open(ArrayRef<int64_t> shape, int64_t elementBytes) {
  TensorState state;
  state.shape.assign(shape.begin(), shape.end());
  state.elementBytes = elementBytes;
  for (int64_t size : shape)
    state.dims.emplace_back().bounds = Boundaries::whole(size);
  return state;
}

int64_t TensorState::bytes() const {
  int64_t result = elementBytes;
  for (int64_t size : shape)
    if (llvm::MulOverflow(result, size, result))
      return INT64_MAX;
  return result;
}

int64_t TensorState::dimOfAxis(int64_t axis) const {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (llvm::is_contained(dim.axes, axis))
      return i;
  return -1;
}

int64_t Problem::addTensor(ArrayRef<int64_t> shape, int64_t elementBytes) {
  tensors.push_back(TensorState::open(shape, elementBytes));
  return tensors.size() - 1;
}

int64_t Problem::addOrigin(llvm::StringRef text) {
  origins.push_back(text.str());
  return origins.size() - 1;
}

void Problem::addEdge(int64_t from, int64_t to, Flow flow) {
  OpNode &edge = ops.emplace_back();
  edge.rule = identityRule(tensors[from].shape);
  edge.operands = {from};
  edge.results = {to};
  edge.isEdge = true;
  edge.flow = flow;
}

ShardCount Problem::shards(ArrayRef<int64_t> axes) const {
  int64_t number = 1, size = 1;
  std::vector<int64_t> symbolic;
  for (int64_t axis : axes) {
    bool isSymbolic = llvm::is_contained(symbolicAxes, axis);
    (isSymbolic ? size : number) *= meshSizes[axis];
    if (isSymbolic)
      symbolic.push_back(axis);
  }
  return symbolic.empty()
             ? ShardCount(number)
             : ShardCount::along(number, std::move(symbolic), size);
}

SmallVector<int64_t, 4> Problem::allAxes() const {
  return llvm::to_vector<4>(llvm::seq<int64_t>(0, meshSizes.size()));
}

void Problem::annotate(int64_t tensor, int64_t dim,
                       const DimAnnotation &annotation) {
  TensorState &state = tensors[tensor];
  DimState &target = state.dims[dim];
  ArrayRef<int64_t> axes = annotation.axes, sizes = annotation.sizes;
  target.axes.assign(axes.begin(), axes.end());
  target.origins.assign(axes.size(), annotation.origin);
  target.open = annotation.open;
  target.priority = annotation.priority;
  if (axes.empty())
    return;
  target.strength = SizeStrength::Default;
  target.bounds = balancedOver(&extents, state.shape[dim], shards(axes));
  if (sizes.empty() && !annotation.formula)
    return;
  if (!sizes.empty())
    target.bounds = *Boundaries::fromSizes({sizes.data(), sizes.size()});
  target.bounds = target.bounds.with(annotation.formula);
  if (annotation.formula && !llvm::is_contained(openBoundaries, target.bounds))
    openBoundaries.push_back(target.bounds);
  target.strength = SizeStrength::Explicit;
  target.sizeOrigin = annotation.origin;
}

ShardingRule propagation::identityRule(ArrayRef<int64_t> shape) {
  ShardingRule rule;
  TensorRule tensor;
  for (int64_t size : shape)
    tensor.dims.push_back(IndexMap::identity(rule.addFactor(size)));
  rule.operands.push_back(tensor);
  rule.results.push_back(tensor);
  return rule;
}

/// True if a result has `factor`: then it is not what a window runs over.
static bool isInResults(const ShardingRule &rule, int64_t factor) {
  for (const TensorRule &result : rule.results)
    for (const IndexMap &map : result.dims)
      for (const IndexTerm &term : map.terms)
        if (term.factor == factor)
          return true;
  return false;
}

MapKind propagation::kindOf(const ShardingRule &rule, const IndexMap &map,
                            int64_t dimSize) {
  if (map.terms.empty())
    return MapKind::None;
  if (map.offset != 0 || map.baseDilation != 1)
    return MapKind::Window;
  int64_t inner = 1;
  for (const IndexTerm &term : llvm::reverse(map.terms)) {
    // Windows side by side are windows too: only a reshape keeps its blocks.
    bool isWindow = map.terms.size() > 1 && !isInResults(rule, term.factor);
    if (rule.factors[term.factor].size > 1 &&
        (term.coefficient != inner || isWindow))
      return MapKind::Window;
    inner *= rule.factors[term.factor].size;
  }
  // A slice from the beginning, a pad at the end.
  if (inner != dimSize)
    return MapKind::Window;
  return map.terms.size() == 1 ? MapKind::Identity : MapKind::Merge;
}

RuleView propagation::viewOf(const Problem &problem, const OpNode &op) {
  auto shapes = [&](ArrayRef<int64_t> tensors) {
    SmallVector<ArrayRef<int64_t>, 4> result;
    for (int64_t tensor : tensors)
      result.push_back(tensor < 0
                           ? ArrayRef<int64_t>()
                           : ArrayRef<int64_t>(problem.tensors[tensor].shape));
    return result;
  };
  RuleView view(op.rule, shapes(op.operands), shapes(op.results));
  view.extents = &problem.extents;
  view.openBoundaries = problem.openBoundaries;
  return view;
}

Boundaries propagation::balancedOver(const Extents *extents, int64_t size,
                                     const ShardCount &shards) {
  Boundaries whole = Boundaries::whole(size);
  if (extents && extents->isOpen(size))
    whole = whole.with(Formula::whole(size));
  return whole.refine(shards);
}

RuleView::RuleView(const ShardingRule &rule,
                   ArrayRef<ArrayRef<int64_t>> operandShapes,
                   ArrayRef<ArrayRef<int64_t>> resultShapes)
    : rule(&rule) {
  sizes = rule.factorSizes();
  for (const Factor &factor : rule.factors)
    canCut.push_back(
        factor.size > 0 && factor.kind != FactorKind::NeedReplication &&
        (factor.size > 1 || factor.kind == FactorKind::PassThrough));
  SmallVector<bool, 8> inOperands(sizes.size(), false),
      inResults(sizes.size(), false);
  bool exact = true, hasDims = false;
  auto view = [&](const TensorRule &tensor, ArrayRef<int64_t> shape,
                  SmallVector<bool, 8> &used) {
    SmallVector<Dim, 4> dims;
    for (auto [map, size] : llvm::zip(tensor.dims, shape)) {
      Dim &dim = dims.emplace_back();
      dim.kind = kindOf(rule, map, size);
      dim.factor = shardingFactorOf(rule, map).value_or(-1);
      // One row of a slice stays with the rank that has it.
      if (dim.factor < 0 && map.terms.size() == 1)
        dim.factor = map.terms.front().factor;
      exact &= dim.kind != MapKind::Window;
      for (const IndexTerm &term : map.terms) {
        used[term.factor] = true;
        if (term.factor != dim.factor)
          canCut[term.factor] = false;
      }
    }
    return dims;
  };
  for (auto [tensor, shape] : llvm::zip_equal(rule.operands, operandShapes)) {
    operands.push_back(view(tensor, shape, inOperands));
    hasDims |= !tensor.dims.empty();
  }
  for (auto [tensor, shape] : llvm::zip_equal(rule.results, resultShapes))
    results.push_back(view(tensor, shape, inResults));
  bool passes = true;
  for (auto [i, factor] : llvm::enumerate(rule.factors)) {
    if (factor.size <= 1)
      continue;
    isBroadcast |= hasDims && inResults[i] && !inOperands[i];
    passes &= factor.kind == FactorKind::PassThrough;
  }
  isPassThrough = exact && passes && !isBroadcast;
}

bool RuleView::mayShareAxis(int64_t factor, int64_t other) const {
  if (!rule->factors[factor].travels && !rule->factors[other].travels)
    return false;
  auto hasBoth = [&](ArrayRef<Dim> dims) {
    auto has = [&](int64_t wanted) {
      return llvm::any_of(dims,
                          [&](const Dim &dim) { return dim.factor == wanted; });
    };
    return has(factor) && has(other);
  };
  return llvm::none_of(operands, hasBoth) && llvm::none_of(results, hasBoth);
}

/// True if `derived` leaves the work on much fewer ranks than `source` does.
static bool isLopsided(const Boundaries &source, const Boundaries &derived) {
  if (source.size() == 0 || derived.size() == 0)
    return false;
  double fair = 1.5 * double(source.maxShardSize()) * double(derived.size()) /
                double(source.size());
  return double(derived.maxShardSize()) > fair + 1;
}

/// A roll, a shift: as many elements as before, each from somewhere near.
/// Blocks stay where they are, and neighbours exchange what crosses.
static bool isShift(const RuleView &view, const IndexMap &map,
                    int64_t dimSize) {
  return map.terms.size() == 1 && map.terms[0].coefficient == 1 &&
         map.baseDilation == 1 && view.sizes[map.terms[0].factor] == dimSize;
}

/// What `derived` comes from by as many steps down as up; null if nothing.
static const Boundaries *sourceOf(const RuleView &view,
                                  const Boundaries &derived) {
  if (!derived.formula())
    return nullptr;
  Formula formula = derived.formula();
  double scale = 1;
  while (formula.kind() == FormulaKind::Affine) {
    scale *= double(formula.numbers()[0]) / double(formula.numbers()[2]);
    formula = Formula(formula.operands()[0]);
  }
  if (scale != 1)
    return nullptr;
  const auto *found =
      llvm::find_if(view.openBoundaries, [&](const Boundaries &open) {
        return open.formula() == formula && open.size() == derived.size() &&
               open.numShards() == derived.numShards();
      });
  return found == view.openBoundaries.end() ? nullptr : found;
}

Boundaries propagation::factorFromDim(const RuleView &view, const IndexMap &map,
                                      MapKind kind, int64_t factor,
                                      const Boundaries &dim) {
  if (kind == MapKind::Identity || isShift(view, map, dim.size()))
    return dim;
  Boundaries derived = factorBoundaries(map, factor, dim,
                                        {view.sizes.data(), view.sizes.size()});
  // Where a few rows lie says nothing about the many that they are put beside.
  bool isFew = kind == MapKind::Window &&
               dim.size() < std::min(dim.numShards(), view.sizes[factor]);
  if (isFew || isLopsided(dim, derived))
    return balancedOver(view.extents, view.sizes[factor], dim.countShards());
  const Boundaries *source =
      kind == MapKind::Window ? sourceOf(view, derived) : nullptr;
  return source ? *source : derived;
}

Boundaries propagation::dimFromFactor(const RuleView &view, const IndexMap &map,
                                      MapKind kind, int64_t factor,
                                      const Boundaries &bounds,
                                      int64_t dimSize) {
  if (kind == MapKind::Identity || isShift(view, map, dimSize))
    return bounds;
  Boundaries source = bounds;
  if (view.extents && view.extents->isOpen(dimSize) && !bounds.formula()) {
    // Blocks of an open extent, where a known dim is cut: they have a formula
    // if that dim's balanced boundaries do, and these are balanced.
    source = Boundaries::whole(bounds.size())
                 .with(Formula::whole(bounds.size()))
                 .refine(bounds.countShards());
    if (source.indices() != bounds.indices())
      return balancedOver(view.extents, dimSize, bounds.countShards());
  }
  Boundaries derived = dimBoundaries(map, factor, source, dimSize,
                                     {view.sizes.data(), view.sizes.size()});
  // A merged dim is cut between whole blocks, however long.
  if (kind == MapKind::Window && isLopsided(bounds, derived))
    return balancedOver(view.extents, dimSize, bounds.countShards());
  return derived;
}

bool propagation::sameLayout(const TensorState &a, const TensorState &b) {
  for (auto [left, right] : llvm::zip_equal(a.dims, b.dims))
    if (left.axes != right.axes || left.bounds != right.bounds)
      return false;
  return true;
}

/// Ranks up to which bytes are counted rank by rank. [limit]
static constexpr int64_t kMaxCounted = 64;

/// The interval of `dim` that the rank at `coordinates` has.
static Interval blockOf(const Problem &problem, const DimState &dim,
                        ArrayRef<int64_t> coordinates) {
  int64_t shard = 0;
  for (int64_t axis : dim.axes)
    shard = shard * problem.meshSizes[axis] + coordinates[axis];
  return dim.bounds.shard(shard);
}

/// True if `owner` and `target` are formulas that differ by how something was
/// rounded: in most bindings there is something to move, and little.
static bool differByRounding(const DimState &owner, const DimState &target) {
  if (owner.axes != target.axes || !owner.bounds.formula() ||
      !target.bounds.formula() ||
      owner.bounds.formula() == target.bounds.formula())
    return false;
  return llvm::all_of(
      llvm::zip_equal(owner.bounds.indices(), target.bounds.indices()),
      [](auto pair) {
        auto [a, b] = pair;
        return std::abs(a - b) <= mostRounded;
      });
}

/// What each rank needs and has not, counted; one element of a block where that
/// is a matter of rounding.
static double countMoved(const Problem &problem, const TensorState &from,
                         const TensorState &to) {
  double sum = 0;
  SmallVector<int64_t, 4> coordinates(problem.meshSizes.size(), 0);
  for (int64_t rank = 0, ranks = problem.numRanks(); rank < ranks; ++rank) {
    int64_t rest = rank;
    for (size_t axis = coordinates.size(); axis-- > 0;) {
      coordinates[axis] = rest % problem.meshSizes[axis];
      rest /= problem.meshSizes[axis];
    }
    double needed = 1, kept = 1;
    for (auto [owner, target] : llvm::zip_equal(from.dims, to.dims)) {
      Interval need = blockOf(problem, target, coordinates);
      int64_t common =
          differByRounding(owner, target)
              ? std::max<int64_t>(need.size() - 1, 0)
              : intersect(need, blockOf(problem, owner, coordinates)).size();
      needed *= double(need.size());
      kept *= double(common);
    }
    sum += needed - kept;
  }
  return sum * double(to.elementBytes);
}

SmallVector<int64_t, 4> propagation::axesCrossed(const TensorState &from,
                                                 const TensorState &to) {
  SmallVector<int64_t, 4> axes;
  auto add = [&](ArrayRef<int64_t> some) {
    for (int64_t axis : some)
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  };
  for (auto [owner, target] : llvm::zip_equal(from.dims, to.dims))
    if (owner.axes != target.axes || !(owner.bounds == target.bounds)) {
      add(owner.axes);
      add(target.axes);
    }
  return axes;
}

double propagation::secondsMoved(const Problem &problem,
                                 const TensorState &from,
                                 const TensorState &to) {
  double bytes = bytesMoved(problem, from, to);
  return bytes == 0 ? 0 : problem.cost.move(bytes, axesCrossed(from, to));
}

double propagation::bytesMoved(const Problem &problem, const TensorState &from,
                               const TensorState &to) {
  if (sameLayout(from, to))
    return 0;
  if (problem.numRanks() <= kMaxCounted)
    return countMoved(problem, from, to);
  // Of what all ranks need, how much they own: dims are independent.
  double needed = double(to.elementBytes) * double(problem.numRanks());
  double kept = 1;
  for (auto [owner, target] : llvm::zip_equal(from.dims, to.dims)) {
    double size = double(target.bounds.size());
    double need = size / double(target.bounds.numShards());
    needed *= need;
    if (size == 0 || owner.axes.empty())
      continue;
    if (owner.axes != target.axes) {
      kept /= double(owner.bounds.numShards());
      continue;
    }
    double common = 0;
    for (int64_t i = 0; i < owner.bounds.numShards(); ++i) {
      Interval a = owner.bounds.shard(i), b = target.bounds.shard(i);
      common += double(std::max<int64_t>(0, std::min(a.end, b.end) -
                                                std::max(a.begin, b.begin)));
    }
    kept *= common / size;
  }
  return needed * (1 - kept);
}

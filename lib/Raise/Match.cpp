//===- Match.cpp - Attention in expressions -------------------------------===//
//
// Forward: from the contraction with values back. The probabilities' normal form
// is weight * Exp[score] * Sum[Exp[score]]^-1, and the score holds a contraction of
// something along queries with something along keys.
//
// Backward: from the raw scores forward, so that dims are known; a contraction of
// something along both is a gradient if its normal form is that of one.
//
//===----------------------------------------------------------------------===//
#include "Match.h"
#include "shardc/Support/ElementwiseTrait.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static DimSet bit(unsigned dim) { return DimSet(1) << dim; }

/// True if an exponential is among the few ops before `value`: other contractions
/// need no closer look.
static bool hasExponential(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty() && seen.size() < 64) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<stablehlo::ExpOp>(op))
      return true;
    if (op->hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
        isa<stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op))
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

namespace {
/// key - query in [lower, upper].
struct Band {
  std::optional<int64_t> lower, upper;

  void narrowLower(int64_t bound) { lower = lower ? std::max(*lower, bound) : bound; }
  void narrowUpper(int64_t bound) { upper = upper ? std::min(*upper, bound) : bound; }
};
} // namespace

/// Adds to `band` what `term`, a comparison, says of key - query where it is `holds`;
/// false where it says something else.
static bool addBound(const Forward &f, const Term &term, bool holds, Band &band) {
  if (term.kind != TermKind::Function || term.name != "stablehlo.compare" || !isa<IntegerType>(term.argumentTypes[0]))
    return false;
  // lhs - rhs as key - query + offset.
  Algebra &algebra = *f.algebra;
  PolyId difference = algebra.add(term.arguments[0], term.arguments[1], -1);
  double keyFactor = 0, queryFactor = 0, offset = 0;
  for (const Monomial &monomial : algebra.get(difference)) {
    if (monomial.factors.empty()) {
      offset = monomial.coefficient;
      continue;
    }
    if (monomial.factors.size() != 1 || monomial.factors[0].second != 1)
      return false;
    const Term &position = algebra.getTerm(monomial.factors[0].first);
    if (position.kind != TermKind::Position)
      return false;
    if (position.dim == f.key)
      keyFactor = monomial.coefficient;
    else if (position.dim == f.query)
      queryFactor = monomial.coefficient;
    else
      return false;
  }
  if (std::abs(keyFactor) != 1 || queryFactor != -keyFactor || std::abs(offset) > 1e15)
    return false;
  auto direction = cast<stablehlo::ComparisonDirectionAttr>(term.attributes.get("comparison_direction")).getValue();
  using Direction = stablehlo::ComparisonDirection;
  if (!holds) {
    switch (direction) {
    case Direction::GE: direction = Direction::LT; break;
    case Direction::GT: direction = Direction::LE; break;
    case Direction::LE: direction = Direction::GT; break;
    case Direction::LT: direction = Direction::GE; break;
    default: return false;
    }
  }
  // keyFactor * (key - query) + offset `direction` 0.
  bool isGreater = direction == Direction::GE || direction == Direction::GT;
  bool isLess = direction == Direction::LE || direction == Direction::LT;
  if (!isGreater && !isLess)
    return false;
  int64_t strict = direction == Direction::GT || direction == Direction::LT ? 1 : 0;
  int64_t bound = -int64_t(offset);
  if (keyFactor > 0 && isGreater)
    band.narrowLower(bound + strict);
  else if (keyFactor > 0)
    band.narrowUpper(bound - strict);
  else if (isGreater)
    band.narrowUpper(-bound - strict);
  else
    band.narrowLower(-bound + strict);
  return true;
}

/// Reads `condition`, which keeps a score where it is true. False if something
/// besides the band decides.
static bool readCondition(const Forward &f, PolyId condition, Band &band) {
  Algebra &algebra = *f.algebra;
  Poly poly = algebra.get(condition);
  if (poly.size() == 1 && poly[0].coefficient == 1) {
    bool isAll = true;
    for (auto [id, power] : poly[0].factors)
      isAll &= addBound(f, algebra.getTerm(id), true, band);
    return isAll;
  }
  PolyId negated = algebra.add(algebra.number(1), condition, -1);
  std::optional<TermId> term = algebra.singleTerm(negated);
  return term && addBound(f, algebra.getTerm(*term), false, band);
}

/// True if nothing in `poly` could mask a score: the raw score, numbers, and smooth
/// functions of these.
static bool masksNothing(const Forward &f, PolyId poly) {
  SmallVector<TermId> terms;
  f.algebra->collectTerms(poly, terms);
  return llvm::all_of(terms, [&](TermId id) {
    const Term &term = f.algebra->getTerm(id);
    return id == f.raw || term.kind == TermKind::Position ||
           (term.kind == TermKind::Function && (term.name == "stablehlo.tanh"));
  });
}

/// Scores below this, all of a row alike, are so large that lse loses their number.
static constexpr double kLargeNumber = -1e4;

/// True if a finite number stands for a masked score.
static bool masksByNumber(const Forward &f) {
  auto isLarge = [](std::optional<double> number) { return number && std::isfinite(*number) && *number <= kLargeNumber; };
  auto isBool = [&](const auto &factor) { return f.algebra->getTerm(factor.first).isBool; };
  for (const Monomial &monomial : f.algebra->get(f.score))
    if (std::isfinite(monomial.coefficient) && std::abs(monomial.coefficient) >= -kLargeNumber && llvm::all_of(monomial.factors, isBool))
      return true;
  SmallVector<TermId> terms;
  f.algebra->collectTerms(f.score, terms);
  return llvm::any_of(terms, [&](TermId id) {
    const Term &term = f.algebra->getTerm(id);
    return term.kind == TermKind::Function && term.name == "stablehlo.select" &&
           (isLarge(f.algebra->constantOf(term.arguments[1])) || isLarge(f.algebra->constantOf(term.arguments[2])));
  });
}

/// Finds the band outside which the score has no weight (docs/Rationale/Ring.md).
static void findBand(Forward &f) {
  f.mayMaskRows = masksByNumber(f);
  Algebra &algebra = *f.algebra;
  Band band;
  bool isOnly = true;
  double masked = 0;
  PolyId inside = algebra.number(0);
  Poly score = algebra.get(f.score);
  if (score.size() == 1 && score[0].coefficient == 1 && score[0].factors.size() == 1) {
    // select(keep, score, -inf)
    const Term &term = algebra.getTerm(score[0].factors[0].first);
    if (term.kind != TermKind::Function || term.name != "stablehlo.select")
      return;
    PolyId condition = term.arguments[0], yes = term.arguments[1], no = term.arguments[2];
    std::optional<double> number = algebra.constantOf(no);
    if (!number) {
      number = algebra.constantOf(yes);
      std::swap(yes, no);
      condition = algebra.add(algebra.number(1), condition, -1);
    }
    if (!number)
      return;
    masked = *number;
    inside = yes;
    isOnly = readCondition(f, condition, band);
  } else {
    // score + number * (1 - keep), or score + select(keep, 0, -inf)
    Poly rest;
    PolyId keep = algebra.number(0);
    for (const Monomial &monomial : score)
      if (monomial.factors.empty())
        masked = monomial.coefficient;
    bool found = false;
    for (const Monomial &monomial : score) {
      if (monomial.factors.empty())
        continue;
      const Term &first = algebra.getTerm(monomial.factors[0].first);
      bool isMask = masked != 0 && monomial.coefficient == -masked &&
                    llvm::all_of(monomial.factors, [&](auto &factor) { return algebra.getTerm(factor.first).isBool; });
      if (isMask) {
        found = true;
        Monomial bools = monomial;
        bools.coefficient = 1;
        keep = algebra.add(keep, algebra.intern({bools}));
      } else if (!found && monomial.coefficient == 1 && monomial.factors.size() == 1 &&
                 first.kind == TermKind::Function && first.name == "stablehlo.select" &&
                 algebra.constantOf(first.arguments[1]) == 0.0 && algebra.constantOf(first.arguments[2])) {
        found = true;
        masked = *algebra.constantOf(first.arguments[2]);
        keep = first.arguments[0];
      } else {
        rest.push_back(monomial);
      }
    }
    if (!found)
      return;
    inside = algebra.intern(rest);
    isOnly = readCondition(f, keep, band);
  }
  if (!band.lower && !band.upper)
    return;
  bool isInfinite = masked == -INFINITY;
  if (!isInfinite && (masked > -1e8 || !isOnly || !masksNothing(f, inside)))
    return;
  // Each row must have a key inside: else it is the average of all, or NaN.
  int64_t queries = f.reader->sizeOf(f.query), keys = f.reader->sizeOf(f.key);
  for (int64_t query : {int64_t(0), queries - 1}) {
    int64_t first = band.lower ? std::max<int64_t>(query + *band.lower, 0) : 0;
    int64_t last = band.upper ? std::min<int64_t>(query + *band.upper, keys - 1) : keys - 1;
    if (first > last)
      return;
  }
  f.bandLower = band.lower;
  f.bandUpper = band.upper;
  f.mayMaskRows &= isInfinite;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

namespace {
/// The dims of the probabilities and the values, each as parts once they are cut.
struct Roles {
  SmallVector<SmallVector<int64_t, 2>> probability, feature;

  static void cut(SmallVector<SmallVector<int64_t, 2>> &dims, unsigned number, int64_t major) {
    for (auto &parts : dims)
      for (size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == 1 || number-- != 0)
          continue;
        int64_t minor = parts[i] / major;
        parts[i] = minor;
        parts.insert(parts.begin() + i, major);
        return;
      }
  }
};
} // namespace

static SmallVector<SmallVector<int64_t, 2>> wholeDims(ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<int64_t, 2>> dims;
  for (int64_t size : shape)
    dims.push_back({size});
  return dims;
}

/// Numbers the parts of `dims` from `next`.
static Layout numberParts(ArrayRef<SmallVector<int64_t, 2>> dims, unsigned next, std::vector<int64_t> &sizes) {
  Layout layout;
  for (const auto &parts : dims) {
    auto &dim = layout.emplace_back();
    for (int64_t size : parts) {
      if (size == 1)
        continue;
      if (next < sizes.size())
        sizes[next] = size;
      dim.push_back(next++);
    }
  }
  return layout;
}

/// True if `layout` is one of a tensor with each dim one iteration dim or none.
static DimSet boundIn(const Layout &layout) { return dimsIn(layout) & ~(bit(kFirstBoundDim) - 1); }

/// The term of kind Dot in the score that queries and keys make, with the largest
/// depth; also says which dims are along queries.
static std::optional<TermId> findRaw(Forward &f, DimSet rowDims) {
  SmallVector<TermId> terms;
  f.algebra->collectTerms(f.score, terms);
  std::optional<TermId> best;
  int64_t bestDepth = -1;
  for (TermId id : terms) {
    const Term &term = f.algebra->getTerm(id);
    if (term.kind != TermKind::Dot || !(term.dims & bit(f.key)))
      continue;
    DimSet sides[2] = {dimsIn(term.layouts[0]), dimsIn(term.layouts[1])};
    bool isPair = false;
    for (int side : {0, 1})
      isPair |= (sides[side] & bit(f.key)) && !(sides[1 - side] & bit(f.key)) &&
                (rowDims == 0 || (sides[1 - side] & rowDims & ~sides[side]));
    int64_t depth = 1;
    for (unsigned dim = kFirstBoundDim; dim < 64; ++dim)
      if (sides[0] & bit(dim))
        depth *= f.reader->sizeOf(dim);
    if (isPair && depth > bestDepth) {
      best = id;
      bestDepth = depth;
    }
  }
  return best;
}

/// The contraction among the ops before `value` that has number `number`.
static stablehlo::DotGeneralOp findDot(const Term &raw) {
  return raw.tensor ? raw.tensor.getDefiningOp<stablehlo::DotGeneralOp>() : nullptr;
}

/// Goes on from `value`, which lies as `layout`, through ops that only move it.
static void followMoves(Value &value, Layout &layout, Reader &reader) {
  while (value && value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(user)) {
      Layout moved;
      for (int64_t dim : transpose.getPermutation())
        moved.push_back(layout[dim]);
      layout = moved;
    } else if (isa<stablehlo::ReshapeOp>(user)) {
      std::optional<Layout> moved = reader.regroup(layout, typeOf(user->getResult(0)).getShape());
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

/// One attempt with dims cut as `roles` says. Sets `retry` where another cut is
/// needed first.
static std::optional<Forward> tryForward(stablehlo::DotGeneralOp dot, bool side, const Numbering &numbering,
                                         const Roles &roles, std::optional<std::pair<unsigned, int64_t>> &retry,
                                         std::pair<Operation *, std::string> &nearMiss) {
  stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  Value probability = side ? dot.getRhs() : dot.getLhs(), value = side ? dot.getLhs() : dot.getRhs();
  ArrayRef<int64_t> probabilityBatch = side ? numbers.getRhsBatchingDimensions() : numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> valueBatch = side ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> probabilityKeys = side ? numbers.getRhsContractingDimensions() : numbers.getLhsContractingDimensions();
  ArrayRef<int64_t> valueKeys = side ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();

  Forward f;
  f.dot = dot;
  std::vector<int64_t> sizes(64, 1);
  Layout layout = numberParts(roles.probability, 0, sizes);
  if (dimsIn(layout) >= bit(kFirstFeature))
    return std::nullopt;
  Layout valueLayout(typeOf(value).getRank());
  SmallVector<unsigned> keys;
  for (auto [p, v] : llvm::zip(probabilityKeys, valueKeys)) {
    keys.append(layout[p].begin(), layout[p].end());
    valueLayout[v] = layout[p];
  }
  if (keys.empty())
    return std::nullopt;
  for (auto [p, v] : llvm::zip(probabilityBatch, valueBatch))
    valueLayout[v] = layout[p];
  Layout featureLayout = numberParts(roles.feature, kFirstFeature, sizes);
  SmallVector<unsigned> features;
  Layout outputLayout;
  for (int64_t dim : probabilityBatch)
    outputLayout.push_back(layout[dim]);
  Layout rowLayout;
  for (int64_t dim : freeDims(dot, side))
    rowLayout.push_back(layout[dim]);
  for (auto [i, dim] : llvm::enumerate(freeDims(dot, !side))) {
    valueLayout[dim] = featureLayout[i];
    features.append(featureLayout[i].begin(), featureLayout[i].end());
  }
  llvm::append_range(outputLayout, side ? featureLayout : rowLayout);
  llvm::append_range(outputLayout, side ? rowLayout : featureLayout);
  f.outputLayout = outputLayout;
  f.output = dot.getResult();
  f.key = keys.front();
  DimSet rowDims = dimsIn(rowLayout);
  f.algebra = std::make_unique<Algebra>(bit(f.key), double(sizes[f.key]));
  f.reader = std::make_unique<Reader>(*f.algebra, numbering, sizes, bit(f.key), rowDims);
  Algebra &algebra = *f.algebra;
  PolyId read = f.reader->read(probability, layout);
  if ((retry = f.reader->split))
    return std::nullopt;

  // weight * Exp[score] * Sum^-1, or without the sum, which divides later.
  std::optional<TermId> exp;
  for (auto [id, power] : algebra.get(read).empty() ? Monomial().factors : algebra.get(read)[0].factors)
    if (const Term &term = algebra.getTerm(id); term.kind == TermKind::Exp && power == 1 && (term.dims & bit(f.key)))
      exp = id;
  if (!exp)
    return std::nullopt;
  f.exp = *exp;
  PolyId sum = algebra.sumOverKey(algebra.ofTerm(*exp));
  std::optional<TermId> sumTerm = algebra.singleTerm(sum);
  if (!sumTerm)
    return std::nullopt;
  f.sum = *sumTerm;
  f.score = algebra.getTerm(*exp).arguments[0];

  auto isNormalised = [&](PolyId poly) {
    return llvm::all_of(algebra.get(poly), [&](const Monomial &monomial) {
      return Algebra::powerOf(monomial, f.exp) == 1 && Algebra::powerOf(monomial, f.sum) == -1;
    });
  };
  Operation *broken = dot;
  for (int steps = 0; !isNormalised(read) && steps < 8; ++steps) {
    // out = (exp(score) value) / sum
    if (!f.output.hasOneUse())
      break;
    Operation *user = *f.output.user_begin();
    broken = user;
    if (isa<stablehlo::TransposeOp>(user)) {
      followMoves(f.output, f.outputLayout, *f.reader);
      continue;
    }
    if (isa<stablehlo::ConvertOp>(user)) {
      f.output = user->getResult(0);
      continue;
    }
    if (isa<stablehlo::ReshapeOp>(user)) {
      std::optional<Layout> moved = f.reader->regroup(f.outputLayout, typeOf(user->getResult(0)).getShape());
      if ((retry = f.reader->split))
        return std::nullopt;
      if (!moved)
        break;
      f.outputLayout = *moved;
      f.output = user->getResult(0);
      continue;
    }
    bool isDivide = isa<stablehlo::DivOp>(user) && user->getOperand(0) == f.output && user->getOperand(1) != f.output;
    if (!isDivide && !isa<stablehlo::MulOp>(user))
      break;
    Value other = user->getOperand(user->getOperand(0) == f.output ? 1 : 0);
    PolyId row = f.reader->read(other, f.outputLayout);
    if ((retry = f.reader->split))
      return std::nullopt;
    if (algebra.dimsOf(row) & (bit(f.key) | ~(bit(kFirstFeature) - 1)))
      break;
    read = algebra.multiply(read, isDivide ? algebra.invert(row) : row);
    f.output = user->getResult(0);
  }
  // Only now is it known to be more than an exponential.
  SmallVector<TermId> scoreTerms;
  algebra.collectTerms(f.score, scoreTerms);
  std::optional<TermId> raw = findRaw(f, rowDims);
  auto miss = [&](Operation *op, StringRef why) -> std::optional<Forward> {
    if (raw)
      nearMiss = {op, why.str()};
    return std::nullopt;
  };
  if (!isNormalised(read))
    return miss(broken, "the exponentials are not divided by their sum alone");
  if (!raw)
    return std::nullopt;
  if (keys.size() != 1)
    return miss(dot, "keys run along several dims");
  if (features.size() > 1)
    return miss(dot, "values have several feature dims");
  f.raw = *raw;
  f.feature = features.empty() ? kNoFeature : features[0];
  Poly weight;
  for (const Monomial &monomial : algebra.get(read))
    weight.push_back(algebra.times(algebra.times(monomial, f.exp, -1), f.sum, 1));
  f.weight = algebra.intern(weight);
  SmallVector<TermId> weightTerms;
  algebra.collectTerms(f.weight, weightTerms);
  for (TermId id : weightTerms)
    if (algebra.getTerm(id).kind == TermKind::Exp || id == f.raw)
      return miss(dot, "what weighs the values depends on the score in another way than through softmax");

  Term rawTerm = algebra.getTerm(f.raw);
  stablehlo::DotGeneralOp rawDot = findDot(rawTerm);
  if (!rawDot)
    return miss(dot, "the scores are no tensor of the program");
  auto [lhs, rhs] = f.reader->operandLayouts(rawDot, rawTerm.tensorLayout);
  f.queryRoot = f.reader->rootOf(rawDot.getLhs(), lhs);
  f.keyRoot = f.reader->rootOf(rawDot.getRhs(), rhs);
  if ((retry = f.reader->split))
    return std::nullopt;
  if (dimsIn(f.queryRoot.layout) & bit(f.key))
    std::swap(f.queryRoot, f.keyRoot);
  f.valueRoot = f.reader->rootOf(value, valueLayout);
  if ((retry = f.reader->split))
    return std::nullopt;
  DimSet bound = boundIn(f.queryRoot.layout);
  if (llvm::popcount(bound) > 1)
    return miss(rawDot, "queries and keys are contracted along several dims");
  if (bound != boundIn(f.keyRoot.layout))
    return miss(rawDot, "queries or keys are the same all along the contracted dim");
  f.depth = bound ? kDepth : kNoDepth;
  if (!(dimsIn(f.valueRoot.layout) & bit(f.key)))
    return miss(dot, "values are the same for all keys");
  // The query dim: along queries alone; the one that masks compare keys with, else
  // the longest.
  DimSet candidates = dimsIn(f.queryRoot.layout) & rowDims & ~dimsIn(f.keyRoot.layout);
  int64_t longest = 0;
  for (unsigned dim = 0; dim < kFirstFeature; ++dim)
    if ((candidates & bit(dim)) && f.reader->sizeOf(dim) >= longest) {
      longest = f.reader->sizeOf(dim);
      f.query = dim;
    }
  followMoves(f.output, f.outputLayout, *f.reader);
  for (const auto &dim : f.outputLayout)
    for (unsigned part : dim)
      if (part != f.query && part < kFirstFeature)
        f.batch.push_back(part);
  for (TermId id : scoreTerms)
    if (const Term &term = algebra.getTerm(id);
        (term.kind == TermKind::SumOverKey || term.kind == TermKind::MaxOverKey) && !term.tensor)
      return miss(dot, "the score needs sums over keys");
  findBand(f);
  return f;
}

std::optional<Forward> raise::matchForward(stablehlo::DotGeneralOp dot, bool probabilitySide, const Numbering &numbering,
                                           std::pair<Operation *, std::string> &nearMiss) {
  Value probability = probabilitySide ? dot.getRhs() : dot.getLhs(), value = probabilitySide ? dot.getLhs() : dot.getRhs();
  if (!isa<FloatType>(typeOf(probability).getElementType()) || !isa<FloatType>(typeOf(value).getElementType()) ||
      !typeOf(probability).hasStaticShape() || !typeOf(value).hasStaticShape() || !hasExponential(probability))
    return std::nullopt;
  Roles roles;
  roles.probability = wholeDims(typeOf(probability).getShape());
  for (int64_t dim : freeDims(dot, !probabilitySide))
    roles.feature.push_back({typeOf(value).getDimSize(dim)});
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::optional<std::pair<unsigned, int64_t>> retry;
    std::optional<Forward> match = tryForward(dot, probabilitySide, numbering, roles, retry, nearMiss);
    if (!retry)
      return match;
    if (retry->first >= kFirstFeature)
      Roles::cut(roles.feature, retry->first - kFirstFeature, retry->second);
    else
      Roles::cut(roles.probability, retry->first, retry->second);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// How tensors that depend on the scores lie, by number.
static llvm::DenseMap<unsigned, Layout> findLayouts(Forward &f, const Numbering &numbering) {
  llvm::DenseMap<unsigned, Layout> layouts;
  const Term &raw = f.algebra->getTerm(f.raw);
  layouts[numbering.of(raw.tensor)] = raw.tensorLayout;
  for (Operation &op : *f.dot->getBlock()) {
    if (op.getNumResults() != 1 || !isa<RankedTensorType>(op.getResult(0).getType()))
      continue;
    Value result = op.getResult(0);
    if (layouts.contains(numbering.of(result)))
      continue;
    std::optional<Layout> layout;
    if (op.hasTrait<shardc::stablehlo::ElementwiseTrait>() || isa<stablehlo::ConvertOp>(op)) {
      for (Value operand : op.getOperands())
        if (auto it = layouts.find(numbering.of(operand)); it != layouts.end() && typeOf(operand).getRank() == typeOf(result).getRank())
          layout = it->second;
    } else if (op.getNumOperands() > 0) {
      auto it = layouts.find(numbering.of(op.getOperand(0)));
      if (it == layouts.end())
        continue;
      if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
        layout.emplace();
        for (int64_t dim : transpose.getPermutation())
          layout->push_back(it->second[dim]);
      } else if (isa<stablehlo::ReshapeOp>(op)) {
        layout = f.reader->regroup(it->second, typeOf(result).getShape());
        f.reader->split.reset();
      } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
                 broadcast && typeOf(result).getNumElements() == typeOf(op.getOperand(0)).getNumElements()) {
        layout.emplace(typeOf(result).getRank());
        for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          (*layout)[dim] = it->second[i];
      }
    }
    if (layout)
      layouts[numbering.of(result)] = *layout;
  }
  return layouts;
}

/// The factor of ds in `gradient`, a polynomial in dp: slope * p * (weight dp - Σ p weight dp).
static std::optional<PolyId> slopeOf(Forward &f, PolyId gradient, TermId dp) {
  Algebra &algebra = *f.algebra;
  PolyId weighted = algebra.multiply(f.weight, algebra.ofTerm(dp));
  PolyId sum = algebra.sumOverKey(algebra.multiply(algebra.ofTerm(f.exp), weighted));
  if (algebra.get(sum).size() != 1)
    return std::nullopt;
  Monomial rows = algebra.get(sum)[0];
  std::optional<TermId> sumTerm;
  for (auto [id, power] : rows.factors)
    if (algebra.getTerm(id).kind == TermKind::SumOverKey && power == 1)
      sumTerm = id;
  if (!sumTerm)
    return std::nullopt;
  Poly slope;
  for (const Monomial &monomial : algebra.get(gradient)) {
    if (Algebra::powerOf(monomial, *sumTerm) != 1)
      continue;
    Monomial factor = algebra.times(algebra.times(monomial, f.exp, -1), f.sum, 2);
    for (auto [id, power] : rows.factors)
      factor = algebra.times(std::move(factor), id, -power);
    factor.coefficient /= -rows.coefficient;
    slope.push_back(std::move(factor));
  }
  PolyId result = algebra.intern(slope);
  SmallVector<TermId> terms;
  algebra.collectTerms(result, terms);
  if (slope.empty() || llvm::is_contained(terms, f.exp) || llvm::is_contained(terms, f.sum) || llvm::is_contained(terms, dp))
    return std::nullopt;
  PolyId p = algebra.multiply(algebra.ofTerm(f.exp), algebra.ofTerm(f.sum, -1));
  PolyId inner = algebra.add(weighted, algebra.multiply(algebra.ofTerm(f.sum, -1), sum), -1);
  PolyId expected = algebra.multiply(algebra.multiply(result, p), inner);
  if (!algebra.isNear(expected, gradient))
    return std::nullopt;
  return result;
}

/// True if both lie alike, whatever the numbers of dims that only one contraction has.
static bool isSameRoot(const Numbering &numbering, const Root &a, const Root &b) {
  if (numbering.of(a.value) != numbering.of(b.value) || a.layout.size() != b.layout.size())
    return false;
  for (auto [x, y] : llvm::zip(a.layout, b.layout)) {
    if (x.size() != y.size())
      return false;
    for (auto [p, q] : llvm::zip(x, y))
      if (p != q && (p < kFirstFeature || q < kFirstFeature))
        return false;
  }
  return true;
}

namespace {
/// A contraction of something that depends on the scores with something else.
struct Candidate {
  stablehlo::DotGeneralOp dot;
  Value scores, other;
  Layout scoresLayout, otherLayout, resultLayout;
  DimSet contracted = 0;
  int64_t freeSize = 1;
};
} // namespace

/// Reads `dot`, whose operand `side` lies as `layout`. Free dims of the other operand
/// are numbered `free`.
static std::optional<Candidate> readCandidate(stablehlo::DotGeneralOp dot, bool side, const Layout &layout, unsigned free) {
  stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  Candidate c;
  c.dot = dot;
  c.scores = side ? dot.getRhs() : dot.getLhs();
  c.other = side ? dot.getLhs() : dot.getRhs();
  c.scoresLayout = layout;
  c.otherLayout.resize(typeOf(c.other).getRank());
  auto scoreBatch = side ? numbers.getRhsBatchingDimensions() : numbers.getLhsBatchingDimensions();
  auto otherBatch = side ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
  auto scoreContracting = side ? numbers.getRhsContractingDimensions() : numbers.getLhsContractingDimensions();
  auto otherContracting = side ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
  for (auto [s, o] : llvm::zip(scoreBatch, otherBatch)) {
    c.otherLayout[o] = layout[s];
    c.resultLayout.push_back(layout[s]);
  }
  for (auto [s, o] : llvm::zip(scoreContracting, otherContracting)) {
    c.otherLayout[o] = layout[s];
    for (unsigned part : layout[s])
      c.contracted |= bit(part);
  }
  Layout scoreFree, otherFree;
  for (int64_t dim : freeDims(dot, side))
    scoreFree.push_back(layout[dim]);
  bool isNumbered = false;
  for (int64_t dim : freeDims(dot, !side)) {
    auto &part = otherFree.emplace_back();
    if (typeOf(c.other).getDimSize(dim) == 1)
      continue;
    if (isNumbered)
      return std::nullopt;
    isNumbered = true;
    c.freeSize = typeOf(c.other).getDimSize(dim);
    part.push_back(free);
    c.otherLayout[dim] = part;
  }
  llvm::append_range(c.resultLayout, side ? otherFree : scoreFree);
  llvm::append_range(c.resultLayout, side ? scoreFree : otherFree);
  return c;
}

std::vector<Backward> raise::matchBackward(Forward &f, const Numbering &numbering) {
  llvm::DenseMap<unsigned, Layout> layouts = findLayouts(f, numbering);
  Algebra &algebra = *f.algebra;
  PolyId p = algebra.multiply(f.weight, algebra.multiply(algebra.ofTerm(f.exp), algebra.ofTerm(f.sum, -1)));
  std::vector<Backward> found;
  int64_t depthSize = 1;
  for (auto [i, parts] : llvm::enumerate(f.queryRoot.layout))
    if (llvm::is_contained(parts, kDepth))
      depthSize = parts.size() == 1 ? typeOf(f.queryRoot.value).getDimSize(i) : f.reader->sizeOf(kDepth);
  auto withDout = [&](const Root &dout) -> Backward & {
    for (Backward &b : found)
      if (isSameRoot(numbering, b.dout, dout))
        return b;
    found.emplace_back().dout = dout;
    return found.back();
  };
  /// The term dp in `poly`, and the cotangent in it.
  auto findDp = [&](PolyId poly) -> std::optional<std::pair<TermId, unsigned>> {
    SmallVector<TermId> terms;
    algebra.collectTerms(poly, terms);
    for (TermId id : terms) {
      const Term &term = algebra.getTerm(id);
      if (term.kind != TermKind::Dot || id == f.raw || !(term.dims & bit(f.key)))
        continue;
      for (unsigned side : {0, 1}) {
        Root root{f.valueRoot.value, term.layouts[side]};
        if (term.values[side] == numbering.of(f.valueRoot.value) && isSameRoot(numbering, root, f.valueRoot) &&
            !(dimsIn(term.layouts[1 - side]) & bit(f.key)))
          return std::pair(id, 1 - side);
      }
    }
    return std::nullopt;
  };
  // The cotangent as a tensor: an operand of the contraction that dp is.
  auto doutOf = [&](TermId dp, Backward &b) -> bool {
    Term term = algebra.getTerm(dp);
    auto dot = findDot(term);
    if (!dot)
      return false;
    auto [lhs, rhs] = f.reader->operandLayouts(dot, term.tensorLayout);
    Root first = f.reader->rootOf(dot.getLhs(), lhs), second = f.reader->rootOf(dot.getRhs(), rhs);
    if (dimsIn(first.layout) & bit(f.key))
      std::swap(first, second);
    f.reader->split.reset();
    b.dout = first;
    b.valueRoot = second;
    for (Root *root : {&b.dout, &b.valueRoot})
      for (auto &dim : root->layout)
        for (unsigned &part : dim)
          if (part >= kFirstBoundDim)
            part = f.feature;
    return true;
  };
  std::vector<Candidate> values;
  for (auto dot : f.dot->getBlock()->getOps<stablehlo::DotGeneralOp>())
    for (bool side : {false, true}) {
      Value scores = side ? dot.getRhs() : dot.getLhs();
      auto it = layouts.find(numbering.of(scores));
      if (it == layouts.end() || dot == f.dot)
        continue;
      std::optional<Candidate> c = readCandidate(dot, side, it->second, kDepth);
      if (!c)
        continue;
      PolyId poly = f.reader->read(c->scores, c->scoresLayout);
      if (algebra.isNear(poly, p)) {
        if (!(c->contracted & bit(f.key)))
          values.push_back(*readCandidate(dot, side, it->second, f.feature));
        continue;
      }
      std::optional<std::pair<TermId, unsigned>> dp = findDp(poly);
      if (!dp)
        continue;
      std::optional<PolyId> slope = slopeOf(f, poly, dp->first);
      if (!slope)
        continue;
      Backward fresh;
      if (!doutOf(dp->first, fresh))
        continue;
      Backward &b = withDout(fresh.dout);
      b.valueRoot = fresh.valueRoot;
      b.dp = dp->first;
      if (b.slope && !algebra.isNear(*b.slope, *slope))
        continue;
      f.reader->setSize(kDepth, c->freeSize);
      Root other = f.reader->rootOf(c->other, c->otherLayout);
      f.reader->split.reset();
      if (c->contracted == bit(f.key) && isSameRoot(numbering, other, f.keyRoot) && !b.dquery) {
        b.dquery = dot.getResult();
        b.dqueryLayout = c->resultLayout;
        b.keyRoot = other;
      } else if (!(c->contracted & bit(f.key)) && (f.query == kNoQuery || (c->contracted & bit(f.query))) &&
                 isSameRoot(numbering, other, f.queryRoot) && !b.dkey) {
        b.dkey = dot.getResult();
        b.dkeyLayout = c->resultLayout;
        b.queryRoot = other;
      } else {
        continue;
      }
      b.slope = slope;
    }
  for (Candidate &c : values) {
    if (f.query != kNoQuery && !(c.contracted & bit(f.query)))
      continue;
    Root dout = f.reader->rootOf(c.other, c.otherLayout);
    f.reader->split.reset();
    Backward &b = withDout(dout);
    if (b.dvalue)
      continue;
    b.dvalue = c.dot.getResult();
    b.dvalueLayout = c.resultLayout;
  }
  // Gradients of extras: the same form, summed or not, used by something else.
  DenseSet<Value> taken;
  for (Backward &b : found)
    for (Value value : {b.dquery, b.dkey, b.dvalue})
      taken.insert(value);
  for (Operation &op : *f.dot->getBlock()) {
    if (op.getNumResults() == 1 && (taken.contains(op.getResult(0)) || layouts.contains(numbering.of(op.getResult(0)))))
      continue;
    for (Value operand : op.getOperands()) {
      auto it = layouts.find(numbering.of(operand));
      if (it == layouts.end())
        continue;
      PolyId poly = f.reader->read(operand, it->second);
      for (Backward &b : found) {
        if (!b.slope)
          continue;
        std::optional<PolyId> slope = slopeOf(f, poly, b.dp);
        if (!slope)
          continue;
        ExtraGradient gradient{operand, it->second, *slope};
        if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op); reduce && op.getNumResults() == 1) {
          Operation *inside = reduce.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
          if (isa_and_nonnull<stablehlo::AddOp>(inside)) {
            gradient.value = op.getResult(0);
            gradient.layout.clear();
            for (auto [dim, parts] : llvm::enumerate(it->second))
              if (!llvm::is_contained(reduce.getDimensions(), int64_t(dim)))
                gradient.layout.push_back(parts);
          }
        }
        if (taken.insert(gradient.value).second)
          b.extras.push_back(std::move(gradient));
      }
    }
  }
  llvm::erase_if(found, [](const Backward &b) { return !b.slope && !b.dvalue; });
  for (Backward &b : found) {
    f.reader->setSize(kDepth, f.depth == kDepth ? depthSize : 1);
    followMoves(b.dquery, b.dqueryLayout, *f.reader);
    followMoves(b.dkey, b.dkeyLayout, *f.reader);
    followMoves(b.dvalue, b.dvalueLayout, *f.reader);
  }
  return found;
}

//===- Match.cpp - Attention in expressions -------------------------------===//
//
// Forward: from the contraction with values back. The probabilities' normal
// form is weight * Exp[score] * Sum[Exp[score]]^-1, and the score holds a
// contraction of something along queries with something along keys.
//
// Open: where a program goes through its keys block by block, the exponentials
// of one block are divided by nothing yet, or by anything of their row. Sums
// and maxima of their rows are outputs as well.
//
//===----------------------------------------------------------------------===//
#include "Match.h"
#include "NearMiss.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// The dims of the probabilities and the values, each as parts once they are
/// cut.
struct Roles {
  SmallVector<SmallVector<int64_t, 2>> probability, feature;

  static void cut(SmallVector<SmallVector<int64_t, 2>> &dims, unsigned number,
                  int64_t major) {
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
static Layout numberParts(ArrayRef<SmallVector<int64_t, 2>> dims, unsigned next,
                          std::vector<int64_t> &sizes) {
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

/// The iteration dims of `layout` that a contraction sums over.
static DimSet boundIn(const Layout &layout) {
  return dimsIn(layout) & ~(bit(kFirstBoundDim) - 1);
}

/// The term of kind Dot in the score that queries and keys make, with the
/// largest depth; also says which dims are along queries.
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

/// addsUp, of the terms that are not `seen` yet.
static bool addsUp(const Algebra &algebra, PolyId poly, TermId raw,
                   TermId other, std::optional<double> &ratio,
                   llvm::DenseSet<TermId> &seen) {
  for (const Monomial &monomial : algebra.get(poly)) {
    int mine = Algebra::powerOf(monomial, raw),
        its = Algebra::powerOf(monomial, other);
    if (mine != 0 || its != 0) {
      if (mine + its != 1 || (mine != 0 && its != 0))
        return false;
      Monomial wanted =
          algebra.times(algebra.times(monomial, mine ? raw : other, -1),
                        mine ? other : raw, 1);
      auto partner = llvm::find_if(algebra.get(poly), [&](const Monomial &m) {
        return m.factors == wanted.factors;
      });
      if (partner == algebra.get(poly).end())
        return false;
      double found = mine ? partner->coefficient / monomial.coefficient
                          : monomial.coefficient / partner->coefficient;
      if (!ratio)
        ratio = found;
      if (std::abs(found - *ratio) > 1e-6 * std::abs(*ratio))
        return false;
    }
    for (auto [id, power] : monomial.factors)
      if (const Term &term = algebra.getTerm(id);
          id != raw && id != other && seen.insert(id).second)
        for (PolyId argument : term.arguments)
          if (!addsUp(algebra, argument, raw, other, ratio, seen))
            return false;
  }
  return true;
}

bool raise::addsUp(const Algebra &algebra, PolyId poly, TermId raw,
                   TermId other, std::optional<double> &ratio) {
  llvm::DenseSet<TermId> seen;
  return ::addsUp(algebra, poly, raw, other, ratio, seen);
}

/// Finds the products of queries and keys that the score adds to the raw one,
/// `terms` being all that it is made of.
static void findMore(Forward &f, ArrayRef<TermId> terms) {
  auto isBoundAsRaw = [&](const Root &root) {
    return (dimsIn(root.layout) & ~(bit(kFirstBoundDim) - 1)) == bit(kDepth);
  };
  for (TermId id : terms) {
    Term term = f.algebra->getTerm(id);
    stablehlo::DotGeneralOp dot =
        term.kind == TermKind::Dot && !f.isRaw(id) ? findDot(term) : nullptr;
    if (!dot || f.depth != kDepth || f.query == kNoQuery)
      continue;
    MoreProducts part;
    part.raw = id;
    std::optional<double> ratio;
    if (!addsUp(*f.algebra, f.score, f.raw, id, ratio) || !ratio)
      continue;
    part.ratio = *ratio;
    int64_t depth = f.reader->sizeOf(kDepth);
    std::tie(part.query, part.key) =
        rootsOf(dot, term.tensorLayout, f.key, *f.reader);
    f.reader->setSize(kDepth, depth);
    bool isCut = f.reader->split.has_value();
    f.reader->split.reset();
    DimSet queryDims = dimsIn(part.query.layout),
           keyDims = dimsIn(part.key.layout);
    if (!isCut && isBoundAsRaw(part.query) && isBoundAsRaw(part.key) &&
        (queryDims & bit(f.query)) && !(keyDims & bit(f.query)) &&
        (keyDims & bit(f.key)) && !(queryDims & bit(f.key)) &&
        typeOf(part.query.value).getElementType() ==
            typeOf(f.queryRoot.value).getElementType() &&
        typeOf(part.key.value).getElementType() ==
            typeOf(f.keyRoot.value).getElementType())
      f.more.push_back(std::move(part));
  }
}

Monomial raise::rowFactorOf(const Forward &f, const Monomial &monomial) {
  Monomial row{1, {}};
  for (auto [id, power] : monomial.factors)
    if (const Term &term = f.algebra->getTerm(id);
        !(term.dims & bit(f.key)) && !term.isBool)
      row = f.algebra->times(std::move(row), id, power);
  return row;
}

/// True if `poly` is a condition that something decides: true for 1, false for
/// 0.
static bool isCondition(const Algebra &algebra, PolyId poly) {
  const Poly &p = algebra.get(poly);
  auto isAnd = [&](const Monomial &monomial, double coefficient) {
    return monomial.coefficient == coefficient && !monomial.factors.empty() &&
           llvm::all_of(monomial.factors, [&](auto &factor) {
             return algebra.getTerm(factor.first).isBool;
           });
  };
  return (p.size() == 1 && isAnd(p[0], 1)) ||
         (p.size() == 2 && p[0].factors.empty() && p[0].coefficient == 1 &&
          isAnd(p[1], -1));
}

PolyId raise::onlyWhere(Algebra &algebra, PolyId condition, PolyId score,
                        Operation *op) {
  Term term{TermKind::Function};
  term.name = StringAttr::get(op->getContext(),
                              stablehlo::SelectOp::getOperationName());
  term.attributes = DictionaryAttr::get(op->getContext());
  term.type = Float32Type::get(op->getContext());
  term.arguments = {condition, score, algebra.number(-INFINITY)};
  term.argumentTypes = {IntegerType::get(op->getContext(), 1), term.type,
                        term.type};
  term.dims = algebra.dimsOf(condition) | algebra.dimsOf(score);
  return algebra.term(std::move(term));
}

/// The condition by which `probability`, of layout `layout`, is chosen, and
/// else zero, where what is chosen has been divided; nullopt if there is none.
static std::optional<PolyId> chosenLast(Forward &f, Value probability,
                                        Layout layout) {
  while (Operation *op = probability.getDefiningOp()) {
    if (isa<stablehlo::TransposeOp>(op)) {
      layout = throughTranspose(op, layout);
    } else if (isa<stablehlo::BroadcastInDimOp>(op)) {
      layout = throughBroadcast(op, layout);
    } else if (isa<stablehlo::ReshapeOp>(op)) {
      std::optional<Layout> inner =
          f.reader->regroup(layout, typeOf(op->getOperand(0)).getShape());
      f.reader->split.reset();
      if (!inner)
        return std::nullopt;
      layout = *inner;
    } else if (!isa<stablehlo::ConvertOp>(op)) {
      break;
    }
    probability = op->getOperand(0);
  }
  auto select = probability.getDefiningOp<stablehlo::SelectOp>();
  if (!select)
    return std::nullopt;
  auto isDivided = [](Value value) {
    return isBefore(value, 8, llvm::IsaPred<stablehlo::DivOp>);
  };
  PolyId condition = f.reader->read(
      select.getPred(),
      typeOf(select.getPred()).getRank() == 0 ? Layout() : layout);
  std::optional<PolyId> found;
  if (isDivided(select.getOnTrue()))
    found = condition;
  else if (isDivided(select.getOnFalse()))
    found = f.algebra->add(f.algebra->number(1), condition, -1);
  f.reader->split.reset();
  return found;
}

/// True if all that the score of `f` masks with -inf is masked by `condition`
/// too.
static bool masksAlike(const Forward &f, PolyId condition) {
  std::optional<TermId> mask = f.algebra->singleTerm(f.score);
  const Term *select = mask ? &f.algebra->getTerm(*mask) : nullptr;
  if (!select || select->kind != TermKind::Function ||
      select->name != "stablehlo.select")
    return false;
  bool isElse = f.algebra->constantOf(select->arguments[2]) == -INFINITY;
  if (!isElse && f.algebra->constantOf(select->arguments[1]) != -INFINITY)
    return false;
  PolyId kept =
      isElse ? select->arguments[0]
             : f.algebra->add(f.algebra->number(1), select->arguments[0], -1);
  if (kept == condition)
    return true;
  const Poly &whole = f.algebra->get(condition), &part = f.algebra->get(kept);
  return whole.size() == 1 && part.size() == 1 && part[0].coefficient == 1 &&
         llvm::all_of(part[0].factors, [&](auto &factor) {
           return f.algebra->getTerm(factor.first).isBool &&
                  Algebra::powerOf(whole[0], factor.first) == 1;
         });
}

namespace {
/// One attempt to match a contraction, with dims cut as roles say. Steps return
/// false where there is no match; then `retry` says whether another cut is
/// needed first, and a near miss has been noted where there is one.
class ForwardMatcher {
public:
  ForwardMatcher(stablehlo::DotGeneralOp dot, bool probabilitySide, bool open,
                 const Numbering &numbering, const Roles &roles,
                 std::pair<Operation *, std::string> &nearMiss)
      : dot(dot), isRight(probabilitySide), open(open), numbering(numbering),
        roles(roles), probability(dotOperand(dot, isRight)),
        value(dotOperand(dot, !isRight)), nearMiss(nearMiss) {}

  std::optional<Forward> run() {
    if (!numberDims() || !findExponential() || !followToDivision() ||
        !checkDivided() || !splitFactors() || !findChoice() || !findRoots())
      return std::nullopt;
    finish();
    if (!checkScore())
      return std::nullopt;
    findBand(f);
    return std::move(f);
  }

  /// A dim to be cut, and the size of its major part.
  std::optional<std::pair<unsigned, int64_t>> retry;

private:
  bool numberDims();
  bool findExponential();
  bool followToDivision();
  bool followUser(Operation *user, bool &goesOn);
  bool checkDivided();
  bool splitFactors();
  bool findChoice();
  bool findRoots();
  void finish();
  bool checkScore();

  Algebra &algebra() { return *f.algebra; }
  bool needsCut() {
    retry = f.reader->split;
    return retry.has_value();
  }
  bool isNormalised() {
    return llvm::all_of(algebra().get(read), [&](const Monomial &monomial) {
      return Algebra::powerOf(monomial, f.exp) == 1 &&
             Algebra::powerOf(monomial, f.sum) == -1;
    });
  }
  /// False; what has scores of queries and keys is a near miss.
  bool miss(Operation *op, StringRef why) {
    if (raw)
      nearMiss = {op, why.str()};
    return false;
  }

  stablehlo::DotGeneralOp dot;
  bool isRight, open;
  const Numbering &numbering;
  const Roles &roles;
  DotOperand probability, value;
  std::pair<Operation *, std::string> &nearMiss;

  Forward f;
  Layout layout, valueLayout; ///< of probabilities and values
  SmallVector<unsigned> keys, features;
  DimSet rowDims = 0;
  PolyId read = 0;             ///< the probabilities, once divided
  Operation *broken = nullptr; ///< where following the output ended
  std::optional<TermId> raw;
  SmallVector<TermId> scoreTerms, weightTerms;
};
} // namespace

/// Gives the dims of both operands and of the result their iteration dims.
bool ForwardMatcher::numberDims() {
  f.dot = dot;
  std::vector<int64_t> sizes(64, 1);
  layout = numberParts(roles.probability, 0, sizes);
  if (dimsIn(layout) >= bit(kFirstFeature))
    return false;
  valueLayout.resize(typeOf(value.value).getRank());
  for (auto [p, v] : llvm::zip(probability.contracting, value.contracting)) {
    keys.append(layout[p].begin(), layout[p].end());
    valueLayout[v] = layout[p];
  }
  if (keys.empty())
    return false;
  // Nothing weighs nothing; once raised, a sum of no exponentials would divide.
  if (llvm::any_of(keys, [&](unsigned key) { return sizes[key] == 0; }))
    return false;
  for (auto [p, v] : llvm::zip(probability.batching, value.batching))
    valueLayout[v] = layout[p];
  Layout featureLayout = numberParts(roles.feature, kFirstFeature, sizes);
  for (int64_t dim : probability.batching)
    f.outputLayout.push_back(layout[dim]);
  Layout rowLayout;
  for (int64_t dim : probability.free)
    rowLayout.push_back(layout[dim]);
  for (auto [i, dim] : llvm::enumerate(value.free)) {
    valueLayout[dim] = featureLayout[i];
    features.append(featureLayout[i].begin(), featureLayout[i].end());
  }
  llvm::append_range(f.outputLayout, isRight ? featureLayout : rowLayout);
  llvm::append_range(f.outputLayout, isRight ? rowLayout : featureLayout);
  f.output = dot.getResult();
  f.key = keys.front();
  rowDims = dimsIn(rowLayout);
  f.algebra = std::make_unique<Algebra>(bit(f.key), double(sizes[f.key]));
  f.reader = std::make_unique<Reader>(*f.algebra, numbering, sizes, bit(f.key),
                                      rowDims);
  return true;
}

/// Reads the probabilities: weight * Exp[score] * Sum^-1, or without the sum,
/// which divides later.
bool ForwardMatcher::findExponential() {
  read = f.reader->read(probability.value, layout);
  if (needsCut())
    return false;
  std::optional<TermId> exp;
  for (auto [id, power] : algebra().get(read).empty()
                              ? Monomial().factors
                              : algebra().get(read)[0].factors)
    if (const Term &term = algebra().getTerm(id);
        term.kind == TermKind::Exp && power == 1 && (term.dims & bit(f.key)))
      exp = id;
  if (!exp)
    return false;
  f.exp = *exp;
  PolyId sum = algebra().sumOverKey(algebra().ofTerm(*exp));
  std::optional<TermId> sumTerm = algebra().singleTerm(sum);
  if (!sumTerm)
    return false;
  f.sum = *sumTerm;
  f.score = algebra().getTerm(*exp).arguments[0];
  return true;
}

/// Follows the output, (exp(score) value) / sum, to its division.
bool ForwardMatcher::followToDivision() {
  broken = dot;
  bool goesOn = true;
  for (int steps = 0; goesOn && !isNormalised() && steps < 8; ++steps) {
    if (!f.output.hasOneUse())
      break;
    broken = *f.output.user_begin();
    if (!followUser(broken, goesOn))
      return false;
  }
  // Only now is it known to be more than an exponential.
  algebra().collectTerms(f.score, scoreTerms);
  raw = findRaw(f, rowDims);
  f.isOpen = open;
  return true;
}

/// Makes the result of `user` the output, if it moves, converts, divides or
/// multiplies that; else `goesOn` becomes false.
bool ForwardMatcher::followUser(Operation *user, bool &goesOn) {
  if (isa<stablehlo::TransposeOp>(user)) {
    followMoves(f.output, f.outputLayout, *f.reader);
    return true;
  }
  if (isa<stablehlo::ConvertOp>(user)) {
    f.output = user->getResult(0);
    return true;
  }
  if (isa<stablehlo::ReshapeOp>(user)) {
    std::optional<Layout> moved = f.reader->regroup(
        f.outputLayout, typeOf(user->getResult(0)).getShape());
    if (needsCut())
      return false;
    goesOn = moved.has_value();
    if (!moved)
      return true;
    f.outputLayout = *moved;
    f.output = user->getResult(0);
    return true;
  }
  bool isDivide = isa<stablehlo::DivOp>(user) &&
                  user->getOperand(0) == f.output &&
                  user->getOperand(1) != f.output;
  goesOn = isDivide || isa<stablehlo::MulOp>(user);
  if (!goesOn)
    return true;
  Value other = user->getOperand(user->getOperand(0) == f.output ? 1 : 0);
  PolyId row = f.reader->read(other, f.outputLayout);
  if (needsCut())
    return false;
  goesOn = !(algebra().dimsOf(row) & (bit(f.key) | ~(bit(kFirstFeature) - 1)));
  if (!goesOn)
    return true;
  read = algebra().multiply(read, isDivide ? algebra().invert(row) : row);
  f.output = user->getResult(0);
  return true;
}

/// Checks that exponentials are divided by their sum, unless it is open, and
/// that scores are known.
bool ForwardMatcher::checkDivided() {
  if (!open && !isNormalised()) {
    bool isProduct =
        llvm::any_of(algebra().get(read), [&](const Monomial &monomial) {
          return llvm::any_of(monomial.factors, [&](auto &factor) {
            return algebra().getTerm(factor.first).kind == TermKind::Dot &&
                   factor.first != raw &&
                   (algebra().getTerm(factor.first).dims & bit(f.key));
          });
        });
    if (Operation *addition =
            isProduct ? nullptr : findAddition(probability.value))
      return miss(addition,
                  ("'" + addition->getName().getStringRef() +
                   "' adds something to the exponentials, or to their sum")
                      .str());
    if (broken == dot || broken->hasTrait<OpTrait::IsTerminator>())
      broken = findDivision(probability.value, dot);
    return miss(broken,
                isProduct
                    ? "what is summed up is a gradient, but not one of "
                      "attention that is raised"
                    : "the exponentials are not divided by their sum alone");
  }
  if (!raw)
    return false;
  if (keys.size() != 1)
    return miss(dot, "keys run along several dims");
  if (features.size() > 1)
    return miss(dot, "values have several feature dims");
  f.raw = *raw;
  f.feature = features.empty() ? kNoFeature : features[0];
  return true;
}

/// Divides what was read into exponential, factor of the row and weight.
bool ForwardMatcher::splitFactors() {
  // p (dp - delta), where dp is another product of something along queries and
  // something along keys.
  if (open)
    for (const Monomial &monomial : algebra().get(read))
      for (auto [id, power] : monomial.factors)
        f.isGradient |= algebra().getTerm(id).kind == TermKind::Dot &&
                        id != f.raw &&
                        (algebra().getTerm(id).dims & bit(f.key));
  f.factor = open ? rowFactorOf(f, algebra().get(read)[0])
                  : Monomial{1, {{f.sum, -1}}};
  Poly weight;
  for (const Monomial &monomial : algebra().get(read)) {
    if (Algebra::powerOf(monomial, f.exp) != 1)
      return miss(dot, "something is added to the exponentials");
    Monomial part = algebra().times(monomial, f.exp, -1);
    for (auto [id, power] : f.factor.factors)
      part = algebra().times(std::move(part), id, -power);
    part.coefficient /= f.factor.coefficient;
    weight.push_back(std::move(part));
  }
  f.weight = algebra().intern(weight);
  return true;
}

/// Finds whether rows without a key are zero, and checks that weights do not
/// depend on scores in another way.
bool ForwardMatcher::findChoice() {
  if (std::optional<PolyId> chosen = chosenLast(f, probability.value, layout))
    f.emptyIsZero =
        (open && isCondition(algebra(), f.weight)) || masksAlike(f, *chosen);
  algebra().collectTerms(f.weight, weightTerms);
  for (TermId id : weightTerms)
    if (TermKind kind = algebra().getTerm(id).kind;
        !f.isGradient &&
        (kind == TermKind::Exp || id == f.raw ||
         (open && (kind == TermKind::Dot || kind == TermKind::SumOverKey ||
                   kind == TermKind::MaxOverKey))))
      return miss(dot, "what weighs the values depends on the score in another "
                       "way than through softmax");
  return true;
}

/// Finds queries, keys and values, and the dims that they are along.
bool ForwardMatcher::findRoots() {
  Term rawTerm = algebra().getTerm(f.raw);
  stablehlo::DotGeneralOp rawDot = findDot(rawTerm);
  if (!rawDot)
    return miss(dot, "the scores are no tensor of the program");
  std::tie(f.queryRoot, f.keyRoot) =
      rootsOf(rawDot, rawTerm.tensorLayout, f.key, *f.reader);
  if (needsCut())
    return false;
  f.valueRoot = f.reader->rootOf(value.value, valueLayout);
  if (needsCut())
    return false;
  DimSet bound = boundIn(f.queryRoot.layout);
  if (llvm::popcount(bound) > 1)
    return miss(rawDot, "queries and keys are contracted along several dims");
  if (bound != boundIn(f.keyRoot.layout))
    return miss(rawDot,
                "queries or keys are the same all along the contracted dim");
  f.depth = bound ? kDepth : kNoDepth;
  if (!(dimsIn(f.valueRoot.layout) & bit(f.key)))
    return miss(dot, "values are the same for all keys");
  // The query dim: along queries alone; the one that masks compare keys with,
  // else the longest.
  f.query = longestOf(dimsIn(f.queryRoot.layout) & rowDims &
                          ~dimsIn(f.keyRoot.layout),
                      *f.reader);
  if (!open && llvm::none_of(weightTerms, [&](TermId id) {
        return algebra().getTerm(id).kind == TermKind::Dot;
      }))
    findMore(f, scoreTerms);
  return true;
}

/// Says what the op's score and its sums are of.
void ForwardMatcher::finish() {
  followMoves(f.output, f.outputLayout, *f.reader);
  for (unsigned part : flatten(f.outputLayout))
    if (part != f.query && part < kFirstFeature)
      f.batch.push_back(part);
  f.opScore = f.score;
  f.rowSum = algebra().ofTerm(f.sum);
  if (f.isGradient) {
    f.weight = algebra().number(1);
    f.sum = kNoTerm;
  }
  if (open && isCondition(algebra(), f.weight)) {
    f.opScore = onlyWhere(algebra(), f.weight, f.score, dot);
    f.rowSum = algebra().sumOverKey(
        algebra().multiply(f.weight, algebra().ofTerm(f.exp)));
    f.sum = algebra().singleTerm(f.rowSum).value_or(kNoTerm);
    f.weight = algebra().number(1);
  }
}

/// Checks that the score needs nothing that all keys of a row decide.
bool ForwardMatcher::checkScore() {
  for (TermId id : scoreTerms)
    if (const Term &term = algebra().getTerm(id);
        (term.kind == TermKind::SumOverKey ||
         term.kind == TermKind::MaxOverKey) &&
        !term.tensor)
      return miss(dot, "the score needs sums over keys");
  return true;
}

std::optional<Forward>
raise::matchForward(stablehlo::DotGeneralOp dot, bool probabilitySide,
                    bool open, const Numbering &numbering,
                    std::pair<Operation *, std::string> &nearMiss) {
  DotOperand probability = dotOperand(dot, probabilitySide),
             value = dotOperand(dot, !probabilitySide);
  if (!isa<FloatType>(typeOf(probability.value).getElementType()) ||
      !isa<FloatType>(typeOf(value.value).getElementType()) ||
      !typeOf(probability.value).hasStaticShape() ||
      !typeOf(value.value).hasStaticShape() ||
      !isBefore(probability.value, 64, llvm::IsaPred<stablehlo::ExpOp>))
    return std::nullopt;
  Roles roles;
  roles.probability = wholeDims(typeOf(probability.value).getShape());
  for (int64_t dim : value.free)
    roles.feature.push_back({typeOf(value.value).getDimSize(dim)});
  for (int attempt = 0; attempt < 8; ++attempt) {
    ForwardMatcher matcher(dot, probabilitySide, open, numbering, roles,
                           nearMiss);
    std::optional<Forward> match = matcher.run();
    const auto &retry = matcher.retry;
    if (!retry)
      return match;
    if (retry->first >= kFirstFeature)
      Roles::cut(roles.feature, retry->first - kFirstFeature, retry->second);
    else
      Roles::cut(roles.probability, retry->first, retry->second);
  }
  return std::nullopt;
}

/// What `poly` is `of` times, if that is one monomial.
static std::optional<Monomial> factorOf(Algebra &algebra, PolyId poly,
                                        PolyId of) {
  if (algebra.get(poly).size() != algebra.get(of).size() ||
      algebra.get(of).empty())
    return std::nullopt;
  for (Monomial factor : Poly(algebra.get(poly))) {
    if (llvm::any_of(algebra.get(of)[0].factors, [&](auto &term) {
          return Algebra::powerOf(factor, term.first) != term.second;
        }))
      continue;
    factor.coefficient /= algebra.get(of)[0].coefficient;
    for (auto [id, power] : algebra.get(of)[0].factors)
      factor = algebra.times(std::move(factor), id, -power);
    if (algebra.isNear(algebra.multiply(algebra.intern({factor}), of), poly))
      return factor;
  }
  return std::nullopt;
}

/// The number that the score is where its exponential does not count.
static std::optional<double> masksWith(const Forward &f) {
  std::optional<TermId> op = f.algebra->singleTerm(f.opScore),
                        mask = f.algebra->singleTerm(f.score);
  if (!op || !mask || f.algebra->getTerm(*mask).kind != TermKind::Function ||
      f.algebra->getTerm(*mask).name != "stablehlo.select")
    return std::nullopt;
  const Term &select = f.algebra->getTerm(*mask);
  PolyId condition = f.algebra->getTerm(*op).arguments[0];
  if (select.arguments[0] == condition)
    return f.algebra->constantOf(select.arguments[2]);
  bool isNegated = f.algebra->add(f.algebra->number(1), condition, -1) ==
                   select.arguments[0];
  return isNegated ? f.algebra->constantOf(select.arguments[1]) : std::nullopt;
}

std::vector<RowOutput> raise::matchRowOutputs(Forward &f,
                                              const Numbering &numbering) {
  Algebra &algebra = *f.algebra;
  ScoreLayouts layouts = findLayouts(f, numbering);
  std::vector<RowOutput> found;
  for (Operation *reader : layouts.readers) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(reader);
    if (!reduce || reduce->getNumResults() != 1)
      continue;
    const Layout *layout = layouts.find(numbering.of(reduce.getInputs()[0]));
    if (!layout)
      continue;
    RowOutput row;
    row.value = reduce->getResult(0);
    for (auto [dim, parts] : llvm::enumerate(*layout))
      if (!llvm::is_contained(reduce.getDimensions(), int64_t(dim)))
        row.layout.push_back(parts);
    PolyId poly = f.reader->read(row.value, row.layout);
    f.reader->split.reset();
    if (std::optional<Monomial> factor = factorOf(algebra, poly, f.rowSum)) {
      row.factor = std::move(*factor);
      found.push_back(std::move(row));
      continue;
    }
    std::optional<TermId> term = algebra.singleTerm(poly);
    if (!term || algebra.getTerm(*term).kind != TermKind::MaxOverKey ||
        !algebra.isNear(algebra.getTerm(*term).arguments[0], f.score))
      continue;
    row.isMax = true;
    if (f.opScore != f.score && !(row.least = masksWith(f)))
      continue;
    found.push_back(std::move(row));
  }
  return found;
}

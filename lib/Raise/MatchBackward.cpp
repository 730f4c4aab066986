//===- MatchBackward.cpp - Gradients of attention in expressions ----------===//
//
// From the raw scores forward, so that dims are known; a contraction of
// something along both is a gradient if its normal form is that of one.
//
//===----------------------------------------------------------------------===//
#include "Match.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// The factor of ds in `gradient`, a polynomial in dp: slope * p * (weight dp -
/// Σ p weight dp).
static std::optional<PolyId> slopeOf(Forward &f, PolyId gradient, TermId dp) {
  Algebra &algebra = *f.algebra;
  PolyId weighted = algebra.multiply(f.weight, algebra.ofTerm(dp));
  PolyId sum =
      algebra.sumOverKey(algebra.multiply(algebra.ofTerm(f.exp), weighted));
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
    Monomial factor =
        algebra.times(algebra.times(monomial, f.exp, -1), f.sum, 2);
    for (auto [id, power] : rows.factors)
      factor = algebra.times(std::move(factor), id, -power);
    factor.coefficient /= -rows.coefficient;
    slope.push_back(std::move(factor));
  }
  PolyId result = algebra.intern(slope);
  SmallVector<TermId> terms;
  algebra.collectTerms(result, terms);
  if (slope.empty() || llvm::is_contained(terms, f.exp) ||
      llvm::is_contained(terms, f.sum) || llvm::is_contained(terms, dp))
    return std::nullopt;
  PolyId p = algebra.multiply(algebra.ofTerm(f.exp), algebra.ofTerm(f.sum, -1));
  PolyId inner = algebra.add(
      weighted, algebra.multiply(algebra.ofTerm(f.sum, -1), sum), -1);
  PolyId expected = algebra.multiply(algebra.multiply(result, p), inner);
  if (!algebra.isNear(expected, gradient))
    return std::nullopt;
  return result;
}

/// True if both have one layout, whatever the numbers of dims that only one
/// contraction has.
static bool isSameRoot(const Numbering &numbering, const Root &a,
                       const Root &b) {
  if (numbering.of(a.value) != numbering.of(b.value) ||
      a.layout.size() != b.layout.size())
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

/// Reads `dot`, whose operand `side` has `layout`. Free dims of the other
/// operand are numbered `free`.
static std::optional<Candidate> readCandidate(stablehlo::DotGeneralOp dot,
                                              bool side, const Layout &layout,
                                              unsigned free) {
  DotOperand scores = dotOperand(dot, side), other = dotOperand(dot, !side);
  Candidate c;
  c.dot = dot;
  c.scores = scores.value;
  c.other = other.value;
  c.scoresLayout = layout;
  c.otherLayout.resize(typeOf(c.other).getRank());
  for (auto [s, o] : llvm::zip(scores.batching, other.batching)) {
    c.otherLayout[o] = layout[s];
    c.resultLayout.push_back(layout[s]);
  }
  for (auto [s, o] : llvm::zip(scores.contracting, other.contracting)) {
    c.otherLayout[o] = layout[s];
    for (unsigned part : layout[s])
      c.contracted |= bit(part);
  }
  Layout scoreFree, otherFree;
  for (int64_t dim : scores.free)
    scoreFree.push_back(layout[dim]);
  bool isNumbered = false;
  for (int64_t dim : other.free) {
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

namespace {
/// The gradients of one softmax, by the cotangent that they are of.
class BackwardMatcher {
public:
  BackwardMatcher(Forward &f, const Numbering &numbering)
      : f(f), numbering(numbering), algebra(*f.algebra),
        layouts(findLayouts(f, numbering)),
        weights(algebra.multiply(f.weight,
                                 algebra.multiply(algebra.ofTerm(f.exp),
                                                  algebra.ofTerm(f.sum, -1)))) {
  }

  std::vector<Backward> match();

private:
  Backward &ofCotangent(const Root &dout);
  std::optional<std::pair<TermId, unsigned>> findDp(PolyId poly);
  bool readCotangent(TermId dp, Backward &b);
  void takeProduct(stablehlo::DotGeneralOp dot, bool side);
  bool takeMore(Backward &b, PolyId slope, const Candidate &c,
                const Root &other);
  bool takeQueryOrKey(Backward &b, const Candidate &c, const Root &other);
  void takeValues();
  void takeExtras();
  void takeExtra(Operation *op, Value operand, const Layout &layout,
                 DenseSet<Value> &taken);
  int64_t depthSize() const;

  Root rootOf(const Candidate &c) {
    Root root = f.reader->rootOf(c.other, c.otherLayout);
    f.reader->split.reset();
    return root;
  }

  Forward &f;
  const Numbering &numbering;
  Algebra &algebra;
  ScoreLayouts layouts;
  PolyId weights; ///< of values, as the softmax makes them
  std::vector<Backward> found;
  std::vector<Candidate> values; ///< products of weights and cotangents
};
} // namespace

int64_t BackwardMatcher::depthSize() const {
  int64_t size = 1;
  for (auto [i, parts] : llvm::enumerate(f.queryRoot.layout))
    if (llvm::is_contained(parts, kDepth))
      size = parts.size() == 1 ? typeOf(f.queryRoot.value).getDimSize(i)
                               : f.reader->sizeOf(kDepth);
  return size;
}

Backward &BackwardMatcher::ofCotangent(const Root &dout) {
  for (Backward &b : found)
    if (isSameRoot(numbering, b.dout, dout))
      return b;
  found.emplace_back().dout = dout;
  found.back().more.resize(f.more.size());
  return found.back();
}

/// The term dp in `poly`, and the side of it that is the cotangent.
std::optional<std::pair<TermId, unsigned>>
BackwardMatcher::findDp(PolyId poly) {
  SmallVector<TermId> terms;
  algebra.collectTerms(poly, terms);
  for (TermId id : terms) {
    const Term &term = algebra.getTerm(id);
    if (term.kind != TermKind::Dot || f.isRaw(id) || !(term.dims & bit(f.key)))
      continue;
    for (unsigned side : {0, 1}) {
      Root root{f.valueRoot.value, term.layouts[side]};
      if (term.values[side] == numbering.of(f.valueRoot.value) &&
          isSameRoot(numbering, root, f.valueRoot) &&
          !(dimsIn(term.layouts[1 - side]) & bit(f.key)))
        return std::pair(id, 1 - side);
    }
  }
  return std::nullopt;
}

/// The cotangent as a tensor: an operand of the contraction that `dp` is.
bool BackwardMatcher::readCotangent(TermId dp, Backward &b) {
  Term term = algebra.getTerm(dp);
  auto dot = findDot(term);
  if (!dot)
    return false;
  std::tie(b.dout, b.valueRoot) =
      rootsOf(dot, term.tensorLayout, f.key, *f.reader);
  f.reader->split.reset();
  for (Root *root : {&b.dout, &b.valueRoot})
    for (auto &dim : root->layout)
      for (unsigned &part : dim)
        if (part >= kFirstBoundDim)
          part = f.feature;
  return true;
}

/// Takes `c` as a gradient of one of the products that are added to the raw
/// scores, where it is one.
bool BackwardMatcher::takeMore(Backward &b, PolyId slope, const Candidate &c,
                               const Root &other) {
  bool ofQueries = c.contracted == bit(f.key),
       ofKeys = !(c.contracted & bit(f.key)) && (c.contracted & bit(f.query));
  for (auto [part, gradients] : llvm::zip_equal(f.more, b.more)) {
    bool isQuery = ofQueries && !gradients.dquery &&
                   isSameRoot(numbering, other, part.key);
    bool isKey =
        ofKeys && !gradients.dkey && isSameRoot(numbering, other, part.query);
    // Of a score that adds them up, its gradient is the ratio times that of the
    // raw score.
    PolyId ofRaw = algebra.scale(slope, 1 / part.ratio);
    std::optional<double> ratio = part.ratio;
    if (!(isQuery || isKey) || (b.slope && !algebra.isNear(*b.slope, ofRaw)) ||
        !addsUp(algebra, slope, f.raw, part.raw, ratio))
      continue;
    (isQuery ? gradients.dquery : gradients.dkey) = c.dot->getResult(0);
    (isQuery ? gradients.dqueryLayout : gradients.dkeyLayout) = c.resultLayout;
    b.slope = ofRaw;
    return true;
  }
  return false;
}

/// Takes `c` as the gradient of queries or of keys, where it is one of them.
bool BackwardMatcher::takeQueryOrKey(Backward &b, const Candidate &c,
                                     const Root &other) {
  Value gradient = c.dot->getResult(0);
  if (c.contracted == bit(f.key) && !b.dquery &&
      isSameRoot(numbering, other, f.keyRoot)) {
    b.dquery = gradient;
    b.dqueryLayout = c.resultLayout;
    b.keyRoot = other;
    return true;
  }
  if (!(c.contracted & bit(f.key)) && !b.dkey &&
      (f.query == kNoQuery || (c.contracted & bit(f.query))) &&
      isSameRoot(numbering, other, f.queryRoot)) {
    b.dkey = gradient;
    b.dkeyLayout = c.resultLayout;
    b.queryRoot = other;
    return true;
  }
  return false;
}

/// Takes note of `dot`, one of whose operands, `side`, depends on the scores: a
/// gradient of queries or keys; or of values, whose cotangents come later.
void BackwardMatcher::takeProduct(stablehlo::DotGeneralOp dot, bool side) {
  const Layout *layout =
      layouts.find(numbering.of(side ? dot.getRhs() : dot.getLhs()));
  if (!layout)
    return;
  std::optional<Candidate> c = readCandidate(dot, side, *layout, kDepth);
  if (!c)
    return;
  PolyId poly = f.reader->read(c->scores, c->scoresLayout);
  if (algebra.isNear(poly, weights)) {
    if (!(c->contracted & bit(f.key)))
      values.push_back(*readCandidate(dot, side, *layout, f.feature));
    return;
  }
  std::optional<std::pair<TermId, unsigned>> dp = findDp(poly);
  if (!dp)
    return;
  std::optional<PolyId> slope = slopeOf(f, poly, dp->first);
  Backward fresh;
  if (!slope || !readCotangent(dp->first, fresh))
    return;
  Backward &b = ofCotangent(fresh.dout);
  b.valueRoot = fresh.valueRoot;
  b.dp = dp->first;
  f.reader->setSize(kDepth, c->freeSize);
  Root other = rootOf(*c);
  if (takeMore(b, *slope, *c, other))
    return;
  if ((!b.slope || algebra.isNear(*b.slope, *slope)) &&
      takeQueryOrKey(b, *c, other))
    b.slope = slope;
}

void BackwardMatcher::takeValues() {
  for (Candidate &c : values) {
    if (f.query != kNoQuery && !(c.contracted & bit(f.query)))
      continue;
    Backward &b = ofCotangent(rootOf(c));
    if (b.dvalue)
      continue;
    b.dvalue = c.dot.getResult();
    b.dvalueLayout = c.resultLayout;
  }
}

/// `operand` of `op` as the gradient of an extra, of the sum that `op` makes of
/// it where it is one.
void BackwardMatcher::takeExtra(Operation *op, Value operand,
                                const Layout &layout, DenseSet<Value> &taken) {
  PolyId poly = f.reader->read(operand, layout);
  for (Backward &b : found) {
    std::optional<PolyId> slope =
        b.slope ? slopeOf(f, poly, b.dp) : std::nullopt;
    if (!slope)
      continue;
    ExtraGradient gradient{operand, layout, *slope};
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
        reduce && op->getNumResults() == 1) {
      Operation *inside = reduce.getBody()
                              .front()
                              .getTerminator()
                              ->getOperand(0)
                              .getDefiningOp();
      if (isa_and_nonnull<stablehlo::AddOp>(inside)) {
        gradient.value = op->getResult(0);
        gradient.layout.clear();
        for (auto [dim, parts] : llvm::enumerate(layout))
          if (!llvm::is_contained(reduce.getDimensions(), int64_t(dim)))
            gradient.layout.push_back(parts);
      }
    }
    if (taken.insert(gradient.value).second)
      b.extras.push_back(std::move(gradient));
  }
}

/// Gradients of extras: the same form, summed or not, used by something else.
void BackwardMatcher::takeExtras() {
  DenseSet<Value> taken;
  for (Backward &b : found)
    for (Value value : b.replaced())
      taken.insert(value);
  for (Operation *op : layouts.readers) {
    if (op->getNumResults() == 1 &&
        (taken.contains(op->getResult(0)) ||
         layouts.find(numbering.of(op->getResult(0)))))
      continue;
    for (Value operand : op->getOperands())
      if (const Layout *layout = layouts.find(numbering.of(operand)))
        takeExtra(op, operand, *layout, taken);
  }
}

std::vector<Backward> BackwardMatcher::match() {
  int64_t depth = depthSize();
  for (Operation *reader : layouts.readers)
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(reader);
        dot && dot != f.dot)
      for (bool side : {false, true})
        takeProduct(dot, side);
  takeValues();
  takeExtras();
  llvm::erase_if(found,
                 [](const Backward &b) { return !b.slope && !b.dvalue; });
  for (Backward &b : found) {
    f.reader->setSize(kDepth, f.depth == kDepth ? depth : 1);
    followMoves(b.dquery, b.dqueryLayout, *f.reader);
    followMoves(b.dkey, b.dkeyLayout, *f.reader);
    followMoves(b.dvalue, b.dvalueLayout, *f.reader);
    for (MoreGradients &part : b.more) {
      followMoves(part.dquery, part.dqueryLayout, *f.reader);
      followMoves(part.dkey, part.dkeyLayout, *f.reader);
    }
  }
  return std::move(found);
}

std::vector<Backward> raise::matchBackward(Forward &f,
                                           const Numbering &numbering) {
  return BackwardMatcher(f, numbering).match();
}

/// Reads `gradient` as slope * Exp[score] * row * (dp - delta); false if it is
/// anything else.
static bool readOpenGradient(Forward &f, PolyId gradient, TermId dp,
                             Backward &b) {
  Algebra &algebra = *f.algebra;
  Poly with, without;
  for (const Monomial &monomial : algebra.get(gradient)) {
    int power = Algebra::powerOf(monomial, dp);
    if (Algebra::powerOf(monomial, f.exp) != 1 || power < 0 || power > 1)
      return false;
    (power ? with : without).push_back(algebra.times(monomial, dp, -power));
  }
  if (with.empty())
    return false;
  b.row = rowFactorOf(f, with.front());
  auto over = [&](Monomial monomial, const Monomial &by) {
    monomial.coefficient /= by.coefficient;
    for (auto [id, power] : by.factors)
      monomial = algebra.times(std::move(monomial), id, -power);
    return monomial;
  };
  Poly slope, delta;
  for (const Monomial &monomial : with)
    slope.push_back(algebra.times(over(monomial, b.row), f.exp, -1));
  for (const Monomial &monomial : without) {
    Monomial quotient = over(monomial, with.front());
    quotient.coefficient = -quotient.coefficient;
    if (!(algebra.dimsOf(quotient) & bit(f.key)) &&
        llvm::none_of(quotient.factors, [&](auto &factor) {
          return algebra.getTerm(factor.first).isBool;
        }))
      delta.push_back(std::move(quotient));
  }
  b.slope = algebra.intern(slope);
  b.delta = algebra.intern(delta);
  SmallVector<TermId> terms;
  algebra.collectTerms(*b.slope, terms);
  if (llvm::is_contained(terms, f.exp) || llvm::is_contained(terms, dp))
    return false;
  PolyId rest = algebra.multiply(algebra.intern(with), b.delta);
  return algebra.isNear(algebra.scale(rest, -1), algebra.intern(without));
}

std::optional<Backward> raise::matchOpenBackward(Forward &f,
                                                 const Numbering &numbering) {
  Algebra &algebra = *f.algebra;
  ScoreLayouts layouts = findLayouts(f, numbering);
  Backward b;
  bool hasDp = false;
  std::vector<Candidate> values;
  for (Operation *reader : layouts.readers)
    for (bool side : {false, true}) {
      auto dot = dyn_cast<stablehlo::DotGeneralOp>(reader);
      if (!dot)
        break;
      const Layout *layout =
          layouts.find(numbering.of(side ? dot.getRhs() : dot.getLhs()));
      std::optional<Candidate> c =
          layout ? readCandidate(dot, side, *layout, kDepth) : std::nullopt;
      if (!c)
        continue;
      PolyId poly = f.reader->read(c->scores, c->scoresLayout);
      std::optional<TermId> dp;
      for (const Monomial &monomial : algebra.get(poly))
        for (auto [id, power] : monomial.factors)
          if (algebra.getTerm(id).kind == TermKind::Dot && id != f.raw &&
              (algebra.getTerm(id).dims & bit(f.key)))
            dp = id;
      if (!dp) {
        values.push_back(*readCandidate(dot, side, *layout, f.feature));
        continue;
      }
      Backward one;
      if (!readOpenGradient(f, poly, *dp, one))
        continue;
      if (!hasDp) {
        Term term = algebra.getTerm(*dp);
        stablehlo::DotGeneralOp product = findDot(term);
        if (!product)
          return std::nullopt;
        std::tie(b.dout, b.valueRoot) =
            rootsOf(product, term.tensorLayout, f.key, *f.reader);
        f.reader->split.reset();
        DimSet bound = dimsIn(b.dout.layout) >> kFirstBoundDim;
        if (llvm::popcount(bound) > 1 ||
            bound != dimsIn(b.valueRoot.layout) >> kFirstBoundDim)
          return std::nullopt;
        f.feature = bound ? kFirstFeature : kNoFeature;
        for (Root *root : {&b.dout, &b.valueRoot})
          for (auto [dim, parts] : llvm::enumerate(root->layout))
            for (unsigned &part : parts)
              if (part >= kFirstBoundDim) {
                part = f.feature;
                f.reader->setSize(part, typeOf(root->value).getDimSize(dim));
              }
        b.dp = *dp;
        b.slope = one.slope;
        b.row = one.row;
        b.delta = one.delta;
        hasDp = true;
      }
      if (b.dp != *dp || !algebra.isNear(*b.slope, *one.slope) ||
          !algebra.isNear(b.delta, one.delta) ||
          !algebra.isNear(algebra.intern({b.row}), algebra.intern({one.row})))
        continue;
      Root other = f.reader->rootOf(c->other, c->otherLayout);
      f.reader->split.reset();
      bool sumsQueries = f.query == kNoQuery || (c->contracted & bit(f.query));
      if (c->contracted == bit(f.key) &&
          isSameRoot(numbering, other, f.keyRoot) && !b.dquery) {
        b.dquery = dot.getResult();
        b.dqueryLayout = c->resultLayout;
      } else if (!(c->contracted & bit(f.key)) && sumsQueries &&
                 isSameRoot(numbering, other, f.queryRoot) && !b.dkey) {
        b.dkey = dot.getResult();
        b.dkeyLayout = c->resultLayout;
      }
    }
  if (!hasDp)
    return std::nullopt;
  f.valueRoot = b.valueRoot;
  // What the gradients of queries and keys have besides p, a scale that the
  // program computed before, is of the slope.
  for (Candidate &c : values) {
    PolyId poly = f.reader->read(c.scores, c.scoresLayout);
    Root other = f.reader->rootOf(c.other, c.otherLayout);
    f.reader->split.reset();
    if (algebra.get(poly).size() != 1 || (c.contracted & bit(f.key)) ||
        !isSameRoot(numbering, other, b.dout))
      continue;
    Monomial row = rowFactorOf(f, algebra.get(poly)[0]), scale = b.row;
    for (auto [id, power] : row.factors)
      scale = algebra.times(std::move(scale), id, -power);
    bool isGiven =
        !scale.factors.empty() &&
        llvm::all_of(scale.factors, [&](auto &factor) {
          return algebra.getTerm(factor.first).kind == TermKind::Leaf;
        });
    if (!isGiven ||
        !algebra.isNear(poly, algebra.multiply(algebra.ofTerm(f.exp),
                                               algebra.intern({row}))))
      continue;
    b.slope = algebra.multiply(*b.slope, algebra.intern({scale}));
    b.row = row;
    break;
  }
  PolyId p = algebra.multiply(algebra.ofTerm(f.exp), algebra.intern({b.row}));
  for (Candidate &c : values) {
    Root other = f.reader->rootOf(c.other, c.otherLayout);
    f.reader->split.reset();
    bool isValue = !(c.contracted & bit(f.key)) &&
                   (f.query == kNoQuery || (c.contracted & bit(f.query)));
    if (b.dvalue || !isValue || !isSameRoot(numbering, other, b.dout) ||
        !algebra.isNear(f.reader->read(c.scores, c.scoresLayout), p))
      continue;
    b.dvalue = c.dot.getResult();
    for (auto &parts : c.resultLayout)
      for (unsigned &part : parts)
        if (part >= kFirstFeature && part < kNoFeature)
          part = f.feature;
    b.dvalueLayout = c.resultLayout;
  }
  followMoves(b.dquery, b.dqueryLayout, *f.reader);
  followMoves(b.dkey, b.dkeyLayout, *f.reader);
  followMoves(b.dvalue, b.dvalueLayout, *f.reader);
  return b;
}

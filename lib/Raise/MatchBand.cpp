//===- MatchBand.cpp - Where masks leave no weight ------------------------===//
#include "Match.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// key - query in [lower, upper].
struct Band {
  std::optional<int64_t> lower, upper;

  void narrowLower(int64_t bound) {
    lower = lower ? std::max(*lower, bound) : bound;
  }
  void narrowUpper(int64_t bound) {
    upper = upper ? std::min(*upper, bound) : bound;
  }
};
} // namespace

/// Adds to `band` what `term`, a comparison, says of key - query where it is
/// `holds`; false where it says something else.
static bool addBound(const Forward &f, const Term &term, bool holds,
                     Band &band) {
  if (term.kind != TermKind::Function || term.name != "stablehlo.compare" ||
      !isa<IntegerType>(term.argumentTypes[0]))
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
  if (std::abs(keyFactor) != 1 || queryFactor != -keyFactor ||
      std::abs(offset) > 1e15)
    return false;
  auto direction = cast<stablehlo::ComparisonDirectionAttr>(
                       term.attributes.get("comparison_direction"))
                       .getValue();
  using Direction = stablehlo::ComparisonDirection;
  if (!holds) {
    switch (direction) {
    case Direction::GE:
      direction = Direction::LT;
      break;
    case Direction::GT:
      direction = Direction::LE;
      break;
    case Direction::LE:
      direction = Direction::GT;
      break;
    case Direction::LT:
      direction = Direction::GE;
      break;
    default:
      return false;
    }
  }
  // keyFactor * (key - query) + offset `direction` 0.
  bool isGreater = direction == Direction::GE || direction == Direction::GT;
  bool isLess = direction == Direction::LE || direction == Direction::LT;
  if (!isGreater && !isLess)
    return false;
  int64_t strict =
      direction == Direction::GT || direction == Direction::LT ? 1 : 0;
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

/// True if nothing in `poly` could mask a score: the raw score, numbers, and
/// smooth functions of these.
static bool masksNothing(const Forward &f, PolyId poly) {
  SmallVector<TermId> terms;
  f.algebra->collectTerms(poly, terms);
  return llvm::all_of(terms, [&](TermId id) {
    const Term &term = f.algebra->getTerm(id);
    // What raw scores of blocks are a sum of.
    bool isPart =
        term.kind == TermKind::Leaf && (term.dims >> kFirstBoundDim) != 0;
    return f.isRaw(id) || isPart || term.kind == TermKind::Position ||
           (term.kind == TermKind::Function && (term.name == "stablehlo.tanh"));
  });
}

/// Finds the band outside which the score has no weight
/// (docs/Rationale/Ring.md).
void raise::findBand(Forward &f) {
  Algebra &algebra = *f.algebra;
  Band band;
  bool isOnly = true;
  double masked = 0;
  PolyId inside = algebra.number(0);
  Poly score = algebra.get(f.score);
  if (score.size() == 1 && score[0].coefficient == 1 &&
      score[0].factors.size() == 1) {
    // select(keep, score, -inf)
    const Term &term = algebra.getTerm(score[0].factors[0].first);
    if (term.kind != TermKind::Function || term.name != "stablehlo.select")
      return;
    PolyId condition = term.arguments[0], yes = term.arguments[1],
           no = term.arguments[2];
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
                    llvm::all_of(monomial.factors, [&](auto &factor) {
                      return algebra.getTerm(factor.first).isBool;
                    });
      if (isMask) {
        found = true;
        Monomial bools = monomial;
        bools.coefficient = 1;
        keep = algebra.add(keep, algebra.intern({bools}));
      } else if (!found && monomial.coefficient == 1 &&
                 monomial.factors.size() == 1 &&
                 first.kind == TermKind::Function &&
                 first.name == "stablehlo.select" &&
                 algebra.constantOf(first.arguments[1]) == 0.0 &&
                 algebra.constantOf(first.arguments[2])) {
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
    int64_t last = band.upper ? std::min<int64_t>(query + *band.upper, keys - 1)
                              : keys - 1;
    if (first > last)
      return;
  }
  f.isBandAll = isOnly && masksNothing(f, inside);
  f.bandLower = band.lower;
  f.bandUpper = band.upper;
}

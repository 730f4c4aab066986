//===- BlockAlgebra.cpp - Sums of blocks in expressions -------------------===//
//
// Where a program goes through its keys block by block, each block has a sum
// over a dim of its own, and there are sums over queries, depths and features
// besides. Bound dims are numbered by how deep sums are in one another, so
// equal sums are one term:
//
//     Σ_e dout Σ_k Exp v  =  Σ_k Exp Σ_e dout v
//     1 / (x (L0 + L1))   =  x^-1 Total^-1, and from then on L1 = Total - L0
//
// Blocks that have been divided by their own sums before they are merged have
// inverses of these too. Fractions of two parts of a whole are split,
// which makes them unique:
//
//     L0 L1^-1  =  Total L1^-1 - 1               L0^-1 L1^-1  =  Total^-1
//     (L0^-1 + L1^-1)
//
// and the logarithm of a sum of exponentials, in the form that does not
// overflow, is what it is:
//
//     max(a, b) + log(1 + exp(-|a - b|))  =  log(exp(a) + exp(b))
//
//===----------------------------------------------------------------------===//
#include "Algebra.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static DimSet bit(unsigned dim) { return DimSet(1) << dim; }

bool Algebra::isStatistic(const Monomial &monomial) const {
  return llvm::any_of(monomial.factors,
                      [&](auto &factor) { return isStatistic(factor.first); });
}

bool Algebra::isStatistic(TermId id) const {
  if (auto it = statistics.find(id); it != statistics.end())
    return it->second;
  const Term &term = terms[id];
  bool result =
      term.kind == TermKind::MaxOverKey || term.kind == TermKind::Total;
  for (PolyId argument : term.arguments)
    for (const Monomial &monomial : polys[argument])
      result |= isStatistic(monomial) ||
                (term.kind == TermKind::SumOverKey && hasExponential(monomial));
  return statistics[id] = result;
}

bool Algebra::hasExponential(const Monomial &monomial) const {
  return llvm::any_of(monomial.factors, [&](auto &factor) {
    return terms[factor.first].kind == TermKind::Exp &&
           !isStatistic(factor.first);
  });
}

unsigned Algebra::heightOf(TermId id) const {
  if (auto it = heights.find(id); it != heights.end())
    return it->second;
  const Term &term = terms[id];
  unsigned height = 0;
  for (PolyId argument : term.arguments)
    for (const Monomial &monomial : polys[argument])
      for (auto [inner, power] : monomial.factors)
        height = std::max(height, heightOf(inner));
  if (term.kind == TermKind::SumOverKey || term.kind == TermKind::MaxOverKey)
    height = std::max(height, term.dim - kFirstBoundDim + 1);
  return heights[id] = height;
}

bool Algebra::isExpandable(const Monomial &monomial) const {
  return llvm::any_of(monomial.factors, [&](auto &factor) {
    if (!defined.count(factor.first))
      return false;
    auto parts = halves.find(factor.first);
    return factor.second > 0 || (parts != halves.end() &&
                                 powerOf(monomial, parts->second.other) != 0);
  });
}

PolyId Algebra::expandDefined(const Poly &poly) {
  Poly sum;
  for (const Monomial &monomial : poly) {
    if (!isExpandable(monomial)) {
      sum.push_back(monomial);
      continue;
    }
    auto it = llvm::find_if(monomial.factors, [&](auto &factor) {
      return factor.second > 0 && defined.count(factor.first);
    });
    if (it != monomial.factors.end()) {
      PolyId others = intern({times(monomial, it->first, -1)});
      append(multiply(others, defined[it->first]), sum);
      continue;
    }
    // A fraction with the block below: the other part goes from above, or from
    // below.
    it = llvm::find_if(monomial.factors, [&](auto &factor) {
      auto parts = halves.find(factor.first);
      return parts != halves.end() &&
             powerOf(monomial, parts->second.other) != 0;
    });
    TermId block = it->first;
    Halves parts = halves[block];
    if (powerOf(monomial, parts.other) > 0) {
      Monomial rest = times(monomial, parts.other, -1),
               whole = times(rest, parts.whole, 1),
               mine = times(rest, block, 1);
      whole.coefficient /= parts.its;
      mine.coefficient *= -parts.mine / parts.its;
      append(intern({whole, mine}), sum);
    } else {
      Monomial rest = times(monomial, parts.whole, -1),
               mine = times(rest, block, 1), its = times(rest, parts.other, 1);
      mine.coefficient *= parts.mine;
      its.coefficient *= parts.its;
      append(intern({mine, its}), sum);
    }
  }
  return intern(std::move(sum));
}

PolyId Algebra::positivePart(PolyId poly, MLIRContext *context) {
  if (polys[poly].empty())
    return poly;
  // Of two that differ by their sign, one is written with the other.
  if (polys[poly].front().coefficient < 0)
    return add(positivePart(scale(poly, -1), context), poly);
  Term term{TermKind::Function};
  term.name = StringAttr::get(context, "stablehlo.maximum");
  term.attributes = DictionaryAttr::get(context);
  term.type = Float32Type::get(context);
  term.arguments = {poly, number(0)};
  term.argumentTypes = {term.type, term.type};
  term.dims = dimsOf(poly);
  return this->term(std::move(term));
}

std::optional<PolyId> Algebra::logarithmOfMerge(PolyId poly) {
  // 1 + exp(d) exp(positivePart(d))^-2
  Poly part = polys[add(poly, number(1), -1)];
  if (part.empty() || part.size() >= polys[poly].size())
    return std::nullopt;
  for (auto [id, power] : part.front().factors) {
    if (power != -2 || terms[id].kind != TermKind::Exp)
      continue;
    PolyId positive = terms[id].arguments[0];
    std::optional<TermId> larger = singleTerm(positive);
    if (!larger || terms[*larger].kind != TermKind::Function ||
        terms[*larger].name.getValue() != "stablehlo.maximum" ||
        constantOf(terms[*larger].arguments[1]) != 0.0)
      continue;
    PolyId other = exponential(terms[*larger].arguments[0]);
    Poly rest;
    for (const Monomial &monomial : part)
      rest.push_back(times(monomial, id, 2));
    if (other == intern(std::move(rest)))
      return add(logarithm(add(number(1), other)), positive, -1);
  }
  return std::nullopt;
}

void Algebra::defineHalves(TermId whole, const Poly &parts) {
  for (int side : {0, 1}) {
    const Monomial &mine = parts[side], &its = parts[1 - side];
    if (mine.factors.size() != 1 || its.factors.size() != 1 ||
        mine.factors[0].second != 1 || its.factors[0].second != 1)
      return;
    TermId block = mine.factors[0].first, other = its.factors[0].first;
    if (isOfSeveralBlocks(block) || defined.count(block))
      continue;
    halves[block] = {whole, other, mine.coefficient, its.coefficient};
    // Known as defined first: else the difference would be the block again.
    defined[block] = 0;
    defined[block] =
        scale(add(ofTerm(whole),
                  intern({Monomial{its.coefficient, {{other, 1}}}}), -1),
              1 / mine.coefficient);
    return;
  }
}

PolyId Algebra::total(PolyId poly) {
  std::optional<Monomial> product = asProduct(poly, /*mayDefine=*/true);
  return product ? intern({*product}) : intern(Poly(polys[poly]));
}

std::optional<Monomial> Algebra::asProduct(PolyId poly, bool mayDefine) {
  // Written before one of its terms was known as part of a total.
  poly = intern(Poly(polys[poly]));
  if (polys[poly].empty())
    return std::nullopt;
  if (polys[poly].size() == 1)
    return polys[poly][0];
  Poly copy = polys[poly];
  // What all have, and what any is divided by.
  Monomial common{1, {}};
  for (const Monomial &part : copy)
    for (auto [id, power] : part.factors) {
      int least = power;
      for (const Monomial &monomial : copy)
        least = std::min(least, powerOf(monomial, id));
      if (least != 0 && powerOf(common, id) == 0)
        common = times(std::move(common), id, least);
    }
  Poly blocks;
  for (Monomial monomial : copy) {
    for (auto [id, power] : common.factors)
      monomial = times(std::move(monomial), id, -power);
    blocks.push_back(std::move(monomial));
  }
  // One of the blocks that are written as a difference of totals, or its
  // square.
  PolyId difference = intern(blocks);
  if (polys[difference].size() == 1) {
    // One sum over the blocks of both: fractions of it are split as those of
    // a total.
    std::optional<TermId> whole = singleTerm(difference);
    if (mayDefine && whole && blocks.size() == 2)
      defineHalves(*whole, blocks);
    return times(common, polys[difference][0]);
  }
  for (auto [block, value] : std::map<TermId, PolyId>(defined)) {
    PolyId now = intern(Poly(polys[value])), power = now;
    for (int exponent : {1, 2}) {
      double ratio =
          polys[power].empty() || polys[difference].empty()
              ? 0
              : polys[difference][0].coefficient / polys[power][0].coefficient;
      if (ratio != 0 && polys[power].size() == polys[difference].size() &&
          isNear(difference, scale(power, ratio))) {
        common.coefficient *= ratio;
        return times(std::move(common), block, exponent);
      }
      // Only blocks that are divided by their own sums are squared.
      if (polys[difference].size() < 3 || !halves.count(block))
        break;
      Poly square;
      for (const Monomial &a : polys[now])
        for (const Monomial &b : polys[now])
          square.push_back(times(a, b));
      power = intern(std::move(square));
    }
  }
  if (!mayDefine)
    return std::nullopt;
  auto isBlock = [&](const Monomial &monomial) {
    return monomial.factors.size() == 1 && monomial.factors[0].second == 1 &&
           terms[monomial.factors[0].first].kind == TermKind::SumOverKey &&
           isStatistic(monomial.factors[0].first);
  };
  auto one = llvm::find_if(blocks, isBlock);
  if (one == blocks.end())
    return std::nullopt;
  TermId block = one->factors[0].first;
  if (llvm::count_if(blocks, [&](const Monomial &monomial) {
        return powerOf(monomial, block) != 0;
      }) != 1)
    return std::nullopt;
  Term term{TermKind::Total};
  term.arguments = {intern(blocks)};
  term.dims = dimsOf(term.arguments[0]);
  PolyId whole = this->term(std::move(term));
  TermId wholeTerm = polys[whole][0].factors[0].first;
  double coefficient = one->coefficient;
  blocks.erase(one);
  if (blocks.size() == 1 && blocks[0].factors.size() == 1 &&
      blocks[0].factors[0].second == 1)
    halves[block] = {wholeTerm, blocks[0].factors[0].first, coefficient,
                     blocks[0].coefficient};
  defined[block] =
      scale(add(whole, intern(std::move(blocks)), -1), 1 / coefficient);
  return times(std::move(common), wholeTerm, 1);
}

PolyId Algebra::power(PolyId poly, int exponent) {
  PolyId result = number(1), factor = exponent < 0 ? invert(poly) : poly;
  for (int i = 0; i < std::abs(exponent); ++i)
    result = multiply(result, factor);
  return result;
}

PolyId
Algebra::rebuild(PolyId poly,
                 llvm::function_ref<std::optional<PolyId>(TermId)> replace,
                 std::map<TermId, PolyId> &done, std::optional<unsigned> move) {
  std::function<PolyId(PolyId)> ofPoly;
  auto ofTermId = [&](TermId id) -> PolyId {
    if (auto it = done.find(id); it != done.end())
      return it->second;
    std::optional<PolyId> result = replace(id);
    if (!result) {
      Term term = terms[id];
      for (PolyId &argument : term.arguments)
        argument = ofPoly(argument);
      switch (term.kind) {
      case TermKind::SumOverKey:
        result = sumOver(term.dim, 1, term.arguments[0],
                         term.values.empty() ? std::nullopt
                         : move ? std::optional(movedSet(term.values[0], *move))
                                : std::optional(term.values[0]));
        break;
      case TermKind::MaxOverKey:
        result = maxOver(term.dim, term.arguments[0]);
        break;
      case TermKind::Total:
        result = total(term.arguments[0]);
        break;
      case TermKind::Exp:
        result = exponential(term.arguments[0]);
        break;
      case TermKind::Log:
        result = logarithm(term.arguments[0]);
        break;
      case TermKind::Inverse:
        result = invert(term.arguments[0]);
        break;
      default:
        term.dims = 0;
        term.tensor = Value();
        for (PolyId argument : term.arguments)
          term.dims |= dimsOf(argument);
        result = this->term(std::move(term));
      }
    }
    return done[id] = *result;
  };
  ofPoly = [&](PolyId id) {
    Poly copy = polys[id];
    Poly sum;
    for (const Monomial &monomial : copy) {
      PolyId product = number(monomial.coefficient);
      for (auto [term, exponent] : monomial.factors)
        product = multiply(product, power(ofTermId(term), exponent));
      append(product, sum);
    }
    return intern(std::move(sum));
  };
  return ofPoly(poly);
}

PolyId Algebra::rename(PolyId poly, unsigned from, unsigned to) {
  if (from == to)
    return poly;
  auto inLayout = [&](Layout layout) {
    for (auto &dim : layout)
      for (unsigned &part : dim)
        if (part == from)
          part = to;
    return layout;
  };
  if (std::exchange(definedWhenRenamed, defined.size()) != defined.size())
    renamed.clear();
  auto replace = [&](TermId id) -> std::optional<PolyId> {
    if (!(terms[id].dims & bit(from)))
      return ofTerm(id);
    if (terms[id].kind != TermKind::Leaf &&
        terms[id].kind != TermKind::Position)
      return std::nullopt;
    Term term = terms[id];
    term.dims = (term.dims & ~bit(from)) | bit(to);
    if (term.kind == TermKind::Position)
      term.dim = to;
    for (Layout &layout : term.layouts)
      layout = inLayout(layout);
    term.tensorLayout = inLayout(term.tensorLayout);
    return this->term(std::move(term));
  };
  // Held: sums inside of sums rename too, and may begin anew.
  std::shared_ptr<std::map<TermId, PolyId>> done = renamed[{from, to}];
  if (!done)
    done = renamed[{from, to}] = std::make_shared<std::map<TermId, PolyId>>();
  return rebuild(poly, replace, *done);
}

TermId Algebra::makeSumAsIs(unsigned dim, Monomial body,
                            std::optional<unsigned> set) {
  if (blockTables && !set)
    if (std::optional<Block> block = generalize(body, dim))
      set = setNumber({blockNumber(std::move(*block))});
  unsigned height = 0;
  for (auto [id, power] : body.factors)
    height = std::max(height, heightOf(id));
  Term term{TermKind::SumOverKey};
  term.dim = kFirstBoundDim + height;
  term.dims = dimsOf(body) & ~bit(dim);
  term.arguments = {rename(intern({body}), dim, term.dim)};
  if (set)
    term.values = {*set};
  return internTerm(std::move(term));
}

/// The set of blocks that `term`, a sum, is over.
static std::optional<unsigned> setOf(const Term &term) {
  return term.values.empty() ? std::nullopt : std::optional(term.values[0]);
}

PolyId Algebra::makeSum(unsigned dim, Monomial body,
                        std::optional<unsigned> set) {
  // A sum of sums is the same in either order.
  if (body.factors.size() == 1 && body.factors[0].second == 1) {
    Term inner = terms[body.factors[0].first];
    if (inner.kind == TermKind::SumOverKey &&
        polys[inner.arguments[0]].size() == 1) {
      unsigned open = kFirstOpenDim;
      while ((inner.dims & bit(open)) || open == dim)
        ++open;
      Poly first = polys[rename(inner.arguments[0], inner.dim, open)];
      TermId here = makeSumAsIs(dim, body, set);
      if (first.size() == 1 && first[0].coefficient == 1 &&
          llvm::all_of(first[0].factors, [&](auto &factor) {
            return terms[factor.first].dims & bit(dim);
          })) {
        TermId swapped = makeSumAsIs(dim, first[0], set);
        return ofTerm(
            std::min(here, makeSumAsIs(open, Monomial{1, {{swapped, 1}}},
                                       setOf(inner))));
      }
      return ofTerm(here);
    }
  }
  return ofTerm(makeSumAsIs(dim, std::move(body), set));
}

PolyId Algebra::sumOfBody(unsigned dim, double size, const Monomial &body,
                          std::optional<unsigned> set) {
  for (auto [id, power] : body.factors) {
    Term inner = terms[id];
    if (power != 1 || inner.kind != TermKind::SumOverKey ||
        polys[inner.arguments[0]].size() != 1 ||
        !hasExponential(polys[inner.arguments[0]][0]))
      continue;
    Monomial rest = times(body, id, -1);
    if (hasExponential(rest))
      continue;
    unsigned open = kFirstOpenDim;
    while ((dimsOf(body) & bit(open)) || open == dim)
      ++open;
    Poly summed = polys[rename(inner.arguments[0], inner.dim, open)];
    if (summed.size() != 1)
      continue;
    Monomial with = rest, without{summed[0].coefficient, {}};
    for (auto [factor, exponent] : summed[0].factors) {
      Monomial &part = terms[factor].dims & bit(dim) ? with : without;
      part = times(std::move(part), factor, exponent);
    }
    if (without.factors.empty())
      continue;
    return sumOver(
        open, 1,
        multiply(intern({without}), sumOver(dim, size, intern({with}), set)),
        setOf(inner));
  }
  return makeSum(dim, body, set);
}

PolyId Algebra::sumOver(unsigned dim, double size, PolyId poly,
                        std::optional<unsigned> set) {
  Poly copy = polys[poly], sum;
  for (const Monomial &monomial : copy) {
    Monomial outside{monomial.coefficient, {}}, body;
    for (auto [id, power] : monomial.factors) {
      Monomial &part = terms[id].dims & bit(dim) ? body : outside;
      part = times(std::move(part), id, power);
    }
    PolyId part = body.factors.empty()
                      ? number(size * (set ? blockSets[*set].size() : 1))
                      : sumOfBody(dim, size, body, set);
    append(multiply(intern({outside}), part), sum);
  }
  return intern(std::move(sum));
}

PolyId Algebra::maxOver(unsigned dim, PolyId poly) {
  unsigned height = 0;
  for (const Monomial &monomial : polys[poly])
    for (auto [id, power] : monomial.factors)
      height = std::max(height, heightOf(id));
  Term term{TermKind::MaxOverKey};
  term.dim = kFirstBoundDim + height;
  term.dims = dimsOf(poly) & ~bit(dim);
  term.arguments = {rename(poly, dim, term.dim)};
  return this->term(std::move(term));
}

//===- Algebra.cpp - What a score is, whichever way it is written ---------===//
#include "Algebra.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

//===----------------------------------------------------------------------===//
// Numbers of polynomials and terms
//===----------------------------------------------------------------------===//

PolyId Algebra::intern(Poly poly) {
  if (!defined.empty() && llvm::any_of(poly, [&](const Monomial &monomial) {
        return isExpandable(monomial);
      }))
    return expandDefined(poly);
  return internPlain(std::move(poly));
}

PolyId Algebra::internPlain(Poly poly) {
  work += 1 + static_cast<int64_t>(poly.size());
  std::sort(poly.begin(), poly.end(), [](const Monomial &a, const Monomial &b) {
    return a.factors < b.factors;
  });
  Poly merged;
  for (Monomial &monomial : poly) {
    if (!merged.empty() && merged.back().factors == monomial.factors)
      merged.back().coefficient += monomial.coefficient;
    else
      merged.push_back(std::move(monomial));
  }
  // What cancels but for rounding has cancelled: nothing here is that small.
  double largest = 0;
  for (const Monomial &monomial : poly)
    if (std::isfinite(monomial.coefficient))
      largest = std::max(largest, std::abs(monomial.coefficient));
  llvm::erase_if(merged, [&](const Monomial &monomial) {
    return monomial.coefficient == 0 ||
           std::abs(monomial.coefficient) < 1e-12 * largest;
  });
  if (blockTables && mergeBlocks(merged))
    return intern(std::move(merged));
  llvm::SmallString<128> key;
  auto append = [&](const auto &value) {
    const char *bytes = reinterpret_cast<const char *>(&value);
    key.append(bytes, bytes + sizeof(value));
  };
  for (const Monomial &monomial : merged) {
    append(monomial.coefficient);
    append(monomial.factors.size());
    for (auto [term, power] : monomial.factors) {
      append(term);
      append(power);
    }
  }
  auto [it, isNew] = polyNumbers.try_emplace(key, polys.size());
  if (isNew)
    polys.push_back(std::move(merged));
  return it->second;
}

static void writeLayout(llvm::raw_ostream &os, const Layout &layout) {
  for (const auto &dim : layout) {
    for (unsigned part : dim)
      os << part << ',';
    os << ';';
  }
}

TermId Algebra::internTerm(Term term) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << int(term.kind) << ' ' << term.dim << ' ';
  for (unsigned value : term.values)
    os << value << ',';
  for (const Layout &layout : term.layouts) {
    writeLayout(os, layout);
    os << '|';
  }
  for (PolyId argument : term.arguments)
    os << 'p' << argument;
  os << ' ' << term.name.getAsOpaquePointer() << ' '
     << term.attributes.getAsOpaquePointer();
  for (Type type : term.argumentTypes)
    os << ' ' << type.getAsOpaquePointer();
  if (term.kind == TermKind::Function)
    os << ' ' << term.type.getAsOpaquePointer();
  auto [it, isNew] = termNumbers.try_emplace(key, terms.size());
  if (isNew)
    terms.push_back(std::move(term));
  else if (!terms[it->second].tensor && term.tensor) {
    terms[it->second].tensor = term.tensor;
    terms[it->second].tensorLayout = term.tensorLayout;
  }
  return it->second;
}

PolyId Algebra::number(double value) {
  if (value == 0)
    return intern({});
  return intern({Monomial{value, {}}});
}

PolyId Algebra::term(Term term) { return ofTerm(internTerm(std::move(term))); }

std::optional<double> Algebra::constantOf(PolyId poly) const {
  if (polys[poly].empty())
    return 0.0;
  if (polys[poly].size() == 1 && polys[poly][0].factors.empty())
    return polys[poly][0].coefficient;
  return std::nullopt;
}

std::optional<TermId> Algebra::singleTerm(PolyId poly) const {
  const Poly &p = polys[poly];
  if (p.size() == 1 && p[0].coefficient == 1 && p[0].factors.size() == 1 &&
      p[0].factors[0].second == 1)
    return p[0].factors[0].first;
  return std::nullopt;
}

DimSet Algebra::dimsOf(const Monomial &monomial) const {
  DimSet dims = 0;
  for (auto [term, power] : monomial.factors)
    dims |= terms[term].dims;
  return dims;
}

DimSet Algebra::dimsOf(PolyId poly) const {
  DimSet dims = 0;
  for (const Monomial &monomial : polys[poly])
    dims |= dimsOf(monomial);
  return dims;
}

int Algebra::powerOf(const Monomial &monomial, TermId term) {
  for (auto [other, power] : monomial.factors)
    if (other == term)
      return power;
  return 0;
}

void Algebra::collectTerms(PolyId poly, SmallVectorImpl<TermId> &found) const {
  for (const Monomial &monomial : polys[poly])
    for (auto [term, power] : monomial.factors) {
      if (llvm::is_contained(found, term))
        continue;
      found.push_back(term);
      for (PolyId argument : terms[term].arguments)
        collectTerms(argument, found);
    }
}

bool Algebra::isPositive(PolyId poly) {
  std::optional<Monomial> product;
  if (polys[poly].size() == 1)
    product = polys[poly][0];
  else if (ofBlocks)
    product = asProduct(poly, /*mayDefine=*/false);
  return product && product->coefficient > 0 &&
         llvm::all_of(product->factors, [&](auto &factor) {
           const Term &term = terms[factor.first];
           return term.kind == TermKind::Exp || term.kind == TermKind::Total ||
                  (term.kind == TermKind::SumOverKey &&
                   isPositive(term.arguments[0]));
         });
}

bool Algebra::isNear(PolyId lhs, PolyId rhs) const {
  if (lhs == rhs)
    return true;
  const Poly &a = polys[lhs], &b = polys[rhs];
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : llvm::zip(a, b))
    if (x.factors != y.factors || !(std::abs(x.coefficient - y.coefficient) <=
                                    1e-3 * std::abs(x.coefficient)))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

PolyId Algebra::add(PolyId lhs, PolyId rhs, double rhsFactor) {
  Poly sum = polys[lhs];
  for (Monomial monomial : polys[rhs]) {
    monomial.coefficient *= rhsFactor;
    sum.push_back(std::move(monomial));
  }
  return intern(std::move(sum));
}

PolyId Algebra::scale(PolyId poly, double by) {
  return add(number(0), poly, by);
}

void Algebra::addConditions(const Monomial &score, Conditions &found) const {
  if (score.coefficient <= 0 || score.factors.size() != 1 ||
      score.factors[0].second != 1)
    return;
  const Term &select = terms[score.factors[0].first];
  if (select.kind != TermKind::Function ||
      select.name.getValue() != "stablehlo.select")
    return;
  const Poly &condition = polys[select.arguments[0]];
  bool isElse = constantOf(select.arguments[2]) == -INFINITY,
       isThen = constantOf(select.arguments[1]) == -INFINITY;
  if (!isElse && !isThen)
    return;
  auto isAnd = [&](const Monomial &part, double coefficient) {
    return part.coefficient == coefficient && !part.factors.empty() &&
           llvm::all_of(part.factors, [&](auto &factor) {
             return terms[factor.first].isBool;
           });
  };
  // Where the condition is a, or 1 - a.
  bool isPlain = condition.size() == 1 && isAnd(condition[0], 1);
  bool isNegated = condition.size() == 2 && condition[0].factors.empty() &&
                   condition[0].coefficient == 1 && isAnd(condition[1], -1);
  if (isPlain == isElse && (isPlain || isNegated))
    for (auto [id, power] : condition[isPlain ? 0 : 1].factors)
      found.implied.push_back(id);
  else if ((isPlain     ? condition[0]
            : isNegated ? condition[1]
                        : Monomial())
               .factors.size() == 1)
    found.refuted.push_back(condition[isPlain ? 0 : 1].factors[0].first);
  for (const Monomial &inner : polys[select.arguments[isElse ? 1 : 2]])
    addConditions(inner, found);
}

const Algebra::Conditions &Algebra::conditionsOf(TermId id) const {
  if (auto it = conditions.find(id); it != conditions.end())
    return it->second;
  Conditions found;
  const Term &term = terms[id];
  if (term.kind == TermKind::Exp)
    for (const Monomial &monomial : polys[term.arguments[0]])
      addConditions(monomial, found);
  // A sum is zero where all its parts are.
  if (term.kind == TermKind::SumOverKey && polys[term.arguments[0]].size() == 1)
    for (auto [inner, power] : polys[term.arguments[0]][0].factors)
      if (power > 0) {
        const Conditions &parts = conditionsOf(inner);
        auto isOfRow = [&](TermId part) {
          return (terms[part].dims & ~term.dims) == 0;
        };
        llvm::copy_if(parts.implied, std::back_inserter(found.implied),
                      isOfRow);
        llvm::copy_if(parts.refuted, std::back_inserter(found.refuted),
                      isOfRow);
      }
  return conditions[id] = std::move(found);
}

/// True for what may be zero by conditions of its own.
static bool isMaskable(const Term &term) {
  return term.kind == TermKind::Exp || term.kind == TermKind::SumOverKey;
}

Monomial Algebra::times(Monomial monomial, TermId term, int power) const {
  if (power > 0 && terms[term].isBool) {
    for (auto [other, exponent] : monomial.factors)
      if (exponent > 0 && isMaskable(terms[other])) {
        const Conditions &known = conditionsOf(other);
        if (llvm::is_contained(known.implied, term))
          return monomial;
        if (llvm::is_contained(known.refuted, term))
          return Monomial{0, {}};
      }
  } else if (power > 0 && isMaskable(terms[term]) &&
             powerOf(monomial, term) == 0) {
    const Conditions &known = conditionsOf(term);
    if (llvm::any_of(known.refuted,
                     [&](TermId id) { return powerOf(monomial, id) > 0; }))
      return Monomial{0, {}};
    llvm::erase_if(monomial.factors, [&](auto &factor) {
      return factor.second > 0 &&
             llvm::is_contained(known.implied, factor.first);
    });
  }
  auto it = llvm::find_if(monomial.factors,
                          [&](auto &factor) { return factor.first >= term; });
  if (it != monomial.factors.end() && it->first == term) {
    it->second += power;
    // True and true is true.
    if (terms[term].isBool && it->second > 1)
      it->second = 1;
    if (it->second == 0)
      monomial.factors.erase(it);
    return monomial;
  }
  if (power != 0)
    monomial.factors.insert(
        it, {term, terms[term].isBool && power > 1 ? 1 : power});
  return monomial;
}

Monomial Algebra::times(const Monomial &lhs, const Monomial &rhs) const {
  Monomial product = lhs;
  product.coefficient *= rhs.coefficient;
  for (auto [term, power] : rhs.factors)
    product = times(std::move(product), term, power);
  return product;
}

PolyId Algebra::multiply(PolyId lhs, PolyId rhs) {
  // The square of a sum of blocks is that of its total.
  if (ofBlocks && lhs == rhs)
    lhs = rhs = total(lhs);
  Poly product;
  for (const Monomial &a : polys[lhs])
    for (const Monomial &b : polys[rhs])
      product.push_back(times(a, b));
  return intern(std::move(product));
}

PolyId Algebra::invert(PolyId poly) {
  if (ofBlocks)
    if (std::optional<Monomial> product = asProduct(poly, /*mayDefine=*/true))
      poly = internPlain({*product});
  const Poly &p = polys[poly];
  bool hasBool = llvm::any_of(p, [&](const Monomial &m) {
    return llvm::any_of(
        m.factors, [&](auto &factor) { return terms[factor.first].isBool; });
  });
  if (p.size() == 1 && !hasBool) {
    Monomial inverse = p[0];
    inverse.coefficient = 1 / inverse.coefficient;
    for (auto &factor : inverse.factors)
      factor.second = -factor.second;
    return intern({inverse});
  }
  Term term{TermKind::Inverse};
  term.dims = dimsOf(poly);
  term.arguments = {poly};
  return this->term(std::move(term));
}

PolyId Algebra::exponential(PolyId poly) {
  // What does not depend on the key comes out, so that shifts of a row cancel.
  // Numbers stay: they may be half of a mask.
  Poly inside;
  Monomial outside;
  Poly copy = polys[poly];
  auto staysInside = [&](const Monomial &monomial) {
    if (ofBlocks)
      return !monomial.factors.empty() && !isStatistic(monomial);
    return isKeyDependent(dimsOf(monomial));
  };
  bool hasInside = llvm::any_of(copy, staysInside);
  for (const Monomial &monomial : copy) {
    if (staysInside(monomial) || (monomial.factors.empty() && hasInside)) {
      inside.push_back(monomial);
      continue;
    }
    if (monomial.factors.empty()) {
      outside.coefficient *= std::exp(monomial.coefficient);
      continue;
    }
    double factor = monomial.coefficient;
    if (monomial.factors.size() == 1 && monomial.factors[0].second == 1 &&
        std::round(factor) == factor && std::abs(factor) < 8 &&
        terms[monomial.factors[0].first].kind == TermKind::Log) {
      std::optional<TermId> base =
          singleTerm(terms[monomial.factors[0].first].arguments[0]);
      if (base) {
        outside = times(std::move(outside), *base, int(factor));
        continue;
      }
    }
    Term term{TermKind::Exp};
    term.dims = dimsOf(monomial);
    Monomial positive = monomial;
    // Whole multiples are powers, so that shifts by a part of one another
    // cancel.
    bool isWhole =
        ofBlocks && std::round(factor) == factor && std::abs(factor) < 8;
    positive.coefficient = isWhole ? 1 : std::abs(factor);
    term.arguments = {intern({positive})};
    outside = times(std::move(outside), internTerm(std::move(term)),
                    isWhole      ? int(factor)
                    : factor < 0 ? -1
                                 : 1);
  }
  if (inside.empty())
    return intern({outside});
  Term term{TermKind::Exp};
  term.arguments = {intern(std::move(inside))};
  term.dims = dimsOf(term.arguments[0]);
  return intern({times(std::move(outside), internTerm(std::move(term)), 1)});
}

PolyId Algebra::logarithm(PolyId poly) {
  if (ofBlocks) {
    if (std::optional<PolyId> merged = logarithmOfMerge(poly))
      return *merged;
    if (std::optional<Monomial> product = asProduct(poly, /*mayDefine=*/true))
      poly = internPlain({*product});
  }
  Poly copy = polys[poly];
  if (copy.size() == 1 && copy[0].coefficient > 0) {
    PolyId sum = number(std::log(copy[0].coefficient));
    for (auto [id, power] : copy[0].factors) {
      if (terms[id].kind == TermKind::Exp) {
        sum = add(sum, terms[id].arguments[0], power);
        continue;
      }
      Term term{TermKind::Log};
      term.dims = terms[id].dims;
      term.arguments = {internPlain({Monomial{1, {{id, 1}}}})};
      PolyId part = this->term(std::move(term));
      sum = add(sum, part, power);
    }
    return sum;
  }
  Term term{TermKind::Log};
  term.dims = dimsOf(poly);
  term.arguments = {poly};
  return this->term(std::move(term));
}

PolyId Algebra::sumOverKey(PolyId poly) {
  Poly copy = polys[poly], sum;
  for (const Monomial &monomial : copy) {
    Monomial row{monomial.coefficient, {}}, summed;
    for (auto [id, power] : monomial.factors) {
      Monomial &part = isKeyDependent(terms[id].dims) ? summed : row;
      part = times(std::move(part), id, power);
    }
    if (summed.factors.empty()) {
      row.coefficient *= keySize;
    } else {
      Term term{TermKind::SumOverKey};
      term.dims = dimsOf(summed) & ~keyDims;
      term.arguments = {intern({summed})};
      row = times(std::move(row), internTerm(std::move(term)), 1);
    }
    sum.push_back(std::move(row));
  }
  return intern(std::move(sum));
}

PolyId Algebra::maxOverKey(PolyId poly) {
  Term term{TermKind::MaxOverKey};
  term.dims = dimsOf(poly) & ~keyDims;
  term.arguments = {poly};
  return this->term(std::move(term));
}

std::string Algebra::str(PolyId poly) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const Poly &p = polys[poly];
  if (p.empty())
    os << '0';
  llvm::interleave(
      p, os,
      [&](const Monomial &monomial) {
        if (monomial.coefficient != 1 || monomial.factors.empty())
          os << llvm::format("%g", monomial.coefficient)
             << (monomial.factors.empty() ? "" : " ");
        llvm::interleave(
            monomial.factors, os,
            [&](auto factor) {
              const Term &term = terms[factor.first];
              static const char *names[] = {"t",   "i",   "dot", "pairs",
                                            "exp", "log", "inv", "total",
                                            "sum", "max", "f"};
              os << names[int(term.kind)];
              if (term.kind == TermKind::Function)
                os << ':' << term.name.getValue().rsplit('.').second;
              if (term.kind == TermKind::Leaf || term.kind == TermKind::Dot ||
                  term.kind == TermKind::PairSum)
                os << factor.first;
              if (term.kind == TermKind::Position)
                os << term.dim;
              if (!term.arguments.empty()) {
                os << '(';
                llvm::interleaveComma(term.arguments, os, [&](PolyId argument) {
                  os << str(argument);
                });
                os << ')';
              }
              if (factor.second != 1)
                os << '^' << factor.second;
            },
            "*");
      },
      " + ");
  return text;
}

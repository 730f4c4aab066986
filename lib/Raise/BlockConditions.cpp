//===- BlockConditions.cpp - Conditions that a block's place decides ------===//
//
// One rank knows the offsets of its blocks, so a comparison of positions is
// true of a whole block, false of it, or one of positions in the block:
//
//     q + 8 >= k        1               where q and k are below 8
//     q + 8 >= k + 8    q >= k
//
//===----------------------------------------------------------------------===//
#include "BlockReader.h"
#include "Match.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// `lhs direction 0`, where lhs is in [least, largest]; nullopt where that is
/// not enough to know.
static std::optional<bool>
compareWithZero(stablehlo::ComparisonDirection direction, double least,
                double largest) {
  using Direction = stablehlo::ComparisonDirection;
  auto isOneOf = [](bool always, bool never) {
    return always  ? std::optional(true)
           : never ? std::optional(false)
                   : std::nullopt;
  };
  switch (direction) {
  case Direction::GE:
    return isOneOf(least >= 0, largest < 0);
  case Direction::GT:
    return isOneOf(least > 0, largest <= 0);
  case Direction::LE:
    return isOneOf(largest <= 0, least > 0);
  case Direction::LT:
    return isOneOf(largest < 0, least >= 0);
  case Direction::EQ:
    return isOneOf(least == 0 && largest == 0, least > 0 || largest < 0);
  case Direction::NE:
    return isOneOf(least > 0 || largest < 0, least == 0 && largest == 0);
  }
  return std::nullopt;
}

PolyId BlockReader::decideComparison(Term term) {
  auto unchanged = [&] { return algebra.term(term); };
  auto kind = dyn_cast_or_null<stablehlo::ComparisonTypeAttr>(
      term.attributes.get("compare_type"));
  bool isSigned = !kind ||
                  kind.getValue() == stablehlo::ComparisonType::NOTYPE ||
                  kind.getValue() == stablehlo::ComparisonType::SIGNED;
  if (!isSigned || !term.argumentTypes[0].isSignlessInteger() ||
      term.argumentTypes[0].isInteger(1))
    return unchanged();
  double offset = 0, least = 0, largest = 0;
  PolyId sides[2];
  for (int side : {0, 1}) {
    Poly rest;
    double sign = side == 0 ? 1 : -1;
    for (const Monomial &monomial : algebra.get(term.arguments[side])) {
      if (monomial.factors.empty()) {
        offset += sign * monomial.coefficient;
        continue;
      }
      const Term *position =
          monomial.factors.size() == 1 && monomial.factors[0].second == 1
              ? &algebra.getTerm(monomial.factors[0].first)
              : nullptr;
      if (!position || position->kind != TermKind::Position ||
          tableOf(*position))
        return unchanged();
      double last =
          sign * monomial.coefficient * double(sizes[position->dim] - 1);
      least += std::min(last, 0.0);
      largest += std::max(last, 0.0);
      rest.push_back(monomial);
    }
    sides[side] = algebra.intern(std::move(rest));
  }
  if (std::max(std::abs(least), std::abs(largest)) + std::abs(offset) > 1e9)
    return unchanged();
  auto direction = cast<stablehlo::ComparisonDirectionAttr>(
                       term.attributes.get("comparison_direction"))
                       .getValue();
  if (std::optional<bool> known =
          compareWithZero(direction, least + offset, largest + offset))
    return algebra.number(*known);
  term.arguments[0] = sides[0];
  term.arguments[1] = algebra.add(sides[1], algebra.number(-offset));
  term.dims = algebra.dimsOf(sides[0]) | algebra.dimsOf(sides[1]);
  term.tensor = Value();
  return algebra.term(std::move(term));
}

PolyId BlockReader::decide(PolyId poly) {
  llvm::DenseMap<PolyId, PolyId> decided;
  return decide(poly, decided);
}

PolyId BlockReader::decide(PolyId poly,
                           llvm::DenseMap<PolyId, PolyId> &decided) {
  if (auto it = decided.find(poly); it != decided.end())
    return it->second;
  PolyId result =
      algebra.rebuild(poly, [&](TermId id) -> std::optional<PolyId> {
        Term term = algebra.getTerm(id);
        if (term.arguments.empty())
          return algebra.ofTerm(id);
        if (term.kind != TermKind::Function)
          return std::nullopt;
        if (term.name.getValue() == "stablehlo.compare") {
          for (PolyId &argument : term.arguments)
            argument = decide(argument, decided);
          return decideComparison(std::move(term));
        }
        if (term.name.getValue() == "stablehlo.select")
          if (std::optional<double> known =
                  algebra.constantOf(decide(term.arguments[0], decided)))
            return decide(term.arguments[*known != 0 ? 1 : 2], decided);
        return std::nullopt;
      });
  decided[poly] = result;
  return result;
}

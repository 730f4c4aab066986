//===- NumberFormula.cpp - Arithmetic of numbers that are bound -----------===//

#include "shardc/Layout/NumberFormula.h"
#include "Kinds.h"
#include "Wide.h"

using namespace shardc;

Formula shardc::constantFormula(int64_t number) {
  return Formula::make(kSum, {number}, {});
}

std::optional<int64_t> shardc::constantOf(const Formula &formula) {
  if (!formula || formula.kind() != kSum || !formula.operands().empty())
    return std::nullopt;
  return formula.numbers()[0];
}

namespace {
/// A number, and multiples of formulas.
struct Sum {
  /// Adds `factor` times `formula`.
  void add(const Formula &formula, Wide factor) {
    if (formula.kind() == kSum) {
      number += factor * formula.numbers()[0];
      for (size_t i = 0; i < formula.operands().size(); ++i)
        add(formula.operands()[i], factor * formula.numbers()[i + 1]);
      return;
    }
    for (auto &[operand, coefficient] : terms)
      if (operand == formula) {
        coefficient += factor;
        return;
      }
    terms.push_back({formula, factor});
  }

  Wide number = 0;
  std::vector<std::pair<Formula, Wide>> terms;
};
} // namespace

Formula shardc::sumFormula(const Formula &a, int64_t first, const Formula &b,
                           int64_t second) {
  if (!a || !b)
    return {};
  Sum sum;
  sum.add(a, first);
  sum.add(b, second);
  std::vector<int64_t> numbers = {saturate(sum.number)};
  std::vector<Formula> operands;
  for (auto &[operand, coefficient] : sum.terms) {
    if (coefficient == 0)
      continue;
    numbers.push_back(saturate(coefficient));
    operands.push_back(operand);
  }
  if (operands.size() == 1 && numbers[0] == 0 && numbers[1] == 1)
    return operands[0];
  return Formula::make(kSum, std::move(numbers), std::move(operands));
}

Formula shardc::productFormula(const Formula &a, const Formula &b) {
  if (!a || !b)
    return {};
  if (std::optional<int64_t> factor = constantOf(a))
    return sumFormula(b, *factor, constantFormula(0), 1);
  if (std::optional<int64_t> factor = constantOf(b))
    return sumFormula(a, *factor, constantFormula(0), 1);
  return Formula::make(kProduct, {}, {a, b});
}

Formula shardc::quotientFormula(const Formula &number, int64_t divisor) {
  if (!number || divisor == 1)
    return number;
  if (std::optional<int64_t> known = constantOf(number))
    return constantFormula(static_cast<int64_t>(floorDiv(*known, divisor)));
  return Formula::make(kQuotient, {divisor}, {number});
}

Formula shardc::greatestFormula(const Formula &a, const Formula &b) {
  if (!a || !b)
    return {};
  if (a == b || a.range().first >= b.range().second)
    return a;
  if (b.range().first >= a.range().second)
    return b;
  return Formula::make(kGreatest, {}, {a, b});
}

Formula shardc::choiceFormula(const Formula &condition, const Formula &a,
                              const Formula &b) {
  if (!condition || !a || !b)
    return {};
  if (a == b || condition.range().first > 0)
    return a;
  if (condition.range().second <= 0)
    return b;
  return Formula::make(kChoice, {}, {condition, a, b});
}

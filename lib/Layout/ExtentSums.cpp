//===- ExtentSums.cpp - What two extents differ by ------------------------===//
#include "shardc/Layout/ExtentSums.h"

#include <algorithm>

using namespace shardc;

namespace {
/// A number, and multiples of extents that are no sums themselves.
struct Sum {
  std::map<int64_t, int64_t> terms;
  int64_t constant = 0;

  /// Adds `times` another sum; false if that overflows.
  bool add(const Sum &other, int64_t times) {
    auto addTo = [&](int64_t &number, int64_t more) {
      return !__builtin_mul_overflow(more, times, &more) &&
             !__builtin_add_overflow(number, more, &number);
    };
    if (!addTo(constant, other.constant))
      return false;
    for (auto [extent, count] : other.terms) {
      int64_t &term = terms[extent];
      if (!addTo(term, count))
        return false;
      if (term == 0)
        terms.erase(extent);
    }
    return true;
  }
};

class Sums {
public:
  explicit Sums(const Extents &extents)
      : extents(extents), known(extents.size()) {}

  std::optional<Sum> ofNumber(int64_t number) {
    std::optional<LinearExtent> found = extents.find(number);
    Sum sum;
    if (!found)
      sum.constant = number;
    else if (sum.constant = found->constant;
             !sum.add(of(found->extent), found->coefficient))
      return std::nullopt;
    return sum;
  }

private:
  /// An extent whose sum overflows is a term of its own.
  const Sum &of(int64_t extent) {
    if (!known[extent])
      known[extent] = sumOf(extents[extent]).value_or(Sum{{{extent, 1}}, 0});
    return *known[extent];
  }

  std::optional<Sum> sumOf(const ExtentExpr &expr) {
    auto operand = [&](size_t i) -> const Sum & {
      return of(expr.operands[i]);
    };
    Sum sum;
    bool isSum = false;
    switch (expr.kind) {
    case ExtentKind::Constant:
      sum.constant = expr.operands[0];
      isSum = true;
      break;
    case ExtentKind::Add:
    case ExtentKind::Subtract:
      isSum = sum.add(operand(0), 1) &&
              sum.add(operand(1), expr.kind == ExtentKind::Add ? 1 : -1);
      break;
    case ExtentKind::Negate:
      isSum = sum.add(operand(0), -1);
      break;
    case ExtentKind::Max:
      // As of elements in windows, of which there are none in less than none.
      for (size_t i : {0, 1})
        if (Sum rest; !isSum && rest.add(operand(i), 1) &&
                      rest.add(operand(1 - i), -1) && isAtLeastZero(rest))
          isSum = sum.add(operand(i), 1);
      break;
    case ExtentKind::Multiply:
      for (size_t i : {0, 1})
        if (!isSum && operand(1 - i).terms.empty())
          isSum = sum.add(operand(i), operand(1 - i).constant);
      break;
    default:
      break;
    }
    return isSum ? std::optional(std::move(sum)) : std::nullopt;
  }

  bool isAtLeastZero(const Sum &sum) {
    return sum.constant >= 0 &&
           std::all_of(sum.terms.begin(), sum.terms.end(), [&](auto term) {
             return term.second >= 0 && isAtLeastZero(extents[term.first]);
           });
  }

  /// Dims are, and what is made of them so.
  bool isAtLeastZero(const ExtentExpr &expr) {
    auto operand = [&](size_t i) {
      return isAtLeastZero(of(expr.operands[i]));
    };
    switch (expr.kind) {
    case ExtentKind::Dim:
      return true;
    case ExtentKind::Max:
      return operand(0) || operand(1);
    case ExtentKind::Min:
    case ExtentKind::Divide:
      return operand(0) && operand(1);
    default:
      return false;
    }
  }

  const Extents &extents;
  std::vector<std::optional<Sum>> known;
};
} // namespace

std::optional<int64_t> shardc::constantDifference(const Extents &extents,
                                                  int64_t a, int64_t b) {
  Sums sums(extents);
  std::optional<Sum> difference = sums.ofNumber(a), other = sums.ofNumber(b);
  if (!difference || !other || !difference->add(*other, -1) ||
      !difference->terms.empty())
    return std::nullopt;
  return difference->constant;
}

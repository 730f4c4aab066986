//===- RefineChoices.cpp - Extents that are one of two others -------------===//
//
// A placeholder is larger than any number of the program. So min(n, 12) would
// be 12, and max(n - 12, 0) would be n - 12. Such a choice has a number of its
// own, where a shape is made of it and some bindings take the one and some the
// other:
//
//     x[:12] of n = 225383 rows: as if of the first 16231
//     x[-12:]: from n - 16231 on
//
// Which choices these are is seen at the end of a walk; the next one gives them
// their numbers as they are made, and what follows from them follows from these
// numbers. Two choices are one if they are the same in probes of small extents.
//
//===----------------------------------------------------------------------===//
#include "Refiner.h"
#include "shardc/Layout/Placeholders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

/// Numbers of choices are less than dims by this much, so that what is chosen
/// of a dim is less than it.
static constexpr int64_t kLessThanDims = 8, kMostChoice = 1 << 14;

/// The innermost choices that an extent is made of of which a placeholder takes
/// one side, and some binding the other.
void Refiner::collectChoices(int64_t extent, std::set<int64_t> &found) {
  const ExtentExpr &expr = walked[extent];
  if (expr.kind == ExtentKind::Dim || expr.kind == ExtentKind::Constant)
    return;
  size_t before = found.size();
  for (int64_t operand : expr.operands)
    collectChoices(operand, found);
  if (!isChoice(expr.kind) || found.size() != before)
    return;
  bool isFirst = walked[expr.operands[0]].placeholder == expr.placeholder;
  int64_t taken = expr.operands[isFirst ? 0 : 1];
  if (llvm::any_of(bindings, [&](const std::vector<int64_t> &values) {
        return values[extent] != values[taken];
      }))
    found.insert(extent);
}

/// A prime of which no number of the program is beside a multiple, nor one of
/// those `taken`.
static std::optional<int64_t> clearPrime(const Extents &extents,
                                         const std::set<int64_t> &used,
                                         ArrayRef<int64_t> taken) {
  SmallVector<int64_t> numbers(taken);
  int64_t least = kMostChoice * kLessThanDims;
  for (int64_t id = 0; id < extents.size(); ++id) {
    int64_t number = std::abs(extents[id].placeholder);
    bool isDim = extents[id].kind == ExtentKind::Dim;
    if ((isDim || used.count(id)) && number >= Extents::least)
      numbers.push_back(number);
    if (isDim)
      least = std::min(least, number);
  }
  auto isClear = [&](int64_t prime) {
    for (int64_t divisor = 2; divisor * divisor <= prime; ++divisor)
      if (prime % divisor == 0)
        return false;
    return llvm::all_of(numbers, [&](int64_t number) {
      for (int64_t times = 1; times <= timesBeside; ++times) {
        int64_t rest = times * number % prime;
        if (rest <= 2 * nearby || rest >= prime - 2 * nearby)
          return false;
      }
      return true;
    });
  };
  for (int64_t prime = least / kLessThanDims; prime > Extents::least; --prime)
    if (isClear(prime))
      return prime;
  return std::nullopt;
}

/// Less than what is chosen from, or more where a choice is never less than it.
std::optional<int64_t> Refiner::numberOfChoice(int64_t extent,
                                               ArrayRef<int64_t> taken) {
  std::optional<int64_t> own = clearPrime(walked, used, taken);
  int64_t number = walked[extent].placeholder;
  std::optional<LinearExtent> chosen = usedExtents().find(number);
  if (!own || !chosen)
    return number >= 0 ? own : std::nullopt;
  if (chosen->coefficient != 1)
    return std::nullopt;
  auto holds = [&](auto compare) {
    return llvm::all_of(bindings, [&](const std::vector<int64_t> &values) {
      return compare(values[extent], values[chosen->extent]);
    });
  };
  int64_t whole = walked[chosen->extent].placeholder;
  if (holds(std::less_equal<>()))
    return whole - *own;
  if (holds(std::greater_equal<>()))
    return whole + *own;
  return std::nullopt;
}

Choices Refiner::findChoices() {
  Choices choices = placeholders->choices;
  std::set<int64_t> found;
  for (int64_t id : used)
    if (id < walked.size() &&
        llvm::any_of(
            bindings,
            [&](const std::vector<int64_t> &values) {
              return extents.resolve(walked[id].placeholder, values) !=
                     values[id];
            }))
      collectChoices(id, found);
  SmallVector<int64_t> taken;
  for (const auto &[values, number] : choices)
    taken.push_back(number);
  for (int64_t id : found) {
    std::optional<int64_t> number = numberOfChoice(id, taken);
    std::vector<int64_t> values = smallProbe(id);
    if (!number || values.size() < 2)
      continue;
    if (choices.try_emplace(std::move(values), *number).second)
      taken.push_back(*number);
  }
  return choices;
}

//===- Formula.cpp - How a table follows from what is bound ---------------===//
//
// Kinds of formulas, and their words. FormulaBuild.cpp builds them,
// FormulaRanges.cpp bounds their values, FormulaBind.cpp evaluates
// them.
//
//===----------------------------------------------------------------------===//

#include "shardc/Layout/Formula.h"
#include "Kinds.h"
#include "Wide.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Limits.h"
#include <algorithm>
#include <array>
#include <set>

using namespace shardc;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {
enum class Sort { Boundaries, Intervals, Numbers };

struct KindInfo {
  std::string_view name;
  Sort sort;
  int64_t numNumbers;  ///< -1: any number
  int64_t numOperands; ///< -1: one fewer than numbers; -2: pairs, at least one
  Sort operands;
};
} // namespace

static const KindInfo *infoOf(FormulaKind kind) {
  static constexpr std::array<KindInfo, 32> infos = {{
      {"given", Sort::Boundaries, -1, 0, Sort::Boundaries},
      {"fixed", Sort::Boundaries, -1, 0, Sort::Boundaries},
      {"affine", Sort::Boundaries, 4, 1, Sort::Boundaries},
      {"coarsen", Sort::Boundaries, -1, 1, Sort::Boundaries},
      {"refine", Sort::Boundaries, -1, 1, Sort::Boundaries},
      {"shards", Sort::Intervals, -1, 1, Sort::Boundaries},
      {"same", Sort::Intervals, 2, 0, Sort::Intervals},
      {"positions", Sort::Intervals, -1, -1, Sort::Intervals},
      {"elements", Sort::Intervals, 1, 1, Sort::Intervals},
      {"kept", Sort::Intervals, 0, 2, Sort::Intervals},
      {"begin", Sort::Numbers, 0, 1, Sort::Intervals},
      {"size", Sort::Numbers, 0, 1, Sort::Intervals},
      {"offset", Sort::Numbers, 0, 2, Sort::Intervals},
      {"below", Sort::Numbers, 0, 2, Sort::Intervals},
      {"above", Sort::Numbers, 0, 2, Sort::Intervals},
      {"phase", Sort::Numbers, 1, 1, Sort::Intervals},
      {"rotate", Sort::Intervals, -1, 1, Sort::Intervals},
      {"whole", Sort::Boundaries, 1, 0, Sort::Boundaries},
      {"balanced", Sort::Boundaries, -1, 0, Sort::Boundaries},
      {"ranks", Sort::Boundaries, -1, 0, Sort::Boundaries},
      {"blocks", Sort::Boundaries, 0, 1, Sort::Boundaries},
      {"domain", Sort::Intervals, 0, 1, Sort::Boundaries},
      {"longest", Sort::Intervals, 0, 1, Sort::Boundaries},
      {"hull", Sort::Intervals, 0, 2, Sort::Intervals},
      {"packed", Sort::Boundaries, 0, 1, Sort::Intervals},
      {"joined", Sort::Intervals, 0, 2, Sort::Intervals},
      {"differs", Sort::Numbers, 0, -2, Sort::Intervals},
      {"sum", Sort::Numbers, -1, -1, Sort::Numbers},
      {"product", Sort::Numbers, 0, 2, Sort::Numbers},
      {"quotient", Sort::Numbers, 1, 1, Sort::Numbers},
      {"greatest", Sort::Numbers, 0, 2, Sort::Numbers},
      {"choice", Sort::Numbers, 0, 3, Sort::Numbers},
  }};
  auto number = static_cast<size_t>(kind);
  return number < infos.size() ? &infos[number] : nullptr;
}

std::string_view shardc::formulaName(FormulaKind kind) {
  const KindInfo *info = infoOf(kind);
  return info ? info->name : std::string_view();
}

std::optional<FormulaKind> shardc::formulaKind(std::string_view name) {
  for (int64_t kind = 0; infoOf(static_cast<FormulaKind>(kind)); ++kind)
    if (infoOf(static_cast<FormulaKind>(kind))->name == name)
      return static_cast<FormulaKind>(kind);
  return std::nullopt;
}

/// True if the numbers of a formula of `kind` make sense.
static bool fit(FormulaKind kind, const std::vector<int64_t> &numbers) {
  if (kind == kSum)
    return !numbers.empty();
  if (kind == kQuotient)
    return numbers[0] >= 1;
  auto isExtent = [](int64_t size) {
    return size >= 0 && size <= largestIndex;
  };
  // Counts of shards: numbers of at least 1, and ~axis.
  auto areFactors = [&](size_t from) {
    return numbers.size() > from &&
           std::all_of(numbers.begin() + int64_t(from), numbers.end(),
                       [](int64_t factor) {
                         return factor != 0 && factor <= kMaxRanks;
                       });
  };
  switch (kind) {
  case FormulaKind::Given:
    return numbers.size() >= 3 && numbers[0] >= 0 && numbers[1] >= 0 &&
           isExtent(numbers[2]) && (numbers.size() == 3 || areFactors(3));
  case FormulaKind::Whole:
    return isExtent(numbers[0]);
  case FormulaKind::Balanced:
    return areFactors(1) && isExtent(numbers[0]);
  case FormulaKind::Ranks:
    return areFactors(0);
  case FormulaKind::Fixed:
    return Boundaries::fromBounds(numbers).has_value() &&
           isExtent(numbers.back());
  case FormulaKind::Affine:
    return numbers[0] >= 1 && numbers[2] >= 1 && isExtent(numbers[3]);
  case FormulaKind::Coarsen:
  case FormulaKind::Refine:
    return areFactors(0);
  case FormulaKind::Elements:
  case FormulaKind::Phase:
    return numbers[0] >= 1;
  case FormulaKind::Shards:
    return std::set<int64_t>(numbers.begin(), numbers.end()).size() ==
               numbers.size() &&
           std::all_of(numbers.begin(), numbers.end(),
                       [](int64_t axis) { return axis >= 0; });
  case FormulaKind::Rotate:
    return numbers.size() > 1 && numbers[0] >= 0 &&
           fit(FormulaKind::Shards, {numbers.begin() + 1, numbers.end()});
  case FormulaKind::Positions:
    return !numbers.empty();
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Formula
//===----------------------------------------------------------------------===//

bool shardc::operator==(const Formula &a, const Formula &b) {
  if (a.node == b.node)
    return true;
  return a.node && b.node && a.node->kind == b.node->kind &&
         a.node->numbers == b.node->numbers &&
         a.node->operands == b.node->operands;
}

Formula Formula::make(FormulaKind kind, std::vector<int64_t> numbers,
                      std::vector<Formula> operands) {
  const KindInfo *info = infoOf(kind);
  auto count = [](const auto &list) {
    return static_cast<int64_t>(list.size());
  };
  auto takes = [&](int64_t numOperands) {
    if (info->numOperands == -2)
      return numOperands > 0 && numOperands % 2 == 0;
    return numOperands ==
           (info->numOperands >= 0 ? info->numOperands : count(numbers) - 1);
  };
  if (!info || (info->numNumbers >= 0 && info->numNumbers != count(numbers)) ||
      !fit(kind, numbers) || !takes(count(operands)))
    return {};
  for (const Formula &operand : operands)
    if (!operand || infoOf(operand.kind())->sort != info->operands)
      return {};
  auto isAxis = [](int64_t factor) { return factor < 0; };
  bool countsAxes = kind == FormulaKind::Balanced ||
                    kind == FormulaKind::Ranks ||
                    kind == FormulaKind::Coarsen || kind == FormulaKind::Refine;
  bool isOpen =
      kind == FormulaKind::Given || kind == FormulaKind::Whole ||
      (countsAxes && std::any_of(numbers.begin(), numbers.end(), isAxis)) ||
      std::any_of(operands.begin(), operands.end(),
                  [](const Formula &part) { return part.isOpen(); });
  Formula formula;
  formula.node = std::make_shared<const Node>(
      Node{kind, std::move(numbers), std::move(operands), isOpen});
  return formula;
}

bool Formula::isBoundaries() const {
  return infoOf(kind())->sort == Sort::Boundaries;
}
bool Formula::isIntervals() const {
  return infoOf(kind())->sort == Sort::Intervals;
}

//===----------------------------------------------------------------------===//
// Lists of formulas
//===----------------------------------------------------------------------===//

int64_t FormulaList::add(const Formula &formula) {
  std::vector<int64_t> words = {static_cast<int64_t>(formula.kind()),
                                static_cast<int64_t>(formula.numbers().size())};
  words.insert(words.end(), formula.numbers().begin(), formula.numbers().end());
  words.push_back(static_cast<int64_t>(formula.operands().size()));
  for (const Formula &operand : formula.operands())
    words.push_back(add(operand));
  auto [entry, isNew] = known.try_emplace(std::move(words), size());
  if (isNew)
    formulas.push_back(formula);
  return entry->second;
}

void FormulaList::append(std::vector<int64_t> &words) const {
  std::vector<const std::vector<int64_t> *> byNumber(formulas.size());
  for (const auto &[text, number] : known)
    byNumber[number] = &text;
  for (const std::vector<int64_t> *text : byNumber)
    words.insert(words.end(), text->begin(), text->end());
}

std::string FormulaList::read(std::span<const int64_t> &words, int64_t count,
                              int64_t numAxes) {
  bool ended = false;
  auto next = [&]() -> int64_t {
    if (words.empty()) {
      ended = true;
      return 0;
    }
    int64_t word = words.front();
    words = words.subspan(1);
    return word;
  };
  auto readList = [&](std::vector<int64_t> &list) {
    int64_t length = next();
    if (length < 0 || length > static_cast<int64_t>(words.size()))
      ended = true;
    for (int64_t i = 0; i < length && !ended; ++i)
      list.push_back(next());
  };
  for (int64_t i = 0; i < count; ++i) {
    auto kind = static_cast<FormulaKind>(next());
    std::vector<int64_t> numbers, places;
    readList(numbers);
    readList(places);
    std::string where = "formula " + std::to_string(i);
    if (ended)
      return where + " ends outside the table";
    // Kinds keep their numbers, and new ones come last, so an older compiler's
    // are known.
    if (!infoOf(kind))
      return where + " is of kind " +
             std::to_string(static_cast<int64_t>(kind)) +
             ", which this build does not know: it was compiled by a newer "
             "version; compile the program again with this one, or run it "
             "with that one";
    std::vector<Formula> operands;
    for (int64_t place : places) {
      if (place < 0 || place >= size())
        return where + " is made of what does not stand before it";
      operands.push_back(formulas[place]);
    }
    Formula formula = Formula::make(kind, numbers, std::move(operands));
    if (!formula)
      return where + " makes no sense";
    bool hasFactors =
        kind == FormulaKind::Given || kind == FormulaKind::Balanced ||
        kind == FormulaKind::Ranks || kind == FormulaKind::Coarsen ||
        kind == FormulaKind::Refine;
    for (int64_t number : numbers)
      if (hasFactors && number < 0 && ~number >= numAxes)
        return where + " names an axis that the mesh has not";
    size_t firstAxis = kind == FormulaKind::Shards   ? 0
                       : kind == FormulaKind::Rotate ? 1
                                                     : numbers.size();
    for (size_t n = firstAxis; n < numbers.size(); ++n)
      if (numbers[n] >= numAxes)
        return where + " names an axis that the mesh has not";
    if (add(formula) != i)
      return where + " stands twice";
  }
  return {};
}

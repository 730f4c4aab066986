//===- FormulaBind.cpp - Tables that formulas say once all is bound -------===//
//
// Sums are formed in 128 bits and saturated, as in IndexMap.cpp.
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"
#include "Wide.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/Formula.h"
#include "shardc/Layout/IndexMap.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Layout/TravelFormula.h"
#include <algorithm>

using namespace shardc;

BoundTable shardc::expandTable(const BoundTable &table,
                               std::span<const int64_t> axes,
                               std::span<const int64_t> meshShape) {
  BoundTable result;
  result.axes.assign(axes.begin(), axes.end());
  if (table.axes == result.axes) {
    result = table;
    return result;
  }
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= meshShape[axis];
  std::vector<int64_t> coordinate(meshShape.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t a = axes.size(); a-- > 0;) {
      coordinate[axes[a]] = rest % meshShape[axes[a]];
      rest /= meshShape[axes[a]];
    }
    int64_t place = 0;
    for (int64_t axis : table.axes)
      place = place * meshShape[axis] + coordinate[axis];
    if (!table.intervals.empty())
      result.intervals.push_back(table.intervals[place]);
    if (!table.numbers.empty())
      result.numbers.push_back(table.numbers[place]);
  }
  return result;
}

/// The axes of the tables `operands`, in the order in which they come.
static std::vector<int64_t>
axesOf(const std::vector<const BoundTable *> &operands) {
  std::vector<int64_t> axes;
  for (const BoundTable *operand : operands)
    for (int64_t axis : operand->axes)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end())
        axes.push_back(axis);
  return axes;
}

static Interval keptOf(Interval owned, Interval needed) {
  Interval kept = intersect(owned, needed);
  return kept.empty() ? Interval{owned.begin, owned.begin} : kept;
}

/// `table` as each coordinate's neighbour along the places of `formula` has it.
static bool rotate(const Formula &formula, const BoundTable &table,
                   std::span<const int64_t> meshShape, BoundTable &result) {
  std::span<const int64_t> places = formula.numbers();
  int64_t shift = places[0], length = 1;
  places = places.subspan(1);
  for (int64_t axis : places) {
    if (std::find(table.axes.begin(), table.axes.end(), axis) ==
        table.axes.end())
      return false;
    length *= meshShape[axis];
  }
  result.axes = table.axes;
  std::vector<int64_t> coordinate(meshShape.size());
  for (int64_t i = 0; i < static_cast<int64_t>(table.intervals.size()); ++i) {
    int64_t rest = i;
    for (size_t a = table.axes.size(); a-- > 0;) {
      coordinate[table.axes[a]] = rest % meshShape[table.axes[a]];
      rest /= meshShape[table.axes[a]];
    }
    int64_t place = 0;
    for (int64_t axis : places)
      place = place * meshShape[axis] + coordinate[axis];
    place = (place + shift % length) % length;
    for (size_t p = places.size(); p-- > 0;) {
      coordinate[places[p]] = place % meshShape[places[p]];
      place /= meshShape[places[p]];
    }
    int64_t other = 0;
    for (int64_t axis : table.axes)
      other = other * meshShape[axis] + coordinate[axis];
    result.intervals.push_back(table.intervals[other]);
  }
  return true;
}

/// One entry of a table of intervals, from those of its operands.
static Interval intervalOf(const Formula &formula,
                           const std::vector<Interval> &operands) {
  if (formula.kind() == kHull) {
    Interval first = operands[0], second = operands[1];
    if (first.empty() || second.empty())
      return first.empty() && !second.empty() ? second : first;
    return {std::min(first.begin, second.begin),
            std::max(first.end, second.end)};
  }
  if (formula.kind() == kJoined)
    return {operands[0].begin,
            saturate(Wide(operands[0].begin) + operands[0].size() +
                     operands[1].size())};
  switch (formula.kind()) {
  case FormulaKind::Positions: {
    IndexMap map;
    map.offset = formula.numbers()[0];
    for (size_t i = 0; i < operands.size(); ++i)
      map.terms.push_back({static_cast<int64_t>(i), formula.numbers()[i + 1]});
    return neededPositions(map, operands);
  }
  case FormulaKind::Elements:
    return elementsAt(operands[0], formula.numbers()[0]);
  default:
    return keptOf(operands[0], operands[1]);
  }
}

/// Of numbers, which are stored as the begins of intervals.
static int64_t numberOfNumbers(const Formula &formula,
                               const std::vector<Interval> &operands) {
  auto operand = [&](size_t i) { return Wide(operands[i].begin); };
  if (formula.kind() == kSum) {
    Wide sum = formula.numbers()[0];
    for (size_t i = 0; i < operands.size(); ++i)
      sum = saturate(sum + Wide(formula.numbers()[i + 1]) * operand(i));
    return saturate(sum);
  }
  if (formula.kind() == kProduct)
    return saturate(operand(0) * operand(1));
  if (formula.kind() == kQuotient)
    return saturate(floorDiv(operand(0), formula.numbers()[0]));
  if (formula.kind() == kGreatest)
    return std::max(operands[0].begin, operands[1].begin);
  return operands[operand(0) > 0 ? 1 : 2].begin;
}

static int64_t numberOf(const Formula &formula,
                        const std::vector<Interval> &operands) {
  if (formula.kind() >= kSum)
    return numberOfNumbers(formula, operands);
  Interval inner = operands.front(), outer = operands.back();
  if (formula.kind() == kDiffers) {
    for (size_t i = 0; i < operands.size(); i += 2)
      if (!(operands[i] == operands[i + 1]))
        return 1;
    return 0;
  }
  switch (formula.kind()) {
  case FormulaKind::Phase: {
    int64_t dilation = formula.numbers()[0];
    return elementsAt(inner, dilation).begin * dilation - inner.begin;
  }
  case FormulaKind::Begin:
    return inner.begin;
  case FormulaKind::Size:
    return inner.size();
  case FormulaKind::Offset:
    return inner.empty() ? 0 : inner.begin - outer.begin;
  case FormulaKind::Below:
    return inner.empty() ? outer.size() : inner.begin - outer.begin;
  default:
    return inner.empty() ? 0 : outer.end - inner.end;
  }
}

/// The boundaries of `formula`; none where `error` says why.
static std::optional<Boundaries> boundariesOf(const Formula &formula,
                                              const BoundTable *operand,
                                              const Binding &binding,
                                              std::string &error) {
  std::vector<int64_t> numbers = formula.numbers();
  // What factors multiply to, up to one more than there can be.
  auto count = [&](size_t from) {
    Wide product = 1;
    for (size_t i = from; i < numbers.size(); ++i)
      product = std::min<Wide>(product * (numbers[i] < 0
                                              ? binding.meshShape[~numbers[i]]
                                              : numbers[i]),
                               kMaxRanks + 1);
    return static_cast<int64_t>(product);
  };
  if (formula.kind() == FormulaKind::Fixed)
    return Boundaries::fromBounds(numbers);
  if (formula.kind() == FormulaKind::Whole)
    return Boundaries::whole(numbers[0]);
  if (formula.kind() == FormulaKind::Balanced ||
      formula.kind() == FormulaKind::Ranks) {
    bool isRanks = formula.kind() == FormulaKind::Ranks;
    int64_t shards = count(isRanks ? 0 : 1);
    if (shards > kMaxRanks) {
      error = "more shards than there can be ranks";
      return std::nullopt;
    }
    return Boundaries::balanced(isRanks ? shards : numbers[0], shards);
  }
  if (formula.kind() == FormulaKind::Given) {
    std::string name = "argument " + std::to_string(numbers[0]) + ", dim " +
                       std::to_string(numbers[1]);
    auto found = binding.given.find({numbers[0], numbers[1]});
    if (found == binding.given.end()) {
      error = name + ": sizes are not given";
      return std::nullopt;
    }
    std::optional<Boundaries> given = Boundaries::fromBounds(found->second);
    if (!given || given->size() != numbers[2]) {
      error = name + ": sizes add up to " +
              std::to_string(given ? given->size() : -1) + ", expected " +
              std::to_string(numbers[2]);
      return std::nullopt;
    }
    return given;
  }
  if (formula.kind() == kPacked) {
    std::vector<int64_t> indices = {0};
    for (Interval interval : operand->intervals)
      indices.push_back(saturate(Wide(indices.back()) + interval.size()));
    return Boundaries::fromBounds(std::move(indices));
  }
  Boundaries inner = *Boundaries::fromBounds(operand->indices);
  if (formula.kind() == FormulaKind::Blocks) {
    std::vector<int64_t> indices = {0};
    for (int64_t i = 0; i < inner.numShards(); ++i)
      indices.push_back(saturate(Wide(indices.back()) + inner.maxShardSize()));
    return Boundaries::fromBounds(std::move(indices));
  }
  if (formula.kind() == FormulaKind::Refine) {
    int64_t parts = count(0);
    if (parts > kMaxRanks / inner.numShards()) {
      error = "more shards than there can be ranks";
      return std::nullopt;
    }
    return inner.refine(parts);
  }
  if (formula.kind() == FormulaKind::Coarsen) {
    int64_t step = count(0);
    if (inner.numShards() % step != 0) {
      error = "runs of " + std::to_string(step) + " shards do not fit " +
              std::to_string(inner.numShards());
      return std::nullopt;
    }
    return inner.coarsen(step);
  }
  std::vector<int64_t> indices = {0};
  for (int64_t i = 1; i < inner.numShards(); ++i)
    indices.push_back(static_cast<int64_t>(std::clamp<Wide>(
        ceilDiv(Wide(numbers[0]) * inner.indices()[i] + numbers[1], numbers[2]),
        0, numbers[3])));
  indices.push_back(numbers[3]);
  return Boundaries::fromBounds(std::move(indices));
}

/// `formula` with what is bound in place of placeholders; none where that makes
/// no sense.
static Formula resolve(const Formula &formula, const Binding &binding) {
  // Which of its numbers are sizes, or indices.
  size_t first = 0, last = formula.numbers().size();
  switch (formula.kind()) {
  case FormulaKind::Given:
    first = 2;
    last = 3;
    break;
  case FormulaKind::Balanced:
    last = 1;
    break;
  case FormulaKind::Fixed:
  case FormulaKind::Affine:
  case FormulaKind::Same:
  case FormulaKind::Positions:
  case FormulaKind::Whole:
    break;
  default:
    return formula;
  }
  std::vector<int64_t> numbers = formula.numbers();
  for (size_t i = first; i < last; ++i)
    numbers[i] = binding.extents.resolve(numbers[i], binding.values);
  // Of 4 rows of n / 4 each, where n is less than 4, there is no element whose
  // row could be asked for.
  if (formula.kind() == FormulaKind::Affine)
    for (size_t i : {0, 2})
      numbers[i] += numbers[i] == 0;
  if (numbers == formula.numbers())
    return formula;
  return Formula::make(formula.kind(), std::move(numbers), formula.operands());
}

std::vector<BoundTable> FormulaList::evaluate(const Binding &binding,
                                              std::string &error) const {
  std::vector<BoundTable> tables;
  tables.reserve(formulas.size());
  // Numbers of operands: what is behind kind and numbers in a formula's words.
  std::vector<const int64_t *> places(formulas.size());
  for (const auto &[words, number] : known)
    places[number] = words.data() + words[1] + 3;
  for (size_t f = 0; f < formulas.size(); ++f) {
    Formula formula =
        binding.values.empty() ? formulas[f] : resolve(formulas[f], binding);
    if (!formula) {
      error = "an extent is out of range";
      return {};
    }
    BoundTable result;
    std::vector<const BoundTable *> operands;
    for (size_t i = 0; i < formula.operands().size(); ++i)
      operands.push_back(&tables[places[f][i]]);
    if (formula.isBoundaries()) {
      std::optional<Boundaries> bounds = boundariesOf(
          formula, operands.empty() ? nullptr : operands[0], binding, error);
      if (!bounds)
        return {};
      result.indices = bounds->indices();
    } else if (formula.kind() == FormulaKind::Shards) {
      result.axes = formula.numbers();
      int64_t count = 1;
      for (int64_t axis : result.axes)
        count *= binding.meshShape[axis];
      if (count + 1 != static_cast<int64_t>(operands[0]->indices.size())) {
        error = std::to_string(operands[0]->indices.size() - 1) +
                " shards lie along axes of " + std::to_string(count) +
                " coordinates";
        return {};
      }
      for (int64_t i = 0; i < count; ++i)
        result.intervals.push_back(
            {operands[0]->indices[i], operands[0]->indices[i + 1]});
    } else if (formula.kind() == FormulaKind::Rotate) {
      if (!rotate(formula, *operands[0], binding.meshShape, result)) {
        error = "a ring goes along an axis that its blocks do not lie along";
        return {};
      }
    } else if (formula.kind() == FormulaKind::Domain) {
      result.intervals = {{0, operands[0]->indices.back()}};
    } else if (formula.kind() == FormulaKind::Longest) {
      result.intervals = {
          {0, Boundaries::fromBounds(operands[0]->indices)->maxShardSize()}};
    } else if (formula.kind() == FormulaKind::Same) {
      result.intervals = {{formula.numbers()[0], formula.numbers()[1]}};
    } else {
      result.axes = axesOf(operands);
      std::vector<BoundTable> expanded;
      expanded.reserve(operands.size());
      for (const BoundTable *&operand : operands)
        if (operand->axes != result.axes)
          operand = &expanded.emplace_back(
              expandTable(*operand, result.axes, binding.meshShape));
      int64_t count = 1;
      for (int64_t axis : result.axes)
        count *= binding.meshShape[axis];
      std::vector<Interval> entries(operands.size());
      for (int64_t i = 0; i < count; ++i) {
        for (size_t o = 0; o < operands.size(); ++o)
          entries[o] =
              operands[o]->numbers.empty()
                  ? operands[o]->intervals[i]
                  : Interval{operands[o]->numbers[i], operands[o]->numbers[i]};
        if (formula.isIntervals())
          result.intervals.push_back(intervalOf(formula, entries));
        else
          result.numbers.push_back(numberOf(formula, entries));
      }
    }
    tables.push_back(std::move(result));
  }
  return tables;
}

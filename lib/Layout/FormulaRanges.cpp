//===- FormulaRanges.cpp - Bounds on what formulas say --------------------===//
//
// Sums are formed in 128 bits and saturated, as in IndexMap.cpp.
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"
#include "Wide.h"
#include "shardc/Layout/Formula.h"
#include "shardc/Layout/TravelFormula.h"
#include <algorithm>

using namespace shardc;

/// The range of a number that is made of numbers.
static std::pair<int64_t, int64_t> rangeOfNumber(const Formula &formula) {
  const std::vector<int64_t> &numbers = formula.numbers();
  std::vector<std::pair<int64_t, int64_t>> of;
  for (const Formula &operand : formula.operands())
    of.push_back(operand.range());
  if (formula.kind() == kSum) {
    Wide least = numbers[0], greatest = numbers[0];
    for (size_t i = 0; i < of.size(); ++i) {
      Wide first = Wide(numbers[i + 1]) * of[i].first,
           last = Wide(numbers[i + 1]) * of[i].second;
      least = saturate(least + std::min(first, last));
      greatest = saturate(greatest + std::max(first, last));
    }
    return {saturate(least), saturate(greatest)};
  }
  if (formula.kind() == kProduct) {
    auto [least, greatest] = std::minmax(
        {Wide(of[0].first) * of[1].first, Wide(of[0].first) * of[1].second,
         Wide(of[0].second) * of[1].first, Wide(of[0].second) * of[1].second});
    return {saturate(least), saturate(greatest)};
  }
  if (formula.kind() == kQuotient)
    return {saturate(floorDiv(of[0].first, numbers[0])),
            saturate(floorDiv(of[0].second, numbers[0]))};
  if (formula.kind() == kGreatest)
    return {std::max(of[0].first, of[1].first),
            std::max(of[0].second, of[1].second)};
  return {std::min(of[1].first, of[2].first),
          std::max(of[1].second, of[2].second)};
}

std::pair<int64_t, int64_t> Formula::range() const {
  auto lengthOf = [](const Formula &intervals) {
    auto [least, greatest] = intervals.range();
    return std::pair<int64_t, int64_t>(0, saturate(Wide(greatest) - least));
  };
  if (kind() == kHull) {
    auto [least, greatest] = operands()[0].range();
    auto [low, high] = operands()[1].range();
    return {std::min(least, low), std::max(greatest, high)};
  }
  if (kind() == kJoined) {
    auto [least, greatest] = operands()[0].range();
    return {least, saturate(Wide(greatest) + lengthOf(operands()[1]).second)};
  }
  if (kind() == kDiffers)
    return {0, 1};
  if (kind() >= kSum)
    return rangeOfNumber(*this);
  switch (kind()) {
  case FormulaKind::Same:
    return {numbers()[0], std::max(numbers()[0], numbers()[1])};
  case FormulaKind::Positions: {
    Wide least = numbers()[0], greatest = numbers()[0];
    for (size_t i = 0; i < operands().size(); ++i) {
      auto [low, high] = operands()[i].range();
      Wide first = Wide(numbers()[i + 1]) * low,
           last = Wide(numbers()[i + 1]) * std::max(low, high - 1);
      least = saturate(least + std::min(first, last));
      greatest = saturate(greatest + std::max(first, last));
    }
    return {saturate(std::min<Wide>(least, numbers()[0])),
            saturate(std::max<Wide>(greatest + 1, numbers()[0]))};
  }
  case FormulaKind::Elements: {
    auto [least, greatest] = operands()[0].range();
    return {saturate(ceilDiv(least, numbers()[0])),
            saturate(ceilDiv(greatest, numbers()[0]) + 1)};
  }
  case FormulaKind::Kept:
  case FormulaKind::Rotate:
  case FormulaKind::Begin:
    return operands()[0].range();
  case FormulaKind::Size:
    return lengthOf(operands()[0]);
  case FormulaKind::Phase:
    return {0, numbers()[0]};
  case FormulaKind::Offset:
  case FormulaKind::Below:
  case FormulaKind::Above:
    return lengthOf(operands()[1]);
  case FormulaKind::Shards:
  case FormulaKind::Domain:
  case FormulaKind::Longest:
    return operands()[0].range();
  default:
    return {0, extent()};
  }
}

namespace {
/// coefficient * (what is in `around`) + first ... last, both among them.
struct Window {
  Formula around;
  int64_t coefficient = 1;
  Wide first = 0, last = 0;
};
} // namespace

/// `intervals` as a window; nothing where it is none.
static std::optional<Window> windowOf(const Formula &intervals) {
  if (intervals.kind() == FormulaKind::Shards)
    return Window{intervals, 1, 0, 0};
  if (intervals.kind() != FormulaKind::Positions)
    return std::nullopt;
  Window window;
  window.first = window.last = intervals.numbers()[0];
  for (size_t i = 0; i < intervals.operands().size(); ++i) {
    const Formula &operand = intervals.operands()[i];
    int64_t coefficient = intervals.numbers()[i + 1];
    if (operand.kind() == FormulaKind::Same && coefficient >= 0 &&
        operand.numbers()[0] < operand.numbers()[1]) {
      window.first += Wide(coefficient) * operand.numbers()[0];
      window.last += Wide(coefficient) * (operand.numbers()[1] - 1);
    } else if (!window.around && coefficient > 0) {
      window.around = operand;
      window.coefficient = coefficient;
    } else {
      return std::nullopt;
    }
  }
  return window.around ? std::optional(window) : std::nullopt;
}

bool shardc::alwaysContains(const Formula &outer, const Formula &inner) {
  if (outer == inner)
    return true;
  auto containsInner = [&](const Formula &part) {
    return alwaysContains(part, inner);
  };
  auto isInOuter = [&](const Formula &part) {
    return alwaysContains(outer, part);
  };
  if (inner.kind() == kHull &&
      std::all_of(inner.operands().begin(), inner.operands().end(), isInOuter))
    return true;
  if (outer.kind() == kHull)
    return std::any_of(outer.operands().begin(), outer.operands().end(),
                       containsInner);
  if (outer.kind() == FormulaKind::Same) {
    auto [least, greatest] = inner.range();
    return outer.numbers()[0] <= least && greatest <= outer.numbers()[1];
  }
  std::optional<Window> a = windowOf(outer), b = windowOf(inner);
  return a && b && a->around == b->around && a->coefficient == b->coefficient &&
         a->first <= b->first && a->last >= b->last;
}

Formula shardc::hullOf(const Formula &a, const Formula &b) {
  if (alwaysContains(a, b))
    return a;
  if (alwaysContains(b, a))
    return b;
  std::optional<Window> x = windowOf(a), y = windowOf(b);
  if (!x || !y || !(x->around == y->around) || x->coefficient != y->coefficient)
    return {};
  Wide first = std::min(x->first, y->first), last = std::max(x->last, y->last);
  constexpr Wide most = int64_t(1) << 48;
  if (first < -most || last > most)
    return {};
  return Formula::positions(
      static_cast<int64_t>(first), {x->coefficient, 1},
      {x->around, Formula::same({0, static_cast<int64_t>(last - first + 1)})});
}

/// The blocks of which `needed` is a part, on whatever rank they are, and the
/// band that keeps that part for its reader; none if it is no such part.
static std::pair<Formula, Formula> bandOf(const Formula &needed) {
  if (needed.kind() != FormulaKind::Kept ||
      needed.operands()[1].kind() != FormulaKind::Positions)
    return {};
  Formula blocks = needed.operands()[0];
  if (blocks.kind() == FormulaKind::Rotate)
    blocks = blocks.operands()[0];
  return {blocks, needed.operands()[1]};
}

Formula shardc::hullInBand(const Formula &first, const Formula &second) {
  if (first.kind() == kHull)
    return hullInBand(first.operands()[1], second) ? hullFormula(first, second)
                                                   : Formula();
  auto [blocks, band] = bandOf(first);
  return band && bandOf(second) == std::pair(blocks, band)
             ? hullFormula(first, second)
             : Formula();
}

namespace {
/// Bounds on what is in intervals: from multiplier * (the begin of a shard
/// of `around`) / divisor + least to multiplier * (its end) / divisor + most.
struct Reach {
  Formula around; ///< boundaries
  std::vector<int64_t> axes;
  Wide multiplier = 1, divisor = 1;
  Wide least = 0, most = 0;
};
} // namespace

/// What a formula may hold of indices that are no reach any more.
static constexpr Wide farthest = int64_t(1) << 48;

static bool isSane(const Reach &reach) {
  return reach.multiplier <= farthest && reach.divisor <= farthest &&
         reach.least >= -farthest && reach.most <= farthest;
}

/// The same, of boundaries.
static std::optional<Reach> reachOfBoundaries(const Formula &boundaries) {
  if (boundaries.kind() != FormulaKind::Affine)
    return Reach{boundaries, {}};
  std::optional<Reach> reach = reachOfBoundaries(boundaries.operands()[0]);
  if (!reach)
    return std::nullopt;
  const std::vector<int64_t> &numbers = boundaries.numbers();
  Wide m = numbers[0], a = numbers[1], d = numbers[2], size = numbers[3];
  reach->multiplier *= m;
  reach->divisor *= d;
  reach->least = floorDiv(m * reach->least + a, d);
  reach->most = ceilDiv(m * reach->most + a + d - 1, d);
  // The first is 0, the last the size.
  Wide end = reach->multiplier * reach->around.extent();
  reach->least =
      std::min({reach->least, Wide(0), size - ceilDiv(end, reach->divisor)});
  reach->most =
      std::max({reach->most, Wide(0), size - floorDiv(end, reach->divisor)});
  return isSane(*reach) ? reach : std::nullopt;
}

/// Of what is in intervals; none where formulas do not show it.
static std::optional<Reach> reachOf(const Formula &intervals) {
  const std::vector<int64_t> &numbers = intervals.numbers();
  const std::vector<Formula> &operands = intervals.operands();
  std::optional<Reach> reach;
  if (intervals.kind() == kHull) {
    reach = reachOf(operands[0]);
    std::optional<Reach> other = reachOf(operands[1]);
    if (!reach || !other || !(reach->around == other->around) ||
        reach->axes != other->axes ||
        reach->multiplier * other->divisor !=
            other->multiplier * reach->divisor)
      return std::nullopt;
    reach->least = std::min(reach->least, other->least);
    reach->most = std::max(reach->most, other->most);
    return reach;
  }
  switch (intervals.kind()) {
  case FormulaKind::Shards:
    reach = reachOfBoundaries(operands[0]);
    if (reach)
      reach->axes = numbers;
    return reach;
  case FormulaKind::Positions: {
    Wide first = numbers[0], last = numbers[0], times = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      Wide coefficient = numbers[i + 1];
      if (operands[i].kind() == FormulaKind::Same) {
        Wide low = coefficient * operands[i].numbers()[0],
             high = coefficient * (Wide(operands[i].numbers()[1]) - 1);
        first += std::min(low, high);
        last += std::max(low, high);
      } else if (times == 0 && coefficient > 0) {
        times = coefficient;
        reach = reachOf(operands[i]);
      } else {
        return std::nullopt;
      }
    }
    if (!reach)
      return std::nullopt;
    reach->multiplier *= times;
    reach->least = times * reach->least + first;
    reach->most = times * (reach->most - 1) + last + 1;
    break;
  }
  case FormulaKind::Elements:
    reach = reachOf(operands[0]);
    if (!reach)
      return std::nullopt;
    reach->divisor *= numbers[0];
    reach->least = floorDiv(reach->least, numbers[0]);
    reach->most = ceilDiv(reach->most + numbers[0] - 1, numbers[0]);
    break;
  case FormulaKind::Kept:
    return reachOf(operands[0]);
  default:
    return std::nullopt;
  }
  return isSane(*reach) ? reach : std::nullopt;
}

bool shardc::areClose(const Formula &a, const Formula &b, int64_t most) {
  std::optional<Reach> reach = reachOf(hullFormula(a, b));
  return reach && Wide(reach->most) - reach->least <= most;
}

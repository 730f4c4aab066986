//===- FormulaBuild.cpp - Formulas of formulas ----------------------------===//
//
// Sums are formed in 128 bits and saturated, as in IndexMap.cpp.
// Simpler ones stand for what is known to be the same.
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"
#include "Wide.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Formula.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Layout/TravelFormula.h"
#include <algorithm>
#include <numeric>
#include <set>

using namespace shardc;

ShardCount ShardCount::along(int64_t number, std::vector<int64_t> axes,
                             int64_t size) {
  ShardCount count(number * size);
  count.number = number;
  std::sort(axes.begin(), axes.end());
  count.axes = std::move(axes);
  return count;
}

std::vector<int64_t> ShardCount::factors() const {
  std::vector<int64_t> factors;
  if (number != 1 || axes.empty())
    factors.push_back(number);
  for (int64_t axis : axes)
    factors.push_back(~axis);
  return factors;
}

namespace {
/// Factors, sorted out: what they multiply to, and which axes.
struct Factors {
  explicit Factors(std::span<const int64_t> factors) {
    for (int64_t factor : factors)
      if (factor < 0)
        axes.insert(factor);
      else
        number *= factor;
  }
  /// Takes `other` out; false where it is not in it.
  bool divide(const Factors &other) {
    if (number % other.number != 0)
      return false;
    number /= other.number;
    for (int64_t axis : other.axes) {
      auto found = axes.find(axis);
      if (found == axes.end())
        return false;
      axes.erase(found);
    }
    return true;
  }
  std::vector<int64_t> list() const {
    std::vector<int64_t> result;
    if (number != 1 || axes.empty())
      result.push_back(number);
    // Axes ascend: ~axis descends.
    result.insert(result.end(), axes.rbegin(), axes.rend());
    return result;
  }
  bool isOne() const { return number == 1 && axes.empty(); }
  Wide number = 1;
  std::multiset<int64_t> axes;
};
} // namespace

std::vector<int64_t> Formula::factors() const {
  if (kind() == kPacked)
    return {};
  switch (kind()) {
  case FormulaKind::Given:
    return {numbers().begin() + 3, numbers().end()};
  case FormulaKind::Balanced:
    return {numbers().begin() + 1, numbers().end()};
  case FormulaKind::Ranks:
    return numbers();
  case FormulaKind::Fixed:
    return {static_cast<int64_t>(numbers().size()) - 1};
  case FormulaKind::Refine: {
    std::vector<int64_t> all = operands()[0].factors();
    if (all.empty())
      return {};
    all.insert(all.end(), numbers().begin(), numbers().end());
    return Factors(all).list();
  }
  case FormulaKind::Coarsen: {
    Factors all(operands()[0].factors());
    return all.divide(Factors(numbers())) ? all.list() : std::vector<int64_t>();
  }
  default:
    return operands().empty() ? std::vector<int64_t>()
                              : operands()[0].factors();
  }
}

int64_t Formula::extent() const {
  if (kind() == kPacked) {
    auto [least, greatest] = operands()[0].range();
    return saturate((Wide(greatest) - least) * kMaxRanks);
  }
  switch (kind()) {
  case FormulaKind::Given:
    return numbers()[2];
  case FormulaKind::Balanced:
    return numbers()[0];
  case FormulaKind::Ranks:
    return kMaxRanks;
  case FormulaKind::Blocks:
    return saturate(Wide(operands()[0].extent()) * kMaxRanks);
  case FormulaKind::Fixed:
  case FormulaKind::Affine:
  case FormulaKind::Whole:
    return numbers().back();
  default:
    return operands().front().extent();
  }
}

Formula Formula::given(int64_t argument, int64_t dim, int64_t size,
                       std::vector<int64_t> factors) {
  factors.insert(factors.begin(), {argument, dim, size});
  return make(FormulaKind::Given, std::move(factors), {});
}

Formula Formula::balanced(int64_t size, const ShardCount &shards) {
  std::vector<int64_t> numbers = shards.factors();
  numbers.insert(numbers.begin(), size);
  return make(FormulaKind::Balanced, std::move(numbers), {});
}

Formula Formula::ranks(const ShardCount &shards) {
  return make(FormulaKind::Ranks, shards.factors(), {});
}

Formula Formula::blocks(Formula boundaries) {
  return make(FormulaKind::Blocks, {}, {std::move(boundaries)});
}

Formula shardc::packedFormula(Formula intervals) {
  return Formula::make(kPacked, {}, {std::move(intervals)});
}

Formula Formula::domain(Formula boundaries) {
  return make(FormulaKind::Domain, {}, {std::move(boundaries)});
}

Formula Formula::longest(Formula boundaries) {
  return make(FormulaKind::Longest, {}, {std::move(boundaries)});
}

Formula Formula::fixed(std::vector<int64_t> indices) {
  return make(FormulaKind::Fixed, std::move(indices), {});
}

Formula Formula::whole(int64_t size) {
  return make(FormulaKind::Whole, {size}, {});
}

Formula Formula::affine(Formula boundaries, int64_t multiplier, int64_t addend,
                        int64_t divisor, int64_t size) {
  if (boundaries.kind() == FormulaKind::Affine) {
    // One step instead of two where the inner one clamps nothing, and where
    // one rounding up of two does not matter.
    const Formula &inner = boundaries.operands()[0];
    int64_t m = boundaries.numbers()[0], a = boundaries.numbers()[1],
            d = boundaries.numbers()[2], n = boundaries.numbers()[3];
    bool clamps =
        ceilDiv(a, d) < 0 || ceilDiv(Wide(m) * inner.extent() + a, d) > n;
    Wide newMultiplier = Wide(m) * multiplier,
         newAddend = Wide(a) * multiplier + Wide(addend) * d,
         newDivisor = Wide(d) * divisor;
    bool fits = newMultiplier < largestIndex && newDivisor < largestIndex &&
                newAddend < largestIndex && newAddend > -largestIndex;
    if (!clamps && fits && (multiplier == 1 || d == 1))
      return affine(inner, static_cast<int64_t>(newMultiplier),
                    static_cast<int64_t>(newAddend),
                    static_cast<int64_t>(newDivisor), size);
  }
  // ceil((g m b + a) / (g d)) = ceil((m b + ceil(a / g)) / d).
  if (int64_t common = std::gcd(multiplier, divisor); common > 1) {
    multiplier /= common;
    divisor /= common;
    addend = static_cast<int64_t>(ceilDiv(addend, common));
  }
  if (multiplier == 1 && divisor == 1 && addend == 0 &&
      boundaries.extent() == size)
    return boundaries;
  return make(FormulaKind::Affine, {multiplier, addend, divisor, size},
              {std::move(boundaries)});
}

/// `boundaries` along fewer axes, by `step` shards each.
static Formula coarsenBy(Formula boundaries, const Factors &step) {
  if (step.isOne())
    return boundaries;
  if (boundaries.kind() == FormulaKind::Refine) {
    Factors rest = step;
    if (rest.divide(Factors(boundaries.numbers())))
      return coarsenBy(boundaries.operands()[0], rest);
  }
  if (boundaries.kind() == FormulaKind::Affine) {
    const std::vector<int64_t> &numbers = boundaries.numbers();
    return Formula::affine(coarsenBy(boundaries.operands()[0], step),
                           numbers[0], numbers[1], numbers[2], numbers[3]);
  }
  return Formula::make(FormulaKind::Coarsen, step.list(),
                       {std::move(boundaries)});
}

Formula Formula::coarsen(Formula boundaries, const ShardCount &step) {
  return coarsenBy(std::move(boundaries), Factors(step.factors()));
}

Formula Formula::refine(Formula boundaries, const ShardCount &parts) {
  if (!parts.isOpen() && parts == 1)
    return boundaries;
  // All of a dim, cut anew.
  if ((boundaries.kind() == FormulaKind::Fixed &&
       boundaries.numbers().size() == 2) ||
      (boundaries.kind() == FormulaKind::Whole && parts.isOpen()))
    return balanced(boundaries.extent(), parts);
  return make(FormulaKind::Refine, Factors(parts.factors()).list(),
              {std::move(boundaries)});
}

Formula Formula::shards(Formula boundaries, std::vector<int64_t> axes) {
  return make(FormulaKind::Shards, std::move(axes), {std::move(boundaries)});
}

Formula Formula::same(Interval interval) {
  return make(FormulaKind::Same, {interval.begin, interval.end}, {});
}

Formula Formula::positions(int64_t offset, std::vector<int64_t> coefficients,
                           std::vector<Formula> intervals) {
  if (offset == 0 && coefficients.size() == 1 && coefficients[0] == 1)
    return intervals[0];
  // Sums have one order: what is alike at every coordinate comes last.
  std::vector<int64_t> numbers{offset};
  std::vector<Formula> operands;
  for (bool takesSame : {false, true})
    for (size_t i = 0; i < intervals.size(); ++i) {
      bool isSame = intervals[i] && intervals[i].kind() == FormulaKind::Same;
      if (isSame != takesSame)
        continue;
      numbers.push_back(coefficients[i]);
      operands.push_back(intervals[i]);
    }
  return make(FormulaKind::Positions, std::move(numbers), std::move(operands));
}

Formula Formula::elements(Formula positions, int64_t baseDilation) {
  if (baseDilation == 1)
    return positions;
  return make(FormulaKind::Elements, {baseDilation}, {std::move(positions)});
}

Formula Formula::kept(Formula owned, Formula needed) {
  return make(FormulaKind::Kept, {}, {std::move(owned), std::move(needed)});
}
Formula shardc::hullFormula(Formula first, Formula second) {
  if (first == second)
    return first;
  return Formula::make(kHull, {}, {std::move(first), std::move(second)});
}
Formula shardc::joinedFormula(Formula first, Formula second) {
  return Formula::make(kJoined, {}, {std::move(first), std::move(second)});
}
Formula shardc::differsFormula(std::vector<Formula> pairs) {
  return Formula::make(kDiffers, {}, std::move(pairs));
}
Formula Formula::rotate(Formula intervals, int64_t shift,
                        std::vector<int64_t> places) {
  if (shift == 0)
    return intervals;
  places.insert(places.begin(), shift);
  return make(FormulaKind::Rotate, std::move(places), {std::move(intervals)});
}
Formula Formula::begin(Formula intervals) {
  return make(FormulaKind::Begin, {}, {std::move(intervals)});
}
Formula Formula::size(Formula intervals) {
  return make(FormulaKind::Size, {}, {std::move(intervals)});
}
Formula Formula::offset(Formula kept, Formula outer) {
  return make(FormulaKind::Offset, {}, {std::move(kept), std::move(outer)});
}
Formula Formula::below(Formula kept, Formula needed) {
  return make(FormulaKind::Below, {}, {std::move(kept), std::move(needed)});
}
Formula Formula::above(Formula kept, Formula needed) {
  return make(FormulaKind::Above, {}, {std::move(kept), std::move(needed)});
}
Formula Formula::phase(Formula positions, int64_t baseDilation) {
  return make(FormulaKind::Phase, {baseDilation}, {std::move(positions)});
}

//===- Formula.cpp - How a table follows from what is bound ---------------===//
//
// Sums are formed in 128 bits and saturated, as in IndexMap.cpp.
//
//===----------------------------------------------------------------------===//

#include "shardc/Layout/Formula.h"
#include "Kinds.h"
#include "Wide.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/IndexMap.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Layout/TravelFormula.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <set>

using namespace shardc;

/// As many as ranks of a mesh.
static constexpr int64_t mostShards = kMaxRanks;

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
                         return factor != 0 && factor <= mostShards;
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
    return saturate((Wide(greatest) - least) * mostShards);
  }
  switch (kind()) {
  case FormulaKind::Given:
    return numbers()[2];
  case FormulaKind::Balanced:
    return numbers()[0];
  case FormulaKind::Ranks:
    return mostShards;
  case FormulaKind::Blocks:
    return saturate(Wide(operands()[0].extent()) * mostShards);
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

namespace {
/// Where what is in intervals can lie: from multiplier * (the begin of a shard
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

bool shardc::lieTogether(const Formula &a, const Formula &b, int64_t most) {
  std::optional<Reach> reach = reachOf(hullFormula(a, b));
  return reach && Wide(reach->most) - reach->least <= most;
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

/// Of numbers, which stand as the begins of intervals.
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
                               mostShards + 1);
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
    if (shards > mostShards) {
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
    if (parts > mostShards / inner.numShards()) {
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

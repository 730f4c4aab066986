//===- IndexMap.cpp - Which elements of a dim an iteration touches --------===//
//
// Sums are formed in 128 bits and saturated, so that no input overflows.
//
//===----------------------------------------------------------------------===//

#include "shardc/Layout/IndexMap.h"
#include "Wide.h"
#include <cassert>
#include <cstdlib>

using namespace shardc;

/// The sum of the coefficients of the factor of term `i`, or nullopt if an
/// earlier term has counted it.
static std::optional<int64_t> combinedCoefficient(const IndexMap &map,
                                                  size_t i) {
  Wide sum = 0;
  for (size_t j = 0; j < map.terms.size(); ++j) {
    if (map.terms[j].factor != map.terms[i].factor)
      continue;
    if (j < i)
      return std::nullopt;
    sum += map.terms[j].coefficient;
  }
  return saturate(sum);
}

Interval shardc::neededPositions(const IndexMap &map,
                                 std::span<const Interval> factorIntervals) {
  Wide first = map.offset, last = map.offset;
  for (size_t i = 0; i < map.terms.size(); ++i) {
    size_t factor = map.terms[i].factor;
    assert(factor < factorIntervals.size() && "map names an unknown factor");
    Interval interval = factorIntervals[factor];
    if (interval.empty())
      return {map.offset, map.offset};
    std::optional<int64_t> coefficient = combinedCoefficient(map, i);
    if (!coefficient)
      continue;
    Wide low = Wide(*coefficient) * interval.begin;
    Wide high = Wide(*coefficient) * (Wide(interval.end) - 1);
    first = saturate(first + std::min(low, high));
    last = saturate(last + std::max(low, high));
  }
  return {saturate(first), saturate(last) + 1};
}

Interval shardc::elementsAt(Interval positions, int64_t baseDilation) {
  assert(baseDilation >= 1 && "elements cannot lie on top of one another");
  int64_t begin = saturate(ceilDiv(positions.begin, baseDilation));
  if (positions.empty())
    return {begin, begin};
  int64_t end = saturate(floorDiv(Wide(positions.end) - 1, baseDilation) + 1);
  return {begin, std::max(begin, end)};
}

namespace {
/// anchor(o) = stride * o + start, with stride >= 1.
struct Anchor {
  int64_t stride;
  int64_t start;
};
} // namespace

/// The anchor of `factor`'s iterations in `map`; nullopt if `map` does not
/// depend on it.
static std::optional<Anchor> anchorOf(const IndexMap &map, int64_t factor,
                                      std::span<const int64_t> factorSizes) {
  int64_t stride = 0;
  Wide start = map.offset, span = 0;
  for (size_t i = 0; i < map.terms.size(); ++i) {
    std::optional<int64_t> coefficient = combinedCoefficient(map, i);
    if (!coefficient)
      continue;
    size_t number = map.terms[i].factor;
    assert(number < factorSizes.size() && "map names an unknown factor");
    Wide reach =
        Wide(*coefficient) * std::max<int64_t>(0, factorSizes[number] - 1);
    if (map.terms[i].factor == factor) {
      stride = *coefficient;
      // The mirror image: iteration 0 becomes the last one.
      if (stride < 0)
        start = saturate(start + reach);
      continue;
    }
    start = saturate(start + std::min<Wide>(0, reach));
    span = saturate(span + (reach < 0 ? -reach : reach));
  }
  if (stride == 0)
    return std::nullopt;
  stride = std::abs(stride);
  Wide overlap = std::max<Wide>(0, span + 1 - stride);
  return Anchor{stride, saturate(start + (overlap + 1) / 2)};
}

Boundaries shardc::factorBoundaries(const IndexMap &map, int64_t factor,
                                    const Boundaries &dim,
                                    std::span<const int64_t> factorSizes) {
  int64_t size = factorSizes[factor], shards = dim.numShards();
  std::optional<Anchor> anchor = anchorOf(map, factor, factorSizes);
  if (!anchor)
    return Boundaries::balanced(size, shards);

  std::vector<int64_t> bounds = {0};
  bounds.reserve(shards + 1);
  for (int64_t i = 1; i < shards; ++i) {
    Wide limit = Wide(dim.indices()[i]) * map.baseDilation;
    Wide count = ceilDiv(limit - anchor->start, anchor->stride);
    bounds.push_back(static_cast<int64_t>(std::clamp<Wide>(count, 0, size)));
  }
  bounds.push_back(size);
  Boundaries derived = *Boundaries::fromBounds(std::move(bounds));
  if (!dim.formula())
    return derived;
  return derived.with(Formula::affine(dim.formula(), map.baseDilation,
                                      -anchor->start, anchor->stride, size));
}

Boundaries shardc::dimBoundaries(const IndexMap &map, int64_t factor,
                                 const Boundaries &bounds, int64_t dimSize,
                                 std::span<const int64_t> factorSizes) {
  int64_t shards = bounds.numShards();
  std::optional<Anchor> anchor = anchorOf(map, factor, factorSizes);
  if (!anchor)
    return Boundaries::balanced(dimSize, shards);

  std::vector<int64_t> result = {0};
  result.reserve(shards + 1);
  for (int64_t i = 1; i < shards; ++i) {
    Wide position = Wide(anchor->stride) * bounds.indices()[i] + anchor->start;
    Wide element = ceilDiv(position, map.baseDilation);
    result.push_back(
        static_cast<int64_t>(std::clamp<Wide>(element, 0, dimSize)));
  }
  result.push_back(dimSize);
  Boundaries derived = *Boundaries::fromBounds(std::move(result));
  if (!bounds.formula())
    return derived;
  return derived.with(Formula::affine(bounds.formula(), anchor->stride,
                                      anchor->start, map.baseDilation,
                                      dimSize));
}

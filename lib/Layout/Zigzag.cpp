//===- Zigzag.cpp - A dim in zigzag order ---------------------------------===//
//
// Pieces are written once, of intervals or of formulas of intervals: what
// binding computes of a formula is what is computed here of its shards, empty
// ones too.
//
//===----------------------------------------------------------------------===//
#include "shardc/Layout/Zigzag.h"
#include "shardc/Layout/IndexMap.h"
#include "shardc/Layout/TravelFormula.h"

using namespace shardc;

Zigzag::Zigzag(const Boundaries &shards) {
  for (int64_t i = 0; i < shards.numShards(); ++i)
    for (ZigzagEnd end : {ZigzagEnd::Front, ZigzagEnd::Back})
      all.push_back({zigzagPlace(shards.shard(i), end, shards.size()),
                     zigzagElements(shards.shard(i), end, shards.size())});
}

std::vector<ZigzagPiece> Zigzag::split(Interval zigzag) const {
  std::vector<ZigzagPiece> parts;
  size_t first = all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    Interval common = intersect(all[i].zigzag, zigzag);
    if (common.empty())
      continue;
    first = std::min(first, i & ~size_t(1));
    parts.resize(i - first + 1);
    int64_t shift = all[i].natural.begin - all[i].zigzag.begin;
    parts.back() = {common, {common.begin + shift, common.end + shift}};
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

// What Formula builds, of one interval.

static Interval same(Interval interval, Interval) { return interval; }
static Interval positions(int64_t offset, std::vector<int64_t> coefficients,
                          std::vector<Interval> intervals) {
  IndexMap map;
  map.offset = offset;
  for (size_t i = 0; i < intervals.size(); ++i)
    map.terms.push_back({static_cast<int64_t>(i), coefficients[i]});
  return neededPositions(map, intervals);
}
static Interval elements(Interval interval, int64_t dilation) {
  return elementsAt(interval, dilation);
}
static Interval kept(Interval owned, Interval needed) {
  Interval both = intersect(owned, needed);
  return both.empty() ? Interval{owned.begin, owned.begin} : both;
}
static Interval joined(Interval first, Interval second) {
  return {first.begin, first.begin + first.size() + second.size()};
}

static Formula same(Interval interval, const Formula &) {
  return Formula::same(interval);
}
static Formula positions(int64_t offset, std::vector<int64_t> coefficients,
                         std::vector<Formula> intervals) {
  return Formula::positions(offset, std::move(coefficients),
                            std::move(intervals));
}
static Formula elements(const Formula &intervals, int64_t dilation) {
  return Formula::elements(intervals, dilation);
}
static Formula kept(const Formula &owned, const Formula &needed) {
  return Formula::kept(owned, needed);
}
static Formula joined(const Formula &first, const Formula &second) {
  return joinedFormula(first, second);
}

namespace {
/// T: Interval or Formula.
template <typename T> struct Pieces {
  ZigzagEnd end;
  int64_t size;

  T mirrored(const T &x) const { return positions(size - 1, {-1}, {x}); }
  /// Of what is in `x`, counted from `end`, every second.
  T halfOf(const T &x) const {
    return end == ZigzagEnd::Front ? elements(x, 2)
                                   : elements(positions(-1, {1}, {x}), 2);
  }
  T natural(const T &shard) const {
    return end == ZigzagEnd::Front ? halfOf(shard) : mirrored(halfOf(shard));
  }
  /// The piece at the front of a shard.
  T firstOf(const T &shard) const {
    return joined(kept(shard, same({0, 0}, shard)), halfOf(shard));
  }
  T place(const T &shard) const {
    return end == ZigzagEnd::Front
               ? firstOf(shard)
               : mirrored(joined(kept(mirrored(shard), same({0, 0}, shard)),
                                 halfOf(shard)));
  }
  T stretch(const T &shard) const {
    if (end == ZigzagEnd::Front)
      return halfOf(shard);
    // From ⌊size / 2⌋ - 1 down.
    T last = elements(same({size - 3, size - 1}, shard), 2);
    return positions(0, {-1, 1}, {halfOf(shard), last});
  }
  T within(const T &x) const {
    T half = halfOf(same({0, size}, x));
    if (end == ZigzagEnd::Front)
      return kept(half, x);
    // From ⌈size / 2⌉ up.
    T first = elements(same({size, size + 2}, x), 2);
    return positions(0, {1, -1}, {kept(mirrored(half), x), first});
  }
};
} // namespace

Interval shardc::zigzagPlace(Interval shard, ZigzagEnd end, int64_t size) {
  return Pieces<Interval>{end, size}.place(shard);
}
Formula shardc::zigzagPlace(const Formula &shards, ZigzagEnd end,
                            int64_t size) {
  return Pieces<Formula>{end, size}.place(shards);
}
Interval shardc::zigzagElements(Interval shard, ZigzagEnd end, int64_t size) {
  return Pieces<Interval>{end, size}.natural(shard);
}
Formula shardc::zigzagElements(const Formula &shards, ZigzagEnd end,
                               int64_t size) {
  return Pieces<Formula>{end, size}.natural(shards);
}
Interval shardc::zigzagStretch(Interval shard, ZigzagEnd end, int64_t size) {
  return Pieces<Interval>{end, size}.stretch(shard);
}
Formula shardc::zigzagStretch(const Formula &shards, ZigzagEnd end,
                              int64_t size) {
  return Pieces<Formula>{end, size}.stretch(shards);
}
Interval shardc::withinStretch(Interval interval, ZigzagEnd end, int64_t size) {
  return Pieces<Interval>{end, size}.within(interval);
}
Formula shardc::withinStretch(const Formula &intervals, ZigzagEnd end,
                              int64_t size) {
  return Pieces<Formula>{end, size}.within(intervals);
}

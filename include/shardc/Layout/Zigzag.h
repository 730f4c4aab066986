//===- Zigzag.h - A dim in zigzag order -------------------------*- C++ -*-===//
//
// Shard i has the i-th part from the front of a dim and the i-th from its end.
// Under a causal mask that is the same work for shards of the same size. As a
// dim of its own, one shard behind the other, that dim is cut like any
// other; its pieces say where its elements were.
//
//     sizes [4, 4]      0 1 2 3 4 5 6 7  ->  0 1 6 7 2 3 4 5
//     sizes [3, 0, 2]   0 1 2 3 4        ->  0 1 4 2 3
//
// A shard from b to e has the elements from ⌈b / 2⌉ to ⌈e / 2⌉, and from the
// end those from ⌊b / 2⌋ to ⌊e / 2⌋. So each piece follows from its shard
// alone, as a formula too where the sizes of shards are said when a program is
// bound.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_ZIGZAG_H
#define SHARDC_LAYOUT_ZIGZAG_H

#include "shardc/Layout/Boundaries.h"

namespace shardc {

/// A stretch of a dim in zigzag order and the elements that it has.
struct ZigzagPiece {
  Interval zigzag;
  Interval natural; ///< of the same size
  friend bool operator==(const ZigzagPiece &, const ZigzagPiece &) = default;
};

class Zigzag {
public:
  /// Puts `shards.size()` elements in zigzag order: of a shard, about half are
  /// from the front, the others from the end.
  explicit Zigzag(const Boundaries &shards);

  /// Two pieces a shard, in zigzag order: number 2 i is shard i's from the
  /// front. Some may be empty.
  const std::vector<ZigzagPiece> &pieces() const { return all; }
  /// The parts of `zigzag` by the numbers of the pieces that they are of: entry
  /// p is of piece first + p, where `first` is even; no empty entry at the end.
  std::vector<ZigzagPiece> split(Interval zigzag) const;

private:
  std::vector<ZigzagPiece> all;
};

/// The two ends of a dim: what shards have from the front, and from the end.
enum class ZigzagEnd { Front, Back };

// The same of a shard, or of a formula of shards; `size` is that of the dim.

/// Where in the dim in zigzag order the piece of `shard` is that is from `end`,
/// and where its elements were before.
Interval zigzagPlace(Interval shard, ZigzagEnd end, int64_t size);
Formula zigzagPlace(const Formula &shards, ZigzagEnd end, int64_t size);
Interval zigzagElements(Interval shard, ZigzagEnd end, int64_t size);
Formula zigzagElements(const Formula &shards, ZigzagEnd end, int64_t size);

// All that shards have from one end is a stretch of the dim: ⌈size / 2⌉
// elements from the front, or the others. As a dim of its own, which begins at
// 0:

/// the elements of a shard's piece;
Interval zigzagStretch(Interval shard, ZigzagEnd end, int64_t size);
Formula zigzagStretch(const Formula &shards, ZigzagEnd end, int64_t size);
/// those that are in `interval` of the whole dim.
Interval withinStretch(Interval interval, ZigzagEnd end, int64_t size);
Formula withinStretch(const Formula &intervals, ZigzagEnd end, int64_t size);

} // namespace shardc

#endif // SHARDC_LAYOUT_ZIGZAG_H

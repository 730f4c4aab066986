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
  /// Puts `shards.size()` elements in zigzag order: of shard i, ⌈size / 2⌉ from
  /// the front, ⌊size / 2⌋ from the end.
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

} // namespace shardc

#endif // SHARDC_LAYOUT_ZIGZAG_H

//===- IndexMap.h - Elements that an iteration touches ----------*- C++ -*-===//
//
// Every op iterates over factors; each dim of each operand and result is
// indexed by an affine sum of them:
//
//     position = sum(coefficient * factor) + offset
//     element  = position / baseDilation      (only where it divides)
//
// One form carries them all (o is the result index, j the window index):
//
//     elementwise       o
//     convolution       o * stride + j * windowDilation - padLow, baseDilation
//     filter gradient   the same, with j long and o short
//     slice             o * stride + start
//     pad               o - low, baseDilation = interior + 1
//     concatenate       o - start of this operand
//     reverse           -o + (size - 1)
//     reshape           f0 * size1 + f1
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_INDEXMAP_H
#define SHARDC_LAYOUT_INDEXMAP_H

#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Interval.h"
#include <span>
#include <vector>

namespace shardc {

struct IndexTerm {
  int64_t factor = 0;
  int64_t coefficient = 1;
  friend bool operator==(const IndexTerm &, const IndexTerm &) = default;
};

/// How one dim of one tensor is indexed by the factors of an op. No terms: the
/// dim is touched at `offset` alone (a dim of size one).
struct IndexMap {
  std::vector<IndexTerm> terms; // major to minor
  int64_t offset = 0;
  int64_t baseDilation = 1;

  static IndexMap identity(int64_t factor) { return {{{factor, 1}}, 0, 1}; }
  /// True if the dim is indexed by exactly one factor, unchanged.
  bool isIdentity() const {
    return terms.size() == 1 && terms[0].coefficient == 1 && offset == 0 &&
           baseDilation == 1;
  }
  friend bool operator==(const IndexMap &, const IndexMap &) = default;
};

/// Returns the positions (elements if baseDilation is 1) that an iteration over
/// `factorIntervals` (one interval a factor, by factor number) touches: their
/// hull. Empty if one of the map's factors has an empty interval. Positions
/// saturate at +-2^60.
Interval neededPositions(const IndexMap &map,
                         std::span<const Interval> factorIntervals);

/// Returns the elements at `positions`: [ceil(begin / d), floor((end-1) / d) +
/// 1). Requires baseDilation >= 1.
Interval elementsAt(Interval positions, int64_t baseDilation);

/// Boundaries for `factor` that leave data where a dim cut at `dim` has it: the
/// iterations whose anchor position is in a shard. `factorSizes` gives each
/// factor's whole extent. Overlap of neighbouring windows is shared out evenly,
/// the odd element below: with c the factor's coefficient, the anchor of
/// iteration o is
///
///     c * o + offset + min(other terms) + ceil(max(0, span(other terms) + 1 -
///     c) / 2)
///
/// and the boundary derived from b is the number of iterations anchored below
/// position b * baseDilation. The first is 0, the last the factor's size.
///
///   stride 2, window 2:       [0, 4, 8] -> [0, 2, 4]
///   window 3, pad 1:          [0, 4, 8] -> [0, 4, 8]
///   merge with 6 minor:       [0, 12, 48] -> [0, 2, 8]
///   slice from 2:             [0, 4, 8] -> [0, 2, 6]
///
/// A negative coefficient is taken as its mirror image, as if the factor ran
/// backwards: reverse keeps the dim's own boundaries where the extents agree. A
/// factor that the map does not use is cut into balanced shards.
Boundaries factorBoundaries(const IndexMap &map, int64_t factor,
                            const Boundaries &dim,
                            std::span<const int64_t> factorSizes);

/// The inverse: boundaries of a dim of `dimSize` elements for a factor cut at
/// `bounds`: ceil(anchor(B) / baseDilation), clamped; first 0, last `dimSize`.
Boundaries dimBoundaries(const IndexMap &map, int64_t factor,
                         const Boundaries &bounds, int64_t dimSize,
                         std::span<const int64_t> factorSizes);

} // namespace shardc

#endif // SHARDC_LAYOUT_INDEXMAP_H

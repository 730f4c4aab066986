//===- Exchange.h - Owned to needed: who sends what to whom -----*- C++ -*-===//
//
// One idea carries all communication along partitioned dims: a rank owns a box
// of a tensor and needs another. Halo exchange, rebalance, all-gather, shift and
// all-to-all are the same intersection of boxes; only their names differ.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_EXCHANGE_H
#define SHARDC_LAYOUT_EXCHANGE_H

#include "shardc/Layout/Interval.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shardc {

/// One dim of an exchange. Both tables have one entry for each coordinate along
/// `axes` (mesh axis numbers, major to minor; row-major order of coordinates).
struct DimExchange {
  int64_t dim = 0;
  std::vector<int64_t> axes;
  std::vector<Interval> owned;
  std::vector<Interval> needed; ///< May reach outside [0, dim size).
};

/// An exchange of one tensor. Dims that are not listed are owned and needed
/// whole. The owned boxes of any two ranks of a group are equal or disjoint, and
/// together they cover the tensor; verifyExchange says so if not.
struct Exchange {
  std::vector<int64_t> meshShape;
  std::vector<int64_t> globalShape;
  std::vector<DimExchange> dims;
};

/// A box: one interval a dim, in global indices.
using Box = std::vector<Interval>;

/// A copy into the needed box of one rank out of the owned box of `peer` (which
/// may be the rank itself). `box` is in global indices, never empty.
struct Transfer {
  int64_t peer = 0;
  Box box;
};

/// Returns an empty string, or what is wrong: table lengths, axes out of range
/// or used twice in a dim, owned boxes that overlap or leave a gap.
std::string verifyExchange(const Exchange &exchange);

/// The coordinate of `rank` along `axes`, linearised major to minor.
int64_t coordinateAlong(std::span<const int64_t> meshShape,
                        std::span<const int64_t> axes, int64_t rank);
/// The ranks that differ from `rank` along `axes` only, in ascending order.
std::vector<int64_t> groupAlong(std::span<const int64_t> meshShape,
                                std::span<const int64_t> axes, int64_t rank);

Box ownedBox(const Exchange &exchange, int64_t rank);
Box neededBox(const Exchange &exchange, int64_t rank);

/// What `rank` copies, from itself first and then from its peers by rank. The
/// boxes are disjoint and cover needed ∩ domain. Where several ranks own the
/// same box, the rank itself or else the lowest in its group serves it.
std::vector<Transfer> receivesOf(const Exchange &exchange, int64_t rank);
/// What `rank` sends to others: `peer` is the receiver.
std::vector<Transfer> sendsOf(const Exchange &exchange, int64_t rank);

/// Elements that leave a rank, summed over all ranks.
int64_t elementsMoved(const Exchange &exchange);

enum class ExchangeKind {
  Local,        ///< nothing leaves a rank: a slice or a pad
  HaloExchange, ///< every rank keeps its whole block and gains a margin
  Shift,        ///< every rank needs a block that its neighbours' cover
  Rebalance,    ///< blocks of one partition to blocks of another
  AllGather,    ///< every rank needs all of what its group owns
  AllToAll      ///< one dim is gathered while another is cut
};
ExchangeKind classify(const Exchange &exchange);

} // namespace shardc

#endif // SHARDC_LAYOUT_EXCHANGE_H

//===- Exchange.h - Owned to needed: who sends what to whom -----*- C++ -*-===//
//
// One idea carries all communication along partitioned dims: a rank owns a box
// of a tensor and needs another. Halo exchange, rebalance, all-gather, shift
// and all-to-all are the same intersection of boxes; only their names differ.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_EXCHANGE_H
#define SHARDC_LAYOUT_EXCHANGE_H

#include "shardc/Layout/Formula.h"
#include "shardc/Layout/Interval.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardc {

/// What is outside a dim of `size` elements, at positions below 0 and from
/// `size` on.
enum class Padding : uint8_t {
  Constant,  ///< one value, the same everywhere
  Wrap,      ///< the dim again: a periodic domain
  Edge,      ///< the nearest element
  Reflect,   ///< mirrored at the outermost element, which is not repeated
  Symmetric, ///< mirrored beyond it: the outermost element comes twice
};

/// The element of a dim of `size` elements that is at `position`; nullopt
/// where there is a constant, or where there is no element at all.
std::optional<int64_t> paddedSource(int64_t position, int64_t size,
                                    Padding padding);

/// One dim of an exchange. Both tables have one entry for each coordinate along
/// `axes` (mesh axis numbers, major to minor; row-major order of coordinates).
struct DimExchange {
  int64_t dim = 0;
  std::vector<int64_t> axes;
  std::vector<Interval> owned;
  std::vector<Interval> needed;        ///< May reach outside [0, dim size).
  Padding padding = Padding::Constant; ///< what is there
  /// How the tables follow from what is bound; none where they are numbers.
  Formula ownedFormula = {}, neededFormula = {};
  /// The extent of the whole dim: where the last owned interval ends.
  int64_t size() const;
  bool operator==(const DimExchange &) const = default;
};

/// An exchange of one tensor. Ranks are numbered row-major over `meshShape`.
/// Dims that are not listed are owned and needed whole. The owned boxes of any
/// two ranks of a group are equal or disjoint, and together they cover the
/// tensor; verifyExchange says so if not. One axis may be in several dims:
/// an all-to-all gathers one dim while it cuts another along the same axis.
///
/// All functions below but verifyExchange require an exchange that it accepts.
struct Exchange {
  std::vector<int64_t> meshShape;
  std::vector<int64_t> globalShape;
  std::vector<DimExchange> dims;
  /// Parts of the needed boxes: of each dim in `dims` a table like its
  /// `needed`, inside it. Only what is in one of them arrives, once; the rest
  /// of the needed box is nobody's to read. None: all of it arrives. A star of
  /// rows and columns is two parts, and its corners stay where they are.
  std::vector<std::vector<std::vector<Interval>>> parts;
};

/// A box: one interval a dim, in global indices.
using Box = std::vector<Interval>;

/// Appends what is left of `box` without `hole`, in disjoint boxes.
void appendOutside(const Box &box, const Box &hole, std::vector<Box> &out);

/// A copy into the needed box of one rank out of the owned box of `peer` (which
/// may be the rank itself), never empty, in global indices.
struct Transfer {
  int64_t peer = 0;
  Box box;    ///< where it goes
  Box source; ///< what is read: `box` itself, but for padding
};

/// Returns an empty string, or what is wrong: table lengths, dims or axes out
/// of range or listed twice, owned intervals outside the domain, owned boxes
/// that overlap or leave a gap, parts outside what is needed, indices too large
/// to compute with.
std::string verifyExchange(const Exchange &exchange);

/// The coordinate of `rank` along `axes`, linearised major to minor; 0 if there
/// are none.
int64_t coordinateAlong(std::span<const int64_t> meshShape,
                        std::span<const int64_t> axes, int64_t rank);
/// The first of the ranks that differ from `rank` along `axes` only.
int64_t firstAlong(std::span<const int64_t> meshShape,
                   std::span<const int64_t> axes, int64_t rank);
/// The ranks that differ from `rank` along `axes` only, in ascending order.
std::vector<int64_t> groupAlong(std::span<const int64_t> meshShape,
                                std::span<const int64_t> axes, int64_t rank);

Box ownedBox(const Exchange &exchange, int64_t rank);
Box neededBox(const Exchange &exchange, int64_t rank);
/// What arrives of it: disjoint boxes, not empty.
std::vector<Box> arrivingBoxes(const Exchange &exchange, int64_t rank);

/// What `rank` copies, from itself first and then from its peers by rank, at
/// most one box from each but for padding and parts. The boxes are disjoint and
/// cover what arrives, but for what a constant fills. Peers differ from `rank`
/// only along axes along which an owned table varies: copies along other axes
/// each serve their own. Where several of them own the same box, the rank
/// itself or else the lowest serves it.
std::vector<Transfer> receivesOf(const Exchange &exchange, int64_t rank);
/// What `rank` sends to others, by receiver, which is `peer`: the mirror image
/// of receivesOf.
std::vector<Transfer> sendsOf(const Exchange &exchange, int64_t rank);

/// Elements that `rank` receives from others; INT64_MAX if they are more. The
/// sum over receivesOf, in a time that does not grow with the number of ranks.
int64_t elementsReceived(const Exchange &exchange, int64_t rank);
/// Elements that leave a rank, summed over all ranks; INT64_MAX if they are
/// more.
int64_t elementsMoved(const Exchange &exchange);

/// Names what an exchange does; the transfers are computed in one way for all.
/// Several dims at once take the name of the most general of them, in the order
/// AllGather, HaloExchange, Rebalance, Shift.
enum class ExchangeKind {
  Local,        ///< nothing leaves a rank: a slice or a pad
  HaloExchange, ///< every rank keeps its whole block and gains a margin
  Shift,        ///< every rank needs a block that its neighbours' cover
  Rebalance,    ///< blocks of one partition to blocks of another
  AllGather,    ///< every rank needs all of what its group owns, unpadded
  AllToAll      ///< one dim is gathered while another is cut by the same axis
};
ExchangeKind classify(const Exchange &exchange);

} // namespace shardc

#endif // SHARDC_LAYOUT_EXCHANGE_H

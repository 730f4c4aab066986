//===- Pack.h - The layout of boxes in a message ----------------*- C++ -*-===//
//
// Where ranks do not see one another's buffers, what one reads of another's
// travels in one message: its boxes one behind the other, in the order of the
// reader's plan.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_PACK_H
#define SHARDRT_COLLECTIVES_PACK_H

#include "Collectives/Plan.h"

namespace shardrt {

/// The copy of the source of `copy` into dense memory that begins at `offset`.
BoxCopy packed(BoxCopy copy, int64_t offset);
/// The copy out of dense memory that begins at `offset` into its destination.
BoxCopy unpacked(BoxCopy copy, int64_t offset);

/// Makes `plan`, of `rank` for `site`, one for a transport that packs: pieces
/// for its readers, and copies out of messages where it reads others.
void packPlan(const Site &site, int64_t rank, SitePlan &plan);

/// The pieces of a buffer that hold `rows` of each list, of `rowBytes` bytes,
/// in each of `outer` blocks of `blockRows` rows.
void packRows(const std::vector<std::span<const int64_t>> &lists, int64_t outer,
              int64_t blockRows, int64_t rowBytes,
              std::vector<std::vector<BoxCopy>> &boxes,
              std::vector<Piece> &pieces);

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_PACK_H

//===- Plan.h - One site as one rank carries it out -------------*- C++ -*-===//
//
// Everything that follows from a site's tables and the rank is worked out once,
// when the world is made: whom to read, whose reads to wait for, which bytes go
// where.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_PLAN_H
#define SHARDRT_COLLECTIVES_PLAN_H

#include "Comm/Comm.h"
#include "Device/Cpu/Combine.h"
#include "Device/Cpu/Copy.h"
#include "shardrt/Sites.h"
#include <string>
#include <vector>

namespace shardrt {

struct SitePlan {
  /// Boxes out of the buffer of `peer`.
  struct Source {
    int64_t peer = 0;
    std::vector<BoxCopy> copies;
  };
  /// A box that is combined out of the buffers of `ranks`, in this order.
  struct Part {
    std::vector<int64_t> ranks;
    BoxCopy copy;
  };

  SiteKind kind = SiteKind::Exchange;
  bool inPlace = false;       ///< source and destination are one buffer
  bool releasedLater = false; ///< as in Site
  int64_t elementBytes = 0;
  int64_t srcBytes = 0; ///< not for all_reduce: the call says
  int64_t dstBytes = 0;
  std::vector<int64_t> readers; ///< who reads this rank's buffer
  int64_t bytesReceived = 0;    ///< from others, in one execution
  /// An exchange in which no rank has anything for another, as there may be for
  /// some of the sizes that a program is bound to: it copies, and is counted as
  /// no communication.
  bool isLocal = false;
  /// An exchange in which this rank needs what it owns: source and destination
  /// may be one buffer, and nothing is copied then.
  bool mayStay = false;

  // For transports that pack: what each reader reads of this rank's buffer.
  std::vector<Piece> pieces;
  std::vector<std::vector<BoxCopy>> packs; ///< what pieces point to

  // Exchange.
  std::vector<BoxCopy> fills;
  std::vector<BoxCopy> own;
  std::vector<Source> sources;

  // Reductions.
  Combiner combiner;
  std::vector<int64_t> group;  ///< all_reduce: ascending, this rank among them
  std::vector<Part> parts;     ///< reduce_scatter
  std::vector<int64_t> opened; ///< reduce_scatter: the others that are read
};

/// The plan of `rank` for a site that checkSite has passed.
SitePlan planSite(const Site &site, int64_t rank);

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_PLAN_H

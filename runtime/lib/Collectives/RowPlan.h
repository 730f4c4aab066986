//===- RowPlan.h - Who asks whom for which rows -----------------*- C++ -*-===//
//
// What a rank's indices come to, worked out when the program runs. A position
// is one row of a gather's result or of a scatter's updates; a row is one entry
// of the addressed dims in the block of the rank that owns it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_ROWPLAN_H
#define SHARDRT_COLLECTIVES_ROWPLAN_H

#include <cstdint>
#include <vector>

namespace shardrt {

struct RowPlan {
  struct Pair {
    int64_t row; ///< in the owner's block
    int64_t at;  ///< position
  };
  /// What this rank reads of one owner (itself among them), by rows, so that
  /// those of one row stand together.
  struct Ask {
    int64_t peer = 0;
    std::vector<Pair> pairs;
    /// Where buffers travel: rows of the message, which pairs then number.
    int64_t numRows = 0;
  };
  /// A row of updates that comes to this rank.
  struct Take {
    int64_t source; ///< place in `sources`
    int64_t at;     ///< position there
    int64_t row;    ///< in this rank's block
  };
  struct Source {
    int64_t peer = 0;
    int64_t positions = 0; ///< how many it has, or, where they travel, sends
  };

  int64_t positions = 0;
  bool isBuilt = false;

  // Gathers.
  std::vector<Ask> asks;
  std::vector<int64_t> askers;             ///< who reads this rank's rows
  std::vector<std::vector<int64_t>> asked; ///< by asker: which, ascending
  int64_t rowsReceived = 0;                ///< from others, each once

  // Scatters.
  std::vector<Source> sources; ///< those that have something for this rank
  std::vector<Take> takes;     ///< in the order of all updates of all ranks
  std::vector<int64_t> takers; ///< who reads this rank's updates
  std::vector<std::vector<int64_t>> taken; ///< by taker: at which positions
  int64_t updatesReceived = 0;             ///< from others
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_ROWPLAN_H

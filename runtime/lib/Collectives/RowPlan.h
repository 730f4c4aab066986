//===- RowPlan.h - Who asks whom for which rows -----------------*- C++ -*-===//
//
// The rows behind a rank's indices, computed when the program runs. A position
// is one row of a gather's result or of a scatter's updates; a row is one entry
// of the addressed dims in the block of the rank that owns it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_ROWPLAN_H
#define SHARDRT_COLLECTIVES_ROWPLAN_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardrt {

struct RowPlan {
  struct Pair {
    int64_t row; ///< in the owner's block, or of the message that it comes in
    int64_t at;  ///< position
  };
  /// What this rank reads of one owner (itself among them).
  struct Ask {
    int64_t peer = 0;
    int64_t place = 0;   ///< in `reads`
    int64_t numRows = 0; ///< different ones
  };
  /// A row of updates that this rank receives.
  struct Take {
    int64_t at;  ///< position at its source, or in the message
    int64_t row; ///< in this rank's block
  };
  struct Source {
    int64_t peer = 0;
    int64_t place = 0;     ///< in `takes`
    int64_t positions = 0; ///< how many it has, or, where they travel, sends
  };
  /// Takes of one source that are applied one behind the other.
  struct Run {
    int64_t source; ///< in `sources`
    int64_t begin, end;
  };

  int64_t positions = 0;
  bool isBuilt = false;
  /// What it was built for: the rank's indices.
  std::vector<std::byte> indices;

  // Gathers. Lists by place in the group keep their memory from plan to plan.
  std::vector<Ask> asks; ///< of owners of which something is read
  std::vector<std::vector<Pair>> reads;
  std::vector<int64_t> askers; ///< who reads this rank's rows
  /// By asker: which rows, ascending. Empty where no list is needed.
  std::vector<std::span<const int64_t>> asked;
  std::vector<std::vector<int64_t>> receivedAsks; ///< what `asked` shows
  int64_t rowsReceived = 0;                       ///< from others, each once

  // Scatters.
  std::vector<Source> sources; ///< those that have something for this rank
  std::vector<std::vector<Take>> takes;
  std::vector<Run> runs;       ///< in the order of all updates of all ranks
  std::vector<int64_t> takers; ///< who reads this rank's updates
  std::vector<std::vector<int64_t>> taken; ///< by taker: at which positions
  std::vector<std::vector<Take>> gives;    ///< what this rank sends, by owner
  int64_t updatesReceived = 0;             ///< from others

  /// What this rank last showed the others.
  std::vector<int64_t> words;
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_ROWPLAN_H

//===- Measured.h - What ranks did in their steps ---------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_MEASURED_H
#define SHARDC_TOOLS_SHARD_RUN_MEASURED_H

#include "shardrt/shardrt.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace shardc {

/// What one communication site did, per step.
struct SiteReport {
  std::string kind, axes, location, name;
  double count = 0;    ///< executions of one rank
  double bytes = 0;    ///< that left a rank, summed over ranks
  double ms = 0;       ///< inside its calls, mean over ranks
  double waitMs = 0;   ///< of these, waiting for other ranks
  double hiddenMs = 0; ///< beside these, that other work covered
  /// Of its time, the part that other work covered: 0 to 1.
  double hidden() const {
    return ms + hiddenMs > 0 ? hiddenMs / (ms + hiddenMs) : 0;
  }
};

/// What ranks did, and when.
struct TraceReport {
  struct Kernel {
    std::string name, location;
  };
  struct Rank {
    std::vector<shardrt_trace_event> events;
    int64_t dropped = 0; ///< events that were too many to keep
    std::vector<std::vector<int64_t>> peers; ///< by site: whom it reads from
  };
  std::vector<Kernel> kernels; ///< by number
  std::vector<Rank> ranks;
};

/// What every site did, divided by the number of steps.
std::vector<SiteReport> readSites(const shardrt_program *program,
                                  llvm::ArrayRef<shardrt_site_stats> all,
                                  int64_t steps, int64_t ranks);

/// Statistics of all sites, summed over the ranks of this process.
std::vector<shardrt_site_stats> readStats(const shardrt_program *program,
                                          const shardrt_world *world);

/// What the ranks of this process have noted.
TraceReport readTrace(const shardrt_program *program,
                      const shardrt_world *world, int64_t ranks);

/// In a job, gathers at rank 0 what each process has noted; `me` is this one's
/// rank. Returns a status of the runtime.
int gatherTrace(shardrt_world *world, int64_t me, TraceReport &trace);

/// In a job, gathers `count` elements of each process at rank 0, which gets
/// them by rank, one behind the other.
template <typename T>
int gatherAll(shardrt_world *world, const T *mine, int64_t count, int64_t ranks,
              std::vector<T> &all) {
  all.resize(ranks * count);
  std::vector<void *> parts;
  std::vector<int64_t> bytes(ranks, count * sizeof(T));
  for (int64_t rank = 0; rank < ranks; ++rank)
    parts.push_back(all.data() + rank * count);
  return shardrt_world_gather(world, 0, mine, bytes[0], parts.data(),
                              bytes.data());
}

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_MEASURED_H

//===- NcclRank.h - One rank's communicators --------------------*- C++ -*-===//
//
// A communicator of all ranks, and one for each set of mesh axes that a site
// reduces or gathers along, split from it. They do not block: whoever waits
// looks at them, at the rest of the step, and at the clock, and aborts them
// when one of these says so. NCCL itself never gives up.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_NCCLRANK_H
#define SHARDRT_COLLECTIVES_NCCLRANK_H

#include "Collectives/Plan.h"
#include "Comm/Nccl/Library.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

struct shardrt_context;

namespace shardrt {

/// What a rank does at a site, beyond its SitePlan. Made at the site's first
/// use.
struct NcclSitePlan {
  /// What goes to one peer, or comes from it, in one message.
  struct Message {
    int64_t peer = 0;
    std::vector<BoxCopy> copies; ///< out of, or into, the buffer
    int64_t bytes = 0;
    /// Where it begins in the memory for messages, or, where the message is one
    /// run, -1: it goes from the buffer, or into it.
    int64_t offset = -1;
    /// Where it begins in the memory for all that arrives beside other work.
    int64_t besideOffset = 0;
  };
  std::vector<Message> sends, receives;
  /// Memory for messages that are not one run.
  int64_t sendBytes = 0, receiveBytes = 0;
  int64_t besideBytes = 0;
  /// For reduce_scatter: how many parts of dstBytes are combined.
  int64_t members = 0;
  /// All ranks of the group give the same and take the same: NCCL's all-gather
  /// or reduce-scatter does it.
  bool isEven = false;
  std::vector<int64_t> group; ///< ascending
};

class NcclRank {
public:
  /// `id` is read when the rank connects; `timeoutNs` 0: for ever.
  NcclRank(const nccl::Library &library, const nccl::UniqueId &id,
           int64_t timeoutNs)
      : library(library), id(id), timeoutNs(timeoutNs) {}
  ~NcclRank();
  NcclRank(const NcclRank &) = delete;
  NcclRank &operator=(const NcclRank &) = delete;

  /// Makes the communicators, if there are none. Each rank calls it in its own
  /// thread. False after failing the step.
  bool connect(shardrt_context &ctx);
  /// Ends all that is under way, and all communicators.
  void abort();

  const NcclSitePlan &plan(shardrt_context &ctx, int64_t site);

  /// Makes NCCL's calls in `calls`, which returns the first that failed, to it
  /// as one group on `comm`, and waits until it has taken them.
  bool call(shardrt_context &ctx, int64_t site, nccl::CommHandle comm,
            const std::function<nccl::Result()> &calls);
  nccl::CommHandle all() const { return world; }
  /// The communicator of `group`, this rank's group of some axes.
  nccl::CommHandle of(const std::vector<int64_t> &group) const;
  const nccl::Library &functions() const { return library; }

  /// For Device::watch: whether to wait on for the device's work.
  bool keepWaiting(shardrt_context &ctx, int64_t waitedNs);

private:
  bool check(shardrt_context &ctx, nccl::Result result, nccl::CommHandle comm,
             const std::string &what);
  /// Waits until `comm` has done its calls.
  bool settle(shardrt_context &ctx, nccl::CommHandle comm,
              const std::string &what);
  bool giveUp(shardrt_context &ctx, const std::string &what);

  const nccl::Library &library;
  const nccl::UniqueId &id;
  int64_t timeoutNs;
  nccl::CommHandle world = nullptr;
  std::map<std::vector<int64_t>, nccl::CommHandle> groups;
  std::map<int64_t, NcclSitePlan> plans;
  int64_t lastSite = -1;
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_NCCLRANK_H

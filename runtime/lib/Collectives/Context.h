//===- Context.h - One rank, as generated code holds it ---------*- C++ -*-===//
#ifndef SHARDRT_COLLECTIVES_CONTEXT_H
#define SHARDRT_COLLECTIVES_CONTEXT_H

#include "Collectives/DeviceKernels.h"
#include "Collectives/DeviceRows.h"
#include "Collectives/NcclRank.h"
#include "Collectives/Plan.h"
#include "Collectives/RowPlan.h"
#include "Comm/Comm.h"
#include "Device/Cpu/Memory.h"
#include "Device/Cuda/LibraryCalls.h"
#include "Device/Device.h"
#include "Host/Pool.h"
#include "Host/Trace.h"
#include "Program/Program.h"
#include "shardrt/shardrt.h"
#include <array>
#include <atomic>
#include <vector>

namespace shardrt {
struct Collectives;

/// Adds to a number of the statistics, which others may read at any time.
inline void tally(int64_t &sum, int64_t more) {
  std::atomic_ref(sum).store(sum + more, std::memory_order_relaxed);
}
inline int64_t readTally(const int64_t &sum) {
  return std::atomic_ref(const_cast<int64_t &>(sum))
      .load(std::memory_order_relaxed);
}
} // namespace shardrt

/// Used by the thread of its rank; by others between runs alone.
struct shardrt_context {
  /// A device's buffer that peers read: what a post shows them.
  struct Shown {
    const void *data = nullptr;
    int mark = 0; ///< of the owner's device: the buffer is written
    bool used = false;
  };
  /// An exchange between its start and its wait.
  struct Pending {
    shardrt::Ticket ticket;
    const void *src = nullptr;
    void *staged = nullptr; ///< the host's copy of a device's buffer
    Shown *shown = nullptr; ///< what peers of a device read
    void *room = nullptr;   ///< device memory for what arrives meanwhile
    void *packed = nullptr; ///< … and for what is sent
    int mark = -1;          ///< behind that, on the rank's device
    int64_t startedNs = 0;  ///< when the start returned
    int64_t postedNs = 0;   ///< when the start was called
    int64_t postNs = 0;     ///< how long it took
    int64_t postWaitNs = 0; ///< … of which it waited
    bool used = false;
  };
  static constexpr int64_t maxPending = 8;
  /// Exchanges that are complete, whose sources others may be reading still:
  /// at most this many, or with those under way they would fill a transport.
  static constexpr size_t maxUnreleased = 6;
  /// The mark that is behind all that a device has read of its peers.
  static constexpr int readsMark = 16;
  /// The same for what it reads beside its other work; and the one behind that,
  /// for its own work to wait for.
  static constexpr int besideMark = 17, arrivedMark = 18;
  /// The first of those behind first halves of exchanges.
  static constexpr int beginMark = 20;

  int64_t rank = 0;
  int64_t numRanks = 1;
  const shardrt::Program *program = nullptr;
  /// What it synchronises with the others through, and its own end of that: of
  /// the run that is under way.
  shardrt::Group *group = nullptr;
  shardrt::Comm *comm = nullptr;
  /// How collectives are carried out.
  const shardrt::Collectives *collectives = nullptr;
  std::vector<int64_t> numbers;           ///< what its binding says, by lookup
  std::vector<shardrt::SitePlan> plans;   ///< by site
  std::vector<shardrt::RowPlan> rowPlans; ///< by site; kept from step to step
  std::vector<shardrt_site_stats> stats;
  shardrt_rank_stats steps = {};
  std::vector<int64_t> recordedCounts; ///< executions in a recorded step
  std::array<Pending, maxPending> pending;
  std::array<Shown, readsMark> shown;      ///< by mark
  std::vector<shardrt::Ticket> unreleased; ///< the oldest first
  shardrt::Memory *memory = nullptr;       ///< its place's, or
  std::unique_ptr<shardrt::Memory> ownMemory;
  int64_t peakBytes = 0;                 ///< the most it had in use there
  shardrt::Pool *pool = nullptr;         ///< its place's helpers
  std::unique_ptr<shardrt::Trace> trace; ///< none unless asked for
  /// What calls of the host are made of; NULL: none.
  shardrt_host_fn host = nullptr;
  void *hostUser = nullptr;
  void *runUser = nullptr; ///< of the run that is under way
  // For programs with kernels; in this order: memory goes first.
  std::unique_ptr<shardrt::Device> device;
  std::unique_ptr<shardrt::DeviceMemory> deviceMemory;
  /// What the program asks of vendors' libraries; none until it asks.
  std::unique_ptr<shardrt::libraries::LibraryCalls> libraries;
  std::string notes;                           ///< as they were asked for last
  std::vector<shardrt::SiteKernels> kernels;   ///< by site
  std::vector<shardrt::DeviceRows> deviceRows; ///< by site; kept as rowPlans
  /// Whether the host looked at the device's data in the first step of the run.
  bool hasLooked = false;
  /// Whether elements are combined in one order, whatever it costs.
  bool deterministic = false;
  /// This rank's communicators, where NCCL is the way.
  std::unique_ptr<shardrt::NcclRank> nccl;
  /// Those of all ranks, by rank.
  std::vector<shardrt::Device *> devices;

  /// Makes the step fail; returns the status it has failed with.
  int fail(int status, const std::string &text) {
    comm->fail(status, text);
    return comm->status();
  }
  /// Makes the step fail for want of memory. Where none is left for the text,
  /// ranks of one host see it without; others learn of it with the step's end.
  void failForMemory() noexcept {
    try {
      comm->fail(SHARDRT_MEMORY, "out of memory in the runtime");
    } catch (...) {
      try {
        group->fail({SHARDRT_MEMORY, rank, {}, -1, {}});
      } catch (...) {
      }
    }
  }
};

#endif // SHARDRT_COLLECTIVES_CONTEXT_H

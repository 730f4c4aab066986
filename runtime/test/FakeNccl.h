//===- FakeNccl.h - What the stand-in for NCCL is made of -------*- C++ -*-===//
//
// Communicators, and their calls. Those of one process are matched
// in a clique (FakeNccl.cpp); one that another process keeps is a name there
// (FakeNcclProcesses.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_FAKENCCL_H
#define SHARDRT_TEST_FAKENCCL_H

#include "Comm/Nccl/Library.h"
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fakenccl {

using shardrt::nccl::CommHandle;
using shardrt::nccl::Communicator;
using shardrt::nccl::Result;
using shardrt::nccl::StreamHandle;
using shardrt::nccl::success;

constexpr Result invalidArgument = 4, invalidUsage = 5;

enum class Kind { Send, Recv, AllGather, AllReduce, ReduceScatter };

struct Op {
  Kind kind;
  const std::byte *src = nullptr;
  std::byte *dst = nullptr;
  size_t count = 0;
  int type = 0, op = 0, peer = -1;
  int64_t number = -1; ///< of a collective, among its communicator's
  bool done = false;

  std::string describe() const;
};

/// The calls of one group on one communicator.
struct Launch {
  std::vector<Op> ops;
  bool lost = false;
};

/// A connection to the process that keeps communicators.
struct Connection;

struct Clique {
  std::vector<Communicator *> ranks; ///< NULL: not there yet, or gone
  int joined = 0;
  Result failure = success;
  std::string error;
  struct Split {
    std::map<int, std::pair<int, int>> asked; ///< rank: color and key
    std::map<int, Communicator *> made;
  };
  std::map<int64_t, Split> splits;
  bool ready() const { return joined == static_cast<int>(ranks.size()); }
};

/// A call on a communicator.
using Call = std::pair<Communicator *, Op>;

/// Guards all that follows.
extern std::mutex lock;
extern std::set<Communicator *> &live;
extern std::string &lastError;

/// Keeps `text` as the last error. The lock is held.
Result refuse(Result result, std::string text);
/// Fails all of `clique`, if nothing has before; false. The lock is held.
bool fail(Clique &clique, std::string text);
/// Forgets `comm`. The lock is held.
void drop(Communicator *comm);
/// One call, by itself or in the group that was begun.
Result add(CommHandle comm, Op op, StreamHandle stream);
/// Bytes that an op reads and writes, on a communicator of `ranks` ranks.
std::pair<size_t, size_t> sidesOf(const Op &op, size_t ranks);

// Communicators that other processes keep.

/// Begins to serve other processes, which ask for `name`.
bool listenToOthers(const std::string &name);
Result joinElsewhere(CommHandle *made, int ranks,
                     const shardrt::nccl::UniqueId &id, int rank,
                     const shardrt::nccl::Config *config,
                     const std::string &maker);
Result splitElsewhere(CommHandle comm, int color, int key, CommHandle *made);
/// The state of `comm`: when all is done, results come.
Result lookElsewhere(CommHandle comm, Result *state);
/// Sends the calls of a group to the process that keeps their communicators.
Result giveElsewhere(const std::vector<Call> &calls);
/// Says that `comm` is aborted ('X') or destroyed ('D').
void notifyOwner(char what, CommHandle comm);

} // namespace fakenccl

struct shardrt::nccl::Communicator {
  std::shared_ptr<fakenccl::Clique> clique;
  int rank = 0;
  bool blocking = true;
  bool aborted = false;
  std::list<fakenccl::Launch> launches;
  int64_t collectives = 0, groups = 0;
  int64_t splits = 0;
  /// Where another process keeps it: the connection, and what it is called
  /// there; of what is under way, where its results go.
  std::shared_ptr<fakenccl::Connection> owner;
  uint64_t there = 0;
  size_t size = 0;
  std::vector<std::pair<std::byte *, size_t>> results;
  int unseen = 0; ///< how often it still says "in progress", though it is done
  std::string error;
};

// What is called for other processes as well; Library.h has the types of all.
FAKE_EXPORT shardrt::nccl::Result
ncclCommInitRankConfig(shardrt::nccl::CommHandle *, int,
                       shardrt::nccl::UniqueId, int, shardrt::nccl::Config *);
FAKE_EXPORT shardrt::nccl::Result ncclCommSplit(shardrt::nccl::CommHandle, int,
                                                int,
                                                shardrt::nccl::CommHandle *,
                                                shardrt::nccl::Config *);
FAKE_EXPORT shardrt::nccl::Result
ncclCommGetAsyncError(shardrt::nccl::CommHandle, shardrt::nccl::Result *);
FAKE_EXPORT shardrt::nccl::Result ncclCommAbort(shardrt::nccl::CommHandle);
FAKE_EXPORT const char *ncclGetLastError(shardrt::nccl::CommHandle);
FAKE_EXPORT shardrt::nccl::Result ncclGroupStart();
FAKE_EXPORT shardrt::nccl::Result ncclGroupEnd();

#endif // SHARDRT_TEST_FAKENCCL_H

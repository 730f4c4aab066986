//===- FakeNccl.cpp - A stand-in for NCCL ---------------------------------===//
//
// NCCL's functions that shardrt opens, over the host's memory, for ranks of one
// process and of several (FakeNcclProcesses.cpp). It holds callers to NCCL's
// rules:
//
// - A communicator is used when it is ready, and after its calls before
//   was seen to be done (ncclCommGetAsyncError), if it does not block.
// - The calls of a group go on together, groups of one rank one after another.
//   A send outside a group waits for its receiver.
// - The n-th collective of a communicator is the same on all its ranks, with
// the
//   same count, type and reduction; the n-th message of a pair has one size.
// - After an abort nothing of the communicator goes on. The others do not learn
//   of it. Of a process that is gone they do.
//
// What real NCCL would hang in, or get wrong, this one names where it can: as
// an error of every communicator concerned (ncclGetLastError). Addresses may be
// the emulated device's. Where there is a stream, the stand-in for the driver
// has to finish it first: this is stricter than NCCL alone.
//
// Variables of the environment:
//   FAKE_NCCL_VERSION  what ncclGetVersion says (21801)
//   FAKE_NCCL_LOSE     "rank:n": that rank's n-th group, from 0, never begins
//   FAKE_NCCL_CHANGE   "rank:n": that rank's n-th collective is of one more
//                      element
//
//===----------------------------------------------------------------------===//

#include "FakeNccl.h"
#include "Device/Cpu/Combine.h"
#include "shardrt/Emulated.h"
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <unistd.h>

using namespace shardrt;
using namespace shardrt::nccl;
using namespace fakenccl;

static const char *nameOf(Kind kind) {
  const char *const names[] = {"Send", "Recv", "AllGather", "AllReduce",
                               "ReduceScatter"};
  return names[static_cast<int>(kind)];
}

std::string Op::describe() const {
  std::string text = nameOf(kind);
  text += " of " + std::to_string(count) + " elements of type " +
          std::to_string(type);
  if (kind == Kind::AllReduce || kind == Kind::ReduceScatter)
    text += ", reduction " + std::to_string(op);
  if (peer >= 0)
    text += ", peer " + std::to_string(peer);
  return text;
}

std::mutex fakenccl::lock;
// Threads that serve other processes outlive what is destroyed at the end.
static auto &changed = *new std::condition_variable;
static auto &cliques = *new std::map<std::string, std::shared_ptr<Clique>>;
std::set<Communicator *> &fakenccl::live = *new std::set<Communicator *>;
std::string &fakenccl::lastError = *new std::string;
static thread_local int depth = 0;
static thread_local std::vector<Call> pending;
static thread_local std::vector<StreamHandle> streams;

Result fakenccl::refuse(Result result, std::string text) {
  lastError = std::move(text);
  return result;
}

/// Whether `name` is "rank:number".
static bool isChosen(const char *name, int rank, int64_t number) {
  const char *text = std::getenv(name);
  int chosenRank = -1;
  long chosen = -1;
  return text && std::sscanf(text, "%d:%ld", &chosenRank, &chosen) == 2 &&
         chosenRank == rank && chosen == number;
}

template <typename T> static T *plain(T *address) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  return reinterpret_cast<T *>(bits &
                               ~static_cast<uintptr_t>(SHARDRT_EMULATED_TAG));
}

static int64_t bytesOf(int type) {
  const int64_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && type < 10 ? bytes[type] : 0;
}

//===----------------------------------------------------------------------===//
// What goes on
//===----------------------------------------------------------------------===//

static void reduce(const std::vector<const std::byte *> &parts, std::byte *dst,
                   const Op &op, size_t count) {
  const ElementType types[] = {
      ElementType::I8,  ElementType::UI8,  ElementType::I32, ElementType::UI32,
      ElementType::I64, ElementType::UI64, ElementType::F16, ElementType::F32,
      ElementType::F64, ElementType::BF16};
  const Reduction reductions[] = {Reduction::Sum, Reduction::Product,
                                  Reduction::Max, Reduction::Min};
  findCombiner(types[op.type], reductions[op.op])
      .function(parts, dst, static_cast<int64_t>(count));
}

/// All of a clique are here with `ops`, which agree: does it.
static void carryOut(const std::vector<Op *> &ops) {
  size_t ranks = ops.size();
  const Op &first = *ops[0];
  size_t bytes = first.count * bytesOf(first.type);
  std::vector<std::vector<std::byte>> results(ranks);
  std::vector<const std::byte *> parts;
  for (size_t i = 0; i < ranks; ++i) {
    parts.clear();
    for (const Op *op : ops)
      parts.push_back(op->src +
                      (first.kind == Kind::ReduceScatter ? i * bytes : 0));
    if (first.kind == Kind::AllGather) {
      for (const std::byte *part : parts)
        results[i].insert(results[i].end(), part, part + bytes);
      continue;
    }
    results[i].resize(bytes);
    reduce(parts, results[i].data(), first, first.count);
  }
  for (size_t i = 0; i < ranks; ++i) {
    std::memcpy(ops[i]->dst, results[i].data(), results[i].size());
    ops[i]->done = true;
  }
}

bool fakenccl::fail(Clique &clique, std::string text) {
  if (clique.failure == success)
    clique.error = std::move(text);
  clique.failure = invalidUsage;
  return false;
}

static Launch *headOf(Communicator *comm) {
  if (!comm || comm->aborted || comm->launches.empty() ||
      comm->launches.front().lost)
    return nullptr;
  return &comm->launches.front();
}

static Op *findOp(Communicator *comm, Kind kind, int peer, int64_t number) {
  if (Launch *launch = headOf(comm))
    for (Op &op : launch->ops)
      if (!op.done && (number >= 0 ? op.number == number
                                   : op.kind == kind && op.peer == peer))
        return &op;
  return nullptr;
}

/// One op of `comm`; true if it was done.
static bool tryOp(Clique &clique, Communicator *comm, Op &op) {
  if (op.kind == Kind::Recv)
    return false; // its sender does it
  if (op.kind == Kind::Send) {
    Op *recv = findOp(clique.ranks[op.peer], Kind::Recv, comm->rank, -1);
    if (!recv)
      return false;
    if (recv->count != op.count || recv->type != op.type)
      return fail(clique, "rank " + std::to_string(comm->rank) + ": " +
                              op.describe() + " meets " + recv->describe() +
                              " of rank " + std::to_string(op.peer));
    std::memmove(recv->dst, op.src, op.count * bytesOf(op.type));
    recv->done = op.done = true;
    return true;
  }
  std::vector<Op *> ops;
  for (Communicator *peer : clique.ranks) {
    Op *other = findOp(peer, op.kind, -1, op.number);
    if (!other)
      return false;
    if (other->kind != op.kind || other->count != op.count ||
        other->type != op.type || other->op != op.op)
      return fail(clique, "rank " + std::to_string(comm->rank) + ": " +
                              op.describe() + " meets " + other->describe() +
                              " of rank " + std::to_string(peer->rank));
    ops.push_back(other);
  }
  carryOut(ops);
  return true;
}

/// Does all that can be done.
static void advance(Clique &clique) {
  bool moved = true;
  while (moved && clique.failure == success && clique.ready()) {
    moved = false;
    for (Communicator *comm : clique.ranks) {
      Launch *launch = headOf(comm);
      if (!launch)
        continue;
      bool isDone = true;
      for (Op &op : launch->ops) {
        moved |= !op.done && tryOp(clique, comm, op);
        isDone &= op.done;
      }
      if (isDone) {
        comm->launches.pop_front();
        comm->unseen = 1;
        moved = true;
      }
    }
  }
  changed.notify_all();
}

/// Whether `comm` has done all its calls.
static bool isIdle(Communicator *comm) {
  if (!comm->clique->ready() || !comm->launches.empty())
    return false;
  for (auto &[number, split] : comm->clique->splits)
    if (split.asked.count(comm->rank) &&
        split.asked.size() != comm->clique->ranks.size())
      return false;
  return true;
}

/// What a call on `comm` may not begin with.
static Result checkReady(Communicator *comm) {
  if (!live.count(comm))
    return refuse(invalidArgument, "no such communicator");
  if (comm->clique->failure != success)
    return refuse(comm->clique->failure, comm->clique->error);
  if (!comm->blocking && (!isIdle(comm) || comm->unseen > 0))
    return refuse(invalidArgument,
                  "a communicator is used before what it was told last was "
                  "seen to be done");
  return success;
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

FAKE_EXPORT Result ncclGetVersion(int *version) {
  const char *text = std::getenv("FAKE_NCCL_VERSION");
  *version = text ? std::atoi(text) : 21801;
  return success;
}

/// Where this process listens. Numbers of processes are used again, and are
/// those of a container.
static const std::string &nameOfProcess() {
  static const std::string name = "fake-nccl-" + std::to_string(getpid()) +
                                  "-" + std::to_string(std::random_device()());
  return name;
}

FAKE_EXPORT Result ncclGetUniqueId(UniqueId *id) {
  static int number = 0;
  static bool listens = listenToOthers(nameOfProcess());
  if (!listens)
    return systemError;
  std::lock_guard guard(lock);
  std::snprintf(id->bytes, sizeof(id->bytes), "%s/%d", nameOfProcess().c_str(),
                ++number);
  return success;
}

FAKE_EXPORT const char *ncclGetErrorString(Result result) {
  switch (result) {
  case success:
    return "no error";
  case remoteError:
    return "remote process exited or there was a network error";
  case invalidArgument:
    return "invalid argument";
  case invalidUsage:
    return "invalid usage";
  case inProgress:
    return "NCCL operation in progress";
  }
  return "unhandled error";
}

FAKE_EXPORT const char *ncclGetLastError(CommHandle) {
  static thread_local std::string text;
  std::lock_guard guard(lock);
  return (text = lastError).c_str();
}

static Communicator *make(std::shared_ptr<Clique> clique, int rank,
                          bool blocking) {
  auto *comm = new Communicator;
  comm->clique = std::move(clique);
  comm->rank = rank;
  comm->blocking = blocking;
  comm->unseen = blocking ? 0 : 1;
  comm->clique->ranks[rank] = comm;
  ++comm->clique->joined;
  live.insert(comm);
  return comm;
}

FAKE_EXPORT Result ncclCommInitRankConfig(CommHandle *made, int ranks,
                                          UniqueId id, int rank,
                                          Config *config) {
  id.bytes[sizeof(id.bytes) - 1] = '\0';
  std::string maker = id.bytes;
  maker.resize(std::min(maker.size(), maker.find('/')));
  if (maker != nameOfProcess())
    return joinElsewhere(made, ranks, id, rank, config, maker);
  std::unique_lock guard(lock);
  if (config->magic != 0xcafebeef || config->size < sizeof(Config) ||
      config->version < 21801)
    return refuse(invalidArgument, "a damaged config");
  std::shared_ptr<Clique> &clique = cliques[id.bytes];
  if (!clique) {
    clique = std::make_shared<Clique>();
    clique->ranks.resize(ranks);
  }
  if (rank < 0 || rank >= ranks ||
      ranks != static_cast<int>(clique->ranks.size()))
    return refuse(invalidArgument, "rank " + std::to_string(rank) + " of " +
                                       std::to_string(ranks) +
                                       " joins a communicator of " +
                                       std::to_string(clique->ranks.size()));
  if (clique->ranks[rank])
    return refuse(invalidUsage,
                  "rank " + std::to_string(rank) + " joins twice");
  std::shared_ptr<Clique> mine = clique;
  bool blocking = config->blocking != 0;
  *made = make(mine, rank, blocking);
  if (mine->ready())
    cliques.erase(id.bytes);
  changed.notify_all();
  if (!blocking)
    return inProgress;
  changed.wait(guard, [&] { return mine->ready(); });
  return success;
}

FAKE_EXPORT Result ncclCommSplit(CommHandle comm, int color, int key,
                                 CommHandle *made, Config *config) {
  if (comm->owner)
    return splitElsewhere(comm, color, key, made);
  std::unique_lock guard(lock);
  if (Result result = checkReady(comm))
    return result;
  if (depth > 0)
    return refuse(invalidUsage, "a split inside a group");
  std::shared_ptr<Clique> parent = comm->clique;
  Clique::Split &split = parent->splits[comm->splits++];
  split.asked[comm->rank] = {color, key};
  // Its clique is known when all have asked; until then it has one of its own.
  bool blocking = config ? config->blocking != 0 : comm->blocking;
  auto alone = std::make_shared<Clique>();
  alone->ranks.resize(2); // never ready
  *made = split.made[comm->rank] = make(alone, 0, blocking);
  if (split.asked.size() == parent->ranks.size()) {
    std::map<int, std::map<std::pair<int, int>, int>> colors;
    for (auto [rank, asked] : split.asked)
      colors[asked.first][{asked.second, rank}] = rank;
    for (auto &[which, members] : colors) {
      auto clique = std::make_shared<Clique>();
      clique->ranks.resize(members.size());
      for (auto &[order, rank] : members) {
        Communicator *child = split.made[rank];
        child->clique = clique;
        child->rank = clique->joined;
        clique->ranks[clique->joined++] = child;
      }
    }
  }
  comm->unseen = comm->blocking ? 0 : 1;
  changed.notify_all();
  if (!comm->blocking)
    return inProgress;
  changed.wait(guard,
               [&] { return split.asked.size() == parent->ranks.size(); });
  return success;
}

FAKE_EXPORT Result ncclCommGetAsyncError(CommHandle comm, Result *state) {
  if (comm && comm->owner)
    return lookElsewhere(comm, state);
  std::lock_guard guard(lock);
  if (!live.count(comm))
    return refuse(invalidArgument, "no such communicator");
  advance(*comm->clique);
  if (comm->clique->failure != success) {
    lastError = comm->clique->error;
    *state = comm->clique->failure;
  } else if (!isIdle(comm)) {
    *state = inProgress;
  } else {
    *state = comm->unseen > 0 ? inProgress : success;
    comm->unseen = 0;
  }
  return success;
}

void fakenccl::drop(Communicator *comm) {
  if (comm->owner) {
    live.erase(comm);
    delete comm;
    return;
  }
  Clique &clique = *comm->clique;
  for (Communicator *&rank : clique.ranks)
    if (rank == comm)
      rank = nullptr;
  live.erase(comm);
  delete comm;
  changed.notify_all();
}

FAKE_EXPORT Result ncclCommAbort(CommHandle comm) {
  if (comm && comm->owner)
    notifyOwner('X', comm);
  std::lock_guard guard(lock);
  if (!live.count(comm))
    return refuse(invalidArgument, "no such communicator");
  drop(comm);
  return success;
}

FAKE_EXPORT Result ncclCommDestroy(CommHandle comm) {
  if (comm && comm->owner)
    notifyOwner('D', comm);
  std::lock_guard guard(lock);
  if (!live.count(comm))
    return refuse(invalidArgument, "no such communicator");
  if (!comm->owner && !comm->launches.empty())
    return refuse(invalidUsage, "a communicator is destroyed while it works");
  drop(comm);
  return success;
}

//===----------------------------------------------------------------------===//
// Groups and calls
//===----------------------------------------------------------------------===//

FAKE_EXPORT Result ncclGroupStart() {
  ++depth;
  return success;
}

/// A function of the stand-in for the driver; NULL where there is none.
template <typename Function> static Function *ofDriver(const char *name) {
  const char *path = std::getenv("SHARDRT_CUDA_LIBRARY");
  void *driver = path ? dlopen(path, RTLD_NOW) : nullptr;
  return driver ? reinterpret_cast<Function *>(dlsym(driver, name)) : nullptr;
}

/// Work that was given to `stream` before comes first. Looks for the driver
/// once there is a stream of it: emulated devices, which have none, may come
/// before.
static void finishStream(StreamHandle stream) {
  if (!stream)
    return;
  static auto *synchronize = ofDriver<int(void *)>("cuStreamSynchronize");
  if (synchronize)
    synchronize(stream);
}

static bool isRecorded(StreamHandle stream) {
  if (!stream)
    return false;
  static auto *recording = ofDriver<int(void *)>("fake_cuda_recording");
  return recording && recording(stream);
}

std::pair<size_t, size_t> fakenccl::sidesOf(const Op &op, size_t ranks) {
  size_t bytes = op.count * bytesOf(op.type);
  switch (op.kind) {
  case Kind::Send:
    return {bytes, 0};
  case Kind::Recv:
    return {0, bytes};
  case Kind::AllGather:
    return {bytes, bytes * ranks};
  case Kind::AllReduce:
    return {bytes, bytes};
  case Kind::ReduceScatter:
    return {bytes * ranks, bytes};
  }
  return {};
}

/// Gives calls to their communicators, which it returns. The lock is held.
static std::vector<Communicator *> give(const std::vector<Call> &calls) {
  std::vector<Communicator *> used;
  for (auto [comm, op] : calls) {
    if (!live.count(comm))
      continue;
    if (std::find(used.begin(), used.end(), comm) == used.end()) {
      used.push_back(comm);
      comm->launches.emplace_back();
      comm->launches.back().lost =
          isChosen("FAKE_NCCL_LOSE", comm->rank, comm->groups++);
    }
    if (op.kind != Kind::Send && op.kind != Kind::Recv) {
      op.number = comm->collectives++;
      if (isChosen("FAKE_NCCL_CHANGE", comm->rank, op.number))
        ++op.count;
    }
    comm->launches.back().ops.push_back(op);
  }
  return used;
}

namespace {
/// The calls of a group that was recorded.
struct Recorded {
  std::vector<Call> calls;
};
} // namespace

/// Whether what was recorded is done; begins with it first.
static int pollRecorded(void *what, int begun) {
  auto &calls = static_cast<Recorded *>(what)->calls;
  Communicator *first = calls[0].first;
  bool isElsewhere;
  {
    std::lock_guard guard(lock);
    isElsewhere = live.count(first) && first->owner;
  }
  if (isElsewhere) {
    if (!begun && giveElsewhere(calls) != inProgress)
      return 1;
    Result state = success;
    lookElsewhere(first, &state);
    return state != inProgress;
  }
  std::lock_guard guard(lock);
  if (!begun)
    give(calls);
  bool isDone = true;
  for (auto &[comm, op] : calls) {
    // Who aborts has no more to do.
    if (!live.count(comm))
      continue;
    std::shared_ptr<Clique> clique = comm->clique;
    advance(*clique);
    if (clique->failure == success && !comm->launches.empty())
      isDone = false;
    else
      comm->unseen = 0; // nothing was reported
  }
  return isDone;
}

static void releaseRecorded(void *what) {
  delete static_cast<Recorded *>(what);
}

FAKE_EXPORT Result ncclGroupEnd() {
  if (depth < 1)
    return invalidUsage;
  if (--depth > 0)
    return success;
  if (!streams.empty() && isRecorded(streams[0])) {
    static auto *call =
        ofDriver<void(void *, int (*)(void *, int), void (*)(void *), void *)>(
            "fake_cuda_call");
    call(streams[0], pollRecorded, releaseRecorded,
         new Recorded{std::exchange(pending, {})});
    streams.clear();
    return inProgress;
  }
  for (StreamHandle stream : streams)
    finishStream(stream);
  streams.clear();
  auto calls = std::move(pending);
  pending.clear();
  if (!calls.empty() && calls[0].first->owner)
    return giveElsewhere(calls);
  std::unique_lock guard(lock);
  Result result = success;
  for (Communicator *comm : give(calls)) {
    std::shared_ptr<Clique> clique = comm->clique;
    advance(*clique);
    if (!comm->blocking) {
      comm->unseen = 1;
      result = inProgress;
      continue;
    }
    changed.wait(guard, [&] {
      advance(*clique);
      return clique->failure != success || comm->launches.empty();
    });
    if (clique->failure != success)
      result = refuse(clique->failure, clique->error);
  }
  return result;
}

Result fakenccl::add(CommHandle comm, Op op, StreamHandle stream) {
  {
    std::lock_guard guard(lock);
    if (comm->owner && comm->size == 0)
      return refuse(invalidArgument,
                    "a communicator is used that is not ready");
    if (comm->owner) {
      // Its owner looks at what it is given.
      op.src = plain(op.src);
      op.dst = plain(op.dst);
    } else if (Result result = checkReady(comm)) {
      return result;
    } else if (bytesOf(op.type) == 0 || op.op < 0 || op.op > 3 ||
               op.peer >= static_cast<int>(comm->clique->ranks.size()) ||
               (op.count > 0 && !op.src && !op.dst)) {
      return refuse(invalidArgument, "an argument of " + op.describe());
    }
    op.src = plain(op.src);
    op.dst = plain(op.dst);
  }
  ncclGroupStart();
  pending.push_back({comm, op});
  streams.push_back(stream);
  return ncclGroupEnd();
}

FAKE_EXPORT Result ncclSend(const void *src, size_t count, int type, int peer,
                            CommHandle comm, StreamHandle stream) {
  Op op{Kind::Send};
  op.src = static_cast<const std::byte *>(src);
  op.count = count;
  op.type = type;
  op.peer = peer;
  return add(comm, op, stream);
}

FAKE_EXPORT Result ncclRecv(void *dst, size_t count, int type, int peer,
                            CommHandle comm, StreamHandle stream) {
  Op op{Kind::Recv};
  op.dst = static_cast<std::byte *>(dst);
  op.count = count;
  op.type = type;
  op.peer = peer;
  return add(comm, op, stream);
}

static Op collective(Kind kind, const void *src, void *dst, size_t count,
                     int type, int reduction) {
  Op op{kind};
  op.src = static_cast<const std::byte *>(src);
  op.dst = static_cast<std::byte *>(dst);
  op.count = count;
  op.type = type;
  op.op = reduction;
  return op;
}

FAKE_EXPORT Result ncclAllGather(const void *src, void *dst, size_t count,
                                 int type, CommHandle comm,
                                 StreamHandle stream) {
  return add(comm, collective(Kind::AllGather, src, dst, count, type, 0),
             stream);
}

FAKE_EXPORT Result ncclAllReduce(const void *src, void *dst, size_t count,
                                 int type, int reduction, CommHandle comm,
                                 StreamHandle stream) {
  return add(comm,
             collective(Kind::AllReduce, src, dst, count, type, reduction),
             stream);
}

FAKE_EXPORT Result ncclReduceScatter(const void *src, void *dst, size_t count,
                                     int type, int reduction, CommHandle comm,
                                     StreamHandle stream) {
  return add(comm,
             collective(Kind::ReduceScatter, src, dst, count, type, reduction),
             stream);
}

/// How many communicators there are.
FAKE_EXPORT int fake_nccl_live() {
  std::lock_guard guard(lock);
  return static_cast<int>(live.size());
}

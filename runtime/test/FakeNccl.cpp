//===- FakeNccl.cpp - A stand-in for NCCL ---------------------------------===//
//
// NCCL's functions that shardrt opens, over the host's memory, for ranks of one
// process and of several (FakeNcclWire.h). It holds callers to NCCL's rules:
//
// - A communicator is used when it is ready, and after what it was told before
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
// is told to finish it first: this is stricter than NCCL alone.
//
// Variables of the environment:
//   FAKE_NCCL_VERSION  what ncclGetVersion says (21801)
//   FAKE_NCCL_LOSE     "rank:n": the n-th group of that rank, from 0, never
//   begins FAKE_NCCL_CHANGE   "rank:n": the n-th collective of that rank is of
//   one more
//                      element
//
//===----------------------------------------------------------------------===//

#include "Comm/Nccl/Library.h"
#include "Device/Cpu/Combine.h"
#include "FakeNcclWire.h"
#include "shardrt/Emulated.h"
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using namespace shardrt;
using namespace shardrt::nccl;

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr Result invalidArgument = 4, invalidUsage = 5;

enum class Kind { Send, Recv, AllGather, AllReduce, ReduceScatter };

const char *nameOf(Kind kind) {
  const char *const names[] = {"Send", "Recv", "AllGather", "AllReduce",
                               "ReduceScatter"};
  return names[static_cast<int>(kind)];
}

struct Op {
  Kind kind;
  const std::byte *src = nullptr;
  std::byte *dst = nullptr;
  size_t count = 0;
  int type = 0, op = 0, peer = -1;
  int64_t number = -1; ///< of a collective, among its communicator's
  bool done = false;

  std::string describe() const {
    std::string text = nameOf(kind);
    text += " of " + std::to_string(count) + " elements of type " +
            std::to_string(type);
    if (kind == Kind::AllReduce || kind == Kind::ReduceScatter)
      text += ", reduction " + std::to_string(op);
    if (peer >= 0)
      text += ", peer " + std::to_string(peer);
    return text;
  }
};

/// The calls of one group on one communicator.
struct Launch {
  std::vector<Op> ops;
  bool lost = false;
};
} // namespace

namespace shardrt::nccl {
/// A connection to the process that keeps communicators.
struct Connection {
  int socket = -1;
  ~Connection() { close(socket); }
  /// Sends a request and gets what it comes to; false if nobody is there.
  bool ask(fakenccl::Message &message) {
    return message.send(socket) && message.receive(socket);
  }
};
struct Clique;
struct Communicator {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  bool blocking = true;
  bool aborted = false;
  std::list<Launch> launches;
  int64_t collectives = 0, groups = 0;
  int64_t splits = 0;
  /// Where another process keeps it: the connection, and what it is called
  /// there; of what is under way, where its results go.
  std::shared_ptr<Connection> owner;
  uint64_t there = 0;
  size_t size = 0;
  std::vector<std::pair<std::byte *, size_t>> results;
  int unseen = 0; ///< how often it still says "in progress", though it is done
  std::string error;
};

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

} // namespace shardrt::nccl

static std::mutex lock;
// Threads that serve other processes outlive what is destroyed at the end.
static auto &changed = *new std::condition_variable;
static auto &cliques = *new std::map<std::string, std::shared_ptr<Clique>>;
static auto &live = *new std::set<Communicator *>;
static auto &lastError = *new std::string;
static thread_local int depth = 0;
static thread_local std::vector<std::pair<Communicator *, Op>> pending;
static thread_local std::vector<StreamHandle> streams;

static Result refuse(Result result, std::string text) {
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

static bool fail(Clique &clique, std::string text) {
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

/// Whether `comm` has done all that it was told.
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

/// Begins to serve other processes.
static bool listenToOthers();

FAKE_EXPORT Result ncclGetVersion(int *version) {
  const char *text = std::getenv("FAKE_NCCL_VERSION");
  *version = text ? std::atoi(text) : 21801;
  return success;
}

FAKE_EXPORT Result ncclGetUniqueId(UniqueId *id) {
  static int number = 0;
  static bool listens = listenToOthers();
  if (!listens)
    return systemError;
  std::lock_guard guard(lock);
  std::snprintf(id->bytes, sizeof(id->bytes), "fake-%d-%d", getpid(), ++number);
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

/// A communicator that the process of `owner` keeps as `there`.
static Communicator *makeElsewhere(std::shared_ptr<Connection> owner,
                                   uint64_t there) {
  auto *comm = new Communicator;
  comm->owner = std::move(owner);
  comm->there = there;
  comm->blocking = false;
  std::lock_guard guard(lock);
  live.insert(comm);
  return comm;
}

static Result lose() {
  return refuse(remoteError, "the process that keeps the communicator is gone");
}

static Result joinElsewhere(CommHandle *made, int ranks, const UniqueId &id,
                            int rank, const Config *config, int maker) {
  if (config->blocking != 0)
    return refuse(invalidUsage, "between processes nothing blocks here");
  auto owner = std::make_shared<Connection>();
  owner->socket = fakenccl::connectTo(maker);
  fakenccl::Message message;
  message.put('I');
  message.put(ranks);
  message.put(id);
  message.put(rank);
  if (owner->socket < 0 || !owner->ask(message))
    return lose();
  auto result = message.get<Result>();
  auto there = message.get<uint64_t>();
  if (result != inProgress)
    return refuse(result, message.getText());
  *made = makeElsewhere(owner, there);
  return result;
}

FAKE_EXPORT Result ncclCommInitRankConfig(CommHandle *made, int ranks,
                                          UniqueId id, int rank,
                                          Config *config) {
  int maker = 0;
  if (std::sscanf(id.bytes, "fake-%d-", &maker) == 1 && maker != getpid())
    return joinElsewhere(made, ranks, id, rank, config, maker);
  std::unique_lock guard(lock);
  if (config->magic != 0xcafebeef || config->size < sizeof(Config) ||
      config->version < 21801)
    return refuse(invalidArgument, "a damaged config");
  id.bytes[sizeof(id.bytes) - 1] = '\0';
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
  if (comm->owner) {
    fakenccl::Message message;
    message.put('S');
    message.put(comm->there);
    message.put(color);
    message.put(key);
    if (!comm->owner->ask(message))
      return lose();
    auto result = message.get<Result>();
    auto there = message.get<uint64_t>();
    if (result != inProgress)
      return refuse(result, message.getText());
    *made = makeElsewhere(comm->owner, there);
    return result;
  }
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

/// The same of one that another process keeps: when all is done, results come.
static Result lookElsewhere(CommHandle comm, Result *state) {
  fakenccl::Message message;
  message.put('A');
  message.put(comm->there);
  if (!comm->owner->ask(message)) {
    *state = lose();
    return success;
  }
  *state = message.get<Result>();
  comm->size = message.get<uint64_t>();
  lastError = message.getText();
  if (*state == success)
    for (auto [to, bytes] : std::exchange(comm->results, {}))
      message.getBytes(to, bytes);
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

static void drop(Communicator *comm) {
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

static void tellOwner(char what, CommHandle comm) {
  fakenccl::Message message;
  message.put(what);
  message.put(comm->there);
  comm->owner->ask(message);
}

FAKE_EXPORT Result ncclCommAbort(CommHandle comm) {
  if (comm && comm->owner)
    tellOwner('X', comm);
  std::lock_guard guard(lock);
  if (!live.count(comm))
    return refuse(invalidArgument, "no such communicator");
  drop(comm);
  return success;
}

FAKE_EXPORT Result ncclCommDestroy(CommHandle comm) {
  if (comm && comm->owner)
    tellOwner('D', comm);
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

/// Work that was given to `stream` before comes first.
static void finishStream(StreamHandle stream) {
  static auto *synchronize = ofDriver<int(void *)>("cuStreamSynchronize");
  if (stream && synchronize)
    synchronize(stream);
}

static bool isRecorded(StreamHandle stream) {
  static auto *recording = ofDriver<int(void *)>("fake_cuda_recording");
  return stream && recording && recording(stream);
}

/// Bytes that an op reads and writes, on a communicator of `ranks` ranks.
static std::pair<size_t, size_t> sidesOf(const Op &op, size_t ranks) {
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

/// Hands the calls of a group to the process that keeps their communicators.
static Result
giveElsewhere(const std::vector<std::pair<Communicator *, Op>> &calls) {
  fakenccl::Message message;
  message.put('G');
  message.put<uint64_t>(calls.size());
  for (auto &[comm, op] : calls) {
    auto [reads, writes] = sidesOf(op, comm->size);
    message.put(comm->there);
    message.put(op);
    message.put<uint64_t>(reads);
    message.putBytes(op.src, reads);
    message.put<uint64_t>(writes);
  }
  if (!calls[0].first->owner->ask(message))
    return lose();
  auto result = message.get<Result>();
  if (result != inProgress)
    return refuse(result, message.getText());
  for (auto &[comm, op] : calls)
    if (size_t writes = sidesOf(op, comm->size).second)
      comm->results.push_back({op.dst, writes});
  return result;
}

/// Gives calls to their communicators, which it returns. The lock is held.
static std::vector<Communicator *>
give(const std::vector<std::pair<Communicator *, Op>> &calls) {
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
  std::vector<std::pair<Communicator *, Op>> calls;
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
      comm->unseen = 0; // nobody was told anything
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

static Result add(CommHandle comm, Op op, StreamHandle stream) {
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

//===----------------------------------------------------------------------===//
// For other processes
//===----------------------------------------------------------------------===//

namespace {
/// One process that this one keeps communicators for.
class Guest {
public:
  explicit Guest(int socket) : socket(socket) {}
  ~Guest();
  void serve() {
    fakenccl::Message request;
    while (request.receive(socket)) {
      fakenccl::Message reply;
      answer(request, reply);
      if (!reply.send(socket))
        return;
    }
  }

private:
  /// Memory of the calls under way on a communicator.
  struct Kept {
    std::list<std::vector<std::byte>> reads, writes;
  };
  void answer(fakenccl::Message &request, fakenccl::Message &reply);
  void finish(Result result, uint64_t made, fakenccl::Message &reply) {
    if (result == inProgress && made != 0)
      comms[reinterpret_cast<CommHandle>(made)];
    reply.put(result);
    reply.put(made);
    tell(reply);
  }
  static void tell(fakenccl::Message &reply) {
    reply.putText(ncclGetLastError(nullptr));
  }
  static CommHandle commOf(fakenccl::Message &request) {
    return reinterpret_cast<CommHandle>(request.get<uint64_t>());
  }
  Result give(fakenccl::Message &request);
  void look(CommHandle comm, fakenccl::Message &reply);

  int socket;
  std::map<CommHandle, Kept> comms;
};
} // namespace

Guest::~Guest() {
  close(socket);
  // Whoever leaves without a word is missed.
  std::lock_guard guard(lock);
  for (auto &[comm, kept] : comms) {
    if (!live.count(comm))
      continue;
    fail(*comm->clique,
         "the process of rank " + std::to_string(comm->rank) + " is gone");
    comm->clique->failure = remoteError;
    drop(comm);
  }
}

Result Guest::give(fakenccl::Message &request) {
  auto count = request.get<uint64_t>();
  std::vector<CommHandle> used;
  ncclGroupStart();
  Result bad = success;
  for (uint64_t i = 0; i < count; ++i) {
    CommHandle comm = commOf(request);
    Op op = request.get<Op>();
    Kept &kept = comms[comm];
    std::vector<std::byte> &from =
        kept.reads.emplace_back(request.get<uint64_t>() + 1);
    request.getBytes(from.data(), from.size() - 1);
    auto writes = request.get<uint64_t>();
    op.src = from.data();
    op.dst = writes ? kept.writes.emplace_back(writes).data() : from.data();
    if (Result result = add(comm, op, nullptr);
        result != success && result != inProgress && bad == success)
      bad = result;
  }
  Result result = ncclGroupEnd();
  return bad != success ? bad : result;
}

void Guest::look(CommHandle comm, fakenccl::Message &reply) {
  Result state = success;
  Result result = ncclCommGetAsyncError(comm, &state);
  state = result == success ? state : result;
  reply.put(state);
  {
    std::lock_guard guard(lock);
    reply.put<uint64_t>(live.count(comm) ? comm->clique->ranks.size() : 0);
  }
  tell(reply);
  if (state != success)
    return;
  Kept &kept = comms[comm];
  for (const std::vector<std::byte> &data : kept.writes)
    reply.putBytes(data.data(), data.size());
  kept = {};
}

void Guest::answer(fakenccl::Message &request, fakenccl::Message &reply) {
  CommHandle made = nullptr;
  Config config;
  config.blocking = 0;
  switch (request.get<char>()) {
  case 'I': {
    int ranks = request.get<int>();
    auto id = request.get<UniqueId>();
    int rank = request.get<int>();
    Result result = ncclCommInitRankConfig(&made, ranks, id, rank, &config);
    return finish(result, reinterpret_cast<uint64_t>(made), reply);
  }
  case 'S': {
    CommHandle comm = commOf(request);
    int color = request.get<int>(), key = request.get<int>();
    Result result = ncclCommSplit(comm, color, key, &made, &config);
    return finish(result, reinterpret_cast<uint64_t>(made), reply);
  }
  case 'G':
    reply.put(give(request));
    return tell(reply);
  case 'A':
    return look(commOf(request), reply);
  case 'X':
  case 'D': {
    CommHandle comm = commOf(request);
    comms.erase(comm);
    reply.put(ncclCommAbort(comm));
    return;
  }
  }
}

static bool listenToOthers() {
  int listener = fakenccl::listenAs(getpid());
  if (listener < 0)
    return false;
  std::thread([listener] {
    while (true) {
      int socket = accept(listener, nullptr, nullptr);
      if (socket < 0)
        return;
      std::thread([socket] { Guest(socket).serve(); }).detach();
    }
  }).detach();
  return true;
}

/// How many communicators there are.
FAKE_EXPORT int fake_nccl_live() {
  std::lock_guard guard(lock);
  return static_cast<int>(live.size());
}

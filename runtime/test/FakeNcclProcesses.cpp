//===- FakeNcclProcesses.cpp - Its communicators between processes --------===//
//
// The process that makes a communicator's id keeps all of it. Others ask it, by
// messages (FakeNcclWire.h), and it does in their name what they ask, with
// memory of its own for what they send and get.
//
//===----------------------------------------------------------------------===//

#include "FakeNccl.h"
#include "FakeNcclWire.h"
#include <thread>

using namespace shardrt;
using namespace shardrt::nccl;
using namespace fakenccl;

/// A connection to the process that keeps communicators.
struct fakenccl::Connection {
  int socket = -1;
  std::mutex mutex; ///< one request at a time
  ~Connection() { close(socket); }
  /// Sends a request and gets the reply; false if nobody is there.
  bool ask(fakenccl::Message &message) {
    std::lock_guard guard(mutex);
    return message.send(socket) && message.receive(socket);
  }
};

//===----------------------------------------------------------------------===//
// Of this process, kept elsewhere
//===----------------------------------------------------------------------===//

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

/// Asks for a communicator that `owner` is to keep.
static Result askForComm(std::shared_ptr<Connection> owner,
                         fakenccl::Message &message, CommHandle *made) {
  if (!owner->ask(message))
    return lose();
  auto result = message.get<Result>();
  auto there = message.get<uint64_t>();
  if (result != inProgress)
    return refuse(result, message.getText());
  *made = makeElsewhere(std::move(owner), there);
  return result;
}

Result fakenccl::joinElsewhere(CommHandle *made, int ranks, const UniqueId &id,
                               int rank, const Config *config,
                               const std::string &maker) {
  if (config->blocking != 0)
    return refuse(invalidUsage, "between processes nothing blocks here");
  auto owner = std::make_shared<Connection>();
  owner->socket = fakenccl::connectTo(maker);
  fakenccl::Message message;
  message.put('I');
  message.put(ranks);
  message.put(id);
  message.put(rank);
  return owner->socket < 0 ? lose() : askForComm(owner, message, made);
}

Result fakenccl::splitElsewhere(CommHandle comm, int color, int key,
                                CommHandle *made) {
  fakenccl::Message message;
  message.put('S');
  message.put(comm->there);
  message.put(color);
  message.put(key);
  return askForComm(comm->owner, message, made);
}

Result fakenccl::lookElsewhere(CommHandle comm, Result *state) {
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

void fakenccl::notifyOwner(char what, CommHandle comm) {
  fakenccl::Message message;
  message.put(what);
  message.put(comm->there);
  comm->owner->ask(message);
}

Result fakenccl::giveElsewhere(const std::vector<Call> &calls) {
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

//===----------------------------------------------------------------------===//
// Of other processes, kept here
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
    putError(reply);
  }
  static void putError(fakenccl::Message &reply) {
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
  putError(reply);
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
    return putError(reply);
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

bool fakenccl::listenToOthers(const std::string &name) {
  int listener = fakenccl::listenAs(name);
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

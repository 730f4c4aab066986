//===- Connect.cpp - The processes of a job become a group ----------------===//
//
// All publish in the store where they are and what they run;
// those of one host open one another's memory. What one of them cannot do, none
// does: they agree on it before they begin.
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Job.h"
#include "Comm/Local/LocalComm.h"
#include "Comm/Wire/Mpi.h"
#include "Comm/Wire/Tcp.h"
#include "Comm/Wire/WireComm.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cstring>
#include <sstream>
#include <unistd.h>

using namespace shardrt;
namespace crypto = shardc::crypto;

namespace {
/// What a process publishes of itself.
struct Place {
  std::string host; ///< what is the same for processes that share memory
  int64_t process = 0;
  int memory = -1, boards = -1; ///< descriptors there
  int64_t bytes = 0;            ///< of its memory
  uint64_t job = 0;
};

class Connector {
public:
  Connector(Job &job, const std::string &world)
      : job(job), store(*job.store), world(world) {}

  bool agreeOnProgram(const std::string &program, int &status,
                      std::string &error);
  /// Whether all are bound to the same. All find the same.
  bool agreeOnBinding(const Agreement &agreement, int &status,
                      std::string &error);
  /// Opens everybody's memory. False, on all ranks alike, where one cannot.
  bool share(LocalGroup::Shared &shared, int64_t timeoutNs, NoSegment &why,
             std::string &error);

private:
  std::string key(const std::string &name, int64_t rank) const {
    return name + "/" + world + "@" + std::to_string(rank);
  }
  /// False, with the status of what the store could not do.
  bool lost(int &status) const {
    status = store.status();
    return false;
  }
  bool publishPlace(LocalGroup::Shared &shared, NoSegment &why,
                    std::string &error);
  /// False with the reason.
  bool openAll(LocalGroup::Shared &shared, const std::vector<Place> &places,
               NoSegment &why);

  Job &job;
  Store &store;
  std::string world;
  uint64_t number = 0; ///< of the job, for its memory
};
} // namespace

/// What is the same for processes that see one another's descriptors.
static std::string nameOfHost() {
  char pids[128] = "";
  ssize_t length = readlink("/proc/self/ns/pid", pids, sizeof(pids) - 1);
  return nameOfBoot() + "," + std::string(pids, std::max<ssize_t>(0, length));
}

bool Connector::agreeOnProgram(const std::string &program, int &status,
                               std::string &error) {
  const Launch &launch = job.launch;
  std::string theirs;
  if (launch.rank == 0) {
    if (!store.set(key("sites", 0), program, error))
      return lost(status);
  } else if (!store.get(key("sites", 0), job.timeoutMs, theirs, error)) {
    return lost(status);
  } else if (theirs != program) {
    status = SHARDRT_ARTIFACT;
    error = "rank " + std::to_string(launch.rank) +
            " runs another program than rank 0: start all ranks with the same "
            "model and options";
    return false;
  }
  return store.barrier("world/" + world, job.timeoutMs, error) || lost(status);
}

bool Connector::agreeOnBinding(const Agreement &agreement, int &status,
                               std::string &error) {
  const Launch &launch = job.launch;
  const std::vector<int64_t> &mine = agreement.bound;
  if (mine.empty())
    return true;
  size_t bytes = mine.size() * sizeof(mine[0]);
  std::string text(reinterpret_cast<const char *>(mine.data()), bytes);
  if (!store.set(key("binding", launch.rank), text, error))
    return lost(status);
  std::vector<std::vector<int64_t>> byRank(launch.size, mine);
  for (int64_t rank = 0; rank < launch.size; ++rank) {
    if (rank == launch.rank)
      continue;
    if (!store.get(key("binding", rank), job.timeoutMs, text, error))
      return lost(status);
    if (text.size() == bytes)
      std::memcpy(byRank[rank].data(), text.data(), bytes);
  }
  std::string why = agreement.compare(byRank);
  // Who serves the store stays until all have read it.
  if (!store.barrier("bound/" + world, job.timeoutMs, error))
    return lost(status);
  if (why.empty())
    return true;
  status = SHARDRT_USAGE;
  error = why;
  return false;
}

bool Connector::publishPlace(LocalGroup::Shared &shared, NoSegment &why,
                             std::string &error) {
  const Launch &launch = job.launch;
  // Room for all that a rank can ever hold; it takes memory when it is used.
  int64_t physical = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t room = std::min(2 * physical, (int64_t(1) << 46) / launch.size);
  room = room / (1 << 21) * (1 << 21);
  std::string text = "-";
  shared.mine = Segment::create(room, why);
  if (shared.mine && launch.rank == 0) {
    shared.boards =
        Segment::create(LocalGroup::bytesOfBoards(launch.size), why);
    // Only members of this job see it.
    crypto::Key random = crypto::randomKey();
    std::memcpy(&number, random.data(), sizeof(number));
    if (shared.boards)
      LocalGroup::beginBoards(*shared.boards, launch.size, number);
  }
  if (shared.mine && (launch.rank != 0 || shared.boards))
    text = nameOfHost() + " " + std::to_string(getpid()) + " " +
           std::to_string(shared.mine->descriptor()) + " " +
           std::to_string(shared.boards ? shared.boards->descriptor() : -1) +
           " " + std::to_string(room) + " " + std::to_string(number);
  return store.set(key("place", launch.rank), text, error);
}

bool Connector::openAll(LocalGroup::Shared &shared,
                        const std::vector<Place> &places, NoSegment &why) {
  const Launch &launch = job.launch;
  auto refuse = [&](std::string reason) {
    why = {std::move(reason)};
    return false;
  };
  // Who has no memory to share says so itself.
  for (int64_t rank = 0; rank < launch.size; ++rank)
    if (places[rank].host.empty())
      return false;
  for (int64_t rank = 0; rank < launch.size; ++rank)
    if (places[rank].host != places[0].host)
      return refuse("ranks 0 and " + std::to_string(rank) +
                    " are of different hosts, or do not see each other's "
                    "files");
  for (int64_t rank = 0; rank < launch.size; ++rank) {
    if (rank == launch.rank)
      continue;
    shared.others[rank] =
        Segment::open(places[rank].process, places[rank].memory,
                      places[rank].bytes, /*isWritable=*/false, why);
    if (!shared.others[rank])
      return false;
  }
  if (launch.rank != 0) {
    shared.boards = Segment::open(places[0].process, places[0].boards,
                                  LocalGroup::bytesOfBoards(launch.size),
                                  /*isWritable=*/true, why);
    if (!shared.boards)
      return false;
    if (!LocalGroup::areBoards(*shared.boards, launch.size, places[0].job))
      return refuse("the shared memory of rank 0 is that of another job");
  }
  return true;
}

bool Connector::share(LocalGroup::Shared &shared, int64_t, NoSegment &why,
                      std::string &error) {
  const Launch &launch = job.launch;
  shared.rank = launch.rank;
  shared.others.resize(launch.size);
  if (!publishPlace(shared, why, error))
    return false;
  std::vector<Place> places(launch.size);
  std::string text;
  for (int64_t rank = 0; rank < launch.size; ++rank) {
    if (!store.get(key("place", rank), job.timeoutMs, text, error))
      return false;
    if (text == "-")
      continue;
    std::istringstream in(text);
    Place &place = places[rank];
    in >> place.host >> place.process >> place.memory >> place.boards >>
        place.bytes >> place.job;
  }
  std::string verdict = "ok";
  if (!openAll(shared, places, why))
    verdict = (why.isMemory ? "memory " : "other ") + why.why;
  if (!store.set(key("shares", launch.rank), verdict, error))
    return false;
  // One verdict for all: the first that says what is missing, or the first.
  why = {};
  for (int64_t rank = 0; rank < launch.size; ++rank) {
    if (!store.get(key("shares", rank), job.timeoutMs, text, error))
      return false;
    bool isMemory = text.starts_with("memory ");
    std::string reason = text == "ok" ? "" : text.substr(text.find(' ') + 1);
    if (!reason.empty() && (why.why.empty() || (isMemory && !why.isMemory)))
      why = {"rank " + std::to_string(rank) + ": " + reason, isMemory};
  }
  return why.why.empty();
}

std::unique_ptr<Group>
shardrt::connectJob(Job &job, Wire wire, const std::string &world,
                    const Agreement &agreement, GroupOptions options,
                    DescribeSite describe, int &status, std::string &error) {
  Connector connector(job, world);
  if (!connector.agreeOnProgram(agreement.program, status, error) ||
      !connector.agreeOnBinding(agreement, status, error))
    return nullptr;
  const Launch &launch = job.launch;
  if (wire == Wire::Auto || wire == Wire::Shared) {
    LocalGroup::Shared shared;
    NoSegment why;
    if (connector.share(shared, options.timeoutNs, why, error)) {
      auto group = std::make_unique<LocalGroup>(std::move(shared), options,
                                                std::move(describe));
      // All hold their places before one looks for who does not.
      if (!job.store->barrier("shared/" + world, job.timeoutMs, error)) {
        status = job.store->status();
        return nullptr;
      }
      return group;
    }
    if (!error.empty()) {
      status = job.store->status();
      return nullptr;
    }
    if (wire == Wire::Shared) {
      status = why.isMemory ? SHARDRT_MEMORY : SHARDRT_UNSUPPORTED;
      error = "ranks cannot share memory: " + why.why +
              "; --transport=tcp goes over sockets";
      return nullptr;
    }
  }
  std::unique_ptr<Carrier> carrier;
  if (wire == Wire::Mpi)
    carrier = connectMpi(job, world, status, error);
  else
    carrier = connectTcp(job, world, status, error);
  if (!carrier)
    return nullptr;
  auto group =
      std::make_unique<WireGroup>(launch.rank, launch.size, std::move(carrier),
                                  options, std::move(describe));
  if (!job.store->barrier("connected/" + world, job.timeoutMs, error)) {
    status = job.store->status();
    return nullptr;
  }
  return group;
}

//===- Team.cpp - The ranks of a job that are of this process -------------===//

#include "Comm/Bootstrap/Team.h"
#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/Socket.h"
#include "Program/Program.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <numeric>
#include <sstream>
#include <thread>

using namespace shardrt;
namespace crypto = shardc::crypto;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

TeamGroup::TeamGroup(std::vector<std::unique_ptr<Group>> given)
    : ends(std::move(given)), known(ends.size()) {}

void TeamGroup::fail(Failure failure) {
  for (auto &end : ends)
    if (end)
      end->fail(failure);
}

bool TeamGroup::failed() const {
  return std::any_of(ends.begin(), ends.end(),
                     [](auto &end) { return end && end->failed(); });
}

Failure TeamGroup::failure() const {
  for (auto &end : ends)
    if (end && end->failed())
      return end->failure();
  return {};
}

void TeamGroup::patrol(int64_t sinceNs) {
  for (auto &end : ends)
    if (end)
      end->patrol(sinceNs);
}

bool TeamGroup::begin(int64_t me, const Running &program,
                      std::vector<std::vector<int64_t>> &byRank) {
  Comm &comm = rank(me);
  bool isBound = program.unbound != 0;
  comm.program = isBound ? program.unbound : program.number;
  if (!known[me].insert(comm.program).second && !isBound)
    return true;
  byRank.assign(size(), {program.bound.begin(), program.bound.end()});
  // Of others only their posts matter.
  std::vector<int64_t> others;
  for (int64_t i = 0; i < size(); ++i)
    if (i != me)
      others.push_back(i);
  Ticket ticket;
  auto bytes = static_cast<int64_t>(program.bound.size_bytes());
  Posted mine;
  if (bytes > 0)
    mine = {program.bound.data(), bytes};
  bool done = comm.post({-1, 0}, mine, others, ticket);
  for (size_t i = 0; done && i < others.size(); ++i) {
    const std::byte *theirs = nullptr;
    done = comm.open(ticket, others[i], theirs);
    if (!done)
      break;
    if (bytes > 0)
      std::memcpy(byRank[others[i]].data(), theirs, bytes);
    comm.close(ticket, others[i]);
  }
  done = done && comm.finish(ticket, others);
  comm.program = program.number;
  return comm.settleUnless(done);
}

void TeamGroup::leave() {
  for (auto &end : ends)
    if (end)
      end->leave();
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// An address of this host that others reach; empty if there is none.
static std::string outwardAddress() {
  ifaddrs *all = nullptr;
  std::string address;
  if (getifaddrs(&all) != 0)
    return address;
  for (ifaddrs *one = all; one && address.empty(); one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP))
      continue;
    char text[INET_ADDRSTRLEN] = "";
    auto *inet = reinterpret_cast<sockaddr_in *>(one->ifa_addr);
    if (inet_ntop(AF_INET, &inet->sin_addr, text, sizeof(text)))
      address = text;
  }
  freeifaddrs(all);
  return address;
}

namespace {
/// The exchange that a caller lent.
class Exchange {
public:
  Exchange(const shardrt_key_values &given, int64_t timeoutMs)
      : given(given), timeoutMs(timeoutMs) {}

  /// An empty string, or what went wrong.
  std::string put(const std::string &name, const std::string &value) {
    if (given.put(given.user, name.c_str(), value.c_str()) == 0)
      return {};
    return "the key-value store did not take '" + name + "'";
  }
  std::string get(const std::string &name, const std::string &whose,
                  std::string &value) {
    char text[1024] = "";
    if (given.get(given.user, name.c_str(), timeoutMs, text, sizeof(text)) != 0)
      return whose + " has not come: the key-value store has no '" + name +
             "' after " + std::to_string(timeoutMs) + " ms";
    value = text;
    return {};
  }

private:
  const shardrt_key_values &given;
  int64_t timeoutMs;
};
} // namespace

/// Finds out through the caller's exchange who there is and where, and agrees
/// on a secret.
std::string Team::rendezvous(const Options &options) {
  Exchange exchange(*options.exchange, options.timeoutMs);
  const Launch &asked = options.launch;
  std::string host = nameOfBoot();
  if (std::string why =
          exchange.put("process/" + std::to_string(number),
                       std::to_string(options.localRanks) + " " + host);
      !why.empty())
    return why;
  launch.isOneHost = true;
  for (int64_t i = 0; i < asked.size; ++i) {
    std::string text, whose = "process " + std::to_string(i);
    if (std::string why =
            exchange.get("process/" + std::to_string(i), whose, text);
        !why.empty())
      return why;
    std::istringstream in(text);
    std::string theirs;
    in >> counts[i] >> theirs;
    if (counts[i] < 1)
      return whose + " has no rank: it says '" + text + "'";
    launch.isOneHost &= !host.empty() && theirs == host;
  }
  const std::string place = "place";
  if (number == 0) {
    // A name of this host may be known as a loopback address here.
    if (launch.isOneHost)
      launch.host = "127.0.0.1";
    else if (launch.host.empty())
      launch.host = outwardAddress();
    std::string why, address;
    Socket listener = listenAt(launch.host, 0, address, launch.port, why);
    if (listener.get() >= 0 && !launch.isOneHost && isLoopback(address)) {
      launch.host = outwardAddress();
      listener = listenAt(launch.host, 0, address, launch.port, why);
    }
    if (listener.get() < 0)
      return "process 0 cannot listen at '" + launch.host + "': " + why;
    launch.host = address;
    launch.listener = listener.take();
    if (!launch.secret)
      launch.secret = crypto::randomKey();
    return exchange.put(place, launch.host + " " + std::to_string(launch.port) +
                                   " " + crypto::toHex(*launch.secret));
  }
  std::string text, hex;
  if (std::string why = exchange.get(place, "process 0", text); !why.empty())
    return why;
  std::istringstream in(text);
  in >> launch.host >> launch.port >> hex;
  launch.secret = crypto::keyFromHex(hex);
  return launch.secret ? std::string() : "process 0 did not say where it is";
}

std::shared_ptr<Team> Team::join(const Options &options, int &status,
                                 std::string &error) {
  auto team = std::make_shared<Team>();
  team->launch = options.launch;
  team->timeoutMs = options.timeoutMs;
  team->wire = options.wire;
  team->number = options.launch.rank;
  team->counts.assign(options.launch.size, options.localRanks);
  status = SHARDRT_LOST;
  if (options.exchange) {
    error = team->rendezvous(options);
    if (!error.empty())
      return nullptr;
  }
  auto mine = team->counts.begin() + team->number;
  team->firstRank = std::accumulate(team->counts.begin(), mine, int64_t(0));
  team->total = std::accumulate(mine, team->counts.end(), team->firstRank);
  team->launch.size = team->total;
  team->launch.rank = team->firstRank;
  const int64_t count = options.localRanks;
  team->stores.resize(count);
  std::vector<std::string> errors(count);
  // Rank 0 listens; the others ask until it does.
  for (int64_t i = 0; i < count; ++i) {
    Launch launch = team->launch;
    launch.rank = team->firstRank + i;
    launch.localRank = i;
    if (launch.rank != 0)
      launch.listener = launch.news = -1;
    team->stores[i] = Store::join(launch, options.timeoutMs, error, &status);
    if (!team->stores[i])
      return nullptr;
  }
  return team;
}

int64_t Team::processOf(int64_t rank) const {
  int64_t process = 0;
  for (int64_t left = rank; left >= counts[process]; ++process)
    left -= counts[process];
  return process;
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

namespace {
/// The store as some of a job's ranks see it, by their numbers among these.
class PartStore final : public Store {
public:
  PartStore(Store &whole, const Launch &launch, std::span<const int64_t> ranks)
      : Store(launch), whole(whole), ranks(ranks.begin(), ranks.end()) {
    jobSecret = whole.secret();
  }
  bool set(const std::string &name, const std::string &value,
           std::string &error) override {
    return withStatus(whole.set(rename(name), value, error));
  }
  bool get(const std::string &name, int64_t timeoutMs, std::string &value,
           std::string &error) override {
    return withStatus(whole.get(rename(name), timeoutMs, value, error));
  }
  bool isBroken(Loss &loss) override { return whole.isBroken(loss); }
  std::string address() const override { return whole.address(); }

protected:
  /// The whole has said who is missing: never Late.
  Answer come(const std::string &name, int64_t timeoutMs,
              std::string &error) override {
    auto part = [&](size_t i) { return name + "@" + std::to_string(i); };
    std::string none;
    if (!set(part(launch.rank), "1", error))
      return Answer::Refused;
    for (size_t i = 0; i < ranks.size(); ++i)
      if (!get(part(i), timeoutMs, none, error))
        return Answer::Refused;
    return Answer::Given;
  }
  Missing whoIsMissing(const std::string &, std::vector<int64_t> &,
                       std::vector<int64_t> &) override {
    return Missing::Gone; // The whole has said it.
  }

private:
  bool withStatus(bool done) {
    if (!done)
      failedWith = whole.status();
    return done;
  }
  std::string rename(const std::string &name) const {
    int64_t owner = ownerOf(name);
    if (owner < 0 || owner >= static_cast<int64_t>(ranks.size()))
      return name;
    size_t at = name.rfind('@');
    size_t end = std::min(name.find('/', at), name.size());
    return name.substr(0, at) + "." + std::to_string(owner) + "@" +
           std::to_string(ranks[owner]) + name.substr(end);
  }

  Store &whole;
  const std::vector<int64_t> ranks;
};
} // namespace

Team::Found Team::connect(std::span<const int64_t> ranks,
                          const GroupOptions &options) {
  const auto count = static_cast<int64_t>(ranks.size());
  std::string world = "ranks";
  for (int64_t rank : ranks)
    world += "." + std::to_string(rank);
  // Names are short.
  world = crypto::toHex(crypto::sha256(crypto::bytesOf(world))).substr(0, 16);
  std::vector<std::unique_ptr<Group>> ends(count);
  Found found;
  std::vector<std::thread> threads;
  std::mutex reporting;
  for (int64_t i = 0; i < count; ++i) {
    if (!isHere(ranks[i]))
      continue;
    threads.emplace_back([&, i] {
      int64_t here = ranks[i] - firstRank;
      Job part;
      part.launch = launch;
      part.launch.rank = i;
      part.launch.size = count;
      part.launch.localRank = here;
      part.timeoutMs = timeoutMs;
      part.store =
          std::make_unique<PartStore>(*stores[here], part.launch, ranks);
      int status = SHARDRT_LOST;
      std::string error;
      ends[i] = connectJob(
          part, wire, world, {shardrt_version()}, options,
          [this](int64_t site, bool full) { return describe(site, full); },
          status, error);
      if (status == SHARDRT_ARTIFACT)
        error = "process " + std::to_string(number) + " has shardc " +
                shardrt_version() + ", another version than process " +
                std::to_string(processOf(ranks[0])) +
                ": start all processes with the same one";
      std::lock_guard lock(reporting);
      if (!ends[i] && found.error.empty()) {
        found.status = status;
        found.error = error;
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  if (found.error.empty())
    found.group = std::make_unique<TeamGroup>(std::move(ends));
  return found;
}

void Team::leave() {
  if (isKept.load())
    return;
  std::lock_guard lock(connecting);
  groups.clear();
  stores.clear();
}

void Team::sayGoodbye() {
  std::lock_guard lock(connecting);
  isGone.store(true);
  for (auto &[ranks, found] : groups)
    if (found.group)
      found.group->leave();
}

TeamGroup *Team::find(std::span<const int64_t> ranks,
                      const GroupOptions &options, int &status,
                      std::string &error) {
  std::lock_guard lock(connecting);
  if (stores.empty() || isGone.load()) {
    status = SHARDRT_USAGE;
    error = "this process has left the job";
    return nullptr;
  }
  auto [at, isNew] = groups.try_emplace({ranks.begin(), ranks.end()});
  if (isNew)
    at->second = connect(ranks, options);
  status = at->second.status;
  error = at->second.error;
  return at->second.group.get();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

int64_t Team::enroll(const std::shared_ptr<const Program> &program,
                     const std::string &words) {
  crypto::Digest digest = crypto::sha256(crypto::bytesOf(words));
  uint64_t bits;
  std::memcpy(&bits, digest.data(), sizeof(bits));
  // With a site's number behind it, it is a positive word.
  auto number = static_cast<int64_t>(bits >> (siteBits + 2)) | 1;
  std::lock_guard lock(naming);
  std::erase_if(programs, [](auto &entry) { return entry.second.expired(); });
  programs[number] = program;
  return number;
}

std::string Team::describe(int64_t site, bool full) {
  if (site < (int64_t(1) << siteBits))
    return "the end of a run";
  std::shared_ptr<const Program> program;
  {
    std::lock_guard lock(naming);
    auto known = programs.find(site >> siteBits);
    if (known != programs.end())
      program = known->second.lock();
  }
  if (!program)
    return "another program";
  int64_t number = (site & ((int64_t(1) << siteBits) - 1)) - 1;
  return number < 0 ? "the first run of its program"
                    : program->describe(number, full);
}

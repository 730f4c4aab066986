//===- Tcp.cpp - Connections of processes ---------------------------------===//
//
// Each process listens; those behind it connect, and both sides prove that they
// are of the job.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/Tcp.h"
#include "Comm/Bootstrap/Door.h"
#include "Comm/Wire/Contact.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

/// How the two sides of a connection know it.
static Link linkOf(const Job &job, const std::string &world, int64_t port,
                   int64_t listener) {
  return {"world " + world, job.launch.token, port, listener};
}

/// Connects to rank `peer`, which listens at `place`.
static bool callRank(Job &job, const std::string &world, int64_t peer,
                     const std::string &place, WaitLimit limit, Line &line,
                     Loss &loss) {
  const Launch &launch = job.launch;
  size_t colon = place.rfind(':');
  std::string host = place.substr(0, colon), why = "no address";
  int64_t port = colon == std::string::npos
                     ? 0
                     : std::strtol(place.c_str() + colon + 1, nullptr, 10);
  Claim claim = {launch.rank, launch.size, launch.encrypts};
  Link link = linkOf(job, world, port, peer);
  while (port > 0) {
    std::string word;
    WaitLimit soon(std::min(limit.leftNs(), Door::strangerMs * millisecond));
    Knock done = knock(host, port, soon, job.store->secret(), link, claim,
                       line.socket, line.keys, line.received, why);
    if (done == Knock::Stranger)
      break;
    // Who was dropped among many strangers comes again; who is late to say so
    // may have let this rank in already, and lets nobody in twice.
    while (done == Knock::Proven && limit.leftNs() > 0 && !loss) {
      soon = WaitLimit(std::min(limit.leftNs(), 1000 * millisecond));
      if (receiveBytes(line.socket.get(), 1, soon, line.received, word,
                       Door::mostBytes))
        return true;
      if (soon.leftNs() > 0)
        break;
      job.store->isBroken(loss);
    }
    if (loss || limit.leftNs() <= 0 || done == Knock::Nobody ||
        job.store->isBroken(loss))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!loss)
    loss = {Loss::Kind::Gone, why};
  loss.text = "rank " + std::to_string(launch.rank) +
              " cannot connect to rank " + std::to_string(peer) + " at " +
              place + ": " + loss.text;
  return false;
}

/// Waits for those behind this rank to connect.
static bool letIn(Job &job, Door &door, std::vector<Line> &lines,
                  WaitLimit limit, Loss &loss) {
  const Launch &launch = job.launch;
  int64_t asked = nowNs();
  for (int64_t missing = launch.size - 1 - launch.rank; missing > 0;) {
    std::vector<pollfd> files;
    int longest = std::min(door.watch(files), 100);
    poll(files.data(), files.size(), longest);
    for (Door::Guest &guest : door.look()) {
      int64_t peer = guest.claim.rank;
      if (peer <= launch.rank || peer >= launch.size ||
          guest.claim.size != launch.size ||
          guest.claim.flags != launch.encrypts ||
          lines[peer].socket.get() >= 0 ||
          !sendAll(guest.socket.get(), "K", WaitLimit(100 * millisecond)))
        continue;
      lines[peer].socket = std::move(guest.socket);
      lines[peer].keys = guest.keys;
      lines[peer].received = std::move(guest.received);
      --missing;
    }
    // Who was killed meanwhile does not come.
    if (missing > 0 && nowNs() - asked > 100 * millisecond) {
      if (job.store->isBroken(loss))
        return false;
      asked = nowNs();
    }
    if (missing == 0 || limit.leftNs() > 0)
      continue;
    // All have joined: who does not come now was stopped.
    loss = {Loss::Kind::Stopped,
            "rank " + std::to_string(launch.rank) + " waited " +
                std::to_string(job.timeoutMs) + " ms for connections of ranks"};
    for (int64_t peer = launch.rank + 1; peer < launch.size; ++peer)
      if (lines[peer].socket.get() < 0)
        loss.text += " " + std::to_string(peer);
    return false;
  }
  return true;
}

std::unique_ptr<Carrier> shardrt::connectTcp(Job &job, const std::string &world,
                                             int &status, std::string &error) {
  const Launch &launch = job.launch;
  Store &store = *job.store;
  WaitLimit limit(job.timeoutMs * millisecond);
  std::vector<Line> lines(launch.size);
  std::string address = store.address(), text, why;
  int64_t port = 0;
  status = SHARDRT_LOST;
  Socket listener = listenAt(address, 0, address, port, why);
  if (listener.get() < 0) {
    error = "rank " + std::to_string(launch.rank) + " cannot listen: " + why;
    return nullptr;
  }
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  Door door(std::move(listener), store.secret(),
            linkOf(job, world, port, launch.rank));
  // All have joined: who does not come now was stopped.
  Loss loss;
  auto tooLate = [&] {
    status = limit.leftNs() <= 0 ? SHARDRT_WATCHDOG : loss.status();
    error = loss.text;
    return nullptr;
  };
  auto key = [&](int64_t rank) {
    return "tcp/" + world + "@" + std::to_string(rank);
  };
  if (!store.set(key(launch.rank), address + ":" + std::to_string(port),
                 error)) {
    status = store.status();
    return nullptr;
  }
  // Each connects to those before it.
  for (int64_t peer = 0; peer < launch.rank; ++peer) {
    if (!store.get(key(peer), job.timeoutMs, text, error)) {
      status = store.status();
      return nullptr;
    }
    if (!callRank(job, world, peer, text, limit, lines[peer], loss))
      return tooLate();
  }
  if (!letIn(job, door, lines, limit, loss))
    return tooLate();
  return carryOver(std::move(lines), launch.encrypts);
}

//===- Siblings.cpp - A job's other processes on this host ----------------===//

#include "Comm/Bootstrap/Siblings.h"
#include "Comm/Shared/Process.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cstring>
#include <set>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

int Loss::status() const {
  return kind == Kind::Stopped ? SHARDRT_WATCHDOG : SHARDRT_LOST;
}

/// Which rank of this job `process` is; -1: none.
static int64_t rankOf(int64_t process, const Launch &job) {
  std::string text = environmentOf(process);
  Variables variables = [&](const char *name) -> const char * {
    size_t length = std::strlen(name);
    for (size_t at = 0; at < text.size();
         at += std::strlen(text.c_str() + at) + 1)
      if (text.compare(at, length, name) == 0 && text[at + length] == '=')
        return text.c_str() + at + length + 1;
    return nullptr;
  };
  Launch theirs;
  if (!readLaunch(variables, theirs).empty() ||
      theirs.launcher != job.launcher || theirs.size != job.size ||
      theirs.host != job.host || theirs.port != job.port ||
      theirs.token != job.token)
    return -1;
  return theirs.rank;
}

bool Siblings::isOneStopped(Loss &loss) {
  std::lock_guard lock(mutex);
  int64_t now = nowNs();
  if (!found.empty()) {
    loss = {Loss::Kind::Stopped, found};
    return true;
  }
  if (launch.patienceMs <= 0 || launch.launcher.empty() ||
      now - lookedNs < 200 * millisecond)
    return false;
  lookedNs = now;
  int64_t self = getpid(), launcher = getppid();
  std::set<int64_t> near;
  for (int64_t child : childrenOf(launcher))
    near.insert(child);
  // Where this process was started by a script, others have scripts too.
  if (int64_t above = stateOf(launcher).parent; above > 1)
    for (int64_t script : childrenOf(above)) {
      near.insert(script);
      for (int64_t child : childrenOf(script))
        near.insert(child);
    }
  // Of a job that is stopped and continued this process may run first.
  int64_t returned = lastReturnNs(now);
  std::map<int64_t, int64_t> before = std::exchange(stoppedNs, {});
  for (int64_t process : near) {
    if (process == self || !stateOf(process).isStopped())
      continue;
    auto known = before.find(process);
    int64_t since =
        known == before.end() ? now : std::max(known->second, returned);
    stoppedNs[process] = since;
    if (now - since < launch.patienceMs * millisecond)
      continue;
    int64_t rank = rankOf(process, launch);
    if (rank < 0 || rank == launch.rank)
      continue;
    found = "rank " + std::to_string(rank) + " (process " +
            std::to_string(process) + ") is stopped: it has not gone on for " +
            std::to_string((now - since) / millisecond) +
            " ms, longer than ranks wait for one another";
    loss = {Loss::Kind::Stopped, found};
    return true;
  }
  return false;
}

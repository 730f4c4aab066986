//===- Absence.cpp - When this process was not running --------------------===//
#include "Host/Absence.h"
#include "Host/Clock.h"
#include <algorithm>

static constexpr int64_t longestPauseNs = 500'000'000;

/// Other threads may have read the clock later, and been here first.
static void raiseTo(std::atomic<int64_t> &time, int64_t nowNs) {
  int64_t before = time.load();
  while (before < nowNs && !time.compare_exchange_weak(before, nowNs)) {
  }
}

int64_t shardrt::Absence::lastReturnNs(int64_t nowNs) {
  // The return is there before the call that ended the pause is seen: a thread
  // that finds no pause any more finds when it was over.
  if (nowNs - seenNs.load() > longestPauseNs)
    raiseTo(returnedNs, nowNs);
  raiseTo(seenNs, nowNs);
  return returnedNs.load();
}

void shardrt::Absence::wasHere(int64_t nowNs) { raiseTo(seenNs, nowNs); }

static shardrt::Absence &ofThisProcess() {
  static shardrt::Absence absence;
  return absence;
}

int64_t shardrt::lastReturnNs(int64_t nowNs) {
  return ofThisProcess().lastReturnNs(nowNs);
}

void shardrt::wasHere(int64_t nowNs) { ofThisProcess().wasHere(nowNs); }

shardrt::WaitLimit::WaitLimit(int64_t ns)
    : WaitLimit(ns, ofThisProcess(), nowNs()) {}

shardrt::WaitLimit::WaitLimit(int64_t ns, Absence &absence, int64_t nowNs)
    : absence(&absence), lengthNs(ns), startNs(nowNs) {}

int64_t shardrt::WaitLimit::leftNs() { return leftNs(nowNs()); }

int64_t shardrt::WaitLimit::leftNs(int64_t nowNs) {
  int64_t returned = absence->lastReturnNs(nowNs);
  if (returned > startNs && numPauses < mostPauses) {
    startNs = returned;
    ++numPauses;
  }
  return startNs + lengthNs - nowNs;
}

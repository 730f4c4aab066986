//===- Absence.cpp - When this process was not running --------------------===//
#include "Host/Absence.h"
#include <atomic>

static constexpr int64_t longestPauseNs = 500'000'000;

int64_t shardrt::lastReturnNs(int64_t nowNs) {
  static std::atomic<int64_t> seenNs{0}, returnedNs{0};
  int64_t before = seenNs.exchange(nowNs);
  // Another thread may have read the clock later, and been here first.
  if (nowNs - before > longestPauseNs)
    returnedNs.store(nowNs);
  return returnedNs.load();
}

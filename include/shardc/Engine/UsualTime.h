//===- UsualTime.h - How long runs of a program take ------------*- C++ -*-===//
#ifndef SHARDC_ENGINE_USUALTIME_H
#define SHARDC_ENGINE_USUALTIME_H

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace shardc::engine {

/// What a run usually takes. A thread may wait for a core during a run, for
/// milliseconds where a run is of microseconds, so what is slower than usual
/// counts for little, and what is faster for half. Threads may race: one of
/// them counts.
class UsualTime {
public:
  /// -1 before the first run.
  int64_t ns() const { return value.load(std::memory_order_relaxed); }

  void add(int64_t took) {
    int64_t usual = ns(), next = took;
    if (usual >= 0)
      next = took < usual ? (usual + took) / 2
                          : usual + std::min((took - usual) / 8, usual + 1000);
    value.store(next, std::memory_order_relaxed);
  }

private:
  std::atomic<int64_t> value{-1};
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_USUALTIME_H

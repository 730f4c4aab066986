//===- Clock.h - The clock of waits and statistics --------------*- C++ -*-===//
#ifndef SHARDRT_CORE_CLOCK_H
#define SHARDRT_CORE_CLOCK_H

#include <chrono>
#include <cstdint>

namespace shardrt {

/// Nanoseconds of the steady clock.
inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace shardrt

#endif // SHARDRT_CORE_CLOCK_H

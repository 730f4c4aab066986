//===- Clock.h - The clock of waits and statistics --------------*- C++ -*-===//
#ifndef SHARDRT_HOST_CLOCK_H
#define SHARDRT_HOST_CLOCK_H

#include <chrono>
#include <cstdint>
#include <ctime>

namespace shardrt {

/// Nanoseconds of the steady clock.
inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Nanoseconds of processor time that the calling thread has had; 0 where the
/// system does not say.
inline int64_t threadNs() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
#else
  return 0;
#endif
}

} // namespace shardrt

#endif // SHARDRT_HOST_CLOCK_H

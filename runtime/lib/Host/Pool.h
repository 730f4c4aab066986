//===- Pool.h - The threads of one rank -------------------------*- C++ -*-===//
//
// A rank's own thread and those that help it with parallel loops. They know
// nothing of ranks and communication. A helper that has done its part looks out
// for the next one for a while, then sleeps.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_HOST_POOL_H
#define SHARDRT_HOST_POOL_H

#include "shardrt/shardrt.h"
#include <atomic>
#include <deque>
#include <thread>

namespace shardrt {

class Pool {
public:
  /// Helpers of rank `rank` of `ranks`, bound to cores if `pin`; with the
  /// rank's own no more threads than `most`, unless that is 0.
  Pool(int64_t rank, int64_t ranks, bool pin, int64_t most = 0)
      : rank(rank), ranks(ranks), most(most), pin(pin) {}
  ~Pool() { stop(); }

  /// Ends the helpers; there are no loops any more.
  void stop();

  /// Calls part(env, 0) … part(env, parts - 1), each once, at the same time
  /// where threads can be had, else in turns. Returns when all are done.
  void run(shardrt_part_fn part, const void *env, int64_t parts);

  /// The most parts that a loop has had; 1 before the first.
  int64_t width() const { return threads.load(std::memory_order_relaxed); }

private:
  /// One helper. Aligned, so that none disturbs another's cache line.
  struct alignas(64) Helper {
    std::atomic<uint32_t> calls{0}; ///< how often it has been called
    std::thread thread;
  };
  /// What the next call is about; changes while no helper is at work.
  struct Job {
    shardrt_part_fn part = nullptr;
    const void *env = nullptr;
    int64_t parts = 0;
    int64_t threads = 1; ///< that share them
  };
  int64_t grow(int64_t parts);
  void doParts(int64_t index) const;
  void serve(Helper &helper, int64_t index);

  const int64_t rank, ranks, most;
  const bool pin;
  bool refused = false; ///< the system gives no more threads
  std::atomic<int64_t> threads{1};
  std::atomic<int64_t> spins{0}; ///< looks before a thread that waits sleeps
  Job job;
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<uint32_t> open{0}; ///< helpers at work
  std::deque<Helper> helpers;                ///< part i is for helper i - 1
};

} // namespace shardrt

#endif // SHARDRT_HOST_POOL_H

//===- EmulatorTest.h - Kernels written by hand, run ------------*- C++ -*-===//
//
// Kernels of these tests are written by hand, as --spmd-emulate-nvvm writes
// them, with and without faults. Every schedule must agree on what is right,
// and a fault must be found in at least those that the test names.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_RUNTIME_TEST_EMULATORTEST_H
#define SHARDC_RUNTIME_TEST_EMULATORTEST_H

#include "Device/Emulated/Block.h"
#include "shardrt/Emulated.h"
#include "shardrt/TensorMap.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <numeric>

namespace shardrt::test {
using Thread = shardrt_emulated_thread;

constexpr Schedule schedules[] = {Schedule::RoundRobin, Schedule::RunAhead,
                                  Schedule::Random};

inline int64_t tagged(const void *host) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(host)) ^
         SHARDRT_EMULATED_TAG;
}
template <typename T>
T *global(Thread *thread, int64_t address, int64_t index, bool writes) {
  auto *at = reinterpret_cast<char *>(address) +
             index * static_cast<int64_t>(sizeof(T));
  return static_cast<T *>(
      shardrt_emulated_global(thread, at, sizeof(T), writes, "kernel.py:1"));
}
inline int32_t *shared(Thread *thread, int64_t index, bool writes) {
  auto *at = reinterpret_cast<int32_t *>(thread->shared) + index;
  shardrt_emulated_shared(thread, at, sizeof(int32_t), writes,
                          writes ? "kernel.py:2" : "kernel.py:3");
  return at;
}

/// Runs `kernel` with one buffer of `count` integers, which count up from 0;
/// returns them, or sets `error`.
inline std::vector<int32_t> run(shardrt_emulated_kernel kernel,
                                Schedule schedule, std::string &error,
                                int64_t count = 64, int32_t threads = 64,
                                int32_t blocks = 1, int64_t sharedBytes = 256,
                                uint64_t seed = 7, bool ordered = false,
                                int32_t cluster = 1) {
  std::vector<int32_t> buffer(count);
  std::iota(buffer.begin(), buffer.end(), 0);
  Allocations allocations;
  allocations.add(reinterpret_cast<uintptr_t>(buffer.data()), count * 4);
  int64_t arguments[] = {
      tagged(buffer.data()),
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer.data()))};
  BlockRunner runner;
  runner.schedule = schedule;
  runner.seed = seed;
  BlockRunner::Launch launch;
  launch.kernel = kernel;
  launch.arguments = arguments;
  launch.grid[0] = blocks;
  launch.threads = threads;
  launch.sharedBytes = sharedBytes;
  launch.hasBarriers = true;
  launch.ordered = ordered;
  launch.cluster = cluster;
  launch.checked = true;
  error = runner.run(launch, allocations) ? "" : runner.error;
  return buffer;
}

/// The error of `kernel` in each schedule; one that finds none is "".
inline std::vector<std::string> errorsOf(shardrt_emulated_kernel kernel) {
  std::vector<std::string> errors;
  for (Schedule schedule : schedules)
    run(kernel, schedule, errors.emplace_back());
  return errors;
}

#define EXPECT_EVERY_SCHEDULE_SAYS(KERNEL, TEXT)                               \
  for (const std::string &error : errorsOf(KERNEL))                            \
  EXPECT_NE(error.find(TEXT), std::string::npos) << "said: " << error

/// The error of `kernel` in a block of `threads` whose threads run to the end
/// one after the other.
inline std::string errorAhead(shardrt_emulated_kernel kernel,
                              int32_t threads = 64,
                              int64_t sharedBytes = 1024) {
  std::string error;
  run(kernel, Schedule::RunAhead, error, 64, threads, 1, sharedBytes, 7,
      /*ordered=*/true);
  return error;
}

/// That each schedule says `text`.
inline void expectAllSay(const std::string &errors, const std::string &text) {
  size_t found = 0, times = 0;
  while ((found = errors.find(text, found)) != std::string::npos)
    ++found, ++times;
  EXPECT_EQ(times, std::size(schedules)) << "said: " << errors;
}

/// 128 x 32 of f16 with f32 sums, rows of 128 swizzled bytes.
constexpr int32_t kInstruction = 1 << 4 | 4 << 17 | 8 << 24;
constexpr auto kDescriptor = static_cast<int64_t>(2ull << 61 | 1ull << 46);

} // namespace shardrt::test

#endif // SHARDC_RUNTIME_TEST_EMULATORTEST_H

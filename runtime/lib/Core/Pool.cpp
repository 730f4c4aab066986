//===- Pool.cpp - The threads of one rank ---------------------------------===//

#include "Core/Pool.h"
#include "Core/Cores.h"
#include "Core/Spin.h"
#ifdef __linux__
#include <sched.h>
#endif
#include <algorithm>
#include <system_error>

using namespace shardrt;

int64_t shardrt::countCores() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

void shardrt::moveToCore([[maybe_unused]] int64_t index,
                         [[maybe_unused]] bool bind) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  int64_t cores = CPU_COUNT(&allowed), at = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || at++ != index % cores)
      continue;
    if (!bind && sched_getcpu() == core)
      return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    if (!bind)
      sched_setaffinity(0, sizeof(allowed), &allowed);
    return;
  }
#endif
}

Pool::~Pool() {
  stopping.store(true);
  for (Helper &helper : helpers) {
    helper.calls.fetch_add(1, std::memory_order_release);
    helper.calls.notify_one();
    helper.thread.join();
  }
}

bool Pool::grow(int64_t parts) {
  while (width() < parts && !refused) {
    Helper &helper = helpers.emplace_back();
    try {
      int64_t index = static_cast<int64_t>(helpers.size());
      helper.thread =
          std::thread([this, &helper, index] { serve(helper, index); });
    } catch (const std::system_error &) {
      helpers.pop_back();
      refused = true;
      break;
    }
    threads.fetch_add(1, std::memory_order_relaxed);
  }
  // Who waits while others have no core keeps them from it: some 20 us of
  // looks where each has one.
  spins.store(ranks * width() <= countCores() ? 1000 : 0,
              std::memory_order_relaxed);
  return width() >= parts;
}

void Pool::serve(Helper &helper, int64_t index) {
  uint32_t seen = 0;
  while (true) {
    uint32_t calls = helper.calls.load(std::memory_order_acquire);
    for (int64_t i = 0;
         calls == seen && i < spins.load(std::memory_order_relaxed); ++i) {
      relaxCore();
      calls = helper.calls.load(std::memory_order_acquire);
    }
    if (calls == seen) {
      helper.calls.wait(seen, std::memory_order_acquire);
      if (!stopping.load(std::memory_order_relaxed))
        moveToCore(rank * width() + index, pin);
      continue;
    }
    seen = calls;
    if (stopping.load(std::memory_order_relaxed))
      return;
    job.part(job.env, index);
    if (open.fetch_sub(1, std::memory_order_acq_rel) == 1)
      open.notify_one();
  }
}

void Pool::run(shardrt_part_fn part, const void *env, int64_t parts) {
  if (parts > width() && !grow(parts)) {
    for (int64_t i = 0; i < parts; ++i)
      part(env, i);
    return;
  }
  job = {part, env};
  open.store(static_cast<uint32_t>(parts - 1), std::memory_order_relaxed);
  for (int64_t i = 1; i < parts; ++i) {
    helpers[i - 1].calls.fetch_add(1, std::memory_order_release);
    helpers[i - 1].calls.notify_one();
  }
  part(env, 0);
  uint32_t left = open.load(std::memory_order_acquire);
  for (int64_t i = 0; left != 0 && i < spins.load(std::memory_order_relaxed);
       ++i) {
    relaxCore();
    left = open.load(std::memory_order_acquire);
  }
  while (left != 0) {
    open.wait(left, std::memory_order_acquire);
    left = open.load(std::memory_order_acquire);
  }
}

//===- Pool.cpp - The threads of one rank ---------------------------------===//

#include "Host/Pool.h"
#include "Host/Cores.h"
#include "Host/Spin.h"
#include <algorithm>
#include <system_error>

using namespace shardrt;

void Pool::stop() {
  stopping.store(true);
  for (Helper &helper : helpers) {
    helper.calls.fetch_add(1, std::memory_order_release);
    helper.calls.notify_one();
    helper.thread.join();
  }
  helpers.clear();
  threads.store(1, std::memory_order_relaxed);
}

/// Returns how many threads there are for `parts` parts.
int64_t Pool::grow(int64_t parts) {
  int64_t wanted = most > 0 ? std::min(parts, most) : parts;
  while (width() < wanted && !refused) {
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
    // Who waits while others have no core keeps them from it: some 20 us of
    // looks where each has one.
    spins.store(ranks * width() <= countCores() ? 1000 : 0,
                std::memory_order_relaxed);
  }
  return std::min(wanted, width());
}

void Pool::doParts(int64_t index) const {
  for (int64_t part = index; part < job.parts; part += job.threads)
    job.part(job.env, part);
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
    doParts(index);
    if (open.fetch_sub(1, std::memory_order_acq_rel) == 1)
      open.notify_one();
  }
}

void Pool::run(shardrt_part_fn part, const void *env, int64_t parts) {
  int64_t shared = parts > width() ? grow(parts) : parts;
  job = {part, env, parts, std::max<int64_t>(shared, 1)};
  open.store(static_cast<uint32_t>(job.threads - 1), std::memory_order_relaxed);
  for (int64_t i = 1; i < job.threads; ++i) {
    helpers[i - 1].calls.fetch_add(1, std::memory_order_release);
    helpers[i - 1].calls.notify_one();
  }
  doParts(0);
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

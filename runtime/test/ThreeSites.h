//===- ThreeSites.h - A program of three exchanges --------------*- C++ -*-===//
//
// What tests let go wrong, and how long that takes.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_THREESITES_H
#define SHARDRT_TEST_THREESITES_H

#include "TestWorld.h"
#include <atomic>
#include <chrono>
#include <thread>

namespace shardrt::test {

/// Site 0: a halo exchange; 1: an all_reduce; 2: an all_gather.
inline SiteTable threeSites(int64_t ranks) {
  Intervals owned = cut(std::vector<int64_t>(ranks, 2));
  return makeTable(
      {ranks},
      {exchangeSite("halo_exchange", {2 * ranks},
                    {{0, {0}, owned, grow(owned, 1, 1)}}),
       allReduceSite(ElementType::F32, Reduction::Sum, {0}),
       exchangeSite("all_gather", {2 * ranks},
                    {{0, {0}, owned, Intervals(ranks, {0, 2 * ranks})}})});
}

inline int callSite(shardrt_context *ctx, int64_t site, int64_t count = 2) {
  std::vector<float> src(128, 1), dst(128);
  if (site == 1)
    return shardrt_all_reduce(ctx, 1, src.data(), dst.data(), count);
  return shardrt_exchange(ctx, site, src.data(), dst.data(), nullptr);
}

/// A thread that does nothing but sleep for a millisecond at a time: what
/// delays it is the machine.
class Control {
public:
  Control() : sleeper([this] { sleep(); }) {}
  /// Ends it. Returns the seconds by which its sleeps were too long.
  double stop() {
    end.store(now());
    sleeper.join();
    return 1e-9 * static_cast<double>(late);
  }
  /// How many took a quarter of a second too long or more; once it has ended.
  int64_t pauses() const { return numPauses; }

private:
  static int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() /
           std::chrono::nanoseconds(1);
  }
  void sleep() {
    constexpr int64_t asked = 1'000'000;
    for (int64_t from = now(); end.load() == 0;) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(asked));
      int64_t over = end.load(), to = over == 0 ? now() : over;
      int64_t tooLong = std::max<int64_t>(0, to - from - asked);
      late += tooLong;
      numPauses += tooLong >= 250'000'000;
      from = to;
    }
  }

  int64_t late = 0, numPauses = 0;
  std::atomic<int64_t> end{0};
  std::thread sleeper;
};

/// Seconds that `body` took, less what the machine kept from a control at the
/// same time. Who waits for a limit of time takes no less for that.
inline double seconds(const std::function<void()> &body) {
  Control control;
  auto start = std::chrono::steady_clock::now();
  body();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() - control.stop();
}

/// For what has to end within `limit` seconds: calls `attempt`, which returns
/// how many it took, until it does, at most five times. Threads that share
/// cores with other programs are late now and then, and a control that only
/// sleeps is not; who waits for a watchdog is late each time.
inline void expectWithin(double limit, const std::string &what,
                         const std::function<double()> &attempt) {
  double least = attempt();
  for (int i = 1; i < 5 && least >= limit; ++i)
    least = std::min(least, attempt());
  EXPECT_LT(least, limit) << what;
}

/// For what has to come about within a limit of time that the test sets: calls
/// `attempt` with `ms`, twice `ms`, four times ... until it says that the
/// machine kept up, so that what it found counts.
inline void
whereTheMachineKeepsUp(int64_t ms,
                       const std::function<bool(int64_t)> &attempt) {
  for (int64_t scale = 1; scale <= 64; scale *= 2)
    if (attempt(ms * scale))
      return;
  ADD_FAILURE() << "the machine did not keep up with " << 64 * ms << " ms";
}

/// Milliseconds since `start`.
inline double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

/// Waits for what comes about soon, however slow the machine is. False: it does
/// not, in a minute.
inline bool awaitThat(const std::function<bool()> &isSo) {
  auto start = std::chrono::steady_clock::now();
  while (!isSo()) {
    if (millisecondsSince(start) > 60'000)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Waits, in a step, until the watchdog or another rank has ended it.
inline void awaitEnd(shardrt_context *ctx) {
  while (ctx->comm->status() == SHARDRT_OK)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// The last of `ranks` never comes back: the watchdog says who, and where.
/// `after` looks at the world.
inline void
expectTheMissingRankIsNamed(int64_t ranks, Way way, int64_t ms,
                            const std::function<void(TestWorld &)> &after) {
  whereTheMachineKeepsUp(ms, [&](int64_t limit) {
    TestWorld world(threeSites(ranks), 0, /*timeoutMs=*/limit, /*graceMs=*/-1,
                    false, way);
    std::atomic<int64_t> came{0};
    EXPECT_EQ(world.run([&](shardrt_context *ctx) {
      if (int status = callSite(ctx, 1))
        return status;
      ++came;
      if (shardrt_rank(ctx) == ranks - 1)
        awaitEnd(ctx);
      return callSite(ctx, 0);
    }),
              SHARDRT_WATCHDOG);
    char text[64];
    std::snprintf(text, sizeof(text), "watchdog: no progress for %.3g s",
                  1e-3 * static_cast<double>(limit));
    std::string missing = "rank " + std::to_string(ranks - 1);
    // Where the others got no core for so long, they are missing too.
    bool isNamed = came == ranks;
    for (const std::string &part :
         {std::string(text),
          "missing: " + missing + ", last seen in all_reduce #1",
          "in halo_exchange #0 along \"x\" at test.py:1:1 for " + missing})
      isNamed &= world.error().find(part) != std::string::npos;
    if (isNamed)
      after(world);
    else
      std::printf("%s, %lld ms: %s\n", nameOf(way),
                  static_cast<long long>(limit), world.error().c_str());
    return isNamed;
  });
}

} // namespace shardrt::test

#endif // SHARDRT_TEST_THREESITES_H

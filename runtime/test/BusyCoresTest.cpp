//===- BusyCoresTest.cpp - Ranks on cores that others use as well ---------===//
//
// On a busy core sched_yield returns after the others' time slice. Here every
// call takes that long, whatever else this machine does: the function of the C
// library is replaced, for the runtime too.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"
#include <atomic>
#include <chrono>
#include <sys/syscall.h>

using namespace shardrt;
using namespace shardrt::test;

static std::atomic<bool> isBusy{false};
static std::atomic<int64_t> numGivenAway{0};

extern "C" int sched_yield() noexcept {
  if (isBusy) {
    ++numGivenAway;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return static_cast<int>(syscall(SYS_sched_yield));
}

// Who waits for another rank sleeps until that rank wakes it: a sum costs no
// time slice of the others.
TEST(BusyCores, WhoWaitsSleeps) {
  constexpr int64_t numSums = 300;
  TestWorld world(
      makeTable({2}, {allReduceSite(ElementType::F32, Reduction::Sum, {0})}));
  std::atomic<int64_t> wrong{0};
  numGivenAway = 0;
  isBusy = true;
  int status = world.run(
      [&, sum = std::array<int64_t, 2>{}](shardrt_context *ctx) mutable -> int {
        int64_t rank = shardrt_rank(ctx), now = sum[rank]++;
        // Alternately one is late, so that the other waits.
        if (now % 2 == rank)
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        float value = static_cast<float>(now + rank), total = 0;
        int result = allReduce(ctx, 0, &value, &total, 1);
        wrong += total != static_cast<float>(2 * now + 1);
        return result;
      },
      numSums);
  isBusy = false;
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(numGivenAway.load(), 0);
  EXPECT_LT(numGivenAway.load(), numSums / 4);
}

//===- CrewCallersTest.cpp - Ranks that run on their caller's thread ------===//

#include "TestCrew.h"
#include <atomic>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

TEST(Crew, ALoneRankRunsOnTheCallersThread) {
  TestCrew crew(2);
  CrewWorld one(
      makeTable({1}, {allReduceSite(ElementType::F32, Reduction::Sum, {0})}),
      crew.crew, {1});
  CrewWorld two(threeSites(2), crew.crew);
  std::thread::id thread;
  RankFunction function = [&](shardrt_context *ctx) {
    thread = std::this_thread::get_id();
    EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 1), 0);
    float in = 3, out = 0;
    int status = shardrt_all_reduce(ctx, 0, &in, &out, 1);
    EXPECT_EQ(out, 3);
    return status;
  };
  void *input = &function;
  void *const *inputs[] = {&input, &input};
  char error[128] = "untouched";
  auto runHere = [&](CrewWorld &world) {
    return shardrt_world_run_here(world.world, inputs, inputs, nullptr, error,
                                  sizeof(error));
  };
  ASSERT_EQ(runHere(one), SHARDRT_OK);
  EXPECT_EQ(thread, std::this_thread::get_id());
  EXPECT_STREQ(error, "untouched");
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 1), 1);
  EXPECT_EQ(runHere(two), SHARDRT_BUSY);
  // Who fails leaves nothing behind.
  function = [](shardrt_context *ctx) {
    return shardrt_fail(ctx, SHARDRT_REFUSED, "not today");
  };
  EXPECT_EQ(runHere(one), SHARDRT_REFUSED);
  EXPECT_STREQ(error, "rank 0: not today");
  function = [](shardrt_context *) { return 0; };
  EXPECT_EQ(runHere(one), SHARDRT_OK);
  // A place that is at work is left alone; what it is asked meanwhile comes
  // after.
  std::atomic<bool> go{false}, isThere{false};
  TestRun work(waitFor(go, isThere));
  ASSERT_EQ(one.start(work), SHARDRT_OK);
  while (!isThere)
    std::this_thread::yield();
  EXPECT_EQ(runHere(one), SHARDRT_BUSY);
  go = true;
  EXPECT_EQ(work.wait(), SHARDRT_OK);
  TestRun behind([](shardrt_context *) { return 0; });
  function = [&](shardrt_context *) {
    EXPECT_EQ(one.start(behind), SHARDRT_OK);
    EXPECT_EQ(behind.waitFor(0.02), -1);
    return 0;
  };
  EXPECT_TRUE(awaitThat([&] { return runHere(one) != SHARDRT_BUSY; }));
  EXPECT_EQ(behind.wait(), SHARDRT_OK);
}

TEST(Crew, RanksWithoutSitesTakeTurnsOnTheCallersThread) {
  TestCrew crew(3);
  CrewWorld three(makeTable({3}, {}), crew.crew, {2, 0, 1});
  CrewWorld one(makeTable({1}, {}), crew.crew, {1});
  std::vector<int64_t> ranks;
  std::vector<std::thread::id> threads;
  int64_t failing = -1;
  RankFunction function = [&](shardrt_context *ctx) {
    ranks.push_back(shardrt_rank(ctx));
    threads.push_back(std::this_thread::get_id());
    for (int64_t place : {0, 1, 2})
      EXPECT_EQ(shardrt_crew_is_idle(crew.crew, place), 0);
    return shardrt_rank(ctx) == failing
               ? shardrt_fail(ctx, SHARDRT_REFUSED, "not today")
               : 0;
  };
  void *input = &function;
  void *const *inputs[] = {&input, &input, &input};
  char error[128] = "untouched";
  auto runHere = [&] {
    return shardrt_world_run_here(three.world, inputs, inputs, nullptr, error,
                                  sizeof(error));
  };
  ASSERT_EQ(runHere(), SHARDRT_OK);
  EXPECT_STREQ(error, "untouched");
  std::ranges::sort(ranks);
  EXPECT_EQ(ranks, std::vector<int64_t>({0, 1, 2}));
  EXPECT_EQ(threads, std::vector(3, std::this_thread::get_id()));
  for (int64_t place : {0, 1, 2})
    EXPECT_EQ(shardrt_crew_is_idle(crew.crew, place), 1);
  // Who fails is named, and the next run is another.
  failing = 1;
  EXPECT_EQ(runHere(), SHARDRT_REFUSED);
  EXPECT_STREQ(error, "rank 1: not today");
  failing = -1;
  EXPECT_EQ(runHere(), SHARDRT_OK);
  // One place at work keeps all from it, and loses nothing.
  std::atomic<bool> go{false}, isThere{false};
  TestRun work(waitFor(go, isThere));
  ASSERT_EQ(one.start(work), SHARDRT_OK);
  while (!isThere)
    std::this_thread::yield();
  ranks.clear();
  EXPECT_EQ(runHere(), SHARDRT_BUSY);
  EXPECT_TRUE(ranks.empty());
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 0), 1);
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 2), 1);
  go = true;
  EXPECT_EQ(work.wait(), SHARDRT_OK);
  TestRun all([](shardrt_context *) { return 0; });
  ASSERT_EQ(three.start(all), SHARDRT_OK);
  EXPECT_EQ(all.wait(), SHARDRT_OK);
}

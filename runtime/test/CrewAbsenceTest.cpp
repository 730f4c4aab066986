//===- CrewAbsenceTest.cpp - Places of a crew that do not come ------------===//

#include "TestCrew.h"
#include <atomic>
#include <chrono>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

TEST(Crew, TheWatchdogWaitsForPlacesThatHaveOtherWork) {
  whereTheMachineKeepsUp(100, [](int64_t ms) {
    TestCrew crew(2);
    CrewWorld busy(makeTable({1}, {}), crew.crew, {1});
    CrewWorld world(threeSites(2), crew.crew, {}, /*timeoutMs=*/ms);
    std::chrono::steady_clock::time_point over;
    TestRun work([&](shardrt_context *) {
      std::this_thread::sleep_for(std::chrono::milliseconds(4 * ms));
      over = std::chrono::steady_clock::now();
      return 0;
    });
    TestRun run(callAllSites);
    EXPECT_EQ(busy.start(work), SHARDRT_OK);
    EXPECT_EQ(world.start(run), SHARDRT_OK);
    EXPECT_EQ(work.wait(), SHARDRT_OK);
    int status = run.wait();
    // Since then it had the place, and as long as the watchdog waits.
    if (status != SHARDRT_OK && millisecondsSince(over) > double(ms))
      return false;
    EXPECT_EQ(status, SHARDRT_OK) << run.error;
    return true;
  });
}

/// Returns whether all others came back in the `ms` that they are given, and
/// the caller had its answer soon after.
static bool leaveAPlaceBehind(int64_t ms) {
  // Shared with a thread that may outlive the crew.
  auto release = std::make_shared<std::atomic<bool>>(false);
  TestCrew crew(3);
  CrewWorld world(threeSites(3), crew.crew, {}, /*timeoutMs=*/ms,
                  /*graceMs=*/ms);
  CrewWorld other(threeSites(2), crew.crew, {0, 2});
  TestRun stuck([release](shardrt_context *ctx) {
    std::shared_ptr<std::atomic<bool>> go = release;
    while (shardrt_rank(ctx) == 1 && !*go)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return callSite(ctx, 0);
  });
  TestRun later(callAllSites);
  std::atomic<int> called{-1};
  auto notify = [](void *user, int status) {
    *static_cast<std::atomic<int> *>(user) = status;
  };
  double time = seconds([&] {
    EXPECT_EQ(world.start(stuck), SHARDRT_OK);
    EXPECT_EQ(world.start(later), SHARDRT_OK);
    EXPECT_EQ(shardrt_crew_call(crew.crew, 1, notify, &called), SHARDRT_OK);
    EXPECT_EQ(stuck.wait(), SHARDRT_WATCHDOG);
    EXPECT_EQ(later.wait(), SHARDRT_LOST);
  });
  bool inTime = time < 2e-3 * static_cast<double>(ms) + 1.8;
  EXPECT_NE(stuck.error.find("rank 1: did not come back"), std::string::npos)
      << stuck.error;
  bool areBack =
      stuck.error.find("rank 0: did not come back") == std::string::npos &&
      stuck.error.find("rank 2: did not come back") == std::string::npos;
  if (areBack)
    EXPECT_EQ(later.error,
              "place 1 of the crew has not come back from an earlier "
              "run; make a new crew");
  EXPECT_EQ(called, SHARDRT_LOST);
  // Also what needs that place not at all.
  TestRun none(callAllSites);
  EXPECT_EQ(other.start(none), SHARDRT_LOST);
  EXPECT_EQ(other.run(callAllSites), SHARDRT_LOST);
  EXPECT_STREQ(shardrt_world_error(other.world), later.error.c_str());
  // It is back before this test's functions go away.
  *release = true;
  EXPECT_TRUE(awaitThat([&] { return other.run(callAllSites) == SHARDRT_OK; }));
  // Its ranks may be late once, but not each time.
  int status = SHARDRT_WATCHDOG;
  for (int i = 0; i < 100 && status != SHARDRT_OK; ++i)
    status = world.run(callAllSites);
  EXPECT_EQ(status, SHARDRT_OK);
  EXPECT_EQ(stuck.calls, 1);
  return areBack && inTime;
}

TEST(Crew, APlaceThatNeverComesBackIsSaidToEverybody) {
  whereTheMachineKeepsUp(100, leaveAPlaceBehind);
}

TEST(Crew, APlaceWhosePartHasLeftIsNotGivenUp) {
  GivenUp isLost;
  std::atomic<bool> hasLeft{true};
  std::atomic<int64_t> places{0};
  // It seemed not to have, and left before its place was given up.
  EXPECT_FALSE(isLost.set(hasLeft, places));
  EXPECT_FALSE(isLost.load());
  // Its thread may have seen that for a moment.
  isLost.clear(places);
  EXPECT_EQ(places, 0);
  // What another run has lost stays so.
  hasLeft = false;
  EXPECT_TRUE(isLost.set(hasLeft, places));
  hasLeft = true;
  EXPECT_FALSE(isLost.set(hasLeft, places));
  EXPECT_TRUE(isLost.load());
  EXPECT_EQ(places, 1);
  isLost.clear(places);
  EXPECT_FALSE(isLost.load());
  EXPECT_EQ(places, 0);
}

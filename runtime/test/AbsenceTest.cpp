//===- AbsenceTest.cpp - Pauses, seen by several threads ------------------===//
#include "Host/Absence.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

using namespace shardrt;

TEST(Absence, IsAPauseOfHalfASecondBetweenTwoCalls) {
  constexpr int64_t ms = 1'000'000;
  Absence absence;
  EXPECT_EQ(absence.lastReturnNs(1'000 * ms), 1'000 * ms);
  EXPECT_EQ(absence.lastReturnNs(1'400 * ms), 1'000 * ms);
  EXPECT_EQ(absence.lastReturnNs(1'901 * ms), 1'901 * ms);
  // A thread that read the clock before the pause ends it for nobody.
  EXPECT_EQ(absence.lastReturnNs(1'500 * ms), 1'901 * ms);
  EXPECT_EQ(absence.lastReturnNs(2'400 * ms), 1'901 * ms);
}

TEST(WaitLimit, BeginsAnewAfterAPause) {
  constexpr int64_t second = 1'000'000'000;
  Absence absence;
  absence.wasHere(second);
  WaitLimit limit(2 * second, absence, second);
  EXPECT_EQ(limit.leftNs(second + second / 4), 2 * second - second / 4);
  EXPECT_EQ(limit.leftNs(100 * second), 2 * second);
  EXPECT_EQ(limit.leftNs(100 * second + second / 4), 2 * second - second / 4);
}

// A call between two looks may take a second each time: that is no pause of
// the process, and the wait has to end.
TEST(WaitLimit, EndsThoughItIsAskedSeldom) {
  constexpr int64_t second = 1'000'000'000;
  Absence absence;
  absence.wasHere(second);
  WaitLimit limit(10 * second, absence, second);
  int64_t now = second;
  for (int i = 0; i < 100 && limit.leftNs(now) > 0; ++i)
    now += second;
  EXPECT_LE(limit.leftNs(now), 0);
  EXPECT_EQ(now, (1 + WaitLimit::mostPauses + 10) * second);
}

// Whoever waits for a rank and whoever looks after all of them are different
// threads: one that came second and was told of no pause ended jobs that had
// been stopped and continued.
TEST(Absence, IsOverForAllThreadsAtOnce) {
  constexpr int numThreads = 3, numPauses = 20'000;
  Absence absence;
  std::barrier together(numThreads);
  std::vector<int64_t> missed(numThreads, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back([&, i] {
      for (int64_t pause = 1; pause <= numPauses; ++pause) {
        together.arrive_and_wait();
        int64_t nowNs = pause * 1'000'000'000;
        missed[i] += absence.lastReturnNs(nowNs) != nowNs;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::count(missed.begin(), missed.end(), 0), numThreads);
}

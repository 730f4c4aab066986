//===- CoresTest.cpp - What threads of ranks take of cores ----------------===//

#include "Host/Cores.h"
#include "TestCrew.h"
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

TEST(Crew, IdleThreadsUseNoProcessor) {
  TestCrew crew(8);
  CrewWorld world(threeSites(8), crew.crew);
  TestRun run(callAllSites);
  ASSERT_EQ(world.start(run), SHARDRT_OK);
  EXPECT_EQ(run.wait(), SHARDRT_OK);
  // Let those go to sleep that look out for the next run.
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  auto used = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) * 1e-9;
  };
  // Where they share cores with others that takes longer; who looks out for
  // ever never does.
  double least = 1;
  for (int i = 0; i < 50 && least >= 0.005; ++i) {
    double before = used();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    least = std::min(least, used() - before);
  }
  EXPECT_LT(least, 0.005);
}

TEST(Crew, CoresAreThoseThatControlGroupsAllow) {
  namespace fs = std::filesystem;
  fs::path root =
      testing::TempDir() + "shardrt_cgroup" + std::to_string(getpid());
  fs::create_directories(root / "a" / "b");
  auto write = [](const fs::path &path, const char *text) {
    std::ofstream(path) << text << "\n";
  };
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 0);
  write(root / "a" / "b" / "cpu.max", "max 100000");
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 0);
  // One and a half cores are two threads.
  write(root / "a" / "cpu.max", "150000 100000");
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 2);
  write(root / "a" / "b" / "cpu.max", "400000 100000");
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 2);
  EXPECT_EQ(coresOfGroup(root, ""), 0);
  fs::remove_all(root);
  EXPECT_GE(shardrt_num_cores(), 1);
  EXPECT_LE(shardrt_num_cores(),
            std::max(1u, std::thread::hardware_concurrency()));
}

TEST(Cores, WorkIsSpread) {
  auto spread = [](std::vector<int64_t> work, int64_t cores,
                   std::vector<int64_t> now) {
    return spreadOverCores(work, cores, now);
  };
  using Cores = std::vector<int64_t>;
  // Three and one together have as much as four.
  EXPECT_EQ(spread({300, 0, 400, 100}, 2, {0, 1, 2, 3}), (Cores{1, 0, 0, 1}));
  EXPECT_EQ(spread({400, 0, 400, 0}, 2, {0, 1, 0, 1}), (Cores{0, 0, 1, 0}));
  // What differs by a tenth is not worth a move.
  EXPECT_EQ(spread({100, 104, 98, 101}, 2, {0, 1, 2, 3}), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(spread({0, 0, 0}, 2, {0, 1, 2}), (Cores{0, 1, 2}));
  EXPECT_EQ(spread({5, 1}, 1, {0, 1}), (Cores{0, 1}));
}

namespace {
/// Of twice as many ranks as cores the first and the one that would share its
/// core have work.
struct TwoOfMany {
  const int64_t cores = countCores();
  TestWorld world{makeTable({2 * cores}, {})};
  RankFunction step = [this](shardrt_context *ctx) -> int {
    volatile int64_t sum = 0;
    for (int64_t i = 0; shardrt_rank(ctx) % cores == 0 && i < 1'000'000; ++i)
      sum = sum + i;
    return SHARDRT_OK;
  };
  bool areApart() const {
    Crew &crew = *world.world->world->crew;
    return crew.place(0).core % cores != crew.place(cores).core % cores;
  }
};
} // namespace

TEST(Cores, RanksWithWorkAreSentApart) {
  TwoOfMany two;
  if (two.cores < 2)
    GTEST_SKIP() << "one core";
  EXPECT_FALSE(two.areApart());
  ASSERT_EQ(two.world.run(two.step, 4), SHARDRT_OK) << two.world.error();
  EXPECT_TRUE(two.areApart());
}

// What a step that failed was weighed to is not counted for the next one.
TEST(Cores, RanksAreSentApartAfterAFailure) {
  TwoOfMany two;
  if (two.cores < 2)
    GTEST_SKIP() << "one core";
  RankFunction failing = [](shardrt_context *ctx) -> int {
    if (shardrt_rank(ctx) == 1)
      throw std::runtime_error("no step");
    return SHARDRT_OK;
  };
  ASSERT_NE(two.world.run(failing, 1), SHARDRT_OK);
  ASSERT_EQ(two.world.run(two.step, 1), SHARDRT_OK) << two.world.error();
  EXPECT_TRUE(two.areApart());
}

// The caller's own thread does all ranks, and stays where it is.
TEST(Cores, CallersAreNotSent) {
  TwoOfMany two;
  void *input = &two.step;
  std::vector<void *const *> inputs(2 * two.cores, &input);
  char error[256] = "";
  for (int run = 0; run < 4; ++run)
    ASSERT_EQ(shardrt_world_run_here(two.world.world, inputs.data(),
                                     inputs.data(), nullptr, error,
                                     sizeof(error)),
              SHARDRT_OK)
        << error;
  EXPECT_FALSE(two.areApart());
}

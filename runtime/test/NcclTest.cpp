//===- NcclTest.cpp - NCCL's calls, on a stand-in -------------------------===//
//
// What each collective gives over NCCL is in the conformance suite
// (ExchangeTest, ReduceTest). Here: what goes wrong, and who says so; and that
// the stand-in holds its callers to NCCL's rules.
//
//===----------------------------------------------------------------------===//

#include "Comm/Nccl/Library.h"
#include "Paused.h"
#include "ThreeSites.h"
#include <dlfcn.h>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// The stand-in, as NCCL's users see it.
class FakeNccl : public testing::Test {
protected:
  void SetUp() override {
    handle = dlopen(SHARDRT_TEST_FAKE_NCCL, RTLD_NOW);
    ASSERT_TRUE(handle) << dlerror();
#define SHARDRT_NCCL_LOAD(SYMBOL, NAME, ARGUMENTS)                             \
  nccl.NAME = reinterpret_cast<decltype(nccl.NAME)>(dlsym(handle, #SYMBOL));   \
  ASSERT_TRUE(nccl.NAME) << #SYMBOL;
    SHARDRT_NCCL_FUNCTIONS(SHARDRT_NCCL_LOAD)
#undef SHARDRT_NCCL_LOAD
    nccl.getLastError = reinterpret_cast<const char *(*)(nccl::CommHandle)>(
        dlsym(handle, "ncclGetLastError"));
    nccl.getUniqueId(&id);
  }
  void TearDown() override {
    for (nccl::CommHandle comm : comms)
      nccl.commAbort(comm);
    EXPECT_EQ(live(), 0);
  }
  int live() {
    return reinterpret_cast<int (*)()>(dlsym(handle, "fake_nccl_live"))();
  }
  /// Non-blocking communicators of `ranks` ranks, ready.
  void connect(int ranks) {
    nccl::Config config;
    config.blocking = 0;
    comms.resize(ranks);
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(nccl.commInitRankConfig(&comms[rank], ranks, id, rank, &config),
                nccl::inProgress);
    for (nccl::CommHandle comm : comms)
      EXPECT_EQ(poll(comm), nccl::success);
  }
  /// The state of `comm`, after looking ten times at most.
  nccl::Result poll(nccl::CommHandle comm) {
    nccl::Result state = nccl::inProgress;
    for (int i = 0; i < 10 && state == nccl::inProgress; ++i)
      EXPECT_EQ(nccl.commGetAsyncError(comm, &state), nccl::success);
    return state;
  }

  void *handle = nullptr;
  nccl::Library nccl;
  nccl::UniqueId id;
  std::vector<nccl::CommHandle> comms;
};

TEST_F(FakeNccl, ACommunicatorWaitsForAllItsRanks) {
  nccl::Config config;
  config.blocking = 0;
  comms.resize(2);
  EXPECT_EQ(nccl.commInitRankConfig(&comms[0], 2, id, 0, &config),
            nccl::inProgress);
  EXPECT_EQ(poll(comms[0]), nccl::inProgress);
  float x = 1;
  EXPECT_NE(nccl.send(&x, 1, nccl::Float32, 1, comms[0], nullptr),
            nccl::success);
  EXPECT_EQ(nccl.commInitRankConfig(&comms[1], 2, id, 1, &config),
            nccl::inProgress);
  EXPECT_EQ(poll(comms[0]), nccl::success);
  EXPECT_EQ(poll(comms[1]), nccl::success);
}

TEST_F(FakeNccl, SendsOutsideAGroupWaitForTheirReceivers) {
  connect(2);
  float give[2] = {1, 2}, got[2] = {0, 0};
  // Both send first, each in a group of its own: neither receives.
  for (int rank : {0, 1})
    nccl.send(&give[rank], 1, nccl::Float32, 1 - rank, comms[rank], nullptr);
  EXPECT_EQ(poll(comms[0]), nccl::inProgress);
  EXPECT_EQ(poll(comms[1]), nccl::inProgress);
  for (nccl::CommHandle comm : comms)
    nccl.commAbort(comm);
  comms.clear();
  nccl.getUniqueId(&id);
  connect(2);
  for (int rank : {0, 1}) {
    nccl.groupStart();
    nccl.send(&give[rank], 1, nccl::Float32, 1 - rank, comms[rank], nullptr);
    nccl.recv(&got[rank], 1, nccl::Float32, 1 - rank, comms[rank], nullptr);
    EXPECT_EQ(nccl.groupEnd(), nccl::inProgress);
  }
  EXPECT_EQ(poll(comms[0]), nccl::success);
  EXPECT_EQ(poll(comms[1]), nccl::success);
  EXPECT_EQ(got[0], 2);
  EXPECT_EQ(got[1], 1);
}

TEST_F(FakeNccl, ResultsMustBeSeenBeforeTheNextCall) {
  connect(1);
  float x[2] = {1, 1};
  EXPECT_EQ(
      nccl.allReduce(x, x, 1, nccl::Float32, nccl::Sum, comms[0], nullptr),
      nccl::inProgress);
  EXPECT_NE(
      nccl.allReduce(x, x, 1, nccl::Float32, nccl::Sum, comms[0], nullptr),
      nccl::inProgress);
  EXPECT_EQ(poll(comms[0]), nccl::success);
}

TEST_F(FakeNccl, CountsAndCallsMustMatch) {
  struct Case {
    const char *said;
    std::function<void(int)> call;
  };
  float x[4] = {}, y[8] = {};
  const Case cases[] = {
      {"rank 0: AllReduce of 1 elements of type 7, reduction 0 meets AllReduce "
       "of 2 elements",
       [&](int rank) {
         nccl.allReduce(x, y, 1 + rank, nccl::Float32, nccl::Sum, comms[rank],
                        nullptr);
       }},
      {"reduction 0 meets AllReduce of 1 elements of type 7, reduction 2",
       [&](int rank) {
         nccl.allReduce(x, y, 1, nccl::Float32, rank ? nccl::Max : nccl::Sum,
                        comms[rank], nullptr);
       }},
      {"rank 0: AllGather of 1 elements of type 7 meets AllReduce of 1 "
       "elements",
       [&](int rank) {
         if (rank)
           nccl.allReduce(x, y, 1, nccl::Float32, nccl::Sum, comms[1], nullptr);
         else
           nccl.allGather(x, y, 1, nccl::Float32, comms[0], nullptr);
       }},
      {"rank 1: Send of 2 elements of type 7, peer 0 meets Recv of 1 elements",
       [&](int rank) {
         if (rank)
           nccl.send(x, 2, nccl::Float32, 0, comms[1], nullptr);
         else
           nccl.recv(y, 1, nccl::Float32, 1, comms[0], nullptr);
       }}};
  for (const Case &c : cases) {
    nccl.getUniqueId(&id);
    connect(2);
    c.call(0);
    c.call(1);
    for (nccl::CommHandle comm : comms) {
      EXPECT_NE(poll(comm), nccl::success) << c.said;
      std::string said = nccl.getLastError(comm);
      EXPECT_NE(said.find(c.said), std::string::npos) << said;
    }
    for (nccl::CommHandle comm : comms)
      nccl.commAbort(comm);
    comms.clear();
  }
}

TEST_F(FakeNccl, SplitsByColorInTheOrderOfKeys) {
  connect(4);
  nccl::Config config;
  config.blocking = 0;
  std::vector<nccl::CommHandle> halves(4);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(
        nccl.commSplit(comms[rank], rank % 2, -rank, &halves[rank], &config),
        nccl::inProgress);
  std::vector<std::array<int32_t, 2>> got(4);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(poll(comms[rank]), nccl::success);
    EXPECT_EQ(poll(halves[rank]), nccl::success);
  }
  std::vector<int32_t> mine = {0, 1, 2, 3};
  for (int rank = 0; rank < 4; ++rank)
    nccl.allGather(&mine[rank], got[rank].data(), 1, nccl::Int32, halves[rank],
                   nullptr);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(poll(halves[rank]), nccl::success);
    EXPECT_EQ(got[rank][0], 2 + rank % 2);
    EXPECT_EQ(got[rank][1], rank % 2);
  }
  comms.insert(comms.end(), halves.begin(), halves.end());
}

//===----------------------------------------------------------------------===//
// Worlds
//===----------------------------------------------------------------------===//

/// 0: a halo of 4 ranks; 1: an all-reduce of f32 along both axes' ranks.
SiteTable twoSites() {
  Intervals owned = cut({2, 2, 2, 2});
  return makeTable({4}, {exchangeSite("halo_exchange", {8},
                                      {{0, {0}, owned, grow(owned, 1, 1)}}),
                         allReduceSite(ElementType::F32, Reduction::Sum, {0})});
}

int liveCommunicators() {
  void *handle = dlopen(SHARDRT_TEST_FAKE_NCCL, RTLD_NOW);
  int count = reinterpret_cast<int (*)()>(dlsym(handle, "fake_nccl_live"))();
  dlclose(handle);
  return count;
}

int runTwoSites(shardrt_context *ctx) {
  float rank = static_cast<float>(shardrt_rank(ctx)), src[2] = {rank, rank};
  float dst[4] = {}, sum[2] = {};
  if (int s = exchange(ctx, 0, src, dst, nullptr))
    return s;
  if (int s = test::allReduce(ctx, 1, src, sum, 2))
    return s;
  return sum[0] == 6 && sum[1] == 6 && dst[0] == (rank > 0 ? rank - 1 : 0)
             ? SHARDRT_OK
             : SHARDRT_REFUSED;
}

/// Whether a step went well, or took the time that the watchdog waits.
bool isWellOrLate(TestWorld &world, int64_t timeoutMs) {
  auto start = std::chrono::steady_clock::now();
  int status = world.run(runTwoSites);
  if (status != SHARDRT_OK && millisecondsSince(start) > double(timeoutMs))
    return false;
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  return true;
}

TEST(Nccl, AMissingRankEndsTheStepOfAllAndTheNextRunIsWell) {
  for (Way way : {Way::Nccl, Way::CudaNccl})
    whereTheMachineKeepsUp(300, [&](int64_t ms) {
      TestWorld world(twoSites(), 0, /*timeoutMs=*/ms, 1000, false, way);
      if (!isWellOrLate(world, ms))
        return false;
      double took = seconds([&] {
        // The third of each rank's calls; rank 2 makes it, but it is lost.
        Setting lost("FAKE_NCCL_LOSE", "2:3");
        EXPECT_EQ(world.run(runTwoSites), SHARDRT_WATCHDOG) << world.error();
      });
      // NCCL waits a quarter longer than the watchdog; then the grace.
      bool inTime = took < 1.25e-3 * double(ms) + 1 + 1;
      EXPECT_NE(world.error().find(
                    "NCCL: all_reduce #1 along \"x\" has not ended after " +
                    std::to_string(ms * 5 / 4) +
                    " ms: a rank is missing, or does something else; the "
                    "communicators are aborted"),
                std::string::npos)
          << world.error();
      EXPECT_EQ(liveCommunicators(), 0);
      return isWellOrLate(world, ms) && inTime;
    });
  EXPECT_EQ(liveCommunicators(), 0);
}

// Rank 3 comes when all of its job have been stopped and gone on.
TEST(Nccl, AJobThatWasStoppedWaitsAnew) {
  constexpr int64_t ms = 1'600;
  auto runPaused = [](Way way) {
    return [way](PausedProcess &self) {
      TestWorld world(twoSites(), 0, /*timeoutMs=*/ms, 1000, false, way);
      bool isWell = world.run(runTwoSites) == SHARDRT_OK &&
                    world.run([&](shardrt_context *ctx) {
                      if (shardrt_rank(ctx) == 3) {
                        self.waits();
                        self.awaitWord();
                      }
                      return runTwoSites(ctx);
                    }) == SHARDRT_OK;
      if (!isWell)
        std::fprintf(stderr, "%s\n", world.error().c_str());
      return isWell;
    };
  };
  PausedProcess host(runPaused(Way::Nccl)), cuda(runPaused(Way::CudaNccl));
  host.stop();
  cuda.stop();
  // NCCL waits a quarter longer than the watchdog.
  std::this_thread::sleep_for(std::chrono::milliseconds(ms * 5 / 4 + 500));
  host.goOn();
  cuda.goOn();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  host.giveWord();
  cuda.giveWord();
  EXPECT_TRUE(host.isWell());
  EXPECT_TRUE(cuda.isWell());
}

TEST(Nccl, ARankThatNeverComesIsNamed) {
  whereTheMachineKeepsUp(300, [](int64_t ms) {
    TestWorld world(twoSites(), 0, /*timeoutMs=*/ms, /*graceMs=*/3000, false,
                    Way::Nccl);
    EXPECT_EQ(world.run([&](shardrt_context *ctx) {
      if (shardrt_rank(ctx) == 3)
        awaitEnd(ctx);
      return runTwoSites(ctx);
    }),
              SHARDRT_WATCHDOG);
    EXPECT_NE(world.error().find("rank 3"), std::string::npos) << world.error();
    return isWellOrLate(world, ms);
  });
}

TEST(Nccl, RanksInDifferentCollectivesAreNamedOnBothSides) {
  TestWorld world(twoSites(), 0, 10'000, 0, false, Way::Nccl);
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    float src[2] = {}, dst[4] = {};
    return shardrt_rank(ctx) == 1 ? test::allReduce(ctx, 1, src, src, 2)
                                  : exchange(ctx, 0, src, dst, nullptr);
  }),
            SHARDRT_MISMATCH);
  EXPECT_NE(world.error().find("halo_exchange #0"), std::string::npos);
  EXPECT_NE(world.error().find("meets all_reduce #1 of 2 elements"),
            std::string::npos)
      << world.error();
}

TEST(Nccl, WhatNcclFindsIsToldWithTheSite) {
  TestWorld world(twoSites(), 0, 10'000, 0, false, Way::Nccl);
  Setting change("FAKE_NCCL_CHANGE", "1:0");
  EXPECT_EQ(world.run(runTwoSites), SHARDRT_REFUSED);
  EXPECT_NE(
      world.error().find("NCCL: all_reduce #1 along \"x\": invalid usage: "),
      std::string::npos)
      << world.error();
  EXPECT_NE(world.error().find("AllReduce of 3 elements"), std::string::npos)
      << world.error();
}

TEST(Nccl, RanksThatShareADevice) {
  setenv("SHARDRT_NCCL_LIBRARY", SHARDRT_TEST_FAKE_NCCL, 1);
  TestWorld host(twoSites());
  const_cast<Program &>(*host.program->program).device =
      deviceFor(Way::CudaDirect);
  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.transport = SHARDRT_TRANSPORT_NCCL;
  shardrt_world *none = nullptr;
  char error[256] = "";
  EXPECT_EQ(
      shardrt_world_create(host.program, &options, &none, error, sizeof(error)),
      SHARDRT_UNSUPPORTED);
  EXPECT_STREQ(error,
               "ranks 0 and 2 share a device, which NCCL 2.18.1 does not "
               "allow; --transport=direct does");
  unsetenv("FAKE_CUDA_DEVICES");
}
} // namespace

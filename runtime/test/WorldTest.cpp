//===- WorldTest.cpp - Programs, memory, statistics -----------------------===//

#include "ThreeSites.h"
#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>
#include <unistd.h>

using namespace shardrt;
using namespace shardrt::test;

static SiteTable oneHalo(int64_t ranks) {
  Intervals owned = cut(std::vector<int64_t>(ranks, 4));
  return makeTable({ranks},
                   {exchangeSite("halo_exchange", {4 * ranks, 8},
                                 {{0, {0}, owned, grow(owned, 1, 1)}})});
}

TEST(Program, SaysWhatItsSitesAre) {
  SiteTable table = oneHalo(2);
  table.sites.push_back(allReduceSite(ElementType::BF16, Reduction::Max, {0}));
  TestWorld world(table);
  EXPECT_EQ(shardrt_program_num_ranks(world.program), 2);
  EXPECT_EQ(shardrt_program_num_sites(world.program), 2);
  EXPECT_EQ(shardrt_program_num_mesh_axes(world.program), 1);
  EXPECT_EQ(shardrt_program_mesh_axis_size(world.program, 0), 2);
  EXPECT_STREQ(shardrt_program_mesh_axis_name(world.program, 0), "x");
  EXPECT_EQ(shardrt_program_mesh_axis_size(world.program, 1), 0);
  EXPECT_STREQ(shardrt_program_metadata(world.program), "{}");
  shardrt_site_info info;
  ASSERT_EQ(shardrt_program_site_info(world.program, 1, &info), SHARDRT_OK);
  EXPECT_STREQ(info.kind, "all_reduce");
  EXPECT_STREQ(info.axes, "x");
  EXPECT_STREQ(info.element_type, "bf16");
  EXPECT_STREQ(info.reduction, "max");
  EXPECT_STREQ(info.location, "");
  EXPECT_EQ(shardrt_program_site_info(world.program, 2, &info), SHARDRT_USAGE);
}

TEST(Program, WhoseExtentsAreOpenIsBoundBeforeItRuns) {
  TestWorld world(oneHalo(2));
  auto formulas = std::make_shared<Formulas>();
  formulas->extents.addDim(/*argument=*/0, /*dim=*/0, 225383);
  const_cast<Program &>(*world.program->program).formulas = formulas;
  shardrt_world *other = nullptr;
  char error[256] = "";
  EXPECT_EQ(shardrt_world_create(world.program, nullptr, &other, error,
                                 sizeof(error)),
            SHARDRT_USAGE);
  EXPECT_STREQ(error,
               "extents of the program's arguments are open: bind it first");
  EXPECT_EQ(other, nullptr);
}

TEST(Program, FilesThatAreNoArtifactsAreRefused) {
  shardrt_program *program = nullptr;
  char error[256] = "";
  EXPECT_EQ(
      shardrt_program_load("no/such/file.so", &program, error, sizeof(error)),
      SHARDRT_IO);
  EXPECT_STREQ(error,
               "no/such/file.so: cannot be read: No such file or directory");
  std::string path = testing::TempDir() + "shardrt_no_artifact" +
                     std::to_string(getpid()) + ".so";
  std::FILE *file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("not a shared object", file);
  std::fclose(file);
  EXPECT_EQ(shardrt_program_load(path.c_str(), &program, error, sizeof(error)),
            SHARDRT_ARTIFACT);
  EXPECT_EQ(program, nullptr);
  std::remove(path.c_str());
}

TEST(Program, AnArtifactRunsAfterItsHandleIsGone) {
  shardrt_program *program = nullptr;
  char error[256] = "";
  ASSERT_EQ(loadUnsealed(SHARDRT_TEST_ARTIFACT, &program, error, sizeof(error)),
            SHARDRT_OK)
      << error;
  EXPECT_EQ(std::string(shardrt_program_metadata(program))
                .rfind("{\"version\":1,", 0),
            0u);
  shardrt_site_info info;
  ASSERT_EQ(shardrt_program_site_info(program, 0, &info), SHARDRT_OK);
  EXPECT_STREQ(info.location, "sum.py:3:1");
  shardrt_world *world = nullptr;
  ASSERT_EQ(
      shardrt_world_create(program, nullptr, &world, error, sizeof(error)),
      SHARDRT_OK)
      << error;
  shardrt_program_destroy(program);
  float in[] = {1.5f, 2.25f}, out[] = {0, 0};
  void *in0[] = {&in[0]}, *in1[] = {&in[1]}, *out0[] = {&out[0]},
       *out1[] = {&out[1]};
  void *const *inputs[] = {in0, in1};
  void *const *outputs[] = {out0, out1};
  EXPECT_EQ(shardrt_world_run(world, inputs, outputs), SHARDRT_OK);
  EXPECT_EQ(out[0], 3.75f);
  EXPECT_EQ(out[1], 3.75f);
  shardrt_world_destroy(world);
}

TEST(World, RanksHaveTheirOwnThreadsAndPointers) {
  TestWorld world(oneHalo(6));
  std::vector<std::thread::id> ids(6);
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    EXPECT_EQ(shardrt_num_ranks(ctx), 6);
    ids[shardrt_rank(ctx)] = std::this_thread::get_id();
    return 0;
  }),
            SHARDRT_OK);
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 6u);
}

TEST(World, RepeatsAndTakesTheTimeOfEachStep) {
  TestWorld world(oneHalo(3));
  std::atomic<int64_t> calls{0};
  std::vector<double> ms(7, -1);
  EXPECT_EQ(world.run(
                [&](shardrt_context *ctx) {
                  ++calls;
                  if (shardrt_rank(ctx) == 0)
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                  return 0;
                },
                7, ms.data()),
            SHARDRT_OK);
  EXPECT_EQ(calls.load(), 21);
  for (double time : ms)
    EXPECT_GE(time, 2.0);
  EXPECT_EQ(world.run([](shardrt_context *) { return 1; }, 0), SHARDRT_OK);
}

TEST(World, TwoWorldsOfOneProgramAtTheSameTime) {
  TestWorld a(oneHalo(3), 1), b(oneHalo(3), 2);
  auto step = [](shardrt_context *ctx) {
    std::vector<float> src(32), dst(48);
    return shardrt_exchange(ctx, 0, src.data(), dst.data(), nullptr);
  };
  std::thread other([&] { EXPECT_EQ(b.run(step, 200), SHARDRT_OK); });
  EXPECT_EQ(a.run(step, 200), SHARDRT_OK);
  other.join();
}

TEST(World, CountsBytesAndTime) {
  TestWorld world(oneHalo(4));
  // How often each has shown its block.
  std::atomic<int64_t> shown[4] = {};
  auto await = [&](int64_t rank, int64_t count) {
    while (shown[rank] < count)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  auto step = [&](shardrt_context *ctx) {
    std::vector<float> src(32), dst(48);
    int64_t rank = shardrt_rank(ctx), count = shown[rank] + 1;
    if (rank == 0) {
      for (int64_t other : {1, 2, 3})
        await(other, count);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    int64_t token = shardrt_exchange_start(ctx, 0, src.data());
    shown[rank] = count;
    await(0, count);
    return shardrt_exchange_wait(ctx, token, dst.data(), nullptr);
  };
  EXPECT_EQ(world.run(step, 5), SHARDRT_OK);
  shardrt_site_stats all = world.stats(0), first = world.stats(0, 0);
  EXPECT_EQ(all.count, 20);
  EXPECT_EQ(all.bytes_received, 5 * 6 * 8 * 4); // 6 rows travel in a step
  EXPECT_EQ(first.bytes_received, 5 * 8 * 4);
  // What rank 1 has of rank 0, it has 20 ms late, but works meanwhile; nobody
  // keeps rank 0 waiting.
  EXPECT_GE(world.stats(0, 1).overlap_ns, 5 * 20'000'000);
  EXPECT_EQ(first.overlap_ns, 0);
  EXPECT_GE(all.total_ns, all.wait_ns);
  shardrt_world_reset_stats(world.world);
  EXPECT_EQ(world.stats(0).count, 0);
  shardrt_site_stats none;
  EXPECT_EQ(shardrt_world_site_stats(world.world, 0, 1, &none), SHARDRT_USAGE);
  EXPECT_EQ(shardrt_world_site_stats(world.world, 4, 0, &none), SHARDRT_USAGE);
}

/// Rank 0 is `ms` late in each of three steps. Returns whether rank 1 came to
/// wait for it in the meantime.
static bool waitForRankZero(int64_t ms) {
  TestWorld world(oneHalo(3));
  std::atomic<int64_t> begun[3] = {};
  auto step = [&](shardrt_context *ctx) {
    std::vector<float> src(32), dst(48);
    int64_t rank = shardrt_rank(ctx), count = ++begun[rank];
    // After the others, wherever they are held up.
    for (int64_t other = 1; rank == 0 && other < 3; ++other)
      while (begun[other] < count)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (rank == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return shardrt_exchange(ctx, 0, src.data(), dst.data(), nullptr);
  };
  EXPECT_EQ(world.run(step, 3), SHARDRT_OK);
  shardrt_rank_stats slow = {}, next = {};
  EXPECT_EQ(shardrt_world_rank_stats(world.world, 0, &slow), SHARDRT_OK);
  EXPECT_EQ(shardrt_world_rank_stats(world.world, 1, &next), SHARDRT_OK);
  EXPECT_EQ(slow.steps, 3);
  EXPECT_EQ(next.steps, 3);
  // Rank 1 needs what rank 0 shows late; what is left is its own.
  EXPECT_GE(slow.total_ns - slow.wait_ns, 3 * ms * 1'000'000);
  bool waited = next.wait_ns >= ms * 1'000'000 &&
                next.total_ns - next.wait_ns < slow.total_ns - slow.wait_ns;
  // Steps that fail do not count.
  EXPECT_EQ(world.run([](shardrt_context *) { return 1; }), SHARDRT_REFUSED);
  EXPECT_EQ(shardrt_world_rank_stats(world.world, 1, &next), SHARDRT_OK);
  EXPECT_EQ(next.steps, 3);
  shardrt_world_reset_stats(world.world);
  EXPECT_EQ(shardrt_world_rank_stats(world.world, 1, &next), SHARDRT_OK);
  EXPECT_EQ(next.steps + next.total_ns + next.wait_ns, 0);
  EXPECT_EQ(shardrt_world_rank_stats(world.world, 3, &next), SHARDRT_USAGE);
  EXPECT_EQ(shardrt_world_rank_stats(world.world, 0, nullptr), SHARDRT_USAGE);
  return waited;
}

TEST(World, SaysWhatARankTookAndWhatOfThatItWaited) {
  whereTheMachineKeepsUp(30, waitForRankZero);
}

TEST(Memory, ArenaAndPoolAreKept) {
  TestWorld world(oneHalo(2));
  std::vector<std::vector<void *>> seen(2);
  EXPECT_EQ(world.run(
                [&](shardrt_context *ctx) {
                  std::vector<void *> &list = seen[shardrt_rank(ctx)];
                  void *arena = shardrt_arena(ctx, 10'000);
                  void *buffer = shardrt_alloc(ctx, 1000, "");
                  void *unfreed = shardrt_alloc(ctx, 5000, "");
                  std::memset(arena, 1, 10'000);
                  std::memset(buffer, 2, 1000);
                  std::memset(unfreed, 3, 5000);
                  for (void *p : {arena, buffer, unfreed}) {
                    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
                    list.push_back(p);
                  }
                  shardrt_free(ctx, buffer);
                  shardrt_free(ctx, nullptr);
                  return 0;
                },
                4),
            SHARDRT_OK);
  for (const std::vector<void *> &list : seen)
    for (size_t i = 3; i < list.size(); ++i)
      EXPECT_EQ(list[i], list[i - 3]);
  int64_t peak = shardrt_world_peak_bytes(world.world, 0);
  EXPECT_GE(peak, 16'000);
  EXPECT_LT(peak, 20'000);
  EXPECT_EQ(shardrt_world_peak_bytes(world.world, 2), -1);
}

TEST(Memory, WhatCannotBeHadFailsTheStep) {
  TestWorld world(oneHalo(2));
  for (bool arena : {false, true}) {
    EXPECT_EQ(world.run([&](shardrt_context *ctx) -> int {
      int64_t bytes = int64_t(1) << 60;
      void *p =
          arena ? shardrt_arena(ctx, bytes) : shardrt_alloc(ctx, bytes, "");
      return p ? 0 : SHARDRT_MEMORY;
    }),
              SHARDRT_MEMORY);
    EXPECT_NE(world.error().find("cannot get 1152921504606846976 bytes"),
              std::string::npos)
        << world.error();
  }
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    return shardrt_alloc(ctx, -1, "") ? 0 : int(SHARDRT_MEMORY);
  }),
            SHARDRT_MEMORY);
}

namespace {
/// What each rank of a task gets of the others.
struct Shown {
  std::vector<std::vector<int64_t>> got;
  int64_t failing = -1;
};
} // namespace

/// Every rank shows its number three times over to those above it.
static int showUpwards(shardrt_context *ctx, void *user) {
  auto &shown = *static_cast<Shown *>(user);
  int64_t rank = shardrt_rank(ctx), ranks = shardrt_num_ranks(ctx);
  if (rank == shown.failing)
    return shardrt_fail(ctx, SHARDRT_IO, "the disk is full");
  std::vector<int64_t> mine(3, rank), below, above;
  for (int64_t other = 0; other < ranks; ++other)
    if (other != rank)
      (other < rank ? below : above).push_back(other);
  return shardrt_show(
      ctx, mine.data(), rank == 0 ? 0 : 24, above.data(), above.size(),
      below.data(), below.size(),
      [](void *user, int64_t source, const void *data) {
        auto &got = *static_cast<std::vector<int64_t> *>(user);
        for (int64_t i = 0; i < (source == 0 ? 0 : 3); ++i)
          got.push_back(static_cast<const int64_t *>(data)[i]);
      },
      &shown.got[rank]);
}

TEST(World, TasksShowBytesAndFailTogether) {
  TestWorld world(oneHalo(4));
  for (int64_t round = 0; round < 3; ++round) {
    Shown shown{std::vector<std::vector<int64_t>>(4)};
    ASSERT_EQ(shardrt_world_call(world.world, &showUpwards, &shown), SHARDRT_OK)
        << world.error();
    EXPECT_EQ(shown.got[0], std::vector<int64_t>());
    EXPECT_EQ(shown.got[1], std::vector<int64_t>());
    EXPECT_EQ(shown.got[3], (std::vector<int64_t>{1, 1, 1, 2, 2, 2}));
    // Whoever fails ends the task for all, and the next one is another.
    Shown failing{std::vector<std::vector<int64_t>>(4), round};
    EXPECT_EQ(shardrt_world_call(world.world, &showUpwards, &failing),
              SHARDRT_IO);
    EXPECT_NE(world.error().find("rank " + std::to_string(round) +
                                 ": the disk is full"),
              std::string::npos)
        << world.error();
  }
}

TEST(World, TasksThatFailLeaveNoRankBehind) {
  // One rank in a hundred or so finds the failure while it opens another's
  // post; whoever fails waits for those who read.
  TestWorld world(oneHalo(4));
  for (int64_t round = 0; round < 400; ++round) {
    Shown failing{std::vector<std::vector<int64_t>>(4), round % 4};
    ASSERT_EQ(shardrt_world_call(world.world, &showUpwards, &failing),
              SHARDRT_IO)
        << "round " << round << ": " << world.error();
  }
}

//===- ShareTest.cpp - Threads of a rank, and traces ----------------------===//

#include "TestWorld.h"
#include <atomic>
#include <set>
#include <vector>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// Who was called how often, and by which thread.
struct Calls {
  std::vector<std::atomic<int>> counts;
  std::vector<std::thread::id> threads;
  explicit Calls(size_t parts) : counts(parts), threads(parts) {}
};
} // namespace

static void countPart(const void *env, int64_t part) {
  auto *calls = static_cast<Calls *>(const_cast<void *>(env));
  calls->threads[part] = std::this_thread::get_id();
  calls->counts[part].fetch_add(1);
}

TEST(Share, CallsEachPartOnceOnThreadsOfItsOwn) {
  TestWorld world(makeTable({3}, {}));
  ASSERT_EQ(world.run([](shardrt_context *ctx) {
    // Numbers of parts may differ from loop to loop.
    for (int64_t parts : {1, 2, 5, 3, 8, 1}) {
      Calls calls(parts);
      for (int repeat = 1; repeat <= 50; ++repeat) {
        shardrt_share(ctx, countPart, &calls, parts);
        for (int64_t part = 0; part < parts; ++part)
          EXPECT_EQ(calls.counts[part].load(), repeat);
      }
      EXPECT_EQ(calls.threads[0], std::this_thread::get_id());
      EXPECT_EQ(std::set(calls.threads.begin(), calls.threads.end()).size(),
                size_t(parts));
    }
    return 0;
  }),
            SHARDRT_OK);
  // A second run has the same threads.
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    Calls calls(4);
    shardrt_share(ctx, countPart, &calls, 4);
    for (std::atomic<int> &count : calls.counts)
      EXPECT_EQ(count.load(), 1);
    return 0;
  }),
            SHARDRT_OK);
}

static void addPart(const void *env, int64_t part) {
  // Sleeps now and then, so that those who wait do so as well.
  if (part % 2)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  static_cast<std::atomic<int64_t> *>(const_cast<void *>(env))->fetch_add(part);
}

TEST(Share, WaitsForWhoIsLate) {
  TestWorld world(makeTable({2}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    std::atomic<int64_t> sum = 0;
    for (int64_t i = 1; i <= 20; ++i) {
      shardrt_share(ctx, addPart, &sum, 6);
      EXPECT_EQ(sum.load(), 15 * i);
    }
    return 0;
  }),
            SHARDRT_OK);
}

/// A ring of `ranks` blocks of four elements, each from the next rank.
static SiteTable ring(int64_t ranks) {
  Intervals owned = cut(std::vector<int64_t>(ranks, 4)), needed = owned;
  std::rotate(needed.begin(), needed.begin() + 1, needed.end());
  return makeTable(
      {ranks}, {exchangeSite("ring", {4 * ranks}, {{0, {0}, owned, needed}}),
                allReduceSite(ElementType::F32, Reduction::Sum, {0})});
}

TEST(Trace, EventsAreWhatStatisticsAreTheSumsOf) {
  constexpr int64_t ranks = 3, steps = 4;
  SiteTable table = ring(ranks);
  table.sites[0].releasedLater = true;
  EncodedSites encoded = encodeSites(table);
  char error[256] = "";
  shardrt_program *program = nullptr;
  ASSERT_EQ(shardrt_program_create(callRankFunction, encoded.words.data(),
                                   encoded.words.size(), encoded.strings.data(),
                                   encoded.strings.size(), "{}", &program,
                                   error, sizeof(error)),
            SHARDRT_OK)
      << error;
  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.trace = 1;
  shardrt_world *world = nullptr;
  ASSERT_EQ(
      shardrt_world_create(program, &options, &world, error, sizeof(error)),
      SHARDRT_OK)
      << error;
  RankFunction step = [](shardrt_context *ctx) {
    float own[4] = {1, 2, 3, 4}, other[4], sum = 1;
    int64_t token = shardrt_exchange_start(ctx, 0, own);
    shardrt_mark(ctx, 7);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    shardrt_mark(ctx, 9);
    shardrt_mark_end(ctx, 4096, 77);
    if (int status = shardrt_exchange_wait(ctx, token, other, nullptr))
      return status;
    if (int status = shardrt_all_reduce(ctx, 1, &sum, &sum, 1))
      return status;
    return shardrt_exchange_release(ctx, 0);
  };
  void *input = &step;
  std::vector<void *const *> inputs(ranks, &input);
  ASSERT_EQ(shardrt_world_run(world, inputs.data(), inputs.data()), SHARDRT_OK);
  shardrt_world_reset_stats(world);
  ASSERT_EQ(shardrt_world_run_repeated(world, inputs.data(), inputs.data(),
                                       steps, nullptr),
            SHARDRT_OK);

  for (int64_t rank = 0; rank < ranks; ++rank) {
    const shardrt_trace_event *events = nullptr;
    int64_t dropped = -1;
    int64_t count = shardrt_world_trace(world, rank, &events, &dropped);
    // Of each step: two kernels, two sites, a release, itself.
    ASSERT_EQ(count, 6 * steps);
    EXPECT_EQ(dropped, 0);
    std::vector<shardrt_site_stats> sums(2);
    const int32_t kinds[] = {SHARDRT_TRACE_KERNEL,  SHARDRT_TRACE_KERNEL,
                             SHARDRT_TRACE_SITE,    SHARDRT_TRACE_SITE,
                             SHARDRT_TRACE_RELEASE, SHARDRT_TRACE_STEP};
    for (int64_t i = 0; i < count; ++i) {
      const shardrt_trace_event &event = events[i];
      EXPECT_EQ(event.kind, kinds[i % 6]);
      EXPECT_EQ(event.step, i / 6);
      EXPECT_LE(event.begin_ns, event.end_ns);
      EXPECT_TRUE(i == 0 || events[i - 1].end_ns <= event.end_ns);
      if (event.kind == SHARDRT_TRACE_KERNEL) {
        EXPECT_EQ(event.id, i % 6 == 0 ? 7 : 9);
        // Of the first nothing was said before the next began.
        EXPECT_EQ(event.bytes, i % 6 == 0 ? -1 : 4096);
        EXPECT_EQ(event.operations, i % 6 == 0 ? -1 : 77);
      }
      if (event.kind != SHARDRT_TRACE_SITE &&
          event.kind != SHARDRT_TRACE_RELEASE)
        continue;
      shardrt_site_stats &sum = sums[event.id];
      sum.count += event.kind == SHARDRT_TRACE_SITE;
      sum.bytes_received += event.bytes;
      sum.total_ns += event.post_ns + event.end_ns - event.begin_ns;
      sum.wait_ns += event.wait_ns;
      sum.overlap_ns += event.overlap_ns;
      if (event.kind == SHARDRT_TRACE_RELEASE) {
        EXPECT_EQ(event.id, 0);
        EXPECT_EQ(event.bytes, 0);
      } else if (event.id == 0) {
        // The first kernel ran in between.
        EXPECT_LE(event.posted_ns + event.post_ns, events[i - 2].begin_ns);
        EXPECT_LE(events[i - 2].end_ns, event.begin_ns);
      } else {
        EXPECT_EQ(event.posted_ns, event.begin_ns);
      }
    }
    for (int64_t site = 0; site < 2; ++site) {
      shardrt_site_stats stats;
      ASSERT_EQ(shardrt_world_site_stats(world, rank, site, &stats),
                SHARDRT_OK);
      EXPECT_EQ(sums[site].count, stats.count);
      EXPECT_EQ(sums[site].bytes_received, stats.bytes_received);
      EXPECT_EQ(sums[site].total_ns, stats.total_ns);
      EXPECT_EQ(sums[site].wait_ns, stats.wait_ns);
      EXPECT_EQ(sums[site].overlap_ns, stats.overlap_ns);
    }
    int64_t peers[4] = {-1, -1, -1, -1};
    EXPECT_EQ(shardrt_world_site_peers(world, rank, 0, peers, 4), 1);
    EXPECT_EQ(peers[0], (rank + 1) % ranks);
    EXPECT_EQ(shardrt_world_site_peers(world, rank, 1, peers, 4), ranks - 1);
    EXPECT_EQ(shardrt_world_site_peers(world, rank, 2, peers, 4), -1);
  }
  shardrt_world_destroy(world);
  shardrt_program_destroy(program);
}

TEST(Trace, ThereIsNoneUnlessItIsAskedFor) {
  TestWorld world(ring(2));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    shardrt_mark(ctx, 1);
    shardrt_mark_end(ctx, 4, 1);
    return 0;
  }),
            SHARDRT_OK);
  const shardrt_trace_event *events = nullptr;
  EXPECT_EQ(shardrt_world_trace(world.world, 0, &events, nullptr), -1);
  EXPECT_EQ(shardrt_world_trace(world.world, 5, &events, nullptr), -1);
  const char *name, *location;
  EXPECT_EQ(shardrt_program_num_kernels(world.program), 0);
  EXPECT_EQ(shardrt_program_kernel_info(world.program, 0, &name, &location),
            SHARDRT_USAGE);
}

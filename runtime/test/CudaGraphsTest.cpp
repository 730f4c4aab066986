//===- CudaGraphsTest.cpp - Steps of several ranks, recorded together -----===//

#include "ThreeSites.h"
#include <algorithm>
#include <cstdio>
#include <dlfcn.h>

using namespace shardrt;
using namespace shardrt::test;

namespace {
int fakeNumber(const char *name) {
  void *library = dlopen(SHARDRT_TEST_FAKE_CUDA, RTLD_NOW);
  int value = reinterpret_cast<int (*)()>(dlsym(library, name))();
  dlclose(library);
  return value;
}

/// arguments: destination, number of elements, value of the first, counter of
/// steps, which goes up.
void writeKernel(unsigned, unsigned, const int64_t *arguments) {
  auto *to = reinterpret_cast<int32_t *>(arguments[0]);
  int32_t step = ++*reinterpret_cast<int32_t *>(arguments[3]);
  for (int64_t i = 0; i < arguments[1]; ++i)
    to[i] = static_cast<int32_t>(100 * step + arguments[2] + i);
}

/// arguments: source, number of elements, value of the first and how much more
/// the next, how much more a step, counter of steps, counter of those that
/// differ.
void compareKernel(unsigned, unsigned, const int64_t *arguments) {
  auto *from = reinterpret_cast<const int32_t *>(arguments[0]);
  int32_t step = *reinterpret_cast<int32_t *>(arguments[5]);
  for (int64_t i = 0; i < arguments[1]; ++i)
    *reinterpret_cast<int32_t *>(arguments[6]) +=
        from[i] != arguments[2] + arguments[3] * i + arguments[4] * step;
}

struct Outcome {
  int status = 0;
  int launches = 0, downloads = 0;
  int64_t exchanges = 0, sums = 0;
  int32_t steps[3] = {}, wrong[3] = {};
  std::string error;
};

/// Each rank writes its block, gets its neighbours', and the sum of all.
struct Program {
  bool reads = false;   ///< rank 1 looks at its data in each step
  int64_t failsIn = -1; ///< rank 1 does, in this step
  bool inPlace = false; ///< the sum
  int64_t elements = 4; ///< of a block
  bool splits = false;  ///< the exchange, with work in between
  Way way = Way::CudaDirect;

  Outcome run(int64_t steps, TestWorld &world) {
    Outcome outcome;
    int64_t step[3] = {};
    int before = fakeNumber("fake_cuda_launches"),
        downloads = fakeNumber("fake_cuda_downloads");
    outcome.status = world.run(
        [&](shardrt_context *ctx) -> int {
          int64_t rank = shardrt_rank(ctx), n = elements;
          int64_t first = rank == 0 ? 0 : n * (rank - 1);
          int64_t size = rank == 1 ? 3 * n : 2 * n;
          // Fresh memory is -1. Buffers of results stay from step to step.
          void *counter = shardrt_stage_output(ctx, &outcome.steps[rank], 4);
          void *wrong = shardrt_stage_output(ctx, &outcome.wrong[rank], 4);
          void *block = shardrt_alloc(ctx, 4 * n, "");
          void *grown = shardrt_alloc(ctx, 4 * size, "");
          void *sum = inPlace ? block : shardrt_alloc(ctx, 4 * n, "");
          auto number = [](void *p) { return reinterpret_cast<int64_t>(p); };
          auto launch = [&](int64_t kernel, std::vector<int64_t> arguments) {
            return shardrt_launch(ctx, kernel, 1, 1, 1, arguments.data(),
                                  static_cast<int64_t>(arguments.size()));
          };
          int s = launch(0, {number(block), n, n * rank, number(counter)});
          if (!s && splits) {
            int64_t token = shardrt_exchange_start(ctx, 0, block);
            s = launch(1, {number(block), n, n * rank, 1, 100, number(counter),
                           number(wrong)});
            if (!s)
              s = shardrt_exchange_wait(ctx, token, grown, nullptr);
          } else if (!s) {
            s = shardrt_exchange(ctx, 0, block, grown, nullptr);
          }
          if (!s)
            s = launch(1, {number(grown), size, first, 1, 100, number(counter),
                           number(wrong)});
          if (!s)
            s = shardrt_all_reduce(ctx, 1, block, sum, n);
          if (!s)
            s = launch(1, {number(sum), n, n * 3, 3, 300, number(counter),
                           number(wrong)});
          int32_t value;
          if (!s && reads && rank == 1)
            s = shardrt_read(ctx, counter, &value, 4);
          if (!s && step[rank]++ == failsIn && rank == 1)
            s = shardrt_fail(ctx, SHARDRT_REFUSED, "as planned");
          return shardrt_stage_results(ctx, s);
        },
        steps);
    outcome.error = world.error();
    outcome.launches = fakeNumber("fake_cuda_launches") - before;
    outcome.downloads = fakeNumber("fake_cuda_downloads") - downloads;
    outcome.exchanges = world.stats(0).count;
    outcome.sums = world.stats(1).count;
    return outcome;
  }

  std::unique_ptr<TestWorld> make() {
    auto code = deviceFor(way);
    // Those of communication, and two of the program before them.
    static std::vector<fake_kernel> image;
    image = {{"write", writeKernel}, {"compare", compareKernel}};
    for (auto *kernel = static_cast<const fake_kernel *>(code->image);
         kernel->name; ++kernel)
      image.push_back(*kernel);
    image.push_back({nullptr, nullptr});
    code->image = image.data();
    code->kernels.insert(code->kernels.begin(),
                         {{1, "write", ""}, {1, "compare", ""}});
    int64_t n = elements;
    Intervals owned = cut({n, n, n});
    Site halo =
        exchangeSite("halo_exchange", {3 * n},
                     {{0, {0}, owned, {{0, 2 * n}, {0, 3 * n}, {n, 3 * n}}}},
                     ElementType::I32);
    return std::make_unique<TestWorld>(
        makeTable({3},
                  {halo, allReduceSite(ElementType::I32, Reduction::Sum, {0})}),
        0, timeoutMs, 2000, false, way, std::move(code));
  }
  int64_t timeoutMs = 60'000;
};

TEST(CudaGraphsOfRanks, ASteadyStepIsReplayedForAll) {
  // Small and large sums go different ways.
  for (Way way : {Way::CudaDirect, Way::CudaNccl})
    for (int64_t elements : {4, 3000})
      for (bool splits : {false, true})
        for (bool inPlace : {false, true}) {
          Program program;
          program.way = way;
          program.elements = elements;
          program.splits = splits;
          program.inPlace = inPlace;
          auto world = program.make();
          Outcome outcome = program.run(12, *world);
          EXPECT_EQ(outcome.status, SHARDRT_OK) << outcome.error;
          for (int rank = 0; rank < 3; ++rank) {
            EXPECT_EQ(outcome.steps[rank], 11);
            EXPECT_EQ(outcome.wrong[rank], -1);
          }
          EXPECT_EQ(outcome.exchanges, 3 * 12);
          EXPECT_EQ(outcome.sums, 3 * 12);
          // The first, the recorded one, and the last, of three ranks; a sum is
          // a kernel as well, where NCCL does not do it.
          EXPECT_EQ(outcome.launches,
                    3 * 3 * (3 + splits + (way == Way::CudaDirect)));
          // Results alone.
          EXPECT_EQ(outcome.downloads, 6);
          EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 0);
          // The next run begins anew.
          outcome = program.run(5, *world);
          EXPECT_EQ(outcome.status, SHARDRT_OK) << outcome.error;
          EXPECT_EQ(outcome.steps[2], 16);
          EXPECT_EQ(outcome.wrong[2], -1);
        }
}

TEST(CudaGraphsOfRanks, ItIsTheMarksThatOrderIt) {
  Setting forget("FAKE_CUDA_FORGET", "1");
  Program program;
  auto world = program.make();
  Outcome outcome = program.run(12, *world);
  EXPECT_EQ(outcome.status, SHARDRT_OK) << outcome.error;
  EXPECT_GT(outcome.wrong[0] + outcome.wrong[1] + outcome.wrong[2], -3);
}

TEST(CudaGraphsOfRanks, NoneIsWhereOneRankLooksAtItsData) {
  for (Way way : {Way::CudaDirect, Way::CudaNccl}) {
    Program program;
    program.way = way;
    program.reads = true;
    auto world = program.make();
    Outcome outcome = program.run(7, *world);
    EXPECT_EQ(outcome.status, SHARDRT_OK) << outcome.error;
    EXPECT_EQ(outcome.launches, 7 * 3 * (way == Way::CudaDirect ? 4 : 3));
    EXPECT_EQ(outcome.wrong[0], -1);
  }
}

TEST(CudaGraphsOfRanks, AMissingRankEndsAReplayOverNccl) {
  whereTheMachineKeepsUp(300, [](int64_t ms) {
    Program program;
    program.way = Way::CudaNccl;
    program.timeoutMs = ms;
    auto world = program.make();
    {
      // A step is two groups, so that this one is of the fifth step.
      Setting lost("FAKE_NCCL_LOSE", "1:9");
      EXPECT_EQ(program.run(12, *world).status, SHARDRT_WATCHDOG)
          << world->error();
    }
    // An earlier one waited for a rank that came late, so that none was
    // replayed.
    if (ms < 5000 && world->error().find("the work after") == std::string::npos)
      return false;
    EXPECT_NE(world->error().find("NCCL: the work after all_reduce #1"),
              std::string::npos)
        << world->error();
    auto start = std::chrono::steady_clock::now();
    Outcome outcome = program.run(12, *world);
    if (outcome.status != SHARDRT_OK && millisecondsSince(start) > double(ms))
      return false;
    EXPECT_EQ(outcome.status, SHARDRT_OK) << outcome.error;
    return true;
  });
}

TEST(CudaGraphsOfRanks, NorWithADriverThatRecordsNothing) {
  Setting none("FAKE_CUDA_GRAPHS", "0");
  Program program;
  auto world = program.make();
  Outcome outcome = program.run(7, *world);
  EXPECT_EQ(outcome.status, SHARDRT_OK) << outcome.error;
  EXPECT_EQ(outcome.launches, 7 * 3 * 4);
  EXPECT_EQ(outcome.wrong[1], -1);
}

TEST(CudaGraphsOfRanks, AStepThatFailsLeavesNothing) {
  for (int64_t step : {0, 1, 4}) {
    Program program;
    program.failsIn = step;
    auto world = program.make();
    Outcome outcome = program.run(6, *world);
    // A replayed step does not run the program.
    EXPECT_EQ(outcome.status, step == 4 ? SHARDRT_OK : SHARDRT_REFUSED);
    if (step < 2)
      EXPECT_EQ(outcome.error, "rank 1: as planned");
    EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 0);
    program.failsIn = -1;
    EXPECT_EQ(program.run(6, *world).status, SHARDRT_OK) << world->error();
  }
}
/// What the host takes for a step of a ring: not checked, as machines differ.
TEST(CudaGraphsOfRanks, DISABLED_HostCostOfARingStep) {
  constexpr int64_t sites = 16, steps = 200;
  auto code = deviceFor(Way::CudaDirect);
  static const fake_kernel image[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  code->kernels = {{1, "write", ""}};
  code->image = image;
  Intervals owned = cut({4, 4});
  Site site = exchangeSite("ring", {8}, {{0, {0}, owned, {{4, 8}, {0, 4}}}},
                           ElementType::I32);
  site.exchange.dims[0].needed = {{4, 8}, {0, 4}};
  TestWorld world(makeTable({2}, {site}), 0, 60'000, 0, false, Way::CudaDirect,
                  std::move(code));
  std::vector<double> ms(steps);
  int status = world.run(
      [&](shardrt_context *ctx) -> int {
        int32_t unused;
        void *counter = shardrt_stage_output(ctx, &unused, 4);
        void *block[2] = {shardrt_alloc(ctx, 16, ""),
                          shardrt_alloc(ctx, 16, "")};
        auto number = [](void *p) { return reinterpret_cast<int64_t>(p); };
        for (int64_t i = 0; i < sites; ++i) {
          int64_t token = shardrt_exchange_start(ctx, 0, block[i % 2]);
          int64_t arguments[] = {number(block[i % 2]), 0, 0, number(counter)};
          if (int s = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 4))
            return s;
          if (int s =
                  shardrt_exchange_wait(ctx, token, block[1 - i % 2], nullptr))
            return s;
        }
        return shardrt_stage_results(ctx, 0);
      },
      steps, ms.data());
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  std::sort(ms.begin() + 2, ms.end() - 1);
  std::printf(
      "a ring step of %lld: %.1f us of the host in the first step, %.2f us "
      "when it is replayed\n",
      static_cast<long long>(sites), 1000 * ms[0] / sites,
      1000 * ms[steps / 2] / sites);
}
} // namespace

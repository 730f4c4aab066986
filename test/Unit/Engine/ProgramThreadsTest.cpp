//===- ProgramThreadsTest.cpp - Programs from many threads, and on some ---===//

#include "Programs.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

using namespace shardc::test;

namespace {

TEST(Programs, RunFromManyThreadsAtOnce) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr one = compile(engine.get(), kAddMul),
             two = compile(engine.get(), kCentred);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      BufferPtr x = put(engine.get(), 0, std::vector<float>(4, t), {4}),
                a = put(engine.get(), 0, std::vector<float>(4, t), {4}),
                b = put(engine.get(), 1, std::vector<float>(3, t), {3});
      for (int i = 0; i < 200; ++i) {
        auto first = run(one.get(), {{x.get(), x.get()}});
        auto second = run(two.get(), {{a.get()}, {b.get()}});
        ASSERT_EQ(get(first[0][1].get()), std::vector<float>(4, t * t));
        ASSERT_EQ(get(second[1][0].get()), std::vector<float>(3, t - 7 * t));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Threads of this process.
int64_t countThreads() {
  int64_t threads = 0;
  if (std::FILE *file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file))
      if (std::sscanf(line, "Threads: %ld", &threads) == 1)
        break;
    std::fclose(file);
  }
  return threads;
}

/// Bytes of this process that lie in memory.
int64_t residentBytes() {
  long pages = 0, resident = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * 4096;
}

TEST(Programs, ShareTheThreadsOfTheDevices) {
  int64_t before = countThreads();
  EnginePtr engine = makeEngine(2);
  std::vector<ProgramPtr> programs;
  BufferPtr a = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            b = put(engine.get(), 1, {5, 6, 7}, {3});
  for (int i = 0; i < 20; ++i) {
    // A comment more, and it is another program.
    programs.push_back(
        compile(engine.get(), kCentred + ("// " + std::to_string(i))));
    run(programs.back().get(), {{a.get()}, {b.get()}});
  }
  // Two devices, and who watches that none waits for ever.
  EXPECT_LE(countThreads(), before + 3);
}

TEST(Programs, DoNotGrowFromCallToCall) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr one = compile(engine.get(), kAddMul),
             two = compile(engine.get(), kCentred);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            b = put(engine.get(), 1, {5, 6, 7}, {3});
  auto call = [&](int times) {
    for (int i = 0; i < times; ++i) {
      run(one.get(), {{x.get(), x.get()}});
      if (i % 8 == 0)
        run(two.get(), {{x.get()}, {b.get()}});
    }
  };
  call(1000);
  int64_t before = residentBytes();
  call(10000);
  EXPECT_LT(residentBytes() - before, 1 << 20);
}

/// A number in a line of /proc/self/status.
int64_t ownStatus(const std::string &field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":"))
      return std::strtoll(line.c_str() + field.size() + 1, nullptr, 10);
  return -1;
}

// SHARDC_TEST_PROGRAMS=2000 runs it with as many and prints what they take.
TEST(Programs, ShareThreads) {
  const char *asked = std::getenv("SHARDC_TEST_PROGRAMS");
  int64_t count = asked ? std::strtoll(asked, nullptr, 10) : 30;
  constexpr int64_t kRanks = 4;
  int64_t threadsBefore = ownStatus("Threads");
  EnginePtr engine = makeEngine(kRanks);
  std::vector<std::vector<BufferPtr>> kept(kRanks);
  std::vector<std::vector<shardc_buffer *>> arguments(kRanks);
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    kept[rank].push_back(
        put(engine.get(), rank, {float(rank), float(rank)}, {2}));
    arguments[rank].push_back(kept[rank][0].get());
  }
  std::vector<ProgramPtr> programs;
  auto runOne = [&](int64_t i) {
    std::vector<std::vector<BufferPtr>> results;
    ASSERT_GOOD(tryRun(programs[i].get(), arguments, results));
    // The sum of all is 12.
    for (int64_t rank = 0; rank < kRanks; ++rank)
      ASSERT_EQ(get(results[rank][0].get()),
                std::vector<float>(2, float(rank + i + 12)));
  };
  int64_t first = 0;
  for (int64_t i = 0; i < count; ++i) {
    programs.push_back(compile(engine.get(), R"mlir(
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %mine = stablehlo.constant dense<)mlir" + std::to_string(i) +
                                                 R"mlir(.0> : tensor<8xf32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %all = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %0 = stablehlo.add %x, %mine : tensor<8xf32>
    %1 = stablehlo.add %0, %all : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
})mlir"));
    ASSERT_TRUE(programs.back());
    ASSERT_NO_FATAL_FAILURE(runOne(i));
    // What the first of them make stays: the compiler's contexts.
    if (i == count / 10)
      first = ownStatus("VmRSS");
  }
  for (int64_t i = 0; i < count; ++i)
    ASSERT_NO_FATAL_FAILURE(runOne(i));
  int64_t threads = ownStatus("Threads") - threadsBefore;
  // One more may call back (shardc_event_on_ready).
  EXPECT_LE(threads, kRanks + 1);
  if (asked)
    std::printf("%lld programs of %lld ranks: %lld threads, %.1f KB of memory "
                "a program\n",
                (long long)count, (long long)kRanks, (long long)threads,
                double(ownStatus("VmRSS") - first) /
                    double(count - count / 10));
}

} // namespace

//===- ProgramsTest.cpp - Compiling and running ---------------------------===//

#include "Handles.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <sys/resource.h>
#include <thread>

using namespace shardc::test;

namespace {

const char *const kAddMul = R"mlir(
module @add_mul {
  func.func @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    %1 = stablehlo.multiply %x, %y : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
})mlir";

using Options = std::vector<shardc_option>;

shardc_error *tryCompile(shardc_engine *engine, const std::string &text,
                         const Options &options, ProgramPtr &program) {
  shardc_program *made = nullptr;
  shardc_error *error =
      shardc_compile(engine, text.data(), text.size(), "model.mlir",
                     options.data(), options.size(), &made);
  program.reset(made);
  return error;
}

ProgramPtr compile(shardc_engine *engine, const std::string &text,
                   const Options &options = {}) {
  ProgramPtr program;
  EXPECT_GOOD(tryCompile(engine, text, options, program));
  return program;
}

/// Runs `program` on `arguments[rank]`; fills `results[rank]`.
shardc_error *tryRun(shardc_program *program,
                     const std::vector<std::vector<shardc_buffer *>> &arguments,
                     std::vector<std::vector<BufferPtr>> &results,
                     const shardc_execute_options *options = nullptr,
                     EventPtr *done = nullptr) {
  size_t count = shardc_program_num_results(program);
  std::vector<std::vector<shardc_buffer *>> made(
      arguments.size(), std::vector<shardc_buffer *>(count));
  std::vector<shardc_buffer *const *> in;
  std::vector<shardc_buffer **> out;
  for (size_t rank = 0; rank < arguments.size(); ++rank) {
    in.push_back(arguments[rank].data());
    out.push_back(made[rank].data());
  }
  shardc_event *event = nullptr;
  shardc_error *error = shardc_execute(program, options, in.data(), out.data(),
                                       done ? &event : nullptr);
  results.clear();
  for (const auto &list : made)
    for (auto &into = results.emplace_back(); shardc_buffer *buffer : list)
      into.emplace_back(buffer);
  if (done)
    done->reset(event);
  return error;
}

std::vector<std::vector<BufferPtr>>
run(shardc_program *program,
    const std::vector<std::vector<shardc_buffer *>> &arguments) {
  std::vector<std::vector<BufferPtr>> results;
  EXPECT_GOOD(tryRun(program, arguments, results));
  return results;
}

TEST(Programs, ComputeOnOneDevice) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), kAddMul);
  ASSERT_TRUE(program);
  EXPECT_STREQ(shardc_program_name(program.get()), "add_mul");
  EXPECT_EQ(shardc_program_num_ranks(program.get()), 1);
  EXPECT_EQ(shardc_program_num_arguments(program.get()), 2);
  shardc_value value = {};
  value.size = sizeof(value);
  ASSERT_GOOD(shardc_program_argument(program.get(), 0, &value));
  EXPECT_STREQ(value.name, "x");
  EXPECT_EQ(value.num_dims, 1);
  EXPECT_EQ(value.dims[0], 4);
  EXPECT_FAILS(shardc_program_argument(program.get(), 2, &value), SHARDC_USAGE,
               "has 2");
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            y = put(engine.get(), 0, {10, 20, 30, 40}, {4});
  auto results = run(program.get(), {{x.get(), y.get()}});
  EXPECT_EQ(get(results[0][0].get()), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(get(results[0][1].get()), (std::vector<float>{10, 40, 90, 160}));
}

TEST(Programs, ComputeOnAnyDevice) {
  EnginePtr engine = makeEngine(3);
  ProgramPtr program = compile(engine.get(), kAddMul);
  BufferPtr x = put(engine.get(), 2, {1, 2, 3, 4}, {4});
  std::vector<std::vector<BufferPtr>> results;
  int64_t device = 2;
  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.devices = &device;
  ASSERT_GOOD(tryRun(program.get(), {{x.get(), x.get()}}, results, &options));
  EXPECT_EQ(shardc_buffer_device(results[0][0].get()), 2);
  EXPECT_EQ(get(results[0][1].get()), (std::vector<float>{1, 4, 9, 16}));
}

TEST(Programs, OmitEventsOfWhatIsDone) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), kAddMul);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  std::vector<std::vector<BufferPtr>> results;
  shardc_execute_options options = {};
  options.size = sizeof(options);
  EventPtr done;
  ASSERT_GOOD(
      tryRun(program.get(), {{x.get(), x.get()}}, results, &options, &done));
  EXPECT_TRUE(done);
  // What was short runs on this thread, sooner or later.
  options.omit_done = true;
  for (int run = 0; run < 10000 && done; ++run)
    ASSERT_GOOD(
        tryRun(program.get(), {{x.get(), x.get()}}, results, &options, &done));
  EXPECT_FALSE(done);
  EXPECT_EQ(get(results[0][1].get()), (std::vector<float>{1, 4, 9, 16}));
  options.omit_done = false;
  ASSERT_GOOD(
      tryRun(program.get(), {{x.get(), x.get()}}, results, &options, &done));
  EXPECT_TRUE(done);
}

TEST(Programs, CutUnevenlyOverTwoAndFourRanks) {
  EnginePtr engine = makeEngine(4);
  for (const char *mesh : {"x=2", "x=4"}) {
    ProgramPtr program = compile(engine.get(), kCentred, {{"mesh", mesh}});
    ASSERT_TRUE(program);
    int64_t ranks = mesh[2] - '0', total = 0;
    ASSERT_EQ(shardc_program_num_ranks(program.get()), ranks);
    std::vector<BufferPtr> shards;
    std::vector<std::vector<shardc_buffer *>> arguments;
    std::vector<int64_t> starts;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t start, size;
      ASSERT_GOOD(
          shardc_program_argument_box(program.get(), 0, rank, &start, &size));
      EXPECT_EQ(start, total);
      total += size;
      std::vector<float> values;
      for (int64_t i = start; i < start + size; ++i)
        values.push_back(i + 1);
      starts.push_back(start);
      shards.push_back(put(engine.get(), rank, values, {size}));
      arguments.push_back({shards.back().get()});
    }
    EXPECT_EQ(total, 7);
    auto results = run(program.get(), arguments);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(get(results[rank][1].get()), std::vector<float>{28});
      std::vector<float> values = get(results[rank][0].get());
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i], float(starts[rank]) + float(i) + 1 - 28);
    }
    // What was moved is known.
    shardc_site_stats stats = {};
    stats.size = sizeof(stats);
    ASSERT_EQ(shardc_program_num_sites(program.get()), 1);
    ASSERT_GOOD(shardc_program_site_stats(program.get(), 0, &stats));
    EXPECT_STREQ(stats.kind, "all_reduce");
    EXPECT_EQ(stats.count, ranks);
  }
}

// Runs and exchanges, of whoever ran while the trace was on.
TEST(Programs, AreTraced) {
  struct Noted {
    int64_t device;
    bool isExchange;
    std::string name;
    int64_t begin, end, wait, bytes;
  };
  using List = std::vector<Noted>;
  auto note = [](void *list, const shardc_trace_event *event) {
    static_cast<List *>(list)->push_back(
        {event->device, event->is_exchange != 0, event->name, event->begin_ns,
         event->end_ns, event->wait_ns, event->bytes});
  };
  EnginePtr engine = makeEngine(3);
  ProgramPtr cut = compile(engine.get(), kCentred),
             alone = compile(engine.get(), kAddMul);
  std::vector<BufferPtr> shards;
  shards.push_back(put(engine.get(), 1, {1, 2, 3, 4}, {4}));
  shards.push_back(put(engine.get(), 2, {5, 6, 7}, {3}));
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  auto runBoth = [&] {
    int64_t devices[] = {1, 2};
    shardc_execute_options options = {};
    options.size = sizeof(options);
    options.devices = devices;
    std::vector<std::vector<BufferPtr>> results;
    EXPECT_GOOD(tryRun(cut.get(), {{shards[0].get()}, {shards[1].get()}},
                       results, &options));
    EXPECT_EQ(get(results[1][1].get()), std::vector<float>{28});
    EXPECT_EQ(get(results[0][1].get()), std::vector<float>{28});
    auto sums = run(alone.get(), {{x.get(), x.get()}});
    EXPECT_EQ(get(sums[0][0].get())[3], 8);
  };
  List noted;
  EXPECT_FAILS(shardc_engine_trace_stop(engine.get(), note, &noted, nullptr),
               SHARDC_USAGE, "no trace is on");
  runBoth(); // not noted
  ASSERT_GOOD(shardc_engine_trace_start(engine.get()));
  EXPECT_FAILS(shardc_engine_trace_start(engine.get()), SHARDC_USAGE,
               "a trace is on");
  runBoth();
  int64_t dropped = -1;
  ASSERT_GOOD(shardc_engine_trace_stop(engine.get(), note, &noted, &dropped));
  EXPECT_EQ(dropped, 0);
  runBoth(); // nor that
  ASSERT_EQ(noted.size(), 5u);
  int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  for (int64_t device = 0; device < 3; ++device) {
    List mine;
    for (const Noted &event : noted)
      if (event.device == device)
        mine.push_back(event);
    ASSERT_EQ(mine.size(), device == 0 ? 1u : 2u);
    EXPECT_FALSE(mine[0].isExchange);
    EXPECT_EQ(mine[0].name, device == 0 ? "add_mul" : "");
    EXPECT_LE(mine[0].begin, mine[0].end);
    EXPECT_NEAR(double(mine[0].end), double(now), 60e9);
    if (device == 0)
      continue;
    EXPECT_TRUE(mine[1].isExchange);
    EXPECT_EQ(mine[1].name, "all_reduce");
    EXPECT_GE(mine[1].begin, mine[0].begin);
    EXPECT_LE(mine[1].end, mine[0].end);
    EXPECT_LE(mine[1].wait, mine[1].end - mine[1].begin);
    EXPECT_EQ(mine[1].bytes, 4); // the other's part of the sum
  }
}

TEST(Programs, WithoutAMeshAreComputedWholeByEachRank) {
  EnginePtr engine = makeEngine(3);
  ProgramPtr program = compile(engine.get(), kAddMul, {{"ranks", "3"}});
  ASSERT_EQ(shardc_program_num_ranks(program.get()), 3);
  std::vector<BufferPtr> buffers;
  std::vector<std::vector<shardc_buffer *>> arguments;
  for (int64_t rank = 0; rank < 3; ++rank) {
    buffers.push_back(put(engine.get(), rank, {1, 2, 3, 4}, {4}));
    arguments.push_back({buffers.back().get(), buffers.back().get()});
  }
  auto results = run(program.get(), arguments);
  for (int64_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(get(results[rank][1].get()), (std::vector<float>{1, 4, 9, 16}));
}

TEST(Programs, AreRefusedWithTheLineAndTheReason) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program;
  auto refused = [&](const std::string &text, const Options &options = {}) {
    return tryCompile(engine.get(), text, options, program);
  };
  EXPECT_FAILS(refused(""), SHARDC_REFUSED, "main");
  EXPECT_FAILS(refused("garbage"), SHARDC_REFUSED, "'garbage' is unknown");
  EXPECT_FAILS(refused("ML\xefR\x06garbage"), SHARDC_REFUSED, "");
  EXPECT_FAILS(refused("ML\xefR\x06garbage", {{"own", "true"}}), SHARDC_REFUSED,
               "");
  EXPECT_FAILS(
      refused(std::string(kAddMul).replace(120, 10, "%nothing, %"), {}),
      SHARDC_REFUSED, "model.mlir:");
  EXPECT_FAILS(
      refused("module { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
              "  %0 = magic.wand %a : tensor<4xf32>\n"
              "  return %0 : tensor<4xf32> } }"),
      SHARDC_UNSUPPORTED, "magic");
  EXPECT_FAILS(refused(kAddMul, {{"no-such", "1"}}), SHARDC_USAGE,
               "no option 'no-such'");
  EXPECT_FAILS(refused(kAddMul, {{"mesh", "x=0"}}), SHARDC_USAGE, "--mesh=x=0");
  EXPECT_FAILS(refused(kAddMul, {{"ranks", "many"}}), SHARDC_USAGE,
               "--ranks=many");
  EXPECT_FAILS(refused(kAddMul, {{"no-fallback", "perhaps"}}), SHARDC_USAGE,
               "true or false");
  EXPECT_FAILS(refused(kCentred, {{"mesh", "x=4"}}), SHARDC_USAGE, "4 ranks");
  EXPECT_FAILS(refused(kCentred, {{"ranks", "0"}}), SHARDC_USAGE, "--ranks=0");
  EXPECT_FALSE(program);
  EXPECT_FAILS(shardc_compile(nullptr, "", 0, "", nullptr, 0, nullptr),
               SHARDC_USAGE, "NULL");
}

TEST(Programs, NameTheArgumentThatIsWrong) {
  EnginePtr engine = makeEngine(2), other = makeEngine(1);
  ProgramPtr program = compile(engine.get(), kAddMul);
  BufferPtr good = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            shape = put(engine.get(), 0, {1, 2, 3, 4}, {2, 2}),
            device = put(engine.get(), 1, {1, 2, 3, 4}, {4}),
            foreign = put(other.get(), 0, {1, 2, 3, 4}, {4}),
            deleted = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  std::vector<int32_t> integers(4);
  std::vector<int64_t> dims = {4};
  shardc_host_data host = hostData(integers.data(), "i32", dims);
  shardc_buffer *made = nullptr;
  ASSERT_GOOD(shardc_buffer_from_host(engine.get(), 0, &host, &made));
  BufferPtr type(made);
  shardc_buffer_delete(deleted.get());
  std::vector<std::vector<BufferPtr>> results;
  auto refused = [&](shardc_buffer *x, shardc_buffer *y) {
    return tryRun(program.get(), {{x, y}}, results);
  };
  EXPECT_FAILS(refused(nullptr, good.get()), SHARDC_USAGE,
               "argument 0 (x) is NULL");
  EXPECT_FAILS(refused(good.get(), shape.get()), SHARDC_USAGE,
               "argument 1 is f32[2, 2], but the program takes f32[4]");
  EXPECT_FAILS(refused(type.get(), good.get()), SHARDC_USAGE,
               "argument 0 (x) is i32[4], but the program takes f32[4]");
  EXPECT_FAILS(refused(good.get(), device.get()), SHARDC_USAGE,
               "argument 1 is on device 1, but the rank runs on device 0");
  EXPECT_FAILS(refused(foreign.get(), good.get()), SHARDC_USAGE,
               "argument 0 (x) is a buffer of another engine");
  EXPECT_FAILS(refused(good.get(), deleted.get()), SHARDC_USAGE,
               "argument 1 has been deleted or donated");
  EXPECT_EQ(results[0][0], nullptr);
  EXPECT_FAILS(
      shardc_execute(program.get(), nullptr, nullptr, nullptr, nullptr),
      SHARDC_USAGE, "'arguments' is NULL");
  int64_t nowhere = 7;
  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.devices = &nowhere;
  EXPECT_FAILS(
      tryRun(program.get(), {{good.get(), good.get()}}, results, &options),
      SHARDC_USAGE, "rank 0: there is no device 7");
  ProgramPtr cut = compile(engine.get(), kCentred);
  std::vector<int64_t> twice = {1, 1};
  options.devices = twice.data();
  EXPECT_FAILS(
      tryRun(cut.get(), {{good.get()}, {good.get()}}, results, &options),
      SHARDC_USAGE, "device 1 is given to two ranks");
  // All else goes on.
  auto right = run(program.get(), {{good.get(), good.get()}});
  EXPECT_EQ(get(right[0][0].get()), (std::vector<float>{2, 4, 6, 8}));
}

TEST(Programs, TakeTheMemoryOfWhatIsGivenUp) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), kAddMul);
  shardc_memory_stats stats = {};
  stats.size = sizeof(stats);
  uint8_t donated[2] = {1, 0};
  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.donated = donated;
  BufferPtr x = put(engine.get(), 0, {1, 1, 1, 1}, {4}),
            one = put(engine.get(), 0, {1, 1, 1, 1}, {4});
  int64_t steady = 0;
  for (int step = 0; step < 100; ++step) {
    std::vector<std::vector<BufferPtr>> results;
    ASSERT_GOOD(
        tryRun(program.get(), {{x.get(), one.get()}}, results, &options));
    EXPECT_TRUE(shardc_buffer_is_deleted(x.get()));
    x = std::move(results[0][0]);
    results.clear();
    ASSERT_GOOD(shardc_engine_memory_stats(engine.get(), 0, &stats));
    if (step == 0)
      steady = stats.peak_bytes_in_use;
    EXPECT_EQ(stats.peak_bytes_in_use, steady);
  }
  EXPECT_EQ(get(x.get())[0], 101);
  // What was given up is not to be used again.
  std::vector<std::vector<BufferPtr>> results;
  ASSERT_GOOD(tryRun(program.get(), {{x.get(), one.get()}}, results, &options));
  EXPECT_FAILS(tryRun(program.get(), {{x.get(), one.get()}}, results),
               SHARDC_USAGE, "argument 0 (x) has been deleted or donated");
}

/// A step of training: the state is read by a product before it is written.
/// Seven rows over two ranks: four and three.
const char *const kTrain = R"mlir(
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%w: tensor<7x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.buffer_donor = true},
                  %m: tensor<7x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 1 : i32},
                  %x: tensor<64xf32>)
      -> (tensor<7x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
          tensor<7x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<f32>) {
    %half = stablehlo.constant dense<0.5> : tensor<7x64xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0]
        : (tensor<7x64xf32>, tensor<64xf32>) -> tensor<7xf32>
    %g = stablehlo.dot_general %y, %x, contracting_dims = [] x []
        : (tensor<7xf32>, tensor<64xf32>) -> tensor<7x64xf32>
    %h = stablehlo.multiply %m, %half : tensor<7x64xf32>
    %m1 = stablehlo.add %h, %g : tensor<7x64xf32>
    %w1 = stablehlo.subtract %w, %m1 : tensor<7x64xf32>
    %loss = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<7x64xf32>, tensor<f32>) -> tensor<f32>
    return %w1, %m1, %loss : tensor<7x64xf32>, tensor<7x64xf32>, tensor<f32>
  }
})mlir";

/// The state after `steps` steps of kTrain: w, then m.
std::pair<std::vector<float>, std::vector<float>> trained(int steps) {
  std::vector<float> w(7 * 64), m(7 * 64, 1);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = float(i % 5);
  for (int step = 0; step < steps; ++step)
    for (int row = 0; row < 7; ++row) {
      // x is 1/8 everywhere.
      float y = 0;
      for (int i = 0; i < 64; ++i)
        y += w[row * 64 + i] / 8;
      for (int i = row * 64; i < (row + 1) * 64; ++i) {
        m[i] = m[i] / 2 + y / 8;
        w[i] -= m[i];
      }
    }
  return {w, m};
}

TEST(Programs, WriteOverWhatIsGivenUp) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kTrain);
  for (int64_t result = 0; result < 3; ++result) {
    shardc_value value = {};
    value.size = sizeof(value);
    ASSERT_GOOD(shardc_program_result(program.get(), result, &value));
    EXPECT_EQ(value.donated, result < 2 ? result : -1);
  }
  auto [first, ones] = trained(0);
  std::vector<std::vector<BufferPtr>> state(2);
  for (int64_t rank = 0; rank < 2; ++rank) {
    int64_t begin = rank ? 4 * 64 : 0, rows = rank ? 3 : 4;
    std::vector<float> part(first.begin() + begin,
                            first.begin() + begin + rows * 64);
    state[rank].push_back(put(engine.get(), rank, part, {rows, 64}));
    state[rank].push_back(
        put(engine.get(), rank, std::vector<float>(rows * 64, 1), {rows, 64}));
    state[rank].push_back(
        put(engine.get(), rank, std::vector<float>(64, 0.125), {64}));
  }
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps; ++step) {
    // Somebody else looks at it in one step: then it is not written over.
    bool isShared = step == 3;
    shardc_buffer *copy = nullptr;
    std::vector<float> before;
    if (isShared) {
      before = get(state[0][0].get());
      ASSERT_GOOD(shardc_buffer_to_device(state[0][0].get(), 1, &copy));
    }
    BufferPtr seen(copy);
    std::vector<void *> places;
    std::vector<std::vector<shardc_buffer *>> arguments(2);
    for (int64_t rank = 0; rank < 2; ++rank)
      for (const BufferPtr &buffer : state[rank]) {
        arguments[rank].push_back(buffer.get());
        places.push_back(shardc_buffer_data(buffer.get()));
      }
    std::vector<std::vector<BufferPtr>> results;
    ASSERT_GOOD(tryRun(program.get(), arguments, results));
    for (int64_t rank = 0; rank < 2; ++rank)
      for (int64_t i = 0; i < 2; ++i) {
        bool isInPlace =
            shardc_buffer_data(results[rank][i].get()) == places[3 * rank + i];
        EXPECT_EQ(isInPlace, !(isShared && rank == 0 && i == 0));
        EXPECT_TRUE(shardc_buffer_is_deleted(state[rank][i].get()));
        state[rank][i] = std::move(results[rank][i]);
      }
    if (isShared)
      EXPECT_EQ(get(seen.get()), before);
  }
  auto [w, m] = trained(kSteps);
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t i = 0; i < 2; ++i) {
      std::vector<float> got = get(state[rank][i].get());
      const std::vector<float> &expected = i ? m : w;
      size_t begin = rank ? 4 * 64 : 0;
      ASSERT_EQ(got.size(), rank ? 3u * 64 : 4u * 64);
      for (size_t at = 0; at < got.size(); ++at)
        ASSERT_NEAR(got[at], expected[begin + at],
                    1e-4 * (1 + std::abs(expected[begin + at])))
            << rank << " " << i << " " << at;
    }
}

/// A random program of three donated 7x7 arguments and as many results.
std::string randomProgram(std::mt19937 &random, bool isDonated) {
  auto below = [&](size_t n) { return int(random() % n); };
  const std::string type = "tensor<7x7xf32>";
  std::string body;
  std::vector<std::string> values = {"%a0", "%a1", "%a2"};
  auto one = [&] { return values[below(values.size())]; };
  int count = 3 + below(8);
  for (int i = 0; i < count; ++i) {
    std::string name = "%v" + std::to_string(i), of = one(), by = one();
    std::string two = " : " + type + "\n", op;
    switch (below(9)) {
    case 0:
      op = "stablehlo.add " + of + ", " + by + two;
      break;
    case 1:
      op = "stablehlo.subtract " + of + ", " + by + two;
      break;
    case 2:
      op = "stablehlo.maximum " + of + ", " + by + two;
      break;
    case 3:
      op = "stablehlo.tanh " + of + two;
      break;
    case 4:
      op = "stablehlo.transpose " + of + ", dims = [1, 0] : (" + type +
           ") -> " + type + "\n";
      break;
    case 5:
      op = "stablehlo.reverse " + of + ", dims = [" + std::to_string(below(2)) +
           "]" + two;
      break;
    case 6:
      op = "stablehlo.dot_general " + of + ", " + by +
           ", contracting_dims = [1] x [0] : (" + type + ", " + type + ") -> " +
           type + "\n";
      break;
    case 7: {
      std::string from = std::to_string(below(5));
      body += "  " + name + "p = stablehlo.slice " + by + " [0:3, 2:5] : (" +
              type + ") -> tensor<3x3xf32>\n";
      body += "  " + name + "i = stablehlo.constant dense<" + from +
              "> : tensor<i32>\n";
      op = "stablehlo.dynamic_update_slice " + of + ", " + name + "p, " + name +
           "i, " + name + "i : (" + type +
           ", tensor<3x3xf32>, tensor<i32>, tensor<i32>) -> " + type + "\n";
      break;
    }
    default:
      body += "  " + name + "s = stablehlo.reduce(" + of +
              " init: %zero) applies stablehlo.add across dimensions = [" +
              std::to_string(below(2)) + "] : (" + type +
              ", tensor<f32>) -> tensor<7xf32>\n";
      op = "stablehlo.broadcast_in_dim " + name + "s, dims = [" +
           std::to_string(below(2)) + "] : (tensor<7xf32>) -> " + type + "\n";
    }
    body += "  " + name + " = " + op;
    values.push_back(name);
  }
  std::string cut = "sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>",
              arguments, types, results;
  for (int i = 0; i < 3; ++i) {
    std::string comma = i ? ", " : "";
    arguments +=
        comma + "%a" + std::to_string(i) + ": " + type + " {" + cut +
        (isDonated ? ", tf.aliasing_output = " + std::to_string(i) + " : i32}"
                   : "}");
    types += comma + type + " {" + cut + "}";
    results += comma + (below(4) ? values.back() : one());
    values.pop_back();
  }
  return "module {\n  sdy.mesh @mesh = <[\"x\"=2]>\n  func.func @main(" +
         arguments + ") -> (" + types +
         ") {\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n" + body +
         "  return " + results + " : " + type + ", " + type + ", " + type +
         "\n}\n}\n";
}

TEST(Programs, GiveTheSameInPlace) {
  EnginePtr engine = makeEngine(2);
  const char *asked = std::getenv("SHARDC_TEST_SEEDS");
  unsigned seeds = asked ? std::strtoul(asked, nullptr, 10) : 15;
  int64_t inPlace = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::vector<std::vector<float>> outcomes[2];
    for (bool isDonated : {false, true}) {
      std::mt19937 random(seed);
      std::string text = randomProgram(random, isDonated);
      ProgramPtr program = compile(engine.get(), text);
      ASSERT_TRUE(program) << text;
      std::vector<std::vector<BufferPtr>> kept(2);
      std::vector<std::vector<shardc_buffer *>> arguments(2);
      std::vector<void *> places;
      for (int64_t rank = 0; rank < 2; ++rank)
        for (int64_t i = 0; i < 3; ++i) {
          int64_t rows = rank ? 3 : 4;
          std::vector<float> values(rows * 7);
          for (size_t at = 0; at < values.size(); ++at)
            values[at] = float((at * 37 + i * 11 + rank * 5) % 23) / 23 - 0.4f;
          kept[rank].push_back(put(engine.get(), rank, values, {rows, 7}));
          arguments[rank].push_back(kept[rank].back().get());
          places.push_back(shardc_buffer_data(arguments[rank].back()));
        }
      std::vector<std::vector<BufferPtr>> results;
      ASSERT_GOOD(tryRun(program.get(), arguments, results));
      for (int64_t rank = 0; rank < 2; ++rank)
        for (int64_t i = 0; i < 3; ++i) {
          shardc_buffer *result = results[rank][i].get();
          outcomes[isDonated].push_back(get(result));
          inPlace += shardc_buffer_data(result) == places[3 * rank + i];
        }
    }
    std::mt19937 random(seed);
    ASSERT_EQ(outcomes[0], outcomes[1]) << randomProgram(random, true);
  }
  // Of six results a program; some read what they would overwrite.
  EXPECT_GT(inPlace, 2 * int64_t(seeds));
}

TEST(Programs, TakeNoMoreMemoryThanTheirState) {
  EnginePtr engine = makeEngine(1);
  // 8 MB of state, in two arrays.
  ProgramPtr program = compile(engine.get(), R"mlir(
    module {
      func.func @main(%w: tensor<1024x1024xf32> {tf.aliasing_output = 0 : i32},
                      %m: tensor<1024x1024xf32> {tf.aliasing_output = 1 : i32}, %g: tensor<1024xf32>)
          -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
        %all = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
        %m1 = stablehlo.add %m, %all : tensor<1024x1024xf32>
        %w1 = stablehlo.subtract %w, %m1 : tensor<1024x1024xf32>
        return %w1, %m1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
      }
    })mlir");
  constexpr int64_t kState = 2 * 4 * 1024 * 1024;
  BufferPtr w = put(engine.get(), 0, std::vector<float>(1 << 20, 5),
                    {1024, 1024}),
            m = put(engine.get(), 0, std::vector<float>(1 << 20, 0),
                    {1024, 1024}),
            g = put(engine.get(), 0, std::vector<float>(1024, 1), {1024});
  constexpr int kSteps = 10;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::vector<BufferPtr>> results;
    ASSERT_GOOD(tryRun(program.get(), {{w.get(), m.get(), g.get()}}, results));
    w = std::move(results[0][0]);
    m = std::move(results[0][1]);
  }
  EXPECT_EQ(get(m.get())[7], kSteps);
  EXPECT_EQ(get(w.get())[7], 5 - kSteps * (kSteps + 1) / 2);
  shardc_program_costs costs = {};
  costs.size = sizeof(costs);
  ASSERT_GOOD(shardc_program_get_costs(program.get(), &costs));
  shardc_memory_stats stats = {};
  stats.size = sizeof(stats);
  ASSERT_GOOD(shardc_engine_memory_stats(engine.get(), 0, &stats));
  EXPECT_LE(stats.peak_bytes_in_use,
            kState + costs.temporary_bytes + (64 << 10));
  EXPECT_LE(costs.temporary_bytes, 64 << 10);
}

/// Four floats of device 0 that are there once `ready` is set.
static void makeLater(shardc_engine *engine, EventPtr &ready,
                      BufferPtr &buffer) {
  shardc_event *event = nullptr;
  ASSERT_GOOD(shardc_event_create(&event));
  ready.reset(event);
  int64_t size = 4;
  shardc_buffer *later = nullptr;
  ASSERT_GOOD(shardc_buffer_create_later(engine, 0,
                                         shardc_element_type_named("f32"), 1,
                                         &size, ready.get(), &later));
  buffer.reset(later);
}

TEST(Programs, RunBehindWhatTheyWaitFor) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kAddMul);
  EventPtr ready;
  BufferPtr x;
  ASSERT_NO_FATAL_FAILURE(makeLater(engine.get(), ready, x));
  BufferPtr y = put(engine.get(), 0, {1, 1, 1, 1}, {4});
  std::vector<std::vector<BufferPtr>> first, second;
  EventPtr done;
  ASSERT_GOOD(
      tryRun(program.get(), {{x.get(), y.get()}}, first, nullptr, &done));
  ASSERT_GOOD(tryRun(program.get(), {{first[0][0].get(), y.get()}}, second));
  // Given up by its owner; the runs have it all the same.
  y.reset();
  EXPECT_FALSE(shardc_event_is_ready(done.get()));
  auto *memory = static_cast<float *>(shardc_buffer_data(x.get()));
  std::fill(memory, memory + 4, 5);
  shardc_event_set(ready.get(), nullptr);
  EXPECT_EQ(get(second[0][0].get()), (std::vector<float>{7, 7, 7, 7}));
  EXPECT_GOOD(shardc_event_await(done.get()));
}

namespace {
/// What is told of a run that is done.
struct Told {
  std::mutex mutex;
  std::vector<int> order;
  std::set<std::thread::id> threads;
  std::atomic<int> count{0};
};
struct Listener {
  Told *told;
  int number;
};
} // namespace

// JAX waits for each of hundreds of results of one run.
TEST(Programs, TellAllWhoWaitAwayFromTheDevice) {
  constexpr int kListeners = 400;
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kAddMul);
  EventPtr ready;
  BufferPtr x;
  ASSERT_NO_FATAL_FAILURE(makeLater(engine.get(), ready, x));
  std::vector<std::vector<BufferPtr>> results;
  ASSERT_GOOD(tryRun(program.get(), {{x.get(), x.get()}}, results));
  Told told;
  std::vector<Listener> listeners(kListeners);
  for (int i = 0; i < kListeners; ++i) {
    listeners[i] = {&told, i};
    EventPtr each(shardc_buffer_ready(results[0][i % 2].get()));
    shardc_event_on_ready(
        each.get(),
        [](shardc_error *error, void *user) {
          EXPECT_EQ(error, nullptr);
          auto *listener = static_cast<Listener *>(user);
          std::lock_guard lock(listener->told->mutex);
          listener->told->order.push_back(listener->number);
          listener->told->threads.insert(std::this_thread::get_id());
          ++listener->told->count;
        },
        &listeners[i]);
  }
  EXPECT_EQ(told.count, 0);
  auto *memory = static_cast<float *>(shardc_buffer_data(x.get()));
  std::fill(memory, memory + 4, 5);
  shardc_event_set(ready.get(), nullptr);
  while (told.count < kListeners)
    std::this_thread::yield();
  std::vector<int> inOrder(kListeners);
  std::iota(inOrder.begin(), inOrder.end(), 0);
  std::lock_guard lock(told.mutex);
  EXPECT_EQ(told.order, inOrder);
  EXPECT_EQ(told.threads.size(), 1u);
  EXPECT_FALSE(told.threads.contains(std::this_thread::get_id()));
}

TEST(Programs, FailWithTheirArguments) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), kAddMul);
  EventPtr ready;
  BufferPtr x;
  ASSERT_NO_FATAL_FAILURE(makeLater(engine.get(), ready, x));
  std::vector<std::vector<BufferPtr>> first, second, third;
  ASSERT_GOOD(tryRun(program.get(), {{x.get(), x.get()}}, first));
  ASSERT_GOOD(
      tryRun(program.get(), {{first[0][0].get(), first[0][1].get()}}, second));
  shardc_event_set(ready.get(), shardc_error_create(SHARDC_IO, "no such disk"));
  float values[4];
  EXPECT_FAILS(
      shardc_buffer_to_host(second[0][1].get(), values, nullptr, nullptr),
      SHARDC_IO, "no such disk");
  // Known by now.
  ASSERT_GOOD(
      tryRun(program.get(), {{second[0][0].get(), first[0][1].get()}}, third));
  EXPECT_FAILS(
      shardc_buffer_to_host(third[0][0].get(), values, nullptr, nullptr),
      SHARDC_IO, "no such disk");
  // And the device goes on.
  BufferPtr y = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  auto right = run(program.get(), {{y.get(), y.get()}});
  EXPECT_EQ(get(right[0][0].get()), (std::vector<float>{2, 4, 6, 8}));
}

TEST(Programs, TakeBuffersOfOtherDevicesOnceMoved) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kAddMul);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  int64_t device = 1;
  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.devices = &device;
  auto first = run(program.get(), {{x.get(), x.get()}});
  shardc_buffer *moved = nullptr;
  ASSERT_GOOD(shardc_buffer_to_device(first[0][0].get(), 1, &moved));
  BufferPtr there(moved);
  first.clear();
  uint8_t donated[2] = {1, 0};
  options.donated = donated;
  std::vector<std::vector<BufferPtr>> second;
  EXPECT_FAILS(
      tryRun(program.get(), {{there.get(), there.get()}}, second, &options),
      SHARDC_USAGE,
      "argument 0 (x) is donated, and argument 1 is the same array");
  EXPECT_FALSE(shardc_buffer_is_deleted(there.get()));
  BufferPtr y = put(engine.get(), 1, {2, 4, 6, 8}, {4});
  ASSERT_GOOD(
      tryRun(program.get(), {{there.get(), y.get()}}, second, &options));
  EXPECT_EQ(get(second[0][1].get()), (std::vector<float>{4, 16, 36, 64}));
  EXPECT_TRUE(shardc_buffer_is_deleted(there.get()));
}

TEST(Programs, GoInAnyOrderWithTheirEngine) {
  for (int order = 0; order < 6; ++order) {
    EnginePtr engine = makeEngine(2);
    ProgramPtr program = compile(engine.get(), kCentred);
    BufferPtr a = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
              b = put(engine.get(), 1, {5, 6, 7}, {3});
    auto results = run(program.get(), {{a.get()}, {b.get()}});
    if (order & 1)
      engine.reset();
    if (order & 2)
      program.reset();
    if (order & 4)
      results.clear();
    a.reset();
    program.reset();
    engine.reset();
  }
}

using CompilationPtr =
    std::unique_ptr<shardc_compilation, Destroyer<shardc_compilation_destroy>>;

CompilationPtr startCompiling(shardc_engine *engine, const std::string &text) {
  shardc_compilation *begun = nullptr;
  EXPECT_GOOD(shardc_compile_start(engine, text.data(), text.size(), "model.py",
                                   nullptr, 0, &begun));
  return CompilationPtr(begun);
}

/// A program that takes some seconds of processor time to compile.
std::string longProgram() {
  std::string text =
      "func.func @main(%v0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n";
  constexpr int steps = 400;
  for (int i = 0; i < steps; ++i)
    text += "%v" + std::to_string(i + 1) + " = \"stablehlo.sort\"(%v" +
            std::to_string(i) + ") <{dimension = " + std::to_string(i % 2) +
            R"( : i64}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %s = stablehlo.sine %a : tensor<f32>
  %r = stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %r : tensor<i1>
}) : (tensor<8x8xf32>) -> tensor<8x8xf32>
)";
  return text + "return %v" + std::to_string(steps) + " : tensor<8x8xf32>\n}";
}

/// Of this process, in seconds.
double processorTime() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

TEST(Compilations, GiveWhatCompilingGives) {
  EnginePtr engine = makeEngine(1);
  CompilationPtr compilation = startCompiling(engine.get(), kAddMul);
  while (!shardc_compilation_wait_for(compilation.get(), 1'000'000))
    ;
  shardc_program *made = nullptr;
  ASSERT_GOOD(shardc_compilation_finish(compilation.get(), &made));
  ProgramPtr program(made);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            y = put(engine.get(), 0, {10, 20, 30, 40}, {4});
  auto results = run(program.get(), {{x.get(), y.get()}});
  EXPECT_EQ(get(results[0][0].get()), (std::vector<float>{11, 22, 33, 44}));
  // The engine knows it now, as it does what shardc_compile made.
  compilation = startCompiling(engine.get(), kAddMul);
  EXPECT_TRUE(shardc_compilation_wait_for(compilation.get(), 0));
  ASSERT_GOOD(shardc_compilation_finish(compilation.get(), &made));
  EXPECT_EQ(made, program.get());
  shardc_program_destroy(made);

  compilation = startCompiling(engine.get(), "func.func @main(");
  EXPECT_FAILS(shardc_compilation_finish(compilation.get(), &made),
               SHARDC_REFUSED, "model.py:1");
  EXPECT_FAILS(shardc_compilation_finish(nullptr, &made), SHARDC_USAGE,
               "'compilation' is NULL");
  EXPECT_FAILS(
      shardc_compile_start(engine.get(), nullptr, 0, "", nullptr, 0, nullptr),
      SHARDC_USAGE, "'compilation' is NULL");
}

TEST(Compilations, EndSoonOnceNobodyWaits) {
  std::string text = longProgram();
  for (bool isLeft : {true, false}) {
    EnginePtr engine = makeEngine(1);
    double before = processorTime();
    CompilationPtr compilation = startCompiling(engine.get(), text);
    EXPECT_FALSE(shardc_compilation_wait_for(compilation.get(), 300'000'000));
    if (isLeft) {
      compilation.reset();
      // What is asked for next does not wait for it.
      EXPECT_TRUE(compile(engine.get(), kAddMul));
    }
    // Waits for the thread that compiles.
    engine.reset();
    EXPECT_LT(processorTime() - before, 2.5);
    shardc_program *made = nullptr;
    if (!isLeft)
      EXPECT_FAILS(shardc_compilation_finish(compilation.get(), &made),
                   SHARDC_USAGE, "engine has been destroyed");
  }
}

TEST(Compilations, FailOnceTheyAreCancelled) {
  EnginePtr engine = makeEngine(1);
  std::string text = longProgram();
  double before = processorTime();
  std::thread compiling([&] {
    shardc_program *made = nullptr;
    EXPECT_FAILS(shardc_compile(engine.get(), text.data(), text.size(), "long",
                                nullptr, 0, &made),
                 SHARDC_USAGE, "the compilation was cancelled");
  });
  // Before it has begun there is nothing to cancel.
  while (processorTime() - before < 0.2)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  shardc_engine_cancel_compilations(engine.get());
  compiling.join();
  EXPECT_TRUE(compile(engine.get(), kAddMul));
}

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

TEST(Programs, RunKernelsOnEmulatedDevices) {
  shardc_engine_options options = {};
  options.size = sizeof(options);
  options.devices = 2;
  options.target = "emulated-cuda";
  options.cache_directory = "";
  shardc_engine *made = nullptr;
  ASSERT_GOOD(shardc_engine_create(&options, &made));
  EnginePtr engine(made);
  ProgramPtr program = compile(engine.get(), kCentred);
  ASSERT_TRUE(program);
  BufferPtr a = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            b = put(engine.get(), 1, {5, 6, 7}, {3});
  for (int i = 0; i < 3; ++i) {
    auto results = run(program.get(), {{a.get()}, {b.get()}});
    EXPECT_EQ(get(results[1][0].get()), (std::vector<float>{-23, -22, -21}));
    EXPECT_EQ(get(results[0][1].get()), std::vector<float>{28});
  }
}

TEST(Programs, SayWhatIsGivenUp) {
  const char *text = R"mlir(
module {
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                  %z: tensor<4xf32> {jax.buffer_donor = true})
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    %1 = stablehlo.add %y, %z : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
})mlir";
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), text);
  ASSERT_TRUE(program);
  shardc_value value = {};
  value.size = sizeof(value);
  std::vector<int64_t> arguments, results;
  for (int64_t i = 0; i < 3; ++i) {
    ASSERT_GOOD(shardc_program_argument(program.get(), i, &value));
    arguments.push_back(value.donated);
  }
  for (int64_t i = 0; i < 2; ++i) {
    ASSERT_GOOD(shardc_program_result(program.get(), i, &value));
    results.push_back(value.donated);
  }
  EXPECT_EQ(arguments, (std::vector<int64_t>{-1, 1, 1}));
  EXPECT_EQ(results, (std::vector<int64_t>{-1, 1}));
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            y = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            z = put(engine.get(), 0, {1, 1, 1, 1}, {4});
  auto values = run(program.get(), {{x.get(), y.get(), z.get()}});
  EXPECT_EQ(get(values[0][1].get()), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_FALSE(shardc_buffer_is_deleted(x.get()));
  EXPECT_TRUE(shardc_buffer_is_deleted(y.get()));
  EXPECT_TRUE(shardc_buffer_is_deleted(z.get()));
}

/// A folder that goes with the test; the user's key is there too.
class Folder {
public:
  Folder() {
    path = testing::TempDir() + "shardc-engine-XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    setenv("XDG_CONFIG_HOME", path.c_str(), 1);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::vector<std::filesystem::path> files(const std::string &suffix) const {
    std::vector<std::filesystem::path> found;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(path))
      if (entry.path().string().ends_with(suffix))
        found.push_back(entry.path());
    return found;
  }
  std::string path;
};

EnginePtr makeCachingEngine(const std::string &folder) {
  shardc_engine_options options = {};
  options.size = sizeof(options);
  options.threads = 1;
  options.cache_directory = folder.c_str();
  shardc_engine *engine = nullptr;
  EXPECT_GOOD(shardc_engine_create(&options, &engine));
  return EnginePtr(engine);
}

std::vector<float> doubled(shardc_engine *engine, shardc_program *program) {
  BufferPtr x = put(engine, 0, {1, 2, 3, 4}, {4});
  return get(run(program, {{x.get(), x.get()}})[0][0].get());
}

TEST(Programs, AreFoundInTheCache) {
  Folder folder;
  std::string cache = folder.path + "/a/b";
  std::vector<float> right = {2, 4, 6, 8};
  {
    EnginePtr engine = makeCachingEngine(cache);
    ProgramPtr program = compile(engine.get(), kAddMul);
    EXPECT_EQ(doubled(engine.get(), program.get()), right);
  }
  auto files = folder.files(".program");
  ASSERT_EQ(files.size(), 1u);
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(files[0]).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(cache).permissions(), fs::perms(0700));
  auto before = fs::last_write_time(files[0]);
  // Found: used, and not written again.
  {
    EnginePtr engine = makeCachingEngine(cache);
    ProgramPtr program = compile(engine.get(), kAddMul);
    EXPECT_EQ(doubled(engine.get(), program.get()), right);
    EXPECT_STREQ(shardc_program_name(program.get()), "add_mul");
  }
  EXPECT_GT(fs::last_write_time(files[0]), before);
  EXPECT_EQ(folder.files(".program").size(), 1u);
  // Of other options it is another one.
  {
    EnginePtr engine = makeCachingEngine(cache);
    compile(engine.get(), kAddMul, {{"reproducible", "true"}});
    EXPECT_EQ(folder.files(".program").size(), 2u);
  }
  // What is damaged, or may be of others, is not used.
  for (int damage = 0; damage < 3; ++damage) {
    for (const fs::path &file : folder.files(".program")) {
      if (damage == 0) {
        std::fstream bytes(file, std::ios::in | std::ios::out);
        bytes.seekp(-1, std::ios::end);
        bytes.put('x');
      } else if (damage == 1) {
        fs::resize_file(file, 20);
      } else {
        fs::permissions(file, fs::perms(0666));
      }
    }
    EnginePtr engine = makeCachingEngine(cache);
    ProgramPtr program = compile(engine.get(), kAddMul);
    EXPECT_EQ(doubled(engine.get(), program.get()), right);
    EXPECT_EQ(fs::status(files[0]).permissions(), fs::perms(0600));
  }
}

/// The bytes of a file of test/.
std::string testFile(const std::string &path) {
  std::ifstream file(SHARDC_TEST_FOLDER "/" + path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// SHARDC_TEST_MUTANTS=N damages it in as many ways.
TEST(Programs, SurviveDamagedBytecode) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program;
  // In-process it ends the reader's process.
  EXPECT_FAILS(
      tryCompile(engine.get(),
                 testFile("Tools/shard-run/Inputs/crashes-the-reader.mlirbc"),
                 {}, program),
      SHARDC_REFUSED, "");
  const std::string whole = testFile("Python/Inputs/export_mlp.mlirbc");
  ASSERT_GOOD(tryCompile(engine.get(), whole, {}, program));
  const char *asked = std::getenv("SHARDC_TEST_MUTANTS");
  int count = asked ? std::atoi(asked) : 20, refused = 0;
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    std::string mutant = whole;
    for (unsigned changes = 1 + random() % 4; changes-- > 0;)
      switch (random() % 3) {
      case 0:
        mutant[4 + random() % (mutant.size() - 4)] = char(random());
        break;
      case 1:
        mutant[4 + random() % (mutant.size() - 4)] ^= char(1 << random() % 8);
        break;
      default:
        mutant.resize(8 + random() % (mutant.size() - 8));
      }
    ErrorPtr error(tryCompile(engine.get(), mutant, {}, program));
    refused += bool(error);
  }
  EXPECT_GT(refused, count / 2);
  ASSERT_GOOD(tryCompile(engine.get(), whole, {}, program));
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

/// Rises with each process that this one started and that has ended.
int64_t pagesOfChildren() {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_minflt;
}

TEST(Programs, ComeBackFromArtifacts) {
  Folder folder;
  const int64_t children = pagesOfChildren();
  EnginePtr engine = makeEngine(1);
  shardc_bytes bytes = {};
  {
    ProgramPtr program = compile(engine.get(), kAddMul);
    ASSERT_GOOD(shardc_program_serialize(program.get(), &bytes));
  }
  std::string artifact(bytes.data, bytes.size);
  shardc_bytes_free(&bytes);
  EXPECT_EQ(bytes.data, nullptr);
  auto load = [&](const std::string &from, ProgramPtr &program) {
    shardc_program *made = nullptr;
    shardc_error *error =
        shardc_program_load(engine.get(), from.data(), from.size(), &made);
    program.reset(made);
    return error;
  };
  ProgramPtr program;
  ASSERT_GOOD(load(artifact, program));
  EXPECT_EQ(doubled(engine.get(), program.get()),
            (std::vector<float>{2, 4, 6, 8}));
  EXPECT_NE(std::string(shardc_program_local_text(program.get())).find("add"),
            std::string::npos);
  // Once more from what was loaded.
  ASSERT_GOOD(shardc_program_serialize(program.get(), &bytes));
  EXPECT_EQ(std::string(bytes.data, bytes.size), artifact);
  shardc_bytes_free(&bytes);
  EXPECT_EQ(pagesOfChildren(), children) << "another process was started";
  // With another key its code is not used; what it carries is compiled.
  Folder other;
  ASSERT_GOOD(load(artifact, program));
  EXPECT_EQ(doubled(engine.get(), program.get()),
            (std::vector<float>{2, 4, 6, 8}));
  EXPECT_FAILS(load("nothing", program), SHARDC_ARTIFACT,
               "the artifact is refused: ");
  artifact[artifact.size() / 2] ^= 1;
  EXPECT_FAILS(load(artifact, program), SHARDC_ARTIFACT,
               "the artifact is refused: ");
}

TEST(Programs, CallTheHost) {
  // A callback as JAX's export writes it: index 0, doubles what it is given.
  const char *text = R"mlir(
module {
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x)
        {api_version = 4 : i32, backend_config = {index = 0 : ui64}}
        : (tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
})mlir";
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), text);
  ASSERT_TRUE(program);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3}, {3});
  shardc_execute_options options = {};
  options.size = sizeof(options);
  int calls = 0;
  options.host_user = &calls;
  options.host = [](void *user, const shardc_host_call *call, char *,
                    size_t) -> int {
    ++*static_cast<int *>(user);
    auto *from = static_cast<const float *>(call->operands[0].data);
    auto *to = static_cast<float *>(call->results[0].data);
    for (int i = 0; i < 3; ++i)
      to[i] = 2 * from[i];
    return SHARDC_OK;
  };
  std::vector<std::vector<BufferPtr>> results;
  ASSERT_GOOD(tryRun(program.get(), {{x.get()}}, results, &options));
  EXPECT_EQ(get(results[0][0].get()), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(calls, 1);
  options.host = [](void *, const shardc_host_call *, char *message,
                    size_t size) -> int {
    std::snprintf(message, size, "the callback raised");
    return SHARDC_REFUSED;
  };
  ASSERT_GOOD(tryRun(program.get(), {{x.get()}}, results, &options));
  float values[3];
  EXPECT_FAILS(
      shardc_buffer_to_host(results[0][0].get(), values, nullptr, nullptr),
      SHARDC_REFUSED, "the callback raised");
  ASSERT_GOOD(tryRun(program.get(), {{x.get()}}, results));
  EXPECT_FAILS(
      shardc_buffer_to_host(results[0][0].get(), values, nullptr, nullptr),
      SHARDC_UNSUPPORTED, "nobody answers");
}

TEST(Programs, AreNotCutByAuthorsWhoSayTooLittle) {
  const char *text = R"mlir(
module {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @CustomSPMDPartitioning(%a) {backend_config = "7", sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})mlir";
  auto refused = [&](shardc_partition_fn partition) {
    shardc_engine_options options = {};
    options.size = sizeof(options);
    options.devices = 1;
    options.cache_directory = "";
    options.partition = partition;
    shardc_engine *made = nullptr;
    EXPECT_GOOD(shardc_engine_create(&options, &made));
    EnginePtr engine(made);
    ProgramPtr program;
    return tryCompile(engine.get(), text, {}, program);
  };
  EXPECT_FAILS(refused([](void *, const shardc_partition_call *, char *,
                          size_t) -> int { return SHARDC_OK; }),
               SHARDC_REFUSED,
               "a call was not partitioned, and its author does not say why");
  // Once for each call.
  EXPECT_FAILS(refused([](void *, const shardc_partition_call *call, char *,
                          size_t) -> int {
                 for (int i = 0; i < 2; ++i)
                   call->answer(call, "module {}", 9, &call->operands[0].tiling,
                                &call->results[0].tiling);
                 return SHARDC_OK;
               }),
               SHARDC_REFUSED, "is partitioned with 2 shardings for 1 values");
  EXPECT_FAILS(refused([](void *, const shardc_partition_call *call, char *,
                          size_t) -> int {
                 call->answer(call, "module {}", 9, &call->operands[0].tiling,
                              &call->results[0].tiling);
                 return SHARDC_OK;
               }),
               SHARDC_REFUSED, "is partitioned to a program without @main");
}

} // namespace

//===- ProgramsTest.cpp - Compiling and running ---------------------------===//

#include "Programs.h"
#include <chrono>
#include <cstdio>

using namespace shardc::test;

namespace {

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

//===- DonationTest.cpp - Buffers that a run is given for good ------------===//

#include "Programs.h"
#include <cstdlib>
#include <random>

using namespace shardc::test;

namespace {

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

} // namespace

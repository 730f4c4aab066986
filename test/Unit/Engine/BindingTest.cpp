//===- BindingTest.cpp - Programs whose sizes are said when they run ------===//

#include "Handles.h"
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sys/resource.h>

using namespace shardc::test;

namespace {

/// Each element and the one before it, of 4,096 over `x`; and the sum of all.
const char *const kPairs = R"mlir(
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<3xf32>)
      -> (tensor<4096xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %moved = stablehlo.pad %x, %zero, low = [1], high = [-1], interior = [0]
        : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %pairs = stablehlo.add %x, %moved : tensor<4096xf32>
    %sum = stablehlo.reduce(%pairs init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
    return %pairs, %sum : tensor<4096xf32>, tensor<f32>
  }
})mlir";

ProgramPtr compile(shardc_engine *engine, const char *text, const char *dynamic,
                   const char *symbolic = nullptr) {
  std::vector<shardc_option> options;
  if (dynamic)
    options.push_back({"dynamic", dynamic});
  if (symbolic)
    options.push_back({"symbolic-mesh", symbolic});
  shardc_program *made = nullptr;
  EXPECT_GOOD(shardc_compile(engine, text, std::strlen(text), "model.mlir",
                             options.data(), options.size(), &made));
  return ProgramPtr(made);
}

/// Binds dim `dim` of argument `argument`.
shardc_error *tryBind(shardc_program *program, int64_t argument, int64_t dim,
                      const std::vector<int64_t> &sizes, ProgramPtr &bound) {
  shardc_sizes given = {argument, dim, static_cast<int64_t>(sizes.size()),
                        sizes.data()};
  shardc_binding binding = {};
  binding.size = sizeof(binding);
  binding.sizes = &given;
  binding.num_sizes = 1;
  shardc_program *made = nullptr;
  shardc_error *error = shardc_program_bind(program, &binding, &made);
  bound.reset(made);
  return error;
}

/// Elements 0, 1, …, of which rank r holds `sizes[r]`, and three zeros: what
/// `program` makes of them, and the sizes in which that comes.
std::vector<float> run(shardc_engine *engine, shardc_program *program,
                       const std::vector<int64_t> &sizes, float &sum) {
  std::vector<BufferPtr> kept;
  std::vector<std::vector<shardc_buffer *>> given(sizes.size());
  std::vector<std::array<shardc_buffer *, 2>> made(sizes.size());
  std::vector<shardc_buffer *const *> in;
  std::vector<shardc_buffer **> out;
  float next = 0;
  int64_t count = shardc_program_num_arguments(program);
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    std::vector<float> values;
    for (int64_t i = 0; i < sizes[rank]; ++i)
      values.push_back(next++);
    kept.push_back(put(engine, rank, values, {sizes[rank]}));
    given[rank].push_back(kept.back().get());
    if (count > 1) {
      kept.push_back(put(engine, rank, {0, 0, 0}, {3}));
      given[rank].push_back(kept.back().get());
    }
    in.push_back(given[rank].data());
    out.push_back(made[rank].data());
  }
  EXPECT_GOOD(shardc_execute(program, nullptr, in.data(), out.data(), nullptr));
  std::vector<float> all;
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    BufferPtr part(made[rank][0]), scalar(made[rank][1]);
    if (!part || !scalar)
      return all;
    for (float value : get(part.get()))
      all.push_back(value);
    sum = get(scalar.get())[0];
  }
  return all;
}

TEST(Binding, RunsOneCompilationOnAnySizes) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kCentred, "all");
  ASSERT_TRUE(program);
  for (const std::vector<int64_t> &sizes :
       std::vector<std::vector<int64_t>>{{5, 2}, {0, 7}, {7, 0}, {3, 4}}) {
    ProgramPtr bound;
    ASSERT_GOOD(tryBind(program.get(), 0, 0, sizes, bound));
    int64_t start = 0, size = 0;
    ASSERT_GOOD(shardc_program_result_box(bound.get(), 0, 1, &start, &size));
    EXPECT_EQ(start, sizes[0]);
    EXPECT_EQ(size, sizes[1]);
    float sum = 0;
    EXPECT_EQ(run(engine.get(), bound.get(), sizes, sum),
              (std::vector<float>{-21, -20, -19, -18, -17, -16, -15}));
    EXPECT_EQ(sum, 21);
  }
  // What it was compiled as is still balanced.
  float sum = 0;
  EXPECT_EQ(run(engine.get(), program.get(), {4, 3}, sum).size(), 7u);
  EXPECT_EQ(sum, 21);
}

TEST(Binding, SaysWhatIsWrongWithSizes) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kPairs, "0:0"), bound;
  ASSERT_TRUE(program);
  EXPECT_FAILS(tryBind(program.get(), 0, 0, {4000, 97}, bound), SHARDC_USAGE,
               "argument 0, dim 0: sizes [4000, 97] add up to 4097, expected "
               "4096");
  EXPECT_FALSE(bound);
  EXPECT_FAILS(tryBind(program.get(), 0, 0, {4096}, bound), SHARDC_USAGE,
               "argument 0, dim 0: 1 sizes [4096] for 2 shards");
  EXPECT_FAILS(tryBind(program.get(), 0, 0, {}, bound), SHARDC_USAGE,
               "argument 0, dim 0: no sizes are given");
  EXPECT_FAILS(tryBind(program.get(), 0, 0, {5000, -904}, bound), SHARDC_USAGE,
               "argument 0, dim 0: size -904 of shard 1 is negative");
  EXPECT_FAILS(tryBind(program.get(), 1, 0, {2, 1}, bound), SHARDC_USAGE,
               "argument 1, dim 0: its sizes were not left open");
  EXPECT_FAILS(tryBind(program.get(), 9, 0, {2, 1}, bound), SHARDC_USAGE,
               "argument 9, dim 0: its sizes were not left open");
  EXPECT_FAILS(tryBind(program.get(), -1, 0, {2, 1}, bound), SHARDC_USAGE,
               "argument -1, dim 0: its sizes were not left open");
  EXPECT_FAILS(tryBind(program.get(), 0, -1, {2, 1}, bound), SHARDC_USAGE,
               "argument 0, dim -1: its sizes were not left open");
  EXPECT_FAILS(tryBind(program.get(), 0, 0, {INT64_MAX, 1}, bound),
               SHARDC_USAGE,
               "argument 0, dim 0: size 1 of shard 1 makes the dim larger than "
               "2^63");
  shardc_binding binding = {};
  shardc_program *made = nullptr;
  EXPECT_FAILS(shardc_program_bind(program.get(), &binding, &made),
               SHARDC_USAGE, "'binding' has no size");
  const int64_t first[] = {4000, 96}, second[] = {96, 4000};
  shardc_sizes twice[] = {{0, 0, 2, first}, {0, 0, 2, second}};
  binding.size = sizeof(binding);
  binding.sizes = twice;
  binding.num_sizes = 2;
  EXPECT_FAILS(shardc_program_bind(program.get(), &binding, &made),
               SHARDC_USAGE, "argument 0, dim 0: its sizes are given twice");
  binding.sizes = nullptr;
  binding.size = sizeof(binding);
  binding.num_sizes = 1;
  EXPECT_FAILS(shardc_program_bind(program.get(), &binding, &made),
               SHARDC_USAGE, "'sizes' is NULL");
  EXPECT_FAILS(shardc_program_bind(nullptr, &binding, &made), SHARDC_USAGE,
               "'program' is NULL");
  ProgramPtr closed = compile(engine.get(), kPairs, nullptr);
  EXPECT_FAILS(tryBind(closed.get(), 0, 0, {4000, 96}, bound), SHARDC_USAGE,
               "no sizes of this program were left open");
}

TEST(Binding, KeepsTheLastOnes) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kPairs, "all"), first, again;
  ASSERT_GOOD(tryBind(program.get(), 0, 0, {1, 4095}, first));
  ASSERT_GOOD(tryBind(program.get(), 0, 0, {1, 4095}, again));
  EXPECT_EQ(first.get(), again.get());
  for (int64_t i = 2; i < 66; ++i)
    ASSERT_GOOD(tryBind(program.get(), 0, 0, {i, 4096 - i}, again));
  ASSERT_GOOD(tryBind(program.get(), 0, 0, {1, 4095}, again));
  EXPECT_NE(first.get(), again.get());
  // One that was forgotten runs as before, though its program is gone.
  program.reset();
  float sum = 0;
  EXPECT_EQ(run(engine.get(), first.get(), {1, 4095}, sum)[1], 1);
  EXPECT_EQ(sum, 4095.f * 4095.f);
}

TEST(Binding, WritesOverArgumentsWhereTheyAreAsLarge) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), R"mlir(
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                  %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32})
      -> tensor<8xf32> {
    %0 = stablehlo.add %x, %y : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
})mlir",
                               "all");
  ASSERT_TRUE(program);
  std::vector<int64_t> x = {6, 2}, y = {2, 6};
  for (bool isSame : {false, true}) {
    if (isSame)
      y = x;
    shardc_sizes given[] = {{0, 0, 2, x.data()}, {1, 0, 2, y.data()}};
    shardc_binding binding = {};
    binding.size = sizeof(binding);
    binding.sizes = given;
    binding.num_sizes = 2;
    shardc_program *made = nullptr;
    ASSERT_GOOD(shardc_program_bind(program.get(), &binding, &made));
    ProgramPtr bound(made);
    BufferPtr a = put(engine.get(), 0, {0, 1, 2, 3, 4, 5}, {6}),
              b = put(engine.get(), 1, {6, 7}, {2}),
              c = isSame ? put(engine.get(), 0, {9, 8, 7, 6, 5, 4}, {6})
                         : put(engine.get(), 0, {9, 8}, {2}),
              d = isSame ? put(engine.get(), 1, {3, 2}, {2})
                         : put(engine.get(), 1, {7, 6, 5, 4, 3, 2}, {6});
    shardc_buffer *first[] = {a.get(), c.get()}, *second[] = {b.get(), d.get()};
    shardc_buffer *const *in[] = {first, second};
    shardc_buffer *results[2] = {};
    shardc_buffer **out[] = {&results[0], &results[1]};
    ASSERT_GOOD(shardc_execute(bound.get(), nullptr, in, out, nullptr));
    BufferPtr e(results[0]), f(results[1]);
    std::vector<float> all;
    for (float value : get(e.get()))
      all.push_back(value);
    for (float value : get(f.get()))
      all.push_back(value);
    EXPECT_EQ(all, std::vector<float>(8, 9));
    EXPECT_TRUE(shardc_buffer_is_deleted(c.get()));
  }
}

/// Binds `program` to a mesh, and dim 0 of argument 0 to `sizes`, if any.
shardc_error *tryMesh(shardc_program *program, const std::vector<int64_t> &mesh,
                      const std::vector<int64_t> &sizes, ProgramPtr &bound) {
  shardc_sizes given = {0, 0, static_cast<int64_t>(sizes.size()), sizes.data()};
  shardc_binding binding = {};
  binding.size = sizeof(binding);
  binding.mesh = mesh.data();
  binding.num_axes = mesh.size();
  binding.sizes = &given;
  binding.num_sizes = sizes.empty() ? 0 : 1;
  shardc_program *made = nullptr;
  shardc_error *error = shardc_program_bind(program, &binding, &made);
  bound.reset(made);
  return error;
}

TEST(Binding, RunsOneCompilationOnAnyNumberOfRanks) {
  EnginePtr engine = makeEngine(5);
  ProgramPtr program = compile(engine.get(), kPairs, nullptr, "x"), bound;
  ASSERT_TRUE(program);
  EXPECT_EQ(shardc_program_num_ranks(program.get()), 2);
  for (const std::vector<int64_t> &sizes :
       std::vector<std::vector<int64_t>>{{4096},
                                         {1366, 1365, 1365},
                                         {0, 4000, 0, 0, 96},
                                         {1024, 1024, 1024, 1024},
                                         {2048, 2048}}) {
    auto ranks = static_cast<int64_t>(sizes.size());
    // Balanced sizes need not be said.
    bool isBalanced = sizes[0] - sizes.back() <= 1 && sizes[0] > 0;
    ASSERT_GOOD(tryMesh(program.get(), {ranks},
                        isBalanced ? std::vector<int64_t>() : sizes, bound));
    EXPECT_EQ(shardc_program_num_ranks(bound.get()), ranks);
    float sum = 0;
    std::vector<float> pairs = run(engine.get(), bound.get(), sizes, sum);
    ASSERT_EQ(pairs.size(), 4096u);
    for (size_t i = 0; i < pairs.size(); ++i)
      ASSERT_EQ(pairs[i], i == 0 ? 0.f : static_cast<float>(2 * i - 1))
          << "element " << i << " of " << ranks << " ranks";
    EXPECT_EQ(sum, 4095.f * 4095.f);
    // Sizes alone leave the mesh as it is.
    ProgramPtr other;
    std::vector<int64_t> all(sizes.size(), 0);
    all.back() = 4096;
    ASSERT_GOOD(tryBind(bound.get(), 0, 0, all, other));
    EXPECT_EQ(run(engine.get(), other.get(), all, sum)[4095], 4095 + 4094);
  }
}

TEST(Binding, SaysWhatIsWrongWithAMesh) {
  EnginePtr engine = makeEngine(3);
  ProgramPtr program = compile(engine.get(), kPairs, nullptr, "x"), bound;
  ASSERT_TRUE(program);
  EXPECT_FAILS(tryMesh(program.get(), {0}, {}, bound), SHARDC_USAGE,
               "axis \"x\": 0 ranks, expected at least 1");
  EXPECT_FAILS(tryMesh(program.get(), {3, 1}, {}, bound), SHARDC_USAGE,
               "a mesh of 2 axes for a program whose mesh has 1");
  EXPECT_FAILS(tryMesh(program.get(), {INT64_MAX}, {}, bound), SHARDC_USAGE,
               "more than 65536 ranks");
  EXPECT_FAILS(tryMesh(program.get(), {4}, {}, bound), SHARDC_USAGE,
               "the program has 4 ranks, but the engine has 3 devices");
  EXPECT_FAILS(tryMesh(program.get(), {3}, {4000, 96}, bound), SHARDC_USAGE,
               "argument 0, dim 0: 2 sizes [4000, 96] for 3 shards");
  EXPECT_FALSE(bound);
  ProgramPtr closed = compile(engine.get(), kPairs, "all");
  EXPECT_FAILS(tryMesh(closed.get(), {3}, {}, bound), SHARDC_USAGE,
               "axis \"x\": 3 ranks, but the program was compiled for 2");
  // It was compiled with two in mind, and runs where there is one.
  EnginePtr small = makeEngine(1);
  ProgramPtr one = compile(small.get(), kPairs, nullptr, "x");
  ASSERT_TRUE(one);
  ASSERT_GOOD(tryMesh(one.get(), {1}, {}, bound));
  float sum = 0;
  EXPECT_EQ(run(small.get(), bound.get(), {4096}, sum).size(), 4096u);
  EXPECT_EQ(sum, 4095.f * 4095.f);
}

TEST(Binding, SurvivesAnArtifact) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kCentred, "all"), bound;
  ASSERT_GOOD(tryBind(program.get(), 0, 0, {6, 1}, bound));
  shardc_bytes artifact = {};
  ASSERT_GOOD(shardc_program_serialize(bound.get(), &artifact));
  shardc_program *made = nullptr;
  ASSERT_GOOD(
      shardc_program_load(engine.get(), artifact.data, artifact.size, &made));
  shardc_bytes_free(&artifact);
  ProgramPtr loaded(made);
  ASSERT_GOOD(tryBind(loaded.get(), 0, 0, {0, 7}, bound));
  float sum = 0;
  EXPECT_EQ(run(engine.get(), bound.get(), {0, 7}, sum)[6], -15);
}

int64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

TEST(Balance, ChoosesSizesThatCanBeBound) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kPairs, "0:0");
  ASSERT_TRUE(program);
  shardc_rank_stats stats = {};
  stats.size = sizeof(stats);
  ASSERT_GOOD(shardc_program_rank_stats(program.get(), 1, &stats));
  EXPECT_EQ(stats.steps, 0);
  EXPECT_FAILS(shardc_program_rank_stats(program.get(), 2, &stats),
               SHARDC_USAGE, "there is no rank 2: the program has 2");
  shardc_balance *balance = nullptr;
  ASSERT_GOOD(shardc_balance_create(program.get(), &balance));
  double slow[] = {1e8, 3e8};
  bool moved = true;
  ASSERT_GOOD(shardc_balance_add(balance, slow, 2, &moved));
  EXPECT_FALSE(moved);
  ASSERT_GOOD(shardc_balance_add(balance, slow, 2, &moved));
  EXPECT_TRUE(moved);
  ASSERT_EQ(shardc_balance_num_sizes(balance), 1);
  shardc_sizes sizes;
  ASSERT_GOOD(shardc_balance_sizes(balance, 0, &sizes));
  EXPECT_EQ(sizes.argument, 0);
  EXPECT_EQ(sizes.num_shards, 2);
  EXPECT_GT(sizes.sizes[0], 2600);
  EXPECT_EQ(sizes.sizes[0] + sizes.sizes[1], 4096);
  shardc_binding binding = {sizeof(binding), &sizes, 1};
  shardc_program *made = nullptr;
  ASSERT_GOOD(shardc_program_bind(program.get(), &binding, &made));
  shardc_program_destroy(made);
  shardc_balance_state state = {};
  state.size = sizeof(state);
  ASSERT_GOOD(shardc_balance_get_state(balance, &state));
  EXPECT_EQ(state.moves, 1);
  EXPECT_FALSE(state.settled);
  EXPECT_DOUBLE_EQ(state.first_imbalance, 1.5);
  // Faster with the first sizes than with these.
  double worse[] = {9e8, 9e8};
  ASSERT_GOOD(shardc_balance_add(balance, worse, 2, &moved));
  ASSERT_GOOD(shardc_balance_add(balance, worse, 2, &moved));
  shardc_balance_settle(balance, &moved);
  ASSERT_GOOD(shardc_balance_sizes(balance, 0, &sizes));
  EXPECT_EQ(sizes.sizes[0], 2048);
  EXPECT_FAILS(shardc_balance_add(balance, slow, 3, nullptr), SHARDC_USAGE,
               "times of 3 ranks: the program has 2");
  double none[] = {1, NAN};
  EXPECT_FAILS(shardc_balance_add(balance, none, 2, nullptr), SHARDC_USAGE,
               "times of ranks are numbers of nanoseconds");
  EXPECT_FAILS(shardc_balance_sizes(balance, 1, &sizes), SHARDC_USAGE,
               "there are no sizes 1");
  shardc_balance_destroy(balance);
  ProgramPtr closed = compile(engine.get(), kPairs, nullptr);
  EXPECT_FAILS(shardc_balance_create(closed.get(), &balance), SHARDC_USAGE,
               "no dim that is cut was left open");
  EXPECT_EQ(balance, nullptr);
}

TEST(Binding, LeavesMemoryFlatAndTouchesNoFile) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kPairs, "all"), bound;
  int64_t before = 0;
  for (int64_t i = 0; i < 1200; ++i) {
    std::vector<int64_t> sizes = {i * 37 % 4097, 4096 - i * 37 % 4097};
    // No descriptor is left for a file, a pipe, or another process.
    rlimit files, none;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = files;
    none.rlim_cur = i < 200 ? files.rlim_cur : 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_GOOD(tryBind(program.get(), 0, 0, sizes, bound));
    if (i % 5 == 0) {
      float sum = 0;
      std::vector<float> pairs = run(engine.get(), bound.get(), sizes, sum);
      ASSERT_EQ(pairs.size(), 4096u);
      EXPECT_EQ(pairs[4095], 4095 + 4094);
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    if (i == 200)
      before = residentBytes();
  }
  EXPECT_LT(residentBytes() - before, int64_t(1) << 20);
}

} // namespace

//===- ResidentTest.cpp - Arguments and results that stay on devices ------===//

#include "TestWorld.h"
#include "shardrt/Devices.h"
#include <dlfcn.h>

using namespace shardrt;
using namespace shardrt::test;

namespace {
constexpr int64_t ranks = 2, elements = 300, bytes = 4 * elements;

int fakeNumber(const char *name) {
  void *library = dlopen(SHARDRT_TEST_FAKE_CUDA, RTLD_NOW);
  int value = reinterpret_cast<int (*)()>(dlsym(library, name))();
  dlclose(library);
  return value;
}

/// The result is the sum of the ranks' arguments. With `isLooking` rank 1
/// looks at it.
bool isLooking = false, isFailing = false;
int sumStep(shardrt_context *ctx, void *const *inputs, void *const *outputs) {
  const void *in = shardrt_stage_input(ctx, inputs[0], bytes);
  void *out = shardrt_stage_output(ctx, outputs[0], bytes);
  int32_t value;
  int status = in && out ? shardrt_all_reduce(ctx, 0, in, out, elements)
                         : int(SHARDRT_MEMORY);
  if (!status && isLooking && shardrt_rank(ctx) == 1)
    status = shardrt_read(ctx, out, &value, 4);
  if (!status && isFailing && shardrt_rank(ctx) == 1)
    status = shardrt_fail(ctx, SHARDRT_REFUSED, "as planned");
  return shardrt_stage_results(ctx, status);
}

/// Two ranks whose arguments and results lie in memory that outlives them.
class Resident : public testing::TestWithParam<Way> {
protected:
  void SetUp() override {
    isLooking = isFailing = false;
    EncodedSites encoded = encodeSites(makeTable(
        {ranks}, {allReduceSite(ElementType::I32, Reduction::Sum, {0})}));
    ASSERT_EQ(
        shardrt_program_create(sumStep, encoded.words.data(),
                               static_cast<int64_t>(encoded.words.size()),
                               encoded.strings.data(),
                               static_cast<int64_t>(encoded.strings.size()),
                               "{}", &program, error, sizeof(error)),
        SHARDRT_OK);
    auto code = deviceFor(GetParam());
    if (!isCuda())
      addCommunicationKernels(*code, /*isEmulated=*/true);
    const_cast<Program &>(*program->program).device = std::move(code);
    for (int64_t rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(shardrt_memory_open(!isCuda(), rank, &memories[rank], error,
                                    sizeof(error)),
                SHARDRT_OK)
          << error;
    ASSERT_NO_FATAL_FAILURE(open());
  }
  void TearDown() override {
    shardrt_world_destroy(world);
    for (const Buffers &buffers : given)
      for (int64_t rank = 0; rank < ranks; ++rank)
        shardrt_memory_free(memories[rank], buffers.data[rank]);
    for (shardrt_memory *memory : memories)
      shardrt_memory_close(memory);
    shardrt_program_destroy(program);
    EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 0);
    EXPECT_EQ(fakeNumber("fake_cuda_held"), 0);
    unsetenv("FAKE_CUDA_MEMORY");
    unsetenv("FAKE_CUDA_DEVICES");
  }
  bool isCuda() const { return GetParam() == Way::CudaDirect; }
  void open() {
    shardrt_world_options options = {};
    options.size = sizeof(options);
    options.transport = SHARDRT_TRANSPORT_DIRECT;
    options.memories = memories;
    options.num_inputs = options.num_outputs = 1;
    ASSERT_EQ(
        shardrt_world_create(program, &options, &world, error, sizeof(error)),
        SHARDRT_OK)
        << error;
  }

  /// A buffer of each rank.
  struct Buffers {
    void *data[ranks];
  };
  Buffers make() {
    Buffers made;
    for (int64_t rank = 0; rank < ranks; ++rank)
      made.data[rank] =
          shardrt_memory_allocate(memories[rank], bytes, error, sizeof(error));
    given.push_back(made);
    return made;
  }
  void write(const Buffers &to, int32_t first) {
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<int32_t> values(elements);
      for (int64_t i = 0; i < elements; ++i)
        values[i] = static_cast<int32_t>(first + 1000 * rank + i);
      EXPECT_EQ(shardrt_memory_write(memories[rank], to.data[rank],
                                     values.data(), bytes, error,
                                     sizeof(error)),
                SHARDRT_OK)
          << error;
    }
  }
  /// The number of elements that are not the sum of what was written.
  int wrong(const Buffers &from, int32_t first) {
    int count = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<int32_t> values(elements);
      EXPECT_EQ(shardrt_memory_read(memories[rank], values.data(),
                                    from.data[rank], bytes, error,
                                    sizeof(error)),
                SHARDRT_OK)
          << error;
      for (int64_t i = 0; i < elements; ++i)
        count += values[i] != 2 * first + 1000 + 2 * i;
    }
    return count;
  }
  int run(const Buffers &in, const Buffers &out, int64_t repeat = 1) {
    void *const *inputs[] = {&in.data[0], &in.data[1]};
    void *const *outputs[] = {&out.data[0], &out.data[1]};
    return shardrt_world_run_repeated(world, inputs, outputs, repeat, nullptr);
  }
  /// Summed over ranks.
  shardrt_device_counts counts() {
    shardrt_device_counts all = {};
    for (int64_t rank = 0; rank < ranks; ++rank) {
      shardrt_device_counts part;
      EXPECT_EQ(shardrt_world_device_counts(world, rank, &part), SHARDRT_OK);
      all.launches += part.launches;
      all.uploads += part.uploads;
      all.downloads += part.downloads;
      all.recorded += part.recorded;
      all.updated += part.updated;
      all.replayed += part.replayed;
    }
    return all;
  }

  shardrt_program *program = nullptr;
  shardrt_world *world = nullptr;
  shardrt_memory *memories[ranks] = {};
  std::vector<Buffers> given; ///< what `make` made
  char error[1024] = "";
};

TEST_P(Resident, CallsCopyNothing) {
  Buffers in = make(), out = make();
  for (int32_t call = 0; call < 5; ++call) {
    write(in, 7 * call);
    ASSERT_EQ(run(in, out), SHARDRT_OK) << shardrt_world_error(world);
    EXPECT_EQ(wrong(out, 7 * call), 0) << call;
  }
  EXPECT_EQ(counts().uploads, 0);
  EXPECT_EQ(counts().downloads, 0);
  shardrt_device_counts of;
  ASSERT_EQ(shardrt_memory_counts(memories[0], &of), SHARDRT_OK);
  EXPECT_EQ(of.uploads, 5);
  EXPECT_EQ(of.downloads, 5);
}

TEST_P(Resident, AResultIsTheNextCallsArgument) {
  // 2^k times the sum; and once in place.
  Buffers one = make(), other = make();
  write(one, 1);
  ASSERT_EQ(run(one, other), SHARDRT_OK);
  EXPECT_EQ(wrong(other, 1), 0);
  ASSERT_EQ(run(other, other), SHARDRT_OK);
  int32_t first;
  ASSERT_EQ(shardrt_memory_read(memories[1], &first, other.data[1], 4, error,
                                sizeof(error)),
            SHARDRT_OK);
  EXPECT_EQ(first, 2 * (2 * 1 + 1000));
  EXPECT_EQ(counts().uploads + counts().downloads, 0);
}

TEST_P(Resident, StepsOfTheSameAddressesAreReplayed) {
  Buffers in[2] = {make(), make()}, out = make();
  for (int32_t call = 0; call < 12; ++call) {
    write(in[call % 2], call);
    ASSERT_EQ(run(in[call % 2], out), SHARDRT_OK) << shardrt_world_error(world);
    EXPECT_EQ(wrong(out, call), 0) << call;
  }
  shardrt_site_stats stats;
  ASSERT_EQ(shardrt_world_site_stats(world, -1, 0, &stats), SHARDRT_OK);
  EXPECT_EQ(stats.count, 12 * ranks);
  // Each binding once as it is, once recorded, then replayed.
  EXPECT_EQ(counts().recorded, isCuda() ? 2 : 0);
  EXPECT_EQ(counts().replayed, isCuda() ? 8 : 0);
  EXPECT_EQ(counts().launches, isCuda() ? 4 * ranks : 12 * ranks);
}

TEST_P(Resident, SoAreStepsOfOneRun) {
  Buffers in = make(), out = make();
  write(in, 3);
  ASSERT_EQ(run(in, out, 6), SHARDRT_OK) << shardrt_world_error(world);
  EXPECT_EQ(wrong(out, 3), 0);
  ASSERT_EQ(run(in, out), SHARDRT_OK) << shardrt_world_error(world);
  EXPECT_EQ(counts().recorded, isCuda());
  EXPECT_EQ(counts().replayed, isCuda() ? 5 : 0);
}

TEST_P(Resident, GraphsAreUpdatedWhereAddressesAreMany) {
  std::vector<Buffers> in;
  Buffers out = make();
  for (int i = 0; i < 11; ++i)
    in.push_back(make());
  for (int round = 0; round < 4; ++round)
    for (int32_t i = 0; i < 11; ++i) {
      write(in[i], 100 * round + i);
      ASSERT_EQ(run(in[i], out), SHARDRT_OK) << shardrt_world_error(world);
      EXPECT_EQ(wrong(out, 100 * round + i), 0);
    }
  if (!isCuda())
    return;
  // Eight are kept: the one that is due was always given to another.
  EXPECT_EQ(counts().recorded, 33);
  EXPECT_EQ(counts().updated, 25);
  EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 8);
  // Drivers that cannot update make graphs anew.
  Setting none("FAKE_CUDA_UPDATES", "0");
  ASSERT_EQ(run(in[0], out), SHARDRT_OK) << shardrt_world_error(world);
  EXPECT_EQ(wrong(out, 300), 0);
  EXPECT_EQ(counts().updated, 25);
  EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 8);
}

TEST_P(Resident, AStepThatLooksAtItsDataIsDoneAnew) {
  isLooking = true;
  Buffers in = make(), out = make();
  for (int32_t call = 0; call < 4; ++call) {
    write(in, call);
    ASSERT_EQ(run(in, out), SHARDRT_OK) << shardrt_world_error(world);
    EXPECT_EQ(wrong(out, call), 0);
  }
  EXPECT_EQ(counts().recorded, 0);
  EXPECT_EQ(counts().launches, 4 * ranks);
}

TEST_P(Resident, AStepThatFailsLeavesNothing) {
  Buffers in = make(), out = make();
  for (int failing = 0; failing < 3; ++failing) {
    for (int call = 0; call < failing; ++call) {
      write(in, call);
      ASSERT_EQ(run(in, out), SHARDRT_OK) << shardrt_world_error(world);
      EXPECT_EQ(wrong(out, call), 0);
    }
    isFailing = true;
    int status = run(in, out);
    // A replayed step does not run the program.
    EXPECT_TRUE(status == SHARDRT_REFUSED ||
                (isCuda() && counts().replayed > 0));
    isFailing = false;
  }
}

TEST_P(Resident, AndOneThatIsRecordedNow) {
  Setting none("FAKE_CUDA_GRAPHS", "0");
  Buffers in = make(), out = make();
  for (int32_t call = 0; call < 3; ++call) {
    write(in, call);
    ASSERT_EQ(run(in, out), SHARDRT_OK) << shardrt_world_error(world);
    EXPECT_EQ(wrong(out, call), 0);
  }
  EXPECT_EQ(counts().replayed, 0);
}

TEST_P(Resident, MemoriesAreOfOneKindAndForEachRank) {
  shardrt_world_options options = {};
  options.size = sizeof(options);
  shardrt_memory *some[] = {memories[0], nullptr};
  options.memories = some;
  shardrt_world *refused = nullptr;
  EXPECT_EQ(
      shardrt_world_create(program, &options, &refused, error, sizeof(error)),
      SHARDRT_USAGE);
  EXPECT_STREQ(error, "memory of devices is for ranks of one process, whose "
                      "program has kernels, and of each of them");
  shardrt_memory *other = nullptr;
  setenv("SHARDRT_CUDA_LIBRARY", SHARDRT_TEST_FAKE_CUDA, 1);
  ASSERT_EQ(shardrt_memory_open(isCuda(), 0, &other, error, sizeof(error)),
            SHARDRT_OK)
      << error;
  shardrt_memory *mixed[] = {other, other};
  options.memories = mixed;
  EXPECT_EQ(
      shardrt_world_create(program, &options, &refused, error, sizeof(error)),
      SHARDRT_USAGE);
  EXPECT_STREQ(error, "the program's kernels are for another kind of device "
                      "than the memory of rank 0");
  shardrt_memory_close(other);
}

TEST_P(Resident, ElementsGoFromMemoryToMemory) {
  Buffers in = make();
  write(in, 5);
  ASSERT_EQ(shardrt_memory_copy(memories[1], in.data[1], memories[0],
                                in.data[0], bytes, error, sizeof(error)),
            SHARDRT_OK)
      << error;
  int32_t first;
  ASSERT_EQ(shardrt_memory_read(memories[1], &first, in.data[1], 4, error,
                                sizeof(error)),
            SHARDRT_OK);
  EXPECT_EQ(first, 5);
}

INSTANTIATE_TEST_SUITE_P(Devices, Resident,
                         testing::Values(Way::Direct, Way::CudaDirect),
                         [](const auto &info) {
                           return info.param == Way::Direct ? "Emulated"
                                                            : "Cuda";
                         });
} // namespace

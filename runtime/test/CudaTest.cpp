//===- CudaTest.cpp - Programs with kernels on a stand-in driver ----------===//

#include "TestWorld.h"
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

using namespace shardrt;
using namespace shardrt::test;

namespace {
class Cuda : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("SHARDRT_CUDA_LIBRARY", SHARDRT_TEST_FAKE_CUDA, 1);
  }
  void SetUp() override {
    library = dlopen(SHARDRT_TEST_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    ASSERT_EQ(loadUnsealed(SHARDRT_TEST_CUDA_ARTIFACT, &program, error,
                           sizeof(error)),
              SHARDRT_OK)
        << error;
  }
  void TearDown() override {
    shardrt_world_destroy(world);
    shardrt_program_destroy(program);
    // Whatever happened, nothing stays on the device.
    EXPECT_EQ(number<int>("fake_cuda_contexts"), 0);
    EXPECT_EQ(number<size_t>("fake_cuda_held"), 0u);
    reinterpret_cast<void (*)()>(dlsym(library, "fake_cuda_recover"))();
    dlclose(library);
  }
  template <typename T> T number(const char *name) {
    return reinterpret_cast<T (*)()>(dlsym(library, name))();
  }
  int create() {
    return shardrt_world_create(program, nullptr, &world, error, sizeof(error));
  }
  int run(int64_t repeat = 1) {
    for (int rank = 0; rank < 2; ++rank) {
      in[rank].assign(100, 0);
      out[rank].assign(100, 0);
      for (int i = 0; i < 100; ++i)
        in[rank][i] = 100 * rank + i + 1;
      inputs[rank][0] = in[rank].data();
      outputs[rank][0] = out[rank].data();
      outputs[rank][1] = &sum[rank];
    }
    void *const *allInputs[] = {inputs[0], inputs[1]};
    void *const *allOutputs[] = {outputs[0], outputs[1]};
    return shardrt_world_run_repeated(world, allInputs, allOutputs, repeat,
                                      nullptr);
  }

  void *library = nullptr;
  shardrt_program *program = nullptr;
  shardrt_world *world = nullptr;
  char error[1024] = "";
  std::vector<float> in[2], out[2];
  float sum[2] = {};
  void *inputs[2][1], *outputs[2][2];
};

TEST_F(Cuda, LaunchesReadsAndReduces) {
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  for (int64_t repeat : {1, 3}) {
    ASSERT_EQ(run(repeat), SHARDRT_OK) << shardrt_world_error(world);
    for (int rank = 0; rank < 2; ++rank) {
      for (int i = 0; i < 100; ++i)
        EXPECT_EQ(out[rank][i], 2.0f * (100 * rank + i + 1));
      EXPECT_EQ(sum[rank], 2.0f * (1 + 101));
    }
  }
  // Argument, results, and the two values that are combined.
  EXPECT_EQ(shardrt_world_peak_bytes(world, 0), 400 + 400 + 4 + 8);
}

TEST_F(Cuda, RanksShareDevicesInTurn) {
  Setting two("FAKE_CUDA_DEVICES", "2");
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  EXPECT_EQ(run(), SHARDRT_OK) << shardrt_world_error(world);
}

TEST_F(Cuda, NoDevice) {
  Setting none("FAKE_CUDA_DEVICES", "0");
  EXPECT_EQ(create(), SHARDRT_UNSUPPORTED);
  EXPECT_STREQ(error, "no CUDA device: the driver finds none");
}

TEST_F(Cuda, DeviceTooOld) {
  Setting old("FAKE_CUDA_CAPABILITY", "70");
  EXPECT_EQ(create(), SHARDRT_UNSUPPORTED);
  EXPECT_STREQ(
      error,
      "rank 0: CUDA device 'fake 0' is sm_70; kernels are for sm_80 and later");
}

TEST_F(Cuda, ImageForOtherGpus) {
  Setting refuse("FAKE_CUDA_REFUSE", "209");
  EXPECT_EQ(create(), SHARDRT_ARTIFACT);
  EXPECT_STREQ(error,
               "rank 0: CUDA device 'fake 0' (sm_90, driver for CUDA 12.4) "
               "cannot load the program's kernels, which are for sm_100a, "
               "sm_103a: CUDA_ERROR_NO_BINARY_FOR_GPU; compile it with "
               "--arch=sm_90\nno image for this GPU");
}

TEST_F(Cuda, OutOfMemory) {
  Setting little("FAKE_CUDA_MEMORY", "1000");
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  EXPECT_EQ(run(), SHARDRT_MEMORY);
  std::string said = shardrt_world_error(world);
  EXPECT_NE(said.find("cannot get 400 bytes for "), std::string::npos) << said;
  EXPECT_NE(said.find("getting 400 bytes, where "), std::string::npos) << said;
  EXPECT_NE(said.find(" of 1000 are free, failed: CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos)
      << said;
  // The process is as good as before.
  shardrt_world_destroy(world);
  world = nullptr;
  Setting more("FAKE_CUDA_MEMORY", "100000");
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  EXPECT_EQ(run(), SHARDRT_OK) << shardrt_world_error(world);
}

TEST_F(Cuda, AFaultNamesTheKernelAndItsLine) {
  Setting fault("FAKE_CUDA_FAULT", "1");
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  EXPECT_EQ(run(), SHARDRT_REFUSED);
  std::string said = shardrt_world_error(world);
  EXPECT_NE(said.find("failed: CUDA_ERROR_ILLEGAL_ADDRESS (last launch: kernel "
                      "'twice' (double.py:7))"),
            std::string::npos)
      << said;
}

//===----------------------------------------------------------------------===//
// From device to device
//===----------------------------------------------------------------------===//

/// arguments: destination, number of elements, value of the first.
void writeKernel(unsigned, unsigned, const int64_t *arguments) {
  auto *to = reinterpret_cast<int32_t *>(arguments[0]);
  for (int64_t i = 0; i < arguments[1]; ++i)
    to[i] = static_cast<int32_t>(arguments[2] + i);
}

/// arguments: source, number of elements, value of the first, counter of those
/// that differ.
void compareKernel(unsigned, unsigned, const int64_t *arguments) {
  auto *from = reinterpret_cast<const int32_t *>(arguments[0]);
  auto *wrong = reinterpret_cast<int32_t *>(arguments[3]);
  for (int64_t i = 0; i < arguments[1]; ++i)
    *wrong += from[i] != arguments[2] + i;
}

/// Kernels write, ranks exchange, kernels read, and the next step writes again:
/// the host waits for none of it, and the stand-in does work as late as it may.
/// Returns how many of the four variants went well.
int runInOrder() {
  int well = 0;
  static const fake_kernel image[] = {
      {"write", writeKernel}, {"compare", compareKernel}, {nullptr, nullptr}};
  for (bool inPlace : {false, true})
    for (bool split : {false, true}) {
      auto code = deviceFor(Way::CudaDirect);
      code->kernels = {{1, "write", ""}, {1, "compare", ""}};
      code->image = image;
      // Each rank owns 4 elements and needs all of its neighbours'.
      Intervals owned = cut({4, 4, 4});
      Site halo = exchangeSite("halo_exchange", {12},
                               {{0, {0}, owned, {{0, 8}, {0, 12}, {4, 12}}}},
                               ElementType::I32);
      halo.inPlace = inPlace;
      TestWorld world(makeTable({3}, {halo}), 0, 60'000, 0, false,
                      Way::CudaDirect, std::move(code));
      int status = world.run([&](shardrt_context *ctx) -> int {
        int64_t rank = shardrt_rank(ctx);
        int64_t first = rank == 0 ? 0 : 4 * (rank - 1);
        int64_t size = rank == 1 ? 12 : 8;
        auto *dst = static_cast<int32_t *>(shardrt_alloc(ctx, 4 * size, ""));
        auto *src = inPlace
                        ? dst + 4 * rank - first
                        : static_cast<int32_t *>(shardrt_alloc(ctx, 16, ""));
        auto *wrong = static_cast<int32_t *>(shardrt_alloc(ctx, 4, ""));
        int32_t zero = 0;
        ctx->device->upload(wrong, &zero, 4);
        auto launch = [&](int64_t kernel, std::vector<int64_t> arguments) {
          return shardrt_launch(ctx, kernel, 1, 1, 1, arguments.data(),
                                static_cast<int64_t>(arguments.size()));
        };
        auto number = [](void *p) { return reinterpret_cast<int64_t>(p); };
        for (int64_t step = 0; step < 20; ++step) {
          void *from = inPlace ? dst : src;
          if (int s = launch(0, {number(src), 4, 100 * step + 4 * rank}))
            return s;
          if (split) {
            int64_t token = shardrt_exchange_start(ctx, 0, from);
            // Work in between, in the destination, in memory of the pool and in
            // a buffer that the next exchange may have arrivals in.
            void *between = shardrt_alloc(ctx, 16, "");
            if (int s = launch(0, {number(between), 4, -1}))
              return s;
            if (int s = inPlace ? 0 : launch(0, {number(dst), size, -77}))
              return s;
            shardrt_free(ctx, between);
            if (int s = shardrt_exchange_wait(ctx, token, dst, nullptr))
              return s;
          } else if (int s = shardrt_exchange(ctx, 0, from, dst, nullptr)) {
            return s;
          }
          if (int s = launch(
                  1, {number(dst), size, 100 * step + first, number(wrong)}))
            return s;
        }
        int32_t count = -1;
        if (int s = shardrt_read(ctx, wrong, &count, 4))
          return s;
        return count == 0 ? SHARDRT_OK
                          : shardrt_fail(ctx, SHARDRT_REFUSED,
                                         std::to_string(count).c_str());
      });
      well += status == SHARDRT_OK;
    }
  return well;
}

// The memory of the host is its caller's again once a copy has been given up.
TEST(CudaDirect, CopiesThatAreGivenUpAreNotMadeLater) {
  TestWorld world(makeTable({1}, {}), 0, 60'000, 0, false, Way::CudaDirect);
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    Device &device = *ctx->device;
    float first = 1, second = 2, got = 0;
    void *there = shardrt_alloc(ctx, sizeof(float), "");
    EXPECT_TRUE(device.upload(there, &first, sizeof(float)));
    // The driver's first answer is that the stream is busy, the second that it
    // is not.
    auto giveUp = [](int64_t) { return false; };
    auto goOn = [](int64_t) { return true; };
    auto watch = std::exchange(device.watch, giveUp);
    EXPECT_FALSE(device.upload(there, &second, sizeof(float)));
    EXPECT_EQ(device.error,
              "gave up waiting for the work of CUDA device 'fake 0'");
    device.watch = goOn;
    EXPECT_TRUE(device.finish());
    device.watch = giveUp;
    EXPECT_FALSE(device.download(&got, there, sizeof(float)));
    device.watch = goOn;
    EXPECT_TRUE(device.finish());
    EXPECT_EQ(got, 0);
    EXPECT_TRUE(device.download(&got, there, sizeof(float)));
    EXPECT_EQ(got, 1);
    device.watch = watch;
    shardrt_free(ctx, there);
    return int(SHARDRT_OK);
  }),
            SHARDRT_OK)
      << world.error();
}

TEST(CudaDirect, WorkIsOrderedByMarks) {
  EXPECT_EQ(runInOrder(), 4);
  {
    // What arrives beside other work, as early as it may.
    Setting eager("FAKE_CUDA_EAGER", "1");
    EXPECT_EQ(runInOrder(), 4);
  }
  // It is the waits that make it so: without them all goes wrong.
  Setting forget("FAKE_CUDA_FORGET", "1");
  EXPECT_EQ(runInOrder(), 0);
}

/// A world of one rank with the kernel 'write' and `image`.
std::unique_ptr<TestWorld> worldOf(const void *image, int64_t bytes) {
  auto code = deviceFor(Way::CudaDirect);
  code->kernels = {{1, "write", "model.py:12"}};
  code->image = image;
  code->imageBytes = bytes;
  return std::make_unique<TestWorld>(makeTable({}, {}), 0, 60'000, 0, false,
                                     Way::CudaDirect, std::move(code));
}

//===----------------------------------------------------------------------===//
// Steps again
//===----------------------------------------------------------------------===//

/// arguments: a counter of int32, and what is added to it.
void countKernel(unsigned, unsigned, const int64_t *arguments) {
  *reinterpret_cast<int32_t *>(arguments[0]) +=
      static_cast<int32_t>(arguments[1]);
}

int fakeNumber(const char *name) {
  void *library = dlopen(SHARDRT_TEST_FAKE_CUDA, RTLD_NOW);
  int value = reinterpret_cast<int (*)()>(dlsym(library, name))();
  dlclose(library);
  return value;
}

/// What one rank counts in `steps` steps of `launches` kernels, with a look at
/// the counter in the middle of each, if `reads`.
struct Counted {
  int32_t count = -1;
  int launches = 0; ///< that the host made
  int64_t exchanges = 0;
};
Counted countSteps(int64_t steps, bool reads, bool fails = false) {
  static const fake_kernel image[] = {{"count", countKernel},
                                      {nullptr, nullptr}};
  auto code = deviceFor(Way::CudaDirect);
  code->kernels = {{1, "count", "model.py:3"}};
  code->image = image;
  // One that is counted: what is needed goes around the end.
  Site slice = exchangeSite(
      "slice", {8}, {{0, {}, {{0, 8}}, {{1, 9}}, shardc::Padding::Wrap}},
      ElementType::I32);
  TestWorld world(makeTable({}, {slice}), 0, 60'000, 0, false, Way::CudaDirect,
                  std::move(code));
  Counted result;
  int before = fakeNumber("fake_cuda_launches");
  int64_t step = 0;
  int status = world.run(
      [&](shardrt_context *ctx) -> int {
        // A result's buffer stays from step to step.
        void *counter = shardrt_stage_output(ctx, &result.count, 4);
        int32_t value = 0;
        if (step++ == 0)
          ctx->device->upload(counter, &value, 4);
        void *from = shardrt_alloc(ctx, 32, ""),
             *to = shardrt_alloc(ctx, 32, "");
        int64_t arguments[] = {reinterpret_cast<int64_t>(counter), 1};
        int s = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 2);
        if (!s && reads)
          s = shardrt_read(ctx, counter, &value, 4);
        if (!s && reads && value != 10 * step - 9)
          s = shardrt_fail(ctx, SHARDRT_REFUSED, "another value");
        if (!s && fails && step == 2)
          s = shardrt_fail(ctx, SHARDRT_REFUSED, "as planned");
        if (!s)
          s = shardrt_exchange(ctx, 0, from, to, nullptr);
        arguments[1] = 9;
        if (!s)
          s = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 2);
        return shardrt_stage_results(ctx, s);
      },
      steps);
  EXPECT_EQ(status, fails ? SHARDRT_REFUSED : SHARDRT_OK) << world.error();
  result.launches = fakeNumber("fake_cuda_launches") - before;
  result.exchanges = world.stats(0).count;
  return result;
}

TEST(CudaGraphs, ASteadyStepIsReplayed) {
  Counted counted = countSteps(12, /*reads=*/false);
  EXPECT_EQ(counted.count, 120);
  EXPECT_EQ(counted.exchanges, 12);
  // The first, the recorded one, and the last.
  EXPECT_EQ(counted.launches, 6);
  EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 0);
}

TEST(CudaGraphs, AStepThatLooksAtItsDataIsNot) {
  Counted counted = countSteps(7, /*reads=*/true);
  EXPECT_EQ(counted.count, 70);
  EXPECT_EQ(counted.launches, 14);
  EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 0);
}

TEST(CudaGraphs, NeitherAreAFewStepsNorThoseOfAnOldDriver) {
  for (int64_t steps : {1, 2})
    EXPECT_EQ(countSteps(steps, false).count, 10 * steps);
  Setting none("FAKE_CUDA_GRAPHS", "0");
  Counted counted = countSteps(5, false);
  EXPECT_EQ(counted.count, 50);
  EXPECT_EQ(counted.launches, 10);
}

TEST(CudaGraphs, AStepThatFailsWhileItIsRecordedLeavesNothing) {
  countSteps(5, false, /*fails=*/true);
  EXPECT_EQ(fakeNumber("fake_cuda_graphs"), 0);
}

// The op, the bytes, what was before, and who holds most; then the process goes
// on.
TEST(CudaErrors, OutOfMemoryNamesOpAndHolders) {
  static const fake_kernel image[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  {
    auto world = worldOf(image, sizeof(image));
    int status = world->run([](shardrt_context *ctx) -> int {
      void *buffer = shardrt_alloc(ctx, 64, "sort at model.py:3");
      shardrt_alloc(ctx, 1000, "gather at model.py:5");
      shardrt_alloc(ctx, 500, "gather at model.py:5");
      shardrt_arena(ctx, 256);
      int64_t arguments[] = {reinterpret_cast<int64_t>(buffer), 16, 0};
      if (int s = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 3))
        return s;
      return shardrt_alloc(ctx, 1'000'000'000, "dot_general at model.py:7")
                 ? SHARDRT_OK
                 : SHARDRT_MEMORY;
    });
    EXPECT_EQ(status, SHARDRT_MEMORY);
    EXPECT_EQ(
        world->error(),
        "rank 0: cannot get 1000000000 bytes for a buffer of dot_general at "
        "model.py:7: CUDA device 'fake 0': getting 1000000000 bytes, where "
        "99998180 of 100000000 are free, failed: CUDA_ERROR_OUT_OF_MEMORY "
        "(last launch: kernel 'write' (model.py:12)); this rank holds 1500 "
        "bytes in buffers of gather at model.py:5, 256 in its arena, 64 in "
        "buffers of sort at model.py:3");
  }
  auto world = worldOf(image, sizeof(image));
  EXPECT_EQ(world->run([](shardrt_context *ctx) -> int {
    return shardrt_alloc(ctx, 64, "") ? SHARDRT_OK : SHARDRT_MEMORY;
  }),
            SHARDRT_OK)
      << world->error();
}

// Buffers that nobody uses any more make room before anything is refused.
TEST(CudaErrors, IdleBuffersMakeRoom) {
  static const fake_kernel image[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  auto world = worldOf(image, sizeof(image));
  EXPECT_EQ(world->run([](shardrt_context *ctx) -> int {
    for (int64_t bytes : {40'000'000, 50'000'000, 95'000'000}) {
      void *buffer = shardrt_alloc(ctx, bytes, "");
      if (!buffer)
        return SHARDRT_MEMORY;
      shardrt_free(ctx, buffer);
    }
    return SHARDRT_OK;
  }),
            SHARDRT_OK)
      << world->error();
}

/// What `device` says when a world is made whose kernels it has to load.
std::string refusalOf(std::unique_ptr<DeviceCode> code) {
  setenv("SHARDRT_CUDA_LIBRARY", SHARDRT_TEST_FAKE_CUDA, 1);
  TestWorld host(makeTable({}, {}));
  const_cast<Program &>(*host.program->program).device = std::move(code);
  shardrt_world *none = nullptr;
  char error[512] = "";
  EXPECT_EQ(
      shardrt_world_create(host.program, nullptr, &none, error, sizeof(error)),
      SHARDRT_ARTIFACT);
  return error;
}

/// What begins as a fatbin does, for the stand-in to refuse.
const uint32_t fatbin[4] = {0xba55ed50, 0x00100001, 0, 0};

TEST(CudaImages, RanksOfOneGpuLoadKernelsOnce) {
  static const fake_kernel image[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  for (int devices : {1, 2}) {
    auto code = deviceFor(Way::CudaDirect);
    Setting few("FAKE_CUDA_DEVICES", std::to_string(devices).c_str());
    code->kernels = {{1, "write", "model.py:12"}};
    code->image = image;
    code->imageBytes = sizeof(image);
    int before = fakeNumber("fake_cuda_modules");
    {
      TestWorld world(makeTable({4}, {}), 0, 60'000, 0, false, Way::CudaDirect,
                      std::move(code));
      EXPECT_EQ(fakeNumber("fake_cuda_modules") - before, devices);
    }
    EXPECT_EQ(fakeNumber("fake_cuda_modules"), before);
  }
}

TEST(CudaImages, PtxIsTakenWhereTheDriverRefusesTheFatbin) {
  static const fake_kernel ptx[] = {{"write", writeKernel}, {nullptr, nullptr}};
  for (const char *result : {"200", "209", "222"}) {
    Setting refuse("FAKE_CUDA_REFUSE_FATBIN", result);
    auto code = deviceFor(Way::CudaDirect);
    code->kernels = {{1, "write", "model.py:12"}};
    code->image = fatbin;
    code->imageBytes = sizeof(fatbin);
    code->texts = {{"sm_80", reinterpret_cast<const char *>(ptx)}};
    TestWorld world(makeTable({2}, {}), 0, 60'000, 0, false, Way::CudaDirect,
                    std::move(code));
    int status = world.run([](shardrt_context *ctx) -> int {
      void *buffer = shardrt_alloc(ctx, 64, "");
      int64_t arguments[] = {reinterpret_cast<int64_t>(buffer), 16, 40};
      int32_t last = 0;
      if (int s = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 3))
        return s;
      if (int s = shardrt_read(ctx, static_cast<int32_t *>(buffer) + 15, &last,
                               sizeof(last)))
        return s;
      shardrt_free(ctx, buffer);
      return last == 55 ? SHARDRT_OK : SHARDRT_REFUSED;
    });
    EXPECT_EQ(status, SHARDRT_OK) << world.error();
  }
}

// The one of this GPU's own features; else the newest that it takes. What is
// lost is said.
TEST(CudaImages, PtxOfTheSameFeaturesIsTaken) {
  static const fake_kernel plain[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  static const fake_kernel own[] = {
      {"write", writeKernel}, {"compare", compareKernel}, {nullptr, nullptr}};
  Setting refuse("FAKE_CUDA_REFUSE_FATBIN", "222");
  auto notesOn = [&](const char *capability,
                     std::vector<const char *> targets) -> std::string {
    Setting gpu("FAKE_CUDA_CAPABILITY", capability);
    auto code = deviceFor(Way::CudaDirect);
    code->kernels = {
        {1, "write", ""},
        {1, "compare", "", 0, 0, DeviceCode::OfSomeGpus},
    };
    code->image = fatbin;
    code->imageBytes = sizeof(fatbin);
    code->archs = "sm_80, sm_90a, sm_100a";
    code->toolkit = "13.0";
    for (std::string target : targets)
      code->texts.push_back({target, reinterpret_cast<const char *>(
                                         target == "sm_90a" ? own : plain)});
    TestWorld world(makeTable({2}, {}), 0, 60'000, 0, false, Way::CudaDirect,
                    std::move(code));
    return shardrt_world_notes(world.world, 0);
  };
  const std::string refused =
      "refuses what CUDA 13.0 assembled (CUDA_ERROR_UNSUPPORTED_PTX_VERSION) "
      "and takes the PTX for ";
  EXPECT_EQ(notesOn("90", {"sm_80", "sm_100a", "sm_90a"}),
            "CUDA device 'fake 0' (sm_90): its driver, for CUDA 12.4, " +
                refused +
                "sm_90a in its place: no kernel is lost; update the driver\n");
  std::string lost =
      " in its place: 1 of 2 kernels, which are for this GPU, are "
      "not in it: others do their work, more slowly; update the "
      "driver\n";
  EXPECT_EQ(notesOn("90", {"sm_100a", "sm_80"}),
            "CUDA device 'fake 0' (sm_90): its driver, for CUDA 12.4, " +
                refused + "sm_80" + lost);
  EXPECT_EQ(notesOn("86", {"sm_80", "sm_90a", "sm_90"}),
            "CUDA device 'fake 0' (sm_86): its driver, for CUDA 12.4, " +
                refused +
                "sm_80 in its place: no kernel is lost; update the driver\n");
  EXPECT_EQ(notesOn("89", {"sm_80", "sm_86"}).find("sm_86 in its place"),
            notesOn("89", {"sm_86", "sm_80"}).find("sm_86 in its place"));
}

// Without ptxas there is PTX alone: of the GPU's own features where there is
// such.
TEST(CudaImages, TextOfTheSameFeaturesIsTaken) {
  static const fake_kernel plain[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  static const fake_kernel own[] = {
      {"write", writeKernel}, {"compare", compareKernel}, {nullptr, nullptr}};
  static const char image[] = "//\n.version 7.0\n.target sm_80\n";
  auto notesOn = [&](const char *capability, bool hasOwn) -> std::string {
    Setting gpu("FAKE_CUDA_CAPABILITY", capability);
    auto code = deviceFor(Way::CudaDirect);
    code->kernels = {
        {1, "write", ""},
        {1, "compare", "", 0, 0, DeviceCode::OfSomeGpus},
    };
    code->image = image;
    code->imageBytes = sizeof(image);
    code->archs = "sm_80, sm_90a";
    code->texts = {{"sm_80", reinterpret_cast<const char *>(plain)}};
    if (hasOwn)
      code->texts.push_back({"sm_90a", reinterpret_cast<const char *>(own)});
    TestWorld world(makeTable({2}, {}), 0, 60'000, 0, false, Way::CudaDirect,
                    std::move(code));
    return shardrt_world_notes(world.world, 0);
  };
  EXPECT_EQ(notesOn("90", true), "");
  EXPECT_EQ(notesOn("89", true), "");
  EXPECT_EQ(notesOn("90", false),
            "CUDA device 'fake 0' (sm_90): takes the PTX for sm_80: 1 of 2 "
            "kernels, which are for this GPU, are not in it: others do their "
            "work, more slowly\n");
}

TEST(CudaImages, WhatIsNotForThisGpuIsSaid) {
  static const fake_kernel image[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  auto notesOn = [&](const char *capability) -> std::string {
    Setting gpu("FAKE_CUDA_CAPABILITY", capability);
    auto code = deviceFor(Way::CudaDirect);
    code->kernels = {{1, "write", ""}};
    code->image = image;
    code->imageBytes = sizeof(image);
    code->archs = "sm_80";
    TestWorld world(makeTable({2}, {}), 0, 60'000, 0, false, Way::CudaDirect,
                    std::move(code));
    return shardrt_world_notes(world.world, 0);
  };
  EXPECT_EQ(notesOn("90"),
            "CUDA device 'fake 0' is sm_90, kernels are for sm_80 and use a "
            "part of what it can; compile with --arch=sm_90a\n");
  EXPECT_EQ(notesOn("100"),
            "CUDA device 'fake 0' is sm_100, kernels are for sm_80 and use a "
            "part of what it can; compile with --arch=sm_100a\n");
  for (const char *capability : {"80", "86", "89", "120"})
    EXPECT_EQ(notesOn(capability), "");
}

TEST(CudaImages, WhereThePtxIsRefusedAsWellBothVersionsAreNamed) {
  Setting refuse("FAKE_CUDA_REFUSE", "222");
  auto code = std::make_unique<DeviceCode>();
  code->image = fatbin;
  code->imageBytes = sizeof(fatbin);
  code->archs = "sm_80, sm_90a";
  code->toolkit = "13.0";
  code->texts = {{"sm_80", "//\n.version 7.0\n.target sm_80\n"}};
  EXPECT_EQ(refusalOf(std::move(code)),
            "rank 0: CUDA device 'fake 0' (sm_90, driver for CUDA 12.4) cannot "
            "load the program's kernels, which CUDA 13.0 assembled for sm_80, "
            "sm_90a: CUDA_ERROR_UNSUPPORTED_PTX_VERSION, nor their PTX 7.0, "
            "which drivers of CUDA 11.0 and later know: "
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION; update the driver, or compile "
            "it with --arch=sm_90\nno image for this GPU");
}

TEST(CudaErrors, PtxThatIsTooNewNamesBothVersions) {
  static const char ptx[] = "//\n.version 8.6\n.target sm_100a\n";
  Setting refuse("FAKE_CUDA_REFUSE", "222");
  auto code = std::make_unique<DeviceCode>();
  code->image = ptx;
  code->imageBytes = sizeof(ptx);
  EXPECT_EQ(refusalOf(std::move(code)),
            "rank 0: CUDA device 'fake 0' (sm_90, driver for CUDA 12.4) "
            "cannot load the program's kernels, which are PTX 8.6, which "
            "drivers of CUDA 12.7 and later know: "
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION; update the driver, or compile "
            "it where ptxas is, with --arch=sm_90\nno image for this GPU");
}

TEST(CudaErrors, ACollectiveThatMeetsAFaultNamesItselfAndTheKernel) {
  static const fake_kernel image[] = {{"write", writeKernel},
                                      {nullptr, nullptr}};
  for (int transport : {SHARDRT_TRANSPORT_HOST, SHARDRT_TRANSPORT_DIRECT}) {
    auto code = deviceFor(Way::CudaDirect);
    code->kernels = {{1, "write", "model.py:12"}};
    code->image = image;
    Site sum = allReduceSite(ElementType::I32, Reduction::Sum, {0});
    sum.location = "model.py:13";
    TestWorld world(makeTable({2}, {sum}), 0, 60'000, 0, false,
                    transport == SHARDRT_TRANSPORT_HOST ? Way::Staged
                                                        : Way::CudaDirect,
                    std::move(code));
    Setting fault("FAKE_CUDA_FAULT", "1");
    int status = world.run([](shardrt_context *ctx) -> int {
      void *buffer = shardrt_alloc(ctx, 64, "");
      int64_t arguments[] = {reinterpret_cast<int64_t>(buffer), 16, 0};
      if (int s = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 3))
        return s;
      return shardrt_all_reduce(ctx, 0, buffer, buffer, 16);
    });
    EXPECT_EQ(status, SHARDRT_REFUSED);
    EXPECT_NE(world.error().find(
                  ": all_reduce #0 along \"x\" at model.py:13: CUDA device "
                  "'fake "),
              std::string::npos)
        << world.error();
    EXPECT_NE(world.error().find("CUDA_ERROR_ILLEGAL_ADDRESS (last launch: "
                                 "kernel 'write' (model.py:12))"),
              std::string::npos)
        << world.error();
    void *library = dlopen(SHARDRT_TEST_FAKE_CUDA, RTLD_NOW);
    reinterpret_cast<void (*)()>(dlsym(library, "fake_cuda_recover"))();
    dlclose(library);
  }
}

TEST_F(Cuda, DevicesThatDoNotReachOneAnother) {
  Setting two("FAKE_CUDA_DEVICES", "2");
  Setting apart("FAKE_CUDA_PEERS", "0");
  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.transport = SHARDRT_TRANSPORT_DIRECT;
  EXPECT_EQ(
      shardrt_world_create(program, &options, &world, error, sizeof(error)),
      SHARDRT_UNSUPPORTED);
  EXPECT_STREQ(error,
               "rank 0: CUDA device 'fake 0' cannot read memory of 'fake 1'; "
               "the direct transport needs that, host does not");
  // Left to itself, the runtime goes over NCCL.
  setenv("SHARDRT_NCCL_LIBRARY", SHARDRT_TEST_FAKE_NCCL, 1);
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  EXPECT_STREQ(shardrt_world_transport(world),
               "nccl: rank 0: CUDA device 'fake 0' cannot read memory of "
               "'fake 1'");
  EXPECT_EQ(run(3), SHARDRT_OK) << shardrt_world_error(world);
}

TEST(Transports, DevicesThatAreSharedAndApartGoThroughTheHost) {
  auto code = deviceFor(Way::CudaDirect);
  TestWorld host(makeTable({4}, {}));
  Setting two("FAKE_CUDA_DEVICES", "2");
  Setting apart("FAKE_CUDA_PEERS", "0");
  const_cast<Program &>(*host.program->program).device = std::move(code);
  shardrt_world *world = nullptr;
  char error[512] = "";
  ASSERT_EQ(
      shardrt_world_create(host.program, nullptr, &world, error, sizeof(error)),
      SHARDRT_OK)
      << error;
  EXPECT_STREQ(shardrt_world_transport(world),
               "host: rank 0: CUDA device 'fake 0' cannot read memory of "
               "'fake 1'");
  shardrt_world_destroy(world);
}

TEST(Transports, DevicesNeedKernels) {
  TestWorld world(makeTable({2}, {}));
  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.transport = SHARDRT_TRANSPORT_DIRECT;
  shardrt_world *none = nullptr;
  char error[256] = "";
  EXPECT_EQ(shardrt_world_create(world.program, &options, &none, error,
                                 sizeof(error)),
            SHARDRT_USAGE);
  EXPECT_STREQ(error, "the program has no kernels: this transport is for "
                      "devices; compile it with --target=cuda");
}
} // namespace

//===- CudaTest.cpp - Programs with kernels on a stand-in driver ----------===//

#include "shardrt/shardrt.h"
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {
/// A variable of the environment for a while.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~Setting() { unsetenv(name); }

private:
  const char *name;
};

class Cuda : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("SHARDRT_CUDA_LIBRARY", SHARDRT_TEST_FAKE_CUDA, 1);
  }
  void SetUp() override {
    library = dlopen(SHARDRT_TEST_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    ASSERT_EQ(shardrt_program_load(SHARDRT_TEST_CUDA_ARTIFACT, &program, error,
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
  EXPECT_EQ(shardrt_world_peak_bytes(world, 0), 400 + 400 + 4);
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
               "cannot load the "
               "program's kernels, which are for other GPUs or a newer driver: "
               "CUDA_ERROR_NO_BINARY_FOR_GPU; compile it with --arch=sm_90\n"
               "no image for this GPU");
}

TEST_F(Cuda, OutOfMemory) {
  Setting little("FAKE_CUDA_MEMORY", "1000");
  ASSERT_EQ(create(), SHARDRT_OK) << error;
  EXPECT_EQ(run(), SHARDRT_MEMORY);
  std::string said = shardrt_world_error(world);
  EXPECT_NE(said.find("cannot get 400 bytes for "), std::string::npos) << said;
  EXPECT_NE(said.find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos) << said;
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
} // namespace

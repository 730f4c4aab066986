//===- LibraryTest.cpp - Calls of libraries on a stand-in driver ----------===//
//
// A library is opened once a process, so that each test is a process of its
// own.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// Runs some steps of the product in this process, which ends with the status;
/// results and errors go to stderr.
[[noreturn]] void multiply(shardrt_library_call_wish wish, int64_t steps) {
  setenv("SHARDRT_CUDA_LIBRARY", SHARDRT_TEST_FAKE_CUDA, 1);
  char error[1024] = "";
  shardrt_program *program = nullptr;
  shardrt_world *world = nullptr;
  int status = loadUnsealed(SHARDRT_TEST_LIBRARY_ARTIFACT, &program, error,
                            sizeof(error));
  if (status == SHARDRT_OK)
    status =
        shardrt_world_create(program, nullptr, &world, error, sizeof(error));
  if (status != SHARDRT_OK) {
    std::fprintf(stderr, "%s\n", error);
    std::exit(status);
  }
  std::vector<float> left[2], right[2], out[2];
  void *inputs[2][2], *outputs[2][1];
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 32; ++i) {
      left[rank].push_back(static_cast<float>((i * 7 + rank) % 5 - 2));
      right[rank].push_back(static_cast<float>((i * 3 + rank) % 7 - 3));
    }
    left[rank][0] = static_cast<float>(wish);
    out[rank].resize(16);
    inputs[rank][0] = left[rank].data();
    inputs[rank][1] = right[rank].data();
    outputs[rank][0] = out[rank].data();
  }
  void *const *allInputs[] = {inputs[0], inputs[1]};
  void *const *allOutputs[] = {outputs[0], outputs[1]};
  status =
      shardrt_world_run_repeated(world, allInputs, allOutputs, steps, nullptr);
  if (status != SHARDRT_OK)
    std::fprintf(stderr, "%s\n", shardrt_world_error(world));
  std::string asked = shardrt_world_libraries(world, 0);
  std::fprintf(stderr, "%s", asked.c_str());
  std::fprintf(stderr, "%s", shardrt_world_notes(world, 1));
  bool same = true, none = true;
  for (int rank = 0; rank < 2; ++rank)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        float sum = 0;
        for (int k = 0; k < 8; ++k)
          sum += left[rank][8 * i + k] * right[rank][4 * k + j];
        same &= out[rank][4 * i + j] == sum;
        none &= out[rank][4 * i + j] == -1;
      }
  std::fprintf(stderr, "%s\n", same ? "the product" : none ? "none" : "wrong");
  shardrt_world_destroy(world);
  shardrt_program_destroy(program);
  std::exit(status);
}

void useStandIn() {
  setenv("SHARDRT_CUBLASLT_LIBRARY", SHARDRT_TEST_FAKE_LIBRARIES, 1);
  setenv("FAKE_LIBRARY_LOG", "1", 1);
}
} // namespace

// On two devices, in steps that are done, recorded and replayed.
TEST(LibraryDeathTest, DoesAProduct) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        useStandIn();
        multiply(SHARDRT_CALL_REQUIRED, /*steps=*/4);
      },
      testing::ExitedWithCode(SHARDRT_OK),
      "did product 4x4x8 batch 1 f32 to f32(.|\n)*"
      "cuBLASLt: product of 1x4x8 f32 and 1x8x4 f32 \\(model.py:7\\)\n"
      "the product");
}

TEST(LibraryDeathTest, LeavesWhatItDoesNotTake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        useStandIn();
        setenv("FAKE_LIBRARY_REFUSE", "1", 1);
        multiply(SHARDRT_CALL_REQUIRED, /*steps=*/1);
      },
      testing::ExitedWithCode(SHARDRT_OK),
      "generated: product of 1x4x8 f32 and 1x8x4 f32 \\(model.py:7\\)\nnone");
}

// Where it was looked for stands in the message.
TEST(LibraryDeathTest, SaysWhereItLooked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  unsetenv("SHARDRT_CUBLASLT_LIBRARY");
  EXPECT_EXIT(
      {
        setenv("SHARDRT_CUBLASLT_LIBRARY", "/no/libcublasLt.so", 1);
        multiply(SHARDRT_CALL_REQUIRED, /*steps=*/1);
      },
      testing::ExitedWithCode(SHARDRT_UNSUPPORTED),
      "product of 1x4x8 f32 and 1x8x4 f32 \\(model.py:7\\): no cuBLASLt: "
      "/no/libcublasLt.so \\(SHARDRT_CUBLASLT_LIBRARY\\) cannot be opened");
  EXPECT_EXIT(
      {
        setenv("SHARDRT_CUBLASLT_LIBRARY", "/no/libcublasLt.so", 1);
        multiply(SHARDRT_CALL_IF_THERE, /*steps=*/1);
      },
      testing::ExitedWithCode(SHARDRT_OK), "none");
}

// An image for several GPUs: those with tcgen05 ask for the library, and say
// where it is not there; the others have kernels.
TEST(LibraryDeathTest, SomeGpusAsk) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto on = [](const char *capability, bool isThere) {
    setenv("FAKE_CUDA_CAPABILITY", capability, 1);
    useStandIn();
    if (!isThere)
      setenv("SHARDRT_CUBLASLT_LIBRARY", "/no/libcublasLt.so", 1);
    multiply(SHARDRT_CALL_ON_TCGEN05, /*steps=*/2);
  };
  for (const char *capability : {"100", "103", "110"})
    EXPECT_EXIT(on(capability, true), testing::ExitedWithCode(SHARDRT_OK),
                "cuBLASLt: product of 1x4x8 f32 and 1x8x4 f32 "
                "\\(model.py:7\\)\nthe product");
  EXPECT_EXIT(on("100", false), testing::ExitedWithCode(SHARDRT_OK),
              "generated: product of 1x4x8 f32 and 1x8x4 f32 "
              "\\(model.py:7\\)\nno cuBLASLt: /no/libcublasLt.so "
              "\\(SHARDRT_CUBLASLT_LIBRARY\\) cannot be opened; "
              "--kernels=generated needs none: generated kernels do its "
              "work, which may be slower\nnone");
  for (const char *capability : {"80", "90", "120"})
    EXPECT_EXIT(on(capability, true), testing::ExitedWithCode(SHARDRT_OK),
                "^none");
}

TEST(LibraryDeathTest, LooksBesideTheToolkit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char *file :
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"})
    if (void *found = dlopen(file, RTLD_LAZY)) {
      dlclose(found);
      GTEST_SKIP() << "the loader finds " << file;
    }
  EXPECT_EXIT(
      {
        unsetenv("SHARDRT_CUBLASLT_LIBRARY");
        unsetenv("CUDA_PATH");
        setenv("CUDA_HOME", "/no/cuda", 1);
        multiply(SHARDRT_CALL_REQUIRED, /*steps=*/1);
      },
      testing::ExitedWithCode(SHARDRT_UNSUPPORTED),
      "no cuBLASLt: looked for libcublasLt.so.13, libcublasLt.so.12, "
      "libcublasLt.so.11 in the loader's path and in /no/cuda/lib64/; "
      "SHARDRT_CUBLASLT_LIBRARY names another; --kernels=generated needs none");
}

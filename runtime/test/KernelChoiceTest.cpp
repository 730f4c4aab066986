//===- KernelChoiceTest.cpp - Kernels that some devices have --------------===//
//
// A launch may be of a kernel that only some GPUs have, or only count where
// such a one is lacking; kernels may be given maps of tensors. On the stand-in
// driver, which refuses what CUDA's refuses.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"
#include "shardrt/TensorMap.h"
#include <gtest/gtest.h>
#include <numeric>
#include <span>

using namespace shardrt;
using namespace shardrt::test;

namespace {
using Image = const fake_kernel;

/// Runs `body` as the program of one rank whose device has `image`, of
/// `kernels`. Returns its status; `error` says why.
int runWith(Image *image, std::vector<DeviceCode::Kernel> kernels,
            std::string &error,
            const std::function<int(shardrt_context *)> &body) {
  auto code = deviceFor(Way::CudaDirect);
  code->kernels = std::move(kernels);
  code->image = image;
  TestWorld world(makeTable({}, {}), 0, 60'000, 0, false, Way::CudaDirect,
                  std::move(code));
  int status = world.run(body);
  error = world.error();
  return status;
}

/// arguments: where to write, and what.
void write(unsigned, unsigned, const int64_t *arguments) {
  *reinterpret_cast<int32_t *>(arguments[0]) +=
      static_cast<int32_t>(arguments[1]);
}

/// arguments: a map as the driver made it, and where its sizes and boxes go.
void look(unsigned, unsigned, const int64_t *arguments) {
  auto *to = reinterpret_cast<int64_t *>(arguments[SHARDRT_MAP_WORDS]);
  for (int i = 0; i < SHARDRT_MAP_WORDS; ++i)
    to[i] = arguments[i];
}

DeviceCode::Kernel kernel(const char *name, int64_t maps = 0,
                          int64_t flags = 0) {
  DeviceCode::Kernel result;
  result.threads = 1;
  result.name = name;
  result.location = "model.py:7";
  result.maps = maps;
  result.flags = flags;
  return result;
}

/// The result of a program that launches 'better', and 'other' in its stead.
int32_t choose(Image *image) {
  int32_t value = 0;
  std::string error;
  int status = runWith(
      image, {kernel("better", 0, DeviceCode::OfSomeGpus), kernel("other")},
      error, [&](shardrt_context *ctx) {
        void *memory = shardrt_alloc(ctx, 256, "");
        ctx->device->upload(memory, &value, 4);
        auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
        int64_t better[] = {at, 1}, other[] = {at, 10};
        int s = shardrt_launch(ctx, 0, 1, 1, 1, better, 2);
        if (!s)
          s = shardrt_launch(ctx, 1 | int64_t(1) << 32, 1, 1, 1, other, 2);
        return s ? s : shardrt_read(ctx, memory, &value, 4);
      });
  EXPECT_EQ(status, SHARDRT_OK) << error;
  return value;
}

TEST(KernelChoice, DoesTheOneThatTheDeviceHas) {
  Image both[] = {{"better", write}, {"other", write}, {nullptr, nullptr}};
  Image older[] = {{"other", write}, {nullptr, nullptr}};
  EXPECT_EQ(choose(both), 1);
  EXPECT_EQ(choose(older), 10);
}

/// What a program comes to that launches 'newer' and 'better', each for a GPU
/// of its own, and 'other' in their stead.
int32_t chooseOfThree(Image *image) {
  int32_t value = 0;
  std::string error;
  int status = runWith(
      image,
      {kernel("newer", 0, DeviceCode::OfSomeGpus),
       kernel("better", 0, DeviceCode::OfSomeGpus), kernel("other")},
      error, [&](shardrt_context *ctx) {
        void *memory = shardrt_alloc(ctx, 256, "");
        ctx->device->upload(memory, &value, 4);
        auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
        int64_t newer[] = {at, 1}, better[] = {at, 10}, other[] = {at, 100};
        int s = shardrt_launch(ctx, 0, 1, 1, 1, newer, 2);
        if (!s)
          s = shardrt_launch(ctx, 1, 1, 1, 1, better, 2);
        if (!s)
          s = shardrt_launch(ctx, 2 | int64_t(1) << 32 | int64_t(2) << 48, 1, 1,
                             1, other, 2);
        return s ? s : shardrt_read(ctx, memory, &value, 4);
      });
  EXPECT_EQ(status, SHARDRT_OK) << error;
  return value;
}

TEST(KernelChoice, DoesTheOneOfSeveralThatTheDeviceHas) {
  Image newest[] = {{"newer", write}, {"other", write}, {nullptr, nullptr}};
  Image newer[] = {{"better", write}, {"other", write}, {nullptr, nullptr}};
  Image older[] = {{"other", write}, {nullptr, nullptr}};
  EXPECT_EQ(chooseOfThree(newest), 1);
  EXPECT_EQ(chooseOfThree(newer), 10);
  EXPECT_EQ(chooseOfThree(older), 100);
}

TEST(KernelChoice, RefusesOneThatNoDeviceMayLack) {
  Image none[] = {{nullptr, nullptr}};
  std::string error;
  int status =
      runWith(none, {kernel("write")}, error, [](shardrt_context *ctx) {
        int64_t arguments[] = {0, 0};
        return shardrt_launch(ctx, 0, 1, 1, 1, arguments, 2);
      });
  EXPECT_EQ(status, SHARDRT_REFUSED);
  EXPECT_NE(error.find("finding kernel 'write' (model.py:7) failed: "
                       "CUDA_ERROR_NOT_FOUND"),
            std::string::npos)
      << error;
}

/// The error of a launch whose tensor is `words` beyond its address; what the
/// kernel is given goes to `seen`.
std::string describe(std::array<int64_t, SHARDRT_MAP_WORDS> words,
                     std::array<int64_t, SHARDRT_MAP_WORDS> &seen) {
  Image image[] = {{"look", look}, {nullptr, nullptr}};
  std::string error;
  runWith(image, {kernel("look", 1)}, error, [&](shardrt_context *ctx) {
    void *memory = shardrt_alloc(ctx, 4096, ""),
         *out = shardrt_alloc(ctx, 256, "");
    std::array<int64_t, SHARDRT_MAP_WORDS + 1> arguments;
    std::copy(words.begin(), words.end(), arguments.begin());
    arguments[SHARDRT_MAP_ADDRESS] +=
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
    arguments.back() = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out));
    int s = shardrt_launch(ctx, 0, 1, 1, 1, arguments.data(), arguments.size());
    s = s ? s : shardrt_read(ctx, out, seen.data(), sizeof(seen));
    seen[0] -= static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
    return s;
  });
  return error;
}

constexpr std::array<int64_t, SHARDRT_MAP_WORDS> rows = {
    32, 2 | SHARDRT_MAP_BF16 << 8, 40, 7, 0, 0, 0, 96, 0, 0, 0, 64, 128};

TEST(KernelChoice, DescribesTensorsToTheDriver) {
  std::array<int64_t, SHARDRT_MAP_WORDS> seen = {};
  EXPECT_EQ(describe(rows, seen), "");
  // As the stand-in writes them: address, sizes, boxes.
  EXPECT_EQ(seen[0], 32);
  EXPECT_EQ(seen[1], 40);
  EXPECT_EQ(seen[2], 7);
  EXPECT_EQ(seen[6], 64);
  EXPECT_EQ(seen[7], 128);
}

/// Windows of 3 x 2 by steps of 2 and 1 of images of 7 x 9 x 64, with a border.
constexpr std::array<int64_t, SHARDRT_MAP_WORDS> windows = {
    32,
    4 | SHARDRT_MAP_BF16 << 8 | SHARDRT_MAP_WINDOWS,
    64,
    9,
    7,
    2,
    0,
    128,
    1152,
    8064,
    0,
    64,
    128,
    SHARDRT_MAP_RANGE(-1, -1, 2),
    SHARDRT_MAP_RANGE(0, -2, 1)};

TEST(KernelChoice, DescribesWindowsToTheDriver) {
  std::array<int64_t, SHARDRT_MAP_WORDS> seen = {};
  EXPECT_EQ(describe(windows, seen), "");
  auto corners = [](int64_t low, int64_t high) {
    return low * (int64_t(1) << 32) + (high & 0xffffffff);
  };
  EXPECT_EQ(seen[0], 32);
  EXPECT_EQ(seen[4], 2);
  EXPECT_EQ(seen[6], corners(-1, -1));
  EXPECT_EQ(seen[7], corners(0, -2));
  EXPECT_EQ(seen[9], 2);
  EXPECT_EQ(seen[10], 1);
  EXPECT_EQ(seen[12], 64);
  EXPECT_EQ(seen[13], 128);
}

/// What is said of a tensor when one of its words has another value.
struct Refusal {
  int word;
  int64_t value;
  const char *says;
};

void expectRefused(const std::array<int64_t, SHARDRT_MAP_WORDS> &tensor,
                   std::span<const Refusal> cases) {
  for (const Refusal &one : cases) {
    auto words = tensor;
    words[one.word] = one.value;
    std::array<int64_t, SHARDRT_MAP_WORDS> seen = {};
    std::string error = describe(words, seen);
    EXPECT_NE(error.find("kernel 'look' (model.py:7): tensor map 0: "),
              std::string::npos)
        << error;
    EXPECT_NE(error.find(one.says), std::string::npos) << error;
  }
}

TEST(KernelChoice, RefusesWindowsThatNoDeviceTakes) {
  const Refusal cases[] = {
      {SHARDRT_MAP_KIND, 2 | SHARDRT_MAP_BF16 << 8 | SHARDRT_MAP_WINDOWS,
       "the number of dims of windows is 2, expected 3 to 5"},
      {SHARDRT_MAP_BOX, 72, "a box's width in bytes is 144, expected a "},
      {SHARDRT_MAP_BOX, 0, "the number of channels is 0, expected 1 to 256"},
      {SHARDRT_MAP_BOX + 1, 1025,
       "the number of pixels is 1025, expected 1 to 1024"},
      {SHARDRT_MAP_BOX + 2, SHARDRT_MAP_RANGE(0, 0, 9),
       "a step between windows is 9, expected 1 to 8"},
      {SHARDRT_MAP_BOX + 3, SHARDRT_MAP_RANGE(-129, 0, 1),
       "a corner of windows is -129, expected -128 to 127"},
      {SHARDRT_MAP_BOX + 3, SHARDRT_MAP_RANGE(0, -7, 1),
       "a number of windows is 0, expected 1 or more"},
  };
  expectRefused(windows, cases);
}

TEST(KernelChoice, RefusesTensorsThatNoDeviceTakes) {
  const Refusal cases[] = {
      {SHARDRT_MAP_ADDRESS, 8, "the address modulo 16 is 8, expected 0"},
      {SHARDRT_MAP_STRIDES, 90, "a stride is 90, expected a multiple of 16"},
      {SHARDRT_MAP_SIZES + 1, 0, "a size is 0, expected 1 to 2^32"},
      {SHARDRT_MAP_BOX + 1, 257, "a box's size is 257, expected 1 to 256"},
      {SHARDRT_MAP_BOX, 72, "a box's width in bytes is 144, expected a "},
      {SHARDRT_MAP_KIND, 6 | SHARDRT_MAP_BF16 << 8,
       "the number of dims is 6, expected 1 to 5"},
      {SHARDRT_MAP_KIND, 2 | 77 << 8, "the element type is 77, expected "},
  };
  expectRefused(rows, cases);
}
} // namespace

//===- EmulatorTransfersTest.cpp - Barriers of transfers, and what TMA copies
//===//
#include "EmulatorTest.h"

using namespace shardrt;
using namespace shardrt::test;

namespace {
enum class BarrierFault {
  ForNobody,
  TooMany,
  NoneYet,
  WithoutBarrier,
  OnceTooOften,
  WrittenOver,
  CopyWithoutFence,
};

/// Threads that use an mbarrier as none can be used.
template <BarrierFault fault>
void misusesBarriers(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  char *at = thread->shared;
  if (fault == BarrierFault::NoneYet) {
    shardrt_emulated_mbarrier_wait(thread, at, 0, "kernel.py:60");
    return;
  }
  if (t == 0) {
    for (int32_t i = 0; i < (fault == BarrierFault::TooMany ? 65 : 1); ++i)
      shardrt_emulated_mbarrier_init(thread, at + 8 * i,
                                     fault == BarrierFault::ForNobody ? 0 : 1,
                                     "kernel.py:61");
    if (fault != BarrierFault::CopyWithoutFence)
      shardrt_emulated_async_fence(thread);
    // Bytes are outstanding, so the phase goes on.
    for (int32_t i = 0; i < 2 && fault == BarrierFault::OnceTooOften; ++i)
      shardrt_emulated_mbarrier_arrive(thread, at, 128, "kernel.py:62");
    if (fault == BarrierFault::WrittenOver)
      *shared(thread, 1, true) = 0;
    int64_t map[1] = {};
    int32_t first[2] = {};
    if (fault == BarrierFault::CopyWithoutFence)
      shardrt_emulated_tma_copy(thread, at, map, at, first, 2, 1,
                                "kernel.py:63");
  } else if (fault == BarrierFault::WithoutBarrier) {
    shardrt_emulated_mbarrier_wait(thread, at, 1, "kernel.py:64");
  }
}

TEST(Emulator, FindsMisusedBarriersOfTransfers) {
  auto expect = [](shardrt_emulated_kernel kernel, const char *text) {
    std::string error = errorAhead(kernel);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  expect(misusesBarriers<BarrierFault::ForNobody>,
         "makes an mbarrier for 0 arrivals at kernel.py:61");
  expect(misusesBarriers<BarrierFault::TooMany>,
         "makes more than 64 mbarriers");
  expect(misusesBarriers<BarrierFault::NoneYet>,
         "waits for what is no mbarrier (yet) at kernel.py:60");
  expect(misusesBarriers<BarrierFault::WithoutBarrier>,
         "makes without a barrier between at kernel.py:64");
  expect(misusesBarriers<BarrierFault::OnceTooOften>,
         "arrives at an mbarrier at which all 1 have arrived");
  expect(misusesBarriers<BarrierFault::WrittenOver>,
         "writes over an mbarrier at kernel.py:2");
  expect(misusesBarriers<BarrierFault::CopyWithoutFence>,
         "'s bulk copy at kernel.py:63: its mbarrier was made without a fence "
         "behind");
}

/// Threads of two warps that add to a number in turns, each of which may read
/// and write it until it tells the other by an mbarrier; `early`: in its second
/// turn the first does before it writes.
template <bool early> void takesTurns(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0], own = t / 32;
  char *at = thread->shared + 64;
  if (t == 0) {
    *shared(thread, 0, true) = 0;
    for (int32_t which : {0, 1})
      shardrt_emulated_mbarrier_init(thread, at + 8 * which, 1, "kernel.py:69");
  }
  shardrt_emulated_barrier(thread, 0, "kernel.py:70");
  for (int32_t turn = 0; turn < 3 && t % 32 == 0; ++turn) {
    int32_t phase = own == 1 ? turn : turn - 1;
    if (phase >= 0)
      shardrt_emulated_mbarrier_wait(thread, at + 8 * own, phase % 2,
                                     "kernel.py:71");
    auto tell = [&] {
      shardrt_emulated_mbarrier_arrive(thread, at + 8 * (1 - own), 0,
                                       "kernel.py:72");
    };
    int32_t number = *shared(thread, 0, false);
    bool isEarly = early && own == 0 && turn == 1;
    if (isEarly)
      tell();
    *shared(thread, 0, true) = number + 1;
    if (!isEarly)
      tell();
  }
}

TEST(Emulator, FollowsTurnsBetweenWarps) {
  EXPECT_EQ(errorAhead(takesTurns<false>), "");
  std::string error = errorAhead(takesTurns<true>);
  EXPECT_NE(error.find("race on shared memory: byte 0 is"), std::string::npos)
      << error;
}

/// One thread that copies by TMA. arguments: the map, then where to in shared
/// memory, where the map is for it, and of how many dims it takes that to be.
constexpr int64_t barrierAt = 4096;
void copiesByTma(Thread *thread, const int64_t *arguments) {
  if (thread->thread[0] != 0)
    return;
  const int64_t *rest = arguments + SHARDRT_MAP_WORDS;
  char *barrier = thread->shared + barrierAt;
  shardrt_emulated_mbarrier_init(thread, barrier, 1, "kernel.py:65");
  shardrt_emulated_async_fence(thread);
  int32_t first[4] = {};
  shardrt_emulated_tma_copy(thread, thread->shared + rest[0],
                            arguments + rest[1], barrier, first,
                            static_cast<int32_t>(rest[2]), 1, "kernel.py:66");
  shardrt_emulated_mbarrier_arrive(thread, barrier, 2 * 128, "kernel.py:67");
  shardrt_emulated_mbarrier_wait(thread, barrier, 0, "kernel.py:68");
}

/// The error of a checked block of one warp, whose arguments begin with a map.
std::string errorOf(shardrt_emulated_kernel kernel, const int64_t *arguments,
                    const Allocations &allocations) {
  BlockRunner runner;
  BlockRunner::Launch launch;
  launch.kernel = kernel;
  launch.arguments = arguments;
  launch.argumentBytes = SHARDRT_MAP_WORDS * 8;
  launch.threads = 32;
  launch.sharedBytes = barrierAt + 64;
  launch.hasBarriers = true;
  launch.ordered = true;
  launch.checked = true;
  return runner.run(launch, allocations) ? "" : runner.error;
}

/// The error of such a copy of two rows of `width` floats each.
std::string errorOfCopy(int64_t width, int64_t to = 0, int64_t mapAt = 0,
                        int64_t dims = 2) {
  alignas(16) float rows[2][32] = {};
  Allocations allocations;
  allocations.add(reinterpret_cast<uintptr_t>(rows), sizeof(rows));
  int64_t arguments[SHARDRT_MAP_WORDS + 3] = {};
  arguments[SHARDRT_MAP_ADDRESS] = tagged(rows);
  arguments[SHARDRT_MAP_KIND] = SHARDRT_MAP_F32 << 8 | 2;
  arguments[SHARDRT_MAP_SIZES] = 32;
  arguments[SHARDRT_MAP_SIZES + 1] = 2;
  arguments[SHARDRT_MAP_STRIDES] = 128;
  arguments[SHARDRT_MAP_BOX] = width;
  arguments[SHARDRT_MAP_BOX + 1] = 2;
  arguments[SHARDRT_MAP_WORDS] = to;
  arguments[SHARDRT_MAP_WORDS + 1] = mapAt;
  arguments[SHARDRT_MAP_WORDS + 2] = dims;
  return errorOf(copiesByTma, arguments, allocations);
}

TEST(Emulator, FindsTmaCopiesThatNoGpuMakes) {
  auto expect = [](const std::string &error, const char *text) {
    EXPECT_NE(error.find(std::string("'s bulk copy at kernel.py:66: ") + text),
              std::string::npos)
        << error;
  };
  EXPECT_EQ(errorOfCopy(32), "");
  expect(errorOfCopy(16), "its rows have 64 bytes, expected 128");
  expect(errorOfCopy(32, 512), "it goes to 512, expected a multiple of 1024");
  expect(errorOfCopy(32, 5 * 1024),
         "256 bytes go to 5120 of 4160 of shared memory");
  expect(errorOfCopy(32, 0, 1), "its map is none of the kernel's arguments");
  expect(errorOfCopy(32, 0, 0, 3), "it is of 3 dims, its tensor has 2");
  expect(errorOfCopy(0), "a box's size is 0, expected 1 to 256");
}

/// One thread that copies a pixel and the next. arguments: the map, then
/// whether as windows, where the first is, and by how much both are moved.
void copiesWindows(Thread *thread, const int64_t *arguments) {
  if (thread->thread[0] != 0)
    return;
  const int64_t *rest = arguments + SHARDRT_MAP_WORDS;
  char *barrier = thread->shared + barrierAt;
  shardrt_emulated_mbarrier_init(thread, barrier, 1, "kernel.py:165");
  shardrt_emulated_async_fence(thread);
  int32_t first[4] = {0, static_cast<int32_t>(rest[1]), 0,
                      static_cast<int32_t>(rest[2])};
  shardrt_emulated_tma_copy(
      thread, thread->shared, arguments, barrier, first, 3,
      SHARDRT_TMA_CHECK | (rest[0] ? SHARDRT_TMA_WINDOWS : 0), "kernel.py:166");
  shardrt_emulated_mbarrier_arrive(thread, barrier, 2 * 128, "kernel.py:167");
  shardrt_emulated_mbarrier_wait(thread, barrier, 0, "kernel.py:168");
  auto *got = reinterpret_cast<float *>(thread->shared);
  auto *out = reinterpret_cast<float *>(rest[3]);
  out[0] = got[0];
  out[1] = got[36]; // pieces of the second row are swapped
}

/// The first channels of pixel `at`, moved by `offset`, and of the next one, of
/// two images of five pixels, whose windows begin at -1, 1 and 3: pixel i of
/// image j is 10 j + i + 1. Or the error.
std::string copyWindows(int64_t at, int64_t offset, bool asWindows = true,
                        bool ofWindows = true) {
  alignas(16) float images[2][5][32] = {};
  for (int64_t i = 0; i < 10; ++i)
    images[i / 5][i % 5][0] = static_cast<float>(10 * (i / 5) + i % 5 + 1);
  Allocations allocations;
  allocations.add(reinterpret_cast<uintptr_t>(images), sizeof(images));
  float got[2] = {};
  int64_t arguments[SHARDRT_MAP_WORDS + 4] = {};
  arguments[SHARDRT_MAP_ADDRESS] = tagged(images);
  arguments[SHARDRT_MAP_KIND] =
      SHARDRT_MAP_F32 << 8 | 3 | (ofWindows ? SHARDRT_MAP_WINDOWS : 0);
  arguments[SHARDRT_MAP_SIZES] = 32;
  arguments[SHARDRT_MAP_SIZES + 1] = 5;
  arguments[SHARDRT_MAP_SIZES + 2] = 2;
  arguments[SHARDRT_MAP_STRIDES] = 128;
  arguments[SHARDRT_MAP_STRIDES + 1] = 5 * 128;
  arguments[SHARDRT_MAP_BOX] = 32;
  arguments[SHARDRT_MAP_BOX + 1] = 2;
  arguments[SHARDRT_MAP_BOX + 2] = ofWindows ? SHARDRT_MAP_RANGE(-1, -1, 2) : 1;
  arguments[SHARDRT_MAP_WORDS] = asWindows;
  arguments[SHARDRT_MAP_WORDS + 1] = at;
  arguments[SHARDRT_MAP_WORDS + 2] = offset;
  arguments[SHARDRT_MAP_WORDS + 3] =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(got));
  std::string error = errorOf(copiesWindows, arguments, allocations);
  if (!error.empty())
    return error;
  return std::to_string(static_cast<int>(got[0])) + " " +
         std::to_string(static_cast<int>(got[1]));
}

TEST(Emulator, CopiesWindowsByTma) {
  EXPECT_EQ(copyWindows(-1, 0), "0 2");
  EXPECT_EQ(copyWindows(-1, 2), "2 4");
  EXPECT_EQ(copyWindows(1, 1), "3 5");
  // Behind the last window of an image comes the first of the next.
  EXPECT_EQ(copyWindows(3, 0), "4 0");
  EXPECT_EQ(copyWindows(3, 2), "0 12");
  EXPECT_NE(copyWindows(0, 0).find("it begins at 0 of dim 1, where no window "
                                   "does"),
            std::string::npos);
  EXPECT_NE(copyWindows(5, 0).find("it begins at 5 of dim 1"),
            std::string::npos);
  EXPECT_NE(copyWindows(1, 65536).find("an offset is 65536, expected 0 to "
                                       "65535"),
            std::string::npos);
  EXPECT_NE(copyWindows(1, 0, false)
                .find("it is of a box, its map is of "
                      "windows"),
            std::string::npos);
  EXPECT_NE(copyWindows(1, 0, true, false)
                .find("it is of windows, its map is of a box"),
            std::string::npos);
}
} // namespace

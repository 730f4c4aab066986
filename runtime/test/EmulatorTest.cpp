//===- EmulatorTest.cpp - Threads of emulated kernels ---------------------===//
//
// Kernels here are written by hand, as --spmd-emulate-nvvm writes them, with
// and without faults. Every schedule must agree on what is right, and a fault
// must be found in at least those that the test names.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include "shardrt/TensorMap.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <numeric>

using namespace shardrt;

namespace {
using Thread = shardrt_emulated_thread;

constexpr Schedule schedules[] = {Schedule::RoundRobin, Schedule::RunAhead,
                                  Schedule::Random};

int64_t tagged(const void *host) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(host)) ^
         SHARDRT_EMULATED_TAG;
}
template <typename T>
T *global(Thread *thread, int64_t address, int64_t index, bool writes) {
  auto *at = reinterpret_cast<char *>(address) +
             index * static_cast<int64_t>(sizeof(T));
  return static_cast<T *>(
      shardrt_emulated_global(thread, at, sizeof(T), writes, "kernel.py:1"));
}
int32_t *shared(Thread *thread, int64_t index, bool writes) {
  auto *at = reinterpret_cast<int32_t *>(thread->shared) + index;
  shardrt_emulated_shared(thread, at, sizeof(int32_t), writes,
                          writes ? "kernel.py:2" : "kernel.py:3");
  return at;
}

/// Runs `kernel` with one buffer of `count` integers, which count up from 0;
/// returns them, or sets `error`.
std::vector<int32_t> run(shardrt_emulated_kernel kernel, Schedule schedule,
                         std::string &error, int64_t count = 64,
                         int32_t threads = 64, int32_t blocks = 1,
                         int64_t sharedBytes = 256, uint64_t seed = 7,
                         bool ordered = false, int32_t cluster = 1) {
  std::vector<int32_t> buffer(count);
  std::iota(buffer.begin(), buffer.end(), 0);
  Allocations allocations;
  allocations.add(reinterpret_cast<uintptr_t>(buffer.data()), count * 4);
  int64_t arguments[] = {
      tagged(buffer.data()),
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer.data()))};
  BlockRunner runner;
  runner.schedule = schedule;
  runner.seed = seed;
  BlockRunner::Launch launch;
  launch.kernel = kernel;
  launch.arguments = arguments;
  launch.grid[0] = blocks;
  launch.threads = threads;
  launch.sharedBytes = sharedBytes;
  launch.hasBarriers = true;
  launch.ordered = ordered;
  launch.cluster = cluster;
  launch.checked = true;
  error = runner.run(launch, allocations) ? "" : runner.error;
  return buffer;
}

/// The error of `kernel` in each schedule; one that finds none is "".
std::vector<std::string> errorsOf(shardrt_emulated_kernel kernel) {
  std::vector<std::string> errors;
  for (Schedule schedule : schedules)
    run(kernel, schedule, errors.emplace_back());
  return errors;
}

#define EXPECT_EVERY_SCHEDULE_SAYS(KERNEL, TEXT)                               \
  for (const std::string &error : errorsOf(KERNEL))                            \
  EXPECT_NE(error.find(TEXT), std::string::npos) << "said: " << error

//===----------------------------------------------------------------------===//
// Right kernels
//===----------------------------------------------------------------------===//

template <bool WithBarrier> void reverse(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0], last = thread->block_dim[0] - 1;
  int32_t at = thread->block[0] * thread->block_dim[0] + t;
  *shared(thread, t, true) = *global<int32_t>(thread, args[0], at, false);
  if (WithBarrier)
    shardrt_emulated_barrier(thread, 1, "kernel.py:4");
  *global<int32_t>(thread, args[0], at, true) =
      *shared(thread, last - t, false);
}

TEST(Emulator, ReversesEachBlock) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result =
        run(reverse<true>, schedule, error, 128, 64, 2);
    EXPECT_EQ(error, "");
    for (int32_t i = 0; i < 128; ++i)
      EXPECT_EQ(result[i], i / 64 * 64 + 63 - i % 64);
  }
}

int64_t mappingsOfProcess() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

/// A device stays as long as its program, and a process may keep thousands.
TEST(Emulator, DevicesShareStacks) {
  std::vector<int32_t> buffer(64);
  Allocations allocations;
  allocations.add(reinterpret_cast<uintptr_t>(buffer.data()), 256);
  int64_t arguments[] = {tagged(buffer.data())};
  BlockRunner::Launch launch;
  launch.kernel = reverse<true>;
  launch.arguments = arguments;
  launch.threads = 64;
  launch.sharedBytes = 256;
  launch.hasBarriers = true;
  std::vector<std::unique_ptr<BlockRunner>> runners;
  auto runAnother = [&] {
    runners.push_back(std::make_unique<BlockRunner>());
    EXPECT_TRUE(runners.back()->run(launch, allocations));
  };
  runAnother();
  int64_t mappings = mappingsOfProcess();
  for (int i = 0; i < 20; ++i)
    runAnother();
  EXPECT_LT(mappingsOfProcess(), mappings + 64);
}

void sumOfWarp(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0];
  int32_t value = *global<int32_t>(thread, args[0], t, false);
  for (int32_t distance = 16; distance > 0; distance /= 2)
    value += static_cast<int32_t>(shardrt_emulated_shuffle(
        thread, -1, value, distance, 31, SHARDRT_SHUFFLE_BFLY, distance,
        "kernel.py:5"));
  *global<int32_t>(thread, args[0], t, true) = value;
}

TEST(Emulator, AddsUpWarps) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result = run(sumOfWarp, schedule, error);
    EXPECT_EQ(error, "");
    for (int32_t i = 0; i < 64; ++i)
      EXPECT_EQ(result[i], i < 32 ? 496 : 496 + 32 * 32);
  }
}

/// The kinds of shfl.sync as PTX defines them, in segments of eight lanes.
template <int32_t Kind, int32_t By, int32_t Clamp>
void shuffle(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0];
  int64_t got = shardrt_emulated_shuffle(thread, -1, t, By, Clamp, Kind, 1,
                                         "kernel.py:6");
  *global<int32_t>(thread, args[0], t, true) =
      got >> 32 ? static_cast<int32_t>(got) : -static_cast<int32_t>(got) - 1;
}

TEST(Emulator, ShufflesWithinSegments) {
  std::string error;
  constexpr int32_t segment = 24 << 8; // of 8 lanes
  auto up =
      run(shuffle<SHARDRT_SHUFFLE_UP, 1, segment>, Schedule::Random, error);
  auto down = run(shuffle<SHARDRT_SHUFFLE_DOWN, 3, segment | 31>,
                  Schedule::RunAhead, error);
  auto idx = run(shuffle<SHARDRT_SHUFFLE_IDX, 5, segment | 31>,
                 Schedule::RoundRobin, error);
  EXPECT_EQ(error, "");
  for (int32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], i % 8 == 0 ? -i - 1 : i - 1);
    EXPECT_EQ(down[i], i % 8 + 3 > 7 ? -i - 1 : i + 3);
    EXPECT_EQ(idx[i], i / 8 * 8 + 5);
  }
}

/// The kinds of vote.sync: of the lanes of half a warp, of which some say yes.
template <int32_t Kind> void vote(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0];
  uint32_t mask = t % 32 < 16 ? 0xffff : 0xffff0000;
  int32_t yes = t < 32 ? t % 32 == 3 || t % 32 == 9 : t % 32 >= 16;
  *global<int32_t>(thread, args[0], t, true) = shardrt_emulated_vote(
      thread, static_cast<int32_t>(mask), yes, Kind, 1, "kernel.py:6");
}

TEST(Emulator, CountsVotes) {
  for (Schedule schedule : schedules) {
    std::string error;
    auto any = run(vote<SHARDRT_VOTE_ANY>, schedule, error);
    auto all = run(vote<SHARDRT_VOTE_ALL>, schedule, error);
    auto uni = run(vote<SHARDRT_VOTE_UNI>, schedule, error);
    auto ballot = run(vote<SHARDRT_VOTE_BALLOT>, schedule, error);
    EXPECT_EQ(error, "");
    for (int32_t i = 0; i < 64; ++i) {
      // The halves have two, no, no and sixteen votes.
      int32_t half = i / 16;
      EXPECT_EQ(any[i], half == 0 || half == 3);
      EXPECT_EQ(all[i], half == 3);
      EXPECT_EQ(uni[i], half != 0);
      EXPECT_EQ(static_cast<uint32_t>(ballot[i]), half == 0   ? 0x208u
                                                  : half == 3 ? 0xffff0000u
                                                              : 0u);
    }
  }
}

/// Lanes of a warp hand values on through shared memory, with __syncwarp alone.
void warpSynchronous(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0], lane = t % 32;
  *shared(thread, t, true) = t;
  for (int32_t distance = 1; distance < 32; distance *= 2) {
    shardrt_emulated_warp_barrier(thread, -1, 10, "kernel.py:7");
    int32_t other = lane >= distance ? *shared(thread, t - distance, false) : 0;
    shardrt_emulated_warp_barrier(thread, -1, 11, "kernel.py:7");
    *shared(thread, t, true) += other;
  }
  *global<int32_t>(thread, args[0], t, true) = *shared(thread, t, false);
}

TEST(Emulator, WarpsNeedNoBarrierOfTheBlock) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result = run(warpSynchronous, schedule, error);
    EXPECT_EQ(error, "");
    EXPECT_EQ(result[31], 496);
  }
}

/// What goes wrong in a pipeline of copies.
enum class Fault {
  None,
  NoWait,
  WaitTooFew,
  NoCommit,
  NoBarrier,
  OverwritesTooEarly,
  SamePlace,
  PastTheEdge,
  PastShared,
  FromUnaligned,
  ToUnaligned,
  WrongStage
};

/// Three rounds through two stages of 64 numbers: each thread copies one, and
/// reads another's. The last copy has only half its bytes in the buffer.
template <Fault fault> void pipeline(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0];
  auto produce = [&](int32_t round) {
    int32_t stage = fault == Fault::OverwritesTooEarly ? 0 : round % 2;
    int32_t place = stage * 64 + t;
    if (fault == Fault::SamePlace)
      place &= ~1;
    char *to = thread->shared + place * 8 + (fault == Fault::ToUnaligned) * 4;
    if (fault == Fault::PastShared)
      to += 512;
    auto *from = reinterpret_cast<char *>(args[0]) + (round * 64 + t) * 8 +
                 (fault == Fault::FromUnaligned) * 4;
    bool isLast = round == 2 && t == 63 && fault != Fault::PastTheEdge;
    shardrt_emulated_copy(thread, to, from, 8, isLast ? 4 : 8, 1,
                          "kernel.py:20");
    if (fault != Fault::NoCommit)
      shardrt_emulated_copy_commit(thread);
  };
  produce(0);
  for (int32_t round = 0; round < 3; ++round) {
    if (round < 2)
      produce(round + 1);
    else
      shardrt_emulated_copy_commit(thread);
    if (fault != Fault::NoWait)
      shardrt_emulated_copy_wait(thread, fault == Fault::WaitTooFew ? 2 : 1);
    if (fault != Fault::NoBarrier)
      shardrt_emulated_barrier(thread, 1, "kernel.py:21");
    int32_t stage = fault == Fault::WrongStage ? (round + 1) % 2 : round % 2;
    int32_t low = *shared(thread, (stage * 64 + 63 - t) * 2, false);
    int32_t high = *shared(thread, (stage * 64 + 63 - t) * 2 + 1, false);
    *global<int32_t>(thread, args[0], (round * 64 + t) * 2, true) = low + high;
    shardrt_emulated_barrier(thread, 2, "kernel.py:22");
  }
}

std::string errorOfPipeline(shardrt_emulated_kernel kernel, Schedule schedule) {
  std::string error;
  run(kernel, schedule, error, 383, 64, 1, 1024);
  return error;
}

TEST(Emulator, LetsCopiesArriveWhenTheyAreWaitedFor) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result =
        run(pipeline<Fault::None>, schedule, error, 383, 64, 1, 1024);
    EXPECT_EQ(error, "");
    // Rounds write what no later one reads.
    for (int32_t round = 0; round < 2; ++round)
      for (int32_t i = 0; i < 64; ++i)
        EXPECT_EQ(result[(round * 64 + i) * 2], 4 * (round * 64 + 63 - i) + 1);
    // Past the bytes that were read: zeros.
    EXPECT_EQ(result[128 * 2], 2 * (128 + 63));
  }
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

TEST(Emulator, FindsAMissingBarrier) {
  EXPECT_EVERY_SCHEDULE_SAYS(reverse<false>, "race on shared memory: byte ");
}

/// Reads of the round before are overtaken by writes of the next.
void oneBarrierInTwo(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  for (int32_t round = 0; round < 3; ++round) {
    *shared(thread, t, true) = round;
    shardrt_emulated_barrier(thread, 1, "kernel.py:8");
    (void)*shared(thread, 63 - t, false);
  }
}

TEST(Emulator, FindsAMissingBarrierBetweenRounds) {
  EXPECT_EVERY_SCHEDULE_SAYS(oneBarrierInTwo, "race on shared memory: byte ");
}

void twoWriters(Thread *thread, const int64_t *) {
  *shared(thread, thread->thread[0] / 2, true) = 1;
}

TEST(Emulator, FindsTwoWritersOfOnePlace) {
  EXPECT_EVERY_SCHEDULE_SAYS(twoWriters, "written by thread ");
}

void missingWarpBarrier(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  *shared(thread, t, true) = t;
  (void)*shared(thread, t ^ 1, false);
}

TEST(Emulator, FindsAMissingBarrierOfAWarp) {
  EXPECT_EVERY_SCHEDULE_SAYS(missingWarpBarrier, "race on shared memory");
}

void barrierInBranch(Thread *thread, const int64_t *) {
  if (thread->thread[0] < 32)
    shardrt_emulated_barrier(thread, 1, "kernel.py:9");
  else
    shardrt_emulated_barrier(thread, 2, "kernel.py:10");
}

TEST(Emulator, FindsBarriersThatDiverge) {
  EXPECT_EVERY_SCHEDULE_SAYS(
      barrierInBranch,
      "barriers diverge: thread 0 of block 0 waits at kernel.py:9 "
      "(barrier 1), thread 32 of block 0 at kernel.py:10 (barrier 2)");
}

void shuffleInBranch(Thread *thread, const int64_t *) {
  if (thread->thread[0] % 32 < 16)
    shardrt_emulated_shuffle(thread, -1, 1, 1, 31, SHARDRT_SHUFFLE_BFLY, 1,
                             "kernel.py:11");
}

void voteInBranch(Thread *thread, const int64_t *) {
  if (thread->thread[0] % 32 < 16)
    shardrt_emulated_vote(thread, -1, 1, SHARDRT_VOTE_ANY, 1, "kernel.py:6");
}

TEST(Emulator, FindsAShuffleOrAVoteThatHalfAWarpReaches) {
  EXPECT_EVERY_SCHEDULE_SAYS(shuffleInBranch, ": it has ended");
  EXPECT_EVERY_SCHEDULE_SAYS(voteInBranch, ": it has ended");
}

void shuffleAndBarrier(Thread *thread, const int64_t *) {
  if (thread->thread[0] % 32 < 16)
    shardrt_emulated_shuffle(thread, -1, 1, 1, 31, SHARDRT_SHUFFLE_BFLY, 1,
                             "kernel.py:11");
  shardrt_emulated_barrier(thread, 2, "kernel.py:12");
}

TEST(Emulator, FindsThreadsThatWaitForEachOther) {
  EXPECT_EVERY_SCHEDULE_SAYS(
      shuffleAndBarrier,
      "threads wait for one another for ever: thread 0 of "
      "block 0 at a synchronisation of its warp at kernel.py:11");
}

void wrongMask(Thread *thread, const int64_t *) {
  shardrt_emulated_shuffle(thread, 0xffff, 1, 1, 31, SHARDRT_SHUFFLE_BFLY, 1,
                           "kernel.py:13");
}

TEST(Emulator, FindsALaneOutsideTheMask) {
  EXPECT_EVERY_SCHEDULE_SAYS(wrongMask,
                             "is not in the mask of lanes that meet");
}

void fromOutsideMask(Thread *thread, const int64_t *) {
  if (thread->thread[0] % 32 < 16)
    shardrt_emulated_shuffle(thread, 0xffff, 1, 16, 31, SHARDRT_SHUFFLE_BFLY, 1,
                             "kernel.py:14");
}

TEST(Emulator, FindsAValueOfALaneThatTakesNoPart) {
  EXPECT_EVERY_SCHEDULE_SAYS(fromOutsideMask, "takes the value of lane 16");
}

void pastTheEnd(Thread *thread, const int64_t *args) {
  *global<int32_t>(thread, args[0], thread->thread[0] + 1, true) = 0;
}
void beforeTheBegin(Thread *thread, const int64_t *args) {
  (void)*global<int32_t>(thread, args[0], -1, false);
}
void hostAddress(Thread *thread, const int64_t *args) {
  (void)*global<int32_t>(thread, args[1], 0, false);
}
void pastShared(Thread *thread, const int64_t *) {
  *shared(thread, 64, true) = 0;
}

TEST(Emulator, FindsAccessesOutsideBuffers) {
  EXPECT_EVERY_SCHEDULE_SAYS(pastTheEnd,
                             "thread 63 of block 0 writes 4 bytes "
                             "outside all device buffers at kernel.py:1");
  EXPECT_EVERY_SCHEDULE_SAYS(beforeTheBegin,
                             "reads 4 bytes outside all device buffers");
  EXPECT_EVERY_SCHEDULE_SAYS(hostAddress, "reads memory of the host");
  EXPECT_EVERY_SCHEDULE_SAYS(pastShared,
                             "writes 4 bytes at 256 of 256 of shared memory");
}

#define EXPECT_PIPELINE_SAYS(FAULT, TEXT)                                      \
  for (Schedule schedule : schedules) {                                        \
    std::string error = errorOfPipeline(pipeline<Fault::FAULT>, schedule);     \
    EXPECT_NE(error.find(TEXT), std::string::npos) << "said: " << error;       \
  }

TEST(Emulator, FindsACopyThatNobodyWaitsFor) {
  EXPECT_PIPELINE_SAYS(NoWait, "written, at some time to come, by a copy");
}
TEST(Emulator, FindsAWaitForTooFewCopies) {
  EXPECT_PIPELINE_SAYS(WaitTooFew, "written, at some time to come, by a copy");
}
TEST(Emulator, FindsACopyThatNoGroupHolds) {
  EXPECT_PIPELINE_SAYS(NoCommit, "written, at some time to come, by a copy");
}
TEST(Emulator, FindsAWaitThatOrdersNothingForOthers) {
  EXPECT_PIPELINE_SAYS(NoBarrier, "race on shared memory");
}
TEST(Emulator, FindsAStageThatIsOverwrittenTooEarly) {
  EXPECT_PIPELINE_SAYS(OverwritesTooEarly,
                       "written, at some time to come, by a copy");
}
TEST(Emulator, FindsAStageThatIsReadInTheWrongRound) {
  EXPECT_PIPELINE_SAYS(WrongStage, "written, at some time to come, by a copy");
}
TEST(Emulator, FindsTwoCopiesToOnePlace) {
  EXPECT_PIPELINE_SAYS(SamePlace, "race on shared memory: byte ");
}
TEST(Emulator, FindsACopyFromPastTheEdge) {
  EXPECT_PIPELINE_SAYS(PastTheEdge, "reads 8 bytes outside all device buffers");
}
TEST(Emulator, FindsACopyToPastTheEnd) {
  EXPECT_PIPELINE_SAYS(PastShared, " of 1024 of shared memory");
}
TEST(Emulator, FindsCopiesThatAreNotAligned) {
  EXPECT_PIPELINE_SAYS(FromUnaligned,
                       "copies 8 bytes from an address that is not aligned");
  EXPECT_PIPELINE_SAYS(ToUnaligned,
                       "copies 8 bytes to an address that is not aligned");
}

/// Writes rows of eight 16-bit numbers, pieces swapped by `Written`, and reads
/// a matrix of them swapped by `Read`: its own elements if the two agree.
template <int32_t Written, int32_t Read, int32_t Shift = 0>
void swizzled(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0], row = t % 8;
  for (int32_t piece = t / 8; piece < 8; piece += 8)
    for (int32_t word = 0; word < 4; ++word)
      *shared(thread, row * 32 + (piece ^ (row & Written)) * 4 + word, true) =
          (row * 64 + piece * 8 + 2 * word) |
          (row * 64 + piece * 8 + 2 * word + 1) << 16;
  shardrt_emulated_barrier(thread, 1, "kernel.py:30");
  int32_t out = 0;
  char *from = thread->shared + row * 128 + ((3 ^ (row & Read)) * 16) + Shift;
  shardrt_emulated_ldmatrix(thread, from, 1, 0, &out, 2, "kernel.py:31");
  *global<int32_t>(thread, args[0], t, true) = out & 0xffff;
}

TEST(Emulator, FindsASwizzleThatIsNotTheOneWritten) {
  for (Schedule schedule : schedules) {
    std::string error;
    auto right = run(swizzled<7, 7>, schedule, error, 64, 64, 1, 1024);
    EXPECT_EQ(error, "");
    auto wrong = run(swizzled<7, 3>, schedule, error, 64, 64, 1, 1024);
    EXPECT_EQ(error, "");
    for (int32_t i = 0; i < 32; ++i)
      EXPECT_EQ(right[i], i / 4 * 64 + 24 + i % 4 * 2);
    EXPECT_NE(right, wrong);
  }
}

void unalignedRow(Thread *thread, const int64_t *args) {
  swizzled<7, 7, 8>(thread, args);
}

TEST(Emulator, FindsARowOfAMatrixThatIsNotAligned) {
  for (Schedule schedule : schedules) {
    std::string error;
    run(unalignedRow, schedule, error, 64, 64, 1, 1024);
    EXPECT_NE(error.find("a row that is not aligned to 16 bytes"),
              std::string::npos)
        << error;
  }
}

void matrixOfHalfAWarp(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0], out = 0;
  for (int32_t word = 0; word < 4; ++word)
    *shared(thread, t * 4 + word, true) = 0;
  shardrt_emulated_barrier(thread, 1, "kernel.py:32");
  if (t % 32 < 16)
    shardrt_emulated_ldmatrix(thread, thread->shared + t * 16, 1, 0, &out, 2,
                              "kernel.py:33");
}

TEST(Emulator, FindsAMatrixThatHalfAWarpLoads) {
  for (Schedule schedule : schedules) {
    std::string error;
    run(matrixOfHalfAWarp, schedule, error, 64, 64, 1, 1024);
    EXPECT_NE(error.find(": it has ended"), std::string::npos) << error;
  }
}

/// What nobody wrote is no number that a result could hide, nor read at all.
void readsUnwritten(Thread *thread, const int64_t *args) {
  *global<int32_t>(thread, args[0], thread->thread[0], true) =
      *shared(thread, thread->thread[0], false);
}

TEST(Emulator, FindsAReadOfWhatNobodyWrote) {
  EXPECT_EVERY_SCHEDULE_SAYS(
      readsUnwritten, "read of shared memory that nobody has written: byte ");
  EXPECT_EVERY_SCHEDULE_SAYS(readsUnwritten, " of block 0 at kernel.py:3");
}

/// Reads two numbers behind a barrier, of which one thread left out a byte.
void missesAByte(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  shardrt_emulated_shared(thread, thread->shared + 4 * t, t == 40 ? 3 : 4, 1,
                          "kernel.py:40");
  shardrt_emulated_barrier(thread, 1, "kernel.py:41");
  (void)*shared(thread, 63 - t, false);
  shardrt_emulated_barrier(thread, 2, "kernel.py:42");
  // Too late.
  *shared(thread, t, true) = 0;
}

TEST(Emulator, FindsAByteThatNobodyWrote) {
  EXPECT_EVERY_SCHEDULE_SAYS(missesAByte, "byte 163 is read by thread 23 ");
}

/// Copies load pieces of 8 bytes, zeros past 4 of them where `Zeros`; all but
/// one thread's, where `Misses`. A matrix of these is loaded.
template <bool Zeros, bool Misses>
void loadsCopies(Thread *thread, const int64_t *args) {
  int32_t t = thread->thread[0];
  if (!Misses || t != 9)
    shardrt_emulated_copy(thread, thread->shared + 8 * t,
                          reinterpret_cast<char *>(args[0]) + 8 * (t % 16), 8,
                          Zeros ? 4 : 8, 1, "kernel.py:44");
  shardrt_emulated_copy_commit(thread);
  shardrt_emulated_copy_wait(thread, 0);
  shardrt_emulated_barrier(thread, 1, "kernel.py:45");
  int32_t out = 0;
  shardrt_emulated_ldmatrix(thread, thread->shared + t % 8 * 16, 1, 0, &out, 2,
                            "kernel.py:46");
}

TEST(Emulator, FindsACopyThatLeavesAMatrixUnwritten) {
  for (Schedule schedule : schedules) {
    std::string error;
    run(loadsCopies<true, false>, schedule, error, 64, 64, 1, 512);
    EXPECT_EQ(error, "");
    run(loadsCopies<false, true>, schedule, error, 64, 64, 1, 512);
    EXPECT_NE(error.find("that nobody has written: byte 72 is read by thread "),
              std::string::npos)
        << error;
  }
}

/// A product of 64 rows and 8 columns, of which thread `Skips` does not write
/// its last byte.
template <int32_t Skips> void multiplies(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  constexpr int64_t rows = 64 * 128, bytes = rows + 8 * 128;
  for (int64_t at = t * 8; at < bytes; at += 128 * 8) {
    int64_t count = t == Skips && at + 128 * 8 >= bytes ? 7 : 8;
    shardrt_emulated_shared(thread, thread->shared + at, count, 1,
                            "kernel.py:50");
    for (int64_t i = 0; i < count; ++i)
      thread->shared[at + i] = 0;
  }
  shardrt_emulated_async_fence(thread);
  shardrt_emulated_barrier(thread, 1, "kernel.py:51");
  auto describes = [&](int64_t offset) {
    auto address = reinterpret_cast<uintptr_t>(thread->shared) + offset;
    return static_cast<int64_t>((address & 0x3ffff) >> 4) | int64_t(64) << 32 |
           int64_t(1) << 62;
  };
  shardrt_emulated_product_fence(thread);
  shardrt_emulated_product(thread, describes(0), describes(rows), 0,
                           8 | SHARDRT_PRODUCT_BF16 | SHARDRT_PRODUCT_CHECK, 2,
                           "kernel.py:52");
  shardrt_emulated_product_commit(thread);
  shardrt_emulated_product_wait(thread, 0);
}

TEST(Emulator, FindsAProductOfWhatNobodyWrote) {
  auto errorOf = [](shardrt_emulated_kernel kernel, Schedule schedule) {
    std::string error;
    run(kernel, schedule, error, 64, 128, 1, 64 * 128 + 8 * 128, 7,
        /*ordered=*/true);
    return error;
  };
  for (Schedule schedule : schedules) {
    EXPECT_EQ(errorOf(multiplies<-1>, schedule), "");
    // Pieces are swapped by the row: 32 bytes of a row begin at 32 of the
    // third.
    std::string error = errorOf(multiplies<37>, schedule);
    EXPECT_NE(error.find("that nobody has written: byte 8495 is read by a "
                         "product of warpgroup 0 of block 0 at kernel.py:52"),
              std::string::npos)
        << error;
  }
}

/// Elements of two matrices, the first with digits that f32 has no room for.
double leftAt(int32_t row, int32_t depth) {
  return row * 4 + depth + 1 + std::ldexp(1.0, -36);
}
double rightAt(int32_t depth, int32_t column) {
  return (depth + 1) * (column + 2);
}

/// A product of f64 that is added to 1000 row + column; lane `Elsewhere` comes
/// to it in another place.
template <int32_t Elsewhere>
void multipliesDoubles(Thread *thread, const int64_t *args) {
  int32_t lane = thread->thread[0], row = lane / 4, column = lane % 4;
  int32_t words[10], out[4];
  auto put = [&](int32_t word, double value) {
    std::memcpy(words + word, &value, sizeof(value));
  };
  put(0, leftAt(row, column));
  put(4, rightAt(column, row));
  for (int32_t i = 0; i < 2; ++i)
    put(6 + 2 * i, 1000 * row + 2 * column + i);
  shardrt_emulated_mma(thread, SHARDRT_MMA_F64, words, out,
                       lane == Elsewhere ? 6 : 5, "kernel.py:60");
  for (int32_t i = 0; i < 2; ++i)
    std::memcpy(global<double>(thread, args[0], row * 8 + 2 * column + i, true),
                out + 2 * i, sizeof(double));
}

TEST(Emulator, MultipliesDoubles) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> words =
        run(multipliesDoubles<-1>, schedule, error, 128, 32);
    EXPECT_EQ(error, "");
    for (int32_t row = 0; row < 8; ++row)
      for (int32_t column = 0; column < 8; ++column) {
        double expected = 1000 * row + column, found;
        for (int32_t k = 0; k < 4; ++k)
          expected += leftAt(row, k) * rightAt(k, column);
        std::memcpy(&found, &words[2 * (row * 8 + column)], sizeof(found));
        EXPECT_EQ(found, expected) << row << " " << column;
      }
    run(multipliesDoubles<9>, schedule, error, 128, 32);
    EXPECT_NE(error.find("lanes of a warp meet in different places"),
              std::string::npos)
        << error;
  }
}

/// The error of `kernel` in a block of `threads` whose threads run to the end
/// one after the other.
std::string errorAhead(shardrt_emulated_kernel kernel, int32_t threads = 64,
                       int64_t sharedBytes = 1024) {
  std::string error;
  run(kernel, Schedule::RunAhead, error, 64, threads, 1, sharedBytes, 7,
      /*ordered=*/true);
  return error;
}

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

enum class Wrong {
  Matrices,
  Lines,
  NarrowLines,
  Descriptor,
  Sums,
  Fence,
  Overwritten,
  ReadNobodys,
  ReadOverwritten,
  ReadEarly,
};

/// A product of 64 rows and 8 columns of zeros, with a mistake.
template <Wrong wrong> void misusesProducts(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  constexpr int64_t rows = 64 * 128, bytes = rows + 8 * 128;
  for (int64_t at = t * 8; at < bytes; at += thread->block_dim[0] * 8) {
    shardrt_emulated_shared(thread, thread->shared + at, 8, 1, "kernel.py:70");
    for (int64_t i = 0; i < 8; ++i)
      thread->shared[at + i] = 0;
  }
  shardrt_emulated_async_fence(thread);
  shardrt_emulated_barrier(thread, 1, "kernel.py:71");
  auto describes = [&](int64_t offset) {
    auto address = reinterpret_cast<uintptr_t>(thread->shared) + offset;
    return static_cast<int64_t>((address & 0x3ffff) >> 4) | int64_t(64) << 32 |
           int64_t(wrong != Wrong::Descriptor) << 62;
  };
  int32_t config =
      8 | SHARDRT_PRODUCT_CHECK |
      (wrong == Wrong::Lines ? SHARDRT_PRODUCT_TF32 | SHARDRT_PRODUCT_LEFT_LINES
       : wrong == Wrong::NarrowLines
           ? SHARDRT_PRODUCT_F8 | SHARDRT_PRODUCT_RIGHT_LINES
           : SHARDRT_PRODUCT_BF16);
  int64_t left = describes(wrong == Wrong::Matrices && t == 5 ? 1024 : 0);
  auto multiply = [&](int64_t sums) {
    return shardrt_emulated_product(thread, left, describes(rows), sums, config,
                                    2, "kernel.py:72");
  };
  if (wrong != Wrong::Fence)
    shardrt_emulated_product_fence(thread);
  int64_t first = multiply(wrong == Wrong::Sums ? 7 : 0), read = first;
  if (wrong == Wrong::Overwritten || wrong == Wrong::ReadOverwritten)
    multiply(first);
  if (wrong == Wrong::Overwritten)
    multiply(first);
  if (wrong == Wrong::ReadNobodys)
    read = 9;
  shardrt_emulated_product_commit(thread);
  if (wrong != Wrong::ReadEarly)
    shardrt_emulated_product_wait(thread, 0);
  shardrt_emulated_sum(thread, read, 0, "kernel.py:73");
}

/// Half a warp that loads a matrix.
void matrixOfAShortWarp(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0], out = 0;
  for (int32_t word = 0; word < 4; ++word)
    *shared(thread, t * 4 + word, true) = 0;
  shardrt_emulated_barrier(thread, 1, "kernel.py:74");
  shardrt_emulated_ldmatrix(thread, thread->shared + t * 16, 1, 0, &out, 2,
                            "kernel.py:75");
}

TEST(Emulator, FindsMisusedProducts) {
  constexpr int64_t bytes = 64 * 128 + 8 * 128;
  auto expect = [](shardrt_emulated_kernel kernel, const char *text,
                   int32_t threads = 128) {
    std::string error = errorAhead(kernel, threads, bytes);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  expect(misusesProducts<Wrong::Matrices>, "give it different matrices");
  expect(misusesProducts<Wrong::Lines>,
         "matrices of tf32 stand along the depth");
  expect(misusesProducts<Wrong::NarrowLines>,
         "matrices of 8-bit floats stand along the depth");
  expect(misusesProducts<Wrong::Descriptor>,
         "a descriptor is not of rows of 128 swizzled bytes");
  expect(misusesProducts<Wrong::Sums>, "its sums are none of the thread's");
  expect(misusesProducts<Wrong::Fence>,
         "begins sums without wgmma.fence before");
  expect(misusesProducts<Wrong::Overwritten>,
         "adds to sums that another product has overwritten");
  expect(misusesProducts<Wrong::ReadNobodys>,
         "looks at sums that nobody made at kernel.py:73");
  expect(misusesProducts<Wrong::ReadOverwritten>,
         "looks at sums that a product has overwritten at kernel.py:73");
  expect(misusesProducts<Wrong::ReadEarly>,
         "looks at sums of a product that it has not waited for");
  expect(misusesProducts<Wrong::ReadEarly>,
         "is in a block of 96 threads, but products take groups of 128", 96);
  expect(matrixOfAShortWarp, "is in a warp of 16 lanes, but matrices take all",
         16);
}

// cvt.rna.tf32: ten bits of the fraction, ties away from zero.
//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

enum class Tensor {
  Right,
  NoWaitForStores,
  NoWaitForLoads,
  AfterRelease,
  NoRelease,
  ReleasesHalf,
  AfterRelinquish,
  OddColumns,
  OtherLanes,
  PastTheEnd,
  NobodyWrote,
  OtherAddresses,
  AllocatesTooMuch,
  StoresTwice,
  ReleasesAtOnce
};

/// Each lane of a warp stores 100 + its number and 200 + its number to tensor
/// memory, loads both, and writes their sum.
template <Tensor Fault>
void throughTensorMemory(Thread *thread, const int64_t *args) {
  constexpr const char *line = "kernel.py:9";
  int32_t t = thread->thread[0];
  if (Fault == Tensor::AfterRelinquish)
    shardrt_emulated_tensor_relinquish(thread, 1, line);
  shardrt_emulated_tensor_alloc(thread, thread->shared,
                                Fault == Tensor::OddColumns ? 48 : 32, 0, 2,
                                line);
  shardrt_emulated_tensor_fence(thread, 0);
  shardrt_emulated_barrier(thread, 3, line);
  shardrt_emulated_tensor_fence(thread, 1);
  int64_t address = *shared(thread, 0, false);
  if (Fault == Tensor::OtherAddresses)
    address += t == 5;
  if (Fault == Tensor::AllocatesTooMuch)
    shardrt_emulated_tensor_alloc(thread, thread->shared + 8, 512, 0, 11, line);
  if (Fault == Tensor::OtherLanes)
    address += int64_t(32) << 16;
  if (Fault == Tensor::PastTheEnd)
    address += 31;
  auto *at = reinterpret_cast<void *>(address);
  auto release = [&](int32_t place) {
    if (Fault != Tensor::ReleasesAtOnce) {
      shardrt_emulated_tensor_fence(thread, 0);
      shardrt_emulated_barrier(thread, place, line);
      shardrt_emulated_tensor_fence(thread, 1);
    }
    shardrt_emulated_tensor_dealloc(thread, at,
                                    Fault == Tensor::ReleasesHalf ? 16 : 32, 0,
                                    place + 1, line);
  };
  if (Fault == Tensor::AfterRelease)
    release(20);
  int32_t words[] = {100 + t, 200 + t};
  if (Fault != Tensor::NobodyWrote)
    shardrt_emulated_tensor_store(thread, at, words, 2, 4, line);
  if (Fault == Tensor::StoresTwice)
    shardrt_emulated_tensor_store(thread, at, words, 2, 12, line);
  if (Fault != Tensor::NoWaitForStores)
    shardrt_emulated_tensor_wait(thread, 1, 5, line);
  int64_t loaded = shardrt_emulated_tensor_load(thread, at, 2, 6, line);
  if (Fault != Tensor::NoWaitForLoads)
    shardrt_emulated_tensor_wait(thread, 0, 7, line);
  *global<int32_t>(thread, args[0], t, true) =
      shardrt_emulated_tensor_word(thread, loaded, 0, line) +
      shardrt_emulated_tensor_word(thread, loaded, 1, line);
  if (Fault != Tensor::NoRelease)
    release(8);
}

template <Tensor Fault> std::string throughTensorMemory() {
  std::string errors;
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result = run(throughTensorMemory<Fault>, schedule,
                                      error, 64, 32, 1, 256, 7, true);
    for (int32_t i = 0; i < 32 && error.empty(); ++i)
      EXPECT_EQ(result[i], 300 + 2 * i);
    errors += error.empty() ? "none\n" : error + "\n";
  }
  return errors;
}

TEST(Emulator, KeepsWhatIsStoredInTensorMemory) {
  EXPECT_EQ(throughTensorMemory<Tensor::Right>(), "none\nnone\nnone\n");
}

/// That each schedule says `text`.
void expectAllSay(const std::string &errors, const std::string &text) {
  size_t found = 0, times = 0;
  while ((found = errors.find(text, found)) != std::string::npos)
    ++found, ++times;
  EXPECT_EQ(times, std::size(schedules)) << "said: " << errors;
}

TEST(Emulator, FindsMisusedTensorMemory) {
  expectAllSay(throughTensorMemory<Tensor::NoWaitForStores>(),
               "writes it, without tcgen05.wait between");
  expectAllSay(throughTensorMemory<Tensor::NoWaitForLoads>(),
               "without tcgen05.wait::ld between");
  expectAllSay(throughTensorMemory<Tensor::AfterRelease>(),
               "which is not allocated");
  expectAllSay(throughTensorMemory<Tensor::NoRelease>(),
               "tensor memory is still allocated where its block ends");
  expectAllSay(throughTensorMemory<Tensor::ReleasesHalf>(),
               " gives back 16 columns of tensor memory from 480 on, which "
               "nobody allocated");
  expectAllSay(throughTensorMemory<Tensor::AfterRelinquish>(),
               " allocates tensor memory behind "
               "tcgen05.relinquish_alloc_permit");
  expectAllSay(throughTensorMemory<Tensor::OddColumns>(),
               "expected a power of two");
  expectAllSay(throughTensorMemory<Tensor::OtherLanes>(),
               "expected its warp's first: 0");
  expectAllSay(throughTensorMemory<Tensor::PastTheEnd>(),
               "which is not allocated");
  expectAllSay(throughTensorMemory<Tensor::NobodyWrote>(),
               "nobody has written it");
  expectAllSay(throughTensorMemory<Tensor::OtherAddresses>(),
               " do not mean the same tensor memory");
  expectAllSay(throughTensorMemory<Tensor::AllocatesTooMuch>(),
               " waits for ever for 512 columns of tensor memory");
  expectAllSay(throughTensorMemory<Tensor::StoresTwice>(),
               " column 480 of tensor memory at kernel.py:9: thread ");
  expectAllSay(throughTensorMemory<Tensor::ReleasesAtOnce>(),
               " gives back tensor memory at kernel.py:9, lane ");
}

struct WrongProduct {
  int32_t instruction;
  int64_t descriptor;
  int32_t config = 0, lane = 0;
};

// 128 x 32 of f16 with f32 sums, rows of 128 swizzled bytes.
constexpr int32_t kInstruction = 1 << 4 | 4 << 17 | 8 << 24;
constexpr auto kDescriptor = static_cast<int64_t>(2ull << 61 | 1ull << 46);
constexpr WrongProduct kWrongProducts[] = {
    {0, kDescriptor},
    {1 << 4 | 4 << 17 | 4 << 24, kDescriptor},
    {kInstruction | 2 << 7 | 2 << 10 | 1 << 15, kDescriptor,
     SHARDRT_TENSOR_TF32},
    {kInstruction, 0},
    {kInstruction, kDescriptor, 0, 1}};

/// One thread begins a product that no tensor core takes.
template <int Which> void beginWrongProduct(Thread *thread, const int64_t *) {
  constexpr const char *line = "kernel.py:9";
  constexpr WrongProduct wrong = kWrongProducts[Which];
  shardrt_emulated_tensor_alloc(thread, thread->shared, 32, 0, 2, line);
  shardrt_emulated_tensor_fence(thread, 0);
  shardrt_emulated_barrier(thread, 3, line);
  shardrt_emulated_tensor_fence(thread, 1);
  int64_t sums = *shared(thread, 0, false) + (int64_t(wrong.lane) << 16);
  if (thread->thread[0] == 0)
    shardrt_emulated_tensor_product(thread, reinterpret_cast<void *>(sums),
                                    wrong.descriptor, wrong.descriptor,
                                    wrong.instruction, 0, wrong.config, line);
}

template <int Which> std::string beginWrongProduct() {
  std::string errors;
  for (Schedule schedule : schedules) {
    std::string error;
    (void)run(beginWrongProduct<Which>, schedule, error, 64, 32, 1, 256, 7,
              true);
    errors += error + "\n";
  }
  return errors;
}

TEST(Emulator, RefusesWrongProductsIntoTensorMemory) {
  expectAllSay(beginWrongProduct<0>(), "product into tensor memory of ");
  expectAllSay(beginWrongProduct<0>(),
               "its instruction descriptor is not of f16, bf16 or tf32");
  expectAllSay(beginWrongProduct<1>(),
               "it is of 64 rows and 32 columns, expected 128");
  expectAllSay(beginWrongProduct<2>(), "matrices of tf32 ");
  expectAllSay(beginWrongProduct<3>(),
               "a descriptor is not of rows of 128 swizzled bytes");
  expectAllSay(beginWrongProduct<4>(),
               "its sums begin in lane 1 of tensor memory");
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

enum class Pair {
  Right,
  WaitsThere,
  NoSuchBlock,
  OneBlocksMemory,
  SecondBegins,
  CommitsTooFar,
  CopiesTooFar,
  CopiesAlone,
  ArrivesAtOneThatEnded,
  MultipliesWithOneThatEnded
};

/// Each of two blocks has an mbarrier at which the other one arrives; who has
/// waited writes its block's number. Both have tensor memory of a pair.
template <Pair Fault> void passToThePair(Thread *thread, const int64_t *args) {
  constexpr const char *line = "kernel.py:11";
  constexpr bool ends = Fault == Pair::ArrivesAtOneThatEnded ||
                        Fault == Pair::MultipliesWithOneThatEnded;
  char *own = thread->shared;
  if (thread->thread[0] == 0)
    shardrt_emulated_mbarrier_init(thread, own, ends ? 32 : 1, line);
  shardrt_emulated_cluster_barrier(thread, 1, line);
  shardrt_emulated_tensor_alloc(thread, own + 16, 32,
                                Fault != Pair::OneBlocksMemory, 2, line);
  shardrt_emulated_tensor_fence(thread, 0);
  shardrt_emulated_cluster_barrier(thread, 3, line);
  shardrt_emulated_tensor_fence(thread, 1);
  auto *there = static_cast<char *>(shardrt_emulated_map_shared(
      thread, own, Fault == Pair::NoSuchBlock ? 2 : 1 - thread->rank, line));
  auto *sums = reinterpret_cast<void *>(int64_t(*shared(thread, 4, false)));
  if (Fault == Pair::SecondBegins && thread->rank == 1 &&
      thread->thread[0] == 0)
    shardrt_emulated_tensor_product(thread, sums, kDescriptor, kDescriptor,
                                    kInstruction, 0, SHARDRT_TENSOR_PAIR, line);
  if (Fault == Pair::CommitsTooFar)
    shardrt_emulated_tensor_commit(thread, own, 4, line);
  if (Fault == Pair::CopiesTooFar) {
    int32_t first[] = {0, 0};
    shardrt_emulated_tma_copy(thread, own, args, own, first, 2,
                              SHARDRT_TMA_CHECK | SHARDRT_TMA_BLOCKS(4), line);
  }
  if (Fault == Pair::CopiesAlone) {
    int32_t first[] = {0, 0};
    shardrt_emulated_tma_copy(thread, own, args, there, first, 2,
                              SHARDRT_TMA_CHECK, line);
  }
  if (ends) {
    // All threads of the second block end behind their arrival.
    if (thread->rank == 1)
      return shardrt_emulated_mbarrier_arrive(thread, there, 0, line);
    shardrt_emulated_mbarrier_wait(thread, own, 0, line);
    if (Fault == Pair::ArrivesAtOneThatEnded)
      shardrt_emulated_mbarrier_arrive(thread, there, 0, line);
    shardrt_emulated_tensor_product(thread, sums, kDescriptor, kDescriptor,
                                    kInstruction, 0, SHARDRT_TENSOR_PAIR, line);
  }
  if (thread->thread[0] == 0) {
    shardrt_emulated_mbarrier_arrive(thread, there, 0, line);
    shardrt_emulated_mbarrier_wait(
        thread, Fault == Pair::WaitsThere ? there : own, 0, line);
    *global<int32_t>(thread, args[0], thread->block[0], true) =
        10 + thread->block[0];
  }
  shardrt_emulated_tensor_fence(thread, 0);
  shardrt_emulated_cluster_barrier(thread, 4, line);
  shardrt_emulated_tensor_fence(thread, 1);
  shardrt_emulated_tensor_dealloc(thread, sums, 32, 1, 5, line);
}

template <Pair Fault> std::string passToThePair(int32_t blocks = 4) {
  std::string errors;
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result = run(passToThePair<Fault>, schedule, error, 64,
                                      32, blocks, 256, 7, true, 2);
    for (int32_t i = 0; i < blocks && error.empty(); ++i)
      EXPECT_EQ(result[i], 10 + i);
    errors += error.empty() ? "none\n" : error + "\n";
  }
  return errors;
}

TEST(Emulator, RunsBlocksOfAClusterSideBySide) {
  EXPECT_EQ(passToThePair<Pair::Right>(), "none\nnone\nnone\n");
}

TEST(Emulator, FindsMisusedClusters) {
  expectAllSay(passToThePair<Pair::Right>(3),
               "a grid of 3 blocks cannot be of clusters of 2");
  expectAllSay(passToThePair<Pair::WaitsThere>(),
               " waits for an mbarrier of another block");
  expectAllSay(passToThePair<Pair::NoSuchBlock>(),
               " of block 2 of a cluster of 2");
  expectAllSay(passToThePair<Pair::OneBlocksMemory>(),
               " uses tcgen05 of cta_group::1 in a cluster");
  expectAllSay(passToThePair<Pair::SecondBegins>(),
               "it is of a pair whose first block is to begin it");
  expectAllSay(passToThePair<Pair::CommitsTooFar>(),
               " commits to blocks that its cluster lacks");
  expectAllSay(passToThePair<Pair::CopiesTooFar>(),
               "it goes to blocks that its cluster lacks");
  expectAllSay(
      passToThePair<Pair::CopiesAlone>(),
      "its mbarrier is another block's, and it is not of cta_group::2");
  expectAllSay(passToThePair<Pair::ArrivesAtOneThatEnded>(),
               " an mbarrier of block 1 of its cluster, which has ended");
  expectAllSay(passToThePair<Pair::MultipliesWithOneThatEnded>(),
               "block 1 of its pair has ended");
}

// cvt.rna.tf32: ten bits of the fraction, ties away from zero.
TEST(Emulator, RoundsToTF32) {
  EXPECT_EQ(shardrt_emulated_tf32(1.0f), 0x3f800000);
  EXPECT_EQ(shardrt_emulated_tf32(1.0f + 0x1p-11f), 0x3f802000);
  EXPECT_EQ(shardrt_emulated_tf32(-1.0f - 0x1p-11f),
            static_cast<int32_t>(0xbf802000));
  EXPECT_EQ(shardrt_emulated_tf32(1.0f + 0x1p-11f - 0x1p-23f), 0x3f800000);
  EXPECT_EQ(shardrt_emulated_tf32(3.4028235e38f), 0x7f800000);
  EXPECT_EQ(shardrt_emulated_tf32(__builtin_inff()), 0x7f800000);
  EXPECT_EQ(shardrt_emulated_tf32(__builtin_nanf("")), 0x7fffffff);
}

//===----------------------------------------------------------------------===//
// Blocks that wait for flags of others
//===----------------------------------------------------------------------===//

enum class Chain { Right, NoTicket, NoFlag, NoRelease, NoWait, NoFence };

/// Blocks of one thread each: a counter, a flag for each of eight, and a number
/// for each, which is the one before and one more.
template <Chain Fault> void passOn(Thread *thread, const int64_t *args) {
  auto flag = [&](int64_t index) {
    return reinterpret_cast<char *>(args[0]) + index * 4;
  };
  auto atomic = [&](int64_t index) {
    return static_cast<int32_t *>(shardrt_emulated_global(
        thread, flag(index), 4, SHARDRT_EMULATED_ATOMIC, "kernel.py:20"));
  };
  int32_t number = (*atomic(0))++, value = 1;
  if (Fault == Chain::NoTicket)
    number = thread->block[0];
  if (number > 0) {
    do {
      if (Fault == Chain::NoWait)
        break;
      shardrt_emulated_poll(thread, flag(number), 1, "kernel.py:21");
    } while (*atomic(number) == 0);
    if (Fault != Chain::NoFence)
      shardrt_emulated_acquire(thread);
    value += *global<int32_t>(thread, args[0], 8 + number, false);
  }
  *global<int32_t>(thread, args[0], 9 + number, true) = value;
  if (Fault == Chain::NoFlag)
    return;
  if (Fault != Chain::NoRelease)
    shardrt_emulated_publish(thread, flag(1 + number));
  *atomic(1 + number) = 1;
}

std::vector<int32_t> runPassOn(shardrt_emulated_kernel kernel,
                               Schedule schedule, std::string &error) {
  std::vector<int32_t> buffer(17);
  Allocations allocations;
  allocations.add(reinterpret_cast<uintptr_t>(buffer.data()), 17 * 4);
  int64_t arguments[] = {tagged(buffer.data())};
  BlockRunner runner;
  runner.schedule = schedule;
  BlockRunner::Launch launch;
  launch.kernel = kernel;
  launch.arguments = arguments;
  launch.grid[0] = 8;
  launch.threads = 1;
  launch.hasBarriers = launch.hasFlags = launch.checked = true;
  error = runner.run(launch, allocations) ? "" : runner.error;
  return buffer;
}

TEST(Emulator, LetsBlocksWaitForThoseThatBeganBefore) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result =
        runPassOn(passOn<Chain::Right>, schedule, error);
    EXPECT_EQ(error, "");
    for (int32_t i = 0; i < 8; ++i)
      EXPECT_EQ(result[9 + i], i + 1);
  }
}

TEST(Emulator, FindsABlockThatWaitsForOneThatHasNotBegun) {
  std::string error;
  runPassOn(passOn<Chain::NoTicket>, Schedule::RunAhead, error);
  EXPECT_NE(error.find("thread 0 of block 7 for a flag in device memory that "
                       "nobody sets at kernel.py:21"),
            std::string::npos)
      << error;
}

TEST(Emulator, FindsWhatWasNotPublished) {
  for (Schedule schedule : schedules) {
    std::string error;
    runPassOn(passOn<Chain::NoFlag>, schedule, error);
    EXPECT_NE(error.find("flag in device memory that nobody sets"),
              std::string::npos)
        << error;
    for (auto *kernel : {passOn<Chain::NoRelease>, passOn<Chain::NoWait>,
                         passOn<Chain::NoFence>}) {
      runPassOn(kernel, schedule, error);
      EXPECT_NE(error.find("race on device memory: 4 bytes are read"),
                std::string::npos)
          << error;
    }
  }
}

/// Blocks of one thread each: a counter of blocks that have begun, one of those
/// that have added, and a sum. A block adds when all before it have.
enum class Turn { Right, OutOfTurn, Never };

template <Turn Fault> void addInTurn(Thread *thread, const int64_t *args) {
  auto place = [&](int64_t index) {
    return reinterpret_cast<char *>(args[0]) + index * 4;
  };
  auto atomic = [&](int64_t index) {
    return static_cast<int32_t *>(shardrt_emulated_global(
        thread, place(index), 4, SHARDRT_EMULATED_ATOMIC, "kernel.py:30"));
  };
  int32_t number = (*atomic(0))++;
  int32_t turn = number + (Fault == Turn::Never && number > 2 ? 1 : 0);
  while (Fault != Turn::OutOfTurn) {
    shardrt_emulated_poll(thread, place(1), 1, "kernel.py:31");
    if (*atomic(1) >= turn)
      break;
  }
  shardrt_emulated_acquire(thread);
  int32_t sum = *global<int32_t>(thread, args[0], 2, false);
  *global<int32_t>(thread, args[0], 2, true) = 2 * sum + number;
  shardrt_emulated_publish(thread, place(1));
  *atomic(1) = number + 1;
}

TEST(Emulator, LetsBlocksAddInTurn) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result =
        runPassOn(addInTurn<Turn::Right>, schedule, error);
    EXPECT_EQ(error, "");
    EXPECT_EQ(result[2], 247); // 2 * (... 2 * (2 * 0 + 0) + 1 ...) + 7
  }
}

TEST(Emulator, FindsWhatIsAddedOutOfTurn) {
  for (Schedule schedule : schedules) {
    std::string error;
    runPassOn(addInTurn<Turn::OutOfTurn>, schedule, error);
    EXPECT_NE(error.find("race on device memory: 4 bytes are read"),
              std::string::npos)
        << error;
    // Counted up, but not so far.
    runPassOn(addInTurn<Turn::Never>, schedule, error);
    EXPECT_NE(error.find("for a flag in device memory that nobody sets at "
                         "kernel.py:31"),
              std::string::npos)
        << error;
  }
}

TEST(Emulator, PoisonsSharedMemory) {
  std::string error;
  std::vector<int32_t> result =
      run(readsUnwritten, Schedule::RoundRobin, error);
  EXPECT_EQ(result[5], -1);
}

/// After a failure the next launch is as good as new.
TEST(Emulator, GoesOnAfterAFailure) {
  std::string error;
  run(pastShared, Schedule::RoundRobin, error);
  EXPECT_NE(error, "");
  run(reverse<true>, Schedule::RoundRobin, error);
  EXPECT_EQ(error, "");
}
} // namespace

//===- EmulatorTest.cpp - Threads of emulated kernels ---------------------===//
#include "EmulatorTest.h"

using namespace shardrt;
using namespace shardrt::test;

namespace {
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

//===- EmulatorBlocksTest.cpp - Emulated blocks that wait for one another -===//
#include "EmulatorTest.h"

using namespace shardrt;
using namespace shardrt::test;

namespace {
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
} // namespace

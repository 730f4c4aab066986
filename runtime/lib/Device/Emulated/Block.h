//===- Block.h - The threads of one emulated block --------------*- C++ -*-===//
//
// Threads that meet are fibers of one host thread. A schedule says who runs
// next where several can: round robin (each runs to its next meeting), run
// ahead (a warp runs on until it waits for the block), or random.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_EMULATED_BLOCK_H
#define SHARDRT_DEVICE_EMULATED_BLOCK_H

#include "Device/Emulated/Fiber.h"
#include "shardrt/Emulated.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shardrt {

/// Device memory that is allocated, by (host) address.
class Allocations {
public:
  void add(uintptr_t begin, int64_t bytes) { ranges[begin] = bytes; }
  /// Removes the allocation at `begin`; false if there is none.
  bool remove(uintptr_t begin) { return ranges.erase(begin) != 0; }
  bool contains(uintptr_t begin, int64_t bytes) const;

  std::map<uintptr_t, int64_t> ranges;
};

enum class Schedule { RoundRobin, RunAhead, Random };

class BlockRunner;

/// A copy from device to shared memory that is on its way: cp.async.
struct Copy {
  char *to = nullptr;
  const char *from = nullptr; ///< the host's address
  int32_t bytes = 0, fromBytes = 0;
  int64_t group = 0; ///< of its thread
  bool checked = false;
};

/// One CUDA thread.
struct Lane {
  enum class State { Ready, AtBarrier, AtWarp, Done };
  /// What lanes of a warp meet for.
  enum class Meeting { Barrier, Shuffle, LoadMatrix, Multiply };

  shardrt_emulated_thread thread = {};
  BlockRunner *runner = nullptr;
  Fiber fiber;
  State state = State::Done;
  int32_t number = 0; ///< in its block
  // What it waits in.
  const char *where = nullptr;
  int32_t place = 0; ///< which op
  uint32_t mask = 0;
  Meeting meeting = Meeting::Barrier;
  int32_t value = 0, from = 0, clamp = 0, kind = 0;
  int64_t result = 0;
  const char *row = nullptr;      ///< of a matrix
  const int32_t *words = nullptr; ///< of fragments
  int32_t *out = nullptr;
  std::vector<Copy> copies; ///< not waited for yet, in their order
  int64_t groups = 0;       ///< of copies, closed
};

class BlockRunner {
public:
  ~BlockRunner();

  struct Launch {
    shardrt_emulated_kernel kernel = nullptr;
    const int64_t *arguments = nullptr;
    int32_t grid[3] = {1, 1, 1};
    int32_t threads = 0;
    int64_t sharedBytes = 0;
    bool meets = false;
  };
  /// Runs all blocks of a launch. False with `error`.
  bool run(const Launch &launch, const Allocations &allocations);

  std::string error;
  Schedule schedule = Schedule::RoundRobin;
  uint64_t seed = 1;

  // What kernels call, through their lane.
  void barrier(Lane &lane, int32_t place, const char *where);
  int64_t meetWarp(Lane &lane);
  void *global(Lane &lane, void *address, int64_t bytes, bool writes,
               const char *where);
  void shared(Lane &lane, char *address, int64_t bytes, bool writes,
              const char *where);
  void copy(Lane &lane, const Copy &copy, void *from, const char *where);
  /// Lets the copies of all but the last `groups` groups arrive.
  void waitForCopies(Lane &lane, int32_t groups);
  void runKernel(Lane &lane);
  /// Records the first error and ends the lane; does not return to the kernel.
  void fail(Lane &lane, const std::string &text);

private:
  /// Who touched a byte of shared memory since the block's last barrier.
  struct Cell {
    uint32_t writeEpoch = 0, readEpoch = 0; ///< 0: never
    uint32_t writeWarpEpoch = 0, readWarpEpoch = 0;
    int32_t writer = 0, reader = 0;
    bool manyWarps = false; ///< read by several warps since the barrier
    bool manyLanes =
        false; ///< by several lanes of `reader`'s warp since they met
    const char *writeWhere = nullptr, *readWhere = nullptr;
    int32_t copies = 0; ///< on their way to it, begun by `writer`
  };
  void prepare(int32_t threads, int64_t sharedBytes);
  bool runPlain(int32_t block);
  bool runFibers(int32_t block);
  void resume(Lane &lane);
  void suspend(Lane &lane);
  bool tryWarp(Lane &lane);
  bool carryOut(Lane &lane, int32_t first, int32_t size);
  bool tryBarrier();
  std::string describe(const Lane &lane) const;
  std::string describeStuck() const;
  uint64_t next();

  const Launch *now = nullptr;
  const Allocations *memory = nullptr;
  std::vector<std::unique_ptr<Lane>> lanes;
  int32_t live = 0; ///< lanes in use
  std::vector<char> sharedMemory;
  std::vector<Cell> cells;
  uint32_t epoch = 1;
  std::vector<uint32_t> warpEpochs;
  Context scheduler;                      ///< where lanes return to
  uintptr_t knownBegin = 0, knownEnd = 0; ///< the allocation met last
  bool failed = false;
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_EMULATED_BLOCK_H

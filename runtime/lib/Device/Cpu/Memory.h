//===- Memory.h - A rank's arena and pool -----------------------*- C++ -*-===//
//
// Static buffers of a program are in one arena a rank, planned at compile time;
// dynamic ones come from a pool that never gives memory back before the end. So
// the steady state has neither system calls nor page faults.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_MEMORY_H
#define SHARDRT_DEVICE_CPU_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace shardrt {

class Segment;

/// Used by one thread at a time.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  /// Takes all memory from `segment`, which outlives this, so that other
  /// processes see it. Called before anything is asked for.
  void use(Segment *from) { segment = from; }

  /// The arena, of at least `bytes` bytes; NULL if it cannot be had.
  void *arena(int64_t bytes);
  /// A buffer of the pool; NULL if it cannot be had.
  void *allocate(int64_t bytes);
  void release(void *buffer);
  /// Takes back every buffer that was not released.
  void releaseAll();
  /// What it holds, and the most that it ever did; asked by any thread.
  int64_t bytes() const { return held.load(std::memory_order_relaxed); }
  int64_t peakBytes() const { return peak.load(std::memory_order_relaxed); }

  // For programs that take turns in it.

  /// A program begins: what is in use is counted anew.
  void beginProgram() { arenaUsed = peakUsed = 0; }
  /// It has ended: returns the most that it had in use, arena and buffers.
  /// Keeps no more idle buffers than any program has had in use.
  int64_t endProgram();
  /// Frees everything.
  void clear();

private:
  struct alignas(64) Header {
    int64_t bytes; ///< of the block, this header included
    size_t index;  ///< in `live`
    Header *next;  ///< in its list of idle blocks
  };
  void grow(int64_t bytes);
  void use();
  void *getBlock(int64_t bytes);
  void freeBlock(void *block);
  /// Puts `block`, which has a list, into it. Needs no memory.
  void retire(Header *block);

  Segment *segment = nullptr;

  void *arenaData = nullptr;
  int64_t arenaBytes = 0;
  std::map<int64_t, Header *> idle; ///< lists, by size of block
  std::vector<Header *> live;
  std::atomic<int64_t> held{0}, peak{0}; ///< written by one thread at a time
  int64_t liveBytes = 0, idleBytes = 0;  ///< of the pool
  int64_t arenaUsed = 0, peakUsed = 0;   ///< of the program that runs
  int64_t mostLive = 0;                  ///< … of all that have run
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_MEMORY_H

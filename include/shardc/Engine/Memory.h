//===- Memory.h - The memory of a device ------------------------*- C++ -*-===//
//
// A device does its work in the order in which it was enqueued. So memory
// that nobody refers to any more can be given to work that is enqueued
// later, though earlier work still uses it: each block says after which piece
// of work it is free.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ENGINE_MEMORY_H
#define SHARDC_ENGINE_MEMORY_H

#include "shardc/Engine/Failure.h"
#include "shardc/Engine/Ref.h"
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace shardc::engine {

class Device;

/// Memory that buffers are in. All but its address is guarded by the mutex of
/// its device.
struct Block {
  Device *device = nullptr;
  char *data = nullptr;
  int64_t capacity = 0;
  int64_t holders = 1; ///< buffers that are in it, and who looks into it
  int64_t lastUse = 0; ///< number of the device's last piece of work with it
  bool isLent = false; ///< not ours: `released` gives it back
  std::function<void()> released;
};

/// Blocks of one device. Guarded by the device's mutex.
class Pool {
public:
  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool();

  /// A block of at least `bytes` bytes, 64-byte aligned, for work that comes
  /// after `reached`; null if there is no memory. The first of equal size that
  /// is free by then.
  Block *take(Device &device, int64_t bytes, int64_t reached);
  /// Of blocks that `take` gave.
  void give(Block *block);
  /// Frees what is kept and free by `reached`.
  void trim(int64_t keep, int64_t reached);

  int64_t bytesInUse() const { return inUse; }
  int64_t peakBytes() const { return peak; }
  int64_t allocations() const { return count; }

private:
  /// Four sizes between one power of two and the next.
  static constexpr int kClasses = 4 * 48;
  static int classOf(int64_t bytes);
  static int64_t sizeOf(int index);

  std::array<std::vector<Block *>, kClasses> kept;
  int64_t inUse = 0, peak = 0, count = 0, keptBytes = 0;
};

/// What this process may use, in bytes: the machine's memory, or less where its
/// control group says so.
int64_t memoryLimit();

} // namespace shardc::engine

#endif // SHARDC_ENGINE_MEMORY_H

//===- Cores.h - Where threads run -----------------------------*- C++ -*-===//
#ifndef SHARDRT_CORE_CORES_H
#define SHARDRT_CORE_CORES_H

#include <cstdint>

namespace shardrt {

/// The cores that this process may use; at least 1.
int64_t countCores();

/// Moves the calling thread to the `index`-th core that this process may use
/// (counted round), and, unless `bind`, lets it go again: threads wake up on
/// the core of the one that woke them, and those that wait for each other there
/// look busy enough for the system to leave them.
void moveToCore(int64_t index, bool bind);

} // namespace shardrt

#endif // SHARDRT_CORE_CORES_H

//===- Cores.h - Where threads run ------------------------------*- C++ -*-===//
#ifndef SHARDRT_HOST_CORES_H
#define SHARDRT_HOST_CORES_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shardrt {

/// The cores that this process may use; at least 1.
int64_t countCores();
/// The same, where its control groups (version 2) allow for less. Opens files
/// of the system, which the above does not.
int64_t countGrantedCores();
/// What the control group `group` ("/a/b", or "") below `root` and those around
/// it may use, rounded up to whole cores; 0 where nothing is said.
int64_t coresOfGroup(const std::string &root, std::string group);

/// Moves the calling thread to the `index`-th core that this process may use
/// (counted round), and, unless `bind`, lets it go again: threads wake up on
/// the core of the one that woke them, and those that wait for each other there
/// look busy enough for the system to leave them.
void moveToCore(int64_t index, bool bind);

/// A core, 0 to `cores` - 1, for each of some threads with so much work a step:
/// the largest first, each to the core that has least. `now`, where they are,
/// if the busiest core would save less than a tenth.
std::vector<int64_t> spreadOverCores(std::span<const int64_t> work,
                                     int64_t cores,
                                     std::span<const int64_t> now);

} // namespace shardrt

#endif // SHARDRT_HOST_CORES_H

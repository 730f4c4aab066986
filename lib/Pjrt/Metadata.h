//===- Metadata.h - Where a compiled program's values are -------*- C++ -*-===//
//
// Reads the JSON that a program says of itself (docs/Reference/artifact.md)
// as far as shardings need it: the mesh, and of each argument and result the
// axes that cut its dims.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_METADATA_H
#define SHARDC_PJRT_METADATA_H

#include "Wire.h"

namespace shardc::pjrt {

struct ValueMetadata {
  /// Of each dim: numbers of mesh axes, major to minor.
  std::vector<std::vector<int64_t>> axes;
  /// Axes along which each rank has a part of a sum.
  std::vector<int64_t> partial;
  /// The kind of memory that it is in; "" where the program does not say.
  std::string memory;
  /// The partition that has the shard of each position of the mesh; empty: the
  /// position is the partition.
  std::vector<int64_t> ranks;
  /// Which dim of the caller's array each one is; empty: the same one.
  std::vector<int64_t> callerDims;
  bool isToken = false;
  /// Of an argument that is given up: the result whose memory it becomes, or -1
  /// for any.
  std::optional<int64_t> donated;
};

struct Metadata {
  std::vector<int64_t> mesh; ///< sizes, major to minor
  std::vector<ValueMetadata> arguments, results;
};

/// nullopt where `json` is not what the compiler writes.
std::optional<Metadata> readMetadata(std::string_view json);

/// The layout of a value of `mesh`: its tiles, and which partition has each.
Sharding shardingOf(const ValueMetadata &value,
                    const std::vector<int64_t> &mesh);

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_METADATA_H

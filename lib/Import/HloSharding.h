//===- HloSharding.h - Shardings in the text of HLO -------------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_HLOSHARDING_H
#define SHARDC_LIB_IMPORT_HLOSHARDING_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace shardc {

/// `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` and its kin, parsed.
struct HloSharding {
  enum class Kind { Tiled, Replicated, Manual, Maximal, Unknown };
  /// Ranks that differ by `stride` along one direction, `size` of them.
  struct Part {
    int64_t size, stride;
  };
  Kind kind = Kind::Replicated;
  /// For each tile dim, what cuts it, major to minor; parts are as fine as all
  /// tile dims need them.
  llvm::SmallVector<llvm::SmallVector<Part>> tiles;
  int64_t numTensorDims = 0; ///< the tile dims after these are `last` ones
  llvm::SmallVector<bool> lastIsManual; ///< for each of the last tile dims
  /// `shard_as 3` or `shard_like 3`: the values of one number are cut alike.
  std::optional<int64_t> group;
};

/// `text` itself, or the shardings of a tuple: `{{replicated}, {manual}}`.
llvm::SmallVector<llvm::StringRef> splitHloTuple(llvm::StringRef text);

/// The number of partitions that `text` is over; 1 if it does not say.
int64_t countHloPartitions(llvm::StringRef text);

/// Reads one sharding over `numRanks` ranks. Returns an empty string, or what
/// is wrong or unknown.
std::string parseHloSharding(llvm::StringRef text, int64_t numRanks,
                             HloSharding &sharding);

} // namespace shardc

#endif // SHARDC_LIB_IMPORT_HLOSHARDING_H

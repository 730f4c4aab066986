//===- Save.h - One checkpoint that is being made ---------------*- C++ -*-===//
#ifndef SHARDRT_CHECKPOINT_SAVE_H
#define SHARDRT_CHECKPOINT_SAVE_H

#include "Checkpoint/Files.h"
#include "shardrt/Checkpoint.h"
#include <atomic>
#include <memory>

namespace shardrt::checkpoint {

class Save {
public:
  explicit Save(std::shared_ptr<const Directory> directory)
      : directory(std::move(directory)) {}
  ~Save();

  Status begin(const shardrt_checkpoint_info &info,
               const shardrt_checkpoint_value *values, int64_t count);
  Status create();
  Status write(int64_t rank, const void *const *data);
  std::vector<Digest> &digestsOf(int64_t rank) { return digests[rank]; }
  Status commit(int64_t keep);
  int64_t numRanks() const { return index.ranks; }

private:
  /// A block that a rank writes.
  struct Part {
    size_t value;
    int64_t cell, block; ///< the block's number within the cell
  };
  Status addValue(const shardrt_checkpoint_value &given);
  /// Writes and syncs a file of its own.
  Status writeText(const char *name, const std::string &text);
  Status prune(int64_t keep);

  std::shared_ptr<const Directory> directory;
  Index index;
  std::vector<std::vector<int64_t>> cellOf; ///< [value][rank]; -1: nothing
  std::vector<std::vector<Part>> parts;     ///< by rank
  std::vector<std::vector<Digest>> digests; ///< by rank, as its parts
  std::string name, path;                   ///< of the unfinished folder
  File folder;                              ///< it, in the process that made it
};

} // namespace shardrt::checkpoint

#endif // SHARDRT_CHECKPOINT_SAVE_H

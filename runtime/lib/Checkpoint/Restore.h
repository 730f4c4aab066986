//===- Restore.h - One checkpoint that is being read ------------*- C++ -*-===//
#ifndef SHARDRT_CHECKPOINT_RESTORE_H
#define SHARDRT_CHECKPOINT_RESTORE_H

#include "Checkpoint/Files.h"

namespace shardrt::checkpoint {

class Restore {
public:
  Status open(const Directory &directory, int64_t step);
  Status verify(int64_t share, int64_t shares) const;
  /// Reads bytes [from, to) of a box of a value to `data`, which is where the
  /// first of them goes.
  Status read(const Value &value, const Box &box, int64_t from, int64_t to,
              void *data) const;

  Index index;

private:
  std::string path; ///< of the file of values
  File file;
  int64_t begin = 0; ///< of the values' bytes
};

} // namespace shardrt::checkpoint

#endif // SHARDRT_CHECKPOINT_RESTORE_H

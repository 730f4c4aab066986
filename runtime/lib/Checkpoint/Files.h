//===- Files.h - A directory of checkpoints ---------------------*- C++ -*-===//
//
// All files are opened below one open directory, and never through a symbolic
// link: who changes names meanwhile leads nobody elsewhere.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_CHECKPOINT_FILES_H
#define SHARDRT_CHECKPOINT_FILES_H

#include "Checkpoint/Index.h"
#include <sys/types.h>
#include <utility>

namespace shardrt::checkpoint {

/// A file descriptor.
class File {
public:
  explicit File(int descriptor = -1) : descriptor(descriptor) {}
  File(File &&other) : descriptor(std::exchange(other.descriptor, -1)) {}
  File &operator=(File &&other) {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~File();
  int get() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }
  /// Closes it; false, with errno, where what was written is not kept.
  bool close();

private:
  int descriptor;
};

/// What errno says, about `file`.
Status systemError(const std::string &file, const char *doing);

/// Opens the regular file `name` of the directory `at`, which errors call
/// `path`.
Status openFile(int at, const char *name, const std::string &path, int flags,
                File &file);

/// Writes, or reads, all of it.
Status writeAt(int file, const std::string &path, const void *data,
               int64_t bytes, int64_t offset);
Status readAt(int file, const std::string &path, void *data, int64_t bytes,
              int64_t offset);

/// The names in the directory `at`, but for "." and "..".
Status listNames(int at, const std::string &path,
                 std::vector<std::string> &names);

/// Removes the folder `name`, with what is in it, from the directory `at`.
Status removeFolder(int at, const char *name, const std::string &path);

/// An open directory of checkpoints.
class Directory {
public:
  Status open(const std::string &path, bool writes);
  /// Steps of which there is a checkpoint, ascending.
  Status steps(std::vector<int64_t> &found) const;

  static std::string nameOf(int64_t step);
  int get() const { return directory.get(); }
  bool isWriter() const { return bool(lock); }

  std::string path;

private:
  Status takeLock();
  File directory, lock;
};

inline constexpr char kState[] = "state.safetensors";
inline constexpr char kIndex[] = "index.json";
inline constexpr char kDigest[] = "index.sha256";
/// Folders that are being made, or removed, begin so.
inline constexpr char kUnfinished[] = ".unfinished-";

} // namespace shardrt::checkpoint

#endif // SHARDRT_CHECKPOINT_FILES_H

//===- Checkpoint.cpp - The C surface of checkpoints ----------------------===//

#include "shardrt/Checkpoint.h"
#include "Checkpoint/Restore.h"
#include "Checkpoint/Save.h"
#include "Host/WriteError.h"
#include <algorithm>
#include <exception>

using namespace shardrt;
using namespace shardrt::checkpoint;

struct shardrt_checkpoints {
  std::shared_ptr<Directory> directory;
};
struct shardrt_save {
  explicit shardrt_save(std::shared_ptr<const Directory> directory)
      : save(std::move(directory)) {}
  Save save;
};
struct shardrt_restore {
  Restore restore;
};

/// Does `work`, and returns its status; SHARDRT_USAGE without its `handle`.
template <typename Work>
static int run(const void *handle, char *error, size_t errorSize, Work work) {
  if (!handle) {
    writeError(error, errorSize, "a NULL argument");
    return SHARDRT_USAGE;
  }
  try {
    Status status = work();
    if (status.failed())
      writeError(error, errorSize, status.text);
    return status.code;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory in a checkpoint");
    return SHARDRT_MEMORY;
  }
}

extern "C" {

int shardrt_checkpoints_open(const char *path, int writes,
                             shardrt_checkpoints **checkpoints, char *error,
                             size_t error_size) {
  return run(checkpoints, error, error_size, [&]() -> Status {
    if (!path || !*path)
      return {SHARDRT_USAGE, "no directory of checkpoints is named"};
    auto opened = std::make_unique<shardrt_checkpoints>();
    opened->directory = std::make_shared<Directory>();
    Status status = opened->directory->open(path, writes != 0);
    if (!status.failed())
      *checkpoints = opened.release();
    return status;
  });
}

void shardrt_checkpoints_close(shardrt_checkpoints *checkpoints) {
  delete checkpoints;
}

int64_t shardrt_checkpoints_steps(const shardrt_checkpoints *checkpoints,
                                  int64_t *steps, int64_t capacity, char *error,
                                  size_t error_size) {
  std::vector<int64_t> found;
  int failed = run(checkpoints, error, error_size,
                   [&] { return checkpoints->directory->steps(found); });
  if (failed)
    return -1;
  for (int64_t i = 0; i < std::min<int64_t>(capacity, found.size()); ++i)
    steps[i] = found[i];
  return static_cast<int64_t>(found.size());
}

int shardrt_save_begin(const shardrt_checkpoints *checkpoints,
                       const shardrt_checkpoint_info *info,
                       const shardrt_checkpoint_value *values,
                       int64_t num_values, shardrt_save **save, char *error,
                       size_t error_size) {
  return run(checkpoints, error, error_size, [&]() -> Status {
    if (!info || !save || num_values < 0 || (num_values > 0 && !values))
      return {SHARDRT_USAGE, "a NULL argument"};
    auto begun = std::make_unique<shardrt_save>(checkpoints->directory);
    Status status = begun->save.begin(*info, values, num_values);
    if (!status.failed())
      *save = begun.release();
    return status;
  });
}

int shardrt_save_create(shardrt_save *save, char *error, size_t error_size) {
  return run(save, error, error_size, [&] { return save->save.create(); });
}

int shardrt_save_write(shardrt_save *save, int64_t rank,
                       const void *const *data, char *error,
                       size_t error_size) {
  return run(save, error, error_size, [&]() -> Status {
    if (rank < 0 || rank >= save->save.numRanks())
      return {SHARDRT_USAGE, "there is no rank " + std::to_string(rank)};
    if (!data)
      return {SHARDRT_USAGE, "a NULL argument"};
    return save->save.write(rank, data);
  });
}

void *shardrt_save_digests(shardrt_save *save, int64_t rank, int64_t *bytes) {
  if (!save || !bytes)
    return nullptr;
  std::vector<Digest> &digests = save->save.digestsOf(rank);
  *bytes = static_cast<int64_t>(digests.size() * sizeof(Digest));
  return digests.data();
}

int shardrt_save_commit(shardrt_save *save, int64_t keep, char *error,
                        size_t error_size) {
  return run(save, error, error_size, [&] { return save->save.commit(keep); });
}

void shardrt_save_end(shardrt_save *save) { delete save; }

int shardrt_restore_begin(const shardrt_checkpoints *checkpoints, int64_t step,
                          shardrt_restore **restore, char *error,
                          size_t error_size) {
  return run(checkpoints, error, error_size, [&]() -> Status {
    if (!restore || step < 0)
      return {SHARDRT_USAGE, "no checkpoint is named"};
    auto begun = std::make_unique<shardrt_restore>();
    Status status = begun->restore.open(*checkpoints->directory, step);
    if (!status.failed())
      *restore = begun.release();
    return status;
  });
}

void shardrt_restore_end(shardrt_restore *restore) { delete restore; }

void shardrt_restore_info(const shardrt_restore *restore,
                          shardrt_checkpoint_info *info) {
  if (!info)
    return;
  *info = {};
  if (!restore)
    return;
  const Index &index = restore->restore.index;
  *info = {index.step, index.seed, index.ranks, index.mesh.c_str(),
           index.program.c_str()};
}

int64_t shardrt_restore_num_values(const shardrt_restore *restore) {
  if (!restore)
    return 0;
  return static_cast<int64_t>(restore->restore.index.values.size());
}

int shardrt_restore_value(const shardrt_restore *restore, int64_t value,
                          shardrt_checkpoint_value *described) {
  if (!described || value < 0 || value >= shardrt_restore_num_values(restore))
    return SHARDRT_USAGE;
  const std::vector<Value> &values = restore->restore.index.values;
  const Value &found = values[value];
  // Names of types are literals.
  *described = {found.name.c_str(), elementTypeName(found.type).data(),
                static_cast<int64_t>(found.shape.size()), found.shape.data(),
                nullptr};
  return SHARDRT_OK;
}

int shardrt_restore_verify(const shardrt_restore *restore, int64_t share,
                           int64_t shares, char *error, size_t error_size) {
  return run(restore, error, error_size, [&]() -> Status {
    if (share < 0 || share >= shares)
      return {SHARDRT_USAGE, "there is no such share"};
    return restore->restore.verify(share, shares);
  });
}

int shardrt_restore_box(const shardrt_restore *restore, int64_t value,
                        const int64_t *box, void *data, char *error,
                        size_t error_size) {
  return run(restore, error, error_size, [&]() -> Status {
    const std::vector<Value> &values = restore->restore.index.values;
    if (value < 0 || value >= static_cast<int64_t>(values.size()))
      return {SHARDRT_USAGE, "there is no such value"};
    const Value &from = values[value];
    if (!data || (!box && !from.shape.empty()))
      return {SHARDRT_USAGE, "a NULL argument"};
    Box asked;
    for (size_t d = 0; d < from.shape.size(); ++d) {
      if (box[2 * d] < 0 || box[2 * d] > box[2 * d + 1] ||
          box[2 * d + 1] > from.shape[d])
        return {SHARDRT_USAGE,
                "a box that lies outside of '" + from.name + "'"};
      asked.push_back({box[2 * d], box[2 * d + 1]});
    }
    return restore->restore.read(from, asked, 0,
                                 bytesOf(asked, elementBytes(from.type)), data);
  });
}

} // extern "C"

/*===- Checkpoint.h - Values that outlive a job --------------------*- C
-*-===*\
|*
|* A directory of checkpoints holds one folder a step:
|*
|*     step-00000120/state.safetensors   the values, whole and row-major
|*     step-00000120/index.json          step, program, cuts, SHA-256 of blocks
|*     step-00000120/index.sha256        of index.json, as sha256sum writes it
|*
|* Every rank writes its boxes of the values to their places in the one file, at
|* the same time as the others. The folder gets its name when all of it is on
the
|* disk: whoever looks finds a checkpoint whole, or the one before. Since values
|* lie there whole, ranks of any other mesh read the boxes that they need.
|*
|* What is read is not trusted. docs/Concepts/Checkpoints.md describes the
format.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_CHECKPOINT_H
#define SHARDRT_CHECKPOINT_H

#include "shardrt/shardrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A directory of checkpoints, open. */
typedef struct shardrt_checkpoints shardrt_checkpoints;

/** Opens the directory at `path`, which must not be a symbolic link. `writes`:
 * makes it where there is none, takes its lock (one job at a time saves there)
 * and removes what a job has left that was killed. Returns SHARDRT_OK, or
 * SHARDRT_IO and why in `error` (as everywhere here). */
SHARDRT_EXPORT int shardrt_checkpoints_open(const char *path, int writes,
                                            shardrt_checkpoints **checkpoints,
                                            char *error, size_t error_size);
SHARDRT_EXPORT void shardrt_checkpoints_close(shardrt_checkpoints *checkpoints);
/** Writes the steps of which there is a checkpoint, ascending, `capacity` of
 * them at most. Returns how many there are; -1 with `error` where the directory
 * cannot be read. */
SHARDRT_EXPORT int64_t shardrt_checkpoints_steps(
    const shardrt_checkpoints *checkpoints, int64_t *steps, int64_t capacity,
    char *error, size_t error_size);

/** A value to be saved. */
typedef struct shardrt_checkpoint_value {
  const char *name;         /**< printable ASCII; no two values have the same */
  const char *element_type; /**< "f32" */
  int64_t num_dims;
  const int64_t *shape; /**< of the whole value */
  /** The box of every rank: begin and end of each dim, by rank. Together they
   * cut every dim into parts: two boxes are the same, or disjoint, or empty. */
  const int64_t *boxes;
} shardrt_checkpoint_value;

/** What a checkpoint says of itself. */
typedef struct shardrt_checkpoint_info {
  int64_t step;
  int64_t seed;        /**< of random inputs */
  int64_t ranks;       /**< that saved it */
  const char *mesh;    /**< "x=2,y=2"; printable ASCII */
  const char *program; /**< SHA-256 of the model, in 64 hexadecimal digits */
} shardrt_checkpoint_info;

/** One checkpoint that is being saved. Each process of a job makes one of the
 * same values; then, each time after all have done what is before: the one
 * of rank 0 creates, each writes for its ranks, the one of rank 0 is given the
 * digests of all ranks and commits. */
typedef struct shardrt_save shardrt_save;

SHARDRT_EXPORT int shardrt_save_begin(const shardrt_checkpoints *checkpoints,
                                      const shardrt_checkpoint_info *info,
                                      const shardrt_checkpoint_value *values,
                                      int64_t num_values, shardrt_save **save,
                                      char *error, size_t error_size);
/** Makes the files, of their full size, under a name that nobody takes for a
 * checkpoint. */
SHARDRT_EXPORT int shardrt_save_create(shardrt_save *save, char *error,
                                       size_t error_size);
/** Writes the part of `rank`: `data[i]` is its box of value i, dense and
 * row-major. Where several ranks hold the same box each writes a share of it.
 * Returns when the disk has it. Ranks of one process may do so at the same
 * time. */
SHARDRT_EXPORT int shardrt_save_write(shardrt_save *save, int64_t rank,
                                      const void *const *data, char *error,
                                      size_t error_size);
/** The digests of what `rank` has written (or, to be filled, has written in
 * another process), and their number of bytes, which may be 0. */
SHARDRT_EXPORT void *shardrt_save_digests(shardrt_save *save, int64_t rank,
                                          int64_t *bytes);
/** Writes the index and gives the checkpoint its name; then removes the oldest
 * until `keep` are left (0: none is removed). */
SHARDRT_EXPORT int shardrt_save_commit(shardrt_save *save, int64_t keep,
                                       char *error, size_t error_size);
/** Removes what was not committed, in the process that created it. */
SHARDRT_EXPORT void shardrt_save_end(shardrt_save *save);

/** A checkpoint that is being read. */
typedef struct shardrt_restore shardrt_restore;

/** Opens the checkpoint of `step`; reads and checks its index. */
SHARDRT_EXPORT int shardrt_restore_begin(const shardrt_checkpoints *checkpoints,
                                         int64_t step,
                                         shardrt_restore **restore, char *error,
                                         size_t error_size);
SHARDRT_EXPORT void shardrt_restore_end(shardrt_restore *restore);
/** Strings are valid as long as `restore`. */
SHARDRT_EXPORT void shardrt_restore_info(const shardrt_restore *restore,
                                         shardrt_checkpoint_info *info);
SHARDRT_EXPORT int64_t
shardrt_restore_num_values(const shardrt_restore *restore);
/** Describes value number `value` (`boxes` is NULL); SHARDRT_USAGE if there is
 * none. Valid as long as `restore`. */
SHARDRT_EXPORT int shardrt_restore_value(const shardrt_restore *restore,
                                         int64_t value,
                                         shardrt_checkpoint_value *described);
/** Compares the digests of one of `shares` parts of the file, about equal ones:
 * ranks share the work. SHARDRT_IO names what is damaged. */
SHARDRT_EXPORT int shardrt_restore_verify(const shardrt_restore *restore,
                                          int64_t share, int64_t shares,
                                          char *error, size_t error_size);
/** Reads a box of a value (begin and end of each dim) to `data`, dense and
 * row-major. */
SHARDRT_EXPORT int shardrt_restore_box(const shardrt_restore *restore,
                                       int64_t value, const int64_t *box,
                                       void *data, char *error,
                                       size_t error_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHARDRT_CHECKPOINT_H */

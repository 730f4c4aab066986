/*===- Devices.h - The GPUs of this machine ----------------------*- C -*-===*\
|*
|* How many there are, and memory of theirs that programs share.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_DEVICES_H
#define SHARDRT_DEVICES_H

#include "shardrt/shardrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How many CUDA devices there are, and the bytes of memory of the smallest.
 * Ranks take them in turn. SHARDRT_UNSUPPORTED where the driver or devices are
 * missing: both are 0 then. */
SHARDRT_EXPORT int shardrt_cuda_devices(int64_t *count, int64_t *bytes);

/** Memory of one device, which outlives programs: what arguments and results
 * are in that stay there between runs (`memories` of shardrt_world_options).
 * Functions may be called by any thread. Errors: a shardrt_status, and why in
 * `error` (NUL-terminated, cut to `error_size`). */
typedef struct shardrt_memory shardrt_memory;

/** That of CUDA device number `device`, which is taken modulo how many there
 * are; with `emulated` not 0 of a device that the host emulates. */
SHARDRT_EXPORT int shardrt_memory_open(int emulated, int64_t device,
                                       shardrt_memory **memory, char *error,
                                       size_t error_size);
/** Frees all that is in it. After every world that uses it. */
SHARDRT_EXPORT void shardrt_memory_close(shardrt_memory *memory);
/** Which CUDA device it is of; -1 of an emulated one. */
SHARDRT_EXPORT int64_t shardrt_memory_device(const shardrt_memory *memory);
/** Memory aligned to 256 bytes; NULL where there is none. */
SHARDRT_EXPORT void *shardrt_memory_allocate(shardrt_memory *memory,
                                             int64_t bytes, char *error,
                                             size_t error_size);
SHARDRT_EXPORT void shardrt_memory_free(shardrt_memory *memory, void *data);
/** Copies from the host, to it, and from another memory of the same kind;
 * return when that is done. Work that the bytes wait for is done before. */
SHARDRT_EXPORT int shardrt_memory_write(shardrt_memory *memory, void *to,
                                        const void *host, int64_t bytes,
                                        char *error, size_t error_size);
SHARDRT_EXPORT int shardrt_memory_read(shardrt_memory *memory, void *host,
                                       const void *from, int64_t bytes,
                                       char *error, size_t error_size);
SHARDRT_EXPORT int shardrt_memory_copy(shardrt_memory *memory, void *to,
                                       shardrt_memory *source, const void *from,
                                       int64_t bytes, char *error,
                                       size_t error_size);

/** What a device was asked to do. */
typedef struct shardrt_device_counts {
  int64_t launches;  /**< of kernels, but for those of recordings */
  int64_t uploads;   /**< copies from the host */
  int64_t downloads; /**< copies to the host */
  int64_t recorded;  /**< steps of which a graph was made */
  int64_t updated;   /**< … in the place of one of other addresses */
  int64_t replayed;  /**< steps done by a graph */
} shardrt_device_counts;

/** Since the world was made, on `rank`; SHARDRT_USAGE if there is no such rank,
 * or the program has no kernels. Of ranks that record together the first has
 * what is recorded and replayed. Not during a run. */
SHARDRT_EXPORT int shardrt_world_device_counts(const shardrt_world *world,
                                               int64_t rank,
                                               shardrt_device_counts *counts);
/** The result of calls about `memory`. */
SHARDRT_EXPORT int shardrt_memory_counts(shardrt_memory *memory,
                                         shardrt_device_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* SHARDRT_DEVICES_H */

/*===- Emulated.h - What emulated kernels call --------------------*- C -*-===*\
|*
|* --spmd-emulate-nvvm turns a kernel into a function that does what one CUDA
|* thread does. It reads who it is from its thread and calls what needs other
|* threads. docs/Rationale/GPU.md section 5.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_EMULATED_H
#define SHARDRT_EMULATED_H

#include "shardrt/shardrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Device addresses differ from the host's by this bit: neither side can follow
 * the other's. */
#define SHARDRT_EMULATED_TAG (INT64_C(1) << 62)

/** One CUDA thread. Kernels read the first fields; the compiler knows their
 * offsets. */
typedef struct shardrt_emulated_thread {
  int32_t thread[3];
  int32_t block[3];
  int32_t block_dim[3];
  int32_t grid_dim[3];
  char *shared; /**< the block's shared memory */
  void *owner;  /**< the emulator's own */
  int32_t rank; /**< of the block in its cluster */
} shardrt_emulated_thread;

/** A kernel: the thread, and its arguments of 8 bytes each. */
typedef void (*shardrt_emulated_kernel)(shardrt_emulated_thread *thread,
                                        const int64_t *arguments);

/** Flags of a kernel in shardc_kernel_traits. */
enum shardrt_emulated_flags {
  SHARDRT_EMULATED_BARRIERS = 1, /**< has barriers or shuffles, or is checked */
  SHARDRT_EMULATED_ORDERED = 2,  /**< has mbarriers */
  SHARDRT_EMULATED_CHECKED = 4,  /**< says of every access what it is */
  SHARDRT_EMULATED_FLAGS = 8,    /**< blocks wait for flags of others */
  SHARDRT_EMULATED_PAIRS = 16    /**< two blocks side by side are a cluster */
};

/** __syncthreads: returns when all threads of the block are here. `place` is
 * the number of the op in the program, `where` its source line, for reports. */
SHARDRT_EXPORT void shardrt_emulated_barrier(shardrt_emulated_thread *thread,
                                             int32_t place, const char *where);
/** barrier.cluster.arrive and wait: the same of all blocks of the cluster. */
SHARDRT_EXPORT void
shardrt_emulated_cluster_barrier(shardrt_emulated_thread *thread, int32_t place,
                                 const char *where);
/** mapa.shared::cluster: what is at `address` of the thread's own block, in
 * block `rank` of its cluster. Only mbarriers are reached there. */
SHARDRT_EXPORT void *
shardrt_emulated_map_shared(shardrt_emulated_thread *thread, void *address,
                            int32_t rank, const char *where);
/** __syncwarp of the lanes in `mask`. */
SHARDRT_EXPORT void
shardrt_emulated_warp_barrier(shardrt_emulated_thread *thread, int32_t mask,
                              int32_t place, const char *where);

enum shardrt_emulated_shuffle_kind {
  SHARDRT_SHUFFLE_IDX = 0,
  SHARDRT_SHUFFLE_UP = 1,
  SHARDRT_SHUFFLE_DOWN = 2,
  SHARDRT_SHUFFLE_BFLY = 3
};
/** shfl.sync: 32 bits of another lane, chosen as PTX does by `lane` and
 * `clamp` (segment mask and limit). The upper half of the result is 1 where the
 * lane was in range. */
SHARDRT_EXPORT int64_t shardrt_emulated_shuffle(shardrt_emulated_thread *thread,
                                                int32_t mask, int32_t value,
                                                int32_t lane, int32_t clamp,
                                                int32_t kind, int32_t place,
                                                const char *where);

enum shardrt_emulated_vote_kind {
  SHARDRT_VOTE_ANY = 0,
  SHARDRT_VOTE_ALL = 1,
  SHARDRT_VOTE_UNI = 2,
  SHARDRT_VOTE_BALLOT = 3
};
/** vote.sync: whether any or all of the lanes in `mask` say other than 0, or
 * all say the same; a ballot has a bit for each lane that does. */
SHARDRT_EXPORT int32_t shardrt_emulated_vote(shardrt_emulated_thread *thread,
                                             int32_t mask, int32_t value,
                                             int32_t kind, int32_t place,
                                             const char *where);

/** elect.sync of all lanes of a warp: 1 for one of them. None hears of what
 * others did. */
SHARDRT_EXPORT int32_t shardrt_emulated_elect(shardrt_emulated_thread *thread,
                                              int32_t place, const char *where);

/** ldmatrix of `count` (1, 2 or 4) 8 x 8 matrices of 16-bit elements: lane i of
 * the first 8 * count gives the address of a row of shared memory. `out`
 * receives `count` words: of lane l elements 2 (l % 4) and the next of row l /
 * 4 (of column l / 4, where `transposed`). */
SHARDRT_EXPORT void shardrt_emulated_ldmatrix(shardrt_emulated_thread *thread,
                                              void *row, int32_t count,
                                              int32_t transposed, int32_t *out,
                                              int32_t place, const char *where);

enum shardrt_emulated_mma_kind {
  SHARDRT_MMA_F16 = 0,
  SHARDRT_MMA_BF16 = 1,
  SHARDRT_MMA_TF32 = 2,
  SHARDRT_MMA_F64 = 3
};
/** mma.sync.m16n8k16 (tf32: k8) with f32 accumulators: `words` are a lane's
 * four of the left matrix, two of the right one and four of what is added;
 * `out` receives four. Of f32 that are taken as tf32 the last 13 bits are not
 * looked at. Of f64 it is m8n8k4: two words of each matrix in the same places,
 * and two numbers of what is added, and of what `out` receives. */
SHARDRT_EXPORT void shardrt_emulated_mma(shardrt_emulated_thread *thread,
                                         int32_t kind, const int32_t *words,
                                         int32_t *out, int32_t place,
                                         const char *where);

/** cvt.rna.tf32.f32: the bits of `value` with 10 of its fraction, ties away
 * from zero. */
SHARDRT_EXPORT int32_t shardrt_emulated_tf32(float value);

/** cp.async: `from_bytes` of the `bytes` (4, 8 or 16) at `to` in shared memory
 * come from device memory, the others are zeros, when the thread waits for the
 * group that it puts them in next. `check`: look at races and bounds. */
SHARDRT_EXPORT void shardrt_emulated_copy(shardrt_emulated_thread *thread,
                                          void *to, void *from, int32_t bytes,
                                          int32_t from_bytes, int32_t check,
                                          const char *where);
/** cp.async.commit_group, and cp.async.wait_group: all but the last `groups`
 * groups of the thread have arrived. */
SHARDRT_EXPORT void
shardrt_emulated_copy_commit(shardrt_emulated_thread *thread);
SHARDRT_EXPORT void shardrt_emulated_copy_wait(shardrt_emulated_thread *thread,
                                               int32_t groups);

/** mbarrier.init, for `count` arrivals a phase. */
SHARDRT_EXPORT void
shardrt_emulated_mbarrier_init(shardrt_emulated_thread *thread, void *barrier,
                               int32_t count, const char *where);
/** mbarrier.arrive, or arrive.expect_tx where `bytes` is not zero. */
SHARDRT_EXPORT void
shardrt_emulated_mbarrier_arrive(shardrt_emulated_thread *thread, void *barrier,
                                 int32_t bytes, const char *where);
/** mbarrier.try_wait.parity: returns, true, when the phase of that parity is
 * complete. */
SHARDRT_EXPORT int32_t
shardrt_emulated_mbarrier_wait(shardrt_emulated_thread *thread, void *barrier,
                               int32_t parity, const char *where);
/** fence.proxy.async, fence.mbarrier_init. */
SHARDRT_EXPORT void
shardrt_emulated_async_fence(shardrt_emulated_thread *thread);
/** Bits of how shardrt_emulated_tma_copy copies. */
enum shardrt_emulated_tma_config {
  SHARDRT_TMA_CHECK = 1,  /**< look at races and bounds */
  SHARDRT_TMA_PAIR = 2,   /**< cta_group::2: `barrier` may be its pair's */
  SHARDRT_TMA_WINDOWS = 4 /**< im2col: offsets follow in `at` */
};
/** ... of which these say which blocks of the cluster get it (multicast), at
 * the same place and with the same mbarrier of their own; 0: the thread's
 * alone. */
#define SHARDRT_TMA_BLOCKS(mask) ((int32_t)(mask) << 8)
/** cp.async.bulk.tensor: a box of the tensor of `map` (shardrt/TensorMap.h) to
 * `to` in shared memory. It arrives when nothing else can happen. `at` are the
 * box's first indices, fastest first; of windows those of the first pixel, then
 * by how much all are moved along each dim between channels and images. */
SHARDRT_EXPORT void shardrt_emulated_tma_copy(shardrt_emulated_thread *thread,
                                              void *to, const int64_t *map,
                                              void *barrier, const int32_t *at,
                                              int32_t rank, int32_t config,
                                              const char *where);

/** Bits of what shardrt_emulated_product multiplies. */
enum shardrt_emulated_product_config {
  SHARDRT_PRODUCT_COLUMNS = 511,      /**< how many columns, 8 to 256 */
  SHARDRT_PRODUCT_BF16 = 512,         /**< else f16 */
  SHARDRT_PRODUCT_LEFT_LINES = 1024,  /**< neighbours in memory are rows */
  SHARDRT_PRODUCT_RIGHT_LINES = 2048, /**< neighbours in memory are columns */
  SHARDRT_PRODUCT_CHECK = 4096,       /**< look at races */
  SHARDRT_PRODUCT_TF32 = 8192,        /**< of f32 as tf32: k8 */
  SHARDRT_PRODUCT_REGISTERS = 16384,  /**< the left matrix is in registers */
  SHARDRT_PRODUCT_F8 = 32768,         /**< of e4m3 but where said: k32 */
  SHARDRT_PRODUCT_LEFT_E5M2 = 65536,
  SHARDRT_PRODUCT_RIGHT_E5M2 = 131072
};
/** wgmma.mma_async.m64nNk16 with f32 sums: 128 threads synchronise, and add the
 * product of two matrices in shared memory, given by descriptors, to the sums
 * of a handle (0: zeros). Returns the handle of the new sums, which are there
 * when their group has been waited for. */
SHARDRT_EXPORT int64_t shardrt_emulated_product(shardrt_emulated_thread *thread,
                                                int64_t left, int64_t right,
                                                int64_t sums, int32_t config,
                                                int32_t place,
                                                const char *where);
/** The same where the left matrix is in registers: `words` are a lane's four.
 */
SHARDRT_EXPORT int64_t shardrt_emulated_product_of_registers(
    shardrt_emulated_thread *thread, const int32_t *words, int64_t right,
    int64_t sums, int32_t config, int32_t place, const char *where);
/** wgmma.fence, wgmma.commit_group, wgmma.wait_group. */
SHARDRT_EXPORT void
shardrt_emulated_product_fence(shardrt_emulated_thread *thread);
SHARDRT_EXPORT void
shardrt_emulated_product_commit(shardrt_emulated_thread *thread);
SHARDRT_EXPORT void
shardrt_emulated_product_wait(shardrt_emulated_thread *thread, int64_t groups);
/** Number `index` of the thread's sums. */
SHARDRT_EXPORT float shardrt_emulated_sum(shardrt_emulated_thread *thread,
                                          int64_t sums, int32_t index,
                                          const char *where);
/** Sets number `index` of the thread's sums, of which there are `count`, and
 * returns their handle; of handle 0 it makes others. */
SHARDRT_EXPORT int64_t shardrt_emulated_set_sum(shardrt_emulated_thread *thread,
                                                int64_t sums, int32_t index,
                                                int32_t count, float value,
                                                const char *where);

/** tcgen05.alloc, dealloc and relinquish_alloc_permit, for all lanes of a warp:
 * `columns` of tensor memory, whose address goes to `to` in shared memory. An
 * address is a word: the lane in its upper half, the column in the lower one.
 * `pair`: of cta_group::2, which a warp of each block of a pair does. */
SHARDRT_EXPORT void
shardrt_emulated_tensor_alloc(shardrt_emulated_thread *thread, void *to,
                              int32_t columns, int32_t pair, int32_t place,
                              const char *where);
SHARDRT_EXPORT void
shardrt_emulated_tensor_dealloc(shardrt_emulated_thread *thread, void *address,
                                int32_t columns, int32_t pair, int32_t place,
                                const char *where);
SHARDRT_EXPORT void
shardrt_emulated_tensor_relinquish(shardrt_emulated_thread *thread,
                                   int32_t place, const char *where);
/** Bits of how shardrt_emulated_tensor_product multiplies. */
enum shardrt_emulated_tensor_config {
  SHARDRT_TENSOR_TF32 = 1,  /**< kind::tf32, else kind::f16 */
  SHARDRT_TENSOR_CHECK = 2, /**< look at races on shared memory */
  SHARDRT_TENSOR_PAIR = 4,  /**< cta_group::2 */
  SHARDRT_TENSOR_LEFT = 8   /**< `left` is an address of tensor memory */
};
/** tcgen05.mma: one thread begins the product of two matrices in shared memory,
 * given by descriptors, into 128 lanes of tensor memory. Of a pair of blocks
 * the first one's begins it: each block has 128 of its rows and half of its
 * columns at the places that are described, and the sums of its rows. A left
 * matrix in tensor memory has a row a lane, and 32 bytes of it in 8 columns.
 * `instruction` is PTX's instruction descriptor; where `adds` is 0 the product
 * takes the place of what is there. */
SHARDRT_EXPORT void shardrt_emulated_tensor_product(
    shardrt_emulated_thread *thread, void *sums, int64_t left, int64_t right,
    int32_t instruction, int32_t adds, int32_t config, const char *where);
/** tcgen05.commit: an arrival at `barrier` when all products that this thread
 * has begun are done; of cta_group::2, where `mask` is not 0, in each block of
 * the pair that has a bit there. */
SHARDRT_EXPORT void
shardrt_emulated_tensor_commit(shardrt_emulated_thread *thread, void *barrier,
                               int32_t mask, const char *where);
/** tcgen05.ld.32x32b: a handle of `count` words, one of each column from
 * `address` on, of a lane's own lane. They are there after
 * tcgen05.wait::ld. */
SHARDRT_EXPORT int64_t
shardrt_emulated_tensor_load(shardrt_emulated_thread *thread, void *address,
                             int32_t count, int32_t place, const char *where);
SHARDRT_EXPORT int32_t
shardrt_emulated_tensor_word(shardrt_emulated_thread *thread, int64_t loaded,
                             int32_t index, const char *where);
/** tcgen05.st.32x32b, the other way. */
SHARDRT_EXPORT void
shardrt_emulated_tensor_store(shardrt_emulated_thread *thread, void *address,
                              const int32_t *words, int32_t count,
                              int32_t place, const char *where);
/** tcgen05.wait::ld, or ::st where `stores`. */
SHARDRT_EXPORT void
shardrt_emulated_tensor_wait(shardrt_emulated_thread *thread, int32_t stores,
                             int32_t place, const char *where);
/** tcgen05.fence::before_thread_sync, or ::after_thread_sync. */
SHARDRT_EXPORT void
shardrt_emulated_tensor_fence(shardrt_emulated_thread *thread, int32_t after);

/** Comes before an atomic load of the 32-bit flag at `flag` in device memory:
 * others go on first where it is zero. Whoever waits for one that nobody can
 * set any more is reported. */
SHARDRT_EXPORT void shardrt_emulated_poll(shardrt_emulated_thread *thread,
                                          void *flag, int32_t check,
                                          const char *where);
/** Comes before a flag is set, with release; and an acquire fence: what those
 * wrote before whose flags the thread found set may be read from here on. */
SHARDRT_EXPORT void shardrt_emulated_publish(shardrt_emulated_thread *thread,
                                             void *flag);
SHARDRT_EXPORT void shardrt_emulated_acquire(shardrt_emulated_thread *thread);

/** What is done at an address of device memory. */
enum shardrt_emulated_access {
  SHARDRT_EMULATED_READ = 0,
  SHARDRT_EMULATED_WRITE = 1,
  SHARDRT_EMULATED_ATOMIC = 2
};
/** The host's address of `bytes` bytes of device memory at `address`, which
 * must be in one allocation. `writes` is an access. */
SHARDRT_EXPORT void *shardrt_emulated_global(shardrt_emulated_thread *thread,
                                             void *address, int64_t bytes,
                                             int32_t writes, const char *where);
/** Notes an access to the block's shared memory: races and bounds. */
SHARDRT_EXPORT void shardrt_emulated_shared(shardrt_emulated_thread *thread,
                                            void *address, int64_t bytes,
                                            int32_t writes, const char *where);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHARDRT_EMULATED_H */

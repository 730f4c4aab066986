/*===- TensorMap.h - How a tensor is described to kernels ---------*- C -*-===*\
|*
|* A kernel whose copies are of boxes of a tensor takes 128 bytes that describe
|* it, before its other arguments. The host's code writes these words; whoever
|* launches makes of them what the device takes (cuTensorMapEncodeTiled, or
|* cuTensorMapEncodeIm2col). Dims are counted from the fastest on.
|* docs/Rationale/GPU.md section 3.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_TENSORMAP_H
#define SHARDRT_TENSORMAP_H

#include <stdint.h>

enum shardrt_tensor_map_word {
  SHARDRT_MAP_ADDRESS = 0, /**< of the first element, in device memory */
  SHARDRT_MAP_KIND = 1, /**< dims | element << 8, perhaps | SHARDRT_MAP_WINDOWS;
                           rows are swizzled by 128 bytes */
  SHARDRT_MAP_SIZES = 2,   /**< 5, in elements */
  SHARDRT_MAP_STRIDES = 7, /**< 4, of dims 1 to 4, in bytes */
  SHARDRT_MAP_BOX = 11,    /**< 5, in elements; of windows (im2col) channels,
                              pixels, and of each dim between them and the
                              last SHARDRT_MAP_RANGE */
  SHARDRT_MAP_WORDS = 16
};

/** In SHARDRT_MAP_KIND: a copy is of pixels that follow one another, one a row,
 * each moved by the same offsets. */
#define SHARDRT_MAP_WINDOWS ((int64_t)1 << 16)

/** Where pixels begin along a dim: from `low` on, below its size and `high`
 * (both may be negative), by `step`. */
#define SHARDRT_MAP_RANGE(low, high, step)                                     \
  (((int64_t)(low) & 0xffff) | ((int64_t)(high) & 0xffff) << 16 |              \
   (int64_t)(step) << 32)
/** Of a tensor with so many dims of windows, 1 to 3: corners are from minus
 * this to less than this. A device has 16, 8 or 5 bits for each. */
#define SHARDRT_MAP_CORNER(spatial)                                            \
  ((int64_t)1 << ((spatial) == 1 ? 15 : (spatial) == 2 ? 7 : 4))

enum shardrt_tensor_map_limit {
  SHARDRT_MAP_DIMS = 5,
  SHARDRT_MAP_MOST = 4 /**< maps of one kernel */
};

/** Numbers of CUtensorMapDataType. */
enum shardrt_tensor_map_element {
  SHARDRT_MAP_U8 = 0, /**< and what else has 8 bits */
  SHARDRT_MAP_F16 = 6,
  SHARDRT_MAP_F32 = 7,
  SHARDRT_MAP_F64 = 8,
  SHARDRT_MAP_BF16 = 9
};

#endif /* SHARDRT_TENSORMAP_H */

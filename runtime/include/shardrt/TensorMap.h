/*===- TensorMap.h - How a tensor is described to kernels ---------*- C -*-===*\
|*
|* A kernel whose copies are of boxes of a tensor takes 128 bytes that describe
|* it, before its other arguments. The host's code writes these words; whoever
|* launches makes of them what the device takes (cuTensorMapEncodeTiled). Dims
|* are counted from the fastest on. docs/Rationale/GPU.md section 3.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_TENSORMAP_H
#define SHARDRT_TENSORMAP_H

enum shardrt_tensor_map_word {
  SHARDRT_MAP_ADDRESS = 0, /**< of the first element, in device memory */
  SHARDRT_MAP_KIND =
      1, /**< dims | element << 8; rows are swizzled by 128 bytes */
  SHARDRT_MAP_SIZES = 2,   /**< 5, in elements */
  SHARDRT_MAP_STRIDES = 7, /**< 4, of dims 1 to 4, in bytes */
  SHARDRT_MAP_BOX = 11,    /**< 5, in elements */
  SHARDRT_MAP_WORDS = 16
};

enum shardrt_tensor_map_limit {
  SHARDRT_MAP_DIMS = 5,
  SHARDRT_MAP_MOST = 4 /**< maps of one kernel */
};

/** Numbers of CUtensorMapDataType. */
enum shardrt_tensor_map_element {
  SHARDRT_MAP_F16 = 6,
  SHARDRT_MAP_F32 = 7,
  SHARDRT_MAP_F64 = 8,
  SHARDRT_MAP_BF16 = 9
};

#endif /* SHARDRT_TENSORMAP_H */

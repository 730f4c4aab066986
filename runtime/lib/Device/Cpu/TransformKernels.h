//===- TransformKernels.h - Fourier transforms, by level of CPU -*- C++ -*-===//
//
// As LineKernels.h: TransformKernels.cpp is compiled once for each level.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_TRANSFORMKERNELS_H
#define SHARDRT_DEVICE_CPU_TRANSFORMKERNELS_H

#include <cstdint>

namespace shardrt {

/// A transform of lines, taken from its words. Strides count elements.
struct TransformCall {
  int64_t partBytes = 0; ///< 4: complex of f32; 8: of f64
  bool isForward = true;
  bool isFromReal = false, isToReal = false;
  double factor = 1; ///< of the result
  int64_t rank = 0, dim = 0, length = 0, lines = 0;
  const int64_t *sizes = nullptr;
  const char *src = nullptr;
  char *dst = nullptr;
  const int64_t *srcStrides = nullptr, *dstStrides = nullptr;
  /// Of the angles -2 pi i / length.
  const char *cosines = nullptr, *sines = nullptr;
};

struct TransformKernels {
  /// Lines that are taken at a time, and bytes that a thread needs.
  int64_t (*group)(const TransformCall &call);
  int64_t (*scratch)(const TransformCall &call);
  /// Transforms lines [first, last).
  void (*transform)(const TransformCall &call, int64_t first, int64_t last,
                    char *scratch);
};

extern const TransformKernels transformKernelsBase, transformKernelsV3,
    transformKernelsV4;

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_TRANSFORMKERNELS_H

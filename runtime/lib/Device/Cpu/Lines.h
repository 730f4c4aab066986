//===- Lines.h - Algorithms on the lines of a tensor ------------*- C++ -*-===//
//
// The lines of a tensor along a dim, each by itself. The kernels are compiled
// once for each level of CPUs (LineKernels.h); results have the same bits on
// all of them and for any number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_LINES_H
#define SHARDRT_DEVICE_CPU_LINES_H

#include "Device/Cpu/Memory.h"
#include "Host/Pool.h"
#include <cstdint>

namespace shardrt {

/// Sorts lines as `words` of shardrt_sort_lines say (LineCall.h). False if
/// memory cannot be had: `needed` is how many bytes then.
bool sortLines(const int64_t *words, Pool &pool, Memory &memory,
               int64_t &needed);

/// The same of Fourier transforms and shardrt_transform_dims.
bool transformDims(const int64_t *words, Pool &pool, Memory &memory,
                   int64_t &needed);

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_LINES_H

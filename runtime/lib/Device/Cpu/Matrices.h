//===- Matrices.h - Algorithms on matrices ----------------------*- C++ -*-===//
//
// Batches of matrices, each by itself. The kernels are compiled once for each
// level of CPUs (EigenKernels.h); results have the same bits for any number of
// threads and matrices.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_MATRICES_H
#define SHARDRT_DEVICE_CPU_MATRICES_H

#include "Device/Cpu/Memory.h"
#include "Host/Pool.h"
#include <cstdint>

namespace shardrt {

/// Eigenvalues as `words` of shardrt_eigh say (MatrixCall.h). False if memory
/// cannot be had: `needed` is how many bytes then.
bool eigh(const int64_t *words, Pool &pool, Memory &memory, int64_t &needed);

/// The same of singular values and shardrt_svd.
bool svd(const int64_t *words, Pool &pool, Memory &memory, int64_t &needed);

/// The same of reflectors and shardrt_householder.
bool householder(const int64_t *words, Pool &pool, Memory &memory,
                 int64_t &needed);

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_MATRICES_H

//===- Reduce.h - What all ways of reducing share ---------------*- C++ -*-===//
#ifndef SHARDRT_COLLECTIVES_REDUCE_H
#define SHARDRT_COLLECTIVES_REDUCE_H

#include "Collectives/Collectives.h"
#include <algorithm>

namespace shardrt {

/// Up to this size every rank combines everything: one synchronisation in place
/// of two.
inline constexpr int64_t smallAllReduceBytes = 8192;

/// The plan of an all-reduce of `count` elements, or NULL after failing the
/// step.
const SitePlan *findAllReduce(shardrt_context &ctx, int64_t site,
                              int64_t count);

/// What counts as moved to one rank: its part of the 2 (k - 1) n bytes without
/// which no group of k ranks can combine n bytes. Copies that are read beside
/// these in a small all-reduce save a synchronisation and are not counted.
int64_t bytesOfAllReduce(const SitePlan &plan, int64_t rank, int64_t bytes);

/// Where the slice of member `i` of `ranks` begins, of `count` elements: at
/// multiples of 64, so that none share a cache line.
inline int64_t beginOfSlice(int64_t count, int64_t ranks, int64_t i) {
  int64_t each = ((count + ranks - 1) / ranks + 63) / 64 * 64;
  return std::min(count, i * each);
}

/// Combines `numParts` parts of `partBytes` bytes that are one behind the other
/// in device memory into `dst` there, from left to right: the device does it,
/// or, where the program has no kernel for it, the host. False after failing
/// the step.
bool combineParts(shardrt_context &ctx, int64_t site, const void *parts,
                  int64_t partBytes, int64_t numParts, void *dst);

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_REDUCE_H

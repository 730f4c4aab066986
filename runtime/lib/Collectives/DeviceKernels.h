//===- DeviceKernels.h - Kernels that communication calls -------*- C++ -*-===//
//
// What a rank's device does itself at a site, where its program has the kernels
// (shardrt/CommunicationKernels.h): combine elements, and move rows. Programs
// that lack them go through host memory.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_DEVICEKERNELS_H
#define SHARDRT_COLLECTIVES_DEVICEKERNELS_H

#include "Device/Device.h"
#include "shardrt/Sites.h"
#include <map>
#include <span>
#include <string_view>

struct shardrt_context;

namespace shardrt {

/// The kernels of a site, by their numbers; -1 where the device has none.
struct SiteKernels {
  int64_t combine = -1;
  int64_t rows = -1, wideRows = -1; ///< by words of an element, of 16 bytes
  int64_t update = -1;
};

/// The kernels that `device` has for each of `sites`.
std::vector<SiteKernels> findKernels(const DeviceCode &code, Device &device,
                                     std::span<const Site> sites);

/// Whether the device combines elements at `site` itself.
bool canCombine(const shardrt_context &ctx, int64_t site);

/// Most parts that may be anywhere in device memory.
extern const size_t mostParts;

/// Combines `count` elements of `parts`, which this device reaches, from left
/// to right into `dst`, which may be a part. Parts beyond `mostParts` are laid
/// out as far apart as the last two of these do. False after failing the step.
bool combineOnDevice(shardrt_context &ctx, int64_t site,
                     std::span<const std::byte *const> parts, void *dst,
                     int64_t count);

/// Rows of `bytes` bytes, in each of `outer` blocks, and how many of them are
/// between the blocks of the source and of the destination.
struct RowBlocks {
  int64_t bytes = 0, outer = 1, srcRows = 0, dstRows = 0;
};

/// Moves rows from `src`, which this device reaches, to `dst`: `count` pairs of
/// numbers at `pairs` in device memory say which where. False after failing the
/// step.
bool moveRows(shardrt_context &ctx, int64_t site, const int64_t *pairs,
              int64_t count, const RowBlocks &blocks, const void *src,
              void *dst);

/// Combines rows of `dst` with their updates, which are one behind the other:
/// `count` triples at `segments` say whose are where. False after failing the
/// step.
bool updateRows(shardrt_context &ctx, int64_t site, const int64_t *segments,
                int64_t count, const RowBlocks &blocks, const void *updates,
                void *dst);

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_DEVICEKERNELS_H

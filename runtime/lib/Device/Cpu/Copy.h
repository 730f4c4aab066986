//===- Copy.h - Strided copies and fills of boxes ---------------*- C++ -*-===//
//
// A box of a dense row-major buffer is a run of contiguous bytes repeated over
// a few dims. Dims that are together in both buffers are merged when the plan
// is made, so that a halo of whole rows is one memcpy.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_COPY_H
#define SHARDRT_DEVICE_CPU_COPY_H

#include "shardc/Layout/Exchange.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace shardrt {

/// How one box is in two buffers. Offsets, runs and strides are in bytes.
struct BoxCopy {
  struct Dim {
    int64_t count = 1;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
  };
  int64_t srcOffset = 0;
  int64_t dstOffset = 0;
  int64_t run = 0;       ///< contiguous bytes
  std::vector<Dim> dims; ///< around the run, outermost first
  int64_t bytes() const;
};

/// The copy of `box` out of a dense buffer that holds `src` into one that holds
/// `dst`; all three are in global indices, and `box` is inside both.
BoxCopy planCopy(const shardc::Box &box, const shardc::Box &src,
                 const shardc::Box &dst, int64_t elementBytes);

void runCopy(const BoxCopy &copy, const std::byte *src, std::byte *dst);

/// Sets the destination box of `copy` to repetitions of one element of
/// `elementBytes` bytes at `fill`; zero if `fill` is NULL.
void runFill(const BoxCopy &copy, std::byte *dst, const void *fill,
             int64_t elementBytes);

/// Calls `body(srcOffset, dstOffset)` for each run.
template <typename Body> void forEachRun(const BoxCopy &copy, Body body) {
  auto walk = [&](auto &&self, size_t dim, int64_t src, int64_t dst) -> void {
    if (dim == copy.dims.size())
      return body(src, dst);
    const BoxCopy::Dim &d = copy.dims[dim];
    for (int64_t i = 0; i < d.count; ++i)
      self(self, dim + 1, src + i * d.srcStride, dst + i * d.dstStride);
  };
  walk(walk, 0, copy.srcOffset, copy.dstOffset);
}

/// Elements in `box`.
int64_t volumeOf(const shardc::Box &box);

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_COPY_H

//===- Copy.cpp - Strided copies and fills of boxes -----------------------===//
//
// Halos of inner dims are short runs at a stride: those of one machine word are
// loads and stores, not calls of memcpy.
//
//===----------------------------------------------------------------------===//

#include "Device/Cpu/Copy.h"
#include <cstring>

using namespace shardrt;
using shardc::Box;
using shardc::Interval;

int64_t shardrt::volumeOf(const Box &box) {
  int64_t volume = 1;
  for (Interval interval : box)
    volume *= interval.size();
  return volume;
}

int64_t BoxCopy::bytes() const {
  int64_t bytes = run;
  for (const Dim &dim : dims)
    bytes *= dim.count;
  return bytes;
}

BoxCopy shardrt::planCopy(const Box &box, const Box &src, const Box &dst,
                          int64_t elementBytes) {
  BoxCopy copy;
  copy.run = elementBytes;
  int64_t srcStride = elementBytes, dstStride = elementBytes;
  // From the innermost dim outwards; `dims` is reversed at the end.
  for (size_t i = box.size(); i-- > 0;) {
    BoxCopy::Dim dim = {box[i].size(), srcStride, dstStride};
    copy.srcOffset += (box[i].begin - src[i].begin) * srcStride;
    copy.dstOffset += (box[i].begin - dst[i].begin) * dstStride;
    srcStride *= src[i].size();
    dstStride *= dst[i].size();
    if (dim.count == 1)
      continue;
    if (copy.dims.empty() && dim.srcStride == copy.run &&
        dim.dstStride == copy.run) {
      copy.run *= dim.count;
      continue;
    }
    if (!copy.dims.empty()) {
      BoxCopy::Dim &inner = copy.dims.back();
      if (dim.srcStride == inner.count * inner.srcStride &&
          dim.dstStride == inner.count * inner.dstStride) {
        inner.count *= dim.count;
        continue;
      }
    }
    copy.dims.push_back(dim);
  }
  std::reverse(copy.dims.begin(), copy.dims.end());
  return copy;
}

/// Copies `dim.count` runs of `Bytes` bytes each.
template <size_t Bytes>
static void copyWords(const BoxCopy::Dim &dim, const std::byte *src,
                      std::byte *dst) {
  for (int64_t i = 0; i < dim.count; ++i)
    std::memcpy(dst + i * dim.dstStride, src + i * dim.srcStride, Bytes);
}

static void copyRow(const BoxCopy::Dim &dim, int64_t run, const std::byte *src,
                    std::byte *dst) {
  switch (run) {
  case 1:
    return copyWords<1>(dim, src, dst);
  case 2:
    return copyWords<2>(dim, src, dst);
  case 4:
    return copyWords<4>(dim, src, dst);
  case 8:
    return copyWords<8>(dim, src, dst);
  case 16:
    return copyWords<16>(dim, src, dst);
  default:
    for (int64_t i = 0; i < dim.count; ++i)
      std::memcpy(dst + i * dim.dstStride, src + i * dim.srcStride, run);
  }
}

static void copyDims(const BoxCopy &copy, size_t dim, const std::byte *src,
                     std::byte *dst) {
  const BoxCopy::Dim &d = copy.dims[dim];
  if (dim + 1 == copy.dims.size())
    return copyRow(d, copy.run, src, dst);
  for (int64_t i = 0; i < d.count; ++i)
    copyDims(copy, dim + 1, src + i * d.srcStride, dst + i * d.dstStride);
}

void shardrt::runCopy(const BoxCopy &copy, const std::byte *src,
                      std::byte *dst) {
  src += copy.srcOffset;
  dst += copy.dstOffset;
  if (copy.dims.empty()) {
    std::memcpy(dst, src, copy.run);
    return;
  }
  copyDims(copy, 0, src, dst);
}

/// True if all bytes of the element are the same, so that memset will do.
static bool isOneByte(const std::byte *fill, int64_t elementBytes) {
  for (int64_t i = 1; i < elementBytes; ++i)
    if (fill[i] != fill[0])
      return false;
  return true;
}

/// Copies `pattern` to each run of `copy`.
static void fillDims(const BoxCopy &copy, size_t dim, const std::byte *pattern,
                     std::byte *dst) {
  BoxCopy::Dim d = copy.dims[dim];
  d.srcStride = 0;
  if (dim + 1 == copy.dims.size())
    return copyRow(d, copy.run, pattern, dst);
  for (int64_t i = 0; i < d.count; ++i)
    fillDims(copy, dim + 1, pattern, dst + i * d.dstStride);
}

void shardrt::runFill(const BoxCopy &copy, std::byte *dst, const void *fill,
                      int64_t elementBytes) {
  static constexpr std::byte zero[16] = {};
  const std::byte *element = fill ? static_cast<const std::byte *>(fill) : zero;
  std::byte pattern[64];
  if (copy.run <= int64_t(sizeof(pattern)) && !copy.dims.empty()) {
    for (int64_t i = 0; i < copy.run; i += elementBytes)
      std::memcpy(pattern + i, element, elementBytes);
    return fillDims(copy, 0, pattern, dst + copy.dstOffset);
  }
  if (isOneByte(element, elementBytes)) {
    forEachRun(copy, [&](int64_t, int64_t at) {
      std::memset(dst + at, std::to_integer<int>(element[0]), copy.run);
    });
    return;
  }
  // The first run is written element by element, the others are copies of it.
  const std::byte *first = nullptr;
  forEachRun(copy, [&](int64_t, int64_t at) {
    if (first) {
      std::memcpy(dst + at, first, copy.run);
      return;
    }
    for (int64_t i = 0; i < copy.run; i += elementBytes)
      std::memcpy(dst + at + i, element, elementBytes);
    first = dst + at;
  });
}

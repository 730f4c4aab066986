//===- Combine.h - Element-wise reductions of buffers -----------*- C++ -*-===//
#ifndef SHARDRT_DEVICE_CPU_COMBINE_H
#define SHARDRT_DEVICE_CPU_COMBINE_H

#include "shardrt/Sites.h"
#include <span>

namespace shardrt {

/// One reduction of one element type.
struct Combiner {
  /// dst[i] = parts[0][i] op parts[1][i] op …, from left to right, for `count`
  /// elements. `dst` may be one of `parts`. At least one part.
  using All = void (*)(const std::byte *const *parts, size_t numParts,
                       std::byte *dst, int64_t count);
  All all = nullptr;
  /// dst[i] = dst[i] op part[i], for `count` elements, which do not overlap:
  /// few at a time, as rows are that are anywhere.
  using Into = void (*)(std::byte *dst, const std::byte *part, int64_t count);
  Into into = nullptr;
  explicit operator bool() const { return all; }
  void function(std::span<const std::byte *const> parts, std::byte *dst,
                int64_t count) const {
    all(parts.data(), parts.size(), dst, count);
  }
};

/// The function for `type` and `reduction`; none if that is no reduction of
/// this type (an order of complex numbers, bits of floating-point numbers) or
/// not supported (arithmetic on floating-point types below 16 bits).
Combiner findCombiner(ElementType type, Reduction reduction);

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_COMBINE_H

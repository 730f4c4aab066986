//===- Wide.h - Sums of indices that do not overflow ------------*- C++ -*-===//
#ifndef SHARDC_LIB_LAYOUT_WIDE_H
#define SHARDC_LIB_LAYOUT_WIDE_H

#include <algorithm>
#include <cstdint>

namespace shardc {

using Wide = __int128;

/// Far enough from the ends of int64_t for differences to be safe.
inline constexpr int64_t largestIndex = int64_t(1) << 60;

inline int64_t saturate(Wide value) {
  return static_cast<int64_t>(
      std::clamp<Wide>(value, -Wide(largestIndex), Wide(largestIndex)));
}

/// Requires divisor >= 1.
inline Wide floorDiv(Wide value, Wide divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}
inline Wide ceilDiv(Wide value, Wide divisor) {
  return value / divisor + (value % divisor > 0 ? 1 : 0);
}

} // namespace shardc

#endif // SHARDC_LIB_LAYOUT_WIDE_H

//===- Limits.h - What no tensor and no mesh is beyond ----------*- C++ -*-===//
//
// Sizes within these limits can be added and multiplied by the bytes of an
// element, and stay far from the end of int64_t.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_LIMITS_H
#define SHARDC_LAYOUT_LIMITS_H

#include <cstdint>

namespace shardc {

/// Most elements of a tensor, so of a dim too.
inline constexpr int64_t kMaxElements = int64_t(1) << 48;

/// Most ranks of a mesh, so of an axis, and shards of a dim.
inline constexpr int64_t kMaxRanks = 65536;

/// Most axes of a mesh.
inline constexpr int64_t kMaxMeshAxes = 32;

/// Most dims of a tensor.
inline constexpr int64_t kMaxTensorDims = 16;

} // namespace shardc

#endif // SHARDC_LAYOUT_LIMITS_H

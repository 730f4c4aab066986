//===- Limits.h - What no tensor is beyond ----------------------*- C++ -*-===//
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

} // namespace shardc

#endif // SHARDC_LAYOUT_LIMITS_H

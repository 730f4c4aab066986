//===- Interval.h - Half-open ranges of one dim -----------------*- C++ -*-===//
//
// What a rank owns of a dim, and what it needs of it, are both intervals of
// global element indices. All communication is derived from the difference.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_INTERVAL_H
#define SHARDC_LAYOUT_INTERVAL_H

#include <algorithm>
#include <cstdint>

namespace shardc {

/// Half-open range [begin, end) of global element indices along one dim. May
/// reach outside the domain, where a fill rule supplies the elements. Empty if
/// end <= begin; every empty interval holds the same (no) elements.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return std::max<int64_t>(0, end - begin); }
  bool empty() const { return end <= begin; }
  bool contains(Interval other) const {
    return other.empty() || (begin <= other.begin && other.end <= end);
  }
  friend bool operator==(Interval a, Interval b) {
    return (a.empty() && b.empty()) || (a.begin == b.begin && a.end == b.end);
  }
};

/// Returns the common part of `a` and `b`; begin == end where there is none.
inline Interval intersect(Interval a, Interval b) {
  int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

} // namespace shardc

#endif // SHARDC_LAYOUT_INTERVAL_H

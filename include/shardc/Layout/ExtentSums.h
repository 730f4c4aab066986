//===- ExtentSums.h - What two extents differ by ----------------*- C++ -*-===//
#ifndef SHARDC_LAYOUT_EXTENTSUMS_H
#define SHARDC_LAYOUT_EXTENTSUMS_H

#include "shardc/Layout/Extents.h"

namespace shardc {

/// `a - b`, two numbers of a compiled program, where it is the same in all
/// bindings: what both follow from is added up, and cancels. None where that
/// does not show it.
///
///     n + 3, n + 1                 2
///     2 * (n / 2) + 3, n / 2 * 2   3
///     2 * (n / 2), n               none: 0 or -1
std::optional<int64_t> constantDifference(const Extents &extents, int64_t a,
                                          int64_t b);

} // namespace shardc

#endif // SHARDC_LAYOUT_EXTENTSUMS_H

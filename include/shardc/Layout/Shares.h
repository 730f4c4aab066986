//===- Shares.h - Shards in proportion --------------------------*- C++ -*-===//
#ifndef SHARDC_LAYOUT_SHARES_H
#define SHARDC_LAYOUT_SHARES_H

#include "shardc/Layout/Boundaries.h"

namespace shardc {

/// Cuts each shard in proportion to `shares`: part j ends at the nearest index
/// to the sum of the first j + 1 shares over that of all. 10 elements over
/// {3, 1, 2, 2}: 4, 1, 3, 2. Requires shares >= 0, not all 0, whose sum is
/// below 2^31.
Boundaries refineInShares(const Boundaries &cut,
                          std::span<const int64_t> shares);

} // namespace shardc

#endif // SHARDC_LAYOUT_SHARES_H

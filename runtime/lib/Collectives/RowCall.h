//===- RowCall.h - A gather or scatter about to be carried out --*- C++ -*-===//
#ifndef SHARDRT_COLLECTIVES_ROWCALL_H
#define SHARDRT_COLLECTIVES_ROWCALL_H

#include "Collectives/Collectives.h"

namespace shardrt {

/// The block of a rank: dims before the addressed ones, these, and those after.
struct RowShape {
  int64_t outer = 1, rows = 1, inner = 1; ///< inner in elements
};

/// The block of `rank` at the site `info`, whose plan addresses `numRowDims`
/// dims.
RowShape shapeOf(const Site &info, size_t numRowDims, int64_t rank);

struct RowCall {
  const SitePlan *sitePlan = nullptr;
  const RowPlan *plan = nullptr;
  const Site *info = nullptr;
  size_t rowDims = 0; ///< addressed dims
  RowShape mine;
  int64_t bytes = 0; ///< of one row
};

/// Fills `call`; false after failing the step if it cannot be carried out.
bool prepareRowCall(shardrt_context &ctx, int64_t site, int64_t handle,
                    SiteKind kind, RowCall &call);

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_ROWCALL_H

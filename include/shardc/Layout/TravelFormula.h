//===- TravelFormula.h - Formulas of blocks that travel ---------*- C++ -*-===//
//
// A block that travels round a ring arrives at a rank that needs a part of it.
// These say which, how such parts are one behind the other, and whether what
// may travel does.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_TRAVELFORMULA_H
#define SHARDC_LAYOUT_TRAVELFORMULA_H

#include "shardc/Layout/Formula.h"

namespace shardc {

/// Intervals, the least that contain both, of which an empty one has nothing;
/// the first where both are empty.
Formula hullFormula(Formula first, Formula second);
/// True if formulas show that what is in both is near the same shards,
/// scaled alike, and reaches no more than `most` elements beyond these, both
/// sides together, whatever is bound. Then the least intervals that contain
/// both are not much more than they are.
bool areClose(const Formula &a, const Formula &b, int64_t most);
/// The same, if both are parts of blocks of the same shards, or hulls of such
/// parts, which one band keeps for its reader; else none. What is between two
/// such parts is in the band as well, so that the reader needs it.
Formula hullInBand(const Formula &first, const Formula &second);
/// Intervals: from the begin of the first on, as many as are in both.
Formula joinedFormula(Formula first, Formula second);
/// Boundaries: one shard for each of `intervals`, as long as it, one behind the
/// other.
Formula packedFormula(Formula intervals);
/// Numbers: 1 at coordinates where the intervals of one of `pairs`, two of
/// which are behind one another, are not the same; else 0.
Formula differsFormula(std::vector<Formula> pairs);

} // namespace shardc

#endif // SHARDC_LAYOUT_TRAVELFORMULA_H

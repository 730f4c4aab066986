//===- Shrink.h - The smallest program that still fails ---------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_SHRINK_H
#define SHARDC_TOOLS_SHARD_FUZZ_SHRINK_H

#include "Check.h"

namespace shardc::fuzz {

/// Takes away results, ops, annotations, sizes, ranks and elements as long as
/// the program fails in the same way, at most `attempts` times. `outcome` is
/// how it fails, and becomes how the smaller one does.
Program shrink(Program program, Outcome &outcome, int attempts,
               int secondsEach);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_SHRINK_H

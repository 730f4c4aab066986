//===- Rewrites.h - Mistakes that verification finds ------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_REWRITES_H
#define SHARDC_TOOLS_SHARD_FUZZ_REWRITES_H

#include "../Common/Tool.h"
#include "llvm/ADT/StringRef.h"

namespace shardc::fuzz {

/// Plants `asked`, a fault of Faults.h, or with "all" each in turn, and prints
/// which of up to `count` programs of the sequence `seed` is the first that the
/// verification of its partition refuses. An error if one is never refused.
llvm::Error runRewrites(llvm::StringRef asked, uint64_t seed, int64_t count,
                        int processes, int timeout);

/// The same for what keeps ranks and threads apart: prints which program is the
/// first in which ThreadSanitizer reports a race. `optimized`: with LLVM's
/// passes.
llvm::Error runRaces(llvm::StringRef asked, uint64_t seed, int64_t count,
                     int processes, int timeout, bool optimized);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_REWRITES_H

//===- Rewrites.h - Mistakes of the stages themselves -----------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_REWRITES_H
#define SHARDC_TOOLS_SHARD_FUZZ_REWRITES_H

#include "../Common/Tool.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace shardc::fuzz {

llvm::SmallVector<llvm::StringRef> rewriteNames();

/// Plants `asked`, or with "all" each in turn, and prints which of up to
/// `count` programs of the sequence `seed` is the first that the verification
/// of its partition refuses. An error if one is never refused.
llvm::Error runRewrites(llvm::StringRef asked, uint64_t seed, int64_t count,
                        int processes, int timeout);

llvm::SmallVector<llvm::StringRef> raceNames();

/// The same for what keeps ranks and threads apart: prints which program is the
/// first in which ThreadSanitizer reports a race. `optimized`: with LLVM's
/// passes.
llvm::Error runRaces(llvm::StringRef asked, uint64_t seed, int64_t count,
                     int processes, int timeout, bool optimized);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_REWRITES_H

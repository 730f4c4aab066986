//===- Tuning.h - Times kernels for the tuner -------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_TUNING_H
#define SHARDC_TOOLS_SHARD_RUN_TUNING_H

#include "Options.h"

namespace shardc {

/// Measures the model's kernels with other tiles (Driver/Tune.h), keeps what is
/// faster in the cache and in `options`, and says on stderr what it did. Ranks
/// are threads here, whatever they are to be afterwards.
llvm::Error tuneModel(RunOptions &options);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_TUNING_H

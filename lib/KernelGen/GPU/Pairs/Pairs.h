//===- Pairs.h - Blocks of queries against blocks of keys -------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRS_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRS_H

#include "../Launch.h"
#include "shardc/Dialect/Pairs/IR/PairsForward.h"

namespace shardc::gpukernels {

/// Launches in place of `op`, which is on buffers: one forward; backward one
/// for each gradient. An error on the op where there is no kernel of it.
/// Also kernels for those GPUs that are `own`, done in their stead there.
/// With `shortWeights` weights of 16-bit inputs are rounded to 16 bits.
LogicalResult launchPairStep(spmd::PairStepOp op, OwnKernels own,
                             bool shortWeights);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRS_H

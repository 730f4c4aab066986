//===- PairKernels.h - Kernels of one pass of a pair step -------*- C++ -*-===//
//
// One for each way to load and multiply tiles.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRKERNELS_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRKERNELS_H

#include "PairScores.h"

namespace shardc::gpukernels::pairs {

/// The kernel that every pass has.
gpu::LaunchOp launchStaged(OpBuilder &b, const Step &step,
                           const PairPass &pass);

/// The kernel for tensor cores that loads a tile while it multiplies another;
/// null where what `pass` reads is laid out otherwise.
gpu::LaunchOp launchOnCopies(OpBuilder &b, const Step &step,
                             const PairPass &pass);

/// What the two groups of warps divide that multiply in kernels for sm_90a.
enum class GroupsDivide {
  Rows,
  /// Both have the same rows, and half of the features each: of all features
  /// of the step, whatever the pass has.
  Features
};

/// Makes a kernel for sm_90a of `pass`; false where there is none.
bool launchOnWarpgroups(OpBuilder &b, const Step &step, PairPass pass,
                        GroupsDivide groups);

/// Whether there is one.
bool fitsWarpgroups(const Step &step, const PairPass &pass,
                    GroupsDivide groups);

/// Makes a kernel for sm_100a of `pass`; false where there is none.
bool launchOnTensorMemory(OpBuilder &b, const Step &step, const PairPass &pass);

/// Whether there is one.
bool fitsTensorMemory(const Step &step, const PairPass &pass);

/// Gradients of keys and of values by one kernel for sm_90a: both are sums over
/// queries, of products with slopes and weights of the same scores. False where
/// there is none.
bool launchBothOfKeys(OpBuilder &b, const Step &step);

/// Whether there is one.
bool fitsBothOfKeys(const Step &step);

/// Kernels for all GPUs of the gradients of queries, keys and values together:
/// the launches, one after the other.
SmallVector<gpu::LaunchOp> launchOrdered(OpBuilder &b, const Step &step);

/// Whether there are such, and they are estimated to take no longer than a
/// kernel for each gradient.
bool fitsOrdered(const Step &step);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRKERNELS_H

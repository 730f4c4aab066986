//===- Fills.h - Buffers that are set to a number ---------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_FILLS_H
#define SHARDC_LIB_KERNELGEN_GPU_FILLS_H

#include "Launch.h"
#include "shardc/Dialect/Pairs/IR/PairsForward.h"

namespace shardc::gpukernels {

/// How many ops that touch buffers are looked at around one. [limit]
inline constexpr int64_t kMostOps = 24;

/// Whether `op` touches no buffer.
bool isHarmless(Operation *op);

/// Whether no other name is known for the buffer `root`.
bool isOnlyName(Value root);

/// True if `op`, or what is in it, may touch what `memref` shows of `root`, a
/// buffer that no other name is known for.
bool mayTouch(Operation *op, Value memref, Value root);

/// The number that `op` sets all of `memref` to; null if it does something
/// else.
Value filledWith(linalg::GenericOp op, Value memref);

/// The op before `op` that sets all that `memref` shows to the number `start`,
/// and nothing else touches it in between; null if there is none.
linalg::GenericOp findFill(Operation *op, Value memref, Value &start);

/// Takes away ops that set `op`'s outputs to numbers which it reduces into: it
/// starts from these (kernel.starts).
void foldFills(linalg::GenericOp op);
/// The same of the states that `op` adds to.
void foldFills(spmd::PairStepOp op);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_FILLS_H

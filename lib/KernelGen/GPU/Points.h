//===- Points.h - Kernels that are no products ------------------*- C++ -*-===//
//
// Each makes a kernel of a generic whose points are independent, beside it, if
// that has the form; else it returns false.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_POINTS_H
#define SHARDC_LIB_KERNELGEN_GPU_POINTS_H

#include "Launch.h"

namespace shardc::gpukernels {

/// Threads of a block.
inline constexpr int64_t kBlock = 256;

/// Reductions, of known sizes, whose elements several threads share.
bool launchReductions(linalg::GenericOp op);
/// Elementwise work on inputs that lie across the output: through shared
/// memory.
bool launchTransposed(linalg::GenericOp op);
/// Elementwise work on several neighbours at once, 16 bytes of the widest.
bool launchVectors(linalg::GenericOp op);
/// A loop whose iterations work at places that they read: by those who own the
/// places, each in the loop's order.
bool launchScatter(scf::ForOp loop);

/// Ops inside `op` that depend on the rank alone are computed outside.
void hoistRankValues(Operation *op);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_POINTS_H

//===- StepLoop.h - Steps of a ring as a loop -------------------*- C++ -*-===//
//
// What local forms share that pass blocks from rank to rank. A block is in a
// buffer that the longest fits in, so that one table serves all steps; whose it
// is follows from the rank and the step: docs/Rationale/Ring.md section 6.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_INTERFACES_STEPLOOP_H
#define SHARDC_INTERFACES_STEPLOOP_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "shardc/Layout/Interval.h"
#include <vector>

namespace shardc {

/// A ring of no more steps than this is unrolled, each step with tables of
/// its own; a longer one is a loop.
inline constexpr int64_t kMostUnrolledSteps = 8;

/// Entry `index` of `table`: an attribute where all are equal, computed where
/// they are evenly apart.
mlir::OpFoldResult pickEntry(mlir::OpBuilder &builder, mlir::Location loc,
                             llvm::ArrayRef<int64_t> table, mlir::Value index);

/// A loop over `first`, ..., `last` - 1. `body` gets the number, as an index,
/// and what is carried, and returns what the next step gets. Returns what the
/// last one gave, `carried` itself where there is none.
llvm::SmallVector<mlir::Value> buildStepLoop(
    mlir::OpBuilder &builder, mlir::Location loc, int64_t first, int64_t last,
    mlir::ValueRange carried,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value step,
                                                      mlir::ValueRange carried)>
        body);

/// The same up to a number that a rank knows when it runs: `last`, an index.
llvm::SmallVector<mlir::Value> buildStepLoop(
    mlir::OpBuilder &builder, mlir::Location loc, int64_t first,
    mlir::Value last, mlir::ValueRange carried,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value step,
                                                      mlir::ValueRange carried)>
        body);

/// Buffers of `count` ranks one behind the other, each of `size` elements.
std::vector<Interval> buffersOf(int64_t count, int64_t size);

} // namespace shardc

#endif // SHARDC_INTERFACES_STEPLOOP_H

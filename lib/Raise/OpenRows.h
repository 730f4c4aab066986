//===- OpenRows.h - Softmax with more in its sum than scores ----*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_OPENROWS_H
#define SHARDC_LIB_RAISE_OPENROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardc::raise {

/// How many exponentials of products there are in `func` that are summed up.
size_t countScores(mlir::func::FuncOp func);

/// True if `func` has scores beside columns of others.
bool hasColumns(mlir::func::FuncOp func);

/// Writes scores that are beside columns of others, as attention sinks do,
/// apart from these, and erases what nobody uses.
void splitColumns(mlir::func::FuncOp func);

/// Hides what makes maxima and sums of the rows of scores from all that reads
/// them, and writes the sums of a gradient's rows as sums over features. The
/// number of exponentials whose rows are hidden.
size_t hideRows(mlir::func::FuncOp func);

/// Makes one op of ops on all pairs of a block that differ in how their outputs
/// lie.
void shareOutputs(mlir::func::FuncOp func);

/// Takes back what hideRows put in between.
void showRows(mlir::func::FuncOp func);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_OPENROWS_H

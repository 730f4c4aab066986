//===- Reproducible.h - The same bits on every mesh -------------*- C++ -*-===//
//
// What the rewrites of MakeReproducible ask of ops and reducers, and the
// rewrites by kind of op, each in a file of its own. A rewrite leaves an op as
// it is where no order changes what it gives.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_IMPORT_REPRODUCIBLE_H
#define SHARDC_LIB_IMPORT_REPRODUCIBLE_H

#include "ExactSums.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::import::reproducible {

/// Refuses `op`, and says why.
llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);
/// True where sums and products of elements are rounded.
bool isRounded(mlir::Type type);
/// True where elements are floats; where they are complex numbers.
bool isFloat(mlir::Value value);
bool isComplex(mlir::Value value);
/// Puts `values` in the place of `op`.
void replace(mlir::Operation *op, mlir::ValueRange values);
/// Sizes of the dims `dims` of `value`.
llvm::SmallVector<int64_t> sizesOf(mlir::Value value,
                                   llvm::ArrayRef<int64_t> dims);
/// True where one element is summed at most, whatever is bound.
bool isOne(llvm::ArrayRef<int64_t> sizes);
/// The mesh of the program that `op` is of, which has its open extents.
spmd::MeshAttr meshOf(mlir::Operation *op);
/// Fails where one of `sizes` is open: a tree has as many levels as follow from
/// a number.
llvm::LogicalResult needKnown(mlir::Operation *op,
                              llvm::ArrayRef<int64_t> sizes);
/// The op that combines accumulator and element `i` of `count` in `body`, where
/// each is combined by itself; else null.
mlir::Operation *combinerOf(mlir::Region &body, unsigned i, unsigned count);
/// True if no order of combination changes what `body` gives.
bool isOrderFree(mlir::Region &body, unsigned count);
/// True if `body` adds one value up.
bool addsUp(mlir::Region &body, unsigned count);
/// True if `body` gives its second argument: an update takes an element's
/// place.
bool overwrites(mlir::Region &body, unsigned count);

/// Combines tensors element by element as `body`, a region on scalars, does: as
/// many accumulators, then as many elements. Fails where it does more than
/// arithmetic.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
combine(Ops &ops, mlir::Operation *op, mlir::Region &body,
        mlir::ValueRange operands);
/// Elements [begin, end) of `dim`, each `stride`-th.
mlir::Value sliceOf(Ops &ops, mlir::Value value, int64_t dim, int64_t begin,
                    int64_t end, int64_t stride = 1);
/// Gives the op that `state` is for a region that adds two scalars.
void addSumBody(mlir::OperationState &state, mlir::Type element);

llvm::LogicalResult rewrite(stablehlo::ReduceOp op);
llvm::LogicalResult rewrite(stablehlo::ReduceWindowOp op);
llvm::LogicalResult rewrite(stablehlo::SelectAndScatterOp op);
llvm::LogicalResult rewrite(stablehlo::ScatterOp op);
llvm::LogicalResult rewrite(stablehlo::DotGeneralOp op);
llvm::LogicalResult rewrite(stablehlo::ConvolutionOp op);
llvm::LogicalResult rewrite(stablehlo::FftOp op);

} // namespace shardc::import::reproducible

#endif // SHARDC_LIB_IMPORT_REPRODUCIBLE_H

//===- Reducer.h - Bodies of reductions -------------------------*- C++ -*-===//
//
// StableHLO asks that body and init value form a monoid, so order is free and a
// window as long as its axis may be a running sum. Sums, products and extremes
// of floats narrower than 32 bits accumulate in f32, extremes for speed alone:
// in one type they are one instruction, and vectors of them can be combined.
// Running sums and products of f32 accumulate in f64: their terms come one
// after the other, and roundings to f32 would add up with each of them. So do
// running logarithms of sums of exponentials, which are one sum.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_REDUCER_H
#define SHARDC_LIB_LINALG_REDUCER_H

#include "StableHLOToLinalg.h"

namespace shardc::lowering {

/// A reduction body on elements, with the types it accumulates in.
struct Reducer {
  Lowerer &l;
  mlir::Region &region;
  mlir::Operation *wideOp = nullptr; // one op of floats that accumulate wider
  bool multipliesComplex = false;
  /// Accumulators are x and s, of what is x + log(s).
  bool addsExponentials = false;
  llvm::SmallVector<mlir::Type> types; // of the accumulators

  Reducer(Lowerer &l, mlir::Region &region, mlir::TypeRange results,
          bool isRunning = false);

  /// The init values, in the accumulators' types.
  llvm::SmallVector<mlir::Value> init(mlir::ValueRange sources);
  /// Combines accumulators with elements of the inputs' types.
  llvm::SmallVector<mlir::Value> combine(mlir::ValueRange accumulators,
                                         mlir::ValueRange elements);
  /// The elements of results of `types` that accumulators are.
  llvm::SmallVector<mlir::Value> results(mlir::ValueRange accumulators,
                                         mlir::TypeRange types);
  /// Rounds an accumulated element, or tensor, to what the result's type is.
  mlir::Value round(mlir::Value sum, mlir::Type element);
  mlir::Value finish(mlir::Value tensor, mlir::Type element);
};

/// Lowers `op`, a reduction, to one generic over `ins`, of which `elements` are
/// inputs and the others are there for their sizes; results in source types.
mlir::LogicalResult
emitReduction(Lowerer &l, mlir::Operation *op, Reducer &reducer,
              mlir::ValueRange ins, size_t elements,
              llvm::ArrayRef<mlir::OpFoldResult> sizes,
              mlir::ValueRange initValues, llvm::ArrayRef<mlir::AffineMap> maps,
              llvm::ArrayRef<mlir::utils::IteratorType> iterators);

void addReduceWindows(LoweringTable &table);

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_REDUCER_H

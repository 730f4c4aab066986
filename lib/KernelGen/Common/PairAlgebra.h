//===- PairAlgebra.h - What becomes of a row of scores ----------*- C++ -*-===//
//
// A step on all pairs computes tiles of scores. What a row then does with them
// (softmax as it goes, its gradient, lists of the best) is said here once; a
// target says what a number is: a vector of lanes, or a scalar of a thread.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_COMMON_PAIRALGEBRA_H
#define SHARDC_LIB_KERNELGEN_COMMON_PAIRALGEBRA_H

#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Spmd/IR/SpmdPairs.h"

namespace shardc::pairs {

/// Emits an error where no target has a kernel of `op`, which is on buffers.
mlir::LogicalResult verifyPairStep(spmd::PairStepOp op);

/// What scores and states are computed in: f64 for f64, else f32.
mlir::FloatType computeTypeOf(spmd::PairStepOp op);

/// The score of a pair that does not count.
double neutralScore(spmd::PairCombine combine);

/// The most that a weight's exponent may be: above, exp is infinite. What a
/// program subtracts itself may be far below its scores.
double largestExponent(mlir::FloatType type);

/// A row of a softmax that reads its scores tile by tile. It keeps the largest
/// score so far, and the sum of exp(score - largest); what it has of the result
/// is a sum of the same weights.
class SoftmaxRow {
public:
  virtual ~SoftmaxRow() = default;
  SoftmaxRow(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// Takes in the row's scores of a tile, which become their weights.
  void take(llvm::MutableArrayRef<mlir::Value> scores);

protected:
  // What the row keeps.
  virtual mlir::Value getLargest() = 0;
  virtual void setLargest(mlir::Value value) = 0;
  virtual mlir::Value getSum() = 0;
  virtual void setSum(mlir::Value value) = 0;
  /// What the row has of its result is to be multiplied by `factor`.
  virtual void setFactor(mlir::Value factor) = 0;
  // Arithmetic.
  virtual mlir::Value number(double value) = 0;
  /// The greater; the other where one is NaN.
  virtual mlir::Value greater(mlir::Value x, mlir::Value y) = 0;
  virtual mlir::Value multiplyAdd(mlir::Value x, mlir::Value y,
                                  mlir::Value z) = 0;
  /// Of all scores of the row in this tile.
  virtual mlir::Value largestOf(llvm::ArrayRef<mlir::Value> scores) = 0;
  virtual mlir::Value sumOf(llvm::ArrayRef<mlir::Value> weights) = 0;
  /// exp(score - base), with the base that was given last.
  virtual void setBase(mlir::Value base) = 0;
  virtual mlir::Value power(mlir::Value score) = 0;

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// The gradient of a score, before its slope: of its weight's exponential `p`,
/// the gradient `dp` of the weight, and what the row takes off, `delta`.
mlir::Value scoreGradient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value p,
                          mlir::Value dp, mlir::Value delta);

/// The best of a row, the best first: scores with the numbers of their columns.
/// Of equal scores the lower number is better.
class BestList {
public:
  virtual ~BestList() = default;
  BestList(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// Whether `score` of column `number` is better than what is at `place`.
  mlir::Value isBetter(mlir::Value score, mlir::Value number,
                       mlir::Value place);
  /// Puts it where it belongs; what is at `last`, the end, is lost.
  void insert(mlir::Value score, mlir::Value number, mlir::Value last);

protected:
  virtual mlir::Value scoreAt(mlir::Value place) = 0;
  virtual mlir::Value numberAt(mlir::Value place) = 0;
  virtual void put(mlir::Value score, mlir::Value number,
                   mlir::Value place) = 0;
  virtual void move(mlir::Value from, mlir::Value to) = 0;

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace shardc::pairs

#endif // SHARDC_LIB_KERNELGEN_COMMON_PAIRALGEBRA_H

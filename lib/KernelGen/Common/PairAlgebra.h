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
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include <optional>

namespace shardc::pairs {

/// Emits an error where no target has a kernel of `op`, which is on buffers.
mlir::LogicalResult verifyPairStep(spmd::PairStepOp op);

/// What scores and states are computed in: f64 for f64, else f32.
mlir::FloatType computeTypeOf(spmd::PairStepOp op);

/// The score of a pair that does not count.
double neutralScore(spmd::PairCombine combine);

/// How far others may be from what pairs with them, in other - mine; absent: as
/// far as they like.
struct Band {
  std::optional<int64_t> first, last;
};

/// The band of a step, whose bounds are of key - query, seen from its queries
/// or from its keys.
Band bandOf(std::optional<int64_t> lower, std::optional<int64_t> upper,
            bool mineAreQueries);

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
  /// The largest score from here on, of that so far and the greatest of a tile:
  /// the greater, or what else weights may be taken relative to.
  virtual mlir::Value raise(mlir::Value largest, mlir::Value most) {
    return greater(most, largest);
  }
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
  /// The same of the largest score before.
  virtual mlir::Value factorOf(mlir::Value largest) { return power(largest); }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Backward: what a score is in gradients. `counts`, where it is not null, says
/// whether it does; else its power, weight and slopes are 0.
class ScoreGradient {
public:
  /// The regions of a step; `weight` may be null.
  struct Regions {
    mlir::Region *score, *weight, *slope;
  };
  virtual ~ScoreGradient() = default;
  ScoreGradient(mlir::OpBuilder &b, mlir::Location loc, Regions regions)
      : b(b), loc(loc), regions(regions) {}

  /// `value` where the score counts, else 0.
  mlir::Value keep(mlir::Value value, mlir::Value counts) {
    return counts ? choose(counts, value) : value;
  }
  /// exp of a score less its row's largest; `raw` is the score before its
  /// region.
  mlir::Value power(mlir::Value raw, mlir::Value counts);
  /// The weight that this power is.
  mlir::Value weight(mlir::Value power, mlir::Value counts);
  /// The slopes of the score, where `dp` is the gradient of the weight: the
  /// first for queries and keys, then one an extra.
  llvm::SmallVector<mlir::Value> slopes(mlir::Value power, mlir::Value raw,
                                        mlir::Value dp, mlir::Value counts);
  /// One of them.
  mlir::Value slope(mlir::Value power, mlir::Value raw, mlir::Value dp,
                    mlir::Value counts, unsigned which = 0);

protected:
  /// Of the row: its largest score, and what it takes off the gradients of its
  /// weights.
  virtual mlir::Value getLargest() = 0;
  virtual mlir::Value getDelta() = 0;
  /// exp(score - base), of no more than largestExponent.
  virtual mlir::Value exponential(mlir::Value score, mlir::Value base) = 0;
  /// What regions are told beside scores: extras and positions.
  virtual llvm::SmallVector<mlir::Value> surroundings() = 0;
  /// All that `region` makes of `arguments`.
  virtual llvm::SmallVector<mlir::Value>
  evaluate(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments) = 0;
  /// The same, where `counts` is not null.
  virtual mlir::Value choose(mlir::Value counts, mlir::Value value) = 0;

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  llvm::SmallVector<mlir::Value> evaluate(mlir::Region &region,
                                          llvm::ArrayRef<mlir::Value> scores,
                                          llvm::ArrayRef<mlir::Value> around);
  llvm::SmallVector<mlir::Value> allSlopes(mlir::Value power, mlir::Value raw,
                                           mlir::Value dp);

  Regions regions;
};

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

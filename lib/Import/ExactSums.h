//===- ExactSums.h - Sums whose order cannot be seen -------------*- C++
//-*-===//
#ifndef SHARDC_LIB_IMPORT_EXACTSUMS_H
#define SHARDC_LIB_IMPORT_EXACTSUMS_H

#include "OpBuilding.h"

namespace shardc::import {

/// Rounds numbers to multiples of one power of two, so that sums of them are
/// exact in f64. docs/Rationale/Reproducible.md has the argument.
class ExactSums {
public:
  explicit ExactSums(mlir::Operation *before) : ops(before) {}

  /// Terms whose sums are exact, and what they stand for: their sum, coarsest
  /// first. One term for f32 and narrower, two for f64.
  using Terms = llvm::SmallVector<mlir::Value>;

  /// Terms in f64 of which sums of up to `count`, over elements that differ in
  /// `dims` alone, are exact.
  Terms split(mlir::Value value, llvm::ArrayRef<int64_t> dims, int64_t count);

  /// A factor of products, `bits` to a slice below the largest element along
  /// `dims`, as `slices` values of its own type.
  Terms cut(mlir::Value factor, llvm::ArrayRef<int64_t> dims, int bits,
            int slices);

  /// The sum of a product's factors, each given whole, where `count` products
  /// are summed; `contract` makes the op, with a result in f64, of two slices.
  /// `lhsDims` and `rhsDims` are those along which elements meet in one sum.
  mlir::Value sumOfProducts(
      mlir::Value lhs, llvm::ArrayRef<int64_t> lhsDims, mlir::Value rhs,
      llvm::ArrayRef<int64_t> rhsDims, int64_t count,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> contract);

  /// Adds exact sums of terms, coarsest first, and rounds to `element`.
  mlir::Value finish(mlir::ValueRange sums, mlir::Type element);

  Ops ops;

private:
  /// The largest magnitude along `dims`, in f64, and the power of two above it.
  std::pair<mlir::Value, mlir::Value> powerAbove(mlir::Value value,
                                                 llvm::ArrayRef<int64_t> dims);
  /// `power` times `factor`, spread over `like`: zero where the `largest` is
  /// not finite, NaN where it is from `limit` on, if there is one.
  mlir::Value anchor(mlir::Value largest, mlir::Value power, double factor,
                     mlir::Value like, llvm::ArrayRef<int64_t> dims,
                     double limit);
  mlir::Value roundTo(mlir::Value value, mlir::Value anchor);
  /// What `rounded` left of `value`; nothing of an infinity.
  mlir::Value without(mlir::Value value, mlir::Value rounded);
};

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_EXACTSUMS_H

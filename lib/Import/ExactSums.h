//===- ExactSums.h - Sums whose order cannot be seen ------------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_EXACTSUMS_H
#define SHARDC_LIB_IMPORT_EXACTSUMS_H

#include "OpBuilding.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

namespace shardc::import {

/// Rounds numbers to multiples of one power of two, so that sums of them are
/// exact in f64. docs/Rationale/Reproducible.md has the argument.
class ExactSums {
public:
  explicit ExactSums(mlir::Operation *before) : ops(before) {}

  /// How many terms a sum has, rounded up to a power of two: the power, or,
  /// where extents are open, a scalar of i64 that has it.
  struct Count {
    int64_t logarithm = 0;
    mlir::Value open;
  };

  /// As many as the product of `sizes`, of which those that are open in `mesh`
  /// are known when the program is bound.
  Count countOf(spmd::MeshAttr mesh, llvm::ArrayRef<int64_t> sizes);

  /// Terms whose sums are exact, and what they stand for: their sum, coarsest
  /// first. One term for f32 and narrower, two for f64.
  using Terms = llvm::SmallVector<mlir::Value>;

  /// Terms in f64 of which sums of up to `count`, over elements that differ in
  /// `dims` alone, are exact.
  Terms split(mlir::Value value, llvm::ArrayRef<int64_t> dims, Count count);

  /// The sum of a product's factors, each given whole, where `count` products
  /// are summed; `contract` makes the op, with a result in f64, of two slices.
  /// `lhsDims` and `rhsDims` are those along which elements are added to one
  /// sum.
  mlir::Value sumOfProducts(
      mlir::Value lhs, llvm::ArrayRef<int64_t> lhsDims, mlir::Value rhs,
      llvm::ArrayRef<int64_t> rhsDims, Count count,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> contract);

  /// Adds exact sums of terms, coarsest first, and rounds to `element`.
  mlir::Value finish(mlir::ValueRange sums, mlir::Type element);

  Ops ops;

private:
  /// A number, or a scalar of f64 that has it.
  struct Factor {
    double known = 0;
    mlir::Value open;
  };

  /// `factor` times two to the power that `exponent`, a scalar of i64, has.
  Factor timesPower(double factor, mlir::Value exponent);
  mlir::Value number(int64_t value);

  /// A factor of products as values of its own type, one a slice: what it has
  /// down to a grid, and what that leaves down to the next. Grids are in terms
  /// of the power of two above the largest element along `dims`; one that is
  /// coarser than all elements leaves a slice of zeros.
  Terms cut(mlir::Value factor, llvm::ArrayRef<int64_t> dims,
            llvm::ArrayRef<Factor> grids);

  /// The largest magnitude along `dims`, in f64, and the power of two above it.
  std::pair<mlir::Value, mlir::Value> powerAbove(mlir::Value value,
                                                 llvm::ArrayRef<int64_t> dims);
  /// `power` times `factor`, spread over `like`: zero where the `largest` is
  /// not finite, NaN where it is from `limit` on, if there is one.
  mlir::Value anchor(mlir::Value largest, mlir::Value power, Factor factor,
                     mlir::Value like, llvm::ArrayRef<int64_t> dims,
                     double limit);
  mlir::Value roundTo(mlir::Value value, mlir::Value anchor);
  /// What `rounded` left of `value`; nothing of an infinity.
  mlir::Value without(mlir::Value value, mlir::Value rounded);
};

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_EXACTSUMS_H

//===- Writer.h - Ops from expressions --------------------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_WRITER_H
#define SHARDC_LIB_RAISE_WRITER_H

#include "Algebra.h"
#include "mlir/IR/Builders.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/DenseMap.h"

namespace shardc::raise {

/// Writes polynomials as ops on tensors of one shape: without dims in regions,
/// else of rows.
class Writer {
public:
  Writer(Algebra &algebra, mlir::OpBuilder &builder, mlir::Location loc,
         mlir::FloatType accumulator, llvm::ArrayRef<int64_t> shape = {})
      : algebra(algebra), builder(builder), loc(loc), accumulator(accumulator),
        shape(shape) {}

  /// What terms are, and where the positions of dims are.
  llvm::DenseMap<TermId, mlir::Value> terms;
  llvm::DenseMap<unsigned, mlir::Value> positions;
  /// Terms that are part of another one already: products with them are left
  /// out.
  llvm::SmallVector<TermId> contained;
  /// A sum of exponentials that is known as `part` times e to the power of
  /// `max`. Exponents then come together before they are raised: each by itself
  /// might overflow.
  struct RowSum {
    TermId sum, part, max;
  };
  std::optional<RowSum> rowSum;

  mlir::Value write(PolyId poly, mlir::Type type);
  mlir::Value write(const Monomial &monomial, mlir::Type type);
  mlir::Value cast(mlir::Value value, mlir::Type type);
  template <typename OpT> mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    return OpT::create(builder, loc, lhs.getType(), lhs, rhs);
  }

private:
  mlir::RankedTensorType tensorOf(mlir::Type type) {
    return mlir::RankedTensorType::get(shape, type);
  }
  mlir::Type widen(mlir::Type type);
  mlir::Value number(double value, mlir::Type type);
  /// True for an exponential that comes together with others.
  bool isExponential(TermId id) const;
  mlir::Value writeTerm(TermId id, mlir::Type type);
  mlir::Value writeProduct(const Monomial &monomial, mlir::Type type);
  mlir::Value writeBool(PolyId poly);
  mlir::Value writeAnd(const Monomial &monomial);

  Algebra &algebra;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::FloatType accumulator;
  llvm::SmallVector<int64_t> shape;
};

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_WRITER_H

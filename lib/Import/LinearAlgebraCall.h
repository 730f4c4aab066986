//===- LinearAlgebraCall.h - A call of LAPACK -------------------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_LINEARALGEBRACALL_H
#define SHARDC_LIB_IMPORT_LINEARALGEBRACALL_H

#include "OpBuilding.h"
#include "shardc/Dialect/Solver/IR/Solver.h"

namespace shardc::import {

/// A call, its options, and what its results become.
class Call {
public:
  explicit Call(stablehlo::CustomCallOp call) : ops(call), call(call) {}

  mlir::InFlightDiagnostic refuse() {
    return call.emitError("custom call @") << call.getCallTargetName() << " ";
  }
  /// Has `inputs` operands that are matrices of one supported element type, and
  /// `outputs` results.
  llvm::LogicalResult expect(size_t inputs, size_t outputs);
  /// A letter or number of the options, or `otherwise`; 'L' for `lower = true`.
  int64_t option(llvm::StringRef name, int64_t otherwise);
  bool flag(llvm::StringRef name, bool otherwise) {
    return option(name, otherwise) != 0;
  }
  bool isLower();
  mlir::Value input(size_t i) { return call.getInputs()[i]; }
  /// Replaces result i; null for one that nobody may use.
  llvm::LogicalResult finish(llvm::ArrayRef<mlir::Value> results);

  Ops ops;
  stablehlo::CustomCallOp call;
};

/// `value`'s type with other last dims: `drop` of them give way to `last`.
mlir::RankedTensorType shapedLike(mlir::Value value, unsigned drop,
                                  llvm::ArrayRef<int64_t> last,
                                  mlir::Type element);

/// The type of a complex number's parts; other types as they are.
mlir::Type realOf(mlir::Type element);

/// An info of zero for each matrix of the batch.
mlir::Value zeroInfo(Call &c, unsigned drop);

/// Eigenvalues, Schur's and Hessenberg's forms of matrices of any kind,
/// tridiagonal forms of Hermitian ones, QR with pivots.
llvm::LogicalResult expandGeev(Call &c);
llvm::LogicalResult expandGees(Call &c);
llvm::LogicalResult expandGehrd(Call &c);
llvm::LogicalResult expandSytrd(Call &c);
llvm::LogicalResult expandGeqp3(Call &c);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_LINEARALGEBRACALL_H

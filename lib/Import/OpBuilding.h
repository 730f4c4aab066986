//===- OpBuilding.h - StableHLO ops in short --------------------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_OPBUILDING_H
#define SHARDC_LIB_IMPORT_OPBUILDING_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::import {

/// Builds StableHLO on tensors of known shape.
struct Ops {
  mlir::ImplicitLocOpBuilder b;

  explicit Ops(mlir::Operation *before) : b(before->getLoc(), before) {}

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static mlir::RankedTensorType withElement(mlir::Value value,
                                            mlir::Type element) {
    return typeOf(value).clone(element);
  }

  /// All elements `number`, which the element type rounds.
  mlir::Value splat(mlir::RankedTensorType type, double number);
  /// All elements `bits`, of an integer type.
  mlir::Value splatBits(mlir::RankedTensorType type, uint64_t bits);
  mlir::Value iota(mlir::RankedTensorType type, int64_t dim);
  mlir::Value convert(mlir::Value value, mlir::Type element);
  mlir::Value compare(llvm::StringRef direction, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// Dim i of `value` becomes dim `dims[i]` of `shape`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dims);
  /// The same for leading dims.
  mlir::Value broadcastLeading(mlir::Value value,
                               llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Combines elements along `dims` by `BodyOp`, from `init` on.
  template <typename BodyOp>
  mlir::Value reduce(mlir::Value value, double init,
                     llvm::ArrayRef<int64_t> dims) {
    return reduceWith(value, init, dims,
                      [](mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         mlir::Value y) -> mlir::Value {
                        return BodyOp::create(b, loc, x.getType(), x, y);
                      });
  }
  /// The last two dims exchanged, elements conjugated.
  mlir::Value adjoint(mlir::Value value);
  /// `value` with `high[d]` elements of `number` behind dim d.
  mlir::Value padHigh(mlir::Value value, double number,
                      llvm::ArrayRef<int64_t> high);
  template <typename OpT, typename... Args>
  mlir::Value op(mlir::Value first, Args... rest) {
    return OpT::create(b, first.getType(), first, rest...);
  }

private:
  mlir::Value
  reduceWith(mlir::Value value, double init, llvm::ArrayRef<int64_t> dims,
             llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                            mlir::Value, mlir::Value)>
                 body);
};

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_OPBUILDING_H

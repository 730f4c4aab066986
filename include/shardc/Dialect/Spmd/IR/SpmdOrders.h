//===- SpmdOrders.h - The zigzag order of a dim -----------------*- C++ -*-===//
//
// Ops that know of a dim that it is in zigzag order have the sizes of the
// shards whose order it is, and beside them, where these follow from what is
// bound, the formula of their boundaries. Both together are an order.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDORDERS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDORDERS_H

#include "shardc/Dialect/Spmd/IR/Spmd.h"

namespace shardc::spmd {

/// The shards whose zigzag order a dim is in; null: natural order.
struct ZigzagOrder {
  mlir::DenseI64ArrayAttr sizes;
  FormulaAttr formula;

  static ZigzagOrder get(mlir::MLIRContext *context, const Boundaries &shards);
  explicit operator bool() const { return bool(sizes); }
  friend bool operator==(const ZigzagOrder &, const ZigzagOrder &) = default;
  /// None for the natural order.
  std::optional<Boundaries> getShards() const;
  /// Of an attribute `name` of `op`: an error if the formula is not of
  /// boundaries.
  llvm::LogicalResult verifyFormula(mlir::Operation *op,
                                    llvm::StringRef name) const;
};

/// Of `deal` and `dealt_iota`.
ZigzagOrder getOrder(DealOp op);
ZigzagOrder getOrder(DealtIotaOp op);
DealOp createDeal(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, int64_t dim, ZigzagOrder order,
                  bool isBack);
DealtIotaOp createDealtIota(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::RankedTensorType type, ZigzagOrder order);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDORDERS_H

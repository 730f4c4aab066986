//===- SpmdOrders.cpp - The zigzag order of a dim -------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

ZigzagOrder ZigzagOrder::get(MLIRContext *context, const Boundaries &shards) {
  return {DenseI64ArrayAttr::get(context, shards.sizes()),
          FormulaAttr::get(context, shards.formula())};
}

std::optional<Boundaries> ZigzagOrder::getShards() const {
  if (!sizes)
    return std::nullopt;
  ArrayRef<int64_t> all = sizes.asArrayRef();
  std::optional<Boundaries> shards =
      Boundaries::fromSizes({all.data(), all.size()});
  return shards && formula ? shards->with(formula.getFormula()) : shards;
}

LogicalResult ZigzagOrder::verifyFormula(Operation *op, StringRef name) const {
  if (!formula || (sizes && formula.getFormula().isBoundaries()))
    return success();
  return op->emitOpError() << "has '" << name << "' " << formula
                           << (sizes ? ", expected a formula of boundaries"
                                     : ", but no sizes of shards");
}

ZigzagOrder spmd::getOrder(DealOp op) {
  return {op.getSizesAttr(), op.getFormulaAttr()};
}

ZigzagOrder spmd::getOrder(DealtIotaOp op) {
  return {op.getSizesAttr(), op.getFormulaAttr()};
}

DealOp spmd::createDeal(OpBuilder &builder, Location loc, Value value,
                        int64_t dim, ZigzagOrder order, bool isBack) {
  return DealOp::create(builder, loc, value, dim, order.sizes, order.formula,
                        isBack, /*reason=*/StringAttr());
}

DealtIotaOp spmd::createDealtIota(OpBuilder &builder, Location loc,
                                  RankedTensorType type, ZigzagOrder order) {
  return DealtIotaOp::create(builder, loc, type, order.sizes, order.formula);
}

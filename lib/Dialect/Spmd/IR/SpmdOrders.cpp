//===- SpmdOrders.cpp - The zigzag order of a dim -------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdPairs.h"

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

/// Calls `body` with the op of its own class.
template <typename Body>
static auto withPairs(AllPairsOpInterface op, Body body) {
  if (auto pairs = dyn_cast<AllPairsOp>(op.getOperation()))
    return body(pairs);
  return body(cast<AttentionBackwardOp>(op.getOperation()));
}

static ZigzagOrder orderOf(DenseI64ArrayAttr sizes, FormulaAttr formula) {
  return {sizes && !sizes.empty() ? sizes : DenseI64ArrayAttr(), formula};
}

ZigzagOrder spmd::getQueryOrder(AllPairsOpInterface op) {
  return withPairs(op, [](auto pairs) {
    return orderOf(pairs.getQueryOrderAttr(), pairs.getQueryFormulaAttr());
  });
}
ZigzagOrder spmd::getKeyOrder(AllPairsOpInterface op) {
  return withPairs(op, [](auto pairs) {
    return orderOf(pairs.getKeyOrderAttr(), pairs.getKeyFormulaAttr());
  });
}
void spmd::setQueryOrder(AllPairsOpInterface op, ZigzagOrder order) {
  withPairs(op, [&](auto pairs) {
    pairs.setQueryOrderAttr(order.sizes);
    pairs.setQueryFormulaAttr(order.formula);
  });
}
void spmd::setKeyOrder(AllPairsOpInterface op, ZigzagOrder order) {
  withPairs(op, [&](auto pairs) {
    pairs.setKeyOrderAttr(order.sizes);
    pairs.setKeyFormulaAttr(order.formula);
  });
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

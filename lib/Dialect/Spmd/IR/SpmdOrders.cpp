//===- SpmdOrders.cpp - The zigzag order of a dim -------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static constexpr StringLiteral kFormula = "formula", kQuery = "query",
                               kKey = "key";

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

ZigzagOrder spmd::getOrder(DealOp op) {
  return {op.getSizesAttr(), op->getAttrOfType<FormulaAttr>(kFormula)};
}

ZigzagOrder spmd::getOrder(DealtIotaOp op) {
  return {op.getSizesAttr(), op->getAttrOfType<FormulaAttr>(kFormula)};
}

/// `query_order` and `query_formula`, or those of keys.
static ZigzagOrder orderOf(Operation *op, StringRef dim) {
  auto sizes = op->getAttrOfType<DenseI64ArrayAttr>((dim + "_order").str());
  if (!sizes || sizes.empty())
    return {};
  return {sizes, op->getAttrOfType<FormulaAttr>((dim + "_formula").str())};
}

static void setOrder(Operation *op, StringRef dim, ZigzagOrder order) {
  op->setAttr((dim + "_order").str(), order.sizes);
  if (order.formula)
    op->setAttr((dim + "_formula").str(), order.formula);
}

ZigzagOrder spmd::getQueryOrder(AllPairsOpInterface op) {
  return orderOf(op, kQuery);
}
ZigzagOrder spmd::getKeyOrder(AllPairsOpInterface op) {
  return orderOf(op, kKey);
}
void spmd::setQueryOrder(AllPairsOpInterface op, ZigzagOrder order) {
  setOrder(op, kQuery, order);
}
void spmd::setKeyOrder(AllPairsOpInterface op, ZigzagOrder order) {
  setOrder(op, kKey, order);
}

DealOp spmd::createDeal(OpBuilder &builder, Location loc, Value value,
                        int64_t dim, ZigzagOrder order, bool isBack) {
  auto op = DealOp::create(builder, loc, value, dim, order.sizes, isBack);
  if (order.formula)
    op->setAttr(kFormula, order.formula);
  return op;
}

DealtIotaOp spmd::createDealtIota(OpBuilder &builder, Location loc,
                                  RankedTensorType type, ZigzagOrder order) {
  auto op = DealtIotaOp::create(builder, loc, type, order.sizes);
  if (order.formula)
    op->setAttr(kFormula, order.formula);
  return op;
}

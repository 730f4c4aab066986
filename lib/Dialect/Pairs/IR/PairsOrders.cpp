//===- PairsOrders.cpp - Queries and keys in zigzag order ---------------===//
#include "shardc/Dialect/Pairs/IR/PairsOrders.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

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

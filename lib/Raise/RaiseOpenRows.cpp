//===- RaiseOpenRows.cpp - Softmax with more in its sum than scores -------===//
//
// Sinks are in the sum of a row, and are no scores. What makes the rows is
// hidden from what reads them, and taken for the softmax of scores alone, whose
// sums are made whole afterwards.
//
//===----------------------------------------------------------------------===//
#include "OpenRows.h"
#include "RaiseBlocks.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_RAISEOPENROWSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static void raiseOpenRows(func::FuncOp func) {
  if (countScores(func) == 0 && !hasColumns(func))
    return;
  OwningOpRef<func::FuncOp> copy(func.clone());
  splitColumns(*copy);
  size_t before = countScores(*copy), hidden = hideRows(*copy);
  if (hidden == 0)
    return;
  raiseBlocks(*copy);
  showRows(*copy);
  shareOutputs(*copy);
  if (countScores(*copy) + hidden != before)
    return;
  func.getBody().takeBody(copy->getBody());
  raiseBlocks(func);
}

namespace {
struct RaiseOpenRowsPass final
    : shardc::impl::RaiseOpenRowsPassBase<RaiseOpenRowsPass> {
  using Base::Base;
  void runOnOperation() override { raiseOpenRows(getOperation()); }
};
} // namespace

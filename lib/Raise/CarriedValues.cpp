//===- CarriedValues.cpp - What a loop need not carry ---------------------===//
#include "CarriedValues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardc;

/// A loop like `loop`, whose regions it takes, with these operands and results.
static stablehlo::WhileOp remake(stablehlo::WhileOp loop, TypeRange types,
                                 ValueRange inits) {
  OpBuilder builder(loop);
  auto next = stablehlo::WhileOp::create(builder, loop.getLoc(), types, inits);
  next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  next.getCond().takeBody(loop.getCond());
  next.getBody().takeBody(loop.getBody());
  return next;
}

stablehlo::WhileOp shardc::addCarried(stablehlo::WhileOp loop,
                                      ArrayRef<Value> more) {
  SmallVector<Value> inits(loop->getOperands());
  llvm::append_range(inits, more);
  Block &body = loop.getBody().front();
  for (Value init : more) {
    loop.getCond().front().addArgument(init.getType(), init.getLoc());
    BlockArgument argument = body.addArgument(init.getType(), init.getLoc());
    Operation *end = body.getTerminator();
    end->insertOperands(end->getNumOperands(), argument);
  }
  stablehlo::WhileOp next = remake(loop, ValueRange(inits).getTypes(), inits);
  loop->replaceAllUsesWith(
      next->getResults().take_front(loop->getNumResults()));
  loop.erase();
  return next;
}

stablehlo::WhileOp shardc::eraseCarried(stablehlo::WhileOp loop,
                                        const llvm::BitVector &gone) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  Operation *end = body.getTerminator();
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (auto [i, init] : llvm::enumerate(loop->getOperands()))
    if (!gone[i]) {
      inits.push_back(init);
      types.push_back(loop->getResult(i).getType());
    }
  // What made the next ones, and nothing else.
  SmallVector<Operation *> dead;
  for (unsigned i : gone.set_bits())
    if (Operation *op = end->getOperand(i).getDefiningOp();
        op && op->getBlock() == &body)
      dead.push_back(op);
  end->eraseOperands(gone);
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val();
    if (llvm::is_contained(dead, op) || !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && maker->getBlock() == &body)
        dead.push_back(maker);
    op->erase();
  }
  cond.eraseArguments(gone);
  body.eraseArguments(gone);
  stablehlo::WhileOp next = remake(loop, types, inits);
  size_t at = 0;
  for (auto [i, result] : llvm::enumerate(loop->getResults()))
    if (!gone[i])
      result.replaceAllUsesWith(next->getResult(at++));
  loop.erase();
  return next;
}

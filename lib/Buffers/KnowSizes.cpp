//===- KnowSizes.cpp - One look-up for sizes that are equal ---------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "shardc/Analysis/ShardSizes.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Local/IR/Local.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_KNOWSIZESPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace shardc;

/// What sizes of buffers that `function` allocates are computed of.
static DenseSet<Operation *> madeIntoSizes(func::FuncOp function) {
  SmallVector<Value> work;
  function.walk([&](memref::AllocOp alloc) {
    llvm::append_range(work, alloc.getDynamicSizes());
  });
  DenseSet<Operation *> ops;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && op->getNumRegions() == 0 && ops.insert(op).second)
      llvm::copy_if(op->getOperands(), std::back_inserter(work),
                    [](Value operand) { return operand.getType().isIndex(); });
  }
  return ops;
}

namespace {
struct KnowSizesPass final : shardc::impl::KnowSizesPassBase<KnowSizesPass> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration() || !function.getBody().hasOneBlock())
      return;
    DenseSet<Operation *> asked;
    if (allocated && (asked = madeIntoSizes(function)).empty())
      return;
    ShardSizes sizes(function);
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex() &&
          isMemoryEffectFree(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
          (!allocated || asked.contains(op)))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpFoldResult known = sizes.canonical(op->getResult(0));
      OpBuilder builder(op);
      Value value =
          getValueOrCreateConstantIndexOp(builder, op->getLoc(), known);
      op->getResult(0).replaceUsesWithIf(
          value, [&](OpOperand &use) { return use.getOwner() != op; });
    }
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};
} // namespace

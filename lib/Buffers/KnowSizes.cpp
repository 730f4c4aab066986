//===- KnowSizes.cpp - One look-up for sizes that are equal ---------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "shardc/Analysis/ShardSizes.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_KNOWSIZESPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace shardc;

namespace {
struct KnowSizesPass final : shardc::impl::KnowSizesPassBase<KnowSizesPass> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration() || !function.getBody().hasOneBlock())
      return;
    ShardSizes sizes(function);
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex() &&
          isMemoryEffectFree(op) && !op->hasTrait<OpTrait::ConstantLike>())
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

//===- BindPlatform.cpp - One of several platforms ------------------------===//
//
// jax.export for several platforms prints one program, which takes the number
// of the platform it runs on and branches by it. Which platforms these are is
// not in the text: Python knows, and says which one's number to take.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_BINDPLATFORMPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

/// Puts a constant in the place of each argument that is the platform's number.
static LogicalResult bindArguments(func::FuncOp main) {
  for (unsigned i = main.getNumArguments(); i-- > 0;) {
    auto kind = main.getArgAttrOfType<StringAttr>(i, "jax.global_constant");
    if (!kind || kind.getValue() != "_platform_index")
      continue;
    BlockArgument argument = main.getArgument(i);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != 0 ||
        !type.getElementType().isSignlessInteger())
      return emitError(argument.getLoc())
             << "argument " << i
             << " of @main is the number of a platform, but of type "
             << argument.getType() << "; expected tensor<i32>";
    IntegerAttr number = spmd::contract::Platform::ofArgument(main, i);
    auto value = DenseElementsAttr::get(
        type, APInt(type.getElementTypeBitWidth(), number ? number.getInt() : 0,
                    /*isSigned=*/true, /*implicitTrunc=*/true));
    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    Value constant = stablehlo::ConstantOp::create(
        builder, argument.getLoc(), cast<ElementsAttr>(Attribute(value)));
    argument.replaceAllUsesWith(constant);
    if (failed(main.eraseArgument(i)))
      return failure();
  }
  return success();
}

/// The branch that `op` takes, if that is known now: an index out of range is
/// the last one's.
static Region *takenBranch(stablehlo::CaseOp op) {
  auto constant = op->getOperand(0).getDefiningOp<stablehlo::ConstantOp>();
  auto value =
      constant ? dyn_cast<DenseIntElementsAttr>(Attribute(constant.getValue()))
               : DenseIntElementsAttr();
  if (!value || value.getNumElements() != 1 || op->getNumRegions() == 0)
    return nullptr;
  APInt index = *value.value_begin<APInt>();
  bool isInRange = !index.isNegative() && index.ult(op->getNumRegions());
  return &op->getRegion(isInRange ? index.getZExtValue()
                                  : op->getNumRegions() - 1);
}

/// Puts the ops of the branches that are taken in the place of their ops.
static void takeBranches(Block &block) {
  for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
    auto branches = dyn_cast<stablehlo::CaseOp>(op);
    Region *taken = branches ? takenBranch(branches) : nullptr;
    if (!taken) {
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          takeBranches(inner);
      op = op->getNextNode();
      continue;
    }
    Block &inner = taken->front();
    Operation *end = inner.getTerminator();
    op->replaceAllUsesWith(end->getOperands());
    end->erase();
    Operation *next = inner.empty() ? op->getNextNode() : &inner.front();
    block.getOperations().splice(op->getIterator(), inner.getOperations());
    op->erase();
    op = next;
  }
}

namespace {
struct BindPlatformPass final
    : shardc::impl::BindPlatformPassBase<BindPlatformPass> {
  using Base::Base;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    if (failed(bindArguments(main)))
      return signalPassFailure();
    takeBranches(main.getBody().front());
  }
};
} // namespace

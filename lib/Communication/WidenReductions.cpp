//===- WidenReductions.cpp - Floats of eight bits are combined as f32 -----===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc {
#define GEN_PASS_DEF_WIDENREDUCTIONSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// Lets `op`, of one input and one result, work on f32.
static void widen(Operation *op) {
  OpBuilder builder(op);
  Value input = op->getOperand(0), result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  Type f32 = builder.getF32Type();
  op->setOperand(0, stablehlo::ConvertOp::create(
                        builder, op->getLoc(),
                        cast<RankedTensorType>(input.getType()).clone(f32),
                        input));
  result.setType(type.clone(f32));
  builder.setInsertionPointAfter(op);
  Value rounded =
      stablehlo::ConvertOp::create(builder, op->getLoc(), type, result);
  result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

namespace {
struct WidenReductionsPass final
    : shardc::impl::WidenReductionsPassBase<WidenReductionsPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<AllReduceOp, ReduceScatterOp>(op))
        return;
      auto element = dyn_cast<FloatType>(
          getElementTypeOrSelf(op->getOperand(0).getType()));
      if (element && element.getWidth() < 16)
        widen(op);
    });
  }
};
} // namespace

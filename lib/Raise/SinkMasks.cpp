//===- SinkMasks.cpp - Masks that a loop carries, made where they are used ===//
//
// JAX computes what a scan over layers does not change before the scan, masks
// of attention among it, and passes it in. Nobody sees then that the mask
// compares indices, and all of it, tokens times tokens, is in memory while
// the loop runs.
//
//===----------------------------------------------------------------------===//
#include "CarriedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_SINKMASKSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Longer derivations are left where they are.
static constexpr size_t kMaxOps = 64;

/// Ops that cost next to nothing where their result is used.
static bool isCheap(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (isa<stablehlo::IotaOp, stablehlo::CompareOp, stablehlo::SelectOp,
          stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
          stablehlo::TransposeOp, stablehlo::ConvertOp, stablehlo::AndOp,
          stablehlo::OrOp, stablehlo::XorOp, stablehlo::NotOp>(op))
    return true;
  // Arithmetic on indices.
  return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
             stablehlo::NegOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isInteger();
}

/// Large constants are data; one number for all elements is none.
static bool isSmallConstant(Operation *op) {
  auto constant = dyn_cast<stablehlo::ConstantOp>(op);
  return !constant || constant.getValue().isSplat() ||
         constant.getValue().getNumElements() <= 1;
}

/// Adds the ops that `value` follows from to `ops`, operands first; false if it
/// does not follow from indices and numbers alone.
static bool findDerivation(Value value, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op || !isCheap(op) || !isSmallConstant(op) || op->getNumResults() != 1)
    return false;
  if (ops.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!findDerivation(operand, ops) || ops.size() > kMaxOps)
      return false;
  ops.insert(op);
  return true;
}

/// Makes in `loop` what it carries unchanged and could make itself, and carries
/// it no more. Returns whether there was any.
static bool sinkMasks(stablehlo::WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  Operation *end = body.getTerminator();
  llvm::BitVector gone(loop->getNumOperands());
  for (auto [i, init] : llvm::enumerate(loop->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    if (!type || type.getRank() < 2 ||
        end->getOperand(i) != body.getArgument(i))
      continue;
    llvm::SetVector<Operation *> ops;
    if (!findDerivation(init, ops))
      continue;
    for (Block *block : {&cond, &body}) {
      OpBuilder builder(block, block->begin());
      IRMapping map;
      for (Operation *op : ops)
        builder.clone(*op, map);
      block->getArgument(i).replaceAllUsesWith(map.lookup(init));
    }
    loop->getResult(i).replaceAllUsesWith(init);
    gone.set(i);
  }
  if (gone.none())
    return false;
  eraseCarried(loop, gone);
  return true;
}

namespace {
struct SinkMasksPass final : shardc::impl::SinkMasksPassBase<SinkMasksPass> {
  using Base::Base;
  void runOnOperation() override {
    // Outer loops first: what they make, those within may make as well.
    SmallVector<stablehlo::WhileOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    bool changed = false;
    for (stablehlo::WhileOp loop : loops)
      changed |= sinkMasks(loop);
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace

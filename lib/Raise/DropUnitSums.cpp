//===- DropUnitSums.cpp - Sums of one element that is a sum ---------------===//
//
// The gradient of a broadcast sums the dims that it added, one after the other:
// behind the sum over rows comes one over a dim of one element. Adding one sum
// to zero changes nothing, not even its sign: a sum that starts from +0 is
// never -0.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_DROPUNITSUMSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

/// True for a sum of floats that starts from +0.
static bool isSumFromZero(stablehlo::ReduceOp op) {
  if (!op || op.getInputs().size() != 1)
    return false;
  Block &body = op.getBody().front();
  auto sum = dyn_cast<stablehlo::AddOp>(body.front());
  Operation *yield = body.getTerminator();
  DenseElementsAttr start;
  return sum && sum->getNextNode() == yield &&
         yield->getOperand(0) == sum.getResult() &&
         llvm::is_contained(sum->getOperands(), Value(body.getArgument(0))) &&
         llvm::is_contained(sum->getOperands(), Value(body.getArgument(1))) &&
         matchPattern(op.getInitValues()[0], m_Constant(&start)) &&
         isa<FloatType>(start.getElementType()) && start.isSplat() &&
         start.getSplatValue<APFloat>().isPosZero();
}

namespace {
struct DropUnitSum final : OpRewritePattern<stablehlo::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSumFromZero(op))
      return rewriter.notifyMatchFailure(op, "is no sum from zero");
    auto type = dyn_cast<RankedTensorType>(op.getInputs().front().getType());
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !result || !type.hasStaticShape() ||
        !llvm::all_of(op.getDimensions(),
                      [&](int64_t dim) { return type.getDimSize(dim) == 1; }))
      return rewriter.notifyMatchFailure(op, "sums more than one element");
    Value input = op.getInputs().front();
    while (auto reshape = input.getDefiningOp<stablehlo::ReshapeOp>())
      input = reshape.getOperand();
    if (!isSumFromZero(input.getDefiningOp<stablehlo::ReduceOp>()) ||
        getElementTypeOrSelf(input.getType()) != result.getElementType())
      return rewriter.notifyMatchFailure(op, "its elements are no sums");
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, result, input);
    return success();
  }
};

struct DropUnitSumsPass final
    : shardc::impl::DropUnitSumsPassBase<DropUnitSumsPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropUnitSum>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

//===- DecomposeTensorOps.cpp - Pads and concatenations as slices ---------===//
//
// One destination and insertions into it: empty-tensor elimination can then let
// producers write their slice directly.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_DECOMPOSETENSOROPSPASS
#include "shardc/KernelGen/Passes.h.inc"

namespace {
/// pad(source) becomes insert_slice(source, fill(empty)).
struct DecomposePad final : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp pad,
                                PatternRewriter &rewriter) const override {
    Value padding = pad.getConstantPaddingValue();
    if (!padding)
      return rewriter.notifyMatchFailure(pad, "padding value depends on position");
    Location loc = pad.getLoc();
    SmallVector<OpFoldResult> low = pad.getMixedLowPad();
    SmallVector<OpFoldResult> high = pad.getMixedHighPad();
    SmallVector<OpFoldResult> sourceSizes =
        tensor::getMixedSizes(rewriter, loc, pad.getSource());
    SmallVector<OpFoldResult> sizes;
    AffineExpr a, b, c;
    bindSymbols(rewriter.getContext(), a, b, c);
    for (auto [dim, l, h, s] : llvm::enumerate(low, high, sourceSizes)) {
      int64_t size = pad.getResultType().getDimSize(dim);
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(rewriter.getIndexAttr(size));
        continue;
      }
      sizes.push_back(affine::makeComposedFoldedAffineApply(rewriter, loc, a + b + c,
                                                            {l, s, h}));
    }
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                          pad.getResultType().getElementType());
    bool fills = !(llvm::all_of(low, isZeroInteger) && llvm::all_of(high, isZeroInteger));
    Value filled = empty;
    if (fills) {
      auto fill = linalg::FillOp::create(rewriter, loc, padding, empty);
      filled = fill.getResult(0);
    }
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    Value inserted = tensor::InsertSliceOp::create(rewriter, loc, pad.getSource(), filled,
                                                   low, sourceSizes, strides);
    if (inserted.getType() != pad.getResultType())
      inserted = tensor::CastOp::create(rewriter, loc, pad.getResultType(), inserted);
    rewriter.replaceOp(pad, inserted);
    return success();
  }
};

struct DecomposeTensorOpsPass final
    : shardc::impl::DecomposeTensorOpsPassBase<DecomposeTensorOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposePad>(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc

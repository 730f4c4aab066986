//===- DecomposeTensorOps.cpp - Pads and concatenations as slices ---------===//
//
// One destination and insertions into it: empty-tensor elimination can then let
// producers write their slice directly.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/Slices.h"

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
      return rewriter.notifyMatchFailure(pad,
                                         "padding value depends on position");
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
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          rewriter, loc, a + b + c, {l, s, h}));
    }
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                          pad.getResultType().getElementType());
    bool fills = !(llvm::all_of(low, isZeroInteger) &&
                   llvm::all_of(high, isZeroInteger));
    Value filled = empty;
    if (fills) {
      auto fill = linalg::FillOp::create(rewriter, loc, padding, empty);
      filled = fill.getResult(0);
    }
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    Value inserted = putPart(rewriter, loc, pad.getSource(), filled, low,
                             sourceSizes, strides);
    if (inserted.getType() != pad.getResultType())
      inserted =
          tensor::CastOp::create(rewriter, loc, pad.getResultType(), inserted);
    rewriter.replaceOp(pad, inserted);
    return success();
  }
};

/// A slice that leaves some dims of one element out and keeps others is taken
/// in full rank first: of a buffer whose strides are not known, MLIR 22 cannot
/// tell which dims are left out, and reads along the wrong ones.
struct SliceInFullRank final : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResultType();
    int64_t lacking = op.getSourceType().getRank() - type.getRank();
    int64_t ones = llvm::count(op.getStaticSizes(), 1);
    if (lacking == 0 || ones == lacking)
      return rewriter.notifyMatchFailure(
          op, "all dims of one element are kept, or none");
    auto full = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), op.getSource(), op.getMixedOffsets(),
        op.getMixedSizes(), op.getMixedStrides());
    auto groups = getReassociationIndicesForReshape(full.getType(), type);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "no dims to join");
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, type, full,
                                                         *groups);
    return success();
  }
};

/// The same of an insertion: what is inserted is expanded to full rank first.
struct InsertInFullRank final : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getSourceType();
    int64_t lacking = op.getDestType().getRank() - type.getRank();
    int64_t ones = llvm::count(op.getStaticSizes(), 1);
    if (lacking == 0 || ones == lacking)
      return rewriter.notifyMatchFailure(
          op, "all dims of one element are kept, or none");
    RankedTensorType full = type.clone(op.getStaticSizes());
    auto groups = getReassociationIndicesForReshape(type, full);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "no dims to split");
    Value expanded = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), full,
                                                   op.getSource(), *groups,
                                                   op.getMixedSizes());
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, expanded, op.getDest(), op.getMixedOffsets(), op.getMixedSizes(),
        op.getMixedStrides());
    return success();
  }
};

/// index_switch becomes a chain of if.
struct DecomposeSwitch final : OpRewritePattern<scf::IndexSwitchOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IndexSwitchOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      return rewriter.notifyMatchFailure(op, "no tensor results");
    Location loc = op.getLoc();
    SmallVector<Region *> regions;
    for (Region &region : op.getCaseRegions())
      regions.push_back(&region);
    scf::IfOp first;
    for (auto [value, region] : llvm::zip_equal(op.getCases(), regions)) {
      Value number = arith::ConstantIndexOp::create(rewriter, loc, value);
      Value matches = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, op.getArg(), number);
      auto branch =
          scf::IfOp::create(rewriter, loc, op.getResultTypes(), matches,
                            /*addThenBlock=*/false, /*addElseBlock=*/false);
      rewriter.inlineRegionBefore(*region, branch.getThenRegion(),
                                  branch.getThenRegion().end());
      if (first)
        scf::YieldOp::create(rewriter, loc, branch.getResults());
      else
        first = branch;
      Block *rest = rewriter.createBlock(&branch.getElseRegion());
      rewriter.setInsertionPointToStart(rest);
    }
    if (!first)
      return rewriter.notifyMatchFailure(op, "no cases");
    // The default's ops go into the innermost else.
    Block *rest = rewriter.getInsertionBlock();
    Block &other = op.getDefaultRegion().front();
    rewriter.mergeBlocks(&other, rest);
    rewriter.replaceOp(op, first.getResults());
    return success();
  }
};

struct DecomposeTensorOpsPass final
    : shardc::impl::DecomposeTensorOpsPassBase<DecomposeTensorOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<DecomposePad, DecomposeSwitch, InsertInFullRank, SliceInFullRank>(
            &getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc

//===- DecomposeTensorOps.cpp - Pads and concatenations as slices ---------===//
//
// One destination and insertions into it: empty-tensor elimination can then let
// producers write their slice directly.
//
// A chain of n insertions takes bufferization n^3 steps, as each is compared
// with each along all of the chain. So where many tensors are joined, their
// destination is memory from the start, and each is built in a part of it that
// is no one else's.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Support/Slices.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_DECOMPOSETENSOROPSPASS
#include "shardc/Buffers/Passes.h.inc"

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

/// What `value` was before the op that makes it wrote into it or showed it in
/// another shape; null where that op makes it of other things.
static Value previous(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return op->getOperand(0);
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getTiedOpOperand(result)->get();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (OpOperand *init = loop.getTiedLoopInit(result))
      return init->get();
  return {};
}

/// Whether nothing but its next shape, and in the end the join, uses `part`:
/// whoever changes the joined tensor in place is not seen to change the part.
static bool isOnlyJoined(Value part) {
  while (part.hasOneUse()) {
    Operation *op = part.getDefiningOp();
    if (!op ||
        !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      return op != nullptr;
    part = op->getOperand(0);
  }
  return false;
}

/// Whether both put what they insert, side by side in this order along one dim,
/// at places and of sizes that are known.
static bool isBefore(tensor::InsertSliceOp one, tensor::InsertSliceOp other) {
  std::optional<unsigned> dim;
  for (unsigned i = 0; i < one.getStaticOffsets().size(); ++i) {
    int64_t begin = one.getStaticOffsets()[i], size = one.getStaticSizes()[i];
    int64_t next = other.getStaticOffsets()[i];
    if (begin == next && size == other.getStaticSizes()[i])
      continue;
    if (dim || next < begin + size)
      return false;
    dim = i;
  }
  return dim.has_value();
}

static bool isStatic(tensor::InsertSliceOp insert) {
  return insert.getSourceType().hasStaticShape() &&
         insert.getSourceType().getRank() == insert.getDestType().getRank() &&
         insert.getDestType().hasStaticShape() && insert.hasUnitStride() &&
         !ShapedType::isDynamicShape(insert.getStaticOffsets()) &&
         insert.getSourceType().getNumElements() != 0;
}

/// The insertions, in order, by which the last one's result is made of nothing
/// but parts that are side by side; empty where it is not.
static SmallVector<tensor::InsertSliceOp> joinOf(tensor::InsertSliceOp last) {
  SmallVector<tensor::InsertSliceOp> inserts;
  for (tensor::InsertSliceOp insert = last; insert;) {
    if (!isStatic(insert) || insert->getBlock() != last->getBlock() ||
        (!inserts.empty() &&
         (!insert->hasOneUse() || !isBefore(insert, inserts.back()))))
      return {};
    inserts.push_back(insert);
    if (insert.getDest().getDefiningOp<tensor::EmptyOp>()) {
      std::reverse(inserts.begin(), inserts.end());
      return inserts;
    }
    insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>();
  }
  return {};
}

/// The first op of the block of `inserts` that writes what one of them inserts.
static Operation *firstWriter(ArrayRef<tensor::InsertSliceOp> inserts) {
  Operation *first = inserts.front();
  for (tensor::InsertSliceOp insert : inserts)
    for (Value value = insert.getSource(); value; value = previous(value)) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != insert->getBlock())
        break;
      if (!isa<tensor::EmptyOp>(op) && op->isBeforeInBlock(first))
        first = op;
    }
  return first;
}

/// Joins parts in memory. Where all that happens to the whole is that it
/// becomes a result of the function, that is the memory.
static void joinInMemory(ArrayRef<tensor::InsertSliceOp> inserts) {
  tensor::InsertSliceOp last = inserts.back();
  RankedTensorType type = last.getResultType();
  Location loc = last.getLoc();
  OpBuilder builder(firstWriter(inserts));
  Value memory;
  bufferization::MaterializeInDestinationOp output;
  if (last->hasOneUse())
    output = dyn_cast<bufferization::MaterializeInDestinationOp>(
        *last->user_begin());
  if (output && output.getRestrict() && isa<BlockArgument>(output.getDest()) &&
      isa<MemRefType>(output.getDest().getType())) {
    memory = output.getDest();
    output.erase();
  } else {
    memory = memref::AllocOp::create(
        builder, loc, MemRefType::get(type.getShape(), type.getElementType()));
  }
  for (tensor::InsertSliceOp insert : inserts) {
    // Only then may it be built in its destination.
    bool isBuiltThere = isOnlyJoined(insert.getSource());
    Value room = memref::SubViewOp::create(
        builder, loc, memory, insert.getStaticOffsets(),
        insert.getStaticSizes(), insert.getStaticStrides());
    OpBuilder atInsert(insert);
    auto store = bufferization::MaterializeInDestinationOp::create(
        atInsert, insert.getLoc(), insert.getSource(), room);
    store.setWritable(true);
    store.setRestrict(isBuiltThere);
  }
  OpBuilder atLast(last);
  if (!last->use_empty())
    last->replaceAllUsesWith(bufferization::ToTensorOp::create(
        atLast, loc, type, memory, /*restrict=*/true, /*writable=*/true));
  for (tensor::InsertSliceOp insert : llvm::reverse(inserts))
    insert.erase();
}

static void joinManyInMemory(func::FuncOp function, size_t many) {
  if (!function.getBody().hasOneBlock())
    return;
  SmallVector<SmallVector<tensor::InsertSliceOp>> joins;
  for (auto insert :
       function.getBody().front().getOps<tensor::InsertSliceOp>()) {
    bool isLast = llvm::none_of(insert->getUsers(), [&](Operation *user) {
      auto next = dyn_cast<tensor::InsertSliceOp>(user);
      return next && next.getDest() == insert.getResult();
    });
    if (!isLast)
      continue;
    SmallVector<tensor::InsertSliceOp> inserts = joinOf(insert);
    if (inserts.size() >= many)
      joins.push_back(std::move(inserts));
  }
  for (ArrayRef<tensor::InsertSliceOp> inserts : joins)
    joinInMemory(inserts);
}

struct DecomposeTensorOpsPass final
    : shardc::impl::DecomposeTensorOpsPassBase<DecomposeTensorOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    joinManyInMemory(getOperation(), manyParts);
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

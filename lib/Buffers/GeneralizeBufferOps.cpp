//===- GeneralizeBufferOps.cpp - Copies and named ops as generics ---------===//
//
// One form for all that bufferization leaves, and no copy behind a runtime
// call. Allocations are dense, or as long as their strides reach.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Support/Strides.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_GENERALIZEBUFFEROPSPASS
#include "shardc/Buffers/Passes.h.inc"

/// memref.copy as a structured op.
static void generalizeCopies(Operation *root) {
  SmallVector<memref::CopyOp> copies;
  root->walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    auto target = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!source || !target)
      continue;
    OpBuilder b(op);
    if (op.getSource() != op.getTarget()) {
      SmallVector<AffineMap> maps(2,
                                  b.getMultiDimIdentityMap(source.getRank()));
      SmallVector<utils::IteratorType> kinds(source.getRank(),
                                             utils::IteratorType::parallel);
      linalg::GenericOp::create(
          b, op.getLoc(), op.getSource(), op.getTarget(), maps, kinds,
          [](OpBuilder &inner, Location loc, ValueRange arguments) {
            linalg::YieldOp::create(inner, loc, arguments[0]);
          });
    }
    op.erase();
  }
}

/// Bufferization copies a part of a buffer into an allocation of the part's
/// type, with strides as wide as those of the whole, and an allocation holds as
/// many elements as it has sizes for. Makes them as long as their strides
/// reach.
static void lengthenAllocations(Operation *root) {
  SmallVector<memref::AllocOp> allocs;
  root->walk([&](memref::AllocOp op) {
    if (!op.getType().getLayout().isIdentity())
      allocs.push_back(op);
  });
  for (memref::AllocOp op : allocs) {
    MemRefType type = op.getType();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(getStridesAndOffset(type, strides, offset)) ||
        ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      continue;
    OpBuilder b(op);
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = op.getMixedSizes(), steps;
    // A little too much, and not too little where a size is zero.
    AffineExpr length = b.getAffineConstantExpr(offset + 1);
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      length = length + b.getAffineSymbolExpr(dim) * stride;
      steps.push_back(b.getIndexAttr(stride));
    }
    auto map = AffineMap::get(0, strides.size(), length);
    OpFoldResult total =
        affine::makeComposedFoldedAffineApply(b, loc, map, sizes);
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResult(total, dynamic, shape);
    Value whole = memref::AllocOp::create(
        b, loc, MemRefType::get(shape, type.getElementType()), dynamic,
        op.getAlignmentAttr());
    Value part = memref::ReinterpretCastOp::create(
        b, loc, type, whole, b.getIndexAttr(offset), sizes, steps);
    op.replaceAllUsesWith(part);
    op.erase();
  }
}

namespace {
struct GeneralizeBufferOpsPass final
    : shardc::impl::GeneralizeBufferOpsPassBase<GeneralizeBufferOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    lengthenAllocations(getOperation());
    generalizeCopies(getOperation());
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }
};
} // namespace
} // namespace shardc

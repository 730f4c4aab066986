//===- GeneralizeBufferOps.cpp - Copies and named ops as generics ---------===//
//
// One form for all that bufferization leaves, and no copy behind a runtime
// call.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_GENERALIZEBUFFEROPSPASS
#include "shardc/KernelGen/Passes.h.inc"

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

namespace {
struct GeneralizeBufferOpsPass final
    : shardc::impl::GeneralizeBufferOpsPassBase<GeneralizeBufferOpsPass> {
  using Base::Base;
  void runOnOperation() override {
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

//===- LowerControlFlow.cpp - Loops and conditionals to branches ----------===//
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "shardc/Calls/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_LOWERCONTROLFLOWPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Ops of regions that become blocks, outer ones first, of one block the last
/// first.
static SmallVector<Operation *> findStructured(Operation *root) {
  SmallVector<Operation *> found;
  root->walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
            scf::ParallelOp, scf::ForallOp, scf::ExecuteRegionOp>(op))
      found.push_back(op);
  });
  return found;
}

namespace {
struct LowerControlFlowPass final
    : shardc::impl::LowerControlFlowPassBase<LowerControlFlowPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateSCFToControlFlowConversionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(&getContext());
    // Parallel loops become loops first: those are found the next time.
    for (SmallVector<Operation *> ops = findStructured(getOperation());
         !ops.empty(); ops = findStructured(getOperation()))
      for (Operation *op : ops) {
        rewriter.setInsertionPoint(op);
        if (failed(applicator.matchAndRewrite(op, rewriter))) {
          op->emitOpError("has no form of branches");
          return signalPassFailure();
        }
      }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace

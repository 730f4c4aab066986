//===- Communicate.cpp - Fewer, larger, earlier messages ------------------===//
//
// Messages are merged in place, then moved, then split so that they
// travel behind work. That ranks cannot deadlock is proved on the way; the
// stage ends in the check that what they do together fits.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/Passes.h"

using namespace mlir;
using namespace shardc;

void shardc::buildCommunicateStage(OpPassManager &pm,
                                   const StageOptions &options) {
  pm.addNestedPass<func::FuncOp>(createCombineExchangesPass());
  pm.addNestedPass<func::FuncOp>(createMergeHalosPass());
  // Sums of many elements do not wait for other sums.
  if (!options.reproducible) {
    pm.addNestedPass<func::FuncOp>(createDetachSumsPass());
    pm.addPass(createMergeEqualOpsPass());
  }
  // Partial values are combined once, late, and together.
  SinkReductionsPassOptions sink;
  sink.keepSums = options.reproducible;
  pm.addNestedPass<func::FuncOp>(createSinkReductionsPass(sink));
  // What is gathered for a product, or scattered from one, travels block by
  // block.
  pm.addNestedPass<func::FuncOp>(createSplitProductsPass());
  // Ranks combine no floats of eight bits.
  pm.addNestedPass<func::FuncOp>(createWidenReductionsPass());
  // Each communication is in its block from here on.
  pm.addPass(createVerifyControlFlowPass());
  pm.addNestedPass<func::FuncOp>(createBucketReductionsPass());
  pm.addNestedPass<func::FuncOp>(createBucketExchangesPass());
  // What is left travels while ranks do what does not wait for it.
  pm.addNestedPass<func::FuncOp>(createSplitExchangesPass());
  // The last word on communication: nothing after it may change its order.
  pm.addPass(createVerifyCommunicationPass());
}

//===- Raise.cpp - Patterns of ops to ops that say what they mean ---------===//
//
// Attention and its like become one op each, whose local form is a ring: first
// masks and scores come to where they are read, then rings of the program's own
// are found, then pairs. With `reproducible` sums become exact ones instead,
// while they are still those of the program. Padding, and loops that are no
// rings, come last. May be left out, so it ends in what import promises.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "shardc/Import/Passes.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Raise/Passes.h"
#include "shardc/Support/Passes.h"

using namespace mlir;
using namespace shardc;

void shardc::buildRaiseStage(OpPassManager &pm, const StageOptions &options) {
  // What the sharded program is compared with is plain, unless it is to have
  // the same bits.
  if (!options.noRaise && (!options.unsharded || options.reproducible)) {
    pm.addNestedPass<func::FuncOp>(createSinkMasksPass());
    pm.addNestedPass<func::FuncOp>(createRecomputeScoresPass());
    // A ring of the program's own has the order that it says.
    if (!options.reproducible) {
      RaiseRingsPassOptions rings;
      rings.explain = options.explain;
      pm.addNestedPass<func::FuncOp>(createRaiseRingsPass(rings));
    }
    // So that each sum of pairs is one op, and each gradient has its attention.
    pm.addNestedPass<func::FuncOp>(createSplitPairsPass());
    pm.addNestedPass<func::FuncOp>(createAddOutputsPass());
    pm.addNestedPass<func::FuncOp>(createRaiseAllPairsPass());
    // What has scores left may have more in its sums.
    pm.addNestedPass<func::FuncOp>(createRaiseOpenRowsPass());
    if (options.explain)
      pm.addNestedPass<func::FuncOp>(createExplainMissesPass());
    // No kernel has pairs whose depth is not known.
    pm.addNestedPass<func::FuncOp>(createExpandOpenDepthsPass());
  } else {
    pm.addPass(createExpandAllPairsPass());
  }
  // While sums are still those of the program. Rings would have an order of
  // their own.
  if (options.reproducible) {
    if (!options.exactSums) {
      pm.addNestedPass<func::FuncOp>(createCutHeadsPass());
      pm.addNestedPass<func::FuncOp>(createMarkWholeSumsPass());
    }
    pm.addPass(createExpandAllPairsPass());
    if (!options.exactSums)
      pm.addNestedPass<func::FuncOp>(createMarkWholeSumsPass());
    pm.addNestedPass<func::FuncOp>(createSumAfterLoopsPass());
    pm.addPass(createMakeReproduciblePass());
  }
  // Iterations become rows, and what moves them a gather, roll or padding.
  pm.addNestedPass<func::FuncOp>(createRaiseMapsPass());
  pm.addNestedPass<func::FuncOp>(createRaiseGathersPass());
  pm.addNestedPass<func::FuncOp>(createRaisePaddingPass());
  // While both sums are of whole tensors: between them there may be ranks.
  pm.addNestedPass<func::FuncOp>(createDropUnitSumsPass());
  // What loops are left are no rings, and their ops keep their sums.
  pm.addNestedPass<func::FuncOp>(createUnrollLoopsPass());
  // Behind zeros that are left out, sums would be added in another order.
  if (!options.noRaise && !options.unsharded && !options.reproducible)
    pm.addNestedPass<func::FuncOp>(createShowBandsPass());
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
  // It may be left out, so that what it promises is what import does.
  pm.addPass(createVerifyImportedPass());
}

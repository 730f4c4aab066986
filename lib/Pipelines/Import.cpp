//===- Import.cpp - What JAX prints to one annotated function -------------===//
//
// Foreign forms go first, then calls, so that no pass after it knows of either.
// What follows needs static shapes; annotations come last, when all that they
// stand on is there. Ends in what raise and propagation rely on.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "shardc/Import/Passes.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/Passes.h"

using namespace mlir;
using namespace shardc;

static void buildImport(OpPassManager &pm, const StageOptions &options,
                        PlaceholderSet placeholders) {
  // Manual regions of older forms are calls between custom calls.
  pm.addPass(createConvertForeignShardingsPass());
  pm.addPass(createExtendImportPass({ImportStep::BeforeCalls}));
  // Custom calls name functions that inlining takes away.
  pm.addPass(createExpandCustomCallsPass({options.hostCalls}));
  // Early, so that what no path from @main reaches is not asked about.
  pm.addPass(createInlineCallsPass());
  pm.addPass(createExtendImportPass({ImportStep::AfterCalls}));
  // Early: branches for other platforms call what is not known here.
  pm.addPass(createBindPlatformPass());
  // What follows knows static shapes alone. Extents that nobody gives stay
  // open, as placeholders.
  bool openExtents = !options.dynamic.empty();
  pm.addPass(
      createRefineShapesPass({options.shapes, openExtents, placeholders}));
  // Ops that have no sharding rule become ops that do.
  pm.addPass(createExpandLinearAlgebraPass());
  pm.addPass(createDecomposeOpsPass());
  pm.addPass(createExtendImportPass({ImportStep::Decomposed}));
  pm.addPass(createWidenFloatsPass());
  // What is left without one is refused, before annotations are looked at.
  pm.addPass(createCheckSupportedPass());
  pm.addPass(createConvertSdyPass({options.deviceOrder && !options.unsharded}));
  // One rank does what all ranks of a region do, on values that are whole.
  if (options.unsharded) {
    pm.addPass(createExpandUnreducedPass());
    pm.addPass(createEmulateManualPass());
  }
  pm.addPass(createSetMachinePass({options.machine}));
  // Which sums keep their order follows from annotations.
  bool keepAxes = options.reproducible;
  pm.addPass(createSetLayoutPass({options.mesh, options.sizes, options.dynamic,
                                  options.unsharded, keepAxes}));
  // Identity broadcasts and repeated constants would only cost propagation
  // time.
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
  pm.addPass(createVerifyImportedPass());
}

void shardc::buildImportStage(OpPassManager &pm, const StageOptions &options) {
  buildImport(pm, options, PlaceholderSet::Usual);
}

void shardc::buildImportStageForTwin(OpPassManager &pm,
                                     const StageOptions &options,
                                     PlaceholderSet placeholders) {
  buildImport(pm, options, placeholders);
}

//===- Pipeline.cpp - The passes of import, in order ----------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Canonicalize.h"

using namespace mlir;
using namespace shardc;

void shardc::buildImportPipeline(OpPassManager &pm,
                                 const ImportOptions &options) {
  // Manual regions of older forms are calls between custom calls.
  pm.addPass(createConvertForeignShardingsPass());
  // Custom calls name functions that inlining takes away.
  pm.addPass(createExpandCustomCallsPass({options.hostCalls}));
  // Early, so that what no path from @main reaches is not asked about.
  pm.addPass(createInlineCallsPass());
  // What processes communicate is known once their programs hold no calls.
  pm.addPass(createExpandParallelPass());
  // Early: branches for other platforms call what is not known here.
  pm.addPass(createBindPlatformPass());
  // What follows knows static shapes alone.
  pm.addPass(createRefineShapesPass(
      {options.shapes, options.openExtents, options.otherPlaceholders}));
  pm.addPass(createExpandLinearAlgebraPass());
  pm.addPass(createDecomposeOpsPass());
  pm.addPass(createCollectChecksPass());
  pm.addPass(createWidenFloatsPass());
  pm.addPass(createCheckSupportedPass());
  pm.addPass(createConvertSdyPass({options.deviceOrder}));
  // One rank does what all ranks of a region do, on values that are whole.
  if (options.unsharded) {
    pm.addPass(createExpandUnreducedPass());
    pm.addPass(createEmulateManualPass());
  }
  pm.addPass(createSetMachinePass({options.machine}));
  pm.addPass(createSetLayoutPass({options.mesh, options.sizes, options.dynamic,
                                  options.unsharded, options.keepAxes}));
  // Identity broadcasts and repeated constants would only cost propagation
  // time.
  pm.addPass(createCanonicalizePass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyImportedPass());
}

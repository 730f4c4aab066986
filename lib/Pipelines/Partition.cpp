//===- Partition.cpp - Global shapes to local ones ------------------------===//
//
// One pass makes all of the local view. Ends in what communication relies on.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "shardc/Partition/Passes.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/Passes.h"

using namespace mlir;
using namespace shardc;

void shardc::buildPartitionStage(OpPassManager &pm, const StageOptions &) {
  pm.addPass(createPartitionToLocalPass());
  // Equal exchanges of one value become one; slices of slices fold.
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
  pm.addPass(createVerifyLocalPass());
}

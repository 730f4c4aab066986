//===- Propagate.cpp - Every value gets a sharding ------------------------===//
//
// The order of each dim is chosen before shardings are, since an order decides
// what moves. Nothing after propagation makes values, for they would have no
// sharding. Ends in what partition relies on.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Propagation/Passes.h"
#include "shardc/Support/Passes.h"

using namespace mlir;
using namespace shardc;

void shardc::buildPropagateStage(OpPassManager &pm,
                                 const StageOptions &options) {
  // To put blocks in zigzag order takes numbers that open sizes do not have.
  bool keepOrder =
      options.keepOrder || options.reproducible || !options.dynamic.empty();
  // Afterwards every dim is cut in the order in which it is.
  pm.addPass(createDealBlocksPass({/*choose=*/!keepOrder}));
  pm.addPass(
      createPropagateShardingsPass({.noFallback = options.noFallback,
                                    .explain = options.explain,
                                    .partialResults = options.partialResults,
                                    .origins = options.origins}));
  if (options.evenBorders)
    pm.addPass(createEvenBordersPass());
  // Copies of constants that ended up alike become one again. No canonicaliser:
  // what it builds has no sharding.
  pm.addPass(createMergeEqualOpsPass());
  pm.addPass(createVerifyPropagatedPass());
}

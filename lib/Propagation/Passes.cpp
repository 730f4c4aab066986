//===- Passes.cpp - The pass and its pipeline -----------------------------===//
#include "shardc/Propagation/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Propagation/Projection.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

namespace shardc {
#define GEN_PASS_DEF_PROPAGATESHARDINGSPASS
#include "shardc/Propagation/Passes.h.inc"
} // namespace shardc

static LogicalResult propagateFunction(func::FuncOp function, spmd::MeshOp mesh,
                                       const PropagationOptions &options) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks, expected one; run --spmd-import";
  splitSharedSources(function);
  FailureOr<Projection> projection = project(function, mesh);
  if (failed(projection))
    return failure();
  propagate(projection->problem);
  return writeBack(*projection, options);
}

namespace {
struct PropagateShardingsPass final
    : shardc::impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  using Base::Base;
  void runOnOperation() override {
    spmd::MeshOp mesh = spmd::getOnlyMesh(getOperation());
    if (!mesh)
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          failed(propagateFunction(function, mesh,
                                   {.noFallback = noFallback,
                                    .explain = explain,
                                    .origins = origins,
                                    .partialResults = partialResults})))
        return signalPassFailure();
  }
};
} // namespace

void shardc::buildPropagationPipeline(OpPassManager &pm,
                                      const PropagationOptions &options) {
  // Afterwards every dim is cut in the order in which it is.
  pm.addPass(createDealBlocksPass({/*choose=*/!options.keepOrder}));
  pm.addPass(
      createPropagateShardingsPass({.noFallback = options.noFallback,
                                    .explain = options.explain,
                                    .partialResults = options.partialResults,
                                    .origins = options.origins}));
  if (options.evenBorders)
    pm.addPass(createEvenBordersPass());
  // Copies of constants that ended up alike become one again. No canonicaliser:
  // what it builds has no sharding.
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyPropagatedPass());
}

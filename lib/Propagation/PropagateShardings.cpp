//===- PropagateShardings.cpp - The pass ----------------------------------===//
#include "Bodies.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Propagation/Passes.h"
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
  settleBroadcasts(projection->problem);
  return writeBack(*projection, options);
}

namespace {
struct PropagateShardingsPass final
    : shardc::impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  using Base::Base;
  void runOnOperation() override {
    PropagationOptions options = {.noFallback = noFallback,
                                  .explain = explain,
                                  .origins = origins,
                                  .partialResults = partialResults};
    if (failed(forEachBody(getOperation(),
                           [&](func::FuncOp function, spmd::MeshOp mesh) {
                             return propagateFunction(function, mesh, options);
                           })))
      signalPassFailure();
  }
};
} // namespace

//===- PropagateShardings.cpp - The pass ----------------------------------===//
#include "Bodies.h"
#include "Settle.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
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

/// The tensors of results of `function` of which nothing is said.
static SmallVector<int64_t> freeResults(func::FuncOp function,
                                        const Projection &projection) {
  SmallVector<int64_t> free;
  for (auto [number, tensor] : llvm::enumerate(projection.resultTensors))
    if (tensor >= 0 && !spmd::contract::Sharding::ofResult(function, number))
      free.push_back(tensor);
  return free;
}

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
  settleResults(projection->problem, freeResults(function, *projection));
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

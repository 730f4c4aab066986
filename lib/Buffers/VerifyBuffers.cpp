//===- VerifyBuffers.cpp - What kernels rely on ---------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_VERIFYBUFFERSPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace shardc;

/// Emits an error on the first op of `function` that has a tensor.
static LogicalResult verifyBuffers(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  FunctionType type = function.getFunctionType();
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    if (isTensor(input))
      return function.emitOpError() << "has argument " << i << " of type "
                                    << input << ", expected a buffer";
  if (llvm::any_of(type.getResults(), isTensor))
    return function.emitOpError("has a result that is a tensor, expected a "
                                "buffer among its arguments");
  // What differs by rank is still a look-up in a table.
  if (failed(spmd::verifyLevel<spmd::KernelDialect, spmd::PairsDialect,
                               spmd::LookupOp>(function, "bufferization")))
    return failure();
  WalkResult result = function.walk([&](Operation *op) {
    for (Type given : op->getResultTypes())
      if (isTensor(given)) {
        op->emitOpError() << "is of type " << given
                          << ", but expected on buffers";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyBuffersPass final
    : shardc::impl::VerifyBuffersPassBase<VerifyBuffersPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verifyBuffers(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
